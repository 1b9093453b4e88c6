"""The proof that a mutation is neutral, as far as the language allows, by syntax trees alone."""

from __future__ import annotations

import ast
import builtins
import operator
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from codestress.generation.scopes import FunctionNode, names_of
from codestress.literals import NotLiteral, literal_of
from codestress.notes import noted
from codestress.papers.faultloc.faults.trees import JAVA_CLASSES, NotNeutral, java_root, tree_of, words_of
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node


@noted
def equivalence_error(before: str, after: str, spm: str, language: Language) -> str:
    """Why a mutation is not neutral, by its syntax tree; empty where it is.

    Comments: the tree is the same. Names: the same with names mapped one to one. Dead code: the same without statements
    under a condition that is always false, and these change no name's variable and no function's kind. Functions: the
    same with methods sorted. Compositions: all of these at once.
    """
    parts = tuple(spm.split("+"))
    try:
        if language == "java":
            if _java_form(before, parts) != _java_form(after, parts):
                return "the syntax tree is another"
            return _java_dead_error(before, after) if "dead_code" in parts else ""
        (old, old_dead), (new, new_dead) = _form(before, parts), _form(after, parts)
        if old != new:
            return "the syntax tree is another"
        return _dead_error(before, after, old_dead, new_dead) if "dead_code" in parts else ""
    except NotNeutral as error:
        return str(error)


@lru_cache(maxsize=256)
def _form(code: str, parts: tuple[str, ...]) -> tuple[str, list[ast.AST]]:
    """What a mutation must not change in a program, and all nodes of its statements that never run."""
    tree = tree_of(code)
    dead = _remove_dead(tree) if "dead_code" in parts else []
    if "functions" in parts:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                node.body.sort(key=lambda one: one.name if isinstance(one, FunctionNode) else "")
    if "names" in parts:
        numbers: dict[str, str] = {}
        for occurrence in names_of(tree).occurrences:
            occurrence.rename(numbers.setdefault(occurrence.name, f"name {len(numbers)}"))
    return ast.dump(tree), dead


def _remove_dead(tree: ast.AST) -> list[ast.AST]:
    """Takes the statements that never run out of a tree; all their nodes."""
    dead: list[ast.AST] = []
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(tree, field, None)
        if isinstance(block, list):
            for statement in block:
                if isinstance(statement, ast.stmt) and _never_runs(statement):
                    dead += ast.walk(statement)
                else:
                    dead += _remove_dead(statement)
            block[:] = [one for one in block if not (isinstance(one, ast.stmt) and _never_runs(one))]
    return dead


DEAD_STATEMENTS = (
    *(ast.Expr, ast.Assign, ast.AugAssign, ast.Pass, ast.If, ast.While, ast.For, ast.Return, ast.Break, ast.Continue),
    *(ast.Raise, ast.Assert),
)
"""What code that never runs may consist of: nothing that declares, imports, deletes or makes a generator."""
BUILTINS = frozenset(dir(builtins))
CONDITIONAL = frozenset(("len", "bool", "range", "dict", "list", "set"))
"""Builtins in conditions that are false."""


def _dead_error(before: str, after: str, old: list[ast.AST], new: list[ast.AST]) -> str:
    """What code that never runs may change all the same, by being there; empty where it changes nothing.

    Only what was put in is looked at. A function with `yield` is a generator; a name that is bound somewhere in a
    function is local in all of it.
    """
    was = Counter(map(type, old))
    for kind, count in Counter(map(type, new)).items():
        if count > was[kind] and not _may_be_dead(kind):
            return f"dead code has {kind.__name__.lower()}, which may change what is around it"
    if any(isinstance(part, ast.Return | ast.Break | ast.Continue) for part in new):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(after, "mutated", "exec", dont_inherit=True)
        except (SyntaxError, ValueError) as error:
            return f"does not compile: {error}"
    bound = _bound(new)
    read = {part.id for part in new if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}
    if unknown := sorted(read - bound - BUILTINS - words_of(before)):
        return f"dead code reads {unknown[0]!r}, which is nowhere"
    if own := sorted(read & CONDITIONAL & words_of(before) & _all_bound(before)):
        return f"dead code relies on {own[0]!r}, which the program binds"
    if words_of(before).isdisjoint(bound):
        return ""
    return "" if _variables(before) == _variables(after) else "dead code binds a name that the program has elsewhere"


def _may_be_dead(kind: type[ast.AST]) -> bool:
    """Whether code that never runs may have parts of this kind: statements of the list, expressions without effects on
    names."""
    if issubclass(kind, ast.stmt):
        return issubclass(kind, DEAD_STATEMENTS)
    barred = ast.NamedExpr | ast.Yield | ast.YieldFrom | ast.Await | ast.ExceptHandler | ast.alias | ast.pattern
    return not issubclass(kind, barred)


@lru_cache(maxsize=256)
def _all_bound(code: str) -> frozenset[str]:
    """All names that a program binds somewhere; all that matter where it does not say which."""
    found = {name for scope in names_of(tree_of(code)).scopes for name in scope.bound}
    return frozenset(found | CONDITIONAL if "*" in found else found)


def _bound(parts: Sequence[ast.AST]) -> set[str]:
    """Names that parts of a program bind, in whatever way."""
    found = set()
    for part in parts:
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            found.add(part.id)
        elif isinstance(part, ast.alias):
            found.add((part.asname or part.name).split(".")[0])
        else:  # functions, classes, `except … as`, patterns
            found |= {name for name in (getattr(part, "name", None), getattr(part, "rest", None)) if name}
    return found


@lru_cache(maxsize=256)
def _variables(code: str) -> list[int]:
    """For each name in code that may run, in order, which variable it stands for: scopes numbered as they appear."""
    tree = tree_of(code)
    names = names_of(tree)
    dead = {id(part) for part in _remove_dead(tree)}
    numbers: dict[object, int] = {}
    return [
        numbers.setdefault(id(scope) if (scope := names.binding(one)) is not None else None, len(numbers))
        for one in names.occurrences
        if id(one.node) not in dead
    ]


def _never_runs(node: ast.stmt) -> bool:
    """A condition or a loop without `else` whose body is never entered."""
    if isinstance(node, ast.If | ast.While):
        return not node.orelse and _never(node.test)
    if not isinstance(node, ast.For) or node.orelse:
        return False
    if isinstance(node.iter, ast.List | ast.Tuple | ast.Dict):
        return not (node.iter.keys if isinstance(node.iter, ast.Dict) else node.iter.elts)
    if isinstance(node.iter, ast.Constant):
        return node.iter.value in ("", b"")
    return isinstance(node.iter, ast.Call) and ast.unparse(node.iter) in ("range(0)", "dict()", "list()", "set()")


def _never(test: ast.expr) -> bool:
    """Whether a condition of written-out values is false. Nothing is evaluated that is not a value."""
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.Or):
            return all(_never(value) for value in test.values)
        for value in test.values:  # what stands behind the first false part is never evaluated
            if _never(value):
                return True
            if _value(value) is None:
                return False
        return False
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        value = _value(test.operand)
        return value is not None and bool(value)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        one, two = _value(test.left), _value(test.comparators[0])
        compare = COMPARED.get(type(test.ops[0]))
        if compare is None or one is None or two is None:
            return False
        try:
            return not compare(one, two)
        except TypeError:
            return False
    value = _value(test)
    return value is not None and not value


COMPARED: Mapping[type[ast.cmpop], Any] = {
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge, ast.In: lambda one, two: one in two},
}


def _value(node: ast.expr) -> Any:
    """The value that a part of a condition writes out, its length counted where `len` is called; None for others."""
    if isinstance(node, ast.Constant) and node.value is None:
        return False  # as a condition the same
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1 and not node.keywords:
        value = _value(node.args[0])
        if node.func.id == "len" and hasattr(value, "__len__"):
            return len(value)
        return bool(value) if node.func.id == "bool" and value is not None else None
    try:
        return literal_of(node).value
    except NotLiteral:
        return None


@lru_cache(maxsize=256)
def _java_form(code: str, parts: tuple[str, ...]) -> object:
    """What a mutation must not change in a program."""
    return _java_shape(java_root(code), parts, {})


def _java_shape(node: Node, parts: tuple[str, ...], numbers: dict[str, int]) -> tuple[Any, ...] | str:
    """A tree of types and texts, without comments; for names with identifiers numbered as they appear; for dead code
    without blocks under a condition that is always false; for functions with the members of classes sorted."""
    if not node.children:
        text = text_of(node)
        if "names" in parts and node.type == "identifier":
            text = str(numbers.setdefault(text, len(numbers)))
        return f"{node.type}:{text}"
    shapes = [
        _java_shape(child, parts, numbers)
        for child in node.children
        if "comment" not in child.type and not ("dead_code" in parts and _java_dead(child))
    ]
    if "functions" in parts and node.type in JAVA_CLASSES:
        shapes.sort(key=repr)
    return (node.type, *shapes)


def _java_dead_error(before: str, after: str) -> str:
    """Whether code that never runs declares a variable whose name the program has."""
    taken = sorted((_java_declared(java_root(after)) - _java_declared(java_root(before))) & words_of(before))
    return f"dead code declares {taken[0]!r}, which the program has" if taken else ""


def _java_declared(root: Node) -> set[str]:
    """Variables that dead code declares."""
    return {
        text_of(part.child_by_field_name("name"))
        for node in nodes(root)
        if _java_dead(node)
        for part in nodes(node)
        if part.type == "variable_declarator"
    }


def _java_dead(node: Node) -> bool:
    """A condition without `else` or a loop whose body is never entered, by its text."""
    if node.type not in ("if_statement", "for_statement") or node.child_by_field_name("alternative") is not None:
        return False
    text = re.sub(r"\s+", "", text_of(node.child_by_field_name("condition")))
    if node.type == "for_statement":
        start = re.search(r"=\s*(-?\d+)\s*;", text_of(node))
        bound = re.fullmatch(r"\w+<(-?\d+)", text)
        return bool(start and bound and int(bound[1]) <= int(start[1]))
    text = text.removeprefix("(").removesuffix(")")
    if text in ("false", "!true", "Boolean.FALSE") or text.startswith("false&&"):
        return True
    if re.fullmatch(r'"[^"]+"\.isEmpty\(\)', text):
        return True
    compared = re.fullmatch(r"(-?\d+)(<|<=|>|>=|==|!=)(-?\d+)", re.sub(r'^""\.length\(\)(?=>0$|>=|!=)', "0", text))
    return compared is not None and not JAVA_COMPARED[compared[2]](int(compared[1]), int(compared[3]))


JAVA_COMPARED: Mapping[str, Any] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
}
