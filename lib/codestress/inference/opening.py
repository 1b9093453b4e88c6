"""Opening of the engine that answers for a model."""

from __future__ import annotations

import asyncio

from codestress.errors import EngineError
from codestress.inference.engines.base import BatchEngine, Engine, RequestFailed
from codestress.inference.registry import ModelEntry, engine_module
from codestress.types import Request, Response

QUIET_S = 0.05
"""Seconds without a new request after which a batch begins, unless it is full before."""
FAILURES_IN_A_ROW = 20
"""Number of failed requests, with no response between them, after which a server counts
as gone."""
Waiting = dict[str, tuple[Request, asyncio.Future[Response]]]
"""Requests without a response, each with the future that gets it, by key."""


def open_engine(entry: ModelEntry) -> Engine:
    """Open the engine of a registry row; `EngineError` where it cannot be opened."""
    engine: Engine | BatchEngine = engine_module(entry.engine).open_engine(entry)
    if isinstance(engine, BatchEngine):
        return Together(entry.name, engine)
    return engine


class Together(Engine):
    """A batch engine as an engine: it hands on the requests that come together, one batch
    after the other.

    No batch has a request twice. Only the first response to a request counts, one to a
    request that was not made is dropped, and a request without any fails
    (`RequestFailed`). `EngineError` where none of `FAILURES_IN_A_ROW` requests or more
    has a response.
    """

    def __init__(self, name: str, engine: BatchEngine) -> None:
        self.concurrency = engine.batch
        self.submitted = engine.submitted()
        self._name = name
        self._engine = engine
        self._waiting: Waiting = {}
        self._running: asyncio.Task[None] | None = None

    async def answer(self, request: Request) -> Response:
        future = asyncio.get_running_loop().create_future()
        _, future = self._waiting.setdefault(request.key, (request, future))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        # Cancelled, one caller leaves the response to the others.
        return await asyncio.shield(future)

    async def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        await self._engine.close()

    async def _run(self) -> None:
        while self._waiting:
            before = 0
            while before < len(self._waiting) < self.concurrency:
                before = len(self._waiting)
                await asyncio.sleep(QUIET_S)
            keys = list(self._waiting)[: self.concurrency]
            await self._ask({key: self._waiting.pop(key) for key in keys})

    async def _ask(self, batch: Waiting) -> None:
        """Ask the engine once, and end every future of the batch."""
        requests = [request for request, _ in batch.values()]
        failures: dict[str, Exception] = {}
        error: Exception | None = None
        try:
            async for request, response in self._engine.answers(requests):
                if isinstance(response, RequestFailed):
                    failures[request.key] = response
                elif request.key in batch:
                    _, future = batch.pop(request.key)
                    future.set_result(response)
        except Exception as unexpected:  # or those who wait would wait for ever
            error = unexpected
        if not error and len(batch) == len(requests) >= FAILURES_IN_A_ROW:
            error = EngineError(
                f"{self._name}: none of {len(batch)} requests was answered; see the "
                "failures"
            )
        for key, (_, future) in batch.items():
            nothing = RequestFailed(f"{self._name}: no answer came back for a request")
            future.set_exception(error or failures.get(key, nothing))
            future.exception()  # marks it as seen: its caller may be gone
