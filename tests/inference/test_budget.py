"""Budgets stop a run at the line, keep what was answered, and say so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from codestress.errors import EngineError, ParameterError
from codestress.inference.ask import ask
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.run import Results, score
from codestress.inference.store import Store
from codestress.types import Message, Prompt, Reason, Response, Sampling, Score, Trial, Trials
from openai_server import OpenAIServer


def trials(count: int, max_tokens: int = 10) -> Trials:
    return Trials(
        [Trial(f"q{n}", {}) for n in range(count)],
        lambda trial: Prompt((Message("user", f"{trial.problem} {'word ' * 20}"),), Sampling(max_tokens=max_tokens)),
        {"strict": lambda _, response: Score(Reason.RIGHT, float(bool(response.text)))},
    )


def asked(server: OpenAIServer, folder: Path, budget: Budget, count: int = 40, **row: Any) -> Results:
    registry = folder / "models.yaml"
    settings = {"base_url": server.base_url, "key_env": "", "concurrency": 4}
    registry.write_text(json.dumps({"served": {"engine": "openai", "settings": settings, **row}}))
    store = folder / "store.sqlite"
    asked = ask(trials(count), ["served"], store=store, registry=registry, budget=budget)
    return score(trials(count), asked, store=store)


def stored(folder: Path) -> int:
    with Store(folder / "store.sqlite") as store:
        return store.count()


def test_a_run_stops_at_the_number_of_requests_and_goes_on(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        with pytest.raises(BudgetReached, match=r"(?s)15 of 15 requests.*served: 15 of 40 answered.*kept"):
            asked(server, tmp_path, Budget(requests=15))
        assert stored(tmp_path) == len(server.requests) == 15
        results = asked(server, tmp_path, Budget(requests=25))
        assert results.asked == 25
        assert len(server.requests) == 40


def test_tokens_and_dollars_are_never_passed(tmp_path: Path) -> None:
    price = {"input": 1000.0, "output": 5000.0, "date": "2026-01-01"}  # the loopback server counts 12 and 7 tokens
    with OpenAIServer() as server:
        budget = Budget(tokens=500)
        with pytest.raises(BudgetReached, match="BUDGET_TOKENS"):
            asked(server, tmp_path, budget)
        assert 500 - 19 - 70 <= budget.spent_tokens == 19 * stored(tmp_path) <= 500
        budget, before = Budget(usd=0.5), stored(tmp_path)
        with pytest.raises(BudgetReached, match=r"\$0\.\d+ of \$0\.50 \(BUDGET_USD\)"):
            asked(server, tmp_path, budget, price=price)
        assert 0.35 < budget.spent_usd <= 0.5
        assert budget.spent_usd == pytest.approx((stored(tmp_path) - before) * (12 * 1000 + 7 * 5000) / 1e6)


def test_one_budget_holds_for_several_runs(tmp_path: Path) -> None:
    budget = Budget(requests=30)
    with OpenAIServer() as server:
        asked(server, tmp_path, budget, 20)
        with pytest.raises(BudgetReached):
            asked(server, tmp_path, budget, 40)
        asked(server, tmp_path, budget, 20)  # all stored: nothing to pay
    assert stored(tmp_path) == 30


def test_dollars_need_a_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAID_KEY", "k")
    with OpenAIServer() as server, pytest.raises(EngineError, match=r"served: BUDGET_USD is set.*no price"):
        asked(server, tmp_path, Budget(usd=1), settings={"base_url": server.base_url, "key_env": "PAID_KEY"})


def test_budgets_come_from_the_environment() -> None:
    budget = Budget.from_environment({"BUDGET_USD": "2.5", "BUDGET_TOKENS": "1_000_000", "MAX_REQUESTS": ""})
    assert (budget.usd, budget.tokens, budget.requests) == (2.5, 1_000_000, None)
    assert not Budget.from_environment({}).limited
    for bad in ("ten", "-1", "nan", "inf"):
        with pytest.raises(ParameterError, match="BUDGET_USD"):
            Budget.from_environment({"BUDGET_USD": bad})


def test_what_fails_costs_nothing_and_frees_what_was_reserved() -> None:
    from codestress.inference.registry import ModelEntry
    from codestress.types import Request

    entry = ModelEntry(name="m", engine="openai", id="m")
    request = Request("m", "", Prompt((Message("user", "x" * 100),), Sampling(max_tokens=50)))
    budget = Budget(tokens=100)
    assert budget.reserve(entry, request)
    assert not budget.reserve(entry, request)
    budget.settle(entry, request, None)
    assert budget.reserve(entry, request)
    assert budget.spent_tokens == 0
    budget.settle(entry, request, Response("x", "stop"))  # of a server that does not count: the most it can have been
    assert budget.spent_tokens == 100
    assert not budget.reserve(entry, request)
