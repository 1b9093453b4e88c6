"""The engine of Python itself: runs the program of a request, in the sandbox (Sense and Sensitivity, appendix B).

A request shows a program as its only message, and a call of it as the beginning of the answer. The response is what
the call returned, or how it ended: `returned 42`, `raised KeyError: 'a'`, `syntax error …`, `step limit …`.
"""

from __future__ import annotations

import asyncio
import json
import platform
from concurrent.futures import ThreadPoolExecutor

from pydantic import Field

from codestress.errors import SandboxError
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.registry import ModelEntry
from codestress.sandbox.executor import Execution, Executor, Limits, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.types import Request, Response, now
from codestress.validation import Strict

BATCH = 1000
"""Requests that are run at a time; as many wait meanwhile."""


class Settings(Strict):
    """Limits of each program."""

    steps: int = Field(100_000, gt=0)
    cpu_s: int = Field(8, gt=0)
    wall_s: float = Field(60.0, gt=0)


class Interpreter:
    """Collects requests, runs them in batches, and answers each."""

    concurrency = 2 * BATCH

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        limits = Limits(steps=settings.steps, cpu_s=settings.cpu_s, wall_s=settings.wall_s)
        self.executor = Executor(limits=limits)
        self.waiting: list[tuple[Program, asyncio.Future[Execution]]] = []
        self.pool = ThreadPoolExecutor(max_workers=2)
        self.batches: set[asyncio.Task[None]] = set()

    async def answer(self, request: Request) -> Response:
        """How the program ended. A worker that dies twice over it is a failed request."""
        loop = asyncio.get_running_loop()
        prompt = request.prompt
        program = Program(prompt.messages[-1].content, call=prompt.prefill, source=prompt.source)
        result: asyncio.Future[Execution] = loop.create_future()
        if not self.waiting:
            loop.call_later(0.01, self._start)
        self.waiting.append((program, result))
        if len(self.waiting) >= BATCH:
            self._start()
        execution = await result
        if execution.outcome is Ending.HARNESS_ERROR:
            raise RequestFailed(execution.detail)
        return Response(
            text=described(execution),
            finish_reason="stop",
            answered_by=f"Python {self.executor.python}; {self.executor.described()}",
            answered_at=now(),
        )

    def _start(self) -> None:
        if self.waiting:
            batch, self.waiting = self.waiting, []
            task = asyncio.get_running_loop().create_task(self._run(batch))
            self.batches.add(task)
            task.add_done_callback(self.batches.discard)

    async def _run(self, batch: list[tuple[Program, asyncio.Future[Execution]]]) -> None:
        loop = asyncio.get_running_loop()

        def run() -> list[Execution]:
            programs = (program for program, _ in batch)
            return list(self.executor.run(programs))

        try:
            executions = await loop.run_in_executor(self.pool, run)
        except Exception as error:
            failure = error if isinstance(error, SandboxError) else RequestFailed(str(error))
            for _, result in batch:
                if not result.done():
                    result.set_exception(failure)
            return
        for (_, result), execution in zip(batch, executions, strict=True):
            if not result.done():
                result.set_result(execution)

    async def close(self) -> None:
        self.executor.close()
        self.pool.shutdown(wait=False, cancel_futures=True)


def described(execution: Execution) -> str:
    """The response's text: the outcome, then the value or what went wrong."""
    if execution.outcome is not Ending.RETURNED:
        return f"{execution.outcome} {execution.detail}".strip()
    try:
        return f"returned {execution.value!r}"
    except ValueError:  # an integer beyond the limit of digits
        return f"{Ending.OUTPUT_LIMIT} an integer too large to write out"


def identity(entry: ModelEntry) -> str:
    """What enters keys: the version of Python, and the limits (`together` was one when keys were first made)."""
    return f"{platform.python_version()}, {json.dumps(entry.settings | {'together': True}, sort_keys=True)}"


def open_engine(entry: ModelEntry) -> Engine:
    """The interpreter that runs codestress."""
    return Interpreter(Settings.model_validate(entry.settings))
