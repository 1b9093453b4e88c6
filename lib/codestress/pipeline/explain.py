"""From a figure back to its answers: what was asked, what came, what was read out of it, the verdict and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from codestress.errors import IncompleteError
from codestress.inference.ask import ask
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.registry import find_models, load_registry
from codestress.inference.run import Results, score, stored_responses
from codestress.paths import STORE, shown
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.plan import factors_of, matches
from codestress.types import Scalar


@dataclass(frozen=True)
class Explained:
    """One answer behind a figure."""

    factors: dict[str, Scalar]
    verdicts: dict[str, str]
    """By scoring rule: the outcome."""
    extracted: str
    """What the figure's rule read out of the answer, or what was missing."""
    key: str
    answered_by: str
    text: str
    prompt: str
    """Of the last request that was made for the trial: the last message."""
    error: str


def answers_of(artefact: Artefact, store: Path = STORE) -> Results:
    """All answers of an artefact from the store; `IncompleteError` where one is missing. Nothing is asked.

    What is true of instruments is not worked out: single answers are looked at.
    """
    names = [model.name for model in artefact.models]
    try:
        made = artefact.trials()
        own = {model: replace(trials, chance=None) for model, trials in made.own.items()}
        trials = replace(made, chance=None, own=own)
        asked = ask(trials, names, failures="count", store=store, budget=Budget(requests=0))
        return score(trials, asked, store=store)
    except BudgetReached:
        raise IncompleteError(
            f"{artefact.label}: {shown(store)} has no answer to some of its questions; build it first: "
            f"{artefact.command}"
        ) from None


def explain(
    artefact: Artefact, results: Results, rule: str, where: Mapping[str, str], outcome: str = ""
) -> Iterator[Explained]:
    """The answers with these factors and, where one is given, this outcome under a rule."""
    trials = artefact.trials()
    entries = {entry.name: entry for entry in find_models(list(results.counts()), load_registry(), "explain")}
    for answer in results.answers:
        entry = entries[answer.model]
        if not matches(answer.trial, entry, where) or outcome not in ("", answer.scores[rule].outcome.value):
            continue
        stored = stored_responses([answer.key])
        yield Explained(
            factors_of(answer.trial, entry),
            {name: score.outcome.value for name, score in answer.scores.items()},
            answer.scores[rule].detail,
            answer.key,
            answer.answered_by,
            stored[answer.key].text if stored else "",
            trials.of(answer.model).render(answer.trial).messages[-1].content,
            answer.error,
        )
