"""Before any call: what a build would ask, and the requests exactly as a model would get them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from codestress.errors import CodestressError, EngineError, ParameterError
from codestress.inference.archive import import_known
from codestress.inference.budget import cost
from codestress.inference.progress import Progress
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import CHUNK, request_of
from codestress.inference.servers import belongs, server_of
from codestress.inference.store import Store
from codestress.pipeline.artefacts import Artefact
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Request, Scalar, Trial, Trials
from codestress.validation import nearest


@dataclass(frozen=True)
class PlanRow:
    """What one model would be asked for one artefact."""

    artefact: str
    model: str
    problems: int
    """Different ones that the model is asked about."""
    requests: int
    answered: int
    """In the store already, or asked by an artefact above in the same plan."""
    characters: int
    """In the messages of the requests still to be made."""
    longest: int
    """Tokens of all their answers if each is as long as it may be."""
    later: int
    """Of those still to be made, how many follow an earlier answer: at most so many, not all answers have a sequel."""
    dollars_low: float | None
    """For the prompts alone, at a token per 4 characters; None without a price in the registry."""
    dollars_high: float | None
    """The same with every answer as long as it may be."""
    seconds: float | None
    """At the rate of the model's last requests in the store; None where it has none."""

    too_long: int
    """Requests longer than the model's window, at a token per 4 characters: they would fail."""

    unpriced: bool
    """Whether somebody is paid for the answers, and nobody knows how much."""

    @property
    def missing(self) -> int:
        return self.requests - self.answered


class Plan(NamedTuple):
    """What a build would ask, and what of it cannot be built, by artefact."""

    rows: list[PlanRow]
    errors: dict[str, str]


def make_plan(artefacts: Sequence[Artefact], store: Path) -> Plan:
    """One row for each artefact and model. Refused answers that will be asked again are not foreseen; later requests
    of a trial count as missing, and as long as its first one, for as long as that is missing."""
    rows = []
    errors = {}
    planned: set[str | int] = set()
    made: dict[str, Trials] = {}
    for artefact in artefacts:
        try:
            made[artefact.name] = artefact.trials()
        except CodestressError as error:
            errors[artefact.name] = str(error)
    total = sum(trials.total([model.name for model in a.models]) for a in artefacts if (trials := made.get(a.name)))
    import_known((entry for artefact in artefacts for entry in artefact.models), store)
    with Store(store) as responses, Progress(total, "prompts") as progress:
        for artefact in artefacts:
            if artefact.name in made:
                try:
                    rows += _rows(artefact, made[artefact.name], responses, planned, progress)
                except EngineError as error:  # another server's answers
                    errors[artefact.name] = str(error)
    return Plan(rows, errors)


def _rows(
    artefact: Artefact, trials: Trials, responses: Store, planned: set[str | int], progress: Progress
) -> list[PlanRow]:
    """A row for each model; every prompt is rendered once for all models that are asked the same."""
    alike = [entry for entry in artefact.models if entry.name not in trials.own]
    counted = _counts(alike, trials, responses, planned, progress)
    for entry in artefact.models:
        if entry.name in trials.own:
            counted |= _counts([entry], trials.of(entry.name), responses, planned, progress)
    rows = []
    for entry in artefact.models:
        counts = counted[entry.name]
        answered = counts["requests"] - counts["missing"]
        rate = None if entry.local else responses.rate(entry.name)
        tokens = counts["characters"] / CHARACTERS_PER_TOKEN
        low, high = (cost(entry, tokens, longest) if entry.price else None for longest in (0, counts["longest"]))
        rows.append(
            PlanRow(
                artefact.name,
                entry.name,
                len({trial.problem for trial in trials.of(entry.name).items}),
                counts["requests"],
                answered,
                counts["characters"],
                counts["longest"],
                counts["later"],
                low,
                high,
                counts["missing"] / rate if rate else None,
                counts["too long"],
                entry.needs_key and entry.price is None,
            )
        )
    return rows


def _counts(
    entries: Sequence[ModelEntry], trials: Trials, responses: Store, planned: set[str | int], progress: Progress
) -> dict[str, Counter[str]]:
    """By model: requests, missing ones, their characters and longest answers, and prompts that are too long."""
    sums = {entry.name: Counter[str]() for entry in entries}
    checks = {entry.name: belongs(entry) if server_of(entry) else None for entry in entries}
    numbered = iter(trials.items if entries else ())
    while chunk := list(itertools.islice(numbered, CHUNK)):
        prompts = [trials.render(trial) for trial in chunk]
        for entry in entries:
            requests = [
                Request(entry.id, entry.identity, prompt, trial.sample)
                for trial, prompt in zip(chunk, prompts, strict=True)
            ]
            absent = set(responses.missing([request.key for request in requests], checks[entry.name]))
            counts = sums[entry.name]
            for trial, request in zip(chunk, requests, strict=True):
                steps = trials.steps(trial)
                counts["requests"] += steps
                counts["too long"] += beyond_window(request.prompt, entry)
                if request.key in absent:
                    # Trials may share their first request, not their later ones.
                    whole = hash((request.key, trial.problem, *trial.factors.values())) if steps > 1 else request.key
                    later = 0 if whole in planned else steps - 1
                    missing = later + (request.key not in planned)
                    counts["missing"] += missing
                    counts["later"] += later
                    counts["characters"] += missing * request.prompt.characters
                    counts["longest"] += missing * request.prompt.sampling.max_tokens
                    planned |= {request.key, whole}
        for _ in range(len(chunk) * len(entries)):
            progress.answered()
    return sums


def beyond_window(prompt: Prompt, entry: ModelEntry) -> bool:
    """Whether a prompt is longer than the model's window even at 4 characters a token, which is few for code."""
    return entry.context is not None and prompt.characters > entry.context * CHARACTERS_PER_TOKEN


def check_windows(artefact: Artefact, trials: Trials) -> None:
    """Says before the first call when prompts cannot fit a model's window: how many, and one of them."""
    limited = [entry for entry in artefact.models if entry.context is not None]
    found: dict[str, list[tuple[Trial, int]]] = {entry.name: [] for entry in limited}
    for these in {id(one): one for one in (trials.of(entry.name) for entry in limited)}.values():
        alike = [entry for entry in limited if trials.of(entry.name) is these]
        for trial in these.items:
            prompt = these.render(trial)
            for entry in alike:
                if beyond_window(prompt, entry):
                    found[entry.name].append((trial, prompt.characters))
    for entry in limited:
        if found[entry.name]:
            trial, length = found[entry.name][0]
            factors = ", ".join(f"{name} = {value}" for name, value in trial.factors.items())
            total = trials.total([entry.name])
            raise ParameterError(
                f"{artefact.name}: {len(found[entry.name]):,} of {total:,} prompts are longer than the "
                f"window of {entry.name}, {entry.context:,} tokens; one has {length:,} characters ({factors}).\n"
                "Make them shorter (fewer distractors, for instance), or leave the model out with MODELS=…"
            )


def show_requests(artefact: Artefact, where: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The first requests of an artefact with their factors, one for each trial and model, that match `where`."""
    trials = artefact.trials()
    alike = [entry for entry in artefact.models if entry.name not in trials.own]
    others = [
        (trial, entry) for entry in artefact.models if entry not in alike for trial in trials.of(entry.name).items
    ]
    for trial, entry in itertools.chain(itertools.product(trials.items, alike), others):
        if matches(trial, entry, where):
            request = request_of(trials, trial, entry)
            yield {"factors": factors_of(trial, entry), "key": request.key, **asdict(request)}


def factors_of(trial: Trial, entry: ModelEntry) -> dict[str, Scalar]:
    """All that tells a trial from others."""
    return {"model": entry.name, "problem": trial.problem, "sample": trial.sample, **trial.factors}


def matches(trial: Trial, entry: ModelEntry, where: Mapping[str, str]) -> bool:
    """Whether a trial has these factors; `ParameterError` with the nearest name where there is no such factor."""
    known = factors_of(trial, entry)
    for name in where:
        if name not in known:
            raise ParameterError(f"--where {name}: no such factor{nearest(name, known)}")
    return all(str(known[name]).lower() == value.lower() for name, value in where.items())
