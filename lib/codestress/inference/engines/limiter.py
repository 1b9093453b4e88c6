"""A limit on the requests in flight at a server: raised by one after each round without overload,
halved when the server reports overload."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

LONGEST_PAUSE_S = 120.0


class Limiter:
    """A limit on the requests in flight at a server, from 1 to `most`, where it begins: raised by
    one after a round of successes, halved at overload."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.limit = float(most)
        self.in_flight = 0
        self._changed = asyncio.Event()
        self._round = 0
        """Number of times that the limit was halved: requests sent before a halving do not cause
        another."""
        self._paused_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Context of one request: waits for a place among the requests in flight and for the end of
        a pause; yields the number of halvings so far, which `overloaded` takes as `sent_in`."""
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
        """Records that a request succeeded, and raises the limit, at most to `most`: by one after
        as many successes as the limit."""
        self.limit = min(float(self.most), self.limit + 1 / self.limit)
        self._changed.set()

    def overloaded(self, sent_in: int, retry_after_s: float = 0.0) -> None:
        """Records that the server wants fewer requests: halves the limit, unless it was halved
        since the request was sent (`sent_in` is the number that `slot` yielded to it), and has new
        requests wait for `retry_after_s` seconds, at most two minutes."""
        if sent_in == self._round:
            self._round += 1
            self.limit = max(1.0, self.limit / 2)
        pause = min(retry_after_s, LONGEST_PAUSE_S)
        self._paused_until = max(
            self._paused_until, asyncio.get_running_loop().time() + pause
        )
