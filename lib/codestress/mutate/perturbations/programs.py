"""Access to programs for perturbations, whatever the program's language."""

import ast
from dataclasses import replace

from codestress.literals import parse_program
from codestress.problems.program import Problem

from ..refusals import python_constructs, refusal, rule
from .edits import stimuli
from .guards import problem_constructs
from .javascript import JavaScriptProgram
from .javascript_guards import script_constructs
from .python import PythonProgram

Program = PythonProgram | JavaScriptProgram
"""Program that perturbations edit."""
RULES = {
    subject: [rule(**row) for row in rows]
    for subject, rows in stimuli("guards").items()
}
"""Rules by which perturbations refuse programs, by language, and those about conditions."""


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
    2.1), so that comments and layout give nothing away; a problem in another language as it is.
    Raises `SyntaxError` for Python that does not parse."""
    python = problem.language == "python"
    return (
        replace(problem, code=ast.unparse(parse_program(problem.code)))
        if python
        else problem
    )


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
    found = problem_constructs(problem) if python else script_constructs(problem)
    why = refusal(RULES[problem.language], rewriting, found, para)
    if python and condition and not why:
        parts = python_constructs(ast.parse(f"({condition})", mode="eval"))
        why = refusal(RULES["python conditions"], rewriting, parts)
    return why
