"""Runs what simulated readers piece together from the lines they kept."""

from __future__ import annotations

import atexit
from functools import cache
from typing import Any

from codestress.sandbox.executor import Executor, Limits, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.types import Language


@cache
def _executor() -> Executor:
    executor = Executor(workers=1, limits=Limits(steps=5000, cpu_s=1))
    atexit.register(executor.close)
    return executor


def run_pieces(programs: list[Program], language: Language = "python") -> list[Any]:
    """What each program returned, or None."""
    executions = _executor().run(programs, language=language)
    return [execution.value if execution.outcome is Ending.RETURNED else None for execution in executions]
