"""Other values, plausible and wrong: one of the same type and a like structure; inputs near a problem's own, on which
variants are tried."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from codestress.literals import NotLiteral, parse_literal
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem, literal_text

NEAR = 3
"""Inputs that differ a little, before those that are meant to reach other branches."""
CANDIDATES = 14
"""Inputs beside the problem's own that are run, to find those that tell most."""
FEWER = 8
"""The same for languages whose programs take longer to run."""
CONSTANTS = 4
"""Values that the program's text names, for each type."""


def trial_inputs(problem: Problem, draw: Draw) -> list[str]:
    """Inputs a little off, then edges of the types, and values that the program's text names."""
    found = dict.fromkeys(other_inputs(problem, draw, NEAR))
    most = CANDIDATES if problem.language == "python" else FEWER
    with suppress(NotLiteral, ValueError):
        own = argument_values(problem)
        named = _constants(problem)
        edges = [(turn, at, edge) for at, one in enumerate(own) for turn, edge in enumerate(_edges(one, named))]
        for _, at, edge in sorted(edges, key=lambda one: one[:2]):
            if len(found) < most:
                texts = [literal_text(one, problem.language) for one in (*own[:at], edge, *own[at + 1 :])]
                found[with_values(problem, texts)] = None
    found.pop(problem.arguments, None)
    return list(found)


def _edges(value: Any, named: list[Any]) -> list[Any]:
    """Values of the same type at its edges, and those that the program names."""
    same = [one for one in named if type(one) is type(value) and one != value]
    match value:
        case bool():
            return [not value]
        case int():
            around = [one + step for one in same for step in (0, 1, -1)]
            return [0, -value - 1, 2 * value + 1, *around] if abs(value) < 1000 else [0, 1, *around]
        case float():
            return [0.0, -value, value * 2 + 0.5]
        case str() | bytes():
            return [value[:0], value[::-1], value * 2, *same, *(value + one for one in same)]
        case list() | tuple():
            inner = [type(value)([edge, *value[1:]]) for edge in (_edges(value[0], named) if value else [])]
            return [*([] if isinstance(value, tuple) else [[], value * 2, value[:1]]), value[::-1], *inner]
        case dict():
            return [{}, dict(list(value.items())[::-1]), dict(list(value.items())[:1])]
        case set() | frozenset():
            return [type(value)()]
    return []


def _constants(problem: Problem) -> list[Any]:
    """Values that a Python program's text names, the first of each type."""
    nodes = ast.walk(ast.parse(problem.code)) if problem.language == "python" else ()
    found = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, int | str)]
    short = [value for value in found if len(str(value)) < 12]
    each = [dict.fromkeys(value for value in short if type(value) is kind) for kind in {*map(type, short)}]
    return [value for values in each for value in [*values][:CONSTANTS]]


def other_inputs(problem: Problem, draw: Draw, count: int) -> list[str]:
    """Argument texts near the problem's own, the next ones further off; fewer where arguments are no data."""
    try:
        own = argument_values(problem)
    except (NotLiteral, ValueError):
        return []
    found: dict[str, None] = {}
    for _ in range(3 * count if own else 0):
        if len(found) == count:
            break
        values = copy.deepcopy(own)
        with suppress(NoOtherValue):
            for _ in range(1 + len(found) // 4):
                at = draw.integer(0, len(values) - 1)
                values[at] = other_value(values[at], draw)
        if values != own:
            found[with_values(problem, [literal_text(value, problem.language) for value in values])] = None
    return list(found)


def argument_values(problem: Problem) -> list[Any]:
    """The arguments in the order of the text; `NotLiteral` where one is no data."""
    if problem.language == "javascript":
        return list(json.loads(f"[{problem.arguments}]"))
    return [parse_literal(ast.unparse(node)).value for node in argument_nodes(call_of(problem))]


def with_values(problem: Problem, texts: Sequence[str]) -> str:
    """The problem's arguments with other values, by position and keyword as they are."""
    if problem.language == "javascript":
        return ", ".join(texts)
    call = call_of(problem)
    keywords = [""] * len(call.args) + [f"{one.arg}=" for one in call.keywords]
    return ", ".join(f"{keyword}{text}" for keyword, text in zip(keywords, texts, strict=True))


@lru_cache(maxsize=64)
def call_of(problem: Problem) -> ast.Call:
    """A call with the problem's arguments, to be looked at alone."""
    node = ast.parse(f"f({problem.arguments}\n)", mode="eval").body
    if not isinstance(node, ast.Call) or any(one.arg is None for one in node.keywords):
        raise NotLiteral("no call")
    return node


def argument_nodes(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(one.value for one in call.keywords)]


# --- another value --------------------------------------------------------------------------------------------------


class NoOtherValue(ValueError):
    """There is no other value of this type."""


def other_value(value: Any, draw: Draw) -> Any:
    """A value of the same type that differs a little: one element, one character, a number near by.

    `NoOtherValue` for None and for types that are no plain data.
    """
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        step = draw.choice([1, 1, 2, 3])
        return value + step if value < step or draw.chance(0.6) else value - step
    if isinstance(value, float):
        return value + draw.choice([0.5, 1.0, -0.5]) if value == value and abs(value) < 1e15 else 0.0
    if isinstance(value, str):
        return _text(value, draw)
    if isinstance(value, bytes):
        return _text(value.decode("latin-1"), draw).encode("latin-1", "replace")
    if isinstance(value, tuple):
        return tuple(_elements(list(value), draw, fixed=True))
    if isinstance(value, list):
        return _elements(list(value), draw, fixed=False)
    if isinstance(value, dict):
        return _mapping(value, draw)
    if isinstance(value, set | frozenset):
        kept = sorted(value, key=repr)
        if not kept:
            return type(value)({0})
        changed = _elements(kept, draw, fixed=False)
        return type(value)(changed) if type(value)(changed) != value else type(value)(kept[1:])
    raise NoOtherValue(f"no other value of the type {type(value).__name__}")


def _text(text: str, draw: Draw) -> str:
    if not text:
        return draw.choice("aexs01")
    at = draw.integer(0, len(text) - 1)
    edits = [text[:at] + text[at + 1 :], text[:at] + text[at] + text[at:]]
    if len(text) > 1:
        at = draw.integer(0, len(text) - 2)
        edits += [text[:at] + text[at + 1] + text[at] + text[at + 2 :]] * 2
    edits += [text.swapcase(), text[:-1], text + draw.choice(text)]
    different = [edit for edit in edits if edit != text and edit]
    return draw.choice(different) if different else f"{text}{text[-1]}"


def _elements(items: list[Any], draw: Draw, *, fixed: bool) -> list[Any]:
    """Another list; with `fixed` of the same length, where it has elements."""
    if not items:
        return [0]
    edits = ["change"] * 3 + (["drop", "swap"] if len(items) > 1 and not fixed else [])
    edit = draw.choice(edits)
    at = draw.integer(0, len(items) - 1)
    if edit == "drop":
        return items[:at] + items[at + 1 :]
    if edit == "swap":
        other = (at + 1) % len(items)
        swapped = list(items)
        swapped[at], swapped[other] = items[other], items[at]
        if swapped != items:
            return swapped
    for place in (*range(at, len(items)), *range(at)):
        with suppress(NoOtherValue):
            return [*items[:place], other_value(items[place], draw), *items[place + 1 :]]
    if fixed:
        raise NoOtherValue("no other value of these elements")
    return items[:-1] if len(items) > 1 else items * 2


def _mapping(value: dict[Any, Any], draw: Draw) -> dict[Any, Any]:
    if not value:
        return {"a": 1}
    key = draw.choice(list(value))
    if len(value) == 1 or not draw.chance(0.25):
        with suppress(NoOtherValue):
            return value | {key: other_value(value[key], draw)}
    return {one: kept for one, kept in value.items() if one != key}
