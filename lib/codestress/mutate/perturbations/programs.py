"""Access to programs for perturbations, whatever the program's language."""

from __future__ import annotations

import ast
from dataclasses import replace

from codestress.literals import parse_program
from codestress.mutate.perturbations.javascript import JavaScriptProgram
from codestress.mutate.perturbations.python import PythonProgram
from codestress.problems.program import Problem

Program = PythonProgram | JavaScriptProgram


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
