"""`run`: responses to all trials, requested where the store lacks them, then scored once
each."""

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Literal

from tqdm import tqdm

from codestress.parameters import Facts, questions
from codestress.paths import STORE
from codestress.types import NotRun, Outcome, Response, Score, Trial, Trials

from .ask import Replies, Reply, ask
from .registry import REGISTRY
from .requests import CHUNK
from .results import Answer, Results
from .store import Store


def run(
    trials: Trials | Facts,
    models: Sequence[str],
    *,
    failures: Literal["raise", "count"] = "raise",
    store: Path = STORE,
    registry: Path = REGISTRY,
) -> Results:
    """Return the scored answers of all models, given by name, to all trials of an
    experiment; only requests that the store lacks are sent (for the errors see `ask`).

    A plain call works in scripts, in notebooks and under papermill. With
    `failures="count"`, requests that failed for good count with the outcomes of
    `RequestFailed`, or as skipped where the trial's last request was never sent; by
    default they raise `IncompleteError`.
    """
    if isinstance(trials, Facts):
        trials = questions(trials)
    asked = ask(trials, models, failures=failures, store=store, registry=registry)
    return score(trials, asked, store=store)


def score(trials: Trials, asked: Replies, *, store: Path = STORE) -> Results:
    """Return the results of the replies to trials: each scored by all scoring rules, from
    its responses in the store. Trials that were not asked are counted apart.

    Warns on standard error where several versions of a model answered.
    """
    answers: list[Answer] = []
    counts = {}
    not_asked = {}
    not_run = list(trials.not_run)
    with Store(store) as responses:
        for entry, replies in zip(asked.models, asked.replies, strict=True):
            name = entry.name
            part = trials.of(name)
            counts[name] = len(part.items)
            answers += scored_answers(part, name, replies, responses)
            reasons = Counter(reply.left_out for reply in replies if reply.left_out)
            if reasons:
                not_asked[name] = reasons.total()
            for reason, count in reasons.items():
                label = f"{name}, {count:,} of {counts[name]:,} questions"
                not_run.append(NotRun("model", name, label, reason))
    results = Results(
        answers,
        asked.models,
        asked.requests,
        counts,
        not_asked=not_asked,
        not_run=tuple(not_run),
        questions=trials,
    )
    warn_of_mixed_models(results)
    return results


def scored_answers(
    trials: Trials, model: str, replies: Sequence[Reply], store: Store
) -> list[Answer]:
    """Return one model's scored answers to the trials that it was asked."""
    answers = []
    both = zip(trials.items, replies, strict=True)
    asked = ((trial, reply) for trial, reply in both if not reply.left_out)
    while chunk := list(islice(asked, CHUNK)):
        keys: list[str] = []
        for _, reply in chunk:
            if not reply.failure:
                keys += [reply.key, *reply.earlier]
        responses = store.get(dict.fromkeys(keys))
        for trial, reply in chunk:
            answers.append(scored_answer(trials, trial, model, reply, responses))
    return answers


def scored_answer(
    trials: Trials,
    trial: Trial,
    model: str,
    reply: Reply,
    responses: Mapping[str, Response],
) -> Answer:
    """Return the scored answer to a trial. One whose request failed is skipped where a
    later request was never sent."""
    if reply.failure:
        error = str(reply.failure)
        score = Score(reply.failure.outcome, 0.0, error)
        if len(reply.earlier) + 1 < trials.steps(trial):
            detail = f"the request before failed: {error}"
            score = Score(Outcome.SKIPPED, math.nan, detail)
        scores = dict.fromkeys(trials.judges, score)
        return Answer(
            trial, model, reply.key, scores, attempts=reply.attempts, error=error
        )
    earlier = tuple(responses[key] for key in reply.earlier)
    response = replace(responses[reply.key], earlier=earlier)
    scores = {rule: judge(trial, response) for rule, judge in trials.judges.items()}
    return Answer(
        trial,
        model,
        reply.key,
        scores,
        finish_reason=response.finish_reason,
        usage=response.usage,
        seconds=response.seconds,
        attempts=reply.attempts,
        answered_by=response.answered_by,
        earlier=reply.earlier,
    )


def warn_of_mixed_models(results: Results) -> None:
    for model, names in results.answered_by().items():
        if len(names) > 1:
            tqdm.write(
                f"warning: {model}: its answers come from {len(names)} models or "
                f"versions: {'; '.join(names)}. The figures mix them; CODESTRESS_STORE=… "
                "with another file asks one alone.",
                file=sys.stderr,
            )
