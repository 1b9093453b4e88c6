"""Asks some of a run's questions once more: whether answers from a store or an archive are what the model says here."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from codestress.inference.ask import ask_each
from codestress.inference.budget import Budget
from codestress.inference.coroutines import run_coroutine
from codestress.inference.opening import replayed
from codestress.inference.progress import Progress
from codestress.inference.requests import request_of
from codestress.inference.run import Repeats, Results
from codestress.inference.store import Store
from codestress.paths import STORE
from codestress.types import Trial, Trials


def rechecked(
    results: Results, trials: Trials, *, count: int, store: Path = STORE, budget: Budget | None = None
) -> Results:
    """The results, with what came of making `count` requests of each model once more.

    Simulated readers are left out, and models for which an archive answers (REPLAY): they say the same by their nature.
    First requests of the trials with the smallest keys are made, which are hashes, so that any is as likely as another.
    What is said this time is compared, and not kept. The budget's limits hold as for `run`.
    """
    limits = budget or Budget.from_environment(store=store)
    entries = [entry for entry in results.models if count and not entry.simulated and not replayed(entry)]
    repeats: dict[str, Repeats] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(store) as responses,
        Store(Path(folder) / "again.sqlite") as again,
        Progress(count * len(entries), "asked again") as progress,
        limits.spending(),
    ):
        for entry in entries:
            these = trials.of(entry.name)
            answers = [answer for answer in results.answers if answer.model == entry.name and not answer.error]
            chosen: dict[str, Trial] = {}
            for answer in sorted(answers, key=lambda answer: answer.key):
                chosen[request_of(trials, answer.trial, entry).key] = answer.trial
                if len(chosen) == count:
                    break
            firsts = replace(these, items=[*chosen.values()], retry_temperatures=(), follow_up=None, own={})
            run_coroutine(ask_each(firsts, [entry], again, progress, limits, False))
            stored, said = responses.get(chosen), again.get(chosen)
            same = sum(response.text == stored[key].text for key, response in said.items())
            repeats[entry.name] = Repeats(len(chosen), same, failed=len(chosen) - len(said))
    return replace(results, repeats=repeats)
