"""Another value of the same type and a like structure: plausible, and wrong."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from codestress.problems.generated.drawing import Draw


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
