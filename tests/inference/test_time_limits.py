"""Runs of limited minutes: what they do not suffice for is counted, and asked by the next run."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest
from test_budget import run_within

from codestress.inference import ask as ask_module
from codestress.inference.budget import Budget
from openai_server import OpenAIServer, Received, Reply, echo
from served import Served, counts_of
from told import names


def test_what_the_minutes_do_not_suffice_for_is_counted_and_asked_next_time(
    served: Served,
) -> None:
    budget = Budget(until=time.monotonic() + 600)

    def ending(received: Received) -> Reply:
        if len(server.requests) == 9:
            budget.until = time.monotonic()
        return echo(received)

    with OpenAIServer(ending) as server:
        results = run_within(budget, server, served)
        count = len(results.answers)
        assert 9 <= count == len(server.requests) < 40
        assert results.not_asked == {"served": 40 - count}
        [part] = results.not_run
        names(part.label, "served", 40 - count, 40)
        names(part.why, "minutes")
        assert counts_of(results) == {"correct": count, "skipped": 40 - count}
        budget = Budget(until=time.monotonic() + 600)
        results = run_within(budget, server, served)
        assert len(server.requests) == 40
    assert len(results.answers) == 40
    assert (results.not_asked, results.not_run) == ({}, ())


def test_a_request_under_way_at_the_end_of_the_minutes_is_waited_for_briefly(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openai  # noqa: F401  # it takes seconds on a busy machine

    monkeypatch.setattr(ask_module, "LAST_S", 0.5)

    def hanging(received: Received) -> Reply:
        return replace(echo(received), delay=3600 * (len(server.requests) > 8))

    begin = time.monotonic()
    with OpenAIServer(hanging) as server:
        results = run_within(Budget(until=begin + 6), server, served)
    assert time.monotonic() - begin < 600
    assert 0 < len(results.answers) <= 8  # all eight unless the machine is busy
    assert results.not_asked == {"served": 40 - len(results.answers)}


def test_with_minutes_another_limit_is_a_planned_stop_too(served: Served) -> None:
    budget = Budget(requests=15, until=time.monotonic() + 60)
    with OpenAIServer() as server:
        results = run_within(budget, server, served)
    assert len(results.answers) == 15
    assert results.not_asked == {"served": 25}
    names(results.not_run[0].why, "15", "MAX_REQUESTS")
