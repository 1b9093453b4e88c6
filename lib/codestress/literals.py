"""Python values that a text writes as literals: parsed, never evaluated, and compared
with their types.

A completion is untrusted data (law 5 of docs/architecture.md), so no part of it is
executed here.
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

from .operations import OPERATORS, constructed, size

LONGEST_TEXT = 100_000
"""Largest number of characters in a text that is parsed as an expression."""
LONGEST_SEQUENCE = 100_000
"""Bound on the size of the values that one text may make. The size counts the
characters of sequences that arithmetic makes, and the elements that calls receive."""

CONTROL = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Pattern of control characters, which make a terminal act or show text in another
order, and of surrogates, which a terminal cannot print."""
UNREADABLE = (SyntaxError, ValueError, MemoryError, RecursionError)
"""Errors of Python's parser and compiler, and errors from writing a value or a syntax
tree as text. `reason_of` puts them into words."""


def printable(text: str) -> str:
    """Return a copy of `text` whose control characters are written as escapes, as in
    `repr`; line breaks and tabs stay."""
    return CONTROL.sub(lambda sign: ascii(sign[0])[1:-1], text)


def counted(number: int, noun: str) -> str:
    """Return the number and its noun in words: `1 model`, `2,000 models`, `0 models`."""
    ending = "" if number == 1 else "s"
    return f"{number:,} {noun}{ending}"


class NotLiteral(ValueError):
    """Error for a text that is not a literal value. The message names the syntax that
    stands in place of a value."""


def parse_json(text: str | bytes, *, unique: bool = False) -> Any:
    """Return the value of the JSON in `text`, like `json.loads`.

    Raises `ValueError` for invalid JSON, for JSON that is nested too deeply and, with
    `unique`, for an object in which a key appears twice.
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
    """Return, in words, the reason why a text could not be read, from the `error` that
    was raised.

    For nesting that is too deep and for an integer with too many digits, the reason is
    in plain words, with the integer's line if known. Otherwise the reason is the
    error's own message.
    """
    if isinstance(error, MemoryError | RecursionError):
        return "nested too deeply"
    if "integer string conversion" in str(error):
        return f"{_place(error)}an integer of more than {sys.get_int_max_str_digits():,} digits"
    return str(error) or type(error).__name__


def _place(error: BaseException) -> str:
    number = getattr(error, "lineno", None)
    return f"line {number}: " if number else ""


def program_fault(text: str, error: BaseException) -> str:
    """Return the reason why `text` is not a Python program, with the line if it is
    known, such as `line 2: invalid syntax (Python 3.11)`. `error` was raised by
    Python's parser or compiler."""
    reason = odd_character(text) or reason_of(error)
    if isinstance(error, SyntaxError) and reason == str(error):
        major, minor = sys.version_info[:2]
        return f"{_place(error)}{error.msg} (Python {major}.{minor})"
    return reason


def odd_character(text: str) -> str:
    """Return a phrase that names the first character of `text` that a program must not
    contain, with its line; empty if there is none.

    Such characters are NUL and lone surrogates. Bytes that are not UTF-8 become lone
    surrogates.
    """
    odd = re.search("[\0\ud800-\udfff]", text)
    if odd is None:
        return ""
    number = text.count("\n", 0, odd.start()) + 1
    name = f"U+{ord(odd[0]):04X}"
    return f"line {number}: the character {name}, which no program may hold"


class Literal(NamedTuple):
    """A parsed value, and whether its text contains arithmetic (`unresolved`), such as
    `81 - 43` (Sense and Sensitivity, appendix H, Figure 10)."""

    value: Any
    unresolved: bool


def parse_literal(text: str) -> Literal:
    """Return the `Literal` of `text`: its value, and whether `text` has arithmetic. The
    text must be one that Python's `repr` writes, or arithmetic between such values.

    Calls of Python's data types on values are parsed too: `set([1, 2])`, `dict(a=1)`,
    `float('inf')`. So are the names `nan` and `inf`. Raises `NotLiteral` for anything
    else (other names and calls, comparisons, f-strings, comprehensions, …) and for
    arithmetic that makes huge values.
    """
    return literal_of(parse_expression(text))


def parse_expression(text: str) -> ast.expr:
    """Return the syntax tree of `text`, a single Python expression. Raises `NotLiteral`
    for any other text, and for one longer than `LONGEST_TEXT` characters."""
    if len(text) > LONGEST_TEXT:
        raise NotLiteral(f"longer than {LONGEST_TEXT:,} characters")
    try:
        # Models write invalid escapes such as '\d', which make Python warn.
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text.strip(), mode="eval").body
    except UNREADABLE as error:
        raise NotLiteral(f"not an expression: {reason_of(error)}") from None


def parse_program(text: str) -> ast.Module:
    """Return the syntax tree of `text`, a Python program. Raises `SyntaxError` with the
    reason (`program_fault`) if the text does not parse."""
    try:
        with warnings.catch_warnings(action="ignore"):
            return ast.parse(text)
    except UNREADABLE as error:
        raise SyntaxError(program_fault(text, error)) from None


def literal_of(node: ast.expr) -> Literal:
    """Return the `Literal` of the expression whose syntax tree is `node`: its value,
    and whether it contains arithmetic. `parse_literal` says which expressions have a
    value. Raises `NotLiteral` for any other."""
    reading = _Reading()
    try:
        value = reading.value(node)
    except (TypeError, ArithmeticError, *UNREADABLE) as error:
        raise NotLiteral(reason_of(error)) from None
    return Literal(value, reading.unresolved)


class _Reading:
    """Evaluation of one text as a literal. `unresolved` says whether arithmetic was
    met. `left` is the size of values that arithmetic and calls may still make
    (`LONGEST_SEQUENCE`)."""

    unresolved = False
    left = LONGEST_SEQUENCE

    def value(self, node: ast.expr) -> Any:
        """Return the value of the expression `node`. Raises `NotLiteral` if it has
        none."""
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
                if None in node.keys:
                    raise NotLiteral("** in place of a key that is written out")
                keys = map(self.value, filter(None, node.keys))
                return dict(zip(keys, map(self.value, node.values), strict=True))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert()):
                return OPERATORS[type(node.op).__name__](self.value(node.operand))
            case ast.BinOp():
                left, right = self.value(node.left), self.value(node.right)
                return self.operation(node.op, left, right)
            case ast.Call(func=ast.Name(id=name)):
                return self.call(name, node)
            case ast.Name(id="nan" | "inf"):
                return float(node.id)
        name = type(node).__name__
        raise NotLiteral(f"{_KINDS.get(name, name)} in place of a value")

    def operation(self, op: ast.operator, left: Any, right: Any) -> Any:
        # Python writes complex numbers as a sum (`1+2j`), which is not arithmetic here.
        parts = type(left) in (int, float) and isinstance(right, complex)
        if not parts or not isinstance(op, ast.Add | ast.Sub):
            self.unresolved = True
        self.take(size(op, left, right), "arithmetic")
        return OPERATORS[type(op).__name__](left, right)

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
    "Name": "a name",
    "Call": "a call",
    "Compare": "a comparison",
    "BoolOp": "and/or",
    "JoinedStr": "an f-string",
    "Lambda": "a lambda",
    "NamedExpr": "an assignment",
    "Attribute": "an attribute",
    "Subscript": "an index",
    "Starred": "a starred expression",
    "IfExp": "a condition",
}


def written_out(value: Any) -> str:
    """Return the `repr` of `value`, which `parse_literal` can read. Raises `NotLiteral`
    with the reason if the value has no such text."""
    try:
        text = repr(value)
    except UNREADABLE as error:
        raise NotLiteral(reason_of(error)) from None
    parse_literal(text)
    return text


def shown_value(value: Any) -> str:
    """Return the `repr` of `value`, cut to 200 characters. A value without a `repr`,
    such as an integer beyond Python's limit of digits, is named by its type."""
    try:
        text = repr(value)
    except UNREADABLE:
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= 200 else f"{text[:197]}…"


def same_value(value: object, other: object) -> bool:
    """Return whether `value` and `other` are equal in value and in type at every depth.

    Python's == ignores some types, but here True is not 1, and 1 is not 1.0.

    nan equals itself, 0.0 equals -0.0, and the order of dictionaries and sets does not
    matter. False also for values that are nested too deeply or contain something
    unhashable.
    """
    try:
        return canonical(value) == canonical(other)
    except (RecursionError, TypeError):
        return False


def canonical(value: object) -> Hashable:
    """Return a hashable form of `value`, which is plain data (numbers, texts, lists,
    dictionaries, …).

    Two forms are equal exactly if `same_value` holds for their values, so that sets of
    values can be compared. Raises `RecursionError` for nesting that is too deep.
    """
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
