"""Wrong values that misleading hints (MHC) name: an output that the problem's call does not return,
or an input that gives another output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from codestress.literals import UNREADABLE, parse_literal, same_value
from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import Call, Checked, run_calls
from codestress.mutate.perturbations.inputs import (
    argument_text,
    argument_values,
    other_inputs,
    other_value,
)
from codestress.problems.program import Problem, from_stranger, literal_text
from codestress.sandbox.executor import Executor
from codestress.sandbox.executor import Outcome as Ending
from codestress.seeding import rng
from codestress.types import Task

CANDIDATES = 40
"""Most inputs near by, or other outputs, among which a wrong value is searched."""


def wrong_values(
    problems: Sequence[Checked],
    executor: Executor,
    seed: int,
    task: Task,
    written: Mapping[str, str] | None,
) -> dict[str, str]:
    """Returns by the problem's id a wrong output or, if `task` is `input`, an input that gives
    another output or, failing that, raises; missing or empty where none is found. `written` (values
    by id) replaces the kit's own candidates."""
    if task == "output":
        return {one.problem.id: _output(one.problem, seed, written) for one in problems}
    calls: list[Call] = []
    for one in problems:
        if written is None:
            calls += [(one.problem, text) for text in _inputs(one.problem, seed)]
        elif text := written.get(one.problem.id):
            calls.append((from_stranger(one.problem), text))
    right = {one.problem.id: one.executions[0].value for one in problems}
    found: dict[str, str] = {}
    raising: dict[str, str] = {}
    for (problem, text), run in zip(calls, run_calls(calls, executor), strict=True):
        if run.outcome is Ending.RAISED:
            raising.setdefault(problem.id, text)
        if run.outcome is Ending.RETURNED and not same_value(
            run.value, right[problem.id]
        ):
            found.setdefault(problem.id, text)
    return raising | found


def _inputs(problem: Problem, seed: int) -> Iterator[str]:
    """Yields inputs near a problem's own; then inputs that do not fit, for functions that give the
    same output for every fitting input: arguments swapped, or of other types (CodeCrash, appendix
    B.3, tells its model to do that). Yields nothing where an argument is no plain data."""
    draw = Draw(rng(seed, "wrong input", problem.id))
    yield from other_inputs(problem, draw, CANDIDATES)
    with suppress(*UNREADABLE):
        values = argument_values(problem)
        for changed in (values[::-1], [None] * len(values), [0] * len(values)):
            if not same_value(changed, values):
                yield argument_text(problem, changed)


def _output(problem: Problem, seed: int, written: Mapping[str, str] | None) -> str:
    """Returns another output than a problem's own, of its type, as a literal, or the written one;
    empty where this is right or no literal, or there is no other."""
    right = parse_literal(problem.output).value
    draw = Draw(rng(seed, "wrong output", problem.id))
    with suppress(*UNREADABLE):
        if written is not None:
            text = written.get(problem.id, "")
            return "" if same_value(parse_literal(text).value, right) else text
        for _ in range(CANDIDATES):
            other = other_value(right, draw)
            if not same_value(other, right):
                return literal_text(other, problem.language)
    return ""
