"""What perturbations ask of a program, whatever its language."""

from __future__ import annotations

import ast
from dataclasses import replace

from codestress.papers.codecrash.perturbations.javascript import JavaScriptProgram
from codestress.papers.codecrash.perturbations.python import PythonProgram
from codestress.problems.program import Problem


def program_of(problem: Problem) -> PythonProgram | JavaScriptProgram:
    """The problem's program, to be rewritten."""
    return JavaScriptProgram(problem) if problem.language == "javascript" else PythonProgram(problem)


def vanilla(problem: Problem) -> Problem:
    """A Python program parsed and unparsed (section 2.1), so that formatting tells nothing; others as they are."""
    python = problem.language == "python"
    return replace(problem, code=ast.unparse(ast.parse(problem.code))) if python else problem
