"""The engine of Python itself: runs the program of a request, in the sandbox (Sense and Sensitivity, appendix B).

A request shows a program as its only message, and a call of it as the beginning of the answer. The response is what
the call returned, or how it ended: `returned 42`, `raised KeyError: 'a'`, `syntax error …`, `step limit …`.
"""

from __future__ import annotations

import asyncio
import json
import platform
from collections.abc import AsyncIterator, Sequence

from pydantic import Field

from codestress.inference.engines.base import BatchEngine, RequestFailed
from codestress.inference.registry import ModelEntry
from codestress.sandbox.executor import Execution, Executor, Limits, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.types import Request, Response, now
from codestress.validation import Strict


class Settings(Strict):
    """Limits of each program."""

    steps: int = Field(100_000, gt=0)
    cpu_s: int = Field(8, gt=0)
    wall_s: float = Field(60.0, gt=0)


class Interpreter(BatchEngine):
    """Runs the programs of many requests at once."""

    batch = 1000

    def __init__(self, settings: Settings) -> None:
        limits = Limits(steps=settings.steps, cpu_s=settings.cpu_s, wall_s=settings.wall_s)
        self.executor = Executor(limits=limits)

    async def answers(self, requests: Sequence[Request]) -> AsyncIterator[tuple[Request, Response | RequestFailed]]:
        """How each program ended. A worker that dies twice over one is a failed request."""
        prompts = [request.prompt for request in requests]
        programs = [Program(one.messages[-1].content, call=one.prefill, source=one.source) for one in prompts]
        executions = await asyncio.to_thread(lambda: list(self.executor.run(programs)))
        for request, execution in zip(requests, executions, strict=True):
            if execution.outcome is Ending.HARNESS_ERROR:
                yield request, RequestFailed(execution.detail)
                continue
            by = f"Python {self.executor.python}; {self.executor.described()}"
            yield request, Response(described(execution), "stop", answered_by=by, answered_at=now())

    async def close(self) -> None:
        self.executor.close()


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


def open_engine(entry: ModelEntry) -> Interpreter:
    """The interpreter that runs codestress."""
    return Interpreter(Settings.model_validate(entry.settings))
