"""Line-by-line traces of programs, which a model writes in comments before it states the output."""

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
"""Largest number of lines written out; of a longer run only the last line is."""
MOST_LINES = 5000
"""Largest number of lines run; the kit's own programs need far fewer."""


def executed(problem: Problem) -> list[str]:
    """Returns, as texts, each executed line of a problem's call, in order, with the variables that
    it changes, such as `x += 1 -> x = 3`; the last line is the one that returns.

    For the kit's own programs only: they run in this process. `RuntimeError` after `MOST_LINES`
    lines.
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
            now = {
                name: repr(value)
                for name, value in frame.f_locals.items()
                if not callable(value)
            }
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
        drawn = (
            _targets(said)
            if _indented(lines[following - 1]) > _indented(line)
            else set()
        )
        changed = [
            f"{name} = {value}"
            for name, value in now.items()
            if known.get(name) != value or name in drawn
        ]
        steps.append(f"{said} -> {', '.join(changed)}" if changed else said)
    return steps


def _indented(line: str) -> int:
    return len(line) - len(line.lstrip())


def _targets(statement: str) -> set[str]:
    """Returns the variables of `statement`, a line that begins a `for`: these get a value each
    time, even an equal one; empty for other statements."""
    return (
        set(re.findall(r"\w+", statement[4 : statement.index(" in ")]))
        if statement.startswith("for ")
        else set()
    )


def worked_out(problem: Problem) -> str:
    """Returns the answer that a model is to learn for a problem: in parentheses, a comment for each
    executed line (`executed`), then the output as a literal. A run of more than `MOST_STEPS` lines
    shows its last line alone."""
    steps = executed(problem)
    shown = steps if len(steps) <= MOST_STEPS else steps[-1:]
    return "\n".join([" (", *(f"# {step}" for step in shown), f"{problem.output})"])
