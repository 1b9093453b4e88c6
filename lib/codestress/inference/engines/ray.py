"""The engine of a cluster: Ray Data hands requests to workers on many machines, each with its own
engine.

Requests and responses travel as Parquet, a file for each batch. A worker writes its file before
anything else happens: a worker, a machine or this process may die, and the responses are found
again.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from codestress.errors import EngineError
from codestress.paths import OUTPUTS, ROOT
from codestress.types import Request, Response
from codestress.validation import Strict

from ..budget import LIMITS
from ..registry import ModelEntry
from .base import (
    BatchEngine,
    Outcomes,
    RequestFailed,
    served_identity,
)
from .base import (
    open_engine as open_worker,
)

identity = served_identity


class Worker(Strict):
    """Settings of the workers of the engine `ray`: the engine inside each worker, and its
    settings."""

    engine: Literal["openai", "vllm"]
    settings: dict[str, Any] = {}


class Settings(Strict):
    """A registry row's `settings` for the engine `ray` (params/models.yaml)."""

    worker: Worker
    workers: int = Field(default=2, ge=1)
    """Number of workers; for vLLM one for each copy of the model."""
    gpus: float = Field(default=0, ge=0)
    """GPUs for each worker; with vLLM its `tensor_parallel`."""
    cpus: float = Field(default=0.5, gt=0)
    """CPUs for each worker. A pool that takes all processors leaves none for reading, and waits for
    ever."""
    task: int = Field(default=64, ge=1)
    """Requests that a worker takes and writes together: the most that is lost when a worker
    dies."""
    address: str = ""
    """Address of a running cluster (`auto` inside a cluster); empty: Ray on this machine alone."""
    folder: str = ""
    """Folder for Parquet files, which all machines must see; empty: outputs/ray/."""


class RayEngine(BatchEngine):
    """An engine that asks one model on the workers of a cluster; `EngineError` where Ray is not
    installed or does not start."""

    concurrency = 10_000

    def __init__(self, entry: ModelEntry) -> None:
        try:
            import ray
            import ray.data
        except ImportError:
            raise EngineError(
                f"{entry.name}: ray is not installed here: pip install -e '.[cluster]'"
            ) from None
        super().__init__(entry)
        self._ray = ray
        self._settings = settings = Settings.model_validate(entry.settings)
        folder = ROOT / (settings.folder or OUTPUTS / "ray") / entry.fingerprint
        self._folder = folder
        self._in, self._out = folder / "in", folder / "out"
        self._started = not ray.is_initialized()
        address = settings.address
        try:
            if self._started:
                ray.init(
                    address=address or None,
                    include_dashboard=False,
                    log_to_driver=False,
                )
        except Exception as error:  # Ray raises bare ones
            ray.shutdown()
            where = address or "this machine"
            raise EngineError(
                f"{entry.name}: Ray does not start on {where}: {error}"
            ) from None
        ray.data.DataContext.get_current().enable_progress_bars = False

    async def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yields each of `requests` as a pair with its response or failure: first the responses
        that an earlier call left behind, then the workers' outcomes as they are written. Raises
        `EngineError` where the cluster fails."""
        waiting = {request.key: request for request in requests}
        for key, outcome in self._written(set()):
            if key in waiting and isinstance(outcome, Response):
                yield waiting.pop(key), outcome
        if not waiting:
            return
        self._write_requests(list(waiting.values()))
        job = asyncio.create_task(asyncio.to_thread(self._map))
        seen: set[str] = set()
        ended = False
        while waiting and not ended:
            await asyncio.wait([job], timeout=0.2)
            ended = job.done()
            for key, outcome in self._written(seen):
                if key in waiting:
                    yield waiting.pop(key), outcome
        try:
            await job
        except Exception as error:  # whatever Ray raises
            raise EngineError(
                f"{self.entry.name}: the Ray cluster failed: {str(error)[-600:]}\n"
                "Its answers so far are kept; the same command asks for the others."
            ) from None
        shutil.rmtree(self._folder, ignore_errors=True)

    async def close(self) -> None:
        await super().close()
        if self._started:
            self._ray.shutdown()

    def _write_requests(self, requests: list[Request]) -> None:
        """Writes `requests` to files in the folder `in`, and deletes all earlier files, whose
        responses are in the store by now."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._in.mkdir(parents=True)
        self._out.mkdir()
        size = self._settings.task
        for start in range(0, len(requests), size):
            part = requests[start : start + size]
            rows = [{"request": pickle.dumps(request)} for request in part]
            path = self._in / f"{start // size:06}.parquet"
            pq.write_table(pa.Table.from_pylist(rows), path)

    def _map(self) -> None:
        """Has the workers answer all files in the folder `in`, and returns when every file has its
        file of outcomes."""
        settings = self._settings
        files = [{"file": str(path)} for path in sorted(self._in.glob("*.parquet"))]
        parts = self._ray.data.from_items(files, override_num_blocks=len(files))
        workers = min(settings.workers, len(files))
        row = self.entry.model_dump() | settings.worker.model_dump()
        limited = any(os.environ.get(limit) for limit in LIMITS)
        if limited and row["engine"] == "openai":
            # Retries in a worker would not be counted.
            row["settings"]["retries"] = 0
        outcomes = parts.map_batches(
            AskFile,
            batch_size=1,
            compute=self._ray.data.ActorPoolStrategy(size=workers),
            num_cpus=settings.cpus,
            num_gpus=settings.gpus or None,
            fn_constructor_kwargs={"row": row},
            max_restarts=-1,
            max_task_retries=-1,
        )
        for _ in outcomes.iter_rows():
            pass

    def _written(
        self, seen: set[str]
    ) -> Iterator[tuple[str, Response | RequestFailed]]:
        """Yields pairs of a request's key and its response or failure, from the workers' files of
        outcomes whose names are not yet in `seen`, and adds the names. A damaged file is passed
        over."""
        for path in sorted(self._out.glob("*.parquet")):
            if path.name in seen:
                continue
            seen.add(path.name)
            # A machine may die while it writes; an older kit wrote texts.
            with suppress(OSError, pa.ArrowInvalid, TypeError):
                for row in pq.read_table(path).to_pylist():
                    yield row["key"], pickle.loads(row["outcome"])


class AskFile:
    """A worker of the cluster: answers files of requests by the model of the registry row `row`, and
    writes for each a file of outcomes in the folder `out`, beside the folder of requests."""

    def __init__(self, row: dict[str, Any]) -> None:
        self._engine = open_worker(ModelEntry.model_validate(row))
        self._loop = asyncio.new_event_loop()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        for file in batch["file"]:
            path = Path(str(file))
            target = path.parent.parent / "out" / path.name
            if target.exists():  # a worker died after it wrote
                continue
            column = pq.read_table(path)["request"].to_pylist()
            requests = map(pickle.loads, column)
            outcomes = self._loop.run_until_complete(self._answered(requests))
            part = target.with_suffix(".part")
            pq.write_table(pa.Table.from_pylist(outcomes), part)
            part.replace(target)
        return {"file": batch["file"]}

    async def _answered(self, requests: Iterable[Request]) -> list[dict[str, Any]]:
        """Returns the outcomes of `requests` as rows of a worker's file: the column `key` has the
        request's key, the column `outcome` the pickled response or failure."""
        slots = asyncio.Semaphore(self._engine.concurrency)

        async def answered(request: Request) -> dict[str, Any]:
            outcome: Response | RequestFailed
            async with slots:
                try:
                    outcome = await self._engine.answer(request)
                except RequestFailed as failure:
                    outcome = failure
            return {"key": request.key, "outcome": pickle.dumps(outcome)}

        return await asyncio.gather(*map(answered, requests))


open_engine = RayEngine
