"""What was worked out once in a build: noted by the process that asks, for the notebooks of the same build.

For functions of texts that give a text, depend on nothing else and take long: whether a mutation is neutral, say. The
notes are a file that ends with the build; where none is made (a person's notebook, a test) each process has its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path

FILE = "CODESTRESS_NOTES"
"""Environment variable that names a build's notes."""


@contextmanager
def notes_kept() -> Iterator[None]:
    """Notes of this process, and of those that it starts, while it lasts."""
    with tempfile.TemporaryDirectory(prefix="codestress-notes-") as folder:
        os.environ[FILE] = str(Path(folder) / "notes")
        try:
            yield
        finally:
            del os.environ[FILE]


def noted(function: Callable[..., str]) -> Callable[..., str]:
    """The function, which in a build, or else in a process, is called once for the same texts."""

    @wraps(function)
    def looked_up(*texts: str) -> str:
        path = os.environ.get(FILE, "")
        key = hashlib.blake2b(json.dumps([function.__qualname__, *texts]).encode(), digest_size=16).hexdigest()
        known = _read(path)
        if key not in known:
            known[key] = function(*texts)
            if path:
                with Path(path).open("ab", buffering=0) as file:  # in one piece: processes write side by side
                    file.write(json.dumps([key, known[key]]).encode() + b"\n")
        return known[key]

    return looked_up


@lru_cache(maxsize=1)
def _read(path: str) -> dict[str, str]:
    """The notes that are there when they are first asked for."""
    lines = Path(path).read_text(encoding="utf-8").splitlines() if path and Path(path).exists() else []
    return dict(json.loads(line) for line in lines)
