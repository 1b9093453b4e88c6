"""Run the programs that simulated readers piece together from the lines that they kept."""

import asyncio
import atexit
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from codestress.sandbox.executor import (
    Execution,
    Executor,
    Limits,
    Outcome as Ending,
    Program,
)
from codestress.types import Language, hash_of

T = TypeVar("T")
AT_ONCE = 8
"""Number of programs that `first_right` runs before it checks their values."""
KNOWN = 200_000
"""Largest number of programs whose results are cached. Readers often piece the same
lines together, so results are reused."""


class _NotRun(BaseException):
    """Interruption of work that needs the result of a program that was not run yet; the
    interruption carries the program's key.

    The class is a BaseException, so that no `except Exception` catches it.
    """


_ends: dict[str, Execution] = {}
_waiting = defaultdict[Language, dict[str, Program]](dict)
_gathering = False


@cache
def _executor() -> Executor:
    executor = Executor(workers=1, limits=Limits(steps=5000))
    atexit.register(executor.close)
    return executor


async def run_together(work: Callable[[], T]) -> T:
    """Return the value of the function `work`, and run the programs that it needs
    together with those of other waiting work.

    Running programs together is faster than one by one. `work` is interrupted if it
    needs a program that was not run yet, and starts again afterwards, so it must have
    no side effects.
    """
    global _gathering
    while True:
        _gathering = True
        try:
            return work()
        except _NotRun as error:
            [needed] = error.args
        finally:
            _gathering = False
        await asyncio.sleep(0)  # lets other work name its programs
        if needed not in _ends:
            _run_waiting()


def _run_waiting() -> None:
    while _waiting:
        language, programs = _waiting.popitem()
        executions = _executor().run(programs.values(), language=language)
        _ends.update(zip(programs, executions, strict=True))


def run_pieces(
    programs: Sequence[Program], language: Language = "python"
) -> list[Execution]:
    """Return the results (`Execution`) of `programs`, all in `language`, in order. A
    program that ran before is not run again.

    Inside `run_together`, a program that was not run yet interrupts the work with an
    exception and is run later.
    """
    if len(_ends) > KNOWN:
        _ends.clear()
    keys = []
    missing = {}
    for program in programs:
        key = hash_of(f"{language} {program!r}")
        keys.append(key)
        if key not in _ends:
            missing[key] = program
    if missing:
        _waiting[language].update(missing)
        if _gathering:
            raise _NotRun(next(iter(missing)))
        _run_waiting()
    return [_ends[key] for key in keys]


def run_piece(program: Program, language: Language = "python") -> Any:
    """Return the value that `program`, written in `language`, returned; None if it
    failed or was stopped."""
    [execution] = run_pieces([program], language)
    return execution.value


def first_right(
    programs: Sequence[Program], right: Callable[[Any], bool]
) -> int | None:
    """Return the index of the first of `programs` whose value the function `right`
    accepts; None if there is none.

    A program that returned no value has the value None. The programs are calls of one
    Python program, run in groups of `AT_ONCE`.
    """
    for start in range(0, len(programs), AT_ONCE):
        executions = run_pieces(programs[start : start + AT_ONCE])
        for number, execution in enumerate(executions, start):
            if right(execution.value):
                return number
        if all(execution.outcome is Ending.SYNTAX_ERROR for execution in executions):
            return None  # all are calls of one program, so the rest would fail too
    return None
