"""Replies of servers: the response that a reply gives, and replies that answer another request."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from engine_calls import answer, ask, question

from codestress.inference.engines.base import RequestFailed
from codestress.scoring.judging import unanswered
from codestress.types import Outcome, Usage
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    completion_body,
    echo,
    echo_text,
    failure,
)
from told import refused


def test_a_response_has_the_text_the_counts_the_server_and_the_time() -> None:
    begin = datetime.now(UTC).replace(microsecond=0)
    text = "def ƒ(x):\r\n\treturn '😀\u2028' # ك \ud800 "
    response = answer(completion(text))
    assert (response.text, response.finish_reason) == (text, "stop")
    assert response.usage == Usage(12, 7, 3, 4)
    assert response.answered_by == "served-1 fp_loopback"
    assert response.seconds > 0
    answered_at = datetime.fromisoformat(response.answered_at)
    assert answered_at.utcoffset() == timedelta(0)
    assert begin <= answered_at <= datetime.now(UTC)


def test_a_refusal_is_an_answer_that_declines() -> None:
    words = "I can't help with that."
    response = answer(as_json(completion_body(None, refusal=words)))
    assert (response.text, response.finish_reason) == (words, "content_filter")
    assert response.refused
    empty_replies = (
        completion(None),
        failure(400, "The prompt was filtered", "content_filter"),
        failure(403, "Your input was flagged: your account may be suspended"),
    )
    for reply in empty_replies:
        response = answer(reply)
        assert (response.text, response.refused) == ("", True)


@pytest.mark.parametrize("field", ["reasoning_content", "thinking"])
@pytest.mark.parametrize(
    ("word", "reason", "outcome"),
    [
        ("stop", "reasoning", Outcome.ONLY_REASONING),
        ("length", "length", Outcome.TRUNCATED),
    ],
)
def test_thoughts_without_an_answer_are_no_refusal(
    field: str, word: str, reason: str, outcome: Outcome
) -> None:
    response = answer(as_json(completion_body("", word, **{field: "Well, …"})))
    assert (response.finish_reason, response.refused) == (reason, False)
    assert response.dialects == ()
    score = unanswered(response)
    assert score is not None
    assert score.outcome == outcome


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 5, "completion_tokens": 2}, Usage(5, 2)),
        ({"prompt_tokens": -5, "completion_tokens_details": None}, Usage(0)),
        ("plenty", Usage()),
    ],
)
def test_tokens_are_those_that_the_server_counts(
    usage: object, expected: Usage
) -> None:
    [choice] = completion_body("4")["choices"]
    body = {"choices": [choice], "usage": usage}
    response = answer(as_json(body, content_type="text/plain"))
    assert (response.answered_by, response.usage) == ("", expected)


def test_a_reply_to_another_request_is_no_answer() -> None:
    replies: list[Reply] = []

    def mixed_up(received: Received) -> Reply:
        """Reply to the first try of each question with the first reply of all."""
        replies.append(echo(received))
        return replies[0] if received.seen < 1 else replies[-1]

    both = [question("a"), question("b")]
    with OpenAIServer(mixed_up) as server:
        responses = ask(server, *both, retries=1)
    assert [response.text for response in responses] == [*map(echo_text, "ab")]
    with (
        OpenAIServer(lambda _: replies[0]) as server,
        refused(RequestFailed, "served", "another request", "an id of its own"),
    ):
        ask(server, *both)


def test_a_server_may_give_all_its_replies_the_same_id() -> None:
    def same_id(received: Received) -> Reply:
        text = "" if received.prompt == "empty" else received.prompt[:1]
        body = completion_body(text) | {"id": "chatcmpl-123"}
        return as_json(body | {"created": len(server.requests)})

    texts = ("a1", "a2", "b1", "b2", "a3")
    with OpenAIServer(same_id) as server:
        responses = ask(server, *map(question, texts))
        responses += ask(server, question("empty"), question("empty"))
    assert [response.text for response in responses] == [*"aabba", "", ""]
    assert len(server.requests) == 7
