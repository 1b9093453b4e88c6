"""Cache of slow, deterministic results, shared by the processes of one build (the
process that asks the models, and the notebooks' kernels).

The cache serves functions that depend on their arguments alone and take long, such as
the check that a mutation is neutral. Each cached result, called a note, is a file in
the build's private temporary folder, which is removed at the end of the build. Without
a build, as in a person's notebook or a test, each process has its own notes.
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
_own: dict[str, tuple[Any]] = {}
"""Notes of this process if there is no build, by the text of their keys."""


@contextmanager
def notes_kept() -> Iterator[None]:
    """Return a context manager in which this process and the processes that it starts
    share their notes through a temporary folder. The folder is removed at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="codestress-notes-") as folder,
        exported(FOLDER, folder),
    ):
        yield


def noted(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate `function` so that it runs only once for the same arguments, and later
    calls reuse its value.

    Arguments are compared by `repr`; the value must be picklable. The cache lasts for
    the build, or for the process if there is no build.
    """

    @wraps(function)
    def looked_up(*args: P.args, **named: P.kwargs) -> T:
        what = (function.__module__, function.__qualname__, args, named)
        key = repr(what)
        building = FOLDER in os.environ
        note = remembered(*what) if building else _own.get(key)
        if note is None:
            note = (function(*args, **named),)
            remember(*what, note)
            if not building:
                _own[key] = note
        [value] = note
        return value

    return looked_up


def remember(*what: Any) -> None:
    """Store the last argument in the build's cache, with all arguments before it as its
    key. Do nothing if there is no build."""
    if file := _file(*what[:-1]):
        write_whole(file, pickle.dumps(what[-1]))


def remembered(*what: Any) -> Any:
    """Return the value that `remember` stored in this build, with all arguments as its
    key. None if there is no such value, or no build."""
    file = _file(*what)
    return pickle.loads(file.read_bytes()) if file and file.exists() else None


def _file(*what: Any) -> Path | None:
    folder = os.environ.get(FOLDER)
    return Path(folder, hash_of(repr(what))) if folder else None
