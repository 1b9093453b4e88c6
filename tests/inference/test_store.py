"""The store with real processes and real files: nothing that was answered is lost."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TextIO

import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from codestress.cli import answers
from codestress.errors import EngineError, StoreError
from codestress.inference.registry import ModelEntry
from codestress.inference.servers import belongs, server_of
from codestress.inference.store import Store
from codestress.report.checked import sha256_of_files
from codestress.types import Response, Usage
from conftest import THOROUGH
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


def fill(path: Path, count: int, size: int = 200) -> None:
    with Store(path) as store:
        for i in range(count):
            store.put(key(i), "m", Response(f"{i} " * (size // 5), "stop"))


@given(response=responses)
@settings(max_examples=60 if THOROUGH else 20, deadline=None)
def test_a_response_comes_back_as_it_was(response: Response) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Store(Path(folder) / "s.sqlite") as store:
            store.put(key(1), "m", response)
            assert store.get([key(1)]) == {key(1): response}
        with Store(Path(folder) / "s.sqlite") as again:
            assert again.get([key(1)]) == {key(1): response}


def test_missing_keeps_order_and_an_answer_is_never_replaced(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        for number in range(0, 3000, 2):
            store.put(
                key(number),
                "a" if number < 1000 else "b",
                Response(str(number), "stop"),
            )
        store.put(key(0), "a", Response("another", "stop"))
        wanted = [key(number) for number in [5, *range(2999, -1, -1), 5]]
        assert store.missing(wanted) == [
            key(5),
            *(key(n) for n in range(2999, -1, -1) if n % 2 and n != 5),
        ]
        assert store.get([key(0), key(1)]) == {key(0): Response("0", "stop")}
        assert (store.count(), store.counts_by_model()) == (1500, {"a": 500, "b": 1000})


CHILD = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from codestress.inference.store import Store
    from codestress.types import Response

    path, first, last = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    with Store(path) as store:
        for number in range(first, last):
            store.put(f"{number:032x}", "m", Response("x" * 300, "stop"))
            print(number, flush=True)
    """
)


def child(
    path: Path, first: int, last: int, said: TextIO | None = None
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CHILD, str(path), str(first), str(last)]
    return subprocess.Popen(
        command, stdout=said or subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_processes_that_make_and_fill_one_store_at_once(tmp_path: Path) -> None:
    for attempt in range(3):
        path = tmp_path / f"{attempt}.sqlite"
        children = [child(path, first, first + 400) for first in (0, 200, 400, 600)]
        for process in children:
            _, errors = process.communicate(timeout=600)
            assert process.returncode == 0, errors
        with Store(path) as store:
            assert store.missing([key(n) for n in range(1000)]) == []


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
        whole = [
            int(line)
            for line in log.read_text().splitlines(keepends=True)
            if line.endswith("\n")
        ]
        assert len(whole) > 1
        with Store(path) as store:
            assert store.missing([key(n) for n in whole]) == []
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")


def of_version(path: Path, version: int) -> None:
    fill(path, 1)
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version={version}")


@pytest.mark.parametrize(
    ("make", "remedy"),
    [
        (lambda path: path.write_text("These are my notes. " * 300), ".recover"),
        (
            lambda path: path.write_bytes(
                b"SQLite format 3\0" + bytes(range(256)) * 20
            ),
            ".recover",
        ),
        (foreign, "CODESTRESS_STORE"),
        (lambda path: of_version(path, 1), "CODESTRESS_STORE"),
        (lambda path: of_version(path, 99), "CODESTRESS_STORE"),
        (lambda path: path.mkdir(), "CODESTRESS_STORE"),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_kept(
    make: object, remedy: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.sqlite"
    make(path)  # type: ignore[operator]
    before = path.read_bytes() if path.is_file() else b""
    with refused(StoreError, "s.sqlite", remedy), Store(path) as store:
        store.count()
    assert (path.read_bytes() if path.is_file() else b"") == before


def damaged(path: Path) -> int:
    """A store of 2,000 responses with a page in its middle overwritten; returns its size."""
    fill(path, 2000)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    page = len(content) // 4096 // 2
    content[page * 4096 : (page + 1) * 4096] = b"\x5a" * 4096
    path.write_bytes(content)
    return len(content)


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the sqlite3 program")
def test_the_remedy_of_a_damaged_store_saves_what_can_be_read(tmp_path: Path) -> None:
    path, fresh = tmp_path / "damaged.sqlite", tmp_path / "fresh.sqlite"
    with contextlib.closing(sqlite3.connect(tmp_path / "sound.sqlite")) as sound:
        sound.execute("CREATE TABLE sound (x)")
    trial = subprocess.run(
        ["sqlite3", str(tmp_path / "sound.sqlite"), ".recover"],
        capture_output=True,
        check=False,
    )
    if b"COMMIT" not in trial.stdout:
        pytest.skip("this sqlite3 program cannot recover a sound file either")
    damaged(path)
    read = subprocess.run(
        ["sqlite3", str(path), ".recover"], capture_output=True, check=False
    )
    subprocess.run(
        ["sqlite3", str(fresh)], input=read.stdout, capture_output=True, check=False
    )
    with Store(fresh) as store:
        assert 1500 < store.count() <= 2000
        found = store.get([key(n) for n in range(2000)])
    assert all(response.text == f"{int(k, 16)} " * 40 for k, response in found.items())


def test_a_log_without_its_store_is_never_deleted(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.put(key(1), "m", Response("kept", "stop"))
        log = Path(f"{path}-wal").read_bytes()
    assert log
    path.unlink()
    Path(f"{path}-wal").write_bytes(log)
    with refused(StoreError, "s.sqlite-wal"), Store(path):
        pass
    assert Path(f"{path}-wal").read_bytes() == log


def test_what_sqlite_cannot_hold_stops_nobody(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.put(key(1), "m", Response("huge", "stop", Usage(1 << 80, -1)))
        assert store.get([key(1)])[key(1)].usage == Usage()
        with pytest.raises(StoreError):
            store.put(key(2), "\ud800", Response("bad name", "stop"))
        store.put(key(3), "m", Response("good", "stop"))


def test_a_truncated_store_is_refused_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    size = damaged(path)
    path.write_bytes(path.read_bytes()[: size // 2 // 4096 * 4096])
    with refused(StoreError, "s.sqlite", ".recover"), Store(path) as store:
        store.get([key(n) for n in range(2000)])


FULL = textwrap.dedent(
    """
    import resource, sys
    from pathlib import Path
    from codestress.errors import StoreError
    from codestress.inference.store import Store
    from codestress.types import Response

    with Store(Path(sys.argv[1])) as store:
        for number in range(20):
            store.put(f"{number:032x}", "m", Response("x" * 2000, "stop"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        try:
            for number in range(300):
                store.put(f"{1000 + number:032x}", "m", Response("x" * 2000, "stop"))
        except StoreError as error:
            print(error)
    """
)


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
        store.put(key(0), "m", Response("x", "stop"))
        other.execute("BEGIN IMMEDIATE")
        begun = time.monotonic()
        with refused(StoreError, "s.sqlite", "another process"):
            store.put(key(1), "m", Response("x", "stop"))
        assert time.monotonic() - begun > 0.9
        assert len(store.get([key(0)])) == 1  # who only reads waits for nobody
        other.execute("ROLLBACK")
        store.put(key(9), "m", Response("x", "stop"))
        assert store.count() == 2


def test_many_are_stored_at_once_and_none_is_replaced(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.put(key(3), "m", Response("first", "stop"))
        store.put_all((key(n), "m", Response(str(n), "stop")) for n in range(1200))
        found = store.get(key(n) for n in range(1200))
    texts = [found[key(n)].text for n in range(1200)]
    assert texts == [str(n) if n != 3 else "first" for n in range(1200)]


def test_a_full_disk_is_said_and_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        capture_output=True,
        text=True,
        timeout=600,
    )
    names(done.stdout, "s.sqlite", "disk")
    with Store(path) as store:
        assert store.missing([key(n) for n in range(20)]) == []
        store.put(key(9999), "m", Response("more", "stop"))


def test_the_rate_is_that_of_the_last_answers_and_a_clock_that_jumps_gives_none(
    tmp_path: Path,
) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        assert store.rate("m") is None
        for number in range(11):
            at = f"2026-01-01T00:00:{2 * number:02}+00:00"
            store.put(f"{number:032x}", "m", Response("x", "stop", answered_at=at))
        assert store.rate("m") == pytest.approx(10 / 20)
        assert store.rate("other") is None
    with Store(tmp_path / "back.sqlite") as store:
        for number, at in enumerate(
            ("2026-01-02T00:00:00+00:00", "2026-01-02T00:00:00+00:00", "no time at all")
        ):
            store.put(f"{number:032x}", "m", Response("x", "stop", answered_at=at))
        assert store.rate("m") is None


CELLS = (
    "model",
    "text",
    "finish_reason",
    "prompt_tokens",
    "cached_tokens",
    "seconds",
    "answered_by",
    "server",
)


@pytest.mark.parametrize("column", CELLS)
def test_a_changed_cell_is_named_and_asked_again_only_when_told(
    tmp_path: Path, column: str
) -> None:
    path = tmp_path / "s.sqlite"
    fill(path, 30)
    with contextlib.closing(sqlite3.connect(path)) as by_hand, by_hand:
        number = column in ("prompt_tokens", "cached_tokens", "seconds")
        value = (
            "9" if number else "x'00'" if column == "text" else "CAST(x'ff61' AS TEXT)"
        )
        by_hand.execute(
            f"UPDATE responses SET {column} = {value} WHERE key = ?", [key(7)]
        )
    with Store(path) as store:
        with refused(StoreError, key(7), "codestress store verify", "--repair"):
            store.get([key(n) for n in range(30)])
        assert len(store.get([key(6), key(8)])) == 2
        assert store.missing([key(7)]) == []
        assert list(store.damaged().values()) == [key(7)]
        store.set_aside(store.damaged())
        assert (store.damaged(), store.missing([key(n) for n in range(30)])) == (
            {},
            [key(7)],
        )
        store.put(key(7), "m", Response("again", "stop"))
        assert store.get([key(7)])[key(7)].text == "again"
    with contextlib.closing(sqlite3.connect(path)) as by_hand:
        assert by_hand.execute("SELECT key FROM damaged").fetchall() == [(key(7),)]


def test_no_flipped_bit_changes_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    fill(path, 40)
    with contextlib.closing(sqlite3.connect(path)) as whole:
        whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
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
            assert all(
                found[k] == Response(f"{int(k, 16)} " * 40, "stop") for k in found
            )
    assert told > 50


def test_store_verify_names_what_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "STORE", tmp_path / "s.sqlite")
    monkeypatch.setattr(answers, "OUTPUTS", tmp_path)
    folder = tmp_path / "demo" / "origin" / "fig04"
    folder.mkdir(parents=True)
    (folder / "table.csv").write_text("a\n1\n")
    (folder / "manifest.json").write_text(
        json.dumps({"sha256": sha256_of_files(folder)})
    )
    fill(tmp_path / "s.sqlite", 20)
    runner = CliRunner()
    assert runner.invoke(answers.store, ["verify"]).exit_code == 0
    (folder / "table.csv").write_text("a\n2\n")
    with contextlib.closing(sqlite3.connect(tmp_path / "s.sqlite")) as by_hand, by_hand:
        by_hand.execute("UPDATE responses SET text = x'00' WHERE key = ?", [key(3)])
    said = runner.invoke(answers.store, ["verify"])
    assert said.exit_code == 1
    names(said.output, key(3), "table.csv")
    runner.invoke(answers.store, ["verify", "--repair"])
    (folder / "table.csv").write_text("a\n1\n")
    assert runner.invoke(answers.store, ["verify"]).exit_code == 0
    (folder / "manifest.json").write_text("[1]")
    said = runner.invoke(answers.store, ["verify"])
    assert said.exit_code == 1
    names(said.output, "manifest.json")


SERVERS = [
    # Recorded, asked now (base_url, variable), the same row, revision, whether the answers count
    ("http://a.example/v1", ("http://A.example:80/v1/", ""), False, "", True),
    ("http://a.example/v1", ("http://b.example/v1", ""), True, "7", False),
    ("http://a.example/v1", ("http://b.example/v1", ""), True, "", False),
    ("http://a.example/v1", ("https://a.example/v1", ""), True, "7", False),
    ("http://a.example/v1", ("http://a.example/v2", ""), True, "7", False),
    ("http://localhost:8000/v1", ("http://127.0.0.1:8000/v1", ""), False, "", True),
    ("http://localhost:8000/v1", ("http://127.0.0.1:9000/v1", ""), True, "7", True),
    ("http://localhost:8000/v1", ("http://127.0.0.1:9000/v1", ""), True, "", False),
    ("http://localhost:8000/v1", ("http://localhost:8000/b/v1", ""), True, "7", False),
    ("http://localhost:8000/v1", ("http://127.0.0.1:9000/v1", ""), False, "7", False),
    ("http://localhost:8000/v1", ("http://gpu.example/v1", "GPU"), True, "7", True),
    ("http://localhost:8000/v1", ("http://gpu.example/v1", "GPU"), True, "", False),
    ("http://localhost:8000/v1", ("http://gpu.example/v1", "GPU"), False, "7", False),
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
    def entry(name: str, address: str, variable: str) -> ModelEntry:
        settings = {"base_url": address, "key_env": ""} | (
            {"base_url_env": "GPU"} if variable else {}
        )
        return ModelEntry(
            name=name, engine="openai", id="m", revision=revision, settings=settings
        )

    monkeypatch.delenv("GPU", raising=False)
    with Store(tmp_path / "s.sqlite") as store:
        store.put(
            key(1),
            "one",
            Response("4", "stop", server=server_of(entry("one", then, ""))),
        )
        store.put(key(2), "one", Response("4", "stop"))  # nobody knows where from
        if now[1]:
            monkeypatch.setenv("GPU", now[0])
        row = entry("one" if same_row else "two", then if now[1] else now[0], now[1])
        assert len(store.get([key(2)], belongs(row))) == 1
        with (
            nullcontext()
            if counts
            else refused(EngineError, "one", row.name, "revision")
        ):
            assert len(store.get([key(1)], belongs(row))) == 1
            assert store.missing([key(1)], belongs(row)) == []
