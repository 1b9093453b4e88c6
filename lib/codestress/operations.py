"""Operations that the text of a literal may contain: arithmetic, and calls of Python's
data types.

The functions raise `ValueError` with the reason for any other operation, and for one
that makes a huge value.
"""

import ast
import operator
from collections.abc import Callable
from itertools import chain
from typing import Any

LARGEST_BITS = 50_000
"""Largest number of bits in an integer that arithmetic may make."""
Number = int | float | complex
OPERATORS: dict[str, Callable[..., Any]] = {
    "USub": operator.neg,
    "UAdd": operator.pos,
    "Invert": operator.invert,
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
}


def size(op: ast.operator, left: Any, right: Any) -> int:
    """Return an upper bound on the number of characters in the text of `left` op
    `right`, if + or * joins or repeats sequences.

    The result is 0 for + - * / // % ** between numbers. Raises `ValueError` for other
    operations and for integers of more than `LARGEST_BITS` bits.
    """
    if type(op).__name__ not in OPERATORS:
        raise ValueError("a bit operation in place of a value")
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() + right.bit_length()
        if isinstance(op, ast.Pow):
            bits = left.bit_length() * abs(right)
        if bits > LARGEST_BITS:
            raise ValueError("arithmetic that makes a huge number")
    if isinstance(left, Number) and isinstance(right, Number):
        return 0
    if not isinstance(op, ast.Add | ast.Mult):
        raise ValueError("arithmetic between values that are no numbers")
    characters, times = 0, 1
    for side in (left, right):
        if isinstance(side, int):
            times = max(1, side)
        else:
            characters += len(repr(side))
    return characters * times


ITEMS: set[type] = {list, tuple, str, range}
"""Types whose elements have a fixed order. Sets have none, so a list cannot be made of
a set."""
TYPES: dict[str, tuple[type, set[type]]] = {
    "set": (set, {set, frozenset, *ITEMS}),
    "frozenset": (frozenset, {set, frozenset, *ITEMS}),
    "list": (list, ITEMS),
    "tuple": (tuple, ITEMS),
    "dict": (dict, {dict, list, tuple}),
    "bytes": (bytes, {list, tuple, range, bytes}),
    "range": (range, {int}),
    "float": (float, {bool, int, float, str}),
    "complex": (complex, {bool, int, float}),
}
"""Data types by name, each with the types that an argument may have."""


def constructed(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Return the value of a call of the data type `name` with parsed `arguments` and
    `keywords`, such as `set([1])`.

    Whether a call is permitted depends only on its name and arguments. Raises
    `ValueError` for other names and for arguments of other types.
    """
    if keywords and name != "dict":
        raise ValueError(f"a call of {name} with keywords")
    if name in TYPES:
        kind, types = TYPES[name]
        if name == "dict" and {set, frozenset} & {*map(type, chain(*arguments))}:
            raise ValueError("a set, which has no order, as key and value")
        if {type(argument) for argument in arguments} <= types:
            return kind(*arguments, **keywords)
    raise ValueError(f"a call of {name}")
