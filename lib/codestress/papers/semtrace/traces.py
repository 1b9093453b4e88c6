"""SemTrace: functions of independent, unpredictable assignments (Sense and Sensitivity, section 2.3, Listing 1).

A wrong element of the answer points at one assignment that was not recalled.
"""

from __future__ import annotations

from codestress.problems.program import Problem
from codestress.seeding import rng
from codestress.types import Source

FEWEST, MOST = 4, 10
"""Assignments in a function, both ends included."""


def trace_problems(count: int, *, digits: int = 2, seed: int = 0) -> list[Problem]:
    """Problems `semtrace_0`, …, each from the seed, the digits and its number alone.

    `x` is a number of `digits` digits; an assignment adds y, uniform in [-10^digits, 10^digits - 1]. The paper prints
    the range for two digits and leaves both open for more (section 3.3).
    """
    return [_problem(number, digits, seed) for number in range(count)]


def _problem(number: int, digits: int, seed: int) -> Problem:
    random = rng(seed, "semtrace", digits, number)
    size = int(random.integers(FEWEST, MOST + 1))
    x = int(random.integers(10 ** (digits - 1), 10**digits))
    added = [int(y) for y in random.integers(-(10**digits), 10**digits, size)]
    order = [int(i) for i in random.permutation(size)]
    lines = [f"    arr[{i}] = x {'-' if added[i] < 0 else '+'} {abs(added[i])}" for i in order]
    zeros = ", ".join("0" * size)
    code = "\n".join(["def f(x):", f"    arr = [{zeros}]", *lines, "    return arr"])
    return Problem(f"semtrace_{number}", code, "f", str(x), str([x + y for y in added]), source=Source.KIT)
