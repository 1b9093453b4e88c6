"""Which requests trials make of a model: the first, the same again after a refusal, the next step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from codestress.inference.registry import ModelEntry
from codestress.inference.servers import belongs
from codestress.inference.store import Store
from codestress.types import Prompt, Request, Response, Trial, Trials

CHUNK = 256
"""Requests looked up at a time."""
KEPT_CHARACTERS = 50_000_000
"""In the prompts that are kept for the next model: what bounds the memory of a run (law 2)."""


@dataclass(frozen=True)
class Asked:
    """A request of a trial that is due."""

    index: int
    """Of the trial."""
    request: Request
    earlier: tuple[tuple[str, Response], ...] = ()
    """The trial's earlier requests that were answered: keys and responses."""


class Prompts:
    """The prompts of trials by their indices: rendered once for all models, as long as those kept are not too long."""

    def __init__(self, trials: Trials, kept_characters: int = KEPT_CHARACTERS) -> None:
        self.trials = trials
        self.room = kept_characters
        self.kept: dict[int, Prompt] = {}

    def of(self, index: int) -> Prompt:
        if index in self.kept:
            return self.kept[index]
        prompt = self.trials.render(self.trials.items[index])
        self.room -= sum(len(message.content) for message in prompt.messages)
        if self.room >= 0:
            self.kept[index] = prompt
        return prompt

    def request(self, index: int, entry: ModelEntry) -> Request:
        """The first request of a trial for a model."""
        return Request(entry.id, entry.identity, self.of(index), self.trials.items[index].sample)


def request_of(trials: Trials, trial: Trial, entry: ModelEntry) -> Request:
    """The first request of a trial for a model."""
    return Request(entry.id, entry.identity, trials.of(entry.name).render(trial), trial.sample)


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
    sample = trial.sample + prompt.repetition
    return Asked(asked.index, Request(entry.id, entry.identity, prompt, sample), earlier)


def stored_requests(trials: Trials, entry: ModelEntry, store: Store) -> Iterator[tuple[Request, Response]]:
    """All requests of the trials that have a response, later ones of a trial included, in the trials' order."""
    check, trials = belongs(entry), trials.of(entry.name)
    for chunk in chunks(Prompts(trials, 0), entry):
        stored = store.get([first.request.key for first in chunk], check)
        for first in chunk:
            asked: Asked | None = first
            response = stored.get(first.request.key)
            while asked is not None and response is not None:
                yield asked.request, response
                asked = following(trials, entry, asked, response)
                response = store.get([asked.request.key], check).get(asked.request.key) if asked is not None else None


def chunks(prompts: Prompts, entry: ModelEntry) -> Iterator[list[Asked]]:
    """The first requests of all trials, some at a time."""
    total = len(prompts.trials.items)
    for start in range(0, total, CHUNK):
        yield [Asked(index, prompts.request(index, entry)) for index in range(start, min(start + CHUNK, total))]
