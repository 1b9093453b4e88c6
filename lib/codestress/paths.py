"""Paths of the project's files and folders, relative to the project's root."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .errors import ParameterError

PACKAGE = Path(__file__).resolve().parent
PAPERS = PACKAGE / "papers"


def whole(text: str, folder: Path = Path()) -> Path:
    """Return the absolute path of `text`, a path that a person typed in `folder`
    (default: the folder in which this process runs). A leading `~` is the home folder.
    """
    return (folder / os.path.expanduser(text)).resolve()  # noqa: PTH111  (raises nothing)


def _named(variable: str, default: Path) -> Path:
    """Return the absolute path in the environment variable `variable`, or `default` if
    the variable is unset or empty.

    The variable itself is made absolute too, because notebooks run in another folder.
    Raises `ParameterError` in a notebook's kernel for a relative path, because the
    kernel does not know the folder in which it was typed.
    """
    text = os.environ.get(variable)
    if not text:
        return default
    if "ipykernel" in sys.modules and not text.startswith((os.sep, "~")):
        raise ParameterError(
            f"{variable}={text!r}: is relative to a folder that a notebook does not know; give the whole path"
        )
    path = whole(text)
    os.environ[variable] = str(path)
    return path


ROOT = _named("CODESTRESS_ROOT", PACKAGE.parents[1])
NOTEBOOKS = ROOT / "notebooks"
PARAMS = ROOT / "params"
PUBLISHED = PARAMS / "published"
OUTPUTS = _named("CODESTRESS_OUTPUTS", ROOT / "outputs")
STORE = _named("CODESTRESS_STORE", OUTPUTS / "responses.sqlite")
DATA = OUTPUTS / "data"
for _variable in ("CODESTRESS_DATA", "TIKTOKEN_CACHE_DIR"):
    _named(_variable, DATA)  # made absolute here, read by the modules that need them
FAILED = OUTPUTS / "failed"
MINE = "mine"
"""Name of the folder in outputs/ for artefacts with parameters from the command line (`--models`,
`--set`)."""
FILES = (
    "figure.pdf",
    "figure.png",
    "figure.svg",
    "table.csv",
    "table.md",
    "table.tex",
    "data.parquet",
    "answers.parquet",
    "answers.html",
    "spots.json",
    "manifest.json",
)
"""Names of the files that an artefact's notebook publishes in the artefact's folder."""


@contextmanager
def exported(variable: str, value: str) -> Iterator[None]:
    """Return a context manager that sets the environment variable `variable` to
    `value`, for this process and those that it starts. Afterwards the variable has its
    earlier value, or is unset if it had none."""
    before = os.environ.get(variable)
    os.environ[variable] = value
    try:
        yield
    finally:
        os.environ.pop(variable, None)
        if before is not None:
            os.environ[variable] = before


def visible(folder: Path, pattern: str = "*") -> list[Path]:
    """Return the sorted paths below `folder` that match `pattern`, without hidden files
    and folders. Hidden names begin with a dot; editors and operating systems leave such
    files there."""
    paths = folder.glob(pattern)
    return sorted(path for path in paths if "/." not in f"/{path.relative_to(folder)}")


def write_whole(path: Path, content: str | bytes) -> None:
    """Write `content` to the file `path`, a text as UTF-8, and create the file's
    folder. A process that reads meanwhile sees the old file or the new one, never a
    part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.urandom(4).hex()}.part")
    try:
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


@cache
def shown(path: Path) -> str:
    """Return the text of `path` for messages: relative to the project's root for a path
    inside the project, else unchanged."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
