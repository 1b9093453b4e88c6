"""Runs of trials: `run` gets the responses to all trials, from the store or else from
the models, and scores each once. The results are a table with one scored answer for
each trial and model."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from codestress.parameters import Facts, questions
from codestress.paths import STORE
from codestress.types import (
    NotRun,
    Outcome,
    Response,
    Score,
    Trial,
    Trials,
)

from .ask import ask
from .progress import say
from .registry import REGISTRY, ModelEntry
from .requests import Replies, Reply
from .results import Results
from .store import Store, chunks


def run(
    trials: Trials | Facts,
    models: Sequence[str],
    *,
    failures: Literal["raise", "count"] = "raise",
    store: Path = STORE,
    registry: Path = REGISTRY,
) -> Results:
    """Return the scored answers of the models with these names to all trials of an
    experiment (`Results.answers`).

    Only requests that the store lacks are sent; for the errors see `ask`. A plain call
    works in scripts, in notebooks and under papermill.

    By default, requests that failed for good raise `IncompleteError`. With
    `failures="count"`, failed requests count with the outcome of their `RequestFailed`;
    a trial whose last request was never sent counts as skipped.
    """
    if isinstance(trials, Facts):
        trials = questions(trials)
    asked = ask(trials, models, failures=failures, store=store, registry=registry)
    return score(trials, asked, store=store)


def score(trials: Trials, asked: Replies, *, store: Path = STORE) -> Results:
    """Return the results of the replies to trials: each answer is scored with all
    scoring rules, from its responses in the store.

    Trials that were not asked are counted apart. Warns on standard error if several
    versions of a model answered.
    """
    answers: list[dict[str, Any]] = []
    not_asked = {}
    not_run = list(trials.not_run)
    with Store(store) as responses:
        for entry, replies in zip(asked.models, asked.replies, strict=True):
            name = entry.name
            part = trials.of(name)
            answers += scored_answers(part, entry, replies, responses)
            reasons = Counter(reply.left_out for reply in replies if reply.left_out)
            if reasons:
                not_asked[name] = reasons.total()
            for reason, count in reasons.items():
                total = len(part.items)
                label = f"{name}, {count:,} of {total:,} questions"
                not_run.append(NotRun("model", name, label, reason))
    results = Results(
        pd.DataFrame(answers),
        asked.models,
        trials,
        asked.requests,
        not_asked,
        tuple(not_run),
    )
    for model, names in results.answered_by().items():
        if len(names) > 1:
            say(
                f"warning: {model}: its answers come from {len(names)} models or "
                f"versions: {'; '.join(names)}. The figures mix them; CODESTRESS_STORE=… "
                "with another file asks one alone."
            )
    return results


def scored_answers(
    trials: Trials, entry: ModelEntry, replies: Sequence[Reply], store: Store
) -> Iterator[dict[str, Any]]:
    """Yield one model's scored answers to the trials that it was asked, as rows of
    `Results.answers`."""
    asked = (pair for pair in enumerate(replies) if not pair[1].left_out)
    for chunk in chunks(asked):
        keys: list[str] = []
        for _, reply in chunk:
            keys += [reply.key, *reply.earlier]
        responses = store.get(keys)
        for index, reply in chunk:
            trial = trials.items[index]
            row = {"model": entry.name, "simulated": entry.simulated}
            row |= {"problem": trial.problem, "sample": trial.sample, **trial.factors}
            row |= scored_answer(trials, trial, reply, responses)
            yield row | {"trial": index}


def scored_answer(
    trials: Trials, trial: Trial, reply: Reply, responses: Mapping[str, Response]
) -> dict[str, Any]:
    """Return the scores of the answer to a trial, and the facts of its reply, as columns of `Results.answers`.

    A trial whose failed request was not its last counts as skipped, because later requests were never sent.
    """
    error, earlier = "", reply.earlier
    if reply.failure:
        error, earlier = str(reply.failure), ()
        response = Response("", "stop")  # without tokens or seconds
        score = Score(reply.failure.outcome, 0.0, error)
        if len(reply.earlier) + 1 < trials.steps(trial):
            detail = f"the request before failed: {error}"
            score = Score(Outcome.SKIPPED, math.nan, detail)
        scores = dict.fromkeys(trials.judges, score)
    else:
        before = tuple(responses[key] for key in earlier)
        response = replace(responses[reply.key], earlier=before)
        scores = {rule: judge(trial, response) for rule, judge in trials.judges.items()}
    row: dict[str, Any] = {}
    for name in ("outcome", "value", "detail", "unresolved"):
        for rule, score in scores.items():
            row[f"{name}_{rule}"] = getattr(score, name)
    row["finish_reason"] = "" if error else response.finish_reason
    row["prompt_tokens"] = response.usage.prompt_tokens
    row["completion_tokens"] = response.usage.completion_tokens
    row["seconds"] = response.seconds
    row["attempts"] = reply.attempts
    row["key"] = reply.key
    row["earlier"] = earlier
    row["answered_by"] = response.answered_by
    row["error"] = error
    for name, value in row.items():
        if type(value) is str:
            # A table cannot hold half of a surrogate pair, which an answer may have.
            row[name] = value.encode("utf-8", "backslashreplace").decode()
    return row
