"""What was worked out once in a build: noted by the process that asks, for the notebooks of the same build.

For functions that depend on their arguments alone and take long: whether a mutation is neutral, which variants of
programs mean the same. The notes are a file in a folder of the build's own, which nobody else can enter and which ends
with the build; where none is made (a person's notebook, a test) each process has its own.
"""

from __future__ import annotations

import base64
import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

FILE = "CODESTRESS_NOTES"
"""Environment variable that names a build's notes."""
P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def notes_kept() -> Iterator[None]:
    """Notes of this process, and of those that it starts, while it lasts."""
    with tempfile.TemporaryDirectory(prefix="codestress-notes-") as folder:
        os.environ[FILE] = str(Path(folder) / "notes")
        try:
            yield
        finally:
            del os.environ[FILE]


def noted(function: Callable[P, T]) -> Callable[P, T]:
    """The function, which in a build, or else in a process, is called once for the same arguments: those with the same
    `repr`. Its value should be small where there are many: a build's processes hold all notes."""

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
    """Notes the last of some things under the others, where a build keeps notes."""
    if os.environ.get(FILE):
        _notes(os.environ[FILE]).add(_key(*what[:-1]), what[-1])


def remembered(*what: Any) -> Any:
    """What was noted under some things in this build; None where nothing was."""
    notes = _notes(os.environ.get(FILE, ""))
    return notes.get(key) if notes.file and notes.have(key := _key(*what)) else None


def _key(*what: Any) -> bytes:
    return hashlib.blake2b(repr(what).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest().encode()


@dataclass
class _Notes:
    """What this process knows of a build's notes."""

    file: Path | None
    """None where no build keeps notes."""
    known: dict[bytes, bytes] = field(default_factory=dict)
    """Pickled values, by the hash of a call."""
    read_to: int = 0
    """Bytes of the file."""

    def read_on(self) -> None:
        """Reads what was added, also by others; not a note that is just being written."""
        if self.file and self.file.exists():
            with self.file.open("rb") as file:
                file.seek(self.read_to)
                text = file.read()
            end = text.rfind(b"\n") + 1
            self.read_to += end
            self.known |= dict((line[:32], line[33:]) for line in text[:end].splitlines())

    def have(self, key: bytes) -> bool:
        if key not in self.known:
            self.read_on()
        return key in self.known

    def get(self, key: bytes) -> Any:
        return pickle.loads(base64.b64decode(self.known[key]))

    def add(self, key: bytes, what: Any) -> None:
        self.known[key] = value = base64.b64encode(pickle.dumps(what))
        if self.file:
            with self.file.open("ab", buffering=0) as file:  # in one piece: processes write side by side
                file.write(key + b" " + value + b"\n")


@lru_cache(maxsize=1)
def _notes(path: str) -> _Notes:
    return _Notes(Path(path) if path else None)
