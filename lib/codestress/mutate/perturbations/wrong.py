"""Wrong values that misleading hints (MHC) name: an output that the problem's call does not return,
or an input that gives another output."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from codestress.literals import UNREADABLE, parse_literal, same_value
from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import Call, Checked, run_calls
from codestress.mutate.perturbations.inputs import (
    argument_values,
    other_inputs,
    other_value,
    with_values,
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
        given = {one.problem.id: one.problem for one in problems}
        if written is None:
            return {name: wrong_output(given[name], seed) for name in given}
        return {name: _if_wrong(given[name], written.get(name, "")) for name in given}
    calls: list[Call] = []
    for one in problems:
        if written is None:
            calls += [(one.problem, text) for text in _inputs(one.problem, seed)]
        elif text := written.get(one.problem.id):
            calls.append((from_stranger(one.problem), text))
    returned = {one.problem.id: one.executions[0].value for one in problems}
    found: dict[str, str] = {}
    raising: dict[str, str] = {}
    for (problem, text), run in zip(calls, run_calls(calls, executor), strict=True):
        name = problem.id
        if run.outcome is Ending.RAISED:
            raising.setdefault(name, text)
        elif run.outcome is not Ending.RETURNED:
            continue
        elif not same_value(run.value, returned[name]):
            found.setdefault(name, text)
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
                texts = [literal_text(value, problem.language) for value in changed]
                yield with_values(problem, texts)


def wrong_output(problem: Problem, seed: int) -> str:
    """Returns another output than a problem's own, of its type, as a literal; empty where there is
    none."""
    value = parse_literal(problem.output).value
    draw = Draw(rng(seed, "wrong output", problem.id))
    with suppress(*UNREADABLE):
        for _ in range(CANDIDATES):
            other = other_value(copy.deepcopy(value), draw)
            if not same_value(other, value):
                return literal_text(other, problem.language)
    return ""


def _if_wrong(problem: Problem, text: str) -> str:
    """Returns a written output, or an empty text where it is right or no literal."""
    with suppress(*UNREADABLE):
        right = parse_literal(problem.output).value
        return "" if same_value(parse_literal(text).value, right) else text
    return ""
