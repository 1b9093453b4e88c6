"""What an answer to "for which input?" may be: a call of the function, or its arguments, and nothing that can act.

Arguments are values that are written out, or expressions of a closed kind: values, operators, comprehensions,
lambdas, some functions without side effects, methods of built-in types. CRUXEval's own inputs need that much
(`''.join(['A'] * 20)`, `lambda x: x < 2`). No name reaches beyond them, and no attribute leads from a value to the
interpreter, so nothing in an answer can touch the process that reports the function's value.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
from typing import Any, NamedTuple

from codestress.literals import (
    ITEMS,
    LONGEST_SEQUENCE,
    NotLiteral,
    literal_of,
    parse_expression,
    parse_literal,
    parse_program,
    same_value,
)
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
    *(ast.Attribute, ast.Call, ast.keyword, ast.Store),
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
    call = _call(text, problem)
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    parts = [item.value if isinstance(item, ast.Starred | ast.keyword) else item for item in given]
    try:
        values, unresolved = literal_of(ast.Tuple(parts, ast.Load()))  # one text, one bound on what it makes
    except NotLiteral:
        return _closed(call, problem)
    positional: list[Any] = []
    named: list[tuple[str, Any]] = []
    for item, value in zip(given, values, strict=True):
        if isinstance(item, ast.Starred):
            if not isinstance(value, ITEMS) or len(value) > LONGEST_SEQUENCE:
                raise NotArguments("* of something that has no order, or of too much")
            positional += value
        elif not isinstance(item, ast.keyword):
            positional.append(value)
        elif item.arg is not None:
            named.append((item.arg, value))
        elif isinstance(value, dict) and all(isinstance(key, str) for key in value):
            named += value.items()
        else:
            raise NotArguments("** of something that does not name arguments")
    keywords = dict(named)
    if len(keywords) < len(named):
        raise NotArguments("an argument that is given twice")
    return Arguments(tuple(positional), keywords, unresolved)


def _call(text: str, problem: Problem) -> ast.Call:
    """The one call that the whole text is: its arguments alone are taken as between the parentheses, and an assertion
    that the call returns the problem's output as that call."""
    stripped = text.strip()
    if not stripped:
        raise NotArguments("no answer")
    why = ""
    for source in (re.sub(r"^assert\b", "", stripped), f"{problem.function}({stripped}\n)"):
        try:
            node = parse_expression(source)
        except NotLiteral as error:
            why = str(error)
            continue
        if isinstance(node, ast.Compare) and _is_output(node, problem):
            node = node.left
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == problem.function:
            return node
        why = f"not a call of {problem.function}"
    raise NotArguments(why)


def _is_output(comparison: ast.Compare, problem: Problem) -> bool:
    """Whether a comparison is `… == VALUE`, and the value the problem's."""
    try:
        said = [literal_of(other).value for other in comparison.comparators]
        wanted = parse_literal(problem.output).value
    except NotLiteral:
        return False
    return isinstance(comparison.ops[0], ast.Eq) and len(said) == 1 and same_value(said[0], wanted)


def _closed(call: ast.Call, problem: Problem) -> str:
    """The source of a call whose arguments are expressions of the closed kind."""
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        raise NotArguments("* or ** of what is not written out")
    try:
        closing = _Closing(call, problem.code)
        call.args = [closing.visit(item) for item in call.args]
        for item in call.keywords:
            item.value = closing.visit(item.value)
        return ast.unparse(call)
    except (RecursionError, ValueError) as error:
        raise NotArguments(str(error)) from None


class _Closing(ast.NodeTransformer):
    """Refuses what is not of the closed kind.

    A name to which the program gives a written-out value becomes that value, so that an answer cannot change it. One
    that a lambda or a comprehension binds is renamed: beside them it is nothing, where `exec` would be the builtin.
    """

    def __init__(self, call: ast.Call, code: str) -> None:
        names = (part for part in ast.walk(call) if isinstance(part, ast.arg | ast.Name))
        self.bound = {
            part.arg if isinstance(part, ast.arg) else part.id
            for part in names
            if isinstance(part, ast.arg) or isinstance(part.ctx, ast.Store)
        }
        self.values = _constants(code)
        self.own = "own_"
        while self.own in code:
            self.own = f"o{self.own}"

    def visit(self, node: ast.AST) -> Any:
        match node:
            case ast.arg(arg=name):
                return ast.arg(self.own + name)
            case ast.Name(id=name):
                if name in self.bound:
                    return ast.Name(self.own + name, node.ctx)
                if name not in self.values and name not in FUNCTIONS:
                    raise NotArguments(f"the name {name}, which an argument may not use")
                return self.values.get(name, node)
            case ast.Attribute(attr=name) if name not in METHODS:
                raise NotArguments(f"the attribute {name}, which an argument may not use")
            case ast.Call(func=func) if not isinstance(func, ast.Name | ast.Attribute | ast.Lambda):
                raise NotArguments("a call of something that has no name")
            case ast.Call(func=ast.Lambda() | ast.Name() as func) if getattr(func, "id", "") not in FUNCTIONS:
                for given in node.keywords:  # of a lambda's
                    given.arg = self.own + given.arg if given.arg in self.bound else given.arg
            case ast.comprehension(is_async=1):
                raise NotArguments("async in an argument")
        if not isinstance(node, PLAIN):
            raise NotArguments(f"{type(node).__name__} in an argument")
        return self.generic_visit(node)


def _constants(code: str) -> dict[str, ast.expr]:
    """Names to which the program itself gives a written-out value at its top level, with those values."""
    values: dict[str, ast.expr] = {}
    with contextlib.suppress(SyntaxError):
        for statement in parse_program(code).body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in vars(builtins):
                    with contextlib.suppress(NotLiteral):
                        literal_of(value)
                        values[name] = value
    return values
