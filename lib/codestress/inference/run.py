"""`run`: answers to all trials, asked where the store lacks them, then scored; every answer is scored once.

`rechecked` asks some questions once more: whether answers from a store or an archive are what the model says here.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from tqdm import tqdm

from codestress.inference.ask import Replies, Reply, ask, ask_each
from codestress.inference.budget import Budget
from codestress.inference.coroutines import run_coroutine
from codestress.inference.opening import replayed
from codestress.inference.progress import Progress
from codestress.inference.registry import REGISTRY, ModelEntry
from codestress.inference.requests import CHUNK, request_of
from codestress.inference.store import Store
from codestress.paths import STORE
from codestress.types import NotRun, Outcome, Response, Score, Trial, Trials, Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one trial with one model."""

    trial: Trial
    model: str
    """The registry's name."""
    key: str
    scores: dict[str, Score]
    """By scoring rule."""
    finish_reason: str
    usage: Usage
    seconds: float
    attempts: int
    """Requests made: more than 1 when refused answers were asked again."""
    answered_by: str
    error: str = ""
    chance: float | None = None
    """With which probability an instrument answers this right (`Trials.chance`)."""
    earlier: tuple[str, ...] = ()
    """Keys of the trial's earlier requests, where it makes several."""


class Repeats(NamedTuple):
    """Requests that were made once more; those that neither gave the store's very text nor failed gave another."""

    asked: int
    same: int
    failed: int


@dataclass(frozen=True)
class Results:
    """All answers of a run, one for each trial and model, in the order of the trials."""

    answers: list[Answer]
    models: list[ModelEntry]
    asked: int
    """Requests that the store lacked."""
    trials: Mapping[str, int]
    """How many each model was asked."""
    repeats: dict[str, Repeats] = field(default_factory=dict)
    """By model: what came of asking again."""
    not_run: tuple[NotRun, ...] = ()
    """What the trials leave out because this machine cannot run it."""
    questions: Trials | None = field(default=None, repr=False)
    """What renders the prompts once more, for who looks at single answers."""

    def answered_by(self) -> dict[str, list[str]]:
        """What servers said answers for each model: name and fingerprint. More than one means that it changed."""
        found: dict[str, set[str]] = {entry.name: set() for entry in self.models}
        for answer in self.answers:
            if answer.answered_by:
                found[answer.model].add(answer.answered_by)
        return {model: sorted(names) for model, names in found.items()}

    def requests_sha256(self) -> str:
        """Of all that was asked."""
        return hashlib.sha256("\n".join(sorted(answer.key for answer in self.answers)).encode()).hexdigest()

    def counts(self, rule: str = "strict") -> dict[str, dict[str, int]]:
        """Answers by model and reason; every model's counts add up to its trials (checked)."""
        table = {entry.name: Counter[str]() for entry in self.models}
        for answer in self.answers:
            table[answer.model][answer.scores[rule].outcome] += 1
        for model, counts in table.items():
            if sum(counts.values()) != self.trials[model]:
                told = f"{sum(counts.values())} outcomes of {self.trials[model]} trials: {dict(counts)}"
                raise AssertionError(f"{model}: {told}")
        return {model: {reason.value: counts[reason] for reason in Outcome} for model, counts in table.items()}


def run(
    trials: Trials,
    models: Sequence[str],
    *,
    failures: Literal["raise", "count"] = "raise",
    store: Path = STORE,
    registry: Path = REGISTRY,
) -> Results:
    """Answers to all trials by all models, scored; asks only what the store lacks (`ask` says what may be raised).

    Plain call in scripts, notebooks and under papermill alike. Requests that failed for good count, where `failures`
    says so, with the reasons `timed out` and `harness error`.
    """
    return score(trials, ask(trials, models, failures=failures, store=store, registry=registry), store=store)


def score(trials: Trials, asked: Replies, *, store: Path = STORE) -> Results:
    """Scores every reply by all of the trials' rules."""
    answers = list[Answer]()
    with Store(store) as responses:
        for entry, replies in zip(asked.models, asked.replies, strict=True):
            these = trials.of(entry.name)
            pairs = zip(these.items, replies, strict=True)
            while chunk := list(islice(pairs, CHUNK)):
                keys = {key for _, reply in chunk if not reply.failure for key in (reply.key, *reply.earlier)}
                found = responses.get(list(keys))
                answers += [_scored(these, trial, entry.name, reply, found) for trial, reply in chunk]
    answers = _with_chances(trials, asked.models, answers)
    trials_of = {entry.name: len(trials.of(entry.name).items) for entry in asked.models}
    results = Results(answers, asked.models, asked.requests, trials_of, not_run=trials.not_run, questions=trials)
    for model, names in results.answered_by().items():
        if len(names) > 1:
            tqdm.write(
                f"warning: {model}: its answers come from {len(names)} models or versions: {'; '.join(names)}. "
                "The figures mix them; CODESTRESS_STORE=… with another file asks one alone.",
                file=sys.stderr,
            )
    return results


def _with_chances(trials: Trials, models: Sequence[ModelEntry], answers: list[Answer]) -> list[Answer]:
    """With what is true of instruments, but for what was skipped; a prompt is rendered once for all that are asked.

    Each process takes the problems in an order of its own: what two notebooks of a build need both, they share out.
    """
    settings = {entry.name: entry.settings for entry in models if entry.simulated}
    asked: dict[tuple[int, int], list[int]] = {}
    for number, answer in enumerate(answers):
        skipped = all(score.outcome is Outcome.SKIPPED for score in answer.scores.values())
        if answer.model in settings and not skipped:
            asked.setdefault((id(trials.of(answer.model)), id(answer.trial)), []).append(number)
    for numbers in sorted(asked.values(), key=lambda these: hash((os.getpid(), answers[these[0]].trial.problem))):
        these, trial = trials.of(answers[numbers[0]].model), answers[numbers[0]].trial
        if these.chance:
            prompt = these.render(trial)
            for number in numbers:
                chance = these.chance(trial, prompt, settings[answers[number].model])
                answers[number] = replace(answers[number], chance=chance)
    return answers


def _scored(trials: Trials, trial: Trial, model: str, reply: Reply, found: Mapping[str, Response]) -> Answer:
    if reply.failure:
        failed = Score(reply.failure.outcome, 0.0, str(reply.failure))
        scores = dict.fromkeys(trials.judges, failed)
        return Answer(trial, model, reply.key, scores, "", Usage(), 0.0, reply.attempts, "", str(reply.failure))
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


def stored_responses(keys: Iterable[str], store: Path = STORE) -> dict[str, Response]:
    """The responses to requests, by key: for what looks into their texts."""
    with Store(store) as responses:
        return responses.get(list(keys))


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
            run_coroutine(ask_each(firsts, [entry], again, progress, limits, False, math.inf))
            stored, said = responses.get(chosen), again.get(chosen)
            same = sum(response.text == stored[key].text for key, response in said.items())
            repeats[entry.name] = Repeats(len(chosen), same, failed=len(chosen) - len(said))
    return replace(results, repeats=repeats)
