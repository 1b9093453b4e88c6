"""Access to programs for perturbations, whatever the program's language."""

from __future__ import annotations

import ast
from dataclasses import replace

from codestress.literals import parse_program
from codestress.problems.program import Problem

from ..refusals import python_constructs, refusal
from . import guards, javascript_guards
from .javascript import JavaScriptProgram
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
    (both empty without one). No template evaluates a condition in JavaScript twice, so no rule
    there is about conditions.
    """
    if problem.language == "javascript":
        found = javascript_guards.script_constructs(problem)
        return refusal(javascript_guards.RULES, rewriting, found, para)
    found = guards.python_problem_constructs(problem)
    why = refusal(guards.RULES, rewriting, found, para)
    if condition and not why:
        parts = python_constructs(ast.parse(f"({condition})", mode="eval"))
        why = refusal(guards.IN_CONDITIONS, rewriting, parts)
    return why
