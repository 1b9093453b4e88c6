"""Tracing of a Python program's call: code added to the program records what happens, and so
decides whether messages about the program are true.

Recorded are the values of returns, the places for messages that the run reached, whether statements
and methods left unchanged what they may change, and variables that the call sets and never reads. A
read of a variable that one function alone sees marks all places that give the variable a value. A
place is idle if it was passed, does nothing but compute a value, and was never marked by a read.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from codestress.mutate.perturbations.guards import TWICE, python_refusal
from codestress.mutate.scopes import FunctionNode, Names, Scope
from codestress.problems.program import Problem

METHODS = frozenset(
    """
    append extend insert remove pop sort reverse update add split join replace lower upper capitalize swapcase
    """.split()  # noqa: SIM905
)
"""Methods of lists, sets, dictionaries and strings at whose calls a message may stand."""
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
"""Tracing code that is put first in a program; its `traced_returns` calls FUNCTION and returns the
record. Values without a hash count as read after `+=`, which changes them in place, where other
variables may see the change."""


class Notes(ast.NodeTransformer):
    """Visitor whose `add` puts the tracing code into a program that has the statement
    `note_ran(NUMBER, KIND)` before each place for a message. Reads of variables are recorded only
    in programs that cannot inspect their own names."""

    def __init__(self, names: Names, problem: Problem) -> None:
        self.problem = problem
        self.blind = bool(python_refusal(problem, "GBC"))
        self.sites: dict[int, list[int]] = {}
        """Numbers of the places that give a variable its value, by the identity of each node that
        names the variable; only variables that one function alone sees."""
        self.changed = set[int]()
        """Identities of the nodes that read a variable which `+=` may have changed in place."""
        places: list[tuple[ast.AST, tuple[Scope, str]]] = []
        shared = set[tuple[Scope, str]]()
        for one in () if self.blind else names.occurrences:
            scope = names.binding(one)
            if scope is None or not isinstance(scope.node, FunctionNode):
                continue
            variable = scope, one.name
            places.append((one.node, variable))
            if one.scope is not scope or not isinstance(one.node, ast.Name | ast.arg):
                shared.add(variable)
        sites = defaultdict[tuple[Scope, str], list[int]](list)
        for node, variable in places:
            if variable not in shared:
                self.sites[id(node)] = sites[variable]

    def add(self, tree: ast.Module) -> None:
        """Adds the tracing code to the syntax tree `tree`, in place; the `names` given to the class
        must come from this same tree."""
        for node in list(ast.walk(tree)):
            for name in ("body", "orelse", "finalbody"):
                if isinstance(block := getattr(node, name, None), list):
                    block[:] = self._noted(block)
        self.visit(tree)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        sites = self.sites.get(id(node), [])
        if not sites or not isinstance(node.ctx, ast.Load):
            return node
        note = "note_changed" if id(node) in self.changed else "note_read"
        return ast.parse(f"{note}({sites}, {node.id})", mode="eval").body

    def _noted(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Returns the statements of a block with added code, which records whether the statement
        behind a `note_ran` changes the value that it may change."""
        found: list[ast.stmt] = []
        notes: list[tuple[int, str]] = []
        for statement in block:
            match statement:
                case ast.Expr(
                    ast.Call(
                        ast.Name("note_ran"),
                        [ast.Constant(int(number)), ast.Constant(str(kind))],
                    )
                ):
                    notes.append((number, kind))
                    found.append(statement)
                    continue
            behind = self._behind(statement, notes)
            # The first place of a kind; in a block, a condition's may come before.
            first = {kind: number for number, kind in reversed(notes)}
            for call, method in method_calls(statement):
                if method.attr in first:
                    site = ast.Constant(first[method.attr])
                    name = ast.Constant(method.attr)
                    call.args = [site, method.value, name, *call.args]
                    call.func = ast.Name("note_call", ast.Load())
            target = _changed(statement)
            numbers = [one for one, kind in notes if kind in ("operator", "assignment")]
            if numbers and target:
                number, look = numbers[0], f"note_shown(lambda: {target})"
                found += ast.parse(f"noted_{number} = {look}").body
                kept = ast.parse(f"note_kept({number}, noted_{number}, {look})").body
                behind = [*kept, *behind]
            found += [statement, *behind]
            notes = []
        return found

    def _behind(
        self, statement: ast.stmt, notes: Sequence[tuple[int, str]]
    ) -> list[ast.stmt]:
        """Returns the statements to add behind a statement: a record that its places (`notes`) were
        passed, where it only keeps or drops a value, and a read of its variable where `+=` and the
        like may change a value in place. Empty for other statements."""
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
        """Numbers of those places for messages in `notes`, pairs of number and kind (`assignment`,
        `operator` or the name of a method), whose kind concerns the whole `value` that the
        statement behind them computes: `assignment`, `operator`, and the method of which `value`
        is the call, where it has no other call of a method of that name. Empty where computing
        `value` may have other effects."""
        calls = [part.func for part in ast.walk(value) if isinstance(part, ast.Call)]
        methods = [one.attr for one in calls if isinstance(one, ast.Attribute)]
        about = {"assignment", "operator"}
        match value:
            case ast.Call(ast.Attribute(attr=name)) if methods.count(name) == 1:
                about.add(name)
        if python_refusal(self.problem, TWICE, ast.unparse(value)):
            return []
        return [number for number, kind in notes if kind in about]


def _changed(statement: ast.stmt) -> str:
    """Text of the target that an assignment changes, such as `n`; empty where reading the target
    may have an effect, where it is unclear what a claim about the assignment means, and for other
    statements."""
    match statement:
        case ast.AugAssign(target):
            calls = any(isinstance(part, ast.Call) for part in ast.walk(target))
            return "" if calls else ast.unparse(target)
        case ast.Assign([ast.Name(name)], value):
            reads = any(
                isinstance(part, ast.Name) and part.id == name
                for part in ast.walk(value)
            )
            return name if reads or not isinstance(value, ast.BinOp) else ""
        case ast.AnnAssign(ast.Name(name)):
            return name
    return ""


def method_calls(statement: ast.stmt) -> list[tuple[ast.Call, ast.Attribute]]:
    """Calls of methods of `METHODS` in a statement, each with what it calls, without those in
    statements inside it; empty for definitions of functions and classes."""
    calls: list[tuple[ast.Call, ast.Attribute]] = []
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return calls
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue
        for node in ast.walk(part):
            match node:
                case ast.Call(ast.Attribute(attr=name) as method) if name in METHODS:
                    calls.append((node, method))
    return calls
