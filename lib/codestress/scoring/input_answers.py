"""What an answer to "for which input?" may be: a call of the function, or its arguments, and nothing that can act.

Arguments are values that are written out, or expressions of a closed kind: values, operators, comprehensions,
lambdas, some functions without side effects, methods of built-in types. CRUXEval's own inputs need that much
(`''.join(['A'] * 20)`, `lambda x: x < 2`). No name reaches beyond them, and no attribute leads from a value to the
interpreter, so nothing in an answer can touch the process that reports the function's value.
"""

from __future__ import annotations

import ast
import builtins
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from codestress.literals import NotLiteral, literal_of, parse_expression
from codestress.problems.program import Problem

FUNCTIONS = frozenset(
    """
    abs all any bin bool bytes chr complex dict divmod enumerate filter float frozenset hex int len list map max min
    oct ord pow range repr reversed round set slice sorted str sum tuple zip
    """.split()  # noqa: SIM905
)
TYPES = (str, bytes, int, float, complex, list, tuple, dict, set, frozenset, range)
METHODS = frozenset(name for kind in TYPES for name in dir(kind) if not name.startswith("_")) - {"format", "format_map"}
"""Formatting reads attributes by name, so it is not among them."""
PLAIN = (
    *(ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(ast.Subscript, ast.Slice, ast.Starred, ast.Load, ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Lambda, ast.arguments, ast.arg),
    *(ast.keyword, ast.Store),
)


class NotArguments(ValueError):
    """The answer is no call, or holds something that may not be run; the message says what."""


class Arguments(NamedTuple):
    """Arguments that are written out: data."""

    positional: tuple[Any, ...]
    keywords: dict[str, Any]
    unresolved: bool


def parse_arguments(text: str, problem: Problem) -> Arguments | str:
    """The arguments of an answer where they are data, else the source of a call that may be run as it is."""
    call = _call(text, problem.function)
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        raise NotArguments("* or ** in the call")
    try:
        positional = [literal_of(item) for item in call.args]
        keywords = {item.arg or "": literal_of(item.value) for item in call.keywords}
    except NotLiteral:
        for part in (*call.args, *(item.value for item in call.keywords)):
            _check(part, frozenset(FUNCTIONS | _constants(problem.code)))
        try:
            return ast.unparse(call)
        except (RecursionError, ValueError) as error:
            raise NotArguments(str(error)) from None
    if len(keywords) < len(call.keywords):
        raise NotArguments("an argument that is given twice")
    return Arguments(
        tuple(item.value for item in positional),
        {name: item.value for name, item in keywords.items()},
        any(item.unresolved for item in (*positional, *keywords.values())),
    )


def _call(text: str, function: str) -> ast.Call:
    """The one call that the whole text is, its arguments alone being taken as between the parentheses."""
    stripped = text.strip()
    if not stripped:
        raise NotArguments("no answer")
    problem = ""
    for source in (stripped, f"{function}({stripped}\n)"):
        try:
            node = parse_expression(source)
        except NotLiteral as error:
            problem = str(error)
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
            return node
        problem = f"not a call of {function}"
    raise NotArguments(problem)


def _check(node: ast.expr, names: frozenset[str]) -> None:
    """Raises where an expression holds anything outside the closed kind."""
    bound = names | set(_bound(node))
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            if part.id not in bound:
                raise NotArguments(f"the name {part.id}, which an argument may not use")
        elif isinstance(part, ast.Attribute):
            if part.attr not in METHODS:
                raise NotArguments(f"the attribute {part.attr}, which an argument may not use")
        elif isinstance(part, ast.Call):
            if not isinstance(part.func, ast.Name | ast.Attribute | ast.Lambda):
                raise NotArguments("a call of something that has no name")
        elif not isinstance(part, PLAIN) or (isinstance(part, ast.comprehension) and part.is_async):
            raise NotArguments(f"{type(part).__name__} in an argument")


def _bound(node: ast.expr) -> Iterator[str]:
    """Names that lambdas and comprehensions in an expression bind."""
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


@lru_cache(maxsize=4096)
def _constants(code: str) -> frozenset[str]:
    """Names to which the program itself gives a written-out value at its top level."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            body = ast.parse(code).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset()
    names = set()
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id not in vars(builtins):
                try:
                    literal_of(statement.value)
                except NotLiteral:
                    continue
                names.add(target.id)
    return frozenset(names)
