"""Results of a run: one scored answer for each trial and model. Plain data, without engine or
store."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from codestress.literals import counted
from codestress.types import (
    NotRun,
    Outcome,
    Prompt,
    Response,
    Score,
    Trial,
    Trials,
    Usage,
)

from .registry import ModelEntry

READ = (Outcome.CORRECT, Outcome.INCORRECT, Outcome.RAISED, Outcome.STEP_LIMIT)
"""Outcomes of completions from which an answer could be read."""
LEAST_READ = 0.1
"""Smallest share of readable answers with which a model's numbers say something about the
model."""
REASONS = 3
"""Number of reasons that are kept and shown, the most frequent ones."""
LONGEST_REASON = 200
"""Maximum number of characters of a reason."""


def number_read(counts: Mapping[str, int]) -> int:
    """Returns how many answers could be read. `counts` are one model's, by outcome."""
    return sum(counts.get(outcome, 0) for outcome in READ)


def hardly_read(counts: Mapping[str, int]) -> str:
    """Returns, in words, how many answers could be read, where they are fewer than the share
    `LEAST_READ`; empty where more could, or nothing was asked. `counts` are one model's, by
    outcome."""
    asked = sum(counts.values()) - counts.get(Outcome.SKIPPED, 0)
    read = number_read(counts)
    if read >= LEAST_READ * asked:
        return ""
    return f"{read:,} of {counted(asked, 'answer')} could be read"


@dataclass(frozen=True, slots=True)
class Answer:
    """The scored answer of one model to one trial; its `error` says why the request failed, and is
    empty where it did not."""

    trial: Trial
    model: str
    """The model's name in the registry."""
    key: str
    scores: dict[str, Score]
    """Score by scoring rule."""
    finish_reason: str = ""
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    attempts: int = 0
    """Number of times that the trial's last request was sent: more than 1 after refusals."""
    answered_by: str = ""
    error: str = ""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests, where it makes several."""


@dataclass(frozen=True)
class Results:
    """The answers (`Answer`) of a run, one for each trial and model that was asked, failed ones
    included, by model and in the order of the trials."""

    answers: list[Answer]
    models: list[ModelEntry]
    asked: int
    """Number of requests that the store lacked, sent by this run."""
    trials: Mapping[str, int]
    """Number of trials of each model, by the model's name."""
    not_asked: dict[str, int] = field(default_factory=dict)
    """Number of trials left out at a planned stop, by model."""
    not_run: tuple[NotRun, ...] = ()
    """The parts that the trials leave out because this machine cannot run them, and the trials left
    out at a planned stop."""
    questions: Trials | None = field(default=None, repr=False)
    """The trials, which render the prompts again for a look at single answers."""

    @classmethod
    def of_nobody(cls, models: list[ModelEntry]) -> Self:
        """Returns results of the registry rows `models` without any answer: nothing was asked, and
        each model has 0 trials."""
        return cls([], models, asked=0, trials={entry.name: 0 for entry in models})

    def answered_by(self) -> dict[str, list[str]]:
        """Returns, by model, the sorted list of names and fingerprints that servers gave for it
        with its answers; an empty list where none was given. More than one means that the model
        changed."""
        found: dict[str, set[str]] = {entry.name: set() for entry in self.models}
        for answer in self.answers:
            if answer.answered_by:
                found[answer.model].add(answer.answered_by)
        return {model: sorted(names) for model, names in found.items()}

    def requests_sha256(self) -> str:
        """Returns the SHA-256, in hexadecimal, over the sorted keys of the last request of each
        answer's trial."""
        keys = sorted(answer.key for answer in self.answers)
        return hashlib.sha256("\n".join(keys).encode()).hexdigest()

    def reasons(self, rule: str) -> dict[str, dict[str, int]]:
        """Returns, by model, the most frequent reasons why an answer could not be read under the
        scoring rule `rule`, or why a request failed, each with its number."""
        table = {entry.name: Counter[str]() for entry in self.models}
        for answer in self.answers:
            score = answer.scores[rule]
            if score.outcome in READ:
                continue
            why = str(score.outcome)
            # The detail of a truncated answer is its text.
            if answer.error or score.outcome is Outcome.UNPARSABLE:
                why += f": {score.detail}"
            table[answer.model][why[:LONGEST_REASON]] += 1
        return {model: dict(why.most_common(REASONS)) for model, why in table.items()}

    def counts(self, rule: str = "strict") -> dict[str, dict[str, int]]:
        """Returns the number of answers by model and then by outcome, zeros included, under the
        scoring rule `rule`; trials that were not asked count as skipped.

        Raises `AssertionError` where a model's counts do not add up to its trials, and `KeyError`
        for a rule by which the answers are not scored.
        """
        table = {entry.name: Counter[str]() for entry in self.models}
        for model, left_out in self.not_asked.items():
            table[model][Outcome.SKIPPED] = left_out
        for answer in self.answers:
            table[answer.model][answer.scores[rule].outcome] += 1
        for model, counts in table.items():
            if counts.total() != self.trials[model]:
                sums = f"{counts.total()} outcomes of {self.trials[model]} trials"
                raise AssertionError(f"{model}: {sums}: {dict(counts)}")
        return {
            model: {reason.value: counts[reason] for reason in Outcome}
            for model, counts in table.items()
        }


def last_prompt(
    trials: Trials, answer: Answer, responses: Mapping[str, Response]
) -> Prompt:
    """Returns the prompt of the request to which the text of `answer` replies.

    It is the first prompt of the answer's trial, or, where the trial made several requests, the one
    that `Trials.follow_up` makes from the earlier responses. `responses` has responses by key;
    `KeyError` where it lacks one of `answer.earlier`.
    """
    of_model = trials.of(answer.model)
    earlier = tuple(responses[key] for key in answer.earlier)
    later = of_model.follow_up(answer.trial, earlier) if earlier else None
    return later or of_model.render(answer.trial)
