"""Python values that a text writes out: parsed, never evaluated, and compared by value and type.

A completion is untrusted data (law 5 of docs/architecture.md), so no part of it is executed here.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
import sys
import warnings
from collections.abc import Callable, Hashable, Sized
from types import EllipsisType
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
LONGEST_TEXT = 100_000
"""Largest number of characters in a text that is parsed."""
LARGEST_BITS = 50_000
"""Largest number of bits in an integer that arithmetic makes."""
LONGEST_SEQUENCE = 100_000
"""Largest number of elements that all arithmetic and calls of one text make together. Nested and
repeated elements count each time they appear."""

Number = int | float | complex
CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, which make a terminal act or show a text in another order, and surrogates,
which no terminal takes."""
COMMAND = re.compile(r"[%!?]|[\w.]+(, *[\w.]+)* *= *[%!]|[\w.*]+\?{1,2}$")
"""Beginning of a line that notebooks understand and Python does not: `%time f(1)`, `!ls`, `?f`, `f?`,
`a, b = !ls`."""
UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
"""Errors of Python's parser and compiler, and of writing a value or a syntax tree out;
`reason_of` puts them into words."""


def printable(text: str) -> str:
    """Copy of `text` with its control characters spelled out as in `repr`; line breaks and tabs
    stay."""
    return CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def counted(number: int, noun: str) -> str:
    """Returns the number and its noun in words: `1 model`, `2,000 models`, `0 models`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


class NotLiteral(ValueError):
    """Raised when a text writes out no value; the message names the syntax found in its place."""


def parse_json(text: str | bytes, *, unique: bool = False, strict: bool = True) -> Any:
    """Returns the value of the JSON in `text`, like `json.loads`; `ValueError` for invalid JSON and
    for nesting that is too deep.

    With `unique`, a key that appears twice in an object is a `ValueError` too. Unless `strict`,
    texts in the JSON may contain control characters.
    """
    try:
        return json.loads(
            text, strict=strict, object_pairs_hook=_unique if unique else None
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the key {next(name for name in names if names.count(name) > 1)!r} stands twice"
        )
    return found


def reason_of(error: BaseException) -> str:
    """Reason, in words, that one of the errors `UNREADABLE` gives, with the line of the program
    where the error knows it; other errors as their own text."""
    if isinstance(error, MemoryError | RecursionError):
        return "nested too deeply"
    if "integer string conversion" in str(error):
        return f"{_place(error)}an integer of more than {sys.get_int_max_str_digits():,} digits"
    return str(error) or type(error).__name__


def _place(error: BaseException) -> str:
    number = getattr(error, "lineno", None)
    return f"line {number}: " if number else ""


def program_fault(text: str, error: BaseException) -> str:
    """Reason why `text` is no Python program, with the line where it is known, as in `line 2:
    invalid syntax (Python 3.11)`. `error` is what Python's parser or compiler raised."""
    reason = odd_character(text) or reason_of(error)
    if not isinstance(error, SyntaxError) or reason != str(error):
        return reason
    # Not splitlines, which counts form feeds and U+2028 as line ends; Python does not.
    lines = [*re.split("\r\n?|\n", text), ""]
    line = lines[min(error.lineno or 0, len(lines)) - 1].strip()
    if COMMAND.match(line):
        return f"{_place(error)}a notebook's command ({line:.20}), no Python"
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return f"{_place(error)}{error.msg} ({version})"


def odd_character(text: str) -> str:
    """Sentence that names the first character of `text` that no program may hold, with its line;
    empty without one. Such are NUL and lone surrogates, among them bytes that were not UTF-8."""
    found = re.search("[\0\ud800-\udfff]", text)
    if found is None:
        return ""
    number = text.count("\n", 0, found.start()) + 1
    return (
        f"line {number}: the character U+{ord(found[0]):04X}, which no program may hold"
    )


class Literal(NamedTuple):
    """A parsed value, and whether its text left arithmetic in (its `unresolved`), such as `81 - 43`
    (semtrace, appendix H, Figure 10)."""

    value: Any
    unresolved: bool


def parse_literal(text: str) -> Literal:
    """Returns the `Literal` of `text`: the value that it writes out as Python's `repr` does, or as
    arithmetic between such values, and whether there was arithmetic.

    Calls of Python's data types on values are parsed too: `set([1, 2])`, `dict(a=1)`,
    `float('inf')`; so are the names `nan` and `inf`. `NotLiteral` for anything else: other names
    and calls, comparisons, f-strings, comprehensions, …, and for arithmetic that makes huge values.
    """
    return literal_of(parse_expression(text))


def parse_expression(text: str) -> ast.expr:
    """Syntax tree of `text`, a single Python expression; `NotLiteral` for every other text,
    including one that is longer than `LONGEST_TEXT` characters."""
    if len(text) > LONGEST_TEXT:
        raise NotLiteral(f"longer than {LONGEST_TEXT:,} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # models write '\d'
            return ast.parse(text.strip(), mode="eval").body
    except UNREADABLE as error:
        raise NotLiteral(f"not an expression: {reason_of(error)}") from None


def parse_program(text: str) -> ast.Module:
    """Syntax tree of `text`, a Python program; `SyntaxError` with the reason (`program_fault`) for
    a text that does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except UNREADABLE as error:
        raise SyntaxError(program_fault(text, error)) from None


def literal_of(node: ast.expr) -> Literal:
    """Returns the `Literal` of the expression whose syntax tree is `node`: its value, and whether
    there was arithmetic. `parse_literal` says which expressions have one; `NotLiteral` for all
    others."""
    unresolved = False
    left_over = LONGEST_SEQUENCE

    def value(node: ast.expr) -> Any:
        nonlocal unresolved, left_over
        match node:
            case ast.Constant(EllipsisType()):
                raise NotLiteral("... in place of a value")
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
                left_over -= sum(
                    len(one) for one in arguments if isinstance(one, Sized)
                )
                if left_over < 0:
                    raise NotLiteral("a call that makes a huge value")
                names = [_given(item.arg, "keyword") for item in node.keywords]
                if len(set(names)) < len(names):
                    raise NotLiteral("a keyword that is given twice")
                return _constructed(
                    name,
                    arguments,
                    {
                        n: value(k.value)
                        for n, k in zip(names, node.keywords, strict=True)
                    },
                )
            case ast.Name(id="nan" | "inf"):
                return float(node.id)
        raise NotLiteral(
            f"{_KINDS.get(type(node), type(node).__name__)} in place of a value"
        )

    try:
        return Literal(value(node), unresolved)
    except (TypeError, ArithmeticError, *UNREADABLE) as error:
        raise NotLiteral(reason_of(error)) from None


def written_out(value: Any) -> str:
    """Text of `value` by `repr`, for `parse_literal` to read; `NotLiteral` with the reason where
    there is no such text."""
    try:
        text = repr(value)
    except UNREADABLE as error:
        raise NotLiteral(reason_of(error)) from None
    parse_literal(text)
    return text


def shown_value(value: Any) -> str:
    """Returns `value` as text of at most 200 characters, by `repr`; a value that has no such text,
    as an integer beyond Python's limit of digits, is named by its type."""
    try:
        text = repr(value)
    except UNREADABLE:
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= 200 else f"{text[:197]}…"


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
        raise NotLiteral(f"** unpacks a value where a {place} must be written out")
    return what


def _is_complex_form(node: ast.BinOp, left: object, right: object) -> bool:
    """Whether the operation `node` is a complex number as Python writes it (`1+2j`): a sum or
    difference of an integer or float and a complex number. `left` and `right` are its operands'
    values."""
    return (
        isinstance(node.op, ast.Add | ast.Sub)
        and isinstance(right, complex)
        and type(left) in (int, float)
    )


def _size(op: ast.operator, left: Any, right: Any) -> int:
    """Upper bound of the number of elements (`_elements`) that the operation `op` makes from the
    values `left` and `right`: + - * / // % ** between numbers, or + and * of sequences.
    `NotLiteral` for other operations and for integers of more than `LARGEST_BITS` bits."""
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
    """Number of elements in `value`, nested ones included: characters of texts too, and one per 64
    bits of an integer. A list repeated in a list takes little memory, but much time to read."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, dict):
        return (
            len(value)
            + sum(map(_elements, value))
            + sum(map(_elements, value.values()))
        )
    if isinstance(value, list | tuple | set | frozenset):
        return len(value) + sum(map(_elements, value))
    return value.bit_length() // 64 if isinstance(value, int) else 0


ITEMS = (list, tuple, str, range)
"""Types with a fixed order of their elements. Sets have none, so no list is made of a set."""


def _constructed(name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
    """Value of a call of the data type `name` with parsed `arguments` and `keywords`, such as
    `set([1])`; `NotLiteral` for other names and for arguments of other types. Whether a call is
    permitted depends on its arguments alone."""
    match name, arguments:
        case "dict", [] | [dict()]:
            return dict(*arguments, **keywords)
        case "dict", [list() | tuple() as pairs] if all(
            isinstance(one, list | tuple) for one in pairs
        ):
            return dict(pairs, **keywords)
        case _ if keywords:
            raise NotLiteral(f"a call of {name} with keywords")
        case "set" | "frozenset" | "list" | "tuple" | "bytes", []:
            return _COLLECTIONS[name]()
        case "set" | "frozenset", [set() | frozenset() as items]:
            return _COLLECTIONS[name](items)
        case "set" | "frozenset" | "list" | "tuple", [items] if isinstance(
            items, ITEMS
        ):
            return _COLLECTIONS[name](items)
        case "bytes", [list() | tuple() | range() | bytes() as items]:
            return bytes(items)
        case "range", [int(), *_] if (
            all(type(item) is int for item in arguments) and len(arguments) <= 3
        ):
            return range(*arguments)
        case "float", [int() | float() | str() as number]:
            return float(number)
        case "complex", [int() | float(), *_] if all(
            isinstance(item, int | float) for item in arguments
        ):
            return complex(*arguments)
    raise NotLiteral(f"a call of {name}")


_COLLECTIONS: dict[str, Callable[..., Any]] = {
    **{"set": set, "frozenset": frozenset, "list": list, "tuple": tuple, "bytes": bytes}
}


def same_value(one: object, other: object) -> bool:
    """Whether the values `one` and `other` are equal in value and in type at every depth. Python's
    == does not separate types: here True is not 1, and 1 is not 1.0.

    nan equals itself, 0.0 equals -0.0, and the order of dictionaries and sets does not matter.
    False also for values that are nested too deeply or hold something unhashable.
    """
    try:
        return canonical(one) == canonical(other)
    except (RecursionError, TypeError):
        return False


def canonical(value: object) -> Hashable:
    """Hashable form of `value`, which is plain data (numbers, texts, lists, dictionaries, …). Two
    forms are equal exactly when `same_value` holds for their values, so that sets of values can be
    compared. `RecursionError` for nesting that is too deep."""
    if isinstance(value, float):
        return ("float", "nan") if math.isnan(value) else ("float", value)
    if isinstance(value, list | tuple):
        return (type(value).__name__, tuple(map(canonical, value)))
    if isinstance(value, set | frozenset):
        return (type(value).__name__, frozenset(map(canonical, value)))
    if isinstance(value, dict):
        return (
            "dict",
            frozenset((canonical(key), canonical(item)) for key, item in value.items()),
        )
    if isinstance(value, complex):
        return ("complex", canonical(value.real), canonical(value.imag))
    return (type(value).__name__, value)
