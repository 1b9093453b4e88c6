"""Incomplete versions of a program: every subset of its lines after the first (Sense and Sensitivity, section 3.4).

A line is what `split("\\n")` gives, blank lines included; the untouched program and the bare first line are among the
versions. CRUXEval's 800 programs have 71,994 of them; in three the first line is not the `def`, and stays all the same.
"""

from __future__ import annotations


def removable(code: str) -> int:
    """Lines that may be removed: all but the first."""
    return code.count("\n")


def without_lines(code: str, removed: int) -> str:
    """The program without the lines of a bit mask (there are `2 ** removable`): bit i is line i + 2."""
    first, *others = code.split("\n")
    return "\n".join([first, *(line for i, line in enumerate(others) if not removed >> i & 1)])
