"""The HTTP client: how many requests at once, how long it waits, and how long a reply may be."""

from __future__ import annotations

import asyncio
import gzip
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from engine_calls import answer, ask, error_of, first_then, question

from codestress.inference.budget import Budget
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.openai import open_engine
from codestress.types import Response
from openai_server import OpenAIServer, Received, Reply, completion, echo, failure
from served import entry, outcomes
from told import names


@pytest.mark.parametrize("most", [1, 3])
def test_no_more_requests_are_in_flight_than_the_concurrency(most: int) -> None:
    """Retries count too: the first try of each question fails."""
    in_flight = {"now": 0, "most": 0}

    def counting(received: Received) -> Reply:
        in_flight["now"] += 1
        in_flight["most"] = max(in_flight.values())

        def has_ended() -> bool:
            in_flight["now"] -= 1
            return True

        oops = failure(500, "oops", headers={"retry-after-ms": "1"})
        reply = echo(received) if received.seen else oops
        return replace(reply, delay=0.01, until=has_ended)

    with OpenAIServer(counting) as server:
        ask(server, *map(question, "abcdefgh"), retries=2, concurrency=most)
        assert len(server.requests) == 16
    assert in_flight == {"now": 0, "most": most}


@pytest.mark.parametrize("wait", ["1.2", "", "1200ms", "1.2s"])
def test_retry_after_is_waited_for_and_no_part_of_an_answers_seconds(wait: str) -> None:
    def limited(received: Received) -> Reply:
        # A date has whole seconds.
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=2.2), usegmt=True)
        limit = failure(429, "slow down", headers={"Retry-After": wait or date})
        return echo(received) if received.seen else limit

    begin = time.monotonic()
    response = answer(limited, retries=1)
    # Without the header it would be 0.5 s at most.
    assert 0 < response.seconds < time.monotonic() - begin - 1.0


def test_a_request_that_waits_keeps_its_place_among_the_requests() -> None:
    wait = failure(429, "wait", headers={"Retry-After": "1"})

    def first_waits(received: Received) -> Reply:
        return wait if len(server.requests) == 1 else echo(received)

    with OpenAIServer(first_waits) as server:
        ask(server, *map(question, "abcdef"), retries=2, concurrency=1)
    first, *others = [received.time for received in server.requests]
    assert len(others) == 6
    assert min(others) - first > 0.9


def test_a_wait_beyond_two_minutes_fails_at_once_and_delays_no_other_request() -> None:
    wait = failure(429, "later", headers={"Retry-After": "150"})

    def first_waits(received: Received) -> Reply:
        return wait if received.prompt == "a" else echo(received)

    with OpenAIServer(first_waits) as server:
        row = entry(server, retries=3, timeout_s=20)
        failed, answered = outcomes(row, *map(question, "ab"))
    names(failed, "served", "429", "later", "150")
    assert isinstance(answered, Response)
    assert len(server.requests) == 2


def test_a_server_that_loads_its_model_is_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The waiting is reported once, and costs the budget one request."""

    async def answer_within_budget() -> None:
        engine = open_engine(entry(server))
        engine.budget = Budget(requests=1)
        assert (await engine.answer(question())).text
        await engine.close()

    with OpenAIServer(first_then(failure(503, "Loading model"), 2)) as server:
        asyncio.run(answer_within_budget())
    assert len(server.requests) == 3
    assert capsys.readouterr().err.count("Loading model") == 1


def test_a_reply_that_is_too_long_is_none_however_it_is_packed() -> None:
    whole = completion("x" * 3_000_000).body
    packed = Reply(gzip.compress(whole), headers={"Content-Encoding": "gzip"})
    limit = {"max_reply_bytes": 1_000_000, "retries": 2}
    for reply in (Reply(whole), packed, Reply(whole, status=500)):
        error_of(reply, RequestFailed, "max_reply_bytes", **limit)
    assert answer(packed).text == "x" * 3_000_000
    for packing in ("br", "gzip, gzip"):
        unknown = Reply(b"1234", headers={"Content-Encoding": packing})
        error_of(unknown, RequestFailed, packing)
