"""`run`: responses to all trials, requested where the store lacks them, then scored once each.

`rechecked` sends some requests once more, to compare stored responses with the model's present
ones.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from codestress.inference.ask import Replies, Reply, ask, ask_each
from codestress.inference.budget import Budget
from codestress.inference.coroutines import run_coroutine
from codestress.inference.opening import replayed
from codestress.inference.progress import Progress
from codestress.inference.registry import REGISTRY
from codestress.inference.requests import CHUNK, request_of
from codestress.inference.results import Answer, Repeats, Results
from codestress.inference.store import Store
from codestress.paths import STORE
from codestress.types import NotRun, Outcome, Response, Score, Trial, Trials, Usage


def run(
    trials: Trials,
    models: Sequence[str],
    *,
    failures: Literal["raise", "count"] = "raise",
    store: Path = STORE,
    registry: Path = REGISTRY,
) -> Results:
    """Returns the scored answers of all `models`, given by name, to all `trials`; only requests
    that the file `store` lacks are sent (for the errors see `ask`).

    A plain call works in scripts, in notebooks and under papermill. With `failures="count"`,
    requests that failed for good count with the outcomes of `RequestFailed`, or as skipped where
    the trial's last request was never sent; by default they raise `IncompleteError`.
    """
    return score(
        trials, ask(trials, models, failures=failures, store=store, registry=registry), store=store
    )


def score(trials: Trials, asked: Replies, *, store: Path = STORE) -> Results:
    """Returns the results of `asked`, the replies to `trials`: every reply, scored by all of the
    trials' scoring rules. Trials that were not asked are counted apart, in the results' `not_asked`
    and `not_run`.

    The responses are read from the file `store`. Warns on standard error where several versions of
    a model answered.
    """
    answers = list[Answer]()
    left_out = {entry.name: Counter[str]() for entry in asked.models}
    with Store(store) as responses:
        for entry, replies in zip(asked.models, asked.replies, strict=True):
            part, model = trials.of(entry.name), entry.name
            pairs = zip(part.items, replies, strict=True)
            while chunk := list(islice(pairs, CHUNK)):
                keys = set[str]()
                for _, reply in chunk:
                    if not (reply.failure or reply.left_out):
                        keys |= {reply.key, *reply.earlier}
                stored = responses.get(list(keys))
                for trial, reply in chunk:
                    if reply.left_out:
                        left_out[model][reply.left_out] += 1
                    else:
                        answers.append(_scored(part, trial, model, reply, stored))
    trials_of = {entry.name: len(trials.of(entry.name).items) for entry in asked.models}
    not_asked = tuple(
        NotRun("model", model, f"{model}, {count:,} of {trials_of[model]:,} questions", why)
        for model, counts in left_out.items()
        for why, count in counts.items()
    )
    results = Results(
        answers,
        asked.models,
        asked.requests,
        trials_of,
        not_asked={model: counts.total() for model, counts in left_out.items() if counts},
        not_run=trials.not_run + not_asked,
        questions=trials,
    )
    for model, names in results.answered_by().items():
        if len(names) > 1:
            tqdm.write(
                f"warning: {model}: its answers come from {len(names)} models or versions: {'; '.join(names)}. "
                "The figures mix them; CODESTRESS_STORE=… with another file asks one alone.",
                file=sys.stderr,
            )
    return results


def _scored(
    trials: Trials, trial: Trial, model: str, reply: Reply, found: Mapping[str, Response]
) -> Answer:
    if reply.failure:
        failed, error = Score(reply.failure.outcome, 0.0, str(reply.failure)), str(reply.failure)
        if len(reply.earlier) + 1 < trials.steps(trial):
            failed = Score(Outcome.SKIPPED, math.nan, f"the request before failed: {error}")
        scores = dict.fromkeys(trials.judges, failed)
        attempts = reply.attempts
        return Answer(trial, model, reply.key, scores, "", Usage(), 0.0, attempts, "", error)
    response = found[reply.key]
    if reply.earlier:
        response = replace(response, earlier=tuple(found[key] for key in reply.earlier))
    return Answer(
        trial=trial,
        model=model,
        key=reply.key,
        scores={rule: judge(trial, response) for rule, judge in trials.judges.items()},
        finish_reason=response.finish_reason,
        usage=response.usage,
        seconds=response.seconds,
        attempts=reply.attempts,
        answered_by=response.answered_by,
        earlier=reply.earlier,
    )


def rechecked(
    results: Results,
    trials: Trials,
    *,
    count: int,
    store: Path = STORE,
    budget: Budget | None = None,
) -> Results:
    """Returns `results` with the counts of a recheck in its `repeats`: up to `count` requests of
    each model are made once more.

    Simulated readers and models that an archive answers for (CODESTRESS_REPLAY) are left out: they
    always repeat themselves. The first requests of the `trials` with the smallest keys are made;
    keys are hashes, so that every trial is equally likely. New responses are compared with those in
    the file `store` and not kept. Failed requests are counted. The limits of `budget` (default: the
    environment's) hold as for `run`.
    """
    limits = budget or Budget.from_environment(store=store)
    entries = [
        entry for entry in results.models if count and not entry.simulated and not replayed(entry)
    ]
    repeats: dict[str, Repeats] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(store) as responses,
        Store(Path(folder) / "again.sqlite") as again,
        Progress(count * len(entries), "asked again") as progress,
        limits.spending(),
    ):
        for entry in entries:
            chosen: dict[str, Trial] = {}
            for answer in sorted(results.answers, key=lambda answer: answer.key):
                if answer.model == entry.name and not answer.error and len(chosen) < count:
                    chosen[request_of(trials, answer.trial, entry).key] = answer.trial
            part, items = trials.of(entry.name), [*chosen.values()]
            firsts = replace(part, items=items, retry_temperatures=(), follow_up=None, own={})
            run_coroutine(ask_each(firsts, [entry], again, progress, limits, False, math.inf))
            stored, repeated = responses.get(chosen), again.get(chosen)
            same = sum(response.text == stored[key].text for key, response in repeated.items())
            repeats[entry.name] = Repeats(len(chosen), same, failed=len(chosen) - len(repeated))
    return replace(results, repeats=repeats)
