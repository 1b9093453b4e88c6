"""The engine of Python itself: runs the program of a request in the sandbox (Sense and
Sensitivity, appendix B).

A request has a program as its only message, and a call of the program as the begun
answer. The response says what the call returned or how it ended: `returned 42`, `raised
KeyError: 'a'`, `syntax error …`, `step limit …`.
"""

import asyncio
import json
import platform
from collections.abc import Sequence

from pydantic import Field

from codestress.sandbox.executor import (
    Execution,
    Executor,
    Limits,
    Outcome as Ending,
    Program,
)
from codestress.types import Request, Response, now
from codestress.validation import Strict

from ..registry import ModelEntry
from .base import BatchEngine, Outcomes, RequestFailed


class Settings(Strict):
    """A registry row's `settings` for the engine `interpreter`."""

    steps: int = Field(100_000, gt=0)
    """Largest number of steps (executed lines) of a program."""


class Interpreter(BatchEngine):
    """An engine that answers by running the programs of requests, many at the same
    time, in the sandbox."""

    concurrency = 1000

    def __init__(self, entry: ModelEntry) -> None:
        super().__init__(entry)
        settings = Settings.model_validate(entry.settings)
        # The limit of steps ends a program first, on every machine. The slowest version of a
        # CRUXEval program was seen to need 6.4 seconds of CPU time for 100,000 steps.
        limits = Limits(settings.steps, cpu_s=60, wall_s=300.0)
        self.executor = Executor(limits=limits)

    async def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yield a response for each of `requests` that says how its program ended.

        Yield a `RequestFailed` for a program over which a worker dies twice.
        """
        programs = []
        for request in requests:
            prompt = request.prompt
            code = prompt.messages[-1].content
            programs.append(Program(code, call=prompt.prefill, source=prompt.source))
        executions = await asyncio.to_thread(lambda: list(self.executor.run(programs)))
        by = f"Python {platform.python_version()}; {self.executor.described()}"
        for request, execution in zip(requests, executions, strict=True):
            if execution.outcome is Ending.HARNESS_ERROR:
                yield request.key, RequestFailed(execution.detail)
                continue
            text = described(execution)
            yield request.key, Response(text, "stop", answered_by=by, answered_at=now())

    async def close(self) -> None:
        await super().close()
        self.executor.close()


def described(execution: Execution) -> str:
    """Return the response's text for a program's run: `returned` and the value
    (`returned 42`), or another ending and its detail.

    An integer too large to write out counts as an output limit.
    """
    if execution.outcome is not Ending.RETURNED:
        return f"{execution.outcome} {execution.detail}".strip()
    try:
        return f"returned {execution.value!r}"
    except ValueError:  # an integer beyond the limit of digits
        return f"{Ending.OUTPUT_LIMIT} an integer too large to write out"


def identity(entry: ModelEntry) -> str:
    """Return the model's part of its requests' keys: the version of Python, and the
    limits in the registry row `entry`.

    The setting `together` no longer exists; it stays in the text as true, so that old
    keys remain valid.
    """
    return f"{platform.python_version()}, {json.dumps(entry.settings | {'together': True}, sort_keys=True)}"


open_engine = Interpreter
