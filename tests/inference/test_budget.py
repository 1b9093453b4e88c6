"""Budgets: a run stops before a limit, keeps what was answered, and goes on from its sum."""

from __future__ import annotations

import asyncio
import contextlib
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.inference import budget as budget_module
from codestress.inference.ask import ask
from codestress.inference.budget import (
    Budget,
    BudgetReached,
    Sum,
    most_tokens,
)
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.engines.openai import open_engine
from codestress.inference.results import Results
from codestress.inference.run import score
from codestress.inference.served import checked
from codestress.inference.store import Store
from codestress.types import Request, Response, Trials, Usage
from openai_server import (
    OpenAIServer,
    Reply,
    as_json,
    failure,
)
from served import Served, entry, prompt, trials_of
from told import refused

TEXT = "word " * 20


def trials(count: int) -> Trials:
    prompts = [prompt(f"q{n} {TEXT}", max_tokens=10) for n in range(count)]
    return trials_of(*prompts)


def run_within(
    budget: Budget,
    server: OpenAIServer,
    served: Served,
    count: int = 40,
    **settings: Any,
) -> Results:
    """Ask `count` questions within a budget; `row` among the settings has other fields of the row."""
    registry, store = served.rows(server, **settings), served.store
    replies = ask(
        trials(count), ["served"], store=store, registry=registry, budget=budget
    )
    return score(trials(count), replies, store=store)


def stored(served: Served) -> int:
    with Store(served.store) as store:
        return store.count()


def test_a_run_stops_at_the_number_of_requests_and_goes_on(served: Served) -> None:
    """One budget holds for several runs; what is stored costs nothing."""
    budget = Budget(requests=15)
    with OpenAIServer() as server:
        run_within(budget, server, served, 10)
        with refused(BudgetReached, "15", "MAX_REQUESTS", "served"):
            run_within(budget, server, served)
        assert stored(served) == len(server.requests) == 15
        run_within(budget, server, served, 10)
        results = run_within(Budget(requests=25), server, served)
        assert results.asked == 25
        assert len(server.requests) == 40


def test_tokens_and_dollars_are_never_passed(served: Served) -> None:
    """The server counts 12 and 7 tokens; the next request may take 52 and 10."""
    price = {"input": 1000.0, "output": 5000.0, "date": "2026-01-01"}
    with OpenAIServer() as server:
        budget = Budget(tokens=500)
        with refused(BudgetReached, "BUDGET_TOKENS", "next request", "62"):
            run_within(budget, server, served)
        count = stored(served)
        assert 500 - 19 - 70 <= budget.spent.tokens == 19 * count <= 500
        budget = Budget(usd=0.5)
        with refused(BudgetReached, "of 0.5 ", "BUDGET_USD"):
            run_within(budget, server, served, row={"price": price})
    cost = (stored(served) - count) * (12 * 1000 + 7 * 5000) / 1e6
    assert 0.35 < budget.spent.usd <= 0.5
    assert budget.spent.usd == pytest.approx(cost)


def test_a_limit_of_dollars_needs_a_price(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAID_KEY", "k")
    with (
        OpenAIServer() as server,
        refused(EngineError, "served", "BUDGET_USD", "price"),
    ):
        run_within(Budget(usd=1), server, served, key_env="PAID_KEY")


def test_limits_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Budget.from_environment().limited
    monkeypatch.setenv("BUDGET_USD", "2.5")
    monkeypatch.setenv("BUDGET_TOKENS", "1_000_000")
    monkeypatch.setenv("MAX_REQUESTS", "")
    assert Budget.from_environment().limits == (math.inf, 1_000_000, 2.5)
    for value in ("ten", "-1", "nan", "0,5"):
        monkeypatch.setenv("BUDGET_USD", value)
        with refused(ParameterError, "BUDGET_USD", value):
            Budget.from_environment()


class OneAnswer(Engine):
    """An engine that gives the same response to every request, or fails if it has none."""

    concurrency = 1

    def __init__(self, response: Response | None) -> None:
        self.response = response

    async def answer(self, _: Request) -> Response:
        if self.response is None:
            raise RequestFailed("out of order")
        return self.response


@pytest.mark.parametrize(
    ("response", "spent"),
    [
        # A negative count earns nothing.
        (Response("x", "stop", Usage(-(1 << 40), -3)), 0),
        (Response("x", "stop"), 100),
        (None, 100),
    ],
)
def test_what_is_not_counted_costs_the_most_that_it_can_have_been(
    response: Response | None, spent: int
) -> None:
    row = entry("http://127.0.0.1:9/v1")
    request = Request("m", "", prompt("x" * 100, max_tokens=50))
    budget = Budget(tokens=100)
    with contextlib.suppress(RequestFailed):
        asyncio.run(budget.answer(OneAnswer(response), row, request))
    assert (budget.spent.tokens, budget.spent.requests) == (spent, 1)
    assert budget.set_aside(Sum(1, 100 - spent))
    assert not budget.set_aside(Sum(1, 1))


MOST = math.ceil(len(f"q0 {TEXT}") / 2) + 10
"""Tokens that the first question and its answer have at most."""
USED = {"usage": {"prompt_tokens": 30, "completion_tokens": 2}, "choices": []}
SOON = {"retry-after-ms": "1"}
LOCATION = {"Location": "/v1/chat/completions"}


@pytest.mark.parametrize(
    ("reply", "tries", "cost"),
    [
        (failure(500, "oops", headers=SOON), 3, MOST),
        (failure(429, "slow down", headers=SOON), 3, 0),
        (Reply(b"<html>busy</html>"), 3, MOST),
        (Reply(b'{"choices": []}', cut=4), 3, MOST),
        (Reply(b"", hang_up=True), 3, MOST),
        (failure(307, "moved", headers=LOCATION), 1, MOST),
        (as_json(USED), 3, 32),
    ],
)
def test_every_try_counts_and_costs_what_the_server_counts_else_the_most(
    reply: Reply, tries: int, cost: int, served: Served
) -> None:
    budget = Budget(requests=3, tokens=100_000)
    with OpenAIServer(lambda _: reply) as server:
        with pytest.raises((BudgetReached, IncompleteError, EngineError)):
            run_within(budget, server, served, 1, retries=4)
        assert budget.spent[:2] == (tries, tries * cost)
        assert len(server.requests) == tries


def test_what_a_chat_template_adds_is_paid_for_too() -> None:
    """The server counts nothing, so that a second request could cross the limit."""
    request = Request("m", "", prompt("4?", max_tokens=10))
    assert most_tokens(request) == (1, 10)
    reply = as_json({"choices": [{"text": "4", "finish_reason": "stop"}]})

    async def ask_twice(budget: Budget) -> None:
        engine = open_engine(row)
        try:
            for sample in range(2):
                await budget.answer(engine, row, replace(request, sample=sample))
        finally:
            await engine.close()

    completions = {"endpoint": "completions", "chat_template": "llama3.jinja"}
    with OpenAIServer(lambda _: reply) as server:
        row = entry(server, **completions)
        budget = Budget(tokens=1_000)
        asyncio.run(ask_twice(budget))
        length = len(server.requests[0].prompt)
        assert budget.spent.tokens == 2 * (math.ceil(length / 2) + 10)
        with pytest.raises(BudgetReached):
            asyncio.run(ask_twice(Budget(tokens=budget.spent.tokens - 1)))
    assert len(server.requests) == 3


def test_the_first_question_to_a_new_server_keeps_to_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "sum.json"
    monkeypatch.setenv("MAX_REQUESTS", "1")
    monkeypatch.setattr("codestress.inference.served.STORE", tmp_path / "store.sqlite")
    monkeypatch.setenv(budget_module.SUM, str(file))
    with OpenAIServer() as server:
        checked(entry(server))
        with pytest.raises(BudgetReached):
            checked(entry(server, reasoning_effort="low"))
    assert len(server.requests) == 1
    # The next start goes on from this sum.
    assert file in budget_module._kept_sums
