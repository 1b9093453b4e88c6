"""Asks some of a run's questions once more: whether answers from a store or an archive are what the model says here."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from codestress.inference.budget import Budget
from codestress.inference.coroutines import first_error, run_coroutine
from codestress.inference.engines.base import RequestFailed
from codestress.inference.opening import open_engine, replayed
from codestress.inference.progress import Progress
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import request_of
from codestress.inference.run import Repeats, Results
from codestress.inference.store import Store
from codestress.paths import STORE
from codestress.types import Request, Trials


def rechecked(
    results: Results, trials: Trials, *, count: int, store: Path = STORE, budget: Budget | None = None
) -> Results:
    """The results, with what came of making `count` requests of each model once more.

    Simulated readers are left out, and models for which an archive answers (REPLAY): they say the same by their nature.
    First requests of the trials with the smallest keys are made, which are hashes, so that any is as likely as another.
    What is said this time is compared, and not kept. The budget's limits hold as for `run`.
    """
    entries = [entry for entry in results.models if count and not entry.simulated and not replayed(entry)]
    repeats: dict[str, Repeats] = {}
    limits = budget or Budget.from_environment(store=store)
    with Store(store) as responses, Progress(count * len(entries), "asked again") as progress, limits.spending():
        for entry in entries:
            answers = [answer for answer in results.answers if answer.model == entry.name and not answer.error]
            chosen: dict[str, Request] = {}
            for answer in sorted(answers, key=lambda answer: answer.key):
                request = request_of(trials, answer.trial, entry)
                chosen[request.key] = request
                if len(chosen) == count:
                    break
            stored = responses.get(list(chosen))
            said = run_coroutine(_said(entry, list(chosen.values()), limits, progress))
            same = sum(text == stored[key].text for key, text in said.items())
            repeats[entry.name] = Repeats(len(chosen), same, failed=len(chosen) - len(said))
    return replace(results, repeats=repeats)


async def _said(entry: ModelEntry, requests: list[Request], budget: Budget, progress: Progress) -> dict[str, str]:
    """Texts by key; a request that fails has none."""
    said: dict[str, str] = {}
    engine = open_engine(entry)
    slots = asyncio.Semaphore(engine.concurrency)

    async def ask(request: Request) -> None:
        async with slots:
            with suppress(RequestFailed):
                said[request.key] = (await budget.answer(engine, entry, request)).text
            progress.answered()

    try:
        async with asyncio.TaskGroup() as group:
            for request in requests:
                group.create_task(ask(request))
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None
    finally:
        await engine.close()
    return said
