"""Whether what was published is still what was written: SHA-256 of every file, in the artefact's manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from codestress.errors import DataError
from codestress.literals import parse_json
from codestress.paths import shown

if TYPE_CHECKING:
    import pandas as pd


class _Model(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: str
    engine: str = ""


class _Change(BaseModel):
    key: str
    now: Any
    before: Any = None
    of_model: bool = False


class _Changed(BaseModel):
    """What the command line changed."""

    changes: list[_Change]
    told: str
    unchanged: str
    remove: str
    difference: list[str] = []


class _Manifest(BaseModel):
    """What is read of a manifest, and stands for what is not there."""

    model_config = ConfigDict(extra="allow")

    title: str = ""
    alt: str = ""
    command: str = ""
    rule: str = ""
    commit: str = ""
    built_at: str = ""
    build_seconds: float = 0.0
    ask_seconds: float | None = None
    leaderboard: bool = False
    asked: int = 0
    tables: list[str] = []
    simulated: list[str] = []
    models: list[_Model] = []
    answered_by: dict[str, list[str]] = {}
    counts: dict[str, dict[str, int]] = {}
    parameters: dict[str, Any] = {}
    prompts: dict[str, str] = {}
    not_run: dict[str, str] = {}
    profile: str = ""
    changed: _Changed | None = None


def read_manifest(folder: Path) -> dict[str, Any]:
    """What an artefact says of itself; `DataError` where its file is no manifest."""
    path = folder / "manifest.json"
    try:
        return _Manifest.model_validate(parse_json(path.read_text(encoding="utf-8"))).model_dump()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        why = f"{'.'.join(map(str, first['loc'])) or 'the whole'}: {first['msg']}"
    except (OSError, ValueError) as error:
        why = str(error)
    raise DataError(f"{shown(path)}: is no manifest: {why}; build it again with --force")


Read = TypeVar("Read")


def kept(read: Callable[[Path], Read]) -> Callable[[Path], Read]:
    """A function that reads a file, which in one process reads it again only where it has changed since."""

    @cache
    def as_it_was(path: Path, changed_ns: int) -> Read:  # noqa: ARG001
        return read(path)

    @wraps(read)
    def now(path: Path) -> Read:
        return as_it_was(path, path.stat().st_mtime_ns if path.exists() else 0)

    return now


def read_table(
    path: Path, columns: Iterable[str] = (), kinds: Mapping[str, type[str | float]] | None = None
) -> pd.DataFrame:
    """A table that was published, texts that say nothing kept; `DataError` where it is none, lacks a column, or has
    something else than `kinds` in one."""
    import pandas as pd  # half a second, and a build with nothing to do reads none

    try:
        if path.suffix == ".parquet":  # whose own errors are of these kinds
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=kinds)
        lacking = [name for name in columns if name not in table.columns]
        if lacking:
            raise ValueError(f"it has no column {lacking[0]!r}")
    except (OSError, ValueError) as error:
        raise DataError(f"{shown(path)}: cannot be read: {error}; build it again with --force") from None
    return table


def sha256_of_files(folder: Path) -> dict[str, str]:
    """Of every file of an artefact but its manifest, by name."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "manifest.json")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def changes_of_files(folder: Path, manifest: Any) -> list[str]:
    """What became of an artefact's files since its manifest was written; empty where each is as it was."""
    written = manifest.get("sha256") if isinstance(manifest, dict) else None
    if not isinstance(written, dict) or not written:
        return ["manifest.json has no SHA-256 of its files"]
    missing = [f"{name} is missing" for name in written if not (folder / name).is_file()]
    now = {} if missing else sha256_of_files(folder)
    return missing + [
        f"{name} is not what was written" for name in now if name in written and now[name] != written[name]
    ]


def changed_files(outputs: Path) -> list[str]:
    """The same of all artefacts of all profiles, with their places."""
    found = []
    for path in sorted(outputs.glob("*/*/*/manifest.json")):
        try:
            manifest = read_manifest(path.parent)
        except DataError as error:
            found.append(str(error))
            continue
        found += [f"{shown(path.parent)}: {change}" for change in changes_of_files(path.parent, manifest)]
    return found
