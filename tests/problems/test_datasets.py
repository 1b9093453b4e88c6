"""Data sets are used only when they are what was pinned."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from codestress.errors import DataError, ParameterError
from codestress.problems import datasets
from codestress.problems.datasets import (
    DataFile,
    DataSet,
    data_file,
    fetch,
    find_dataset,
    load_catalogue,
    state,
)
from told import names, refused

CONTENT = b'"a" is connected to "b"\n'


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataSet:
    """A data set of one file whose address nobody answers, in a project of its own."""
    file = DataFile(
        path="x/y.txt",
        remote="y.txt",
        bytes=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
    )
    made = DataSet(
        name="made",
        description="d",
        licence="l",
        revision="r",
        base_url="http://127.0.0.1:9",
        files=[file],
    )
    monkeypatch.setattr(datasets, "DATA", tmp_path / "outputs")
    monkeypatch.setattr(datasets, "load_catalogue", lambda: {"made": made})
    monkeypatch.delenv("CODESTRESS_DATA", raising=False)
    return made


def test_a_missing_file_says_how_to_get_it(dataset: DataSet) -> None:
    assert state(dataset.files[0]) == "missing"
    with refused(DataError, "x/y.txt", "codestress data fetch made", "CODESTRESS_DATA"):
        data_file("made", "x/y.txt")
    with refused(DataError, "made", "http://127.0.0.1:9/y.txt", "CODESTRESS_DATA"):
        fetch(dataset, dataset.files[0])


def test_a_folder_serves_instead_of_the_network(
    dataset: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine/x").mkdir(parents=True)
    (tmp_path / "mine/x/y.txt").write_bytes(CONTENT)
    monkeypatch.setenv("CODESTRESS_DATA", str(tmp_path / "mine"))
    assert data_file("made", "x/y.txt").read_bytes() == CONTENT
    assert fetch(dataset, dataset.files[0]) == tmp_path / "outputs/x/y.txt"
    monkeypatch.delenv("CODESTRESS_DATA")
    assert data_file("made", "x/y.txt") == tmp_path / "outputs/x/y.txt"
    assert state(dataset.files[0]) == "ok"


@pytest.mark.parametrize("content", [CONTENT.replace(b"b", b"c"), CONTENT + b"more"])
def test_an_altered_file_is_refused(
    content: bytes, dataset: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine/x").mkdir(parents=True)
    (tmp_path / "mine/x/y.txt").write_bytes(content)
    monkeypatch.setenv("CODESTRESS_DATA", str(tmp_path / "mine"))
    assert state(dataset.files[0]) not in ("ok", "missing")
    with refused(DataError, "mine/x/y.txt", "remove", "codestress data fetch made"):
        data_file("made", "x/y.txt")
    with refused(DataError, "made", "mine/x/y.txt", "nothing"):
        fetch(dataset, dataset.files[0])
    assert not (tmp_path / "outputs").exists()


def test_the_catalogue() -> None:
    for dataset in load_catalogue().values():
        assert dataset.licence
        assert len(dataset.revision) == 40
    with refused(ParameterError, "'find-the-orign'", "'find-the-origin'"):
        find_dataset("find-the-orign")


def test_the_pinned_files_are_those_at_hand(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    states = {
        name: {state(file) for file in dataset.files} for name, dataset in load_catalogue().items()
    }
    assert states.pop("codexglue-python") == {"missing"}
    assert set().union(*states.values()) == {"ok"}


def test_a_file_of_unknown_size_is_known_by_its_hash(
    dataset: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = dataset.files[0].model_copy(update={"bytes": None})
    monkeypatch.setattr(
        datasets, "load_catalogue", lambda: {"made": dataset.model_copy(update={"files": [file]})}
    )
    path = tmp_path / "outputs/x/y.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert data_file("made", "x/y.txt") == path
    path.write_bytes(CONTENT + b"more")
    names(state(file), "SHA-256")


def test_a_file_without_an_address_says_that_only_a_copy_serves(
    dataset: DataSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = dataset.files[0].model_copy(update={"remote": None})
    monkeypatch.setattr(
        datasets, "load_catalogue", lambda: {"made": dataset.model_copy(update={"files": [file]})}
    )
    with refused(DataError, "x/y.txt", "no address", "CODESTRESS_DATA"):
        data_file("made", "x/y.txt")


@pytest.mark.usefixtures("dataset")
def test_a_file_that_a_data_set_does_not_have_names_the_nearest() -> None:
    with refused(DataError, "made", "x/z.txt", "'x/y.txt'"):
        data_file("made", "x/z.txt")
