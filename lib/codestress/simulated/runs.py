"""Runs what simulated readers piece together from the lines they kept."""

from __future__ import annotations

import atexit
import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from codestress.sandbox.executor import Execution, Executor, Limits, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.types import Language

AT_ONCE = 8
"""Tries that are run before it is looked whether one of them was right."""
KNOWN = 200_000
"""Programs whose ends are kept in mind: readers piece the same lines together again and again."""

_ends: dict[bytes, Execution] = {}


@cache
def _executor() -> Executor:
    executor = Executor(workers=1, limits=Limits(steps=5000, cpu_s=1))
    atexit.register(executor.close)
    return executor


def run_pieces(programs: Sequence[Program], language: Language = "python") -> list[Execution]:
    """What became of each; one that was run before is not run again."""
    keys = [
        hashlib.blake2b(f"{language} {program!r}".encode(errors="replace"), digest_size=16).digest()
        for program in programs
    ]
    missing = {key: program for key, program in zip(keys, programs, strict=True) if key not in _ends}
    if len(_ends) + len(missing) > KNOWN:
        _ends.clear()
        missing = dict(zip(keys, programs, strict=True))
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
