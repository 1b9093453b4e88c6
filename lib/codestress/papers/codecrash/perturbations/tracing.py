"""What a Python program notes while its call runs: what is said in messages is held against it.

What each return gave; which sites were reached; whether statements and methods left as it was what they may change;
and variables that the call fills and never looks at. Whoever reads a variable of a function that no other function
sees notes all sites that give it a value. Sites that were passed, do nothing but work out a value, and were never noted
so, are idle.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from codestress.generation.scopes import FunctionNode, Names
from codestress.papers.codecrash.perturbations import guards

METHODS = frozenset(
    """
    append extend insert remove pop sort reverse update add split join replace lower upper capitalize swapcase
    """.split()  # noqa: SIM905
)
"""Methods that get messages of their own."""
NOTING = """
noted = {'returns': {}, 'ran': set(), 'kept': {}, 'passed': set(), 'read': set()}
def note_return(ordinal, value):
    noted['returns'].setdefault(ordinal, set()).add(repr(value)[:200])
    return value
def note_ran(site, kind):
    noted['ran'].add(site)
def note_shown(look):
    try:
        return repr(look())
    except Exception:
        return None
def note_kept(site, before, after):
    if after is not None:
        noted['kept'][site] = noted['kept'].get(site, True) and before == after
def note_call(site, value, name, *given, **named):
    joined = isinstance(value, str) and name == 'join' and bool(given)
    given = ([*given[0]], *given[1:]) if joined else given
    before = note_shown(lambda: value)
    result = getattr(value, name)(*given, **named)
    if joined:
        note_kept(site, True, len(given[0]) < 2)
    elif isinstance(value, str):
        note_kept(site, before, repr(result[0] if result.__class__ is list and len(result) == 1 else result))
    elif isinstance(value, (list, set, dict)):
        note_kept(site, before, note_shown(lambda: value))
    return result
def note_read(sites, value):
    noted['read'].update(sites)
    return value
def note_changed(sites, value):
    if value.__class__.__hash__ is None:
        note_read(sites, value)
def traced_returns(*given, **named):
    FUNCTION(*given, **named)
    noted['idle'] = noted['passed'] - noted['read']
    return noted
"""
"""A value without a hash is changed in place by `+=`, which others may see."""


class Notes(ast.NodeTransformer):
    """Adds what notes to a program in which a note stands before each site, with its number and kind. Looks at
    variables are noted in no program that sees its own names."""

    def __init__(self, names: Names, facts: guards.Known) -> None:
        self.facts = facts
        self.blind = bool(facts.namespace or facts.reader or facts.lifetime)
        self.sites: dict[int, list[int]] = {}
        """For each name of a variable that its function alone sees, by its identity, the sites that give it a value."""
        self.changed = set[int]()
        """Looks at what `+=` may have changed in place."""
        owners = [] if self.blind else [(one, names.binding(one)) for one in names.occurrences]
        for scope in names.scopes:
            own = [one for one, owner in owners if owner is scope and isinstance(scope.node, FunctionNode)]
            seen = {one.name for one in own if one.scope is not scope or not isinstance(one.node, ast.Name | ast.arg)}
            sites = defaultdict[str, list[int]](list)
            self.sites |= {id(one.node): sites[one.name] for one in own if one.name not in seen}

    def add(self, tree: ast.Module) -> None:
        """To a tree: the one whose names these are."""
        for node in list(ast.walk(tree)):
            for name in ("body", "orelse", "finalbody"):
                if isinstance(block := getattr(node, name, None), list):
                    block[:] = self._noted(block)
        self.visit(tree)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        sites = self.sites.get(id(node), []) if isinstance(node.ctx, ast.Load) else []
        note = "note_changed" if id(node) in self.changed else "note_read"
        return ast.parse(f"{note}({sites}, {node.id})", mode="eval").body if sites else node

    def _noted(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements, with looks at what those may change that a note stands before."""
        found: list[ast.stmt] = []
        notes: list[tuple[int, str]] = []
        for statement in block:
            match statement:
                case ast.Expr(ast.Call(ast.Name("note_ran"), [ast.Constant(int(number)), ast.Constant(str(kind))])):
                    notes.append((number, kind))
                    found.append(statement)
                    continue
            behind = self._behind(statement, notes)
            for number, kind in notes:
                for call in method_calls(statement) if kind in METHODS else ():
                    if isinstance(call.func, ast.Attribute) and call.func.attr == kind:
                        call.args = [ast.Constant(number), call.func.value, ast.Constant(kind), *call.args]
                        call.func = ast.Name("note_call", ast.Load())
            number = next((number for number, kind in notes if kind in ("operator", "assignment")), -1)
            if number >= 0 and (target := _changed(statement)):
                look = f"note_shown(lambda: {target})"
                found += ast.parse(f"noted_{number} = {look}").body
                behind = [*ast.parse(f"note_kept({number}, noted_{number}, {look})").body, *behind]
            found += [statement, *behind]
            notes = []
        return found

    def _behind(self, statement: ast.stmt, notes: Sequence[tuple[int, str]]) -> list[ast.stmt]:
        """Behind what only keeps a value, or drops it, a note of its sites; behind what may change one in place a look
        at it."""
        target: ast.Name | None = None
        match statement:
            case ast.Expr(value) if not self.blind:
                pass
            case (
                ast.Assign([ast.Name() as target], value)
                | ast.AnnAssign(ast.Name() as target, ast.expr() as value)
                | ast.AugAssign(ast.Name() as target, _, value)
            ) if id(target) in self.sites:
                pass
            case _:
                return []
        found: list[ast.stmt] = []
        if sites := self._sites(notes, value):
            if target is not None:
                self.sites[id(target)] += sites
            found += ast.parse(f"noted['passed'].update({sites})").body
        if target is not None and isinstance(statement, ast.AugAssign):
            look = ast.Name(target.id, ast.Load())
            self.changed.add(id(look))
            self.sites[id(look)] = self.sites[id(target)]
            found.append(ast.Expr(look))
        return found

    def _sites(self, notes: Sequence[tuple[int, str]], value: ast.expr) -> list[int]:
        """The sites of a statement that are about the value that it works out, where it does nothing else."""
        calls = [part.func for part in ast.walk(value) if isinstance(part, ast.Call)]
        methods = [one.attr for one in calls if isinstance(one, ast.Attribute)]
        whole = value.func.attr if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else ""
        about = {"assignment", "operator"} | ({whole} if methods.count(whole) == 1 else set())
        return [] if self.facts.effect(value) else [number for number, kind in notes if kind in about]


def _changed(statement: ast.stmt) -> str:
    """What an assignment changes, where looking at it does nothing; empty where what is said of it is not clear."""
    match statement:
        case ast.AugAssign(target) if not any(isinstance(part, ast.Call) for part in ast.walk(target)):
            return ast.unparse(target)
        case ast.Assign([ast.Name(name)], value):
            reads = any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))
            return name if reads or not isinstance(value, ast.BinOp) else ""
        case ast.AnnAssign(ast.Name(name)):
            return name
    return ""


def method_calls(statement: ast.stmt) -> list[ast.Call]:
    """Calls of methods with messages in a statement, not in those inside it."""
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return []
    inner = ast.stmt | ast.ExceptHandler | ast.match_case
    parts = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, inner)]
    calls = [one for part in parts for one in ast.walk(part) if isinstance(one, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS]
