"""Perturbations of your own: params/perturbations.yaml names functions that rewrite a Python program.

What they make is run like the paper's: a variant that does not do the same on the problem's input and on eight near by
is drawn again, then rejected and counted.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import cache
from typing import Any

from codestress.functions import FunctionName, load_function
from codestress.papers.codecrash.perturbations.edits import NotPerturbed, Perturbed, Site
from codestress.paths import PARAMS, shown
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem, from_stranger
from codestress.validation import Strict, one_of, read_rows

FILE = PARAMS / "perturbations.yaml"


class OwnPerturbation(Strict):
    """A row of params/perturbations.yaml."""

    function: FunctionName
    """Called as NAME(code, draw) with the program's text and a source of randomness; returns the new text."""
    description: str = ""


def own_perturbations() -> dict[str, OwnPerturbation]:
    """All rows, by name; none where there is no file."""
    return read_rows(FILE, OwnPerturbation)


@cache
def _function(name: str) -> Callable[..., Any]:
    return load_function(own_perturbations()[name].function, f"{shown(FILE)}: {name}")


def rewrite(problem: Problem, name: str, draw: Draw) -> Perturbed:
    """The problem with its program rewritten; `NotPerturbed` where the function refuses, raises or returns no text."""
    if problem.language != "python":
        raise NotPerturbed(f"{name} is for Python programs")
    function = _function(name)
    try:
        code = function(problem.code, draw)
    except Exception as error:  # of code that somebody is still trying out
        raise NotPerturbed(f"{name} raised {type(error).__name__}: {error}") from None
    if not isinstance(code, str):
        raise NotPerturbed(f"{name} returned {type(code).__name__}, not a text")
    before, after = problem.code.split("\n"), code.split("\n")
    changed = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    sites = tuple(
        Site(start + 1, name, "\n".join(after[new:end])) for tag, start, _, new, end in changed if tag != "equal"
    )
    return Perturbed(from_stranger(problem, code=code), sites)


def known_perturbation(*kits: str) -> Any:
    """The validator of a parameter that names a perturbation."""
    return one_of("perturbation", kits, lambda: FILE)
