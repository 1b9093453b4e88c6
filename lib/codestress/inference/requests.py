"""The requests that trials make of a model, the order in which they are sent, and a lock by which
one run at a time sends them.

A trial makes a first request, a retry after a refusal, then its next step. Requests are ordered so
that a server with prefix caching computes each shared prefix once. Prompts are compared by blocks
of their text: sorted by their chains of block hashes, they stand in the order of a walk through the
tree of their prefixes.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import sys
import zlib
from array import array
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tqdm import tqdm

from codestress.inference.engines.dialects import own_settings, shown_to
from codestress.inference.registry import ModelEntry
from codestress.inference.servers import belongs
from codestress.inference.store import Store
from codestress.types import Prompt, Request, Response, Trial, Trials

CHUNK = 256
"""Maximum number of requests that one query looks up in the store."""
KEPT_CHARACTERS = 50_000_000
"""Maximum number of characters of all rendered prompts that a run keeps for its next model: a bound
on its memory (law 2 of docs/architecture.md)."""
BLOCK = 128
"""Length of a block of a prompt's text, in bytes. Servers cache blocks of 16 tokens and more;
shorter shared prefixes are not worth an order."""
WIDTH = 4
"""Length of one block's hash in a chain, in bytes."""
LOCK_PAUSE_S = 0.2


@dataclass(frozen=True)
class Asked:
    """A request that a trial must send next, with the trial's index and its earlier requests."""

    index: int
    """Index of the trial in `Trials.items`."""
    request: Request
    earlier: tuple[tuple[str, Response], ...] = ()
    """The trial's earlier requests that were answered: pairs of key and response."""


class Prompts:
    """The first prompts of `trials`, by the trial's index. A rendered prompt is kept for the next
    models; once `kept_characters` characters are kept, later prompts are rendered at each use."""

    def __init__(self, trials: Trials, kept_characters: int = KEPT_CHARACTERS) -> None:
        self.trials = trials
        self.room = kept_characters
        self.kept: dict[int, Prompt] = {}

    def of(self, index: int) -> Prompt:
        if index in self.kept:
            return self.kept[index]
        prompt = self.trials.render(self.trials.items[index])
        self.room -= prompt.characters
        if self.room >= 0:
            self.kept[index] = prompt
        return prompt

    def request(self, index: int, entry: ModelEntry) -> Request:
        """Returns the first request of the trial at the position `index` of `Trials.items`, to the
        model of the registry row `entry`."""
        return request_for(entry, self.of(index), self.trials.items[index].sample)


def request_for(entry: ModelEntry, prompt: Prompt, sample: int = 0) -> Request:
    """Returns the request that shows `prompt` to the model of the registry row `entry`; `sample` is
    its index among repeated samples of the prompt.

    A larger `max_tokens` of the row replaces the prompt's, in every paper alike: a model that
    thinks before it answers would be cut off within its thoughts.
    """
    sampling = prompt.sampling
    if sampling.max_tokens < entry.max_tokens:
        prompt = replace(
            prompt, sampling=replace(sampling, max_tokens=entry.max_tokens)
        )
    return as_sent(Request(entry.id, entry.identity, prompt, sample), entry)


def as_sent(request: Request, entry: ModelEntry) -> Request:
    """Returns `request` as the server of the registry row `entry` gets it, with its messages in the
    dialect that the row's settings name, so that the key is that of what is really sent."""
    prompt = shown_to(request.prompt, own_settings(entry).get("roles", "any"))
    if prompt is request.prompt and request.revision == entry.identity:
        return request
    return replace(request, revision=entry.identity, prompt=prompt)


def request_of(trials: Trials, trial: Trial, entry: ModelEntry) -> Request:
    """Returns the first request of `trial`, one of `trials`, to the model of the registry row
    `entry`; the prompt is rendered by the model's own trials where it has some (`Trials.own`), else
    by `trials`."""
    return request_for(entry, trials.of(entry.name).render(trial), trial.sample)


def following(
    trials: Trials, entry: ModelEntry, asked: Asked, response: Response
) -> Asked | None:
    """Returns the request that a trial of `trials` sends to the model of the registry row `entry`
    after `response` answered its request `asked`; None when the trial is done.

    A refused response leads to the same prompt at the next of the trials' retry temperatures, while
    one is left. Otherwise `Trials.follow_up`, where there is one, makes the next prompt from all
    responses so far.
    """
    request = asked.request
    if response.refused and request.attempt < len(trials.retry_temperatures):
        temperature = trials.retry_temperatures[request.attempt]
        sampling = replace(request.prompt.sampling, temperature=temperature)
        prompt = replace(request.prompt, sampling=sampling)
        retry = replace(request, prompt=prompt, attempt=request.attempt + 1)
        return replace(asked, request=retry)
    if trials.follow_up is None:
        return None
    trial = trials.items[asked.index]
    earlier = (*asked.earlier, (request.key, response))
    step = trials.follow_up(trial, tuple(answer for _, answer in earlier))
    if step is None:
        return None
    request = request_for(entry, step, trial.sample + step.repetition)
    return Asked(asked.index, request, earlier)


def looked_up(
    prompts: Prompts, entry: ModelEntry, store: Store
) -> Iterator[tuple[list[tuple[Asked, Response]], Asked | None]]:
    """Yields a pair for each trial of `prompts` in order, for the registry row `entry`: its
    responses in `store`, each as a pair of request and response, and its first request without a
    stored response (None when all are stored).

    Raises `StoreError` for a damaged response, and `EngineError` for one from another server than
    the row names.
    """
    check, total = belongs(entry), len(prompts.trials.items)
    for start in range(0, total, CHUNK):
        firsts = [
            Asked(index, prompts.request(index, entry))
            for index in range(start, min(start + CHUNK, total))
        ]
        stored = store.get([first.request.key for first in firsts], check)
        for first in firsts:
            answered: list[tuple[Asked, Response]] = []
            asked: Asked | None = first
            response = stored.get(first.request.key)
            while asked is not None and response is not None:
                answered.append((asked, response))
                asked = following(prompts.trials, entry, asked, response)
                response = (
                    store.get([asked.request.key], check).get(asked.request.key)
                    if asked
                    else None
                )
            yield answered, asked


def stored_requests(
    trials: Trials, entry: ModelEntry, store: Store
) -> Iterator[tuple[Request, Response]]:
    """Yields (request, response) for every request of `trials`, to the model of the registry row
    `entry`, that has a response in `store`, retries and later steps included, in the trials' order.

    Raises `StoreError` for a damaged response, and `EngineError` for one from another server than
    the row names.
    """
    for answered, _ in looked_up(Prompts(trials.of(entry.name), 0), entry, store):
        yield from ((asked.request, response) for asked, response in answered)


def chain(prompt: Prompt) -> bytes:
    """Returns a prompt's chain: the hashes of the blocks of its text (`BLOCK`), of `WIDTH` bytes
    each, one after the other. Each hash covers all text up to its block's end, so that equal hashes
    mean equal prefixes.

    The text is that of all messages, with their roles, and of the begun answer. The last hash is of
    the whole text: only equal prompts have equal chains.
    """
    text = (
        "".join(f"{message.role}\n{message.content}\n" for message in prompt.messages)
        + prompt.prefill
    )
    data = text.encode("utf-8", "surrogatepass")
    hashes = array("I")
    value = 0
    for start in range(0, len(data), BLOCK):
        value = zlib.crc32(data[start : start + BLOCK], value)
        hashes.append(value)
    return hashes.tobytes()


def prefix_order(chains: Sequence[bytes]) -> list[int]:
    """Returns the indices of prompts in the order of a walk through the tree of their prefixes;
    `chains` has the chain of each prompt (see `chain`). Equal prompts keep their order."""
    return sorted(range(len(chains)), key=lambda index: chains[index])


def in_order(work: Iterable[Asked], first: Callable[[int], Asked]) -> Iterator[Asked]:
    """Yields the first requests of trials in the order of shared prefixes. `work` has one request,
    first or later, of each trial to ask; the order is by its prompt.

    Each prompt is rendered twice: once for the order, of which only hashes stay in memory, and once
    when it is due, by `first`, which makes a trial's first request from the trial's index.
    """
    indices, chains = array("Q"), []
    for asked in work:
        indices.append(asked.index)
        chains.append(chain(asked.request.prompt))
    for number in prefix_order(chains):
        yield first(indices[number])


@contextlib.asynccontextmanager
async def only_run(entry: ModelEntry, store: Path) -> AsyncIterator[None]:
    """Context that holds the lock of the registry row `entry`'s model in the store at the path
    `store`, so that one run at a time asks: two runs would pay twice for the same responses. While
    another run holds the lock, waits without limit and says so on standard error."""
    path = store.with_name(f".{store.name}.{entry.fingerprint}.lock")
    with path.open("w") as lock:
        for tries in itertools.count():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if not tries:
                reason = "another run, or another row of the registry, is asking the same model"
                tqdm.write(f"{entry.name}: {reason}; waiting", file=sys.stderr)
            await asyncio.sleep(LOCK_PAUSE_S)
        yield
