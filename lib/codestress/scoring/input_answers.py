"""What an answer to "for which input?" may be: a call of the function, or its arguments, and nothing that can act.

Arguments are values that are written out, or expressions of a closed kind: values, operators, comprehensions,
lambdas, some functions without side effects, methods of built-in types. CRUXEval's own inputs need that much
(`''.join(['A'] * 20)`, `lambda x: x < 2`). No name reaches beyond them, and no attribute leads from a value to the
interpreter, so nothing in an answer can touch the process that reports the function's value.
"""

from __future__ import annotations

import ast
import builtins
import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
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
    call = _call(text, problem)
    starred = [isinstance(item, ast.Starred) for item in call.args] + [item.arg is None for item in call.keywords]
    parts = [item.value if isinstance(item, ast.Starred) else item for item in call.args]
    parts += [item.value for item in call.keywords]
    try:
        values, unresolved = literal_of(ast.Tuple(parts, ast.Load()))  # one text, one bound on what it makes
    except NotLiteral:
        if any(starred):
            raise NotArguments("* or ** of what is not written out") from None
        try:
            constants = _constants(problem.code)
            bound = {name for part in parts for name in _bound(part)}
            for part in parts:
                _check(part, FUNCTIONS | (constants.keys() - bound))
            return ast.unparse(_WrittenOut({n: v for n, v in constants.items() if n not in bound}).visit(call))
        except (RecursionError, ValueError) as error:
            raise NotArguments(str(error)) from None
    count = len(call.args)
    positional = [
        _spread_out(value) if star else (value,) for value, star in zip(values[:count], starred, strict=False)
    ]
    named = [
        _pairs(value) if item.arg is None else [(item.arg, value)]
        for value, item in zip(values[count:], call.keywords, strict=True)
    ]
    keywords = dict(itertools.chain(*named))
    if len(keywords) < sum(map(len, named)):
        raise NotArguments("an argument that is given twice")
    return Arguments(tuple(itertools.chain(*positional)), keywords, unresolved)


def _spread_out(value: Any) -> Sequence[Any]:
    if not isinstance(value, ITEMS) or len(value) > LONGEST_SEQUENCE:
        raise NotArguments("* of something that has no order, or of too much")
    return value


def _pairs(value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise NotArguments("** of something that does not name arguments")
    return list(value.items())


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


def _check(node: ast.AST, names: frozenset[str]) -> None:
    """Raises where an expression holds anything outside the closed kind; `names` are those that it sees.

    A name that a lambda or a comprehension binds is seen inside it alone: beside it, `exec` is the builtin again.
    """
    if isinstance(node, ast.Lambda):
        _check(node.args, names)  # the defaults
        _check(node.body, names | {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)})
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
        _check_comprehension(node, names)
    elif isinstance(node, ast.Name):
        if node.id not in names:
            raise NotArguments(f"the name {node.id}, which an argument may not use")
    else:
        if isinstance(node, ast.Attribute):
            if node.attr not in METHODS:
                raise NotArguments(f"the attribute {node.attr}, which an argument may not use")
        elif isinstance(node, ast.Call):
            if not isinstance(node.func, ast.Name | ast.Attribute | ast.Lambda):
                raise NotArguments("a call of something that has no name")
        elif not isinstance(node, PLAIN):
            raise NotArguments(f"{type(node).__name__} in an argument")
        for part in ast.iter_child_nodes(node):
            _check(part, names)


def _check_comprehension(
    node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, names: frozenset[str]
) -> None:
    for loop in node.generators:
        if loop.is_async:
            raise NotArguments("async in an argument")
        _check(loop.iter, names)
        names |= {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name) and _binds(part)}
        for part in (loop.target, *loop.ifs):
            _check(part, names)
    for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
        _check(part, names)


def _binds(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _bound(node: ast.AST) -> Iterator[str]:
    """All names that lambdas and comprehensions in an expression bind."""
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            yield part.arg
        elif isinstance(part, ast.Name) and _binds(part):
            yield part.id


class _WrittenOut(ast.NodeTransformer):
    """Puts values in the place of names, so that an answer cannot change what the program has under them."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


@lru_cache(maxsize=4096)
def _constants(code: str) -> dict[str, ast.expr]:
    """Names to which the program itself gives a written-out value at its top level, with those values."""
    try:
        body = parse_program(code).body
    except SyntaxError:
        return {}
    values: dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id not in vars(builtins):
                try:
                    literal_of(statement.value)
                except NotLiteral:
                    continue
                values[target.id] = statement.value
    return values
