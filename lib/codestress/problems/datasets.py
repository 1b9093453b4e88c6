"""Data sets with pinned revision, size, SHA-256 and licence (params/datasets.yaml).

A file is looked for in the folder that CODESTRESS_DATA names, then in outputs/data/.
The file is used only if its hash is the pinned one. Only `codestress data fetch`
downloads files.
"""

import gzip
import hashlib
import json
import os
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import Any

from pydantic import Field

from codestress.errors import DataError, ParameterError
from codestress.paths import DATA, PARAMS, shown, write_whole
from codestress.validation import Strict, nearest, read_rows

CATALOGUE = PARAMS / "datasets.yaml"
LARGEST = 2**30
"""Largest number of bytes to fetch of a file whose size is not pinned."""


class DataFile(Strict):
    path: str
    """Path of the file, relative to the data folder."""
    remote: str | None
    """Path of the file, relative to `base_url`; None if the source's file name is
    unknown, so that only a local copy can be used."""
    bytes: int | None = Field(gt=0)
    """Size in bytes; None if the source states only a rounded size."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class DataSet(Strict):
    """One data set, a row of params/datasets.yaml: description, licence, revision, address
    (`base_url`) and files."""

    description: str
    licence: str
    revision: str
    base_url: str
    files: list[DataFile]


def load_catalogue() -> dict[str, DataSet]:
    """Return a dict from name to `DataSet` for the rows of the catalogue,
    params/datasets.yaml. Raises `ParameterError` for an invalid file."""
    return read_rows(CATALOGUE, DataSet)


def folders() -> list[Path]:
    """Return the folders in which data files are looked for, in order: CODESTRESS_DATA
    if it is set, then outputs/data/."""
    named = os.environ.get("CODESTRESS_DATA")
    if named:
        return [Path(named), DATA]
    return [DATA]


def at_hand(name: str) -> Path | None:
    """Return the path of the first copy of a data file in `folders()`; None if there is
    no copy. The copy's hash is not checked.

    `name` is the file's path relative to the data folder.
    """
    for folder in folders():
        if (folder / name).is_file():
            return folder / name
    return None


def state(file: DataFile) -> str:
    """Return the state of the data file `file` on this machine as text: `ok`,
    `missing`, or the wrong size or hash of the first copy found."""
    if path := at_hand(file.path):
        return _verdict(path.read_bytes(), file)
    return "missing"


def _verdict(content: bytes, file: DataFile) -> str:
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.sha256:
        what = f"has {len(content):,} bytes with SHA-256 {digest[:12]}…"
        return f"{what}, not {file.sha256[:12]}…"
    return "ok"


def data_file(name: str, path: str) -> Path:
    """Return the path of a verified copy of the file `path` (relative to the data
    folder) of the data set `name`.

    Raises `ParameterError` for an unknown data set. Raises `DataError` with the remedy
    if the data set has no such file, or its copy is missing or altered.
    """
    dataset = find_dataset(name)
    files = {file.path: file for file in dataset.files}
    if path not in files:
        raise DataError(
            f"data set {name}: {path}: not among its files in {shown(CATALOGUE)}{nearest(path, files)}"
        )
    copy = at_hand(path)
    if copy is None:
        remedy = "it has no address: set"
        if files[path].remote:
            remedy = f"run `codestress data fetch {name}` (needs a network), or set"
        raise DataError(
            f"data set {name}: {path} is not in {' or '.join(map(str, folders()))}; {remedy} CODESTRESS_DATA to a "
            "folder with it"
        )
    if (verdict := _verdict(copy.read_bytes(), files[path])) != "ok":
        raise DataError(
            f"{copy}: {verdict}; remove it and run `codestress data fetch {name}`"
        )
    return copy


def data_rows(name: str, path: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the file `path` of the data set `name`, gzipped JSON Lines, as
    dicts. Raises the errors of `data_file`."""
    with gzip.open(data_file(name, path), "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def find_dataset(name: str) -> DataSet:
    """Return the `DataSet` with this `name` in params/datasets.yaml. Raises
    `ParameterError` with the nearest valid name if there is none."""
    catalogue = load_catalogue()
    if name not in catalogue:
        raise ParameterError(
            f"data set {name!r}: not in {shown(CATALOGUE)}{nearest(name, catalogue)}"
        )
    return catalogue[name]


def fetch(name: str, file: DataFile) -> Path:
    """Copy `file`, one of the files of the data set `name`, to outputs/data/ and return
    its new path.

    The source is the copy in CODESTRESS_DATA if there is one, else the network. The
    content is verified before it is written. Raises `DataError` if the file cannot be
    fetched or has another size or hash.
    """
    target = DATA / file.path
    local = folders()[0] / file.path
    if local != target and local.is_file():
        source, content = str(local), local.read_bytes()
    elif file.remote is None:
        raise DataError(
            f"data set {name}: {file.path} has no address; put a copy below CODESTRESS_DATA"
        )
    else:
        source = f"{find_dataset(name).base_url}/{file.remote}"
        try:
            with urllib.request.urlopen(source, timeout=60) as reply:
                content = reply.read((file.bytes or LARGEST) + 1)
        except (OSError, HTTPException, ValueError) as error:
            raise DataError(
                f"data set {name}: {source} cannot be fetched ({error}); check the "
                "network: HTTPS_PROXY names a proxy, SSL_CERT_FILE a file with its certificates; "
                "or set CODESTRESS_DATA to a folder with the file"
            ) from None
    if (verdict := _verdict(content, file)) != "ok":
        raise DataError(f"data set {name}: {source} {verdict}; nothing was written")
    write_whole(target, content)
    return target
