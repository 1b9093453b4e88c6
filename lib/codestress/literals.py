"""Python values that a text writes out: parsed, never evaluated, and compared by value and type.

A completion is untrusted data (law 5 of docs/architecture.md), so no part of it is executed here.
"""

import ast
import json
import math
import re
import sys
import warnings
from collections.abc import Hashable, Sized
from types import EllipsisType
from typing import Any, NamedTuple

from .operations import OPERATORS, constructed, signed, size

LONGEST_TEXT = 100_000
"""Largest number of characters in a text that is parsed."""
LONGEST_SEQUENCE = 100_000
"""Bound on what one text may make: characters that would write out the sequences of its arithmetic,
and elements that its calls take."""

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
    return CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], text)


def counted(number: int, noun: str) -> str:
    """Return the number and its noun in words: `1 model`, `2,000 models`, `0 models`."""
    ending = "" if number == 1 else "s"
    return f"{number:,} {noun}{ending}"


class NotLiteral(ValueError):
    """Raised when a text writes out no value; the message names the syntax found in its place."""


def parse_json(text: str | bytes, *, unique: bool = False) -> Any:
    """Return the value of the JSON in `text`, like `json.loads`; `ValueError` for invalid JSON and
    for nesting that is too deep.

    With `unique`, a key that appears twice in an object is a `ValueError` too.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique if unique else None)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict[str, Any]()
    for name, value in pairs:
        if name in content:
            raise ValueError(f"the key {name!r} appears twice")
        content[name] = value
    return content


def reason_of(error: BaseException) -> str:
    """Reason, in words, why a text cannot be read, from one of the errors `UNREADABLE`, with the line
    of the program where the error has one; the message of any other error."""
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
    line = (error.text or "").strip()
    if COMMAND.match(line):
        return f"{_place(error)}a notebook's command ({line:.20}), no Python"
    major, minor = sys.version_info[:2]
    return f"{_place(error)}{error.msg} (Python {major}.{minor})"


def odd_character(text: str) -> str:
    """Sentence that names the first character of `text` that no program may hold, with its line;
    empty without one. Such are NUL and lone surrogates, among them bytes that were not UTF-8."""
    odd = re.search("[\0\ud800-\udfff]", text)
    if odd is None:
        return ""
    number = text.count("\n", 0, odd.start()) + 1
    name = f"U+{ord(odd[0]):04X}"
    return f"line {number}: the character {name}, which no program may hold"


class Literal(NamedTuple):
    """A parsed value, and whether its text left arithmetic in (its `unresolved`), such as `81 - 43`
    (semtrace, appendix H, Figure 10)."""

    value: Any
    unresolved: bool


def parse_literal(text: str) -> Literal:
    """Return the `Literal` of `text`: the value that it writes out as Python's `repr` does, or as
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
        with warnings.catch_warnings(action="ignore"):  # models write '\d'
            return ast.parse(text.strip(), mode="eval").body
    except UNREADABLE as error:
        raise NotLiteral(f"not an expression: {reason_of(error)}") from None


def parse_program(text: str) -> ast.Module:
    """Syntax tree of `text`, a Python program; `SyntaxError` with the reason (`program_fault`) for
    a text that does not parse."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except UNREADABLE as error:
        raise SyntaxError(program_fault(text, error)) from None


def literal_of(node: ast.expr) -> Literal:
    """Return the `Literal` of the expression whose syntax tree is `node`: its value, and whether
    there was arithmetic. `parse_literal` says which expressions have one; `NotLiteral` for all
    others."""
    reading = _Reading()
    try:
        value = reading.value(node)
    except (TypeError, ArithmeticError, *UNREADABLE) as error:
        raise NotLiteral(reason_of(error)) from None
    return Literal(value, reading.unresolved)


class _Reading:
    """The reading of one text's value: whether there was arithmetic, and how much its
    arithmetic and calls may still make."""

    unresolved = False
    left = LONGEST_SEQUENCE

    def value(self, node: ast.expr) -> Any:
        """Return the value of the expression `node`; `NotLiteral` where it has none."""
        match node:
            case ast.Constant(EllipsisType()):
                raise NotLiteral("... in place of a value")
            case ast.Constant():
                return node.value
            case ast.List():
                return list(map(self.value, node.elts))
            case ast.Tuple():
                return tuple(map(self.value, node.elts))
            case ast.Set():
                return set(map(self.value, node.elts))
            case ast.Dict():
                return dict(map(self.pair, node.keys, node.values))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                return signed(node.op, self.value(node.operand))
            case ast.BinOp():
                left, right = self.value(node.left), self.value(node.right)
                return self.operation(node.op, left, right)
            case ast.Call(func=ast.Name(id=name)):
                return self.call(name, node)
            case ast.Name(id="nan" | "inf"):
                return float(node.id)
        kind = _KINDS.get(type(node), type(node).__name__)
        raise NotLiteral(f"{kind} in place of a value")

    def pair(self, key: ast.expr | None, item: ast.expr) -> tuple[Any, Any]:
        if key is None:
            raise NotLiteral("** unpacks a value where a key must be written out")
        return self.value(key), self.value(item)

    def operation(self, op: ast.operator, left: Any, right: Any) -> Any:
        # A sum with a complex number is how Python writes complex numbers (`1+2j`).
        parts = type(left) in (int, float) and isinstance(right, complex)
        if not parts or not isinstance(op, ast.Add | ast.Sub):
            self.unresolved = True
        self.take(size(op, left, right), "arithmetic")
        return OPERATORS[type(op)](left, right)

    def call(self, name: str, node: ast.Call) -> Any:
        arguments = [self.value(item) for item in node.args]
        sizes = [len(item) for item in arguments if isinstance(item, Sized)]
        self.take(sum(sizes), "a call")
        keywords = {
            item.arg: self.value(item.value) for item in node.keywords if item.arg
        }
        if len(keywords) < len(node.keywords):
            raise NotLiteral("** in place of keywords, or one that is given twice")
        return constructed(name, arguments, keywords)

    def take(self, elements: int, source: str) -> None:
        self.left -= elements
        if self.left < 0:
            raise NotLiteral(f"{source} that makes a huge value")


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
    """Return `value` as text of at most 200 characters, by `repr`; a value that has no such text,
    as an integer beyond Python's limit of digits, is named by its type."""
    try:
        text = repr(value)
    except UNREADABLE:
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= 200 else f"{text[:197]}…"


def same_value(value: object, other: object) -> bool:
    """Whether `value` and `other` are equal in value and in type at every depth. Python's
    == does not separate types: here True is not 1, and 1 is not 1.0.

    nan equals itself, 0.0 equals -0.0, and the order of dictionaries and sets does not matter.
    False also for values that are nested too deeply or hold something unhashable.
    """
    try:
        return canonical(value) == canonical(other)
    except (RecursionError, TypeError):
        return False


def canonical(value: object) -> Hashable:
    """Hashable form of `value`, which is plain data (numbers, texts, lists, dictionaries, …). Two
    forms are equal exactly when `same_value` holds for their values, so that sets of values can be
    compared. `RecursionError` for nesting that is too deep."""
    form: Any = value
    if isinstance(value, float) and math.isnan(value):
        form = "nan"
    elif isinstance(value, list | tuple):
        form = tuple(map(canonical, value))
    elif isinstance(value, set | frozenset):
        form = frozenset(map(canonical, value))
    elif isinstance(value, dict):
        form = frozenset(map(canonical, value.items()))
    elif isinstance(value, complex):
        form = canonical((value.real, value.imag))
    return (type(value).__name__, form)
