"""`run`: responses to all trials, requested where the store lacks them, then scored once each."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from codestress.inference.ask import Replies, Reply, ask
from codestress.inference.registry import REGISTRY
from codestress.inference.requests import CHUNK
from codestress.inference.results import Answer, Results
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
        trials,
        ask(trials, models, failures=failures, store=store, registry=registry),
        store=store,
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
        NotRun(
            "model", model, f"{model}, {count:,} of {trials_of[model]:,} questions", why
        )
        for model, counts in left_out.items()
        for why, count in counts.items()
    )
    results = Results(
        answers,
        asked.models,
        asked.requests,
        trials_of,
        not_asked={
            model: counts.total() for model, counts in left_out.items() if counts
        },
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
    trials: Trials,
    trial: Trial,
    model: str,
    reply: Reply,
    found: Mapping[str, Response],
) -> Answer:
    if reply.failure:
        failed, error = (
            Score(reply.failure.outcome, 0.0, str(reply.failure)),
            str(reply.failure),
        )
        if len(reply.earlier) + 1 < trials.steps(trial):
            failed = Score(
                Outcome.SKIPPED, math.nan, f"the request before failed: {error}"
            )
        scores = dict.fromkeys(trials.judges, failed)
        attempts = reply.attempts
        return Answer(
            trial, model, reply.key, scores, "", Usage(), 0.0, attempts, "", error
        )
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
