"""The store of responses: an SQLite file that several notebooks use at once and that survives kill
-9 at any moment.

It uses write-ahead logging, and one thread per `Store` writes all queued responses in one
transaction: a response is on disk within milliseconds, and only then is the future of `put` done. A
stored response is never replaced. Beside each response stand its server and a checksum of the whole
row, which is verified at every read.
"""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path
from typing import Any, NamedTuple

from codestress.errors import StoreError
from codestress.paths import STORE, shown
from codestress.types import Response, Usage

Belongs = Callable[[str, str], None]
"""Type of a check whether a stored response may be used: a function of the name of its registry row
and of its server (as `servers.server_of` gives it), which raises an error to refuse the
response."""
APPLICATION = 0xC0DE57
VERSION = 2
FIRST_VERSION = 1
"""The version without servers and checksums, which are added when such a store is opened."""
PAGE = 4096
BUSY_S = 60.0
CHUNK = 500
"""Maximum number of keys or rows that one query reads."""
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
    answered_at TEXT NOT NULL,
    server TEXT NOT NULL DEFAULT '',
    checksum BLOB
)
"""
SAFE = "Answers stored before are safe."
REMEDIES = (
    (
        ("another program", "another version"),
        "{said}. It is kept as it is; set CODESTRESS_STORE to another file.",
    ),
    (
        ("malformed", "not a database", "corrupt"),
        "{said}. The file is kept as it is. Move it aside, and its -wal file with it; "
        "`sqlite3 {file} .recover | sqlite3 NEW` writes what can be read of it to a new store.",
    ),
    (
        ("full", "disk i/o", "no space", "too large"),
        f"cannot be written: {{said}} (is the disk full?). {SAFE} Make room, and go on.",
    ),
    (
        ("locked",),
        f"another process held it for {BUSY_S:g} s. {SAFE} Run the same command again when it is done.",
    ),
    (
        ("",),
        f"{{said}}. {SAFE} Check the folder's rights, or set CODESTRESS_STORE to another file.",
    ),
)
"""Pairs of words that occur in messages of SQLite or the system, and the advice to give; the first
match counts."""
OF_A_ROW = (
    *(OverflowError, TypeError, ValueError, sqlite3.InterfaceError),
    *(sqlite3.DataError, sqlite3.IntegrityError, sqlite3.ProgrammingError),
)
"""Errors that spoil one row alone; any other error is the file's, and fails all rows written with
it."""
SHOWN_KEYS = 10
"""Maximum number of keys of damaged responses that a message shows."""


class Row(NamedTuple):
    """A row of the store's table: a request's key, its model and its response, by column."""

    key: str
    model: str
    text: bytes
    """The completion as bytes: SQLite's own text cannot hold lone surrogates or NUL, which a
    model's text may contain."""
    finish_reason: Any
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    seconds: float
    answered_by: str
    answered_at: str
    server: str
    checksum: bytes | None

    @classmethod
    def of(cls, key: str, model: str, response: Response) -> Row:
        text = response.text.encode("utf-8", "surrogatepass")
        by = response.answered_by.encode("utf-8", "replace").decode()
        seconds = float(response.seconds) + 0.0  # SQLite knows no -0.0
        counts = map(_count, astuple(response.usage))
        ending = (seconds, by, response.answered_at, response.server, None)
        row = cls._make((key, model, text, response.finish_reason, *counts, *ending))
        return row._replace(checksum=row.sum)

    @property
    def response(self) -> Response:
        text = self.text.decode("utf-8", "surrogatepass")
        return Response(text, self.finish_reason, Usage(*self[4:8]), *self[8:12])

    @property
    def sum(self) -> bytes:
        """Checksum, of 16 bytes, over all fields but itself: the text's bytes, and the other fields
        as Python writes them."""
        digest = hashlib.blake2b(self.text, digest_size=16)
        digest.update(repr((*self[:2], *self[3:12])).encode("utf-8", "surrogatepass"))
        return digest.digest()

    @property
    def intact(self) -> bool:
        """Whether the response is unchanged since it was stored, by its checksum and the types of
        key and text."""
        return (
            isinstance(self.key, str)
            and isinstance(self.text, bytes)
            and self.checksum == self.sum
        )


COLUMNS = ", ".join(Row._fields)
LAST = "SELECT max(rowid) FROM responses"
INSERT = f"INSERT OR IGNORE INTO responses ({COLUMNS}) VALUES ({', '.join('?' * len(Row._fields))})"


def _has_content(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _count(tokens: int | None) -> int | None:
    """Returns the count `tokens` where SQLite can hold it; None for any other number that a server
    gives, and for None."""
    return tokens if tokens is not None and 0 <= tokens < 1 << 63 else None


class Store:
    """The open store in the file `path`, which is created where it is missing; close it, or use it
    in a `with` statement. Any thread may call its methods. Raises `StoreError` for a file that
    cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path = path.absolute()
        self._lock = threading.Lock()
        self._queued: dict[int, Row] = {}
        self._failed: dict[int, StoreError] = {}
        self._numbers = itertools.count()
        self._thread = ThreadPoolExecutor(1, "codestress-store")
        self._writer: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            log = Path(f"{path}-wal")
            if _has_content(log) and not _has_content(path):
                # SQLite would delete the log, which may hold answers.
                raise sqlite3.DatabaseError(
                    f"is missing or empty, but {log.name} beside it holds answers (malformed)"
                )
            self._reader = _open(path)
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(
        self, keys: Iterable[str], belongs: Belongs | None = None
    ) -> dict[str, Response]:
        """Returns the responses of those of `keys` that have one, by key; `StoreError` where a
        response has changed since it was stored.

        `belongs` gets the registry row's name and the server of each response, and raises where it
        must not be used.
        """
        rows = [Row(*cells) for cells in self._having(COLUMNS, keys)]
        damaged = [row.key for row in rows if not row.intact]
        if damaged:
            more = (
                f" and {len(damaged) - SHOWN_KEYS} more"
                if len(damaged) > SHOWN_KEYS
                else ""
            )
            raise StoreError(
                f"{shown(self.path)}: stored answers are not what they were, by their checksums: keys "
                f"{', '.join(damaged[:SHOWN_KEYS])}{more}. `codestress store verify` lists all of them; with --repair "
                "it sets them aside, and the next build asks them again."
            )
        if belongs is not None:
            for row in rows:
                belongs(row.model, row.server)
        return {row.key: row.response for row in rows}

    def missing(self, keys: Iterable[str], belongs: Belongs | None = None) -> list[str]:
        """Returns those of `keys` that have no response, each once, in their order.

        `belongs` gets the registry row's name and the server of each stored response, and raises
        where it must not be used; without `belongs` only the index is read.
        """
        absent = dict.fromkeys(keys)
        for key, *origin in self._having(
            "key, model, server" if belongs else "key", [*absent]
        ):
            if belongs:
                belongs(*origin)
            absent.pop(key, None)
        return [*absent]

    def _having(self, columns: str, keys: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Yields the SQL columns `columns`, as a tuple, of each stored response with one of `keys`,
        in no fixed order."""
        iterator = iter(keys)
        while chunk := list(itertools.islice(iterator, CHUNK)):
            yield from self._query(
                f"SELECT {columns} FROM responses WHERE key IN ({', '.join('?' * len(chunk))})",
                chunk,
            )

    def damaged(self) -> dict[int, str]:
        """Returns the keys of responses that have changed since they were stored, by row number;
        reads all responses."""
        keys: dict[int, str] = {}
        for part in _parts(self._query(LAST, [])):
            sql = f"SELECT rowid, {COLUMNS} FROM responses NOT INDEXED WHERE {part}"
            for number, *cells in self._query(sql, []):
                if not Row(*cells).intact:
                    keys[number] = ascii(cells[0])[1:-1]
        return keys

    def faults(self) -> list[str]:
        """Returns the messages, at most 20, of faults that SQLite finds in the file; empty for a
        sound file."""
        rows = self._query("PRAGMA integrity_check(20)", [])
        return [str(fault) for (fault,) in rows if fault != "ok"]

    def set_aside(self, rows: Iterable[int]) -> None:
        """Moves the responses with the row numbers `rows` to the table `damaged`, so that their
        requests are made again; `StoreError` where the file cannot be written."""
        try:
            with self._lock:
                self._reader.execute("BEGIN IMMEDIATE")
                with self._reader:
                    self._reader.execute(
                        "CREATE TABLE IF NOT EXISTS damaged AS SELECT * FROM responses WHERE 0"
                    )
                    numbers = [[row] for row in rows]
                    self._reader.executemany(
                        "INSERT INTO damaged SELECT * FROM responses WHERE rowid = ?",
                        numbers,
                    )
                    self._reader.executemany(
                        "DELETE FROM responses WHERE rowid = ?", numbers
                    )
        except sqlite3.Error as error:
            raise self._error(error) from None

    def count(self) -> int:
        return int(self._query("SELECT count(*) FROM responses", [])[0][0])

    def counts_by_model(self) -> dict[str, int]:
        """Returns the number of responses by the model's name in the registry, sorted by this
        name."""
        return dict(
            self._query(
                "SELECT model, count(*) FROM responses GROUP BY model ORDER BY model",
                [],
            )
        )

    def rate(self, model: str, last: int = 500) -> float | None:
        """Returns the responses per second among the last `last` responses of the model with the
        registry name `model`; None for fewer than two, or where all came within one second."""
        rows = self._query(
            "SELECT min(at), max(at), count(*) FROM "
            "(SELECT CAST(strftime('%s', answered_at) AS INTEGER) AS at FROM responses "
            f"WHERE model = ? ORDER BY rowid DESC LIMIT {int(last)})",
            [model],
        )
        first, latest, count = rows[0]
        return (
            (count - 1) / (latest - first)
            if count > 1 and latest and latest > first
            else None
        )

    def put(self, key: str, model: str, response: Response) -> Future[None]:
        """Queues `response`, to the request with the key `key`, for writing; `model` is the
        registry row's name.

        The returned future is done when the response is on disk, or holds a `StoreError`. A
        response that the key has already is not replaced.
        """
        number = next(self._numbers)
        self._queued[number] = Row.of(key, model, response)
        return self._thread.submit(self._write, number)

    def close(self) -> None:
        """Writes the queued responses and closes the file."""
        for number in list(self._queued):  # for nobody, if who asked waits no longer
            self._thread.submit(self._write, number)
        self._thread.shutdown()
        if self._writer is not None:
            self._writer.close()
        self._reader.close()

    def _query(self, sql: str, values: list[str]) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._reader.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self._error(error) from None

    def _write(self, number: int) -> None:
        """Writes the queued row with the number `number` together with all other queued rows; does
        nothing where it was written already. Raises `StoreError` where the row could not be
        written."""
        if number in self._queued:
            rows = dict(self._queued)
            try:
                self._writer = self._writer or _open(self.path)
                with self._writer:
                    self._writer.execute("BEGIN IMMEDIATE")
                    self._writer.executemany(INSERT, rows.values())
            except Exception as error:  # whatever it is, those who wait hear of it
                if isinstance(error, OF_A_ROW):
                    rows = {number: rows[number]}
                self._failed |= dict.fromkeys(rows, self._error(error))
            for written in rows:
                del self._queued[written]
        if number in self._failed:
            raise self._failed.pop(number)

    def _error(self, error: Exception) -> StoreError:
        text, file = str(error).lower(), shown(self.path)
        remedy = next(
            words for signs, words in REMEDIES if any(sign in text for sign in signs)
        )
        return StoreError(f"{file}: {remedy.format(said=error, file=file)}")


def stored_responses(keys: Iterable[str], store: Path = STORE) -> dict[str, Response]:
    """Returns the responses that the file `store` has for the request keys `keys`, by key, for code
    that reads their texts; keys without a response are left out. Raises `StoreError` where a
    response is damaged."""
    with Store(store) as responses:
        return responses.get(list(keys))


def _open(path: Path) -> sqlite3.Connection:
    """Returns an autocommit connection to the store in the file `path`, which is created where none
    exists. Raises `sqlite3.DatabaseError` for the file of another program or version.

    While another process creates the store, SQLite reports a lock at once, without waiting; opening
    is then retried for `BUSY_S` seconds.
    """
    deadline = time.monotonic() + BUSY_S
    while True:
        connection = sqlite3.connect(
            path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = _decoded
        try:
            _prepare(connection)
            return connection
        except BaseException as error:
            connection.close()
            locked = isinstance(error, sqlite3.OperationalError) and "locked" in str(
                error
            )
            if not locked or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    foreign = connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
    connection.execute("COMMIT")
    if application == APPLICATION and version not in (FIRST_VERSION, VERSION):
        raise sqlite3.DatabaseError(
            f"made by another version of this kit (format {version}, not {VERSION})"
        )
    if application != APPLICATION and (foreign or application != 0):
        raise sqlite3.DatabaseError("is a database of another program")
    if application != APPLICATION:
        connection.execute(f"PRAGMA page_size={PAGE}")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(SCHEMA)
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
    elif version == FIRST_VERSION:
        _add_checksums(connection)
    connection.execute("PRAGMA synchronous=NORMAL")


def _decoded(text: bytes) -> str:
    """Returns `text`, stored UTF-8, as a string. Other bytes, which are damaged, become lone
    surrogates, and the row's checksum shows the damage."""
    return text.decode("utf-8", "surrogateescape")


def _add_checksums(connection: sqlite3.Connection) -> None:
    """Upgrades a store of the first version to the current version, in one transaction: adds empty
    servers, and the checksums of all rows. Does nothing where another process has done so."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] != FIRST_VERSION:
            return  # another process has done it
        connection.execute(
            "ALTER TABLE responses ADD COLUMN server TEXT NOT NULL DEFAULT ''"
        )
        connection.execute("ALTER TABLE responses ADD COLUMN checksum BLOB")
        for part in _parts(connection.execute(LAST).fetchall()):
            rows = connection.execute(
                f"SELECT {COLUMNS} FROM responses NOT INDEXED WHERE {part}"
            ).fetchall()
            sums = [(row.sum, row.key) for row in itertools.starmap(Row, rows)]
            connection.executemany(
                "UPDATE responses SET checksum = ? WHERE key = ?", sums
            )
        connection.execute(f"PRAGMA user_version={VERSION}")


def _parts(last: list[tuple[int | None]]) -> Iterator[str]:
    """Yields SQL conditions that together select all rows, `CHUNK` row numbers at a time. `last` is
    the result of the query `LAST`, the highest row number; nothing is yielded for an empty
    table."""
    return (
        f"rowid >= {low} AND rowid < {low + CHUNK}"
        for low in range(1, (last[0][0] or 0) + 1, CHUNK)
    )
