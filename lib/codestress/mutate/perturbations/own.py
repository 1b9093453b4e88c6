"""Custom perturbations: params/perturbations.yaml names functions that rewrite a Python
program.

Their variants are run like the paper's. If a variant behaves differently on the
problem's input or on one of up to eight other inputs, it is drawn again, then rejected
and counted. The rules of guards.yaml apply to the kit's perturbations alone.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

from codestress.errors import ParameterError
from codestress.functions import FunctionName, load_function
from codestress.paths import PARAMS, shown
from codestress.problems.program import Problem, from_stranger
from codestress.validation import Strict, read_rows

from ..draw import Draw
from .edits import NotPerturbed, Perturbed, Site

FILE = PARAMS / "perturbations.yaml"
"""File that names the custom perturbations."""


class OwnPerturbation(Strict):
    """A custom perturbation: one row of params/perturbations.yaml."""

    function: FunctionName
    """User's function as FILE.py:NAME, called as NAME(code, draw) with the program's
    text and a source of random choices; returns the new text."""
    description: str = ""


def own_perturbations() -> dict[str, OwnPerturbation]:
    """Return a dict from name to custom perturbation, from params/perturbations.yaml;
    empty without that file."""
    return read_rows(FILE, OwnPerturbation)


@cache
def _function(name: str) -> Callable[..., Any]:
    """Return the user's function of the custom perturbation `name`.

    Raises `ParameterError` for an unknown name.
    """
    rows = own_perturbations()
    if name not in rows:
        raise ParameterError(f"no perturbation {name!r} in the kit or in {shown(FILE)}")
    return load_function(rows[name].function, f"{shown(FILE)}: {name}")


def rewrite(problem: Problem, name: str, draw: Draw) -> Perturbed:
    """Return the problem with its program rewritten by the custom perturbation `name`.

    The one change in the result's `sites` has the new program as its text; `sites` is
    empty if the text stays the same. Raises `NotPerturbed` if the program is not
    Python, or if the user's function raises or does not return a text. Raises
    `ParameterError` for an unknown name.
    """
    if problem.language != "python":
        raise NotPerturbed(f"{name} is for Python programs")
    function = _function(name)
    try:
        code = function(problem.code, draw)
    # The user's function may be unfinished.
    except Exception as error:
        raise NotPerturbed(f"{name} raised {type(error).__name__}: {error}") from None
    if not isinstance(code, str):
        raise NotPerturbed(f"{name} returned {type(code).__name__}, not a text")
    sites = (Site(1, name, code),) if code != problem.code else ()
    return Perturbed(from_stranger(problem, code=code), sites)
