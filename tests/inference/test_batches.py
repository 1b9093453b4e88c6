"""Engines that answer many requests at once: a provider's batch mode, and careless ones."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from numbered import answer, number_of, questions
from test_interrupted_runs import child

from codestress.inference.ask import ask
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.engines import openai_batch
from codestress.inference.engines.base import BatchEngine, RequestFailed
from codestress.inference.registry import ModelEntry
from codestress.inference.store import Store
from codestress.types import Request, Response
from openai_server import OpenAIServer, Received, Reply, completion, failure
from served import Served, counts_of, prompt, settings_of
from told import names, refused


def batch_rows(
    served: Served, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, **more: int
) -> None:
    """Write a registry whose model is asked by the provider's batch mode."""
    monkeypatch.setattr(openai_batch, "OUTPUTS", served.folder)
    settings = {**settings_of(server), "poll_s": 0.01, **more}
    served.rows(server, row={"engine": "openai_batch", "settings": settings})


def test_batch_mode_keeps_the_rules_of_every_run(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A budget holds, refused questions are asked again, and failures are counted."""

    def behaviour(received: Received) -> Reply:
        number = number_of(received)
        if number == 7:
            return failure(400, "no")
        refuses = number < 3 and received.body["temperature"] == 0
        return completion("") if refuses else answer(received)

    where: dict[str, Any] = {"store": served.store, "registry": served.registry}
    with OpenAIServer(behaviour) as server:
        batch_rows(served, server, monkeypatch, batch=15)
        with refused(BudgetReached, "served", "5 of 40", "MAX_REQUESTS"):
            ask(questions(40), ["served"], budget=Budget(requests=5), **where)
        results = served.run(questions(40, (0.5,)), failures="count")
        assert counts_of(results) == {"correct": 39, "harness error": 1}
        assert len(server.requests) == 40 + 3
        assert 4 <= len(server.batches) <= 6
    assert not list((served.folder / "batches").iterdir())


def test_a_batch_is_forgotten_only_when_its_answers_are_stored(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a run that is killed between the two would pay twice."""
    counts = []
    write = openai_batch.OpenAIBatch._write

    def watched(engine: openai_batch.OpenAIBatch) -> None:
        if not engine._batches:
            with Store(served.store) as store:
                counts.append(store.count())
        write(engine)

    monkeypatch.setattr(openai_batch.OpenAIBatch, "_write", watched)
    with OpenAIServer(answer) as server:
        batch_rows(served, server, monkeypatch, batch=40)
        served.run(questions(100))
    assert counts == [40, 80, 100]


@pytest.mark.slow
def test_a_batch_of_a_run_that_was_killed_is_found_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_OUTPUTS", str(served.folder))
    with OpenAIServer(answer) as server:
        server.batch_polls = 10_000
        batch_rows(served, server, monkeypatch)
        process = child(served, 30)
        while not (server.batches and server.batches[0]["looks"] > 3):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        process.kill()
        process.communicate()
        server.batch_polls = server.batches[0]["looks"] + 3
        assert counts_of(served.run(questions(35))) == {"correct": 35}
        assert len(server.batches) == 2
        assert sorted(server.counts.values()) == [1] * 35


class Careless(BatchEngine):
    """An engine that answers twice, answers what nobody asked, and forgets a request."""

    concurrency = 10

    async def answers(
        self, requests: Sequence[Request]
    ) -> AsyncIterator[tuple[str, Response | RequestFailed]]:
        yield replace(requests[0], sample=99).key, Response("to nobody", "stop")
        for request in requests:
            if request.sample < 2:
                yield request.key, Response("first", "stop")
                yield request.key, RequestFailed("and then not")


def test_a_careless_engine_loses_no_answer_and_leaves_no_caller_waiting() -> None:
    async def outcomes() -> list[Any]:
        engine = Careless(ModelEntry(name="careless", engine="", id="m"))
        request = Request("m", "", prompt("?"))
        samples = [replace(request, sample=sample) for sample in (0, 1, 0, 2)]
        answers = asyncio.gather(*map(engine.answer, samples), return_exceptions=True)
        results = await asyncio.wait_for(answers, 60)
        await engine.close()
        return results

    *answered, forgotten = asyncio.run(outcomes())
    assert [response.text for response in answered] == ["first"] * 3
    assert isinstance(forgotten, RequestFailed)
    names(forgotten, "careless")
