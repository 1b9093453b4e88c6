"""Data sets with pinned revision, size, SHA-256 and licence (params/datasets.yaml).

A file is looked for in the folder that CODESTRESS_DATA names, then in outputs/data/, and is used only when its
hash is the pinned one. Nothing is fetched unless asked for (`codestress data fetch`).
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from pydantic import Field

from codestress.errors import DataError, ParameterError
from codestress.paths import DATA, PARAMS, shown
from codestress.validation import Strict, check, nearest, read_yaml

CATALOGUE = PARAMS / "datasets.yaml"


class DataFile(Strict):
    path: str
    """Below the data folder."""
    remote: str | None
    """Below `base_url`; null where the source's own file name is not known and only a local copy serves."""
    bytes: int = Field(gt=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class DataSet(Strict):
    """One row of the catalogue."""

    name: str
    description: str
    licence: str
    revision: str
    base_url: str
    files: list[DataFile]


def load_catalogue(path: Path = CATALOGUE) -> dict[str, DataSet]:
    """All data sets by name."""
    return {
        name: check(DataSet, {"name": name, **row}, f"{shown(path)}: {name}") for name, row in read_yaml(path).items()
    }


def folders() -> list[Path]:
    """Where data files are looked for, in this order."""
    given = os.environ.get("CODESTRESS_DATA")
    return [*([Path(given)] if given else []), DATA]


def at_hand(name: str) -> Path | None:
    """The first copy of a file, by its path below the data folder."""
    return next((path for folder in folders() if (path := folder / name).is_file()), None)


def state(file: DataFile) -> str:
    """`ok`, `missing`, or what is wrong with the first copy found."""
    path = at_hand(file.path)
    return _verdict(path.read_bytes(), file) if path else "missing"


def _verdict(content: bytes, file: DataFile) -> str:
    if len(content) != file.bytes:
        return f"has {len(content)} bytes, not {file.bytes}"
    found = hashlib.sha256(content).hexdigest()
    return "ok" if found == file.sha256 else f"has SHA-256 {found[:12]}…, not {file.sha256[:12]}…"


def data_file(name: str, path: str) -> Path:
    """The verified file of a data set; `DataError` with the remedy when it is missing or altered."""
    dataset = find_dataset(name)
    files = {file.path: file for file in dataset.files}
    if path not in files:
        raise DataError(f"data set {name}: {path}: not among its files in {shown(CATALOGUE)}{nearest(path, files)}")
    found = at_hand(path)
    if found is None:
        raise DataError(
            f"data set {name}: {path} is not in {' or '.join(map(str, folders()))}; run `codestress data fetch {name}` "
            "(needs a network), or set CODESTRESS_DATA to a folder that has it"
        )
    verdict = _verdict(found.read_bytes(), files[path])
    if verdict != "ok":
        raise DataError(f"{found}: {verdict}; remove it and run `codestress data fetch {name}`")
    return found


def find_dataset(name: str) -> DataSet:
    """The catalogue's row; an unknown name is an error with the nearest valid one."""
    catalogue = load_catalogue()
    if name not in catalogue:
        raise ParameterError(f"data set {name!r}: not in {shown(CATALOGUE)}{nearest(name, catalogue)}")
    return catalogue[name]


def fetch(dataset: DataSet, file: DataFile) -> Path:
    """Brings one file to outputs/data/, from CODESTRESS_DATA or the network, verified before it is put in place."""
    target = DATA / file.path
    given = os.environ.get("CODESTRESS_DATA")
    local = Path(given) / file.path if given else None
    if local and local.is_file():
        source, content = str(local), local.read_bytes()
    elif file.remote is None:
        raise DataError(f"data set {dataset.name}: {file.path} has no address; put a copy below CODESTRESS_DATA")
    else:
        source = f"{dataset.base_url}/{file.remote}"
        try:
            with urllib.request.urlopen(source, timeout=60) as reply:
                content = reply.read(file.bytes + 1)
        except (urllib.error.URLError, OSError) as error:
            raise DataError(
                f"data set {dataset.name}: {source} cannot be fetched ({error}); check the network, "
                "or set CODESTRESS_DATA to a folder that has the file"
            ) from None
    verdict = _verdict(content, file)
    if verdict != "ok":
        raise DataError(f"data set {dataset.name}: {source} {verdict}; nothing was written")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, delete=False) as part:
        part.write(content)
    Path(part.name).replace(target)
    return target
