"""MHC: a plausible but wrong value of the output, or of the input, as a comment (CodeCrash, appendix B.3)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from codestress.generation.scopes import FunctionNode
from codestress.papers.codecrash.perturbations.edits import NotPerturbed, Perturbed, Site
from codestress.problems.program import Problem


def hint_output(problem: Problem, value: str) -> Perturbed:
    """`# The return value is VALUE` behind the function's only return; on a new line after its last one where there
    is none or several."""
    function = called_function(problem)
    text = f"The return value is {value}"
    returns = list(_returns(function))
    lines = problem.code.split("\n")
    last = function.body[-1]
    if len(returns) == 1:
        line = returns[0].end_lineno or 0
        lines[line - 1] += f"  # {text}"
    else:
        line = last.end_lineno or 0
        lines.insert(line, " " * function.body[0].col_offset + f"# {text}")
    return Perturbed(replace(problem, code="\n".join(lines)), (Site(line, "hint", text),))


def hint_input(problem: Problem, arguments: str) -> Perturbed:
    """`# The function call is f(ARGUMENTS)` behind the function's head."""
    function = called_function(problem)
    text = f"The function call is {problem.function}({arguments})"
    lines = problem.code.split("\n")
    first = function.body[0]
    line = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))]) - 1
    lines[line - 1] += f"  # {text}"
    return Perturbed(replace(problem, code="\n".join(lines)), (Site(line, "hint", text),))


def called_function(problem: Problem) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The definition of the function that the problem calls; `NotPerturbed` when there is none."""
    for statement in reversed(ast.parse(problem.code).body):
        if isinstance(statement, FunctionNode) and statement.name == problem.function:
            return statement
    raise NotPerturbed(f"no function {problem.function} at the program's top level")


def _returns(node: ast.AST) -> Iterator[ast.Return]:
    """The return statements of a function, not those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Return):
            yield child
        if not isinstance(child, FunctionNode | ast.Lambda | ast.ClassDef):
            yield from _returns(child)
