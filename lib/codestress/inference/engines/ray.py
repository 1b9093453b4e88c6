"""The engine of a cluster: Ray Data hands requests to workers on many machines, each
with its own engine.

A batch of responses comes back as soon as a worker has it, and is then stored. A
worker, a machine or this process may die: only the batches in flight are asked again.
"""

import asyncio
import os
import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from pydantic import Field

from codestress.errors import EngineError
from codestress.types import Request
from codestress.validation import Strict

from ..budget import LIMITS
from ..registry import ModelEntry
from .base import (
    BatchEngine,
    Outcomes,
    RequestFailed,
    open_engine as open_worker,
)


class Worker(Strict):
    """Settings of the workers of the engine `ray`: the engine inside each worker, and
    that engine's settings."""

    engine: Literal["openai", "vllm"]
    settings: dict[str, Any] = {}


class Settings(Strict):
    """A registry row's `settings` for the engine `ray` (params/models.yaml)."""

    worker: Worker
    workers: int = Field(default=2, ge=1)
    """Maximum number of workers; for vLLM, one worker holds one copy of the model."""
    gpus: float = Field(default=0, ge=0)
    """Number of GPUs for each worker; with vLLM, its `tensor_parallel`."""
    cpus: float = Field(default=0.5, gt=0)
    """Number of CPUs for each worker. If the workers take all processors, none is left
    for Ray's reading of requests, and the run waits for ever."""
    task: int = Field(default=64, ge=1)
    """Number of requests that a worker takes and answers together: the most that is
    lost when a worker dies."""
    address: str = ""
    """Address of a running cluster (`auto` inside a cluster). If empty, Ray runs on
    this machine alone."""


class RayEngine(BatchEngine):
    """An engine that asks one model on the workers of a cluster.

    Raises `EngineError` if Ray is not installed or does not start.
    """

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
        self._started = not ray.is_initialized()
        address = settings.address
        try:
            if self._started:
                ray.init(
                    address=address or None,
                    include_dashboard=False,
                    log_to_driver=False,
                )
        except Exception as error:  # Ray raises exceptions of no common class
            ray.shutdown()
            raise EngineError(
                f"{entry.name}: Ray does not start on {address or 'this machine'}: {error}"
            ) from None
        ray.data.DataContext.get_current().enable_progress_bars = False

    async def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yield responses and failures as soon as the workers have them.

        Raises `EngineError` if the cluster fails.
        """
        outcomes = self._outcomes(requests)
        try:
            while pickled := await asyncio.to_thread(next, outcomes, None):
                yield pickle.loads(pickled)
        except Exception as error:  # whatever Ray raises
            raise EngineError(
                f"{self.entry.name}: the Ray cluster failed: {str(error)[-600:]}\n"
                "Its answers so far are kept; the same command asks for the others."
            ) from None

    async def close(self) -> None:
        await super().close()
        if self._started:
            self._ray.shutdown()

    def _outcomes(self, requests: Sequence[Request]) -> Iterator[bytes]:
        """Yield the pickled outcomes that the workers return for `requests` (see
        `AskBatch`), batch by batch as each is answered."""
        settings = self._settings
        tasks = -(-len(requests) // settings.task)
        workers = min(settings.workers, tasks)
        rows = [{"request": pickle.dumps(request)} for request in requests]
        entry = self.entry.model_dump() | settings.worker.model_dump()
        if entry["engine"] == "openai" and any(map(os.environ.get, LIMITS)):
            # The budget would not count retries in a worker.
            entry["settings"]["retries"] = 0
        answered = self._ray.data.from_items(rows, override_num_blocks=tasks)
        answered = answered.map_batches(
            AskBatch,
            batch_size=settings.task,
            compute=self._ray.data.ActorPoolStrategy(size=workers),
            num_cpus=settings.cpus,
            num_gpus=settings.gpus or None,
            fn_constructor_kwargs={"row": entry},
        )
        # With prefetching, Ray would hold back a batch until the next one is answered.
        batches = answered.iter_batches(
            prefetch_batches=0, batch_size=None, batch_format="pyarrow"
        )
        for batch in batches:
            yield from batch["outcome"].to_pylist()


class AskBatch:
    """A worker of the cluster: answers batches of requests with the model of the
    registry row `row`."""

    def __init__(self, row: dict[str, Any]) -> None:
        self._engine = open_worker(ModelEntry.model_validate(row))
        self._loop = asyncio.new_event_loop()

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[bytes]]:
        """Return the column `outcome`, made from the column `request` of `batch`.

        A cell of `request` is a pickled request. A cell of `outcome` is a pickled pair:
        the request's key, and its response or failure.
        """
        outcomes = self._outcomes(map(pickle.loads, batch["request"]))
        return {"outcome": self._loop.run_until_complete(outcomes)}

    async def _outcomes(self, requests: Iterable[Request]) -> list[bytes]:
        return await asyncio.gather(*map(self._outcome, requests))

    async def _outcome(self, request: Request) -> bytes:
        try:
            answer = await self._engine.answer(request)
            return pickle.dumps((request.key, answer))
        except RequestFailed as failure:
            return pickle.dumps((request.key, failure))


open_engine = RayEngine
