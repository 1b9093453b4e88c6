"""What was worked out once in a build: noted by the process that was first, for all others of the same build.

For functions that depend on their arguments alone and take long: neutral mutations, variants of programs, what is true
of a simulated reader. The notes are files in a folder of the build's own, which nobody else can enter and which ends
with the build; where there is none (a person's notebook, a test) each process has its own.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

FOLDER = "CODESTRESS_NOTES"
"""Environment variable that names the folder of a build's notes."""
P = ParamSpec("P")
T = TypeVar("T")

_known: dict[str, Any] = {}


@contextmanager
def notes_kept() -> Iterator[None]:
    """Notes of this process, and of those that it starts, while it lasts."""
    with tempfile.TemporaryDirectory(prefix="codestress-notes-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER]
            _known.clear()


def noted(function: Callable[P, T]) -> Callable[P, T]:
    """The function, which in a build, or else in a process, is called once for the same arguments: those with the same
    `repr`."""

    @wraps(function)
    def looked_up(*args: P.args, **named: P.kwargs) -> T:
        called = repr((function.__module__, function.__qualname__, args, named))
        key = hashlib.blake2b(called.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        if key not in _known:
            folder = os.environ.get(FOLDER)
            _known[key] = _in(Path(folder) / key, function, *args, **named) if folder else function(*args, **named)
        value: T = _known[key]
        return value

    return looked_up


def _in(path: Path, function: Callable[P, T], *args: P.args, **named: P.kwargs) -> T:
    try:
        value: T = pickle.loads(path.read_bytes())
    except FileNotFoundError:
        value = function(*args, **named)
        mine = path.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        mine.write_bytes(pickle.dumps(value))
        mine.replace(path)  # whole or not at all
    return value
