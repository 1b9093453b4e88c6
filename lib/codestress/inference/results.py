"""Results of a run: a table with one scored answer for each trial and model."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from codestress.literals import counted
from codestress.types import (
    NotRun,
    Outcome,
    Prompt,
    Response,
    Sampling,
    Trial,
    Trials,
)

from .registry import ModelEntry

READ = (Outcome.CORRECT, Outcome.INCORRECT, Outcome.RAISED, Outcome.STEP_LIMIT)
"""Outcomes of completions from which an answer could be read."""
LEAST_READ = 0.1
"""Smallest share of readable answers, 0 to 1, with which a model's numbers say
something about the model."""
REASONS = 3
"""Number of most frequent reasons that are kept and shown."""
LONGEST_REASON = 600
"""Maximum number of characters of a reason; an error with its remedy has fewer."""
NOTHING = Trials((), lambda _: Prompt((), Sampling()), {})
"""The trials of a notebook that asks no model."""


def number_read(counts: Mapping[str, int]) -> int:
    """Return the number of answers that could be read; `counts` has one model's number
    of answers by outcome."""
    return sum(counts.get(outcome, 0) for outcome in READ)


def hardly_read(counts: Mapping[str, int]) -> str:
    """Return, in words, how many answers could be read, if their share is below
    `LEAST_READ`.

    Empty if the share is at least `LEAST_READ`, or if nothing was asked. `counts` has
    one model's number of answers by outcome; skipped trials were not asked.
    """
    asked = sum(counts.values()) - counts.get(Outcome.SKIPPED, 0)
    read = number_read(counts)
    if read >= LEAST_READ * asked:
        return ""
    return f"{read:,} of {counted(asked, 'answer')} could be read"


@dataclass(frozen=True, eq=False)
class Results:
    """The scored answers of a run.

    `answers` is a table with one row for each model and each trial that it was asked,
    failed requests included. The rows are grouped by model, in the order of the trials.
    The table has no columns if no model was asked.

    Columns: model; simulated (bool); problem; sample; one for each of the trials'
    factors; for each scoring rule (RULE, such as `strict`) outcome_RULE, value_RULE,
    detail_RULE and unresolved_RULE; finish_reason; prompt_tokens; completion_tokens;
    seconds; attempts (number of times that the trial's last request was sent, more than
    1 after refusals); key; earlier (tuple of the keys of the trial's earlier requests);
    answered_by; error (why the request failed; empty if it did not); trial (index among
    the model's trials).
    """

    answers: pd.DataFrame
    models: list[ModelEntry]
    questions: Trials = field(default=NOTHING, repr=False)
    """The trials that were asked; `prompt_of` renders their prompts again."""
    asked: int = 0
    """Number of requests that the store lacked and this run sent."""
    not_asked: dict[str, int] = field(default_factory=dict)
    """Number of trials left out at a planned stop, by model."""
    not_run: tuple[NotRun, ...] = ()
    """The parts that the trials leave out because this machine cannot run them, and the
    trials left out at a planned stop."""

    def column(self, name: str) -> pd.Series:
        """Return a column of `answers`; an empty one if no model was asked."""
        return self.answers[name] if len(self.answers) else pd.Series(dtype=object)

    def by_model(self, name: str) -> dict[str, list[Any]]:
        """Return a dict from model to the model's values in a column of `answers`, in
        their order."""
        values = self.column(name).groupby(self.column("model")).agg(list)
        return {entry.name: values.get(entry.name, []) for entry in self.models}

    def trial_of(self, answer: Mapping[str, Any]) -> Trial:
        """Return the trial of `answer`, a row of `answers`."""
        trial: Trial = self.questions.of(answer["model"]).items[answer["trial"]]
        return trial

    def prompt_of(
        self, answer: Mapping[str, Any], responses: Mapping[str, Response]
    ) -> Prompt:
        """Return the prompt of the request that got the text of `answer`, a row of
        `answers`.

        If the trial made one request, this prompt is the trial's first prompt;
        otherwise this prompt is the one that `Trials.follow_up` makes from the earlier
        responses. `responses` has responses by key. Raises `KeyError` if `responses`
        lacks an earlier response.
        """
        trial = self.trial_of(answer)
        of_model = self.questions.of(answer["model"])
        earlier = tuple(responses[key] for key in answer["earlier"])
        later = of_model.follow_up(trial, earlier) if earlier else None
        return later or of_model.render(trial)

    def answered_by(self) -> dict[str, list[str]]:
        """Return a dict from model to the sorted names and fingerprints that servers
        gave for the model with its answers.

        A list is empty if the servers gave no names. More than one entry means that the
        model changed.
        """
        versions = {}
        for model, names in self.by_model("answered_by").items():
            versions[model] = sorted({*names} - {""})
        return versions

    def requests_sha256(self) -> str:
        """Return the SHA-256, in hexadecimal, over the sorted keys of the last request
        of each answer's trial."""
        keys = sorted(self.column("key"))
        return hashlib.sha256("\n".join(keys).encode()).hexdigest()

    def reasons(self, rule: str) -> dict[str, dict[str, int]]:
        """Return, for each model, a dict from reason to number, for its most frequent
        reasons why an answer is not readable.

        An answer counts if it could not be read under the scoring rule `rule`, or if
        its request failed.
        """
        table = {entry.name: Counter[str]() for entry in self.models}
        names = ("model", f"outcome_{rule}", f"detail_{rule}", "error")
        for model, outcome, detail, error in zip(*map(self.column, names), strict=True):
            if outcome in READ:
                continue
            why = str(outcome)
            # The detail of a truncated answer is its text.
            if error or outcome == Outcome.UNPARSABLE:
                why += f": {detail}"
            table[model][" ".join(why.split())[:LONGEST_REASON]] += 1
        return {model: dict(why.most_common(REASONS)) for model, why in table.items()}

    def counts(self, rule: str = "strict") -> dict[str, dict[str, int]]:
        """Return, for each model, a dict from outcome to number of answers under the
        scoring rule `rule`, zeros included.

        Trials that were not asked count as skipped. Raises `AssertionError` if a
        model's counts do not add up to its trials, and `KeyError` for a rule by which
        the answers are not scored.
        """
        table = {}
        for model, outcomes in self.by_model(f"outcome_{rule}").items():
            counts = Counter(outcomes)
            counts[Outcome.SKIPPED] += self.not_asked.get(model, 0)
            trials = len(self.questions.of(model).items)
            if counts.total() != trials:
                raise AssertionError(
                    f"{model}: {counts.total()} outcomes of {trials} trials: {counts}"
                )
            table[model] = {reason.value: counts[reason] for reason in Outcome}
        return table

    def counted(self, rule: str = "strict") -> pd.DataFrame:
        """Return the number of answers by outcome, as a table with a row for each
        model.

        There is a column for each outcome that occurred under the scoring rule `rule`.
        """
        table = pd.DataFrame(self.counts(rule)).T
        return table.loc[:, table.any()]
