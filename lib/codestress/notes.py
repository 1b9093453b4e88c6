"""Cache of slow, deterministic results (notes), shared by the processes of one build: the process
that asks the models and the notebooks.

The cache serves functions that depend on their arguments alone and take long, such as the check
that a mutation is neutral. The notes are a file in the build's private temporary folder, which is
removed at the end of the build. Without a build (a person's notebook, a test) each process has its
own notes.
"""

from __future__ import annotations

import base64
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from codestress.paths import exported
from codestress.types import hash_of

FILE = "CODESTRESS_NOTES"
"""Name of the environment variable with the path of a build's file of cached results (notes)."""
P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def notes_kept() -> Iterator[None]:
    """Context manager: until it ends, this process and the processes that it starts share their
    cached results (notes) through a temporary file."""
    with (
        tempfile.TemporaryDirectory(prefix="codestress-notes-") as folder,
        exported(FILE, f"{folder}/notes"),
    ):
        yield


def noted(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator: calls `function` only once in a build (without a build, in a process) for the same
    arguments, compared by `repr`, and reuses its value, which must be picklable. Values that exist
    for many arguments should be small, because every process of a build holds all of them."""

    @wraps(function)
    def looked_up(*args: P.args, **named: P.kwargs) -> T:
        notes = _notes(os.environ.get(FILE, ""))
        key = _key(function.__module__, function.__qualname__, args, named)
        if not notes.have(key):
            notes.add(key, function(*args, **named))
        value: T = notes.get(key)
        return value

    return looked_up


def remember(*what: Any) -> None:
    """Stores the last argument in the build's cache, with all arguments before it as its key.
    Without a build nothing is stored."""
    if os.environ.get(FILE):
        _notes(os.environ[FILE]).add(_key(*what[:-1]), what[-1])


def remembered(*what: Any) -> Any:
    """Value that `remember` stored in this build under the key of all arguments; None without such
    a value, and without a build."""
    notes = _notes(os.environ.get(FILE, ""))
    return notes.get(key) if notes.file and notes.have(key := _key(*what)) else None


def _key(*what: Any) -> bytes:
    return hash_of(repr(what)).encode()


@dataclass
class _Notes:
    """Cached results (notes) of a build as far as this process has read them; without a build,
    those of this process."""

    file: Path | None
    """Path of the notes' file; None where no build keeps notes."""
    known: dict[bytes, bytes] = field(default_factory=dict)
    """Pickled values in base64, by the hash of the call."""
    read_to: int = 0
    """Number of bytes of the file that were read so far."""

    def read_on(self) -> None:
        """Read the notes that this and other processes have added to the file since the last read.
        A note that is still being written is left for the next read."""
        if self.file and self.file.exists():
            with self.file.open("rb") as file:
                file.seek(self.read_to)
                text = file.read()
            end = text.rfind(b"\n") + 1
            self.read_to += end
            self.known |= dict(
                (line[:32], line[33:]) for line in text[:end].splitlines()
            )

    def have(self, key: bytes) -> bool:
        if key not in self.known:
            self.read_on()
        return key in self.known

    def get(self, key: bytes) -> Any:
        return pickle.loads(base64.b64decode(self.known[key]))

    def add(self, key: bytes, what: Any) -> None:
        self.known[key] = value = base64.b64encode(pickle.dumps(what))
        if self.file:
            # Unbuffered, in one piece: processes write side by side.
            with self.file.open("ab", buffering=0) as file:
                file.write(key + b" " + value + b"\n")


@lru_cache(maxsize=1)
def _notes(path: str) -> _Notes:
    return _Notes(Path(path) if path else None)
