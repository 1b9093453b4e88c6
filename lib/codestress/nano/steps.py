"""What a program does, line by line, for a model that works it out in comments before it says what is returned."""

from __future__ import annotations

import ast
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise
from types import FrameType
from typing import Any

from codestress.problems.program import Problem

MOST_STEPS = 24
"""Lines that are written out; of a longer run only the last one is."""
MOST_LINES = 5000
"""Lines that are run; the kit's own programs need far fewer."""


def executed(problem: Problem) -> list[str]:
    """Each line that runs, in order, with the variables that it changes: `x += 1 -> x = 3`; the last one returns.

    For the kit's own programs alone: they run in this process.
    """
    names: dict[str, Any] = {}
    exec(compile(problem.code, "program", "exec"), names)
    function = names[problem.function]
    lines = problem.code.split("\n")
    seen: list[tuple[int, dict[str, str]]] = []

    def trace(frame: FrameType, event: str, _: object) -> Any:
        if frame.f_code is not function.__code__:
            return None
        if event in ("line", "return"):
            now = {name: repr(value) for name, value in frame.f_locals.items() if not callable(value)}
            seen.append((frame.f_lineno, now))
        if len(seen) > MOST_LINES + 1:
            raise RuntimeError(f"{problem.id}: more than {MOST_LINES} lines run")
        return trace

    arguments = ast.literal_eval(f"({problem.arguments},)")
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with redirect_stdout(StringIO()):
            function(*arguments)
    finally:
        sys.settrace(before)
    steps = []
    for (number, known), (following, now) in pairwise(seen):
        line = lines[number - 1].split("  #")[0]
        said = line.strip()
        drawn = _targets(said) if _indented(lines[following - 1]) > _indented(line) else set()
        changed = [f"{name} = {value}" for name, value in now.items() if known.get(name) != value or name in drawn]
        steps.append(f"{said} -> {', '.join(changed)}" if changed else said)
    return steps


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip())


def _targets(statement: str) -> set[str]:
    """The variables of a `for`, which have a value each time, if the same."""
    return set(re.findall(r"\w+", statement[4 : statement.index(" in ")])) if statement.startswith("for ") else set()


def worked_out(problem: Problem) -> str:
    """The returned value as a literal in parentheses, under a comment for each step."""
    steps = executed(problem)
    shown = steps if len(steps) <= MOST_STEPS else steps[-1:]
    return "\n".join([" (", *(f"# {step}" for step in shown), f"{problem.output})"])
