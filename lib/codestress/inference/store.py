"""The store of responses: an SQLite file that several notebooks and processes share and
that survives kill -9 at any moment.

It uses write-ahead logging: a response is on disk when `put` returns, and it is never
replaced. Each row names the server that answered and has a checksum of the whole row,
which every read verifies.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from codestress.errors import StoreError
from codestress.paths import STORE, shown
from codestress.types import Response, Usage

Belongs = Callable[[str, str], None]
"""Check of whether a stored response may be used: a function of the name of its registry
row and of its server (as `servers.server_of` gives it), which raises an error to refuse
the response."""
APPLICATION = 0xC0DE57
VERSION = 2
BUSY_S = 60.0
"""Seconds to wait for another process that writes the file."""
CHUNK = 500
"""Number of keys that one query reads, and of rows that one transaction writes."""
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
REMEDY = (
    "The file is kept as it is, and answers stored before are safe. If the disk is full, "
    "make room; if another process holds the file, run the same command again; if it is "
    "malformed, move it and its -wal file aside: `sqlite3 FILE .recover | sqlite3 NEW` "
    "saves what it can. Else check the folder's rights, or set CODESTRESS_STORE to "
    "another file."
)


class Row(NamedTuple):
    """One row of the table: the key of a request, the model's name in the registry, and
    the response by column."""

    key: str
    model: str
    text: bytes
    """SQLite's own text type cannot hold lone surrogates or NUL, which a model's text
    may contain."""
    finish_reason: Any
    prompt_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    seconds: float
    answered_by: str
    answered_at: str
    server: str
    checksum: bytes | None = None

    @property
    def response(self) -> Response:
        text = self.text.decode("utf-8", "surrogatepass")
        usage = Usage(*self[4:8])
        return Response(text, self.finish_reason, usage, *self[8:12])

    @property
    def sum(self) -> bytes:
        """Checksum of 16 bytes over all fields but itself: the text's bytes, then the
        other fields as Python prints them."""
        others = (*self[:2], *self[3:12])
        digest = hashlib.blake2b(self.text, digest_size=16)
        digest.update(repr(others).encode("utf-8", "surrogatepass"))
        return digest.digest()

    @property
    def intact(self) -> bool:
        """Whether the row is what was stored."""
        typed = isinstance(self.key, str) and isinstance(self.text, bytes)
        return typed and self.checksum == self.sum


COLUMNS = ", ".join(Row._fields)
PLACES = ", ".join("?" * len(Row._fields))
INSERT = f"INSERT OR IGNORE INTO responses ({COLUMNS}) VALUES ({PLACES})"


def row_of(key: str, model: str, response: Response) -> Row:
    """Return the row that stores a response."""
    cells = (
        key,
        model,
        response.text.encode("utf-8", "surrogatepass"),
        response.finish_reason,
        *map(held_count, astuple(response.usage)),
        float(response.seconds) + 0.0,  # SQLite knows no -0.0
        response.answered_by.encode("utf-8", "replace").decode(),
        response.answered_at,
        response.server,
        None,
    )
    row = Row._make(cells)
    return row._replace(checksum=row.sum)


def held_count(tokens: int | None) -> int | None:
    """Return a number of tokens where SQLite can hold it, else None: a server may send
    any number."""
    return tokens if tokens is not None and 0 <= tokens < 1 << 63 else None


class Store:
    """The open store in the file `path`, which is created where it is missing. Use it in a
    `with` statement; any thread may call its methods. Every method raises `StoreError`,
    with a remedy, where the file cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock = threading.Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = open_database(self.path)
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()

    def put(self, key: str, model: str, response: Response) -> None:
        """Store the response to the request with this key, from the registry row `model`.

        It is on disk when this returns. A key that has a response keeps it.
        """
        with self._connected() as connection:
            connection.execute(INSERT, row_of(key, model, response))

    def put_all(self, responses: Iterable[tuple[str, str, Response]]) -> None:
        """Store many responses, given as key, model and response, as `put` does."""
        iterator = iter(responses)
        while chunk := list(islice(iterator, CHUNK)):
            with self._writing() as connection:
                rows = [row_of(*item) for item in chunk]
                connection.executemany(INSERT, rows)

    def get(
        self, keys: Iterable[str], belongs: Belongs | None = None
    ) -> dict[str, Response]:
        """Return the stored responses to the requests with these keys, by key.

        `belongs` checks the origin of each. Raises `StoreError` where a response has
        changed since it was stored.
        """
        rows = [Row(*cells) for cells in self._rows(COLUMNS, keys)]
        damaged = [row.key for row in rows if not row.intact]
        if damaged:
            raise StoreError(
                f"{shown(self.path)}: {len(damaged)} stored answers are not what they "
                f"were, by their checksums, the first with the key {damaged[0]}. "
                "`codestress store verify` lists all; with --repair it sets them aside, "
                "and the next build asks them again."
            )
        if belongs is not None:
            for row in rows:
                belongs(row.model, row.server)
        return {row.key: row.response for row in rows}

    def missing(self, keys: Iterable[str], belongs: Belongs | None = None) -> list[str]:
        """Return the keys without a response, each once, in their order.

        `belongs` checks the origin of the others.
        """
        absent = dict.fromkeys(keys)
        for key, *origin in self._rows("key, model, server", list(absent)):
            if belongs is not None:
                belongs(*origin)
            del absent[key]
        return list(absent)

    def damaged(self) -> dict[int, str]:
        """Return the keys of all responses that have changed since they were stored, by
        row number. Reads the whole file."""
        query = f"SELECT rowid, {COLUMNS} FROM responses NOT INDEXED"
        keys = {}
        with self._connected() as connection:
            for number, *cells in connection.execute(query):
                if not Row(*cells).intact:
                    keys[number] = ascii(cells[0])[1:-1]
        return keys

    def faults(self) -> list[str]:
        """Return at most 20 faults that SQLite finds in the file."""
        faults = [text for (text,) in self._query("PRAGMA integrity_check(20)")]
        return [] if faults == ["ok"] else faults

    def set_aside(self, rows: Iterable[int]) -> None:
        """Move responses, given by row number, to the table `damaged`, so that their
        requests are made again."""
        numbers = [[row] for row in rows]
        where = "FROM responses WHERE rowid = ?"
        with self._writing() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS damaged AS SELECT * FROM responses WHERE 0"
            )
            connection.executemany(f"INSERT INTO damaged SELECT * {where}", numbers)
            connection.executemany(f"DELETE {where}", numbers)

    def count(self) -> int:
        [[count]] = self._query("SELECT count(*) FROM responses")
        return int(count)

    def counts_by_model(self) -> dict[str, int]:
        """Return the number of responses by the model's name, sorted by name."""
        query = "SELECT model, count(*) FROM responses GROUP BY model ORDER BY model"
        return dict(self._query(query))

    def rate(self, model: str) -> float | None:
        """Return the responses a second among the model's last 500; None where they are
        fewer than two or all came within one second."""
        times = (
            "SELECT CAST(strftime('%s', answered_at) AS INTEGER) AS at FROM responses "
            "WHERE model = ? ORDER BY rowid DESC LIMIT 500"
        )
        query = f"SELECT min(at), max(at), count(*) FROM ({times})"
        [[first, latest, count]] = self._query(query, [model])
        if count < 2 or not latest or latest <= first:
            return None
        return float((count - 1) / (latest - first))

    def _rows(self, columns: str, keys: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """Yield these columns of the rows with one of the keys, in no fixed order."""
        iterator = iter(keys)
        while chunk := list(islice(iterator, CHUNK)):
            places = ", ".join("?" * len(chunk))
            query = f"SELECT {columns} FROM responses WHERE key IN ({places})"
            yield from self._query(query, chunk)

    def _query(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connected() as connection:
            return connection.execute(query, values).fetchall()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection alone; what SQLite refuses becomes a `StoreError`."""
        try:
            with self._lock:
                yield self._connection
        except (sqlite3.Error, OverflowError, ValueError) as error:
            raise self._error(error) from None

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the connection in a transaction that is written whole or not at all."""
        with self._connected() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection

    def _error(self, error: Exception) -> StoreError:
        file = shown(self.path)
        return StoreError(f"{file}: {error}. {REMEDY.replace('FILE', file)}")


def stored_responses(keys: Iterable[str], store: Path = STORE) -> dict[str, Response]:
    """Return the responses that a store has for these request keys, by key, for code that
    reads their texts."""
    with Store(store) as responses:
        return responses.get(keys)


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create a store; the connection commits each statement.

    Raises `sqlite3.DatabaseError` for the file of another program or version.
    """
    log = path.with_name(f"{path.name}-wal")
    if size(log) and not size(path):
        # SQLite would delete the log, which may hold answers.
        raise sqlite3.DatabaseError(
            f"is missing or empty, but {log.name} beside it holds answers"
        )
    deadline = time.monotonic() + BUSY_S
    while True:
        connection = sqlite3.connect(
            path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
        )
        try:
            prepare(connection)
            return connection
        except sqlite3.Error as error:
            connection.close()
            # The change to write-ahead logging waits for no lock of another process.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables of a new store; refuse what is no store of this version."""

    def number(query: str) -> int:
        return int(connection.execute(query).fetchone()[0])

    # Bytes that are no UTF-8 are damage, which the row's checksum shows.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    # One transaction sees the file before or after another process makes its tables.
    connection.execute("BEGIN")
    application = number("PRAGMA application_id")
    version = number("PRAGMA user_version")
    tables = number("SELECT count(*) FROM sqlite_master")
    connection.execute("COMMIT")
    if application == APPLICATION and version != VERSION:
        raise sqlite3.DatabaseError(
            f"made by another version of this kit (format {version}, not {VERSION})"
        )
    if application != APPLICATION and (application or tables):
        raise sqlite3.DatabaseError("is a database of another program")
    if not application:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(SCHEMA)
        connection.execute(f"PRAGMA application_id={APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
        connection.execute("COMMIT")
    connection.execute("PRAGMA synchronous=NORMAL")


def size(path: Path) -> int:
    """Return a file's size in bytes; 0 where there is none."""
    return path.stat().st_size if path.is_file() else 0
