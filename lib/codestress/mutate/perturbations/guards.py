"""Rules by which perturbations refuse Python programs (guards.yaml), and the constructs that the
rules look for in a problem."""

from functools import lru_cache

from codestress.problems.program import Problem

from ..refusals import python_constructs
from .python import PythonProgram

CLASSES = {"ClassDef", "type", "__class__"}
"""Constructs by which values may be instances of classes that the kit does not know."""
PLAIN_MODULES = frozenset(
    """
    __future__ bisect collections copy datetime functools heapq itertools math operator random re string time typing
    """.split()  # noqa: SIM905
)
"""Modules whose values give booleans when they are compared, and are the same when they are
evaluated again."""


@lru_cache(maxsize=4096)
def problem_constructs(problem: Problem) -> frozenset[str]:
    """Constructs of a Python problem's program and call, as `python_constructs` gives them; with
    the text `an unknown class` where values may be instances of other classes than those of Python
    and `PLAIN_MODULES`."""
    found = python_constructs(PythonProgram(problem).tree)
    modules = {one.removeprefix("import ") for one in found if "import " in one}
    unknown = found & CLASSES or modules - PLAIN_MODULES
    return found | {"an unknown class"} if unknown else found
