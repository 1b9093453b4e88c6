"""Checks of messages: a message names file, key, value and remedy; its other words are free."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest


def names(message: object, *parts: object) -> None:
    """Fails, with the whole message, unless each of `parts` is in it."""
    missing = [str(part) for part in parts if str(part) not in str(message)]
    assert not missing, f"{missing} not in:\n{message}"


@contextlib.contextmanager
def refused(error: type[BaseException], *parts: object) -> Iterator[None]:
    """Expects an `error` whose message names `parts`."""
    with pytest.raises(error) as caught:
        yield
    names(caught.value, *parts)
