"""Budgets stop a run at the line, keep what was answered, and say so."""

from __future__ import annotations

import asyncio
import contextlib
import math
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from processes import started

from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.inference import ask as ask_module, budget as budget_module
from codestress.inference.ask import ask
from codestress.inference.budget import (
    Budget,
    BudgetReached,
    Sum,
    most_tokens,
    read_sum,
)
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.engines.openai import Settings, open_engine, request_body
from codestress.inference.results import Results
from codestress.inference.run import score
from codestress.inference.served import checked
from codestress.inference.store import Store
from codestress.types import (
    Request,
    Response,
    Trials,
    Usage,
)
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    echo,
    failure,
)
from served import Served, counts_of, entry, prompt, trials_of
from told import names, refused


def trials(count: int) -> Trials:
    texts = [f"q{n} {'word ' * 20}" for n in range(count)]
    return trials_of(*[prompt(text, max_tokens=10) for text in texts])


def asked(
    server: OpenAIServer, folder: Path, budget: Budget, count: int = 40, **settings: Any
) -> Results:
    """A run within a budget; `row` among the settings has other fields of the model's row."""
    served = Served(folder)
    registry, store = served.rows(server, **settings), served.store
    replies = ask(
        trials(count), ["served"], store=store, registry=registry, budget=budget
    )
    return score(trials(count), replies, store=store)


def stored(folder: Path) -> int:
    with Store(Served(folder).store) as store:
        return store.count()


def minutes() -> Budget:
    return Budget(until=time.monotonic() + 600)


def test_a_run_stops_at_the_number_of_requests_and_goes_on(tmp_path: Path) -> None:
    """One budget holds for several runs."""
    budget = Budget(requests=15)
    with OpenAIServer() as server:
        asked(server, tmp_path, budget, 10)
        with refused(BudgetReached, "15", "MAX_REQUESTS", "served"):
            asked(server, tmp_path, budget)
        assert stored(tmp_path) == len(server.requests) == 15
        asked(server, tmp_path, budget, 10)  # all stored: nothing to pay
        results = asked(server, tmp_path, Budget(requests=25))
        assert results.asked == 25
        assert len(server.requests) == 40


def test_tokens_and_dollars_are_never_passed(tmp_path: Path) -> None:
    # The loopback server counts 12 and 7 tokens.
    price = {"input": 1000.0, "output": 5000.0, "date": "2026-01-01"}
    with OpenAIServer() as server:
        budget = Budget(tokens=500)
        # The next request may take 52 tokens of its prompt and 10 of its answer.
        with refused(BudgetReached, "BUDGET_TOKENS", "next request", "62"):
            asked(server, tmp_path, budget)
        assert 500 - 19 - 70 <= budget.spent.tokens == 19 * stored(tmp_path) <= 500
        budget, before = Budget(usd=0.5), stored(tmp_path)
        with refused(BudgetReached, "of 0.5 ", "BUDGET_USD"):
            asked(server, tmp_path, budget, row={"price": price})
        assert 0.35 < budget.spent.usd <= 0.5
        assert budget.spent.usd == pytest.approx(
            (stored(tmp_path) - before) * (12 * 1000 + 7 * 5000) / 1e6
        )


def test_dollars_need_a_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAID_KEY", "k")
    with (
        OpenAIServer() as server,
        refused(EngineError, "served", "BUDGET_USD", "price"),
    ):
        asked(server, tmp_path, Budget(usd=1), key_env="PAID_KEY")


def test_budgets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Budget.from_environment().limited
    monkeypatch.setenv("BUDGET_USD", "2.5")
    monkeypatch.setenv("BUDGET_TOKENS", "1_000_000")
    monkeypatch.setenv("MAX_REQUESTS", "")
    budget = Budget.from_environment()
    assert budget.limits == (math.inf, 1_000_000, 2.5)
    for bad in ("ten", "-1", "nan", "inf", "0,5", "1,000"):
        monkeypatch.setenv("BUDGET_USD", bad)
        with refused(ParameterError, "BUDGET_USD", bad):
            Budget.from_environment()


class Answers(Engine):
    """Says what it is told to, and fails where that is nothing."""

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
        # Nobody earns by a question.
        (Response("x", "stop", Usage(-(1 << 40), -3)), 0),
        # A server does not count: the most it can have been.
        (Response("x", "stop"), 100),
        (None, 100),
    ],
)
def test_what_fails_costs_the_most_that_it_can_have_been(
    response: Response | None, spent: int
) -> None:
    row = entry("http://127.0.0.1:9/v1")
    request = Request("m", "", prompt("x" * 100, max_tokens=50))
    budget = Budget(tokens=100)
    with contextlib.suppress(RequestFailed):
        asyncio.run(budget.answer(Answers(response), row, request))
    assert (budget.spent.tokens, budget.spent.requests) == (spent, 1)
    assert budget.set_aside(Sum(1, 100 - spent))
    assert not budget.set_aside(Sum(1, 1))


def posts(server: OpenAIServer) -> int:
    return server.counts.total()


TROUBLE = {
    "errors": failure(500, "oops", headers={"retry-after-ms": "1"}),
    "refusals": failure(429, "slow down", headers={"retry-after-ms": "1"}),
    "garbled": Reply(b"<html>busy</html>"),
    "cut": Reply(b'{"choices": []}', cut=4),
    "hang-up": Reply(b"", hang_up=True),
    "redirect": failure(307, "moved", headers={"Location": "/v1/chat/completions"}),
    "redirect of a question": failure(302, "moved", headers={"Location": "/v1/models"}),
    "another's answer": Reply(completion("4").body),
}


@pytest.mark.parametrize("reply", TROUBLE.values(), ids=TROUBLE)
def test_every_request_counts(tmp_path: Path, reply: Reply) -> None:
    with OpenAIServer(lambda _: reply) as server:
        budget = Budget(requests=3)
        with pytest.raises((BudgetReached, IncompleteError, EngineError)):
            asked(server, tmp_path, budget, retries=4)
        assert 1 <= posts(server) == budget.spent.requests <= 3


MOST = -(-len("q0 " + "word " * 20) // 2) + 10
USED = {"usage": {"prompt_tokens": 30, "completion_tokens": 2}, "choices": []}


@pytest.mark.parametrize(
    ("first", "cost"),
    [
        (TROUBLE["errors"], MOST),
        (TROUBLE["garbled"], MOST),
        (TROUBLE["hang-up"], MOST),
        (as_json(USED), 32),
        (TROUBLE["refusals"], 0),
    ],
)
def test_a_failed_try_costs_what_the_server_says_else_the_most(
    first: Reply, cost: int, tmp_path: Path
) -> None:
    budget = Budget(tokens=100_000)
    with OpenAIServer(
        lambda received: echo(received) if received.seen else first
    ) as server:
        asked(server, tmp_path, budget, 1, retries=3)
    assert posts(server) == 2
    assert budget.spent[:2] == (2, cost + 19)


def test_what_a_template_adds_is_bounded_too() -> None:
    request = Request("m", "", prompt("4?", max_tokens=10))
    assert most_tokens(request) == (1, 10)
    row = entry("", endpoint="completions", chat_template="llama3.jinja")
    settings = Settings.model_validate(row.settings)
    text = request_body(request, settings)["prompt"]
    assert most_tokens(request, text) == (-(-len(text) // 2), 10)
    reply = as_json({"choices": [{"text": "4", "finish_reason": "stop"}]})
    # Nothing counts here but the bound: a second request could cross the limit.
    budget = Budget(tokens=2 * (len(text) // 2 + 11) - 2)

    async def ask_twice() -> None:
        engine = open_engine(row)
        try:
            for sample in range(2):
                await budget.answer(engine, row, replace(request, sample=sample))
        finally:
            await engine.close()

    with OpenAIServer(lambda _: reply) as server:
        row.settings["base_url"] = server.base_url
        with pytest.raises(BudgetReached):
            asyncio.run(ask_twice())
    assert posts(server) == 1


def test_a_probe_keeps_to_the_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_REQUESTS", "1")
    monkeypatch.setattr("codestress.inference.served.STORE", tmp_path / "store.sqlite")
    monkeypatch.setenv(budget_module.SUM, str(tmp_path / "sum.json"))

    with OpenAIServer() as server:
        checked(entry(server))
        with pytest.raises(BudgetReached):
            checked(entry(server, reasoning_effort="low"))
    assert posts(server) == 1
    # A start that stops at the line goes on from its sum, as a run does.
    assert tmp_path / "sum.json" in budget_module._kept_sums


RUN = """
import sys
from pathlib import Path
from codestress.inference.ask import ask
from served import Served
from test_budget import trials

served = Served(Path(sys.argv[1]))
for count in range(1, 3):
    ask(trials(40), ["served"], store=served.store, registry=served.registry)
"""


@pytest.mark.slow
def test_killed_and_started_again_a_command_line_goes_on_from_its_sum(
    tmp_path: Path,
) -> None:
    def begun(*more: str, most: int = 12) -> subprocess.Popen[str]:
        env = {"NO_PROXY": "*", "MAX_REQUESTS": str(most)}
        return started(RUN, tmp_path, *more, env=env)

    answers = 0
    """Number of requests that are answered; those after them hang."""

    def behaviour(received: Received) -> Reply:
        return replace(echo(received), delay=600 * (posts(server) > answers))

    with OpenAIServer(behaviour) as server:
        Served(tmp_path).rows(server, concurrency=2)
        # Killed when two are answered and two, all that may be, are under way.
        for _ in range(2):
            answers = posts(server) + 2
            process = begun()
            while posts(server) < answers + 2:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            process.kill()
            process.communicate()
        answers = 1000
        for _ in range(2):  # stopped at the line, it does not begin anew either
            _, told = begun().communicate(timeout=600)
            names(told, "12", "MAX_REQUESTS", budget_module.RESET)
            assert posts(server) <= 12
        [file] = tmp_path.glob(f".s.sqlite.{budget_module.SUMS}")
        spent = read_sum(file)
        assert spent.requests == posts(server) == 12
        process = begun("another command line", most=100)
        told = process.communicate(timeout=600)[1]
        assert (process.returncode, "error" in told) == (0, False), told
        assert stored(tmp_path) == 40
        # What ended well is forgotten; the other is not.
        assert [*tmp_path.glob(f".s.sqlite.{budget_module.SUMS}")] == [file]
        assert read_sum(file) == spent


def test_processes_share_one_sum(tmp_path: Path) -> None:
    file, most = tmp_path / "sum.json", Sum(1, 15)
    one, other = (Budget(requests=3, tokens=10_000, file=file) for _ in range(2))
    assert one.set_aside(most)
    assert other.set_aside(most)
    one.count(most, Sum(1, 2))
    assert one.set_aside(most)
    assert not one.set_aside(most)
    assert not other.set_aside(most)
    file.write_bytes(b"not a sum")
    with refused(ParameterError, "sum.json", "codestress store budget --reset"):
        one.set_aside(most)


def test_when_the_minutes_are_over_the_rest_is_counted_and_asked_next_time(
    tmp_path: Path,
) -> None:
    budget = minutes()

    def ending(received: Received) -> Reply:
        if posts(server) == 9:
            budget.until = time.monotonic()
        return echo(received)

    with OpenAIServer(ending) as server:
        results = asked(server, tmp_path, budget)
        came = len(results.answers)
        assert 9 <= came == len(server.requests) < 40
        assert results.not_asked == {"served": 40 - came}
        [left_out] = results.not_run
        names(left_out.label, "served", 40 - came, 40)
        names(left_out.why, "minutes")
        assert counts_of(results) == {"correct": came, "skipped": 40 - came}
        results = asked(server, tmp_path, minutes())
        assert len(server.requests) == 40
    assert len(results.answers) == 40
    assert (results.not_asked, results.not_run) == ({}, ())


def test_what_is_on_its_way_at_the_end_is_waited_for_no_longer_than_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import openai  # noqa: F401  # it takes seconds on a busy machine

    monkeypatch.setattr(ask_module, "LAST_S", 0.5)

    def hanging(received: Received) -> Reply:
        return replace(echo(received), delay=0 if posts(server) <= 8 else 3600)

    started = time.monotonic()
    with OpenAIServer(hanging) as server:
        results = asked(server, tmp_path, Budget(until=started + 6))
    assert time.monotonic() - started < 600
    assert 0 < len(results.answers) <= 8  # all eight where the machine is not busy
    assert results.not_asked == {"served": 40 - len(results.answers)}


def test_with_minutes_other_limits_are_planned_stops_too(tmp_path: Path) -> None:
    with OpenAIServer() as server:
        budget = Budget(requests=15, until=time.monotonic() + 60)
        results = asked(server, tmp_path, budget)
    assert len(results.answers) == 15
    assert results.not_asked == {"served": 25}
    names(results.not_run[0].why, "15", "MAX_REQUESTS")
