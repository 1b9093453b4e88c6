"""What a program does, line by line: by hand for small ones, and always to the value that it returns."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings, strategies as st

from codestress.literals import parse_literal, same_value
from codestress.problems.pool import generated_problems
from codestress.problems.program import Problem
from steps import MOST_STEPS, executed, worked_out
from told import refused

LOOP = """def f(xs, k):
    n = 0
    for x in xs:  # each of them
        if x > k:
            n += x
    return n"""


def problem(code: str, arguments: str, output: str = "0") -> Problem:
    return Problem("by_hand", code, "f", arguments, output)


def test_lines_with_what_they_change() -> None:
    """A loop's variable is said each time, if it is the same again; the last `for` finds nothing more."""
    assert executed(problem(LOOP, "[5, 5, 1], 2")) == [
        "n = 0 -> n = 0",
        "for x in xs: -> x = 5",
        "if x > k:",
        "n += x -> n = 5",
        "for x in xs: -> x = 5",
        "if x > k:",
        "n += x -> n = 10",
        "for x in xs: -> x = 1",
        "if x > k:",
        "for x in xs:",
        "return n",
    ]


def test_long_runs_show_how_they_end() -> None:
    assert worked_out(problem(LOOP, f"{[1] * MOST_STEPS}, 2")) == " (\n# return n\n0)"


def test_a_program_without_an_end_is_stopped() -> None:
    before = sys.gettrace()
    with refused(RuntimeError, "by_hand", "lines"):
        executed(problem("def f(x):\n    while True:\n        x += 1", "1"))
    assert sys.gettrace() is before


@pytest.mark.slow
@given(st.integers(0, 2**40))
@settings(deadline=None, max_examples=60)
def test_the_last_value_is_what_is_returned(seed: int) -> None:
    [one] = generated_problems(1, seed=seed)
    steps = executed(one)
    assert steps[-1].startswith("return ")
    assert steps == executed(one)
    found, expected = map(parse_literal, (worked_out(one), one.output))
    assert same_value(found.value, expected.value)
