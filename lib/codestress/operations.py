"""Operations in the text of a literal: arithmetic, and calls of Python's data types.

A text that asks for more than such values, or for huge ones, raises `ValueError`, which says why.
"""

import ast
import operator
from collections.abc import Callable
from typing import Any

LARGEST_BITS = 50_000
"""Largest number of bits in an integer that arithmetic makes."""
Number = int | float | complex
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


def signed(op: ast.unaryop, value: Any) -> Any:
    if not isinstance(value, Number) or isinstance(value, bool):
        raise ValueError("a sign before something that is no number")
    return OPERATORS[type(op)](value)


def size(op: ast.operator, left: Any, right: Any) -> int:
    """Upper bound of the number of characters that write out what the operation `op` makes of the
    sequences `left` and `right` by + or *; 0 for + - * / // % ** between numbers. `ValueError` for
    other operations and for integers of more than `LARGEST_BITS` bits."""
    if type(op) not in OPERATORS:
        raise ValueError("a bit operation in place of a value")
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() + right.bit_length()
        if isinstance(op, ast.Pow):
            bits = left.bit_length() * abs(right)
        if bits > LARGEST_BITS:
            raise ValueError("arithmetic that makes a huge number")
    if isinstance(left, Number) and isinstance(right, Number):
        return 0
    characters, times = 0, 1
    if isinstance(op, ast.Add | ast.Mult):
        for side in (left, right):
            if isinstance(side, int):
                times = max(1, side)
            elif isinstance(side, str | bytes | list | tuple):
                characters += len(repr(side))
    if not characters:
        raise ValueError("arithmetic between values that are no numbers")
    return characters * times


ITEMS = (list, tuple, str, range)
"""Types with a fixed order of their elements. Sets have none, so no list is made of a set."""
TYPES: dict[str, tuple[type, set[type]]] = {
    "set": (set, {set, frozenset, *ITEMS}),
    "frozenset": (frozenset, {set, frozenset, *ITEMS}),
    "list": (list, {*ITEMS}),
    "tuple": (tuple, {*ITEMS}),
    "bytes": (bytes, {list, tuple, range, bytes}),
    "range": (range, {int}),
    "float": (float, {bool, int, float, str}),
    "complex": (complex, {bool, int, float}),
}
"""Data types by name, dictionaries apart, with the types that an argument may have. Those that take
no list are not called without arguments."""


def constructed(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Value of a call of the data type `name` with parsed `arguments` and `keywords`, such as
    `set([1])`; `ValueError` for other names and for arguments of other types. Whether a call is
    permitted depends on its arguments alone."""
    match name, arguments:
        case "dict", [] | [dict()]:
            return dict(*arguments, **keywords)
        case "dict", [list() | tuple() as pairs]:
            if all(isinstance(pair, list | tuple) for pair in pairs):
                return dict(pairs, **keywords)
    if keywords:
        raise ValueError(f"a call of {name} with keywords")
    if name in TYPES:
        kind, types = TYPES[name]
        given = {type(argument) for argument in arguments}
        if given <= types and (given or list in types):
            return kind(*arguments)
    raise ValueError(f"a call of {name}")
