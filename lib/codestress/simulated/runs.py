"""Run the programs that simulated readers piece together from the lines that they kept."""

import atexit
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from codestress.sandbox.executor import (
    Execution,
    Executor,
    Limits,
    Outcome as Ending,
    Program,
)
from codestress.types import Language, hash_of

KNOWN = 200_000
"""Largest number of programs whose results are cached. Readers often piece the same
lines together, so results are reused."""
_executions: dict[str, Execution] = {}


@cache
def _executor() -> Executor:
    executor = Executor(workers=1, limits=Limits(steps=5000))
    atexit.register(executor.close)
    return executor


def run(program: Program, language: Language = "python") -> Execution:
    """Return the result of `program`, written in `language`. A program that ran before
    is not run again."""
    key = hash_of(f"{language} {program!r}")
    if key not in _executions:
        if len(_executions) >= KNOWN:
            _executions.clear()
        [_executions[key]] = _executor().run([program], language=language)
    return _executions[key]


def run_piece(program: Program, language: Language = "python") -> Any:
    """Return the value that `program`, written in `language`, returned; None if it
    failed or was stopped."""
    return run(program, language).value


def first_right(
    programs: Iterable[Program], right: Callable[[Any], bool]
) -> int | None:
    """Return the index of the first of `programs` whose value the function `right`
    accepts; None if there is none.

    A program that returned no value has the value None. The programs are calls of one
    Python program, so that a syntax error is one of all.
    """
    for number, program in enumerate(programs):
        execution = run(program)
        if right(execution.value):
            return number
        if execution.outcome is Ending.SYNTAX_ERROR:
            break
    return None
