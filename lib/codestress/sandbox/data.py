"""Plain data as JSON, with tags for types that JSON does not distinguish; both sides of the sandbox
use it.

The child is not trusted: from any bytes, decoding makes nothing but None, bool, int, float,
complex, str, bytes, range, Ellipsis, list, tuple, dict, set and frozenset. Encoding reads instances
of subclasses through their base type, so that a program's own class has no say in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

SAFE_INTEGER = 2**53
LARGEST = 200_000
"""Maximum number of elements in a value, nested ones included."""
DEEPEST = 450
"""Deepest nesting of containers; a dictionary's pairs count as one level."""
MOST_ALIKE = 100
"""Maximum number of elements of a set, or keys of a dictionary, with the same hash; honest values
hardly ever have two."""


class NotData(Exception):
    """Raised by `encode` for a value that is not plain data; the message is the name of its type,
    or says that it is nested too deeply."""


class TooLarge(Exception):
    """Raised by `encode` for a value with more than `LARGEST` elements, nested ones included."""


def encode(value: object) -> Any:
    """Returns a value as a document of plain JSON types, with tags for the types that JSON lacks;
    raises `NotData` for a value that is not plain data or nested beyond `DEEPEST`, and `TooLarge`
    beyond `LARGEST` elements.

    The loop makes no call per element: in the child, the counter of the program's steps looks at
    every call.
    """
    encoded: list[Any] = []
    left = LARGEST
    open_: list[tuple[Iterator[Any], list[Any]]] = [(iter((value,)), encoded)]
    while open_:
        items, out = open_[-1]
        for item in items:
            left -= 1
            if left < 0:
                raise TooLarge("too many elements")
            kind = type(item)
            inner: list[Any] = []
            tagged: Any = inner
            parts: Iterator[Any] | None = None
            if item is None or kind is bool:
                tagged = item
            elif issubclass(kind, str):
                tagged = str.__str__(item)
            elif issubclass(kind, int):
                tagged = int.__int__(item)
                if not -SAFE_INTEGER < tagged < SAFE_INTEGER:
                    tagged = {"i": hex(tagged)}
            elif issubclass(kind, float):
                tagged = {"F": float.__repr__(item)}
            elif issubclass(kind, list):
                parts = list.__iter__(item)
            elif issubclass(kind, tuple):
                tagged, parts = {"t": inner}, tuple.__iter__(item)
            elif issubclass(kind, dict):
                tagged, parts = {"d": inner}, map(list, dict.items(item))
                left += dict.__len__(item)  # its pairs, which pass as lists
            elif issubclass(kind, set):
                tagged, parts = {"s": inner}, set.__iter__(item)
            elif issubclass(kind, frozenset):
                tagged, parts = {"z": inner}, frozenset.__iter__(item)
            elif issubclass(kind, bytes):
                tagged = {"b": bytes.hex(item)}
            elif issubclass(kind, complex):
                tagged = {"c": [float.hex(item.real), float.hex(item.imag)]}
            elif kind is range:
                tagged, parts = {"r": inner}, iter((item.start, item.stop, item.step))
            elif item is ...:
                tagged = {"e": 0}
            else:
                raise NotData(type.__getattribute__(kind, "__name__"))
            out.append(tagged)
            if parts is not None:
                if len(open_) > DEEPEST:
                    raise NotData("a value nested too deeply, or in itself")
                open_.append((parts, inner))
                break
        else:
            open_.pop()
    return encoded[0]


def decode(document: Any) -> Any:
    """Returns the value from which `encode` made the JSON document `document`; raises `ValueError`
    for a document that `encode` does not make, or whose elements are chosen to share a hash."""
    if isinstance(document, list):
        return [decode(part) for part in document]
    if not isinstance(document, dict):
        if isinstance(document, float):
            raise ValueError("a float without its tag")
        return document
    try:
        [(tag, content)] = document.items()
        return _DECODERS[tag](content)
    except (KeyError, TypeError, OverflowError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def _hashable(items: list[Any]) -> list[Any]:
    """Returns `items` unchanged; raises `ValueError` where more than `MOST_ALIKE` of them share a
    hash, because a set of them would take quadratic time to build."""
    if items and max(Counter(map(hash, items)).values()) > MOST_ALIKE:
        raise ValueError("elements chosen to collide")
    return items


def _dictionary(content: Any) -> dict[Any, Any]:
    pairs = [(decode(key), part) for key, part in content]
    keys = _hashable([key for key, _ in pairs])
    return dict(zip(keys, [decode(part) for _, part in pairs], strict=True))


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "i": lambda content: int(content, 16),
    "F": float,
    "t": lambda content: tuple(map(decode, content)),
    "d": _dictionary,
    "s": lambda content: set(_hashable(list(map(decode, content)))),
    "z": lambda content: frozenset(_hashable(list(map(decode, content)))),
    "b": bytes.fromhex,
    "c": lambda content: complex(*map(float.fromhex, content)),
    "r": lambda content: range(*map(decode, content)),
    "e": lambda _: ...,
}
