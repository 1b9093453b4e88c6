"""What perturbations make of a problem, and the sites they touch."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from codestress.problems.program import Problem


@dataclass(frozen=True)
class Site:
    """A place that a perturbation touched."""

    line: int
    """Of the program as it was given, from 1 on."""
    kind: str
    text: str
    """What was put there, or `OLD → NEW`."""


@dataclass(frozen=True)
class Perturbed:
    """A problem after a perturbation. No sites: there was nothing to change."""

    problem: Problem
    sites: tuple[Site, ...] = ()


class NotPerturbed(ValueError):
    """The perturbation cannot be made on this program; the message says why."""


def vanilla(problem: Problem) -> Problem:
    """A Python program parsed and unparsed (section 2.1), so that formatting tells nothing; others as they are."""
    if problem.language != "python":
        return problem
    return replace(problem, code=ast.unparse(ast.parse(problem.code)))


def parse(problem: Problem) -> tuple[ast.Module, ast.Call]:
    """The program's tree with its call as the last statement, and that call: names in both are resolved together."""
    tree = ast.parse(f"{problem.code}\n{problem.function}({problem.arguments}\n)")
    last = tree.body[-1]
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        raise NotPerturbed(f"{problem.function}({problem.arguments}) is no call")
    return tree, last.value


def written(problem: Problem, tree: ast.Module, call: ast.Call) -> Problem:
    """The problem with the program and the call of a tree from `parse`."""
    body = ast.Module([statement for statement in tree.body if getattr(statement, "value", None) is not call], [])
    return replace(
        problem,
        code=ast.unparse(ast.fix_missing_locations(body)),
        function=ast.unparse(call.func),
        arguments=ast.unparse(call)[len(ast.unparse(call.func)) + 1 : -1],
    )
