"""Limits in a whole run: what does not fit is counted, and ends no other question."""

from __future__ import annotations

import time

import pytest
from engine_calls import WHOLE
from test_limits import ANSWERS, PROMPTS, room_for, short_answers

from codestress.errors import IncompleteError
from codestress.inference.ask import DOES_NOT_FIT, ask
from codestress.inference.budget import Budget
from codestress.inference.run import score
from codestress.types import Trials
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    completion_body,
    failure,
)
from served import Served, counts_of, prompt, trials_of
from told import names, refused


def questions(lengths: list[int], max_tokens: int = 1024) -> Trials:
    """Return trials with prompts of these lengths, in characters."""
    texts = [f"q{n} ".ljust(length, "x") for n, length in enumerate(lengths)]
    return trials_of(*[prompt(text, max_tokens=max_tokens) for text in texts])


@pytest.mark.parametrize("reason", ["stop", "length"])
def test_silence_on_the_longest_prompts_means_that_they_do_not_fit(
    reason: str, served: Served
) -> None:
    def small(received: Received) -> Reply:
        if received.prompt.startswith("q3 "):
            return completion("")  # a refusal
        body = completion_body("", reason)
        body["usage"]["completion_tokens"] = 0
        return as_json(body) if len(received.prompt) > 5000 else completion("yes")

    trials = questions([4000, 9000, 9001, 300, 301])
    counts = {"correct": 2, "refused": 1, "does not fit": 2}
    with OpenAIServer(small) as server:
        served.rows(server, concurrency=1)
        assert counts_of(served.run(trials, failures="count")) == counts
        with refused(IncompleteError, "2 of 5", "served", "empty"):
            served.run(trials)
        server.behaviour = lambda _: completion("")
        results = served.run(questions([310, 9010]), failures="count")
    assert counts_of(results) == {"refused": 2}


@pytest.mark.parametrize("reply", [completion(""), PROMPTS["OpenAI"]])
def test_within_minutes_what_does_not_fit_counts_as_not_asked(
    reply: Reply, served: Served
) -> None:
    trials, store = questions([300, 9000]), served.store
    budget = Budget(until=time.monotonic() + 600)
    with OpenAIServer(room_for(6000, reply)) as server:
        path = served.rows(server)
        replies = ask(trials, ["served"], store=store, registry=path, budget=budget)
    results = score(trials, replies, store=store)
    assert counts_of(results) == {"correct": 1, "skipped": 1}
    assert [part.why for part in results.not_run] == [DOES_NOT_FIT]


def test_overload_and_cut_replies_are_two_counts(served: Served) -> None:
    replies = [
        failure(429, "slow down"),
        failure(503, "busy"),
        failure(429, "slow down", "context_length_exceeded"),
        as_json({"error": {"message": "Provider returned error", "code": 429}}),
        Reply(WHOLE, cut=0),
        Reply(WHOLE, cut=10),
        Reply(WHOLE[:-9]),
        Reply(WHOLE[:-1]),
        Reply(b"", hang_up=True),
        Reply(b"<html>"),
        Reply(WHOLE + b"x"),
        Reply(b""),
        completion("4"),
    ]
    trials = questions([10] * len(replies))
    with OpenAIServer(
        lambda received: replies[int(received.prompt.split()[0][1:])]
    ) as server:
        served.rows(server, concurrency=1)
        counts = counts_of(served.run(trials, failures="count"))
    assert counts == {
        "correct": 1,
        "overloaded": 4,
        "cut reply": 4,
        "harness error": 4,
    }


def test_a_limit_of_the_answer_is_asked_once_and_ends_no_other_question(
    served: Served,
) -> None:
    """There are more refusals than a server may give in a row."""
    long, short = questions([10] * 50, 8000), questions([10] * 50)
    with OpenAIServer(short_answers(ANSWERS["OpenAI"])) as server:
        served.rows(server, concurrency=1)
        results = served.run(long, failures="count")
        assert counts_of(results) == {"harness error": 50}
        names(results.reasons("strict"), "SET=max_tokens")
        assert len(server.requests) == 1
        words = "at most 4096 completion tokens"
        with refused(IncompleteError, "50 of 50", "served", words):
            served.run(long)
        assert counts_of(served.run(short)) == {"correct": 50}
        server.behaviour = room_for(6000, PROMPTS["OpenAI"])
        results = served.run(questions([7000] * 50), failures="count")
    assert counts_of(results) == {"does not fit": 50}
