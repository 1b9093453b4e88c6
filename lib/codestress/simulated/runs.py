"""Runs what simulated readers piece together from the lines they kept."""

from __future__ import annotations

import asyncio
import atexit
import hashlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar

from codestress.sandbox.executor import Execution, Executor, Limits, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.types import Language

T = TypeVar("T")
AT_ONCE = 8
"""Tries that are run before it is looked whether one of them was right."""
KNOWN = 200_000
"""Programs whose ends are kept in mind: readers piece the same lines together again and again."""


class _NotRun(BaseException):
    """Programs that were not run yet; nothing that looks for errors may keep it."""

    def __init__(self, programs: list[Program], language: Language) -> None:
        super().__init__()
        self.programs, self.language = programs, language


_ends: dict[bytes, Execution] = {}
_gathered: list[_NotRun] = []
_gathering = False


@cache
def _executor() -> Executor:
    executor = Executor(workers=1, limits=Limits(steps=5000, cpu_s=1))
    atexit.register(executor.close)
    return executor


async def run_together(work: Callable[[], T]) -> T:
    """What some work comes to. Where it needs a program that was not run yet, it is begun anew once that was: with the
    programs that others need who are at work at the same time, which is faster than one by one. So it has no effects
    but its value."""
    global _gathering
    while True:
        _gathering = True
        try:
            return work()
        except _NotRun as needed:
            _gathered.append(needed)
        finally:
            _gathering = False
        await asyncio.sleep(0)  # the others come to what they need
        programs = defaultdict[Language, list[Program]](list)
        for one in _gathered:
            programs[one.language] += one.programs
        _gathered.clear()
        for language, those in programs.items():
            run_pieces(those, language)


def run_pieces(programs: Sequence[Program], language: Language = "python") -> list[Execution]:
    """What became of each; one that was run before is not run again."""
    keys = [
        hashlib.blake2b(f"{language} {program!r}".encode(errors="replace"), digest_size=16).digest()
        for program in programs
    ]
    missing = {key: program for key, program in zip(keys, programs, strict=True) if key not in _ends}
    if missing and _gathering:
        raise _NotRun([*missing.values()], language)
    if len(_ends) + len(missing) > KNOWN:
        _ends.clear()
        missing = dict(zip(keys, programs, strict=True))
    if missing:
        _ends.update(zip(missing, _executor().run(missing.values(), language=language), strict=True))
    return [_ends[key] for key in keys]


def run_piece(program: Program, language: Language = "python") -> Any:
    """What a program returned, or None."""
    [execution] = run_pieces([program], language)
    return execution.value if execution.outcome is Ending.RETURNED else None


def first_right(programs: Sequence[Program], right: Callable[[Any], bool]) -> int | None:
    """The number of the first of several calls of one Python program whose value (None where it has none) is right."""
    for start in range(0, len(programs), AT_ONCE):
        executions = run_pieces(programs[start : start + AT_ONCE])
        for number, execution in enumerate(executions, start):
            if right(execution.value if execution.outcome is Ending.RETURNED else None):
                return number
        if all(execution.outcome is Ending.SYNTAX_ERROR for execution in executions):
            return None  # and so would be all others
    return None
