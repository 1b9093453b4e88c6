"""Which requests trials make of a model: the first, the same again after a refusal, the next step."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from codestress.inference.registry import ModelEntry
from codestress.inference.store import Store
from codestress.types import Request, Response, Trial, Trials

CHUNK = 256
"""Requests rendered at a time: what bounds the memory of a run."""


@dataclass(frozen=True)
class Asked:
    """A request of a trial that is due."""

    index: int
    """Of the trial."""
    request: Request
    earlier: tuple[tuple[str, Response], ...] = ()
    """The trial's earlier requests that were answered: keys and responses."""


def request_of(trials: Trials, trial: Trial, entry: ModelEntry) -> Request:
    """The first request of a trial for a model."""
    return Request(entry.id, entry.identity, trials.render(trial), trial.sample)


def again(trials: Trials, request: Request) -> Request:
    """A refused request asked once more, at the temperature for repetitions."""
    temperature = trials.retry_temperatures[request.attempt]
    prompt = replace(request.prompt, sampling=replace(request.prompt.sampling, temperature=temperature))
    return replace(request, prompt=prompt, attempt=request.attempt + 1)


def following(trials: Trials, entry: ModelEntry, asked: Asked, response: Response) -> Asked | None:
    """The trial's next request after this response: the same again after a refusal, or its next step."""
    request = asked.request
    if response.refused and request.attempt < len(trials.retry_temperatures):
        return replace(asked, request=again(trials, request))
    if trials.follow_up is None:
        return None
    trial = trials.items[asked.index]
    earlier = (*asked.earlier, (request.key, response))
    prompt = trials.follow_up(trial, tuple(one for _, one in earlier))
    if prompt is None:
        return None
    return Asked(asked.index, Request(entry.id, entry.identity, prompt, trial.sample), earlier)


def stored_requests(trials: Trials, entry: ModelEntry, store: Store) -> Iterator[tuple[Request, Response]]:
    """All requests of the trials that have a response, later ones of a trial included, in the trials' order."""
    for chunk in chunks(trials, entry):
        stored = store.get([request.key for _, request in chunk])
        for index, first in chunk:
            asked: Asked | None = Asked(index, first)
            response = stored.get(first.key)
            while asked is not None and response is not None:
                yield asked.request, response
                asked = following(trials, entry, asked, response)
                response = store.get([asked.request.key]).get(asked.request.key) if asked is not None else None


def chunks(trials: Trials, entry: ModelEntry) -> Iterator[list[tuple[int, Request]]]:
    """The first requests of all trials, rendered a chunk at a time (law 2), with the trials' indices."""
    numbered = enumerate(trials.items)
    while chunk := list(itertools.islice(numbered, CHUNK)):
        yield [(index, request_of(trials, trial, entry)) for index, trial in chunk]
