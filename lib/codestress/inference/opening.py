"""Opening of the engine that answers for a model: an archive that is replayed, else the engine of
its registry row.

An archive has only stored responses to earlier requests; CODESTRESS_REPLAY names its file.
"""

from __future__ import annotations

import asyncio
import os
from functools import lru_cache
from pathlib import Path

from codestress.errors import EngineError
from codestress.inference.archive import Row, difference, read_archive
from codestress.inference.engines.base import BatchEngine, Engine, RequestFailed
from codestress.inference.registry import ModelEntry, engine_module
from codestress.inference.servers import belongs
from codestress.paths import shown
from codestress.types import Request, Response

QUIET_S = 0.05
"""Seconds without a new request after which a batch begins, unless it is full before."""
FAILURES_IN_A_ROW = 20
"""Number of failed requests, with no response between them, after which a server counts as gone."""


def replayed(entry: ModelEntry) -> bool:
    """Whether CODESTRESS_REPLAY names an archive, which then answers for the model of the registry
    row `entry`; always False for a local engine. The archive is not read."""
    return bool(os.environ.get("CODESTRESS_REPLAY")) and not entry.local


def open_engine(entry: ModelEntry) -> Engine:
    """Opens and returns the engine that answers for the model of the registry row `entry`: an
    archive (`Replay`) where CODESTRESS_REPLAY names one and the row's engine is not local, else the
    row's engine; a batch engine is wrapped in `Together`.

    Raises `EngineError` where the engine cannot be opened, `ArchiveError` for an invalid archive.
    """
    if replayed(entry):
        return Replay(entry, Path(os.environ["CODESTRESS_REPLAY"]))
    engine: Engine | BatchEngine = engine_module(entry.engine).open_engine(entry)
    return Together(entry.name, engine) if isinstance(engine, BatchEngine) else engine


class Together(Engine):
    """An engine that hands a batch engine the requests that come together, one batch after the
    other.

    No batch has a request twice. Only the first response to a request counts; a response to a
    request that was not made is dropped, and a request without a response fails (`RequestFailed`).
    A batch of `FAILURES_IN_A_ROW` requests or more without any response is an `EngineError`.
    """

    def __init__(self, name: str, engine: BatchEngine) -> None:
        self.concurrency = engine.batch
        self.submitted = engine.submitted()
        self._name = name
        self._engine = engine
        self._waiting: dict[str, tuple[Request, asyncio.Future[Response]]] = {}
        """Requests that wait for a batch, with their futures, by key."""
        self._running: asyncio.Task[None] | None = None

    async def answer(self, request: Request) -> Response:
        future = asyncio.get_running_loop().create_future()
        _, outcome = self._waiting.setdefault(request.key, (request, future))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        return await asyncio.shield(outcome)  # others may wait for it

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
            batch = {
                key: self._waiting.pop(key)
                for key in [*self._waiting][: self.concurrency]
            }
            left = {key: outcome for key, (_, outcome) in batch.items()}
            failed: dict[str, Exception] = {}
            ended: Exception | None = None
            try:
                async for request, response in self._engine.answers(
                    [request for request, _ in batch.values()]
                ):
                    if isinstance(response, RequestFailed):
                        failed[request.key] = response
                    elif outcome := left.pop(request.key, None):
                        outcome.set_result(response)
            except Exception as error:  # nobody who waits may wait for ever
                ended = error
            if not ended and len(left) == len(batch) >= FAILURES_IN_A_ROW:
                ended = EngineError(
                    f"{self._name}: none of {len(batch)} requests was answered; see the failures"
                )
            for (
                key,
                outcome,
            ) in left.items():  # when all answers are on their way to the store
                nothing = RequestFailed(
                    f"{self._name}: no answer came back for this request"
                )
                outcome.set_exception(ended or failed.get(key, nothing))
                outcome.exception()  # looked at, so that nobody is warned of it


class Replay(Engine):
    """An engine that answers for one model from an archive; `EngineError` for a request that the
    archive lacks, or whose response is from another server than the registry row names."""

    concurrency = 1

    def __init__(self, entry: ModelEntry, path: Path) -> None:
        self._entry = entry
        self._path = path.resolve()
        self._rows = _rows(self._path, path.stat().st_mtime_ns if path.is_file() else 0)
        self._belongs = belongs(entry, shown(path))

    async def answer(self, request: Request) -> Response:
        row = self._rows.get(request.key)
        if row is None:
            raise EngineError(
                f"{self._entry.name}: {shown(self._path)} has no answer to a request: "
                f"{difference(self._rows.values(), request)}.\n"
                "Build with the parameters and the version that made the archive, or ask the model: without REPLAY."
            )
        self._belongs(row.model, row.server)
        return row.response


@lru_cache(maxsize=1)
def _rows(path: Path, _changed: int) -> dict[str, Row]:
    return {row.key: row for row in read_archive(path)}
