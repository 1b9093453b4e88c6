"""The store with real processes and real files: nothing that was answered is lost."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TextIO

import pytest
from hypothesis import given, settings, strategies as st
from processes import started
from stored import key, put

from codestress.errors import StoreError
from codestress.inference.store import Store
from codestress.types import Response, Usage
from conftest import THOROUGH
from told import names, refused

TEXTS = st.text(st.characters(codec=None), max_size=200)
TOKENS = st.none() | st.integers(0, 10**9)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=30)
RESPONSES = st.builds(
    Response,
    text=TEXTS,
    finish_reason=st.sampled_from(["stop", "length", "content_filter"]),
    usage=st.builds(Usage, TOKENS, TOKENS, TOKENS, TOKENS),
    seconds=st.floats(0, 1e6),
    answered_by=NAMES,
    answered_at=st.just("2026-01-01T00:00:00+00:00"),
)


@given(response=RESPONSES)
@settings(max_examples=60 if THOROUGH else 20, deadline=None)
def test_a_response_comes_back_as_it_was(response: Response) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.sqlite"
        with Store(path) as store:
            store.put(key(1), "m", response)
        with Store(path) as store:
            assert store.get([key(1)]) == {key(1): response}


def test_an_answer_is_never_replaced(tmp_path: Path) -> None:
    responses = {key(n): Response(str(n), "stop") for n in range(0, 3000, 2)}
    with Store(tmp_path / "s.sqlite") as store:
        put(store, 0, "first")
        store.put_all((k, "a", response) for k, response in responses.items())
        responses[key(0)] = Response("first", "stop")
        assert store.get(map(key, [5, *range(2999, -1, -1), 5])) == responses
        assert store.count() == 1500
        assert store.counts_by_model() == {"a": 1499, "m": 1}


def test_what_sqlite_cannot_hold_stops_no_other_answer(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        put(store, 1, usage=Usage(1 << 80, -1))
        assert store.get([key(1)])[key(1)].usage == Usage()
        with pytest.raises(StoreError):
            put(store, 2, name="\ud800")
        put(store, 3)


def test_the_rate_is_that_of_the_last_answers(tmp_path: Path) -> None:
    """A clock that jumps gives no rate."""

    def rate(name: str, *times: str) -> float | None:
        with Store(tmp_path / name) as store:
            for number, answered_at in enumerate(times):
                put(store, number, answered_at=answered_at)
            assert store.rate("other") is None
            return store.rate("m")

    at = "2026-01-02T00:00:{:02}+00:00"
    steady = [at.format(2 * number) for number in range(11)]
    assert rate("s.sqlite", *steady) == pytest.approx(10 / 20)
    assert rate("back.sqlite", at.format(0), at.format(0), "no time at all") is None


CHILD = """
import resource
import sys
from pathlib import Path
from stored import Store, put

first, last, most = map(int, sys.argv[2:])
if most:
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
with Store(Path(sys.argv[1])) as store:
    for number in range(first, last):
        put(store, number, "x" * 300)
        print(number, flush=True)
"""


def child(
    path: Path, first: int, last: int, log: TextIO | None = None, most: int = 0
) -> subprocess.Popen[str]:
    """Start a process that stores answers and prints their numbers to `log`.

    No file may grow beyond `most` bytes.
    """
    out = log or subprocess.DEVNULL
    return started(CHILD, path, first, last, most, stdout=out)


def check_stored(path: Path, log: Path) -> None:
    """Check that the store holds every answer whose number is a whole line of `log`."""
    lines = log.read_text().splitlines(keepends=True)
    numbers = [int(line) for line in lines if line.endswith("\n")]
    assert len(numbers) > 1
    with Store(path) as store:
        assert len(store.get(map(key, numbers))) == len(numbers)
        assert store.faults() == []


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


def test_an_answer_that_was_reported_as_stored_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    draw = random.Random(0)
    for attempt in range(4):
        log = tmp_path / f"{attempt}.log"
        first = attempt * 100_000
        with log.open("w") as file:
            process = child(path, first, first + 100_000, file)
            size = draw.randrange(10, 2000)
            while log.stat().st_size < size:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            process.kill()
            process.wait()
        check_stored(path, log)


def test_a_full_disk_is_reported_and_costs_no_stored_answer(tmp_path: Path) -> None:
    path, log = tmp_path / "s.sqlite", tmp_path / "full.log"
    with log.open("w") as file:
        process = child(path, 0, 3000, file, most=150_000)
        names(process.communicate(timeout=600)[1], "s.sqlite", "disk")
    check_stored(path, log)
    with Store(path) as store:
        put(store, 9999)


def test_a_store_that_another_process_writes_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wait that is too long raises an error; afterwards answers are stored again."""
    monkeypatch.setattr("codestress.inference.store.BUSY_S", 1)
    path = tmp_path / "s.sqlite"
    with (
        Store(path) as store,
        contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        put(store, 0)
        other.execute("BEGIN IMMEDIATE")
        begin = time.monotonic()
        with refused(StoreError, "s.sqlite", "another process"):
            put(store, 1)
        assert time.monotonic() - begin > 0.9
        assert len(store.get([key(0)])) == 1
        other.execute("ROLLBACK")
        put(store, 9)
        assert store.count() == 2
