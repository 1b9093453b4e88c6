"""GBC: code that does nothing (CodeCrash, appendix B.1.3): globals that parameters shadow, conditions that never hold,
loops that never end in functions that are never called."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass

from codestress.generation.scopes import FunctionNode, Names, names_of, parameters
from codestress.papers.codecrash.perturbations.edits import Perturbed, Site, parse, written
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem

FALSE_CONDITIONS = ("False", "None", "0", "''", "{para} != {para}", "not {para} == {para}", "print({para})")
CONTROL_FLOW = (
    "if {false}:\n    {new} = {para}",
    "while {false}:\n    {new} = {para}",
    "for {index} in range(0):\n    {new} = {para}",
    "{new} = {para} if {false} else {para}",
)
DEAD_LOOPS = (
    "def {name}():\n    while True:\n        {new} = 1",
    "def {name}():\n    return {name}()",
    "def {name}():\n    {new} = 1\n    while {new} > 0:\n        {new} += 1",
    "def {name}():\n    for {new} in iter(int, 1):\n        {new} += 1",
    "def {name}({new}=0):\n    while {new} == {new}:\n        {new} -= 1\n    return {new}",
    "def {name}({new}=1):\n    if {new}:\n        return {name}({new} + 1)\n    return {new}",
    "def {name}():\n    {new} = [0]\n    for item in {new}:\n        {new}.append(item)",
)
"""The kit's own: the paper says that there are seven (its Code 5), its text does not hold them."""
N_CONTROL_FLOW, N_DEAD_LOOPS = 3, 2
"""How many of each a program gets."""


@dataclass(frozen=True)
class Place:
    """Before a statement of a list, or after its last one; the function around it has these parameters."""

    statements: list[ast.stmt]
    before: ast.stmt | None
    named: tuple[str, ...]

    def insert(self, new: list[ast.stmt]) -> None:
        at = len(self.statements) if self.before is None else self.statements.index(self.before)
        self.statements[at:at] = new


def insert_garbage(problem: Problem, draw: Draw) -> Perturbed:
    """Puts three of the four control flows and two of the seven functions at places drawn for each, and declares
    half of the parameters (rounded up) as globals with numbers from 1 to 100."""
    tree, call = parse(problem)
    names = names_of(tree)
    used = {occurrence.name for occurrence in names.occurrences}
    index = unused("i", used) if _shared(names, "i") else "i"
    places = _places(tree)
    sites = []
    snippets = [*chosen(CONTROL_FLOW, N_CONTROL_FLOW, draw), *chosen(DEAD_LOOPS, N_DEAD_LOOPS, draw)]
    for number, template in enumerate(chosen(snippets, len(snippets), draw)):
        place = draw.choice(places)
        para = draw.choice(place.named) if place.named else "True"
        false = draw.choice(FALSE_CONDITIONS).format(para=para)
        new, name = unused(f"Temp_Var_{number}", used), unused(f"funct{number + 1}", used)
        text = template.format(false=false, para=para, new=new, name=name, index=index)
        line = (place.before or place.statements[-1]).lineno
        sites.append(Site(line, "dead loop" if template in DEAD_LOOPS else "dead branch", text))
        place.insert(_at(ast.parse(text).body, line))
    seen = {o.name for o in names.occurrences if (owner := names.binding(o)) is None or owner.kind == "module"}
    hidden = [one.arg for node in ast.walk(tree) if isinstance(node, FunctionNode) for one in parameters(node)]
    candidates = [name for name in dict.fromkeys(hidden) if name in used and name not in seen | {"self", "cls"}]
    start = _after_head(tree)
    for name in chosen(candidates, math.ceil(len(candidates) / 2), draw):
        text = f"{name} = {draw.integer(1, 100)}"
        sites.append(Site(1, "global", text))
        tree.body[start:start] = _at(ast.parse(text).body, 1)
    return Perturbed(written(problem, tree, call), tuple(sites))


def _shared(names: Names, name: str) -> bool:
    """Whether a function uses a variable of this name that belongs to the code around it."""
    return any(
        one.name == name and one.scope.kind != "comprehension" and names.binding(one) is not one.scope
        for one in names.occurrences
    )


def chosen(items: list[str] | tuple[str, ...], count: int, draw: Draw) -> list[str]:
    """`count` of the items, in an order that is drawn."""
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(min(count, len(left)))]


def unused(name: str, used: set[str]) -> str:
    while name in used:
        name += "_"
    used.add(name)
    return name


def _at(statements: list[ast.stmt], line: int) -> list[ast.stmt]:
    """New statements count as standing on a line of the program as it was given."""
    for statement in statements:
        for node in ast.walk(statement):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = line  # type: ignore[attr-defined]
    return statements


def _after_head(tree: ast.Module) -> int:
    """After the docstring and what must come first."""
    index = 1 if ast.get_docstring(tree) is not None else 0
    while isinstance(part := tree.body[index], ast.ImportFrom) and part.module == "__future__":
        index += 1
    return index


def _places(tree: ast.Module) -> list[Place]:
    """Where a statement may stand inside functions: before each statement, and after one that goes on."""
    places: list[Place] = []

    def collect(statements: list[ast.stmt], named: tuple[str, ...] | None, docstring: bool = False) -> None:
        if named is not None:
            ends = isinstance(statements[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)
            first = 1 if docstring else 0
            while first < len(statements) and isinstance(statements[first], ast.Global | ast.Nonlocal):
                first += 1
            places.extend(Place(statements, statement, named) for statement in statements[first:])
            if not ends:
                places.append(Place(statements, None, named))
        for statement in statements:
            inner = named
            if isinstance(statement, FunctionNode):
                inner = tuple(one.arg for one in parameters(statement) if one.arg not in ("self", "cls"))
                collect(statement.body, inner, ast.get_docstring(statement) is not None)
                continue
            if isinstance(statement, ast.ClassDef):
                collect(statement.body, None)
                continue
            for name in ("body", "orelse", "finalbody"):
                if block := getattr(statement, name, None):
                    collect(block, inner)
            for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
                collect(part.body, inner)

    collect(tree.body[:-1], None)
    return places
