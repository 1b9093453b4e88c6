"""Manifests and tables of built artefacts, read and validated, and a check that
published files are unchanged since their SHA-256 was recorded in the manifest."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from codestress.errors import DataError, ParameterError
from codestress.literals import parse_json
from codestress.paths import FAILED, OUTPUTS, PACKAGE, PUBLISHED, shown, visible
from codestress.validation import check

if TYPE_CHECKING:
    import pandas as pd


class _Model(BaseModel, extra="allow"):
    name: str
    engine: str = ""


class _Manifest(BaseModel, extra="allow"):
    """Fields that the kit reads from a manifest, with defaults for missing fields.
    Unknown fields of the file are kept as they are."""

    title: str = ""
    alt: str = ""
    command: str = ""
    rule: str = ""
    protocol: str = ""
    commit: str = ""
    built_at: str = ""
    build_seconds: float = 0.0
    leaderboard: bool = False
    asked: int = 0
    tables: list[str] = []
    simulated: list[str] = []
    models: list[_Model] = []
    answered_by: dict[str, list[str]] = {}
    counts: dict[str, dict[str, int]] = {}
    parameters: dict[str, Any] = {}
    prompts: dict[str, str] = {}
    environment: dict[str, str] = {}
    inputs: dict[str, str] = {}
    sha256: dict[str, str] = {}
    not_run: dict[str, str] = {}
    not_asked: dict[str, int] = {}
    reasons: dict[str, dict[str, int]] = {}
    changed: dict[str, Any] | None = None


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the fields of manifest.json in an artefact's `folder`, with defaults for
    missing fields.

    Raises `DataError` if the file is missing or is not a manifest.
    """
    path = folder / "manifest.json"
    try:
        content = parse_json(path.read_text("utf-8"))
        return check(_Manifest, content, path.name).model_dump()
    except (OSError, ValueError, ParameterError) as error:
        raise damaged(path, f"is no manifest: {error!s:.300}") from None


def damaged(path: Path, why: str) -> DataError:
    """Return, but do not raise, the `DataError` for a file of a build that cannot be
    used: its `path`, the reason `why`, and the remedy (build it again)."""
    return DataError(f"{shown(path)}: {why}; build it again with --force")


def read_table(
    path: Path,
    columns: Iterable[str] = (),
    numbers: Sequence[str] = (),
) -> pd.DataFrame:
    """Return the table in the file `path` (CSV or Parquet); texts such as NA stay texts.

    `columns` are required; `numbers` are the columns of a CSV file that hold numbers: all others
    are texts. Raises `DataError` where the file is missing or no
    table, lacks a column, or has a text among `numbers`.
    """
    # Imported here: it takes half a second, and a build with nothing to do needs none.
    import pandas as pd

    place = ""
    try:
        # The errors of Parquet are of these kinds, too.
        if path.suffix == ".parquet":
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=str)
        for name in columns:
            if name not in table.columns:
                raise ValueError(f"it has no column {name!r}")
        for name in numbers:
            place = f"column {name}: "
            table[name] = table[name].astype(float)
    except (OSError, ValueError) as error:
        raise damaged(path, f"cannot be read: {place}{error}") from None
    return table


def sha256_of_files(folder: Path, but: str = "manifest.json") -> dict[str, str]:
    """Return a dict from the name of every file in `folder`, without the file `but`, to
    its SHA-256."""
    digests = {}
    for path in visible(folder):
        if path.is_file() and path.name != but:
            digests[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests


def seal(profile: str, page: str) -> str:
    """Return the last line of the report page `page` of a profile: a comment with the SHA-256 of
    the page, of the tables beside it, and of all that it is made from."""
    digest = hashlib.sha256(page.encode())
    for path in (
        *visible(OUTPUTS / profile, "models.*"),
        *visible(OUTPUTS / profile, "*/*/manifest.json"),
        *visible(FAILED / profile, "*/*/error.txt"),
        *visible(PUBLISHED, "*.json"),
        *visible(PACKAGE / "report", "*.*"),
    ):
        digest.update(bytes(path) + path.read_bytes())
    return f"<!-- {digest.hexdigest()} -->\n"


def sealed(profile: str) -> bool:
    """Return whether the report page of a profile is whole, and made from what lies in the
    profile's folder now."""
    path = OUTPUTS / profile / "index.html"
    text = path.read_text("utf-8", "replace") if path.is_file() else ""
    page = text.rpartition("<!--")[0]
    return text == page + seal(profile, page)


def changes_of_files(folder: Path, manifest: Any) -> list[str]:
    """Return in words the files in `folder` that are missing or differ from the SHA-256
    in `manifest`; empty if there are none.

    A manifest without SHA-256 counts as a difference. Files that the manifest does not
    name are ignored.
    """
    if not manifest["sha256"]:
        return ["manifest.json has no SHA-256 of its files"]
    digests = sha256_of_files(folder)
    changes = []
    for name, digest in manifest["sha256"].items():
        if name not in digests:
            changes.append(f"{name} is missing")
        elif digests[name] != digest:
            changes.append(f"{name} is not what was written")
    return changes


def changed_files(outputs: Path) -> list[str]:
    """Return in words the changed files of all artefacts of all profiles below
    `outputs`, each with its folder.

    A faulty manifest counts as a changed file.
    """
    changes = []
    for path in visible(outputs, "*/*/*/manifest.json"):
        folder = path.parent
        try:
            for change in changes_of_files(folder, read_manifest(folder)):
                changes.append(f"{shown(folder)}: {change}")
        except DataError as error:
            changes.append(str(error))
    return changes
