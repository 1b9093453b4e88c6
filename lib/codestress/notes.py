"""Cache of slow, deterministic results (notes), shared by the processes of one build: the process
that asks the models and the notebooks.

The cache serves functions that depend on their arguments alone and take long, such as the check
that a mutation is neutral. Each note is a file in the build's private temporary folder, which is
removed at the end of the build. Without a build (a person's notebook, a test) each process has its
own notes.
"""

import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from .paths import exported, write_whole
from .types import hash_of

FOLDER = "CODESTRESS_NOTES"
"""Name of the environment variable with the path of the folder of a build's notes."""
P = ParamSpec("P")
T = TypeVar("T")
_own: dict[str, Any] = {}
"""Notes of this process without a build, by the hash of their names."""


@contextmanager
def notes_kept() -> Iterator[None]:
    """Context manager: until it ends, this process and the processes that it starts share their
    cached results (notes) through a temporary folder."""
    with (
        tempfile.TemporaryDirectory(prefix="codestress-notes-") as folder,
        exported(FOLDER, folder),
    ):
        yield


def noted(function: Callable[P, T]) -> Callable[P, T]:
    """Decorator: calls `function` only once in a build (without a build, in a process) for the same
    arguments, compared by `repr`, and reuses its value, which must be picklable."""

    @wraps(function)
    def looked_up(*args: P.args, **named: P.kwargs) -> T:
        what = (function.__module__, function.__qualname__, args, named)
        if FOLDER not in os.environ:
            key = hash_of(repr(what))
            if key not in _own:
                _own[key] = function(*args, **named)
            value: T = _own[key]
            return value
        note = remembered(*what)
        if note is None:
            note = (function(*args, **named),)
            remember(*what, note)
        [value] = note
        return value

    return looked_up


def remember(*what: Any) -> None:
    """Stores the last argument in the build's cache, with all arguments before it as its key.
    Without a build nothing is stored."""
    if file := _file(*what[:-1]):
        write_whole(file, pickle.dumps(what[-1]))


def remembered(*what: Any) -> Any:
    """Value that `remember` stored in this build under the key of all arguments; None without such
    a value, and without a build."""
    file = _file(*what)
    return pickle.loads(file.read_bytes()) if file and file.exists() else None


def _file(*what: Any) -> Path | None:
    folder = os.environ.get(FOLDER)
    return Path(folder, hash_of(repr(what))) if folder else None
