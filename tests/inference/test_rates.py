"""Rates: a request larger than its rate is not repeated, and a rate that passes is waited for."""

from __future__ import annotations

import pytest
from test_limits import LONG, failures_of, room_for

from codestress.types import Outcome
from openai_server import OpenAIServer, Received, Reply, completion, failure
from told import names


@pytest.mark.parametrize(
    "words",
    [
        "Request too large for gpt-4o on tokens per min: Limit 30000, Requested 51234.",
        "Angefragt 51.234 Token; Limit 30.000 Token pro Minute",
        "请求过大：每分钟令牌限制 30000，请求 51234。",
        '{"limit_tokens": 30000, "requested_tokens": 51234}',
    ],
)
def test_a_request_larger_than_its_rate_is_not_repeated(words: str) -> None:
    with OpenAIServer(room_for(6000, failure(429, words))) as server:
        [failed] = failures_of(server, LONG, retries=5)
        assert len(server.requests) == 1
    assert failed is not None
    names(failed, "served", "429", "30", "SET=max_tokens")
    assert failed.outcome is Outcome.HARNESS_ERROR


@pytest.mark.parametrize(
    "words",
    [
        "Limit 30000, Used 29000, Requested 2234. Try again in 20ms.",
        "Limit: 60 requests a minute; you requested 75",
        "limit for gpt-4-0613 reached; request 88123",
    ],
)
def test_a_rate_that_passes_is_waited_for(words: str) -> None:
    busy = failure(429, words, headers={"retry-after-ms": "1"})

    def second_answers(received: Received) -> Reply:
        return completion("yes") if received.seen else busy

    with OpenAIServer(second_answers) as server:
        assert failures_of(server, LONG, retries=5) == [None]
