"""Before any call: what a build would ask, and the requests exactly as a model would get them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from codestress.build.artefacts import Artefact
from codestress.errors import CodestressError, ParameterError
from codestress.inference.registry import ModelEntry
from codestress.inference.run import chunks, request_of
from codestress.inference.store import Store
from codestress.types import Request, Scalar, Trials
from codestress.validation import nearest

CHARACTERS_PER_TOKEN = 4
"""Rough: counts of one text differ by a quarter between tokenizers."""


@dataclass(frozen=True)
class PlanRow:
    """What one model would be asked for one artefact."""

    artefact: str
    model: str
    requests: int
    answered: int
    """In the store already, or asked by an artefact above in the same plan."""
    characters: int
    """In the messages of the requests still to be made."""
    dollars_low: float | None
    """For the prompts alone, at a token per 4 characters; None without a price in the registry."""
    dollars_high: float | None
    """The same with every answer as long as it may be."""

    too_long: int
    """Requests longer than the model's window, at a token per 4 characters: they would fail."""

    @property
    def missing(self) -> int:
        return self.requests - self.answered


class Plan(NamedTuple):
    """What a build would ask, and what of it cannot be built, by artefact."""

    rows: list[PlanRow]
    errors: dict[str, str]


def make_plan(artefacts: Sequence[Artefact], store: Path) -> Plan:
    """One row for each artefact and model. Refused answers that will be asked again are not foreseen."""
    rows = []
    errors = {}
    planned: set[str] = set()
    with Store(store) as responses:
        for artefact in artefacts:
            try:
                trials = artefact.trials()
            except CodestressError as error:
                errors[artefact.name] = str(error)
                continue
            for entry in artefact.models:
                requests = missing = characters = longest = too_long = 0
                for chunk in chunks(trials, entry):
                    absent = set(responses.missing([request.key for _, request in chunk])) - planned
                    requests += len(chunk)
                    too_long += sum(beyond_window(request, entry) for _, request in chunk)
                    for _, request in chunk:
                        if request.key in absent - planned:
                            missing += 1
                            characters += sum(len(message.content) for message in request.prompt.messages)
                            longest += request.prompt.sampling.max_tokens
                            planned.add(request.key)
                rows.append(
                    PlanRow(
                        artefact.name,
                        entry.name,
                        requests,
                        requests - missing,
                        characters,
                        *_dollars(entry, characters, longest),
                        too_long,
                    )
                )
    return Plan(rows, errors)


def beyond_window(request: Request, entry: ModelEntry) -> bool:
    """Whether a prompt is longer than the model's window even at 4 characters a token, which is few for code."""
    if entry.context is None:
        return False
    return sum(len(message.content) for message in request.prompt.messages) > entry.context * CHARACTERS_PER_TOKEN


def check_windows(artefact: Artefact, trials: Trials) -> None:
    """Says before the first call when prompts cannot fit a model's window: how many, and one of them."""
    for entry in artefact.models:
        if entry.context is None or entry.engine == "interpreter":
            continue
        found = [
            (index, request)
            for chunk in chunks(trials, entry)
            for index, request in chunk
            if beyond_window(request, entry)
        ]
        if found:
            index, request = found[0]
            factors = ", ".join(f"{name} = {value}" for name, value in trials.items[index].factors.items())
            length = sum(len(message.content) for message in request.prompt.messages)
            raise ParameterError(
                f"{artefact.name}: {len(found):,} of {len(trials.items):,} prompts are longer than the window of "
                f"{entry.name}, {entry.context:,} tokens; one has {length:,} characters ({factors}).\n"
                "Make them shorter (fewer distractors, for instance), or leave the model out with MODELS=…"
            )


def _dollars(entry: ModelEntry, characters: int, longest: int) -> tuple[float | None, float | None]:
    if entry.price is None:
        return None, None
    low = characters / CHARACTERS_PER_TOKEN * entry.price.input / 1e6
    return low, low + longest * entry.price.output / 1e6


def show_requests(artefact: Artefact, where: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The first requests of an artefact with their factors, one for each trial and model, that match `where`."""
    trials = artefact.trials()
    for trial, entry in itertools.product(trials.items, artefact.models):
        known: dict[str, Scalar] = {
            "model": entry.name,
            "problem": trial.problem,
            "sample": trial.sample,
            **trial.factors,
        }
        for name in where:
            if name not in known:
                raise ParameterError(f"--where {name}: no such factor{nearest(name, known)}")
        if all(str(known[name]).lower() == value.lower() for name, value in where.items()):
            request = request_of(trials, trial, entry, attempt=0)
            yield {"factors": known, "key": request.key, **asdict(request)}
