"""The store with real processes and real files: nothing that was answered is lost."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TextIO

import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st
from processes import started

from codestress.cli import answers
from codestress.errors import EngineError, StoreError
from codestress.inference.registry import ModelEntry
from codestress.inference.requests import belongs, server_of
from codestress.inference.store import Store
from codestress.report.checked import sha256_of_files
from codestress.types import Response, Usage
from conftest import THOROUGH
from served import settings_of
from told import names, refused

texts = st.text(st.characters(codec=None), max_size=200)
tokens = st.none() | st.integers(0, 10**9)
responses = st.builds(
    Response,
    text=texts,
    finish_reason=st.sampled_from(["stop", "length", "content_filter"]),
    usage=st.builds(Usage, tokens, tokens, tokens, tokens),
    seconds=st.floats(0, 1e6),
    answered_by=st.text(
        st.characters(codec="utf-8", exclude_characters="\0"), max_size=30
    ),
    answered_at=st.just("2026-01-01T00:00:00+00:00"),
)


def key(number: int) -> str:
    return f"{number:032x}"


def put(
    store: Store, number: int, text: str = "x", name: str = "m", **facts: Any
) -> None:
    store.put(key(number), name, Response(text, "stop", **facts))


def fill(path: Path, count: int) -> None:
    with Store(path) as store:
        for number in range(count):
            put(store, number, f"{number} " * 40)


def by_hand(path: Path, statement: str, *values: object) -> list[Any]:
    """Runs a statement on a store's file, past the kit."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(statement, values).fetchall()


@given(response=responses)
@settings(max_examples=60 if THOROUGH else 20, deadline=None)
def test_a_response_comes_back_as_it_was(response: Response) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder) / "s.sqlite") as store:
            store.put(key(1), "m", response)
            assert store.get([key(1)]) == {key(1): response}
        with Store(Path(folder) / "s.sqlite") as again:
            assert again.get([key(1)]) == {key(1): response}


def test_an_answer_is_never_replaced(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        put(store, 0, "first")
        rows = [(n, Response(str(n), "stop")) for n in range(0, 3000, 2)]
        store.put_all((key(n), "ab"[n >= 1000], response) for n, response in rows)
        wanted = [5, *range(2999, -1, -1), 5]
        stored = {key(n): response for n, response in rows}
        stored[key(0)] = Response("first", "stop")
        assert store.get(map(key, wanted)) == stored
        assert store.count() == 1500
        assert store.counts_by_model() == {"a": 499, "b": 1000, "m": 1}


CHILD = """
import resource
import sys
from pathlib import Path
from test_store import Store, put

first, last, most = map(int, sys.argv[2:])
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
with Store(Path(sys.argv[1])) as store:
    for number in range(first, last):
        put(store, number, "x" * 300)
        print(number, flush=True)
"""


def child(
    path: Path, first: int, last: int, said: TextIO | None = None, most: int = 0
) -> subprocess.Popen[str]:
    """A process that stores answers and prints their numbers, in files of at most so many bytes."""
    out = said or subprocess.DEVNULL
    return started(CHILD, path, first, last, most, stdout=out)


@pytest.mark.slow
def test_processes_that_make_and_fill_one_store_at_once(tmp_path: Path) -> None:
    for attempt in range(3):
        path = tmp_path / f"{attempt}.sqlite"
        children = [child(path, first, first + 400) for first in (0, 200, 400, 600)]
        for process in children:
            _, errors = process.communicate(timeout=600)
            assert process.returncode == 0, errors
        with Store(path) as store:
            assert store.count() == 1000


def test_what_was_said_to_be_on_disk_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    random.seed(0)
    for attempt in range(4):
        log = tmp_path / f"{attempt}.log"
        with log.open("w") as said:
            process = child(path, attempt * 100_000, attempt * 100_000 + 100_000, said)
            enough = random.randrange(10, 2000)
            while log.stat().st_size < enough:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        check_stored(path, log)


def of_version(path: Path, version: int) -> None:
    fill(path, 1)
    by_hand(path, f"PRAGMA user_version={version}")


def check_stored(path: Path, log: Path) -> None:
    """What a process said to be on disk is there."""
    lines = log.read_text().splitlines(keepends=True)
    whole = [int(line) for line in lines if line.endswith("\n")]
    assert len(whole) > 1
    with Store(path) as store:
        assert len(store.get(map(key, whole))) == len(whole)
        assert store.faults() == []


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda path: path.write_text("These are my notes. " * 300), ".recover"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + bytes(5000)), ".recover"),
        (lambda path: by_hand(path, "CREATE TABLE other (x)"), "CODESTRESS_STORE"),
        (lambda path: of_version(path, 1), "CODESTRESS_STORE"),
        (lambda path: of_version(path, 99), "CODESTRESS_STORE"),
        (lambda path: path.mkdir(), "CODESTRESS_STORE"),
        (lambda path: truncated(path), ".recover"),
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


def damaged(path: Path) -> int:
    """A store of 2,000 responses with a page in its middle overwritten; returns its size."""
    fill(path, 2000)
    by_hand(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    page = len(content) // 4096 // 2
    content[page * 4096 : (page + 1) * 4096] = b"\x5a" * 4096
    path.write_bytes(content)
    return len(content)


def truncated(path: Path) -> None:
    size = damaged(path)
    path.write_bytes(path.read_bytes()[: size // 2 // 4096 * 4096])


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the sqlite3 program")
def test_the_remedy_of_a_damaged_store_saves_what_can_be_read(tmp_path: Path) -> None:
    path, fresh = tmp_path / "damaged.sqlite", tmp_path / "fresh.sqlite"
    by_hand(tmp_path / "sound.sqlite", "CREATE TABLE sound (x)")

    def sqlite(name: Path, *command: str, given: bytes = b"") -> bytes:
        words = ["sqlite3", str(name), *command]
        return subprocess.run(words, input=given, capture_output=True).stdout

    if b"COMMIT" not in sqlite(tmp_path / "sound.sqlite", ".recover"):
        pytest.skip("this sqlite3 program cannot recover a sound file either")
    damaged(path)
    sqlite(fresh, given=sqlite(path, ".recover"))
    with Store(fresh) as store:
        assert 1500 < store.count() <= 2000
        found = store.get([key(n) for n in range(2000)])
    assert all(response.text == f"{int(k, 16)} " * 40 for k, response in found.items())


def test_a_log_without_its_store_is_never_deleted(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        put(store, 1)
        log = Path(f"{path}-wal").read_bytes()
    assert log
    path.unlink()
    Path(f"{path}-wal").write_bytes(log)
    with refused(StoreError, "s.sqlite-wal"), Store(path):
        pass
    assert Path(f"{path}-wal").read_bytes() == log


def test_what_sqlite_cannot_hold_stops_nobody(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        put(store, 1, usage=Usage(1 << 80, -1))
        assert store.get([key(1)])[key(1)].usage == Usage()
        with pytest.raises(StoreError):
            store.put(key(2), "\ud800", Response("bad name", "stop"))
        put(store, 3)


def test_a_store_that_another_holds_is_waited_for_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the other process is done, the next answer is stored again."""
    monkeypatch.setattr("codestress.inference.store.BUSY_S", 1)
    path = tmp_path / "s.sqlite"
    with (
        Store(path) as store,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        put(store, 0)
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with refused(StoreError, "s.sqlite", "another process"):
            put(store, 1)
        assert time.monotonic() - begun > 0.9
        assert len(store.get([key(0)])) == 1  # who only reads waits for nobody
        other.execute("ROLLBACK")
        put(store, 9)
        assert store.count() == 2


def test_a_full_disk_is_said_and_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    path, log = tmp_path / "s.sqlite", tmp_path / "full.log"
    with log.open("w") as said:
        process = child(path, 0, 3000, said, most=150_000)
        names(process.communicate(timeout=600)[1], "s.sqlite", "disk")
    check_stored(path, log)
    with Store(path) as store:
        put(store, 9999)


def test_the_rate_is_that_of_the_last_answers_and_a_clock_that_jumps_gives_none(
    tmp_path: Path,
) -> None:
    def rate(name: str, *times: str) -> float | None:
        with Store(tmp_path / name) as store:
            for number, answered_at in enumerate(times):
                put(store, number, answered_at=answered_at)
            assert store.rate("other") is None
            return store.rate("m")

    at = "2026-01-02T00:00:{:02}+00:00"
    steady = [at.format(2 * number) for number in range(11)]
    assert rate("s.sqlite", *steady) == pytest.approx(10 / 20)
    assert rate("none.sqlite") is None
    assert rate("back.sqlite", at.format(0), at.format(0), "no time at all") is None


CELLS = {
    "model": "CAST(x'ff61' AS TEXT)",
    "text": "x'00'",
    "finish_reason": "CAST(x'ff61' AS TEXT)",
    "prompt_tokens": "9",
    "cached_tokens": "9",
    "seconds": "9",
    "answered_by": "CAST(x'ff61' AS TEXT)",
    "server": "CAST(x'ff61' AS TEXT)",
}
CHANGE = "UPDATE responses SET {} = {} WHERE key = ?"


@pytest.mark.parametrize("column", CELLS)
def test_a_changed_cell_is_named_and_asked_again_only_when_told(
    tmp_path: Path, column: str
) -> None:
    path = tmp_path / "s.sqlite"
    fill(path, 30)
    by_hand(path, CHANGE.format(column, CELLS[column]), key(7))
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
    assert by_hand(path, "SELECT key FROM damaged") == [(key(7),)]


def test_no_flipped_bit_changes_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    fill(path, 40)
    by_hand(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    content, draw = path.read_bytes(), random.Random(0)
    told = 0
    for attempt in range(150):
        copy = tmp_path / f"{attempt}.sqlite"
        flipped = bytearray(content)
        flipped[draw.randrange(4096, len(content))] ^= 1 << draw.randrange(8)
        copy.write_bytes(flipped)
        try:
            with Store(copy) as store:
                found = store.get([key(n) for n in range(40)])
        except StoreError:
            told += 1
        else:
            for k, response in found.items():
                assert response == Response(f"{int(k, 16)} " * 40, "stop")
    assert told > 50


def test_store_verify_names_what_changed(
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

    def verify(*named: str, option: str = "") -> None:
        done = CliRunner().invoke(answers.store, ["verify", *filter(None, [option])])
        assert done.exit_code == bool(named)
        names(done.output, *named)

    verify()
    table.write_text("a\n2\n")
    by_hand(path, CHANGE.format("text", "x'00'"), key(3))
    verify(key(3), "table.csv")
    verify("table.csv", option="--repair")
    table.write_text("a\n1\n")
    verify()
    manifest.write_text("[1]")
    verify("manifest.json")


PLAIN, LOCAL = "http://a.example/v1", "http://localhost:8000/v1"
SERVERS = [
    # Recorded, asked now (base_url, variable), the same row, revision, whether the answers count
    (PLAIN, ("http://A.example:80/v1/", ""), False, "", True),
    (PLAIN, ("http://b.example/v1", ""), True, "7", False),
    (PLAIN, ("http://b.example/v1", ""), True, "", False),
    (PLAIN, ("https://a.example/v1", ""), True, "7", False),
    (PLAIN, ("http://a.example/v2", ""), True, "7", False),
    (LOCAL, ("http://127.0.0.1:8000/v1", ""), False, "", True),
    (LOCAL, ("http://127.0.0.1:9000/v1", ""), True, "7", True),
    (LOCAL, ("http://127.0.0.1:9000/v1", ""), True, "", False),
    (LOCAL, ("http://localhost:8000/b/v1", ""), True, "7", False),
    (LOCAL, ("http://127.0.0.1:9000/v1", ""), False, "7", False),
    (LOCAL, ("http://gpu.example/v1", "GPU"), True, "7", True),
    (LOCAL, ("http://gpu.example/v1", "GPU"), True, "", False),
    (LOCAL, ("http://gpu.example/v1", "GPU"), False, "7", False),
]


@pytest.mark.parametrize(("then", "now", "same_row", "revision", "counts"), SERVERS)
def test_answers_belong_to_their_server(
    then: str,
    now: tuple[str, str],
    same_row: bool,
    revision: str,
    counts: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def entry(name: str, address: str, variable: str = "") -> ModelEntry:
        settings = settings_of(address, base_url_env=variable or None)
        facts = {"engine": "openai", "id": "m", "revision": revision}
        return ModelEntry(name=name, settings=settings, **facts)

    address, variable = now
    monkeypatch.delenv("GPU", raising=False)
    with Store(tmp_path / "s.sqlite") as store:
        put(store, 1, name="one", server=server_of(entry("one", then)))
        put(store, 2, name="one")  # nobody knows where from
        if variable:
            monkeypatch.setenv(variable, address)
            address = then
        row = entry("one" if same_row else "two", address, variable)
        assert len(store.get([key(2)], belongs(row))) == 1
        elsewhere = refused(EngineError, "one", row.name, "revision")
        with nullcontext() if counts else elsewhere:
            assert len(store.get([key(1)], belongs(row))) == 1
