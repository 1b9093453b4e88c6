"""Plain data as JSON, with tags for types that JSON does not distinguish; both sides of
the sandbox use it.

The child is not trusted: from any bytes, decoding makes nothing but None, bool, int,
float, complex, str, bytes, range, Ellipsis, list, tuple, dict, set and frozenset.
Encoding reads instances of subclasses through their base type, so that no method of a
program's own class runs.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

SAFE_INTEGER = 2**53
LARGEST = 200_000
"""Maximum number of elements in a value, including nested elements, the value itself,
and each pair of a dictionary."""
OUTPUT_BYTES = 1 << 20
"""Maximum size of a returned value in bytes, encoded."""
DEEPEST = 450
"""Maximum nesting depth of containers; a dictionary's pairs count as one level."""
MOST_ALIKE = 100
"""Maximum number of elements of a set, or keys of a dictionary, with the same hash;
ordinary values hardly ever have two."""


class NotData(Exception):
    """Raised by `encode` for a value that is not plain data; the message is the name of
    its type, or says that it is nested too deeply."""


class TooLarge(Exception):
    """Raised by `encode` for a value with more than `LARGEST` elements, nested elements
    included."""


def encode(value: object) -> Any:
    """Return a value as a document of plain JSON types, with tags for the types that
    JSON lacks.

    Raises `NotData` for a value that is not plain data or nested beyond `DEEPEST`, and
    `TooLarge` for a value of more than `LARGEST` elements.
    """
    left = LARGEST

    def encoded(item: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooLarge("too many elements")
        kind = type(item)
        if item is None or kind is bool:
            return item
        for base, encoder in _ENCODERS.items():
            if issubclass(kind, base):
                return encoder(item)
        for base, (tag, parts) in _CONTAINERS.items():
            if issubclass(kind, base):
                if depth == DEEPEST:
                    raise NotData("a value nested too deeply, or in itself")
                inner = []
                for part in parts(item):
                    inner.append(encoded(part, depth + 1))
                return {tag: inner} if tag else inner
        raise NotData(type.__getattribute__(kind, "__name__"))

    return encoded(value, 0)


def _integer(item: int) -> Any:
    number = int.__int__(item)
    safe = -SAFE_INTEGER < number < SAFE_INTEGER
    return number if safe else {"i": hex(number)}


_ENCODERS: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    int: _integer,
    float: lambda item: {"F": float.__repr__(item)},
    bytes: lambda item: {"b": bytes.hex(item)},
    complex: lambda item: {"c": [float.hex(item.real), float.hex(item.imag)]},
    type(...): lambda _: {"e": 0},
}
_CONTAINERS: dict[type, tuple[str, Callable[[Any], Iterable[Any]]]] = {
    list: ("", list.__iter__),
    tuple: ("t", tuple.__iter__),
    dict: ("d", lambda item: map(list, dict.items(item))),
    set: ("s", set.__iter__),
    frozenset: ("z", frozenset.__iter__),
    range: ("r", lambda item: (item.start, item.stop, item.step)),
}
"""Tag of each type of container, and a function that returns the container's elements.
"""


def decode(document: Any) -> Any:
    """Return the value from which `encode` made the JSON document `document`.

    Raises `ValueError` for a document that `encode` does not make, or whose elements
    are chosen to share a hash.
    """
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


def _members(content: Any) -> list[Any]:
    """Return the elements of a set, or the keys of a dictionary, decoded from
    `content`.

    Raises `ValueError` if more than `MOST_ALIKE` of them share a hash, because building
    a set of them would take quadratic time.
    """
    members = list(map(decode, content))
    if members and max(Counter(map(hash, members)).values()) > MOST_ALIKE:
        raise ValueError("elements chosen to collide")
    return members


def _dictionary(content: Any) -> dict[Any, Any]:
    keys = _members(key for key, _ in content)
    values = [decode(value) for _, value in content]
    return dict(zip(keys, values, strict=True))


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "i": lambda content: int(content, 16),
    "F": float,
    "t": lambda content: tuple(map(decode, content)),
    "d": _dictionary,
    "s": lambda content: set(_members(content)),
    "z": lambda content: frozenset(_members(content)),
    "b": bytes.fromhex,
    "c": lambda content: complex(*map(float.fromhex, content)),
    "r": lambda content: range(*map(decode, content)),
    "e": lambda _: ...,
}
