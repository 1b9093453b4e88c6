"""The store of responses: an SQLite file that several notebooks use at once and that survives kill -9 at any moment.

Write-ahead logging, one writer thread per `Store`. The writer takes everything that is queued, writes it in one
transaction, commits, then takes what queued meanwhile: a response is on disk within milliseconds, and the future
that `put` returns is done only then. An answer that is there is never replaced.
"""

from __future__ import annotations

import contextlib
import queue
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from codestress.errors import StoreError
from codestress.paths import shown
from codestress.types import Response, Usage

APPLICATION = 0xC0DE57
VERSION = 1
MARK = APPLICATION.to_bytes(4, "big")
PAGE = 4096
BUSY_S = 60.0
CHUNK = 500
"""Keys in one query."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS responses (
    key TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    text BLOB NOT NULL,
    finish_reason TEXT NOT NULL,
    prompt_tokens INTEGER,
    completion_tokens INTEGER,
    reasoning_tokens INTEGER,
    cached_tokens INTEGER,
    seconds REAL NOT NULL,
    answered_by TEXT NOT NULL,
    answered_at TEXT NOT NULL
)
"""
COLUMNS = (
    "key, model, text, finish_reason, prompt_tokens, completion_tokens, reasoning_tokens, cached_tokens, "
    "seconds, answered_by, answered_at"
)
INSERT = f"INSERT OR IGNORE INTO responses ({COLUMNS}) VALUES ({', '.join('?' * 11)})"
Row = tuple[str, str, bytes, str, int | None, int | None, int | None, int | None, float, str, str]


class _Write(NamedTuple):
    row: Row
    done: Future[None]


def _row(key: str, model: str, response: Response) -> Row:
    # Bytes, because a text from a model may hold what SQLite's text cannot: lone surrogates, NUL.
    text = response.text.encode("utf-8", "surrogatepass")
    usage = response.usage
    return (
        key,
        model,
        text,
        response.finish_reason,
        _count(usage.prompt_tokens),
        _count(usage.completion_tokens),
        _count(usage.reasoning_tokens),
        _count(usage.cached_tokens),
        response.seconds,
        response.answered_by.encode("utf-8", "replace").decode(),
        response.answered_at,
    )


def _count(tokens: int | None) -> int | None:
    """A count that SQLite can hold; what a server says beyond that is no count."""
    return tokens if tokens is not None and 0 <= tokens < 1 << 63 else None


def _response(row: Row) -> Response:
    _, _, text, finish_reason, prompt, completion, reasoning, cached, seconds, answered_by, answered_at = row
    return Response(
        text=text.decode("utf-8", "surrogatepass"),
        finish_reason=finish_reason,  # type: ignore[arg-type]  # written from a Response
        usage=Usage(prompt, completion, reasoning, cached),
        seconds=seconds,
        answered_by=answered_by,
        answered_at=answered_at,
    )


class Store:
    """An open store; close it, or use it in a `with` statement. Any thread may call its methods."""

    def __init__(self, path: Path) -> None:
        self.path = path = path.absolute()
        self._lock = threading.Lock()
        self._queue: queue.SimpleQueue[_Write | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            log = Path(f"{path}-wal")
            if log.is_file() and log.stat().st_size and not (path.is_file() and path.stat().st_size):
                # SQLite would delete the log, which may hold answers.
                raise sqlite3.DatabaseError(f"is missing or empty, but {log.name} beside it holds answers (malformed)")
            self._reader = _open(path)
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def get(self, keys: Iterable[str]) -> dict[str, Response]:
        """The responses of those keys that have one."""
        found: dict[str, Response] = {}
        for chunk in _chunks(keys):
            marks = ", ".join("?" * len(chunk))
            rows = self._query(f"SELECT {COLUMNS} FROM responses WHERE key IN ({marks})", chunk)
            found.update((row[0], _response(row)) for row in rows)
        return found

    def missing(self, keys: Iterable[str]) -> list[str]:
        """The keys that have no response, each once, in their order. Reads the index alone."""
        absent: list[str] = []
        for chunk in _chunks(dict.fromkeys(keys)):
            marks = ", ".join("?" * len(chunk))
            present = {row[0] for row in self._query(f"SELECT key FROM responses WHERE key IN ({marks})", chunk)}
            absent += [key for key in chunk if key not in present]
        return absent

    def count(self) -> int:
        return int(self._query("SELECT count(*) FROM responses", [])[0][0])

    def counts_by_model(self) -> dict[str, int]:
        """Responses by the registry's name of the model, in the order of the names."""
        return dict(self._query("SELECT model, count(*) FROM responses GROUP BY model ORDER BY model", []))

    def rate(self, model: str, last: int = 500) -> float | None:
        """Responses a second among a model's last ones; None for fewer than two, or all within one second."""
        rows = self._query(
            "SELECT min(at), max(at), count(*) FROM "
            "(SELECT CAST(strftime('%s', answered_at) AS INTEGER) AS at FROM responses "
            f"WHERE model = ? ORDER BY rowid DESC LIMIT {int(last)})",
            [model],
        )
        first, latest, count = rows[0]
        return (count - 1) / (latest - first) if count > 1 and latest and latest > first else None

    def put(self, key: str, model: str, response: Response) -> Future[None]:
        """Queues a response; the future is done when it is on disk, or holds a `StoreError`."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # who no longer waits for it must not stop the writer
        with self._lock:
            if self._writer is None:
                self._writer = threading.Thread(target=self._write_all, name="codestress-store", daemon=True)
                self._writer.start()
        self._queue.put(_Write(_row(key, model, response), done))
        return done

    def close(self) -> None:
        """Writes what is queued and closes the file."""
        if self._writer is not None:
            self._queue.put(None)
            self._writer.join()
            self._writer = None
        self._reader.close()

    def _query(self, sql: str, values: list[str]) -> list[tuple]:  # type: ignore[type-arg]
        try:
            with self._lock:
                return self._reader.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from None

    def _write_all(self) -> None:
        connection: sqlite3.Connection | None = None
        ended = False
        while not ended:
            batch = [self._queue.get()]
            with contextlib.suppress(queue.Empty):
                while True:
                    batch.append(self._queue.get_nowait())
            ended = None in batch
            writes = [write for write in batch if write is not None]
            try:
                connection = connection or _open(self.path)
                with connection:
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany(INSERT, [write.row for write in writes])
            except Exception as error:  # whatever it is, those who wait must hear of it, and the writer goes on
                for write in writes:
                    write.done.set_exception(self._error(error))
            else:
                for write in writes:
                    write.done.set_result(None)
        if connection is not None:
            connection.close()

    def _error(self, error: Exception) -> StoreError:
        where, said = shown(self.path), str(error)
        safe = "Answers stored before are safe."
        lowered = said.lower()
        if any(sign in lowered for sign in ("another program", "another version")):
            return StoreError(f"{where}: {said}. It is kept as it is; set CODESTRESS_STORE to another file.")
        if any(sign in lowered for sign in ("malformed", "not a database", "corrupt")):
            return StoreError(
                f"{where}: {said}. The file is kept as it is. `codestress store salvage` moves it aside and saves "
                "every readable answer to a new one."
            )
        if any(sign in lowered for sign in ("full", "disk i/o", "no space", "too large")):
            return StoreError(f"{where}: cannot be written: {said} (is the disk full?). {safe} Make room, and go on.")
        if "locked" in lowered:
            return StoreError(
                f"{where}: another process held it for {BUSY_S:g} s. {safe} Run the same command again when it is done."
            )
        return StoreError(
            f"{where}: {said}. {safe} Check the folder's rights, or set CODESTRESS_STORE to another file."
        )


def _open(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode to a store, made when there is none; a foreign file is refused.

    While another process makes the store, SQLite says that it is locked at once, without waiting: tried again.
    """
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            return _open_once(path)
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _open_once(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN")
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        foreign = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
        connection.execute("COMMIT")
        if (application, version) == (APPLICATION, VERSION):
            connection.execute("PRAGMA synchronous=NORMAL")
            return connection
        if application == APPLICATION:
            raise sqlite3.DatabaseError(f"made by another version of this kit (format {version}, not {VERSION})")
        if foreign or application != 0:
            raise sqlite3.DatabaseError("is a database of another program")
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(SCHEMA)
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(keys)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def salvage(damaged: Path, fresh: Path) -> int:
    """Copies every readable row of a damaged store to a new file; returns how many. The damaged file is not changed."""
    if fresh.exists():
        raise StoreError(f"{shown(fresh)}: exists already; salvage writes only to a new file")
    with tempfile.TemporaryDirectory(dir=fresh.parent) as folder:
        copy = Path(folder) / "copy.sqlite"
        for suffix in ("", "-wal"):
            if Path(f"{damaged}{suffix}").is_file():
                shutil.copyfile(f"{damaged}{suffix}", f"{copy}{suffix}")
        _mend(copy, Path(folder) / "empty.sqlite")
        target, source = _open(fresh), sqlite3.connect(copy)
        kept = 0
        try:
            for low in range(1, (highest := _highest_row(source, copy)) + 1, CHUNK):
                rows = _readable(source, low, min(low + CHUNK, highest + 1))
                with target:
                    target.execute("BEGIN IMMEDIATE")
                    kept += sum(target.execute(INSERT, row).rowcount for row in rows)
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{shown(damaged)}: no answer can be read from it ({error}); it is kept") from None
        finally:
            source.close()
            target.close()
    return kept


def _mend(path: Path, empty: Path) -> None:
    """Makes a copy readable for SQLite, which refuses a file whole for its first page or for its length.

    A damaged first page is taken from an empty store, whose tables stand at the same pages; a truncated file is
    filled with zeros up to the size that its header states.
    """
    with path.open("r+b") as file:
        header = file.read(100)
        size = path.stat().st_size
        if header[:16] != b"SQLite format 3\0" or header[16:18] != PAGE.to_bytes(2, "big") or header[68:72] != MARK:
            _open(empty).close()
            first = bytearray(empty.read_bytes()[:PAGE])
            first[28:32] = (size // PAGE).to_bytes(4, "big")
            file.seek(0)
            file.write(first)
        else:
            file.truncate(max(size, min(int.from_bytes(header[28:32], "big") * PAGE, 1 << 40)))


def _highest_row(source: sqlite3.Connection, path: Path) -> int:
    """The last row's number; where the end of the table cannot be read, a bound from the size of the file."""
    source.execute("SELECT 1 FROM sqlite_master").fetchone()
    try:
        return source.execute("SELECT max(rowid) FROM responses").fetchone()[0] or 0
    except sqlite3.DatabaseError:
        return path.stat().st_size // 50


def _readable(source: sqlite3.Connection, low: int, high: int) -> list[Row]:
    """Rows with low <= rowid < high; where the range cannot be read, its halves, down to single rows."""
    try:
        rows: list[Row] = source.execute(
            f"SELECT {COLUMNS} FROM responses NOT INDEXED WHERE rowid >= ? AND rowid < ?", (low, high)
        ).fetchall()
        return [row for row in rows if isinstance(row[0], str) and isinstance(row[2], bytes)]
    except (sqlite3.DatabaseError, OverflowError):
        if high - low <= 1:
            return []
        middle = (low + high) // 2
        return _readable(source, low, middle) + _readable(source, middle, high)
