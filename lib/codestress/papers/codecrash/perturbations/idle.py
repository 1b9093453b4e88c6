"""Variables that a call fills and never looks at: noted while it runs.

A variable of a function that no other function sees: whoever reads it notes all sites that give it a value. Sites that
were passed, do nothing but work out a value, and were never noted so, are idle.
"""

from __future__ import annotations

import ast

from codestress.generation.scopes import FunctionNode, Names
from codestress.papers.codecrash.perturbations import guards

NOTING = """
noted = noted | {'passed': set(), 'read': set()}
def note_read(sites, value=None):
    noted['read'].update(sites)
    return value
def note_passed(sites):
    noted['passed'].update(sites)
def note_changed(sites, value):
    if value.__class__.__hash__ is None:
        note_read(sites)
"""
"""A value without a hash is changed in place by `+=`, which others may see."""


def note_passing(tree: ast.Module, names: Names, facts: guards.Known) -> Looks:
    """Notes which sites are passed, in a program in which a note stands before each; not in one that sees its own
    names. Gives what notes the looks at variables, for when the tree is as it shall be otherwise."""
    if facts.namespace or facts.reader or facts.lifetime:
        return Looks({})
    reads, writes, changes = dict[int, list[int]](), dict[int, list[int]](), dict[int, list[int]]()
    bound = [(one, names.binding(one)) for one in names.occurrences]
    for scope in names.scopes:
        own = [one for one, owner in bound if owner is scope]
        open_to_others = {
            one.name for one in own if one.scope is not scope or not isinstance(one.node, ast.Name | ast.arg)
        }
        sites: dict[str, list[int]] = {}
        for one in own:
            if isinstance(scope.node, FunctionNode) and one.name not in open_to_others:
                written = isinstance(getattr(one.node, "ctx", None), ast.Store)
                (writes if written else reads)[id(one.node)] = sites.setdefault(one.name, [])
    for node in list(ast.walk(tree)):
        for name in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(node, name, None), list):
                block[:] = _passed(block, writes, changes, facts)
    return Looks({"note_read": reads, "note_changed": changes})


def _passed(
    block: list[ast.stmt], writes: dict[int, list[int]], changes: dict[int, list[int]], facts: guards.Known
) -> list[ast.stmt]:
    """Statements; behind those that only keep a value, or drop it, a note of the sites before them, and behind those
    that may change one in place a look at it, which is entered in `changes`."""
    found: list[ast.stmt] = []
    notes: list[tuple[int, str]] = []
    for statement in block:
        found.append(statement)
        match statement:
            case ast.Expr(ast.Call(ast.Name("note_ran"), [ast.Constant(int() as number), ast.Constant(str() as kind)])):
                notes.append((number, kind))
                continue
            case ast.Expr(value) if sites := _sites(notes, value, facts):
                found.append(_note(sites))
            case ast.Assign([ast.Name() as target], value) | ast.AnnAssign(ast.Name() as target, ast.expr() as value):
                if id(target) in writes and (sites := _sites(notes, value, facts)):
                    writes[id(target)] += sites
                    found.append(_note(sites))
            case ast.AugAssign(ast.Name(name) as target, _, value) if id(target) in writes:
                if sites := _sites(notes, value, facts):
                    writes[id(target)] += sites
                    found.append(_note(sites))
                changed = ast.Name(name, ast.Load())
                changes[id(changed)] = writes[id(target)]
                found.append(ast.Expr(changed))
        notes = []
    return found


def _note(sites: list[int]) -> ast.stmt:
    return ast.parse(f"note_passed({sites})").body[0]


def _sites(notes: list[tuple[int, str]], value: ast.expr, facts: guards.Known) -> list[int]:
    """The sites of a statement that are about the value that it works out, where it does nothing else."""
    calls = [part.func for part in ast.walk(value) if isinstance(part, ast.Call)]
    methods = [one.attr for one in calls if isinstance(one, ast.Attribute)]
    whole = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
    if guards.effect(facts, value):
        return []
    return [
        number
        for number, kind in notes
        if kind in ("assignment", "operator") or (kind == whole and methods.count(kind) == 1)
    ]


class Looks(ast.NodeTransformer):
    """Notes, of each look at a variable, the sites that give it a value."""

    def __init__(self, looks: dict[str, dict[int, list[int]]]) -> None:
        self.looks = looks

    def visit_Name(self, node: ast.Name) -> ast.expr:
        for note, found in self.looks.items():
            if (sites := found.get(id(node))) and isinstance(node.ctx, ast.Load):
                return ast.Call(ast.Name(note, ast.Load()), [ast.parse(repr(sites), mode="eval").body, node], [])
        return node
