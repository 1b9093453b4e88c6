"""Access to programs for perturbations, whatever the program's language."""

import ast
from dataclasses import replace
from functools import lru_cache

from codestress.literals import parse_program
from codestress.problems.program import Problem

from ..refusals import WORDS, python_constructs, refusal
from .edits import stimuli
from .javascript import JavaScriptProgram
from .javascript_guards import script_constructs
from .python import PythonProgram

Program = PythonProgram | JavaScriptProgram
"""Program that perturbations edit."""


def program_of(problem: Problem) -> Program:
    """Returns the problem's program as an object that perturbations edit: a syntax tree in Python,
    a text with edits in JavaScript. Raises `NotPerturbed` for JavaScript that does not parse."""
    return (
        JavaScriptProgram(problem)
        if problem.language == "javascript"
        else PythonProgram(problem)
    )


def vanilla(problem: Problem) -> Problem:
    """Returns a Python problem with its program parsed and written out again (CodeCrash, section
    2.1), so that comments and layout give no hints; a problem in another language as it is. Raises
    `SyntaxError` for Python that does not parse."""
    if problem.language != "python":
        return problem
    return replace(problem, code=ast.unparse(parse_program(problem.code)))


def why_refused(
    problem: Problem, rewriting: str, condition: str = "", para: str = ""
) -> str:
    """Returns why the rules refuse a rewriting of the problem's program, as `REASON: CONSTRUCT`;
    empty where they allow it.

    `rewriting` is a perturbation's name, or a text that it inserts; `condition` the code of the
    condition in the program that this text replaces, and `para` the parameter that this text names
    (both empty without one).
    """
    python = problem.language == "python"
    search = problem_constructs if python else script_constructs
    constructs = search(problem)
    rules = stimuli("guards")
    why = refusal(rules[problem.language], rewriting, constructs, para)
    if python and condition and not why:
        parts = python_constructs(ast.parse(f"({condition})", mode="eval"))
        names = {f"function {part.removeprefix('.')}" for part in parts}
        if names & constructs:
            parts |= {"a function of the program"}
        why = refusal(rules["python conditions"], rewriting, parts)
    return why


@lru_cache(maxsize=4096)
def problem_constructs(problem: Problem) -> frozenset[str]:
    """Constructs of a Python problem's program and call, as `python_constructs` gives them; with
    the text `an unknown class` where values may be instances of other classes than those of Python
    and of plain modules (refusals.yaml)."""
    constructs = python_constructs(PythonProgram(problem).tree)
    modules = {name.removeprefix("import ") for name in constructs if "import " in name}
    if modules - set(WORDS["plain_modules"].split()):
        return constructs | {"an unknown class"}
    return constructs
