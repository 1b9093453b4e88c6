"""The engine of a cluster: Ray Data hands the requests to workers on many machines, each with an engine of its own.

Requests go out as Parquet and come back as Parquet, a file for each batch, written by the worker before anything else
happens: a worker, a machine or this process may die, and what was answered is found again.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from codestress.errors import EngineError
from codestress.inference.budget import LIMITS
from codestress.inference.engines.base import BatchEngine, RequestFailed, served_identity
from codestress.inference.registry import ModelEntry, engine_module
from codestress.paths import OUTPUTS
from codestress.types import Message, Outcome, Prompt, Request, Response, Sampling, Usage
from codestress.validation import Strict


class Worker(Strict):
    """The engine inside each worker, with its own settings."""

    engine: Literal["openai", "vllm"]
    settings: dict[str, Any] = {}


class Settings(Strict):
    """A row's `settings` in params/models.yaml."""

    worker: Worker
    workers: int = Field(default=2, ge=1)
    """How many; for vLLM one for each copy of the model."""
    gpus: float = Field(default=0, ge=0)
    """For each worker; with vLLM its `tensor_parallel`."""
    cpus: float = Field(default=0.5, gt=0)
    """For each worker. A pool that takes all processors leaves none for reading, and waits for ever."""
    batch: int = Field(default=10_000, ge=1)
    """Requests handed to the cluster at once."""
    task: int = Field(default=64, ge=1)
    """Requests that a worker takes and writes at once: what is lost at most when it dies."""
    address: str = ""
    """Of a running cluster (`auto` inside one); empty: Ray on this machine alone."""
    folder: str = ""
    """Where Parquet files go, seen by all machines; empty: outputs/ray/."""


class RayEngine(BatchEngine):
    """One model, on the workers of a cluster."""

    def __init__(self, entry: ModelEntry, settings: Settings) -> None:
        try:
            import ray
            import ray.data
        except ImportError:
            raise EngineError(f"{entry.name}: ray is not installed here: pip install -e '.[cluster]'") from None
        self._ray = ray
        self.batch = settings.batch
        self._entry = entry
        self._settings = settings
        self._folder = (Path(settings.folder) if settings.folder else OUTPUTS / "ray") / entry.fingerprint
        self._started = not ray.is_initialized()
        if self._started:
            try:
                ray.init(address=settings.address or None, include_dashboard=False, log_to_driver=False)
            except (ConnectionError, ValueError, RuntimeError) as error:
                where = settings.address or "this machine"
                raise EngineError(f"{entry.name}: Ray does not start on {where}: {error}") from None
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False

    async def answers(self, requests: Sequence[Request]) -> AsyncIterator[tuple[Request, Response | RequestFailed]]:
        """What an earlier call left behind first; then what the workers answer, as it is written."""
        waiting = {request.key: request for request in requests}
        for key, outcome in self._written(set()):
            if key in waiting and isinstance(outcome, Response):
                yield waiting.pop(key), outcome
        if not waiting:
            return
        (self._folder / "out").mkdir(parents=True, exist_ok=True)
        for old in (self._folder / "out").glob("*.parquet"):
            old.unlink()  # in the store by now, or failed
        self._write_requests(list(waiting.values()))
        job = asyncio.create_task(asyncio.to_thread(self._ask))
        seen: set[str] = set()
        while waiting:
            ended = job.done()
            for key, outcome in self._written(seen):
                if key in waiting:
                    yield waiting.pop(key), outcome
            if ended:
                break
            await asyncio.wait([job], timeout=0.2)
        try:
            await job
        except Exception as error:  # whatever Ray raises; what was answered has been handed on
            raise EngineError(f"{self._entry.name}: the cluster gave up: {str(error)[-600:]}") from None
        shutil.rmtree(self._folder, ignore_errors=True)

    async def close(self) -> None:
        if self._started:
            self._ray.shutdown()

    def _write_requests(self, requests: list[Request]) -> None:
        shutil.rmtree(self._folder / "in", ignore_errors=True)
        (self._folder / "in").mkdir()
        for number, start in enumerate(range(0, len(requests), self._settings.task)):
            part = requests[start : start + self._settings.task]
            rows = [{"key": request.key, "request": _dumped(asdict(request))} for request in part]
            pq.write_table(pa.Table.from_pylist(rows), self._folder / "in" / f"{number:06}.parquet")

    def _ask(self) -> None:
        """Blocks until every file of requests has its file of answers."""
        files = sorted(str(path) for path in (self._folder / "in").glob("*.parquet"))
        parts = self._ray.data.from_items([{"file": file} for file in files], override_num_blocks=len(files))
        done = parts.map_batches(
            AskFile,
            batch_size=1,
            compute=self._ray.data.ActorPoolStrategy(size=min(self._settings.workers, len(files))),
            num_cpus=self._settings.cpus,
            num_gpus=self._settings.gpus or None,
            fn_constructor_kwargs={"row": self._entry.model_dump(), "worker": self._worker()},
            max_restarts=-1,
            max_task_retries=-1,
        )
        for _ in done.iter_rows():
            pass

    def _worker(self) -> dict[str, Any]:
        """What each worker runs. Within a budget a request is sent once: here, where it counts, retries are unseen."""
        worker = self._settings.worker.model_dump()
        if worker["engine"] == "openai" and any(os.environ.get(limit) for limit in LIMITS):
            worker["settings"]["retries"] = 0
        return worker

    def _written(self, seen: set[str]) -> Iterator[tuple[str, Response | RequestFailed]]:
        """Outcomes in files of answers that were not seen yet."""
        for path in sorted((self._folder / "out").glob("*.parquet")):
            if path.name not in seen:
                seen.add(path.name)
                with suppress(OSError, pa.ArrowInvalid):  # of a machine that died while it wrote
                    for row in pq.read_table(path).to_pylist():
                        yield row["key"], _outcome(row["outcome"])


class AskFile:
    """A worker: answers a file of requests, and writes the file of answers beside it."""

    def __init__(self, row: dict[str, Any], worker: dict[str, Any]) -> None:
        self._entry = ModelEntry.model_validate({**row, **worker})
        self._engine = engine_module(self._entry).open_engine(self._entry)
        self._loop = asyncio.new_event_loop()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        for file in batch["file"]:
            path = Path(str(file))
            target = path.parent.parent / "out" / path.name
            if not target.exists():  # else a worker died after it wrote
                rows = pq.read_table(path).to_pylist()
                outcomes = self._loop.run_until_complete(self._answered([_request(row["request"]) for row in rows]))
                part = target.with_suffix(".part")
                pq.write_table(pa.Table.from_pylist([{"key": key, "outcome": text} for key, text in outcomes]), part)
                part.replace(target)
        return {"file": batch["file"]}

    async def _answered(self, requests: list[Request]) -> list[tuple[str, str]]:
        if isinstance(self._engine, BatchEngine):
            return [(request.key, _dump(outcome)) async for request, outcome in self._engine.answers(requests)]
        slots = asyncio.Semaphore(self._engine.concurrency)

        async def one(request: Request) -> tuple[str, str]:
            async with slots:
                try:
                    return request.key, _dump(await self._engine.answer(request))  # type: ignore[union-attr]
                except RequestFailed as failure:
                    return request.key, _dump(failure)

        return list(await asyncio.gather(*(one(request) for request in requests)))


def _dumped(content: dict[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=True)  # lone surrogates escaped: Parquet's texts are UTF-8


def _request(text: str) -> Request:
    row = json.loads(text)
    prompt = row.pop("prompt")
    sampling = prompt["sampling"]
    return Request(
        prompt=Prompt(
            tuple(Message(**message) for message in prompt["messages"]),
            Sampling(**{**sampling, "stop": tuple(sampling["stop"])}),
            prompt["prefill"],
        ),
        **row,
    )


def _dump(outcome: Response | RequestFailed) -> str:
    if isinstance(outcome, RequestFailed):
        return _dumped({"failed": str(outcome), "reason": outcome.outcome.value})
    return _dumped({name: value for name, value in asdict(outcome).items() if name != "earlier"})


def _outcome(text: str) -> Response | RequestFailed:
    row = json.loads(text)
    if "failed" in row:
        return RequestFailed(row["failed"], Outcome(row["reason"]))  # type: ignore[arg-type]
    return Response(**{**row, "usage": Usage(**row["usage"])})


def identity(entry: ModelEntry) -> str:
    """What enters keys: as of the engine that its workers use."""
    return served_identity(entry, entry.settings.get("worker", {}).get("settings", {}))


def open_engine(entry: ModelEntry) -> RayEngine:
    """The cluster that a row of the registry describes."""
    return RayEngine(entry, Settings.model_validate(entry.settings))
