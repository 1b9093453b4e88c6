"""Files that are no store, and stores with damage: refused, kept, and repaired on demand."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from stored import execute, fill, key, put, text_of

from codestress.cli import answers
from codestress.errors import StoreError
from codestress.inference.store import Store
from codestress.report.checked import sha256_of_files
from codestress.types import Response
from told import names, refused


def of_another_version(path: Path) -> None:
    fill(path, 1)
    execute(path, "PRAGMA user_version=99")


def cut(path: Path) -> None:
    fill(path, 2000)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2 // 4096 * 4096])


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda path: path.write_text("These are my notes. " * 300), ".recover"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(5000)), ".recover"),
        (lambda path: execute(path, "CREATE TABLE other (x)"), "CODESTRESS_STORE"),
        (of_another_version, "CODESTRESS_STORE"),
        (Path.mkdir, "CODESTRESS_STORE"),
        (cut, ".recover"),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_kept(
    make: Callable[[Path], object], remedy: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.sqlite"
    make(path)
    before = path.read_bytes() if path.is_file() else b""
    with refused(StoreError, "s.sqlite", remedy), Store(path) as store:
        store.get(map(key, range(2000)))
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_log_without_its_store_is_never_deleted(tmp_path: Path) -> None:
    path, log = tmp_path / "s.sqlite", tmp_path / "s.sqlite-wal"
    with Store(path) as store:
        put(store, 1)
        content = log.read_bytes()
    assert content
    path.unlink()
    log.write_bytes(content)
    with refused(StoreError, "s.sqlite-wal"), Store(path):
        pass
    assert log.read_bytes() == content


CHANGE = "UPDATE responses SET {} = {} WHERE key = ?"


@pytest.mark.parametrize(
    ("column", "value"),
    [("text", "x'00'"), ("model", "CAST(x'ff61' AS TEXT)"), ("cached_tokens", "9")],
)
def test_a_changed_cell_is_named_and_asked_again_only_after_a_repair(
    tmp_path: Path, column: str, value: str
) -> None:
    path = tmp_path / "s.sqlite"
    fill(path, 30)
    execute(path, CHANGE.format(column, value), key(7))
    with Store(path) as store:
        with refused(StoreError, key(7), "codestress store verify", "--repair"):
            store.get(map(key, range(30)))
        assert len(store.get([key(6), key(8)])) == 2
        assert list(store.damaged().values()) == [key(7)]
        store.set_aside(store.damaged())
        assert store.damaged() == {}
        assert store.get([key(7)]) == {}
        assert store.count() == 29
        put(store, 7, "again")
        assert store.get([key(7)])[key(7)].text == "again"
    assert execute(path, "SELECT key FROM damaged") == [(key(7),)]


def test_no_flipped_bit_changes_an_answer(tmp_path: Path) -> None:
    path, copy = tmp_path / "s.sqlite", tmp_path / "copy.sqlite"
    fill(path, 40)
    content, draw = path.read_bytes(), random.Random(0)
    sound = {key(number): Response(text_of(number), "stop") for number in range(40)}
    refusals = 0
    for _ in range(150):
        flipped = bytearray(content)
        flipped[draw.randrange(4096, len(content))] ^= 1 << draw.randrange(8)
        copy.write_bytes(flipped)
        try:
            with Store(copy) as store:
                responses = store.get(sound)
        except StoreError:
            refusals += 1
        else:
            assert responses.items() <= sound.items()
    assert refusals > 50


def test_store_verify_names_every_changed_answer_and_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = tmp_path / "s.sqlite", tmp_path / "demo" / "origin" / "fig04"
    monkeypatch.setattr(answers, "STORE", path)
    monkeypatch.setattr(answers, "OUTPUTS", tmp_path)
    table, manifest = folder / "table.csv", folder / "manifest.json"
    folder.mkdir(parents=True)
    table.write_text("a\n1\n")
    manifest.write_text(json.dumps({"sha256": sha256_of_files(folder)}))
    fill(path, 20)

    def verify(*parts: str, options: tuple[str, ...] = ()) -> None:
        result = CliRunner().invoke(answers.store, ["verify", *options])
        assert result.exit_code == bool(parts)
        names(result.output, *parts)

    verify()
    table.write_text("a\n2\n")
    execute(path, CHANGE.format("text", "x'00'"), key(3))
    verify(key(3), "table.csv")
    verify("table.csv", options=("--repair",))
    table.write_text("a\n1\n")
    verify()
    manifest.write_text("[1]")
    verify("manifest.json")
