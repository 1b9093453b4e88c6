"""What the graders of the assignments hold answers against."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codestress.course.material import FaultRow


def renamed(code: str) -> str:
    """A program with each local name replaced by one of its own, `local_0` and so on."""
    tree = ast.parse(code)
    bound = dict.fromkeys(
        node.arg if isinstance(node, ast.arg) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.arg) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    )
    new = {name: f"local_{number}" for number, name in enumerate(bound)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)
    return ast.unparse(tree)


def line_of_fault(task: FaultRow) -> int:
    """The only line in which what is shown differs from the correct program, from 1."""
    pairs = zip(task["correct"].split("\n"), task["shown"].split("\n"), strict=True)
    [line] = [number for number, (before, after) in enumerate(pairs, start=1) if before != after]
    return line


def oracle_ceiling(tasks: Sequence[FaultRow], tolerance: int) -> list[float | None]:
    """Share of tasks with a label within `tolerance` lines of the fault, by the quarter in which the fault stands."""
    inside: dict[int, list[bool]] = {0: [], 1: [], 2: [], 3: []}
    for task in tasks:
        line = line_of_fault(task)
        inside[4 * (line - 1) // (task["shown"].count("\n") + 1)].append(abs(task["label"] - line) <= tolerance)
    return [sum(quarter) / len(quarter) if quarter else None for quarter in inside.values()]
