"""In which order requests are asked, so that a server with prefix caching computes each shared prefix once; by one run
at a time.

Prompts are compared by blocks of characters: sorted by their chains of block hashes they stand in the order of a walk
through the tree of their prefixes. Under concurrency the first request of a prefix, its leader, is answered before the
others that share it are sent; meanwhile other parts of the tree are asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import heapq
import sys
import zlib
from array import array
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from codestress.inference.engines.base import Engine
from codestress.inference.opening import Together
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import Asked
from codestress.types import Prompt

BLOCK = 128
"""Characters. Servers cache blocks of 16 tokens and more; shorter shared beginnings are not worth an order."""
WIDTH = 4
"""Bytes of a block's hash in a chain."""
WINDOW = 8
"""How far ahead of the first open request others are taken, in multiples of the concurrency."""
LOCK_PAUSE_S = 0.2


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
    low, high = 0, min(len(one), len(two)) // WIDTH
    while low < high:
        middle = (low + high + 1) // 2
        end = middle * WIDTH
        if one[end - WIDTH : end] == two[end - WIDTH : end]:
            low = middle
        else:
            high = middle - 1
    return low


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


class Schedule:
    """Hands out positions in order, each once its leader is answered; at most `window` positions ahead of the first
    one that is not."""

    def __init__(self, leaders: Sequence[int], window: int) -> None:
        self._leaders = leaders
        self._window = window
        self._done = bytearray(len(leaders))
        self._first_open = 0
        self._head = 0
        self._ready: list[int] = []
        self._blocked: dict[int, list[int]] = {}
        self._changed = asyncio.Event()

    async def take(self) -> int | None:
        """The next position; waits while all within the window wait for their leaders. None when no more are left."""
        while True:
            position = self._next()
            if position is not None:
                return position
            if self._head == len(self._leaders) and not self._blocked:
                return None
            self._changed.clear()
            await self._changed.wait()

    def done(self, position: int) -> None:
        """Its request has an answer, or failed: those that waited for it may go."""
        self._done[position] = 1
        while self._first_open < len(self._done) and self._done[self._first_open]:
            self._first_open += 1
        for waiting in self._blocked.pop(position, ()):
            heapq.heappush(self._ready, waiting)
        self._changed.set()

    def _next(self) -> int | None:
        if self._ready:
            return heapq.heappop(self._ready)
        while self._head < min(len(self._leaders), self._first_open + self._window):
            position = self._head
            self._head += 1
            leader = self._leaders[position]
            if leader < 0 or self._done[leader]:
                return position
            self._blocked.setdefault(leader, []).append(position)
        return None


class InTurn:
    """Work in the order of the trials, rendered as it is taken."""

    def __init__(self, work: Iterator[Asked]) -> None:
        self.work = work

    async def next(self) -> tuple[int, Asked] | None:
        """The next of it, with its position; None when no more is left."""
        asked = next(self.work, None)
        return None if asked is None else (0, asked)

    def done(self, position: int) -> None:
        pass


class Ordered(Schedule):
    """Work in the order of shared prefixes, rendered twice: for the order, of which only hashes stay, and when taken.

    `first` makes a trial's first request by its index. An engine that takes many at once has no use for leaders.
    """

    def __init__(self, work: Iterator[Asked], first: Callable[[int], Asked], engine: Engine) -> None:
        self.first = first
        indices, chains = array("Q"), []
        for asked in work:
            indices.append(asked.index)
            chains.append(chain(asked.request.prompt))
        order = prefix_order(chains)
        self.indices = array("Q", (indices[number] for number in order.requests))
        led = not isinstance(engine, Together)
        super().__init__(order.leaders if led else [-1] * len(indices), WINDOW * engine.concurrency)

    async def next(self) -> tuple[int, Asked] | None:
        position = await self.take()
        return None if position is None else (position, self.first(self.indices[position]))


@contextlib.asynccontextmanager
async def only_run(entry: ModelEntry, store: Path) -> AsyncIterator[None]:
    """One run at a time asks a model for one store: two would pay for the same answers twice."""
    path = store.with_name(f".{store.name}.{entry.fingerprint}.lock")
    with path.open("w") as lock:
        told = False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    tqdm.write(
                        f"{entry.name}: another run, or another row of the registry, is asking the same model; waiting",
                        file=sys.stderr,
                    )
                    told = True
                await asyncio.sleep(LOCK_PAUSE_S)
        yield
