"""How many requests a server bears at once: one more after each round that went well, half as many when it says no."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LONGEST_PAUSE_S = 120.0


class Limiter:
    """Additive increase, multiplicative decrease of the requests in flight, between 1 and `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.in_flight = 0
        self._changed = asyncio.Event()
        self._round = 0
        """Counts decreases: requests sent before one do not cause another."""
        self._paused_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """A place among the requests in flight; gives the round, for `overloaded`."""
        while self.in_flight >= int(self.limit):
            self._changed.clear()
            await self._changed.wait()
        self.in_flight += 1
        try:
            pause = self._paused_until - asyncio.get_running_loop().time()
            if pause > 0:
                await asyncio.sleep(pause)
            yield self._round
        finally:
            self.in_flight -= 1
            self._changed.set()

    def answered(self) -> None:
        """A request went well."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._changed.set()

    def overloaded(self, sent_in: int, retry_after_s: float = 0.0) -> None:
        """The server wants fewer requests, and perhaps none for a while."""
        if sent_in == self._round:
            self._round += 1
            self.limit = max(1.0, self.limit / 2)
        pause = min(retry_after_s, LONGEST_PAUSE_S)
        self._paused_until = max(self._paused_until, asyncio.get_running_loop().time() + pause)
