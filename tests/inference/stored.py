"""Stores with numbered responses."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from codestress.inference.store import Store
from codestress.types import Response


def key(number: int) -> str:
    return f"{number:032x}"


def put(
    store: Store, number: int, text: str = "x", name: str = "m", **facts: Any
) -> None:
    store.put(key(number), name, Response(text, "stop", **facts))


def text_of(number: int) -> str:
    return f"{number} " * 40


def fill(path: Path, count: int) -> None:
    """Make a store of numbered responses in one file, without a log beside it."""
    with Store(path) as store:
        for number in range(count):
            put(store, number, text_of(number))
    execute(path, "PRAGMA wal_checkpoint(TRUNCATE)")


def execute(path: Path, statement: str, *values: object) -> list[Any]:
    """Run a statement on a store's file, without the kit."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchall()
