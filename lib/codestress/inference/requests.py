"""Which requests trials make of a model, in which order they are asked, and by one run at a time.

A trial makes a first request, the same again after a refusal, then its next step. Requests are ordered so that a server
with prefix caching computes each shared prefix once. Prompts are compared by blocks of characters: sorted by their
chains of block hashes they stand in the order of a walk through the tree of their prefixes. Under concurrency the first
request of a prefix, its leader, is answered before the others that share it are sent; meanwhile other parts of the tree
are asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import itertools
import sys
import zlib
from array import array
from bisect import bisect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

from tqdm import tqdm

from codestress.inference.registry import ModelEntry
from codestress.inference.servers import belongs
from codestress.inference.store import Store
from codestress.types import Prompt, Request, Response, Trial, Trials

Work = TypeVar("Work")
CHUNK = 256
"""Requests looked up at a time."""
KEPT_CHARACTERS = 50_000_000
"""In the prompts that are kept for the next model: what bounds the memory of a run (law 2)."""
BLOCK = 128
"""Characters. Servers cache blocks of 16 tokens and more; shorter shared beginnings are not worth an order."""
WIDTH = 4
"""Bytes of a block's hash in a chain."""
WINDOW = 8
"""Requests that are open at once, under way or waiting for their leaders, in multiples of the concurrency."""
LOCK_PAUSE_S = 0.2


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


def chain(prompt: Prompt) -> bytes:
    """Hashes of a prompt's full blocks, each of all text up to its end, so that equal hashes mean equal beginnings.

    The last block is of the whole text: equal prompts have equal chains, and nothing else has.
    """
    text = "".join(f"{message.role}\n{message.content}\n" for message in prompt.messages) + prompt.prefill
    data = text.encode("utf-8", "surrogatepass")
    hashes = array("I")
    value = 0
    for start in range(0, len(data), BLOCK):
        value = zlib.crc32(data[start : start + BLOCK], value)
        hashes.append(value)
    return hashes.tobytes()


def shared_blocks(one: bytes, two: bytes) -> int:
    """Blocks that two prompts share from their beginning on."""
    places = range(0, min(len(one), len(two)), WIDTH)
    return bisect(places, 0, key=lambda at: one[at : at + WIDTH] != two[at : at + WIDTH])


@dataclass(frozen=True)
class Order:
    """Positions 0, 1, … in which requests are asked."""

    requests: list[int]
    """The index of the request at each position."""
    leaders: list[int]
    """For each position the earlier one that first computes what it shares with its neighbour before; -1 for none."""


def prefix_order(chains: Sequence[bytes]) -> Order:
    """The order of a walk through the tree of prefixes. Equal prompts keep the order in which they came."""
    requests = sorted(range(len(chains)), key=lambda index: chains[index])
    leaders: list[int] = []
    path: list[tuple[int, int]] = []  # prefixes of the prompt before: blocks, and the position that computes them first
    before = b""
    for position, index in enumerate(requests):
        now = chains[index]
        shared = shared_blocks(before, now)
        first = -1
        while path and path[-1][0] > shared:
            first = path.pop()[1]
        if path and path[-1][0] == shared:
            first = path[-1][1]
        elif shared:
            path.append((shared, first))
        leaders.append(first if shared else -1)
        blocks = len(now) // WIDTH
        if not path or path[-1][0] < blocks:
            path.append((blocks, position))
        before = now
    return Order(requests, leaders)


class Schedule(Generic[Work]):
    """Hands out work in order, each piece once its leader is answered; at most `window` pieces are open, which is no
    less than there are takers.

    The work comes as pairs: the position of a piece's leader (-1 for none), and the piece.
    """

    def __init__(self, work: Iterable[tuple[int, Work]], window: int) -> None:
        self._coming = enumerate(work)
        self._ready: asyncio.PriorityQueue[tuple[int, Work]] = asyncio.PriorityQueue()
        self._led: dict[int, list[tuple[int, Work]]] = {}
        """By open positions: the pieces that wait for their answers."""
        self._left = 0
        """Pieces that are open, and not taken."""
        for _ in range(window):
            self._open()

    async def take(self) -> tuple[int, Work] | None:
        """The next piece with its position; waits while all that are open wait for their leaders. None at the end."""
        if not self._left:
            return None
        self._left -= 1
        return await self._ready.get()

    def done(self, position: int) -> None:
        """A piece has an answer, or failed: those that waited for it may go."""
        for follower in self._led.pop(position):
            self._ready.put_nowait(follower)
        self._open()

    def _open(self) -> None:
        for position, (leader, piece) in itertools.islice(self._coming, 1):
            self._left += 1
            self._led[position] = []
            if leader in self._led:
                self._led[leader].append((position, piece))
            else:
                self._ready.put_nowait((position, piece))


def in_order(work: Iterable[Asked], first: Callable[[int], Asked]) -> Iterator[tuple[int, Asked]]:
    """Work in the order of shared prefixes, with leaders; rendered twice, for the order, of which only hashes stay, and
    when it is due: `first` makes a trial's first request by its index."""
    indices, chains = array("Q"), []
    for asked in work:
        indices.append(asked.index)
        chains.append(chain(asked.request.prompt))
    order = prefix_order(chains)
    for number, leader in zip(order.requests, order.leaders, strict=True):
        yield leader, first(indices[number])


@contextlib.asynccontextmanager
async def only_run(entry: ModelEntry, store: Path) -> AsyncIterator[None]:
    """One run at a time asks a model for one store: two would pay for the same answers twice."""
    path = store.with_name(f".{store.name}.{entry.fingerprint}.lock")
    with path.open("w") as lock:
        for tries in itertools.count():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if not tries:
                tqdm.write(
                    f"{entry.name}: another run, or another row of the registry, is asking the same model; waiting",
                    file=sys.stderr,
                )
            await asyncio.sleep(LOCK_PAUSE_S)
        yield
