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
from codestress.inference.store import CHUNK, Store
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Scalar, Trial, Trials
from codestress.validation import nearest

from .artefacts import Artefact

RENDERED = 4_000
"""Largest number of prompts that a plan renders for a paper's largest artefact. If an
artefact of the paper has more, only a sample of the problems is rendered."""
FEWEST_PROBLEMS = 10
"""Smallest number of problems in a sample, if the artefact has that many."""
COUNTS = ("requests", "answered", "repeated", "characters", "longest", "too_long")
"""Fields of a `PlanRow` that are counted over the sample and scaled to all requests."""


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


@dataclass
class Planning:
    """State of a plan while its artefacts are counted: the open store, the errors, and
    the requests counted so far."""

    responses: Store
    errors: dict[str, str]
    planned: set[tuple[str, str | int]]
    """Requests and trials counted so far, each with its server: a request as its key, a
    trial as a hash. The server is included because two servers may have the same key,
    and no server's response stands for another server's."""


def make_plan(artefacts: Sequence[Artefact], store: Path) -> Plan:
    """Return the `Plan` of a build of `artefacts`: a row of counts for each artefact
    and model. No model is asked.

    The counts come from the artefacts' trials and from the responses in the file
    `store`. For large artefacts, only the prompts of a sample of problems are rendered.
    The sample is the same in all artefacts of a paper, so that shared requests are
    recognised. Retries after refusals are not counted. If a request has no response,
    the later requests of its trial count as missing too, with the same length.

    The plan's `errors` names each artefact whose trials cannot be made or whose stored
    responses come from another server.
    """
    errors: dict[str, str] = {}
    asked: list[tuple[Artefact, Trials]] = []
    largest = Counter[str]()
    for artefact in artefacts:
        try:
            trials = artefact.trials()
        except CodestressError as error:
            errors[artefact.name] = str(error)
            continue
        asked.append((artefact, trials))
        prompts = trials.total(group[0].name for group in _groups(artefact, trials))
        largest[artefact.paper] = max(largest[artefact.paper], prompts)
    import_known(itertools.chain(*(artefact.models for artefact in artefacts)), store)
    rows = []
    with Store(store) as responses, Progress(len(asked), "plan") as progress:
        planning = Planning(responses, errors, set())
        for artefact, trials in asked:
            most = max(1, largest[artefact.paper])
            rows += _rows(artefact, trials, RENDERED / most, planning)
            progress.update()
    return Plan(rows, errors)


def _groups(artefact: Artefact, trials: Trials) -> list[list[ModelEntry]]:
    """Return the models of `artefact` in groups that get the same trials. Each model
    with trials in `trials.own` is a group of one."""
    groups: dict[int, list[ModelEntry]] = {}
    for entry in artefact.models:
        groups.setdefault(id(trials.of(entry.name)), []).append(entry)
    return list(groups.values())


def rank_of(problem: str) -> float:
    """Return a number from 0 to 1 that is always the same for the id `problem` (by a
    hash).

    The problems whose number is below a limit are a random sample of all problems. A
    lower limit selects a part of the same sample.
    """
    name = problem.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(name, digest_size=6).digest()) / 2**48


def _rows(
    artefact: Artefact, trials: Trials, share: float, planning: Planning
) -> list[PlanRow]:
    """Return a `PlanRow` for each model of `artefact`, in order, from the prompts of a sample of
    problems.

    The sample is a `share` of the problems (1 or more: all), but at least `FEWEST_PROBLEMS`
    problems. Each prompt is rendered once for all models that are asked the same trials.
    """
    rows: dict[str, PlanRow] = {}
    for entries in _groups(artefact, trials):
        asked = trials.of(entries[0].name)
        ranks = {trial.problem: rank_of(trial.problem) for trial in asked.items}
        limit = max([share, *sorted(ranks.values())[:FEWEST_PROBLEMS]])
        sample = [trial for trial in asked.items if ranks[trial.problem] <= limit]
        rendered = sum(rank <= limit for rank in ranks.values()) / max(1, len(ranks))
        for entry in entries:
            row = PlanRow(artefact.name, entry.name, len(ranks), rendered=rendered)
            row.unpriced = entry.needs_key and not entry.price
            rows[entry.name] = row
        for start in range(0, len(sample), CHUNK):
            prompts = Prompts(replace(asked, items=sample[start : start + CHUNK]))
            for entry in entries:
                _count(rows[entry.name], prompts, entry, planning)
        steps = sum(map(asked.steps, asked.items))
        scale = steps / max(1, sum(map(asked.steps, sample)))
        for entry in entries:
            row = rows[entry.name]
            for name in COUNTS:
                setattr(row, name, round(scale * getattr(row, name)))
            _price(row, entry, planning.responses)
    return [rows[entry.name] for entry in artefact.models]


def _price(row: PlanRow, entry: ModelEntry, responses: Store) -> None:
    """Set the price and the time of `row`."""
    if entry.price:
        tokens = row.characters / CHARACTERS_PER_TOKEN
        row.dollars_low = cost(entry, tokens, 0)
        row.dollars_high = cost(entry, tokens, row.longest)
    rate = None if entry.local else responses.rate(entry.name)
    row.seconds = row.missing / rate if rate else None


def _count(
    row: PlanRow, prompts: Prompts, entry: ModelEntry, planning: Planning
) -> None:
    """Add the requests of the trials of `prompts` to the model `entry` to the counts of `row`.

    If a stored response comes from another server, no stored response counts, and the error goes to
    `planning.errors`.
    """
    items = prompts.trials.items
    try:
        stored = list(looked_up(prompts, entry, planning.responses))
    except EngineError as error:
        planning.errors[row.artefact] = str(error)
        stored = [([], prompts.first(index, entry)) for index in range(len(items))]
    server = server_of(entry)
    for trial, (replies, pending) in zip(items, stored, strict=True):
        # A retry after a refusal is not another request.
        answered = sum(step.request.attempt == 0 for step, _ in replies)
        row.answered += answered
        if pending is None:
            row.requests += answered
            continue
        steps = prompts.trials.steps(trial)
        row.requests += steps
        left = steps - answered
        prompt = pending.request.prompt
        first = (server, pending.request.key)
        # Trials may share their first request, not their later ones.
        whole = (server, hash((first, trial.problem, *trial.factors.values())))
        later = 0 if whole in planning.planned else left - 1
        missing = min(left, later + (first not in planning.planned))
        planning.planned |= {first, whole}
        row.repeated += left - missing
        row.characters += missing * prompt.characters
        row.longest += missing * prompt.sampling.max_tokens
        row.too_long += beyond_window(prompt, entry)


def beyond_window(prompt: Prompt, entry: ModelEntry) -> bool:
    """Return whether `prompt` is longer than the context window of the model `entry`,
    estimated at 4 characters a token; False if the model's window is not known."""
    window = entry.context or math.inf
    return prompt.characters > window * CHARACTERS_PER_TOKEN


def check_windows(artefact: Artefact, trials: Trials) -> None:
    """Raise `ParameterError` if a prompt of `trials` does not fit the context window of
    a model of `artefact`. The message describes the prompt. No model is asked."""
    for entries in _groups(artefact, trials):
        smallest = min(entries, key=lambda entry: entry.context or math.inf)
        if not smallest.context:
            continue
        part = trials.of(smallest.name)
        for trial in part.items:
            prompt = part.render(trial)
            if beyond_window(prompt, smallest):
                raise ParameterError(
                    f"{artefact.name}: a prompt has {prompt.characters:,} characters "
                    f"({listed(trial.factors)}); the context of {smallest.name} has {smallest.context:,} tokens.\n"
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
