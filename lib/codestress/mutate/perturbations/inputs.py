"""Other inputs and outputs for problems, of the same types as the problems' own.

Variants are tried on such inputs; misleading hints name such values, plausible but
wrong.
"""

import ast
import json
import math
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from codestress.literals import UNREADABLE, NotLiteral, literal_of, reason_of
from codestress.problems.program import Problem, literal_text

from ..draw import Draw

NEAR = 3
"""Number of inputs that differ a little from the problem's own; inputs that may reach
other branches follow."""
INPUTS = 8
"""Most inputs, beside the problem's own, on which a program and its variants are tried.
"""
CONSTANTS = 4
"""Most constants of each type that are taken from a program's text."""


def trial_inputs(problem: Problem, draw: Draw) -> list[str]:
    """Return up to `INPUTS` other inputs for a problem's function, as argument texts.

    Small changes, which `draw` decides, come first. Values made from the program's
    constants and edge values follow. The list is empty if an argument is not plain
    data.
    """
    texts = other_inputs(problem, draw, NEAR)
    with suppress(*UNREADABLE):
        own = argument_values(problem)
        constants = _constants(problem)
        edges = [_edges(value, constants) for value in own]
        for turn in range(INPUTS):
            for place, values in enumerate(edges):
                if turn < len(values):
                    changed = [*own[:place], values[turn], *own[place + 1 :]]
                    texts.append(argument_text(problem, changed))
    return [text for text in dict.fromkeys(texts) if text != problem.arguments][:INPUTS]


def _edges(value: Any, constants: list[Any]) -> list[Any]:
    """Return other values of the type of `value`: some of `constants`, and edge values
    such as zero or an empty list.

    The list is empty for None and for types that are not plain data.
    """
    same = [item for item in constants if type(item) is type(value)]
    same = [*dict.fromkeys(same)][:CONSTANTS]
    match value:
        case bool():
            return [not value]
        case int() | float():
            beyond = [item + 1 for item in same]
            return [*beyond, *same, value * 0, -value - 1, value * 2 + 1]
        case str() | bytes() | list():
            return [*same, value[:0], value[::-1], value * 2]
        case tuple():
            return [value[::-1]]
        case dict() | set() | frozenset():
            return [type(value)()]
    return []


def _constants(problem: Problem) -> list[Any]:
    """Return the integers, booleans and texts in a Python program's text that have
    fewer than 12 characters; empty for JavaScript."""
    values = []
    code = problem.code if problem.language == "python" else ""
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Constant(int() | str() as value) if len(str(value)) < 12:
                values.append(value)
    return values


def other_inputs(problem: Problem, draw: Draw, count: int) -> list[str]:
    """Return up to `count` inputs near a problem's own, as argument texts, changed at
    random (`draw`).

    Later texts change more arguments. The list is empty if an argument is not plain
    data, or the call has no argument.
    """
    try:
        own = argument_values(problem)
    except UNREADABLE:
        return []
    texts: dict[str, None] = {}
    for _ in range(3 * count if own else 0):
        if len(texts) == count:
            break
        values = list(own)
        with suppress(NoOtherValue):
            for _ in range(1 + len(texts) // 4):
                at = draw.integer(0, len(values) - 1)
                values[at] = other_value(values[at], draw)
        if values != own:
            # An integer may have too many digits by now.
            with suppress(*UNREADABLE):
                texts[argument_text(problem, values)] = None
    return list(texts)


def argument_text(problem: Problem, values: list[Any]) -> str:
    """Return the problem's argument text with `values`, which are plain data, in place
    of its own values."""
    texts = [literal_text(value, problem.language) for value in values]
    return with_values(problem, texts)


def argument_values(problem: Problem) -> list[Any]:
    """Return the values of a problem's arguments, positional ones before keywords.

    Raises `NotLiteral` (Python) or `NotJson` (JavaScript) if an argument is not plain
    data.
    """
    if problem.language == "javascript":
        return json_values(problem.arguments)
    return [literal_of(node).value for _, node in arguments_of(problem)]


class NotJson(ValueError):
    """Raised if a JavaScript problem's arguments are not JSON values; the message
    quotes the arguments and says what to write."""

    def __init__(self, arguments: str) -> None:
        super().__init__(
            f"input = {arguments[:60]!r} is not JSON; write the arguments as JSON values in the order of the "
            'parameters, as in 1, [2.5, true], {"a": "b"}, null (undefined, NaN, Infinity, sets and bytes have none)'
        )


def json_values(arguments: str) -> list[Any]:
    """Return the list of the values in a JavaScript problem's argument text.

    Raises `NotJson` if they are not JSON values. Raises `ValueError` for integers of
    too many digits and for nesting that is too deep.
    """

    try:
        values: list[Any] = json.loads(
            f"[{arguments}]",
            parse_constant=_finite,
            parse_float=_finite,
            parse_int=_whole,
        )
        return values
    except (ValueError, RecursionError) as error:
        # JSON, but more than is read.
        if (reason := reason_of(error)) != str(error):
            raise ValueError(f"input is {reason}") from None
        raise NotJson(arguments) from None


def _whole(text: str) -> float:
    """Return the number that the digits `text` write; `-0` becomes a float, since
    integers have no minus zero."""
    return -0.0 if text == "-0" else int(text)


def _finite(text: str) -> float:
    """Return the number that `text` writes.

    Raises `ValueError` for a number that JSON lacks (NaN, Infinity) or that is too
    large (1e999).
    """
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def with_values(problem: Problem, texts: Sequence[str]) -> str:
    """Return the problem's argument text with `texts` in place of its values, in order;
    keywords stay.

    Raises `ValueError` if the number of arguments of a Python call differs from that of
    `texts`. For JavaScript, `texts` may have any length.
    """
    if problem.language == "javascript":
        return ", ".join(texts)
    pairs = zip(arguments_of(problem), texts, strict=True)
    return ", ".join(f"{keyword}{text}" for (keyword, _), text in pairs)


def arguments_of(problem: Problem) -> list[tuple[str, ast.expr]]:
    """Return the arguments of a Python problem's call, positional ones before keywords.

    Each is a pair: the text before the argument (`NAME=` or nothing), and its
    expression. Raises `NotLiteral` if the arguments hold `**` or end the call early, as
    `1), (2` does. Raises `SyntaxError` if they do not parse.
    """
    node = ast.parse(f"f({problem.arguments}\n)", mode="eval").body
    if not isinstance(node, ast.Call) or any(not item.arg for item in node.keywords):
        raise NotLiteral("arguments that hold ** or end the call early")
    keywords = [(f"{item.arg}=", item.value) for item in node.keywords]
    return [*(("", argument) for argument in node.args), *keywords]


# --- another value ---


class NoOtherValue(ValueError):
    """Raised by `other_value` if no other value of the type can be made."""


def other_value(value: Any, draw: Draw) -> Any:
    """Return a value of the type of `value` that differs a little: in one element or
    character, or as a nearby number.

    `draw` decides the change. Raises `NoOtherValue` for None, for types that are not
    plain data, and for tuples of such values.
    """
    match value:
        case bool():
            return not value
        case int():
            step = draw.choice([1, 1, 2, 3])
            return value + step if value < step or draw.chance(0.6) else value - step
        case float():
            return value + draw.choice([0.5, 1.0, -0.5]) if abs(value) < 1e15 else 0.0
        case str():
            return _text(value, draw)
        case bytes():
            return _text(value.decode("latin-1"), draw).encode("latin-1", "replace")
        case tuple() | list():
            fixed = isinstance(value, tuple)
            return type(value)(_elements(list(value), draw, fixed=fixed))
        case dict():
            return _mapping(value, draw)
        case set() | frozenset():
            items = sorted(value, key=repr)
            changed = type(value)(_elements(items, draw, fixed=False))
            return changed if changed != value else type(value)(items[1:])
    raise NoOtherValue(f"no other value of the type {type(value).__name__}")


def _text(text: str, draw: Draw) -> str:
    """Return a text that differs from `text` by one edit, drawn at random."""
    if not text:
        return draw.choice("aexs01")
    at = draw.integer(0, len(text) - 1)
    edits = [text[:at] + text[at + 1 :], text[:at] + text[at] + text[at:]]
    if len(text) > 1:
        at = draw.integer(0, len(text) - 2)
        edits += [text[:at] + text[at + 1] + text[at] + text[at + 2 :]] * 2
    edits += [text.swapcase(), text[:-1], text + draw.choice(text)]
    different = [edit for edit in edits if edit not in (text, "")]
    return draw.choice(different or [text + text[-1]])


def _elements(items: list[Any], draw: Draw, *, fixed: bool) -> list[Any]:
    """Return a list that differs from `items`: one element is changed, dropped or
    swapped; `[0]` for an empty list.

    With `fixed`, the length stays: an element is changed, or `NoOtherValue` is raised.
    """
    if not items:
        return [0]
    edits = ["change"] * 3
    if len(items) > 1 and not fixed:
        edits += ["drop", "swap"]
    edit = draw.choice(edits)
    at = draw.integer(0, len(items) - 1)
    if edit == "drop":
        return items[:at] + items[at + 1 :]
    if edit == "swap":
        changed, after = list(items), at - len(items) + 1
        changed[at], changed[after] = items[after], items[at]
        if changed != items:
            return changed
    for place in (*range(at, len(items)), *range(at)):
        with suppress(NoOtherValue):
            value = other_value(items[place], draw)
            return [*items[:place], value, *items[place + 1 :]]
    if fixed:
        raise NoOtherValue("no other value of these elements")
    return items[:-1] or items * 2


def _mapping(value: dict[Any, Any], draw: Draw) -> dict[Any, Any]:
    """Return a dict that differs from `value`: one value is changed, or one key is left
    out."""
    if not value:
        return {"a": 1}
    key = draw.choice(list(value))
    if len(value) == 1 or not draw.chance(0.25):
        with suppress(NoOtherValue):
            return value | {key: other_value(value[key], draw)}
    return {name: item for name, item in value.items() if name != key}
