"""Values that a text writes out: parsed, never evaluated, and compared by value and type.

An answer is data from a stranger (law 5): nothing in it is executed here, whatever it says.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import warnings
from collections.abc import Callable, Hashable, Sized
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
LONGEST_TEXT = 100_000
"""Characters that are parsed at all."""
LARGEST_BITS = 50_000
"""Of an integer that arithmetic makes."""
LONGEST_SEQUENCE = 100_000
"""Elements that all arithmetic of a text makes together, nested and repeated ones each time they stand there."""

Number = int | float | complex
CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that tell a terminal to do something, or to show a text in another order."""


def printable(text: str) -> str:
    """The text with control characters spelled out, as `repr` does; lines and tabs stay."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


class NotLiteral(ValueError):
    """The text writes out no value; the message says what stands there instead."""


def parse_json(text: str | bytes, *, unique: bool = False, strict: bool = True) -> Any:
    """As `json.loads`; `ValueError` also where it is nested too deeply or, with `unique`, where a key stands twice."""
    try:
        return json.loads(text, strict=strict, object_pairs_hook=_unique if unique else None)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice")
    return found


class Literal(NamedTuple):
    """A value, and whether arithmetic was left in the text (`81 - 43`): semtrace, appendix H and Figure 10."""

    value: Any
    unresolved: bool


def parse_literal(text: str) -> Literal:
    """The value that a text writes out as Python's `repr` would, or as arithmetic between such values.

    So do the types that Python's own data has, called on values: `set([1, 2])`, `dict(a=1)`, `float('inf')`; `nan` and
    `inf` too. `NotLiteral` for anything else: names, other calls, comparisons, f-strings, comprehensions, …
    """
    return literal_of(parse_expression(text))


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of a text that is one expression; `NotLiteral` when it is none, whatever else it is."""
    if len(text) > LONGEST_TEXT:
        raise NotLiteral(f"longer than {LONGEST_TEXT:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models write '\d'
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise NotLiteral(f"not an expression: {error}") from None


def parse_program(text: str) -> ast.Module:
    """The syntax tree of a Python program; `SyntaxError` where it is none, whatever else is wrong with it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (ValueError, MemoryError, RecursionError) as error:
        raise SyntaxError(str(error)) from None


def literal_of(node: ast.expr) -> Literal:
    """The value of a syntax tree, as in `parse_literal`."""
    unresolved = False
    left_over = LONGEST_SEQUENCE

    def value(node: ast.expr) -> Any:
        nonlocal unresolved, left_over
        match node:
            case ast.Constant():
                return node.value
            case ast.List():
                return [value(item) for item in node.elts]
            case ast.Tuple():
                return tuple(value(item) for item in node.elts)
            case ast.Set():
                return {value(item) for item in node.elts}
            case ast.Dict():
                pairs = zip(node.keys, node.values, strict=True)
                return {value(_given(key, "key")): value(item) for key, item in pairs}
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                operand = value(node.operand)
                if not isinstance(operand, Number) or isinstance(operand, bool):
                    raise NotLiteral("a sign before something that is no number")
                return _SIGNS[type(node.op)](operand)
            case ast.BinOp():
                left, right = value(node.left), value(node.right)
                if not _is_complex_form(node, left, right):
                    unresolved = True
                left_over -= _size(node.op, left, right)
                if left_over < 0:
                    raise NotLiteral("arithmetic that makes a huge value")
                return _OPERATORS[type(node.op)](left, right)
            case ast.Call(func=ast.Name(id=name)):
                arguments = [value(item) for item in node.args]
                left_over -= sum(len(one) for one in arguments if isinstance(one, Sized))
                if left_over < 0:
                    raise NotLiteral("a call that makes a huge value")
                names = [_given(item.arg, "keyword") for item in node.keywords]
                if len(set(names)) < len(names):
                    raise NotLiteral("a keyword that is given twice")
                return _constructed(
                    name, arguments, {n: value(k.value) for n, k in zip(names, node.keywords, strict=True)}
                )
            case ast.Name(id="nan" | "inf"):
                return float(node.id)
        raise NotLiteral(f"{_KINDS.get(type(node), type(node).__name__)} in place of a value")

    try:
        return Literal(value(node), unresolved)
    except (TypeError, ValueError, ArithmeticError, RecursionError, MemoryError) as error:
        raise NotLiteral(str(error)) from None


_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_KINDS = {
    ast.Name: "a name",
    ast.Call: "a call",
    ast.Compare: "a comparison",
    ast.BoolOp: "and/or",
    ast.JoinedStr: "an f-string",
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment",
    ast.Attribute: "an attribute",
    ast.Subscript: "an index",
    ast.Starred: "a starred expression",
    ast.IfExp: "a condition",
}


def _given(what: T | None, place: str) -> T:
    if what is None:
        raise NotLiteral(f"** in place of a {place}")
    return what


def _is_complex_form(node: ast.BinOp, left: object, right: object) -> bool:
    """`1+2j` is how Python writes a complex number."""
    return isinstance(node.op, ast.Add | ast.Sub) and isinstance(right, complex) and type(left) in (int, float)


def _size(op: ast.operator, left: Any, right: Any) -> int:
    """Elements at most of what + - * / // % ** between numbers, or + and * of sequences, would make."""
    if type(op) not in _OPERATORS:
        raise NotLiteral("a bit operation in place of a value")
    sides = (left, right)
    if all(isinstance(side, Number) for side in sides):
        if all(isinstance(side, int) for side in sides):
            bits = [int(side).bit_length() for side in sides]
            size = bits[0] * abs(int(right)) if isinstance(op, ast.Pow) else sum(bits)
            if size > LARGEST_BITS:
                raise NotLiteral("arithmetic that makes a huge number")
            return size // 64
        return 0
    sequences = [side for side in sides if isinstance(side, str | bytes | list | tuple)]
    times = next((int(side) for side in sides if isinstance(side, int)), 1)
    if not sequences or not isinstance(op, ast.Add | ast.Mult):
        raise NotLiteral("arithmetic between values that are no numbers")
    return sum(map(_elements, sequences)) * max(1, times)


def _elements(value: Any) -> int:
    """Elements in a value, nested ones included: a list repeated in a list is small in memory, not when it is read."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return len(value) + sum(map(_elements, value)) + sum(map(_elements, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return len(value) + sum(map(_elements, value))
    return value.bit_length() // 64 if isinstance(value, int) else 0


ITEMS = (list, tuple, str, range)
"""What has an order that a reader can tell; sets have none, so no list is made of them."""


def _constructed(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Values written as a call of their type, of values alone: nothing that these do depends on anything else."""
    match name, arguments:
        case "dict", [] | [dict()]:
            return dict(*arguments, **keywords)
        case "dict", [list() | tuple() as pairs] if all(isinstance(one, list | tuple) for one in pairs):
            return dict(pairs, **keywords)
        case _ if keywords:
            raise NotLiteral(f"a call of {name} with keywords")
        case "set" | "frozenset" | "list" | "tuple" | "bytes", []:
            return _COLLECTIONS[name]()
        case "set" | "frozenset", [set() | frozenset() as items]:
            return _COLLECTIONS[name](items)
        case "set" | "frozenset" | "list" | "tuple", [items] if isinstance(items, ITEMS):
            return _COLLECTIONS[name](items)
        case "bytes", [list() | tuple() | range() | bytes() as items]:
            return bytes(items)
        case "range", [int(), *_] if all(type(item) is int for item in arguments) and len(arguments) <= 3:
            return range(*arguments)
        case "float", [int() | float() | str() as number]:
            return float(number)
        case "complex", [int() | float(), *_] if all(isinstance(item, int | float) for item in arguments):
            return complex(*arguments)
    raise NotLiteral(f"a call of {name}")


_COLLECTIONS: dict[str, Callable[..., Any]] = {
    **{"set": set, "frozenset": frozenset, "list": list, "tuple": tuple, "bytes": bytes}
}


def same_value(one: object, other: object) -> bool:
    """Equal in value and in type at every depth, where Python's == would blur: True is not 1, and 1 is not 1.0.

    nan equals itself, 0.0 equals -0.0, and the order of dictionaries and sets does not matter.
    """
    try:
        return canonical(one) == canonical(other)
    except (RecursionError, TypeError):
        return False


def canonical(value: object) -> Hashable:
    """A form of plain data that is equal just when the values are the same: hashable, so that sets compare."""
    if isinstance(value, float):
        return ("float", "nan") if math.isnan(value) else ("float", value)
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(map(canonical, value)))
    if isinstance(value, set | frozenset):
        return (type(value).__name__, frozenset(map(canonical, value)))
    if isinstance(value, dict):
        return ("dict", frozenset((canonical(key), canonical(item)) for key, item in value.items()))
    if isinstance(value, complex):
        return ("complex", canonical(value.real), canonical(value.imag))
    return (type(value).__name__, value)
