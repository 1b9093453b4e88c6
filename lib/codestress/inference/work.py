"""What is to be asked, handed to workers: in turn, or in the order of shared prefixes; by one run at a time."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import sys
from array import array
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

from tqdm import tqdm

from codestress.inference.ordering import Schedule, chain, prefix_order
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import Asked

WINDOW = 8
"""How far ahead of the first open request others are taken, in multiples of the concurrency."""
LOCK_PAUSE_S = 0.2


class InTurn:
    """In the order of the trials, rendered as it is taken."""

    def __init__(self, work: Iterator[Asked]) -> None:
        self.work = work

    async def take(self) -> tuple[int, Asked] | None:
        """The next of it, with its position; None when no more is left."""
        asked = next(self.work, None)
        return None if asked is None else (0, asked)

    def done(self, position: int) -> None:
        pass


class Ordered:
    """In the order of shared prefixes. Rendered twice: for the order, of which only hashes stay, and when taken."""

    def __init__(
        self,
        work: Iterator[Asked],
        first: Callable[[int], Asked],
        due: Callable[[int], Asked | None],
        concurrency: int,
    ) -> None:
        """`first` makes a trial's first request by its index, `due` the first one that the store lacks."""
        self.first = first
        self.due = due
        self.indices = array("Q")
        chains = []
        for asked in work:
            self.indices.append(asked.index)
            chains.append(chain(asked.request.prompt))
        self.order = prefix_order(chains)
        self.schedule = Schedule(self.order.leaders, WINDOW * concurrency)
        self.position = 0

    async def take(self) -> tuple[int, Asked] | None:
        position = await self.schedule.take()
        if position is None:
            return None
        return position, self.first(self.indices[self.order.requests[position]])

    def done(self, position: int) -> None:
        self.schedule.done(position)

    def next(self) -> Asked | None:
        """The next in order, whoever leads: for engines that take many at once."""
        while self.position < len(self.indices):
            self.position += 1
            asked = self.due(self.indices[self.order.requests[self.position - 1]])
            if asked is not None:
                return asked
        return None


Work = InTurn | Ordered
"""What is to be asked, handed to several workers."""


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
