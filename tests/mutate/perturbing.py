"""Helpers that the tests of perturbations share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from codestress.mutate.draw import Draw
from codestress.mutate.perturbations.checking import Checked, check_problems
from codestress.mutate.perturbations.variants import Perturbation
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.sandbox.runtimes import missing
from codestress.seeding import rng

REWRITING: tuple[Perturbation, ...] = ("REN", "RTF", "GBC", "PSC-ALL", "MCC", "MPS")
"""Perturbations that guards watch over."""
needs_node = pytest.mark.skipif(
    bool(missing("javascript")), reason="Node is not installed"
)
LANGUAGES = ["python", pytest.param("javascript", marks=needs_node)]


def draw(*names: str | int) -> Draw:
    return Draw(rng(0, *names))


def usable(problems: Sequence[Problem], executor: Executor) -> list[Checked]:
    """The problems, none of which may be faulty; one without an output gets its own."""
    checked, faults = check_problems(problems, executor, 0)
    assert not faults
    return checked
