"""Replies in the words of other APIs: why an answer ended, and answers in parts."""

from __future__ import annotations

from typing import Any

import pytest
from engine_calls import answer, ask, question

from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.dialects import DIALECTS
from conftest import some
from openai_server import OpenAIServer, as_json, completion
from told import names, refused

REASONS = [
    ("stop", [None, "", "eos", "COMPLETE", "fertig", "OTHER"]),
    ("length", ["max_tokens", "incomplete", "TOKEN_LIMIT_REACHED", "exhausted"]),
    ("content_filter", ["SAFETY", "refusal", "ERROR_TOXIC", "SPII", "high_risk"]),
]


@pytest.mark.parametrize(("expected", "words"), REASONS)
def test_a_finish_reason_of_another_api_is_understood_and_reported(
    expected: str, words: list[str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    for word in words:
        response = answer(completion("42", word))
        assert (response.text, response.finish_reason) == ("42", expected), word
        assert response.dialects == ("finish_reason",)
        [line] = capsys.readouterr().err.splitlines()
        names(line, "served", DIALECTS["finish_reason"].line)


@pytest.mark.parametrize(
    ("choice", "tokens", "expected"),
    [
        ({}, 5, "stop"),
        ({}, 64, "length"),  # as many as were asked for
        ({"finishReason": "MAX_TOKENS"}, 5, "length"),
        ({"finish_reason": "", "native_finish_reason": "SAFETY"}, 5, "content_filter"),
        ({"finish_reason": None, "stop_reason": 128009}, 5, "stop"),
    ],
)
def test_a_missing_finish_reason_is_read_from_other_fields(
    choice: dict[str, Any], tokens: int, expected: str
) -> None:
    choice = {"message": {"content": "42"}, **choice}
    reply = as_json({"choices": [choice], "usage": {"completion_tokens": tokens}})
    with OpenAIServer(lambda _: reply) as server:
        [response] = ask(server, question(max_tokens=64))
    assert response.finish_reason == expected


INCOMPLETE = ["tool_calls", "network_error", {"a": "fail"}, "evicted", "in_progress"]


@pytest.mark.parametrize(
    ("content", "reason", "part"),
    [
        ("", None, "finish_reason"),
        ("", "eos", "finish_reason"),
        *(("42", reason, "finish_reason") for reason in some(INCOMPLETE, 2)),
        ([{"type": "text", "content": "4"}], "stop", "content.text must be a text"),
    ],
)
def test_no_text_or_an_incomplete_one_is_no_answer(
    content: object, reason: Any, part: str
) -> None:
    with refused(RequestFailed, part):
        answer(completion(content, reason))


THOUGHT = {"type": "thinking", "thinking": [{"type": "text", "text": "Six sevens."}]}
TEXT = {"type": "text", "text": "4"}


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([TEXT, {"type": "output_text", "text": "2"}], ("42", "stop")),
        ([THOUGHT, TEXT], ("4", "stop")),
        ([THOUGHT], ("", "reasoning")),
        ([], ("", "stop")),
        (["4", "2"], ("42", "stop")),
        (TEXT, ("4", "stop")),
    ],
)
def test_an_answer_in_parts_is_its_parts_of_text(
    parts: object, expected: tuple[str, str]
) -> None:
    response = answer(completion(parts))
    assert (response.text, response.finish_reason) == expected
    assert response.dialects == ("parts",)
