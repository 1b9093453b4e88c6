"""Plan of a build before any model is asked: the number of requests, and the requests
exactly as a model would get them."""

import hashlib
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from codestress.errors import (
    CodestressError,
    EngineError,
    ParameterError,
)
from codestress.inference.archive import import_known
from codestress.inference.budget import cost
from codestress.inference.progress import Progress
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import Prompts, looked_up, request_of, server_of
from codestress.inference.store import Store
from codestress.types import CHARACTERS_PER_TOKEN, Scalar, Trial, Trials
from codestress.validation import nearest

from .artefacts import Artefact

RENDERED = 4_000
"""Largest number of prompts that a plan renders for a paper's largest artefact. If an
artefact of the paper has more, only a sample of the problems is rendered."""
FEWEST_PROBLEMS = 10
"""Smallest number of problems in a sample, if the artefact has that many."""

Planned = set[tuple[str, str | int]]
"""Requests (as keys) and trials (as hashes) of a plan so far, each with its server: two
servers may have the same key, and no server's response stands for another server's."""


@dataclass
class PlanRow:
    """Row of a plan: counts of the requests that one model would get for one artefact,
    with price and time."""

    artefact: str
    model: str
    problems: int
    """Number of different problems that the model is asked about."""
    requests: int = 0
    """Number of requests if none fails. Follow-up requests count until the store shows
    that they are not made."""
    answered: int = 0
    """Number of requests with a stored response from the server that the model's
    registry row names."""
    repeated: int = 0
    """Number of requests that repeat an earlier request to the same server, in this row
    or in a row above. A repeated request is sent once."""
    characters: int = 0
    """Number of characters in the messages of the requests still to be made."""
    longest: int = 0
    """Number of tokens in the missing responses if each response has its largest
    length."""
    dollars_low: float | None = None
    """Price in dollars of the prompts alone, at one token per 4 characters; None if the
    registry has no price."""
    dollars_high: float | None = None
    """Price in dollars if every response has its largest length; None if the registry
    has no price."""
    seconds: float | None = None
    """Seconds for the missing requests at the rate of the model's latest stored
    responses. None if the model answers in this process or the store has too few
    responses for a rate."""
    too_long: int = 0
    """Number of trials whose next unanswered request would fail, because the prompt is
    longer than the model's context window at one token per 4 characters."""
    unpriced: bool = False
    """Whether the model's server charges for responses but the registry has no price.
    """
    rendered: float = 1.0
    """Share (0 to 1) of the problems whose prompts were rendered. Below 1, all counts
    but `problems` and `requests` are estimates: the sample's counts, scaled to all
    requests."""

    @property
    def missing(self) -> int:
        """Number of requests still to be made: all but the answered and the repeated
        requests."""
        return self.requests - self.answered - self.repeated


class Plan(NamedTuple):
    """Rows of a plan (`PlanRow`), and the errors that artefacts would have."""

    rows: list[PlanRow]
    errors: dict[str, str]
    """Dict from the name of each artefact that cannot be built to the reason."""


class _Sample(NamedTuple):
    """Trials of which a plan renders the prompts, for all trials that a model is asked."""

    asked: Trials
    """All trials."""
    prompts: Prompts
    """Prompts of the sample, rendered when they are needed, and kept for the next model
    that is asked the same trials."""
    problems: int
    """Number of different problems in all trials."""
    rendered: float
    """Share (0 to 1) of the problems that are in the sample."""
    scale: float
    """Number of requests of all trials for each request of the sample."""


def make_plan(artefacts: Sequence[Artefact], store: Path) -> Plan:
    """Return the `Plan` of a build of `artefacts`: a row of counts for each artefact
    and model. No model is asked.

    The counts come from the artefacts' trials and from the responses in the file
    `store`. For large artefacts, only the prompts of a sample of problems are rendered.
    The sample is the same in all artefacts of a paper, so that shared requests are
    recognised. Retries after refusals are not counted. If a request has no response,
    the later requests of its trial count as missing too, with the same length.

    The plan's `errors` names each artefact whose trials cannot be made, or with stored
    responses to one of its models from another server. Such a model has no row.
    """
    plan = Plan([], {})
    asked: list[tuple[Artefact, Trials]] = []
    largest = Counter[str]()
    for artefact in artefacts:
        try:
            trials = artefact.trials()
        except CodestressError as error:
            plan.errors[artefact.name] = str(error)
            continue
        asked.append((artefact, trials))
        prompts = trials.total(entry.name for entry in _narrowest(artefact, trials))
        largest[artefact.paper] = max(largest[artefact.paper], prompts)
    import_known(itertools.chain(*(artefact.models for artefact in artefacts)), store)
    planned: Planned = set()
    with Store(store) as responses, Progress(len(asked), "plan") as progress:
        for artefact, trials in asked:
            share = RENDERED / max(1, largest[artefact.paper])
            sample = _sample(trials, share)
            for entry in artefact.models:
                if trials.of(entry.name) is not sample.asked:
                    sample = _sample(trials.of(entry.name), share)
                try:
                    plan.rows.append(_row(artefact, entry, sample, responses, planned))
                except EngineError as error:
                    plan.errors[artefact.name] = str(error)
            progress.update()
    return plan


def rank_of(problem: str) -> float:
    """Return a number from 0 to 1 that is always the same for the id `problem` (by a
    hash).

    The problems whose number is below a limit are a random sample of all problems. A
    lower limit selects a part of the same sample.
    """
    name = problem.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=6).digest()) / 2**48


def _sample(asked: Trials, share: float) -> _Sample:
    """Return the sample of the trials `asked` with a `share` of their problems (1 or
    more: all), but at least `FEWEST_PROBLEMS` problems."""
    ranks = {trial.problem: rank_of(trial.problem) for trial in asked.items}
    limit = max([share, *sorted(ranks.values())[:FEWEST_PROBLEMS]])
    items = [trial for trial in asked.items if ranks[trial.problem] <= limit]
    rendered = sum(rank <= limit for rank in ranks.values()) / max(1, len(ranks))
    steps = sum(map(asked.steps, asked.items))
    scale = steps / max(1, sum(map(asked.steps, items)))
    prompts = Prompts(replace(asked, items=items))
    return _Sample(asked, prompts, len(ranks), rendered, scale)


def _row(
    artefact: Artefact,
    entry: ModelEntry,
    sample: _Sample,
    responses: Store,
    planned: Planned,
) -> PlanRow:
    """Return the row of `artefact` and the model `entry`, from the counts of `sample`,
    scaled to all trials. Raises `EngineError` as `_counts` does."""
    row = PlanRow(artefact.name, entry.name, sample.problems)
    for name, count in _counts(sample.prompts, entry, responses, planned).items():
        setattr(row, name, round(sample.scale * count))
    row.rendered = sample.rendered
    row.unpriced = entry.needs_key and not entry.price
    rate = None if entry.local else responses.rate(entry.name)
    row.seconds = row.missing / rate if rate else None
    if entry.price:
        tokens = row.characters / CHARACTERS_PER_TOKEN
        row.dollars_low = cost(entry, tokens, 0)
        row.dollars_high = cost(entry, tokens, row.longest)
    return row


def _counts(
    prompts: Prompts, entry: ModelEntry, responses: Store, planned: Planned
) -> Counter[str]:
    """Return counts of the requests of `prompts` to the model `entry`, by the fields of
    `PlanRow`, and add the requests without a response to `planned`. Raises
    `EngineError` if a response comes from another server, and then adds none.
    """
    counts = Counter[str]()
    new: Planned = set()
    server = server_of(entry)
    stored = looked_up(prompts, entry, responses)
    for trial, (replies, pending) in zip(prompts.trials.items, stored, strict=True):
        # A retry after a refusal is not another request.
        answered = sum(step.request.attempt == 0 for step, _ in replies)
        counts["answered"] += answered
        if pending is None:
            counts["requests"] += answered
            continue
        steps = prompts.trials.steps(trial)
        left = steps - answered
        prompt = pending.request.prompt
        first = (server, pending.request.key)
        # Trials may share their first request, not their later ones.
        whole = (server, hash((first, trial.problem, *trial.factors.values())))
        fresh = Planned((first, whole)) - planned - new
        new |= fresh
        later = left - 1 if whole in fresh else 0
        missing = min(left, later + (first in fresh))
        counts["requests"] += steps
        counts["repeated"] += left - missing
        counts["characters"] += missing * prompt.characters
        counts["longest"] += missing * prompt.sampling.max_tokens
        counts["too_long"] += prompt.characters > window(entry)
    # Not before the end: a model without a row asks nothing that others repeat.
    planned |= new
    return counts


def window(entry: ModelEntry) -> float:
    """Return the largest number of characters in a prompt to the model `entry`, at 4
    characters a token; infinity if the model's context window is not known."""
    return (entry.context or math.inf) * CHARACTERS_PER_TOKEN


def _narrowest(artefact: Artefact, trials: Trials) -> list[ModelEntry]:
    """Return, for each part of `trials` that models of `artefact` are asked, the model
    with the smallest context window."""
    narrowest = {}
    for entry in sorted(artefact.models, key=window, reverse=True):
        narrowest[id(trials.of(entry.name))] = entry
    return list(narrowest.values())


def check_windows(artefact: Artefact, trials: Trials) -> None:
    """Raise `ParameterError` if a prompt of `trials` does not fit the context window of
    a model of `artefact`. The message describes the prompt. No model is asked."""
    for entry in _narrowest(artefact, trials):
        part = trials.of(entry.name)
        for trial in part.items if entry.context else ():
            size = part.render(trial).characters
            if size > window(entry):
                raise ParameterError(
                    f"{artefact.name}: a prompt has {size:,} characters "
                    f"({listed(trial.factors)}); the context of {entry.name} has {entry.context:,} tokens.\n"
                    "Make them shorter (fewer distractors, for instance), or leave the model out with MODELS=…"
                )


def show_requests(
    artefact: Artefact, where: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield, as a dict, the first request of each trial of `artefact`, model by model,
    whose factors have the values in `where`.

    The dict has the keys `factors`, `key`, and the request's fields. Raises
    `ParameterError` if `where` names an unknown factor.
    """
    trials = artefact.trials()
    for entry in artefact.models:
        for trial in trials.of(entry.name).items:
            if matches(trial, entry.name, where):
                request = request_of(trials, trial, entry)
                yield {
                    "factors": factors_of(trial, entry.name),
                    "key": request.key,
                    **asdict(request),
                }


def factors_of(trial: Trial, model: str) -> dict[str, Scalar]:
    """Return a dict that identifies a `trial` asked of the model named `model`:
    `model`, `problem`, `sample`, and the trial's factors."""
    return {
        "model": model,
        "problem": trial.problem,
        "sample": trial.sample,
        **trial.factors,
    }


def listed(factors: Mapping[str, Scalar]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in factors.items())


def matches(trial: Trial, model: str, where: Mapping[str, str]) -> bool:
    """Return whether a `trial` asked of the model named `model` has the values in
    `where`, a dict from a name in `factors_of` to a value.

    Values are compared as text, regardless of case. Raises `ParameterError`, with the
    nearest known name, if `where` has an unknown name.
    """
    known = factors_of(trial, model)
    for name in where.keys() - known.keys():
        raise ParameterError(f"--where {name}: no such factor{nearest(name, known)}")
    return all(
        str(known[name]).lower() == value.lower() for name, value in where.items()
    )
