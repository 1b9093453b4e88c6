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


def following(trials: Trials, entry: ModelEntry, asked: Asked, response: Response) -> Asked | None:
    """The trial's next request after this response: the same again after a refusal, or its next step."""
    request = asked.request
    if response.refused and request.attempt < len(trials.retry_temperatures):
        sampling = replace(request.prompt.sampling, temperature=trials.retry_temperatures[request.attempt])
        return replace(
            asked,
            request=replace(request, prompt=replace(request.prompt, sampling=sampling), attempt=request.attempt + 1),
        )
    if trials.follow_up is None:
        return None
    trial = trials.items[asked.index]
    earlier = (*asked.earlier, (request.key, response))
    prompt = trials.follow_up(trial, tuple(one for _, one in earlier))
    if prompt is None:
        return None
    sample = trial.sample + prompt.repetition
    return Asked(asked.index, Request(entry.id, entry.identity, prompt, sample), earlier)


def looked_up(
    prompts: Prompts, entry: ModelEntry, store: Store
) -> Iterator[tuple[list[tuple[Asked, Response]], Asked | None]]:
    """Of each trial, in their order: its requests that the store answers, and the first that it lacks; None where it
    lacks none."""
    check, total = belongs(entry), len(prompts.trials.items)
    for start in range(0, total, CHUNK):
        firsts = [Asked(index, prompts.request(index, entry)) for index in range(start, min(start + CHUNK, total))]
        stored = store.get([first.request.key for first in firsts], check)
        for first in firsts:
            answered: list[tuple[Asked, Response]] = []
            asked: Asked | None = first
            response = stored.get(first.request.key)
            while asked is not None and response is not None:
                answered.append((asked, response))
                asked = following(prompts.trials, entry, asked, response)
                response = store.get([asked.request.key], check).get(asked.request.key) if asked else None
            yield answered, asked


def stored_requests(trials: Trials, entry: ModelEntry, store: Store) -> Iterator[tuple[Request, Response]]:
    """All requests of the trials that have a response, later ones of a trial included, in the trials' order."""
    for answered, _ in looked_up(Prompts(trials.of(entry.name), 0), entry, store):
        yield from ((asked.request, response) for asked, response in answered)
