"""The store of responses: an SQLite file that several notebooks and processes share and
that survives kill -9 at any moment.

The file uses write-ahead logging: a response is on disk when `put` returns, and is
never replaced. Each row names the server that answered. Each row also has a checksum of
its cells, which every read of a response verifies.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import astuple
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from codestress.errors import StoreError
from codestress.paths import STORE, shown
from codestress.types import Response, Usage

Item = TypeVar("Item")
Belongs = Callable[[str, str], None]
"""Check of whether a stored response may be used: a function that raises an error to
refuse the response.

The function's arguments are the name of the response's registry row, and the response's
server as `servers.server_of` writes it.
"""
APPLICATION = 0xC0DE57
VERSION = 2
BUSY_S = 60.0
"""Seconds to wait while another process writes the file."""
CHUNK = 256
"""Number of keys that one query reads, and of rows that one transaction writes."""
SCHEMA = f"""
PRAGMA journal_mode=WAL;
BEGIN IMMEDIATE;
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
);
PRAGMA application_id={APPLICATION};
PRAGMA user_version={VERSION};
COMMIT;
"""
"""SQL that makes the table of responses. A text is stored as bytes: SQLite's own text
type cannot hold lone surrogates or NUL, which a model's text may contain."""
INSERT = f"INSERT OR IGNORE INTO responses VALUES ({', '.join('?' * 13)})"
STATE = """
SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
FROM pragma_application_id, pragma_user_version
"""
RATE = """
SELECT (count(*) - 1.0) / nullif(max(at) - min(at), 0) FROM (
    SELECT CAST(strftime('%s', answered_at) AS INTEGER) AS at FROM responses
    WHERE model = ? ORDER BY rowid DESC LIMIT 500
)
"""
REMEDY = (
    "The file is kept as it is, and answers stored before are safe. If the disk is full, "
    "make room; if another process holds the file, run the same command again; if it is "
    "malformed, move it and its -wal file aside: `sqlite3 FILE .recover | sqlite3 NEW` "
    "saves what it can. Else check the folder's rights, or set CODESTRESS_STORE to "
    "another file."
)


class Store(AbstractContextManager["Store"]):
    """The open store in the file `path`, which is created if it is missing.

    Use the store in a `with` statement; any thread may call its methods. Every method
    raises `StoreError`, with a remedy, if the file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._lock = threading.Lock()
        with self._errors():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = open_database(self.path)

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def put(self, key: str, model: str, response: Response) -> None:
        """Store the response to the request with this key, from the registry row named
        `model`.

        The response is on disk when this method returns. A key that has a response
        keeps it.
        """
        self.put_all([(key, model, response)])

    def put_all(self, responses: Iterable[tuple[str, str, Response]]) -> None:
        """Store many responses, each a tuple of key, model and response, as `put` does."""
        for chunk in chunks(responses):
            rows = [row_of(*item) for item in chunk]
            with self._errors(), self._lock, self._connection:
                self._connection.executemany(INSERT, rows)

    def get(
        self, keys: Iterable[str], belongs: Belongs | None = None
    ) -> dict[str, Response]:
        """Return a dict from key to stored response; keys without a response are
        absent.

        `belongs` is called for the origins of the responses, to check them. Raises
        `StoreError` if a response has changed since it was stored.
        """
        rows: list[Any] = []
        for chunk in chunks(keys):
            places = ", ".join("?" * len(chunk))
            rows += self._run(f"SELECT * FROM responses WHERE key IN ({places})", chunk)
        damaged = [row[0] for row in rows if not intact(row)]
        if damaged:
            raise StoreError(
                f"{shown(self.path)}: {len(damaged)} stored answers are not what they "
                f"were, by their checksums, the first with the key {damaged[0]}. "
                "`codestress store verify` lists all; with --repair it sets them aside, "
                "and the next build asks them again."
            )
        if belongs is not None:
            for model, server in {(row[1], row[-2]) for row in rows}:
                belongs(model, server)
        return {row[0]: response_in(row) for row in rows}

    def damaged(self) -> dict[int, str]:
        """Return a dict from row number to key for all responses that have changed
        since they were stored.

        Reads the whole file.
        """
        keys = {}
        with self._errors(), self._lock:
            query = "SELECT rowid, * FROM responses NOT INDEXED"
            for number, *row in self._connection.execute(query):
                if not intact(row):
                    keys[number] = ascii(row[0])[1:-1]
        return keys

    def faults(self) -> list[str]:
        """Return at most 20 faults that SQLite finds in the file; an empty list if
        there are none."""
        faults = [text for (text,) in self._run("PRAGMA integrity_check(20)")]
        return [] if faults == ["ok"] else faults

    def set_aside(self, rows: Iterable[int]) -> None:
        """Move the responses with these row numbers to the table `damaged`.

        A later run then sends the requests of these responses again.
        """
        where = "FROM responses WHERE rowid = ?"
        self._run(
            "CREATE TABLE IF NOT EXISTS damaged AS SELECT * FROM responses WHERE 0"
        )
        for row in rows:
            self._run(f"INSERT INTO damaged SELECT * {where}", [row])
            self._run(f"DELETE {where}", [row])

    def count(self) -> int:
        [[count]] = self._run("SELECT count(*) FROM responses")
        return int(count)

    def counts_by_model(self) -> dict[str, int]:
        """Return a dict from model name to number of responses, sorted by name."""
        query = "SELECT model, count(*) FROM responses GROUP BY model ORDER BY model"
        return dict(self._run(query))

    def rate(self, model: str) -> float | None:
        """Return the model's responses per second, measured over its last 500
        responses.

        None if there are fewer than two responses, or if all came within one second.
        """
        rate: float | None
        [[rate]] = self._run(RATE, [model])
        return rate

    def _run(self, statement: str, values: Sequence[object] = ()) -> list[Any]:
        """Run an SQL statement and return its rows; a change is on disk afterwards."""
        with self._errors(), self._lock, self._connection:
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Return a context manager that turns an error of SQLite into a `StoreError`."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError) as error:
            file = shown(self.path)
            raise StoreError(
                f"{file}: {error}. {REMEDY.replace('FILE', file)}"
            ) from None


def stored_responses(keys: Iterable[str], store: Path = STORE) -> dict[str, Response]:
    """Return a dict from key to response, for those of the request keys to which a
    store has a response.

    Meant for code that reads the responses' texts.
    """
    with Store(store) as responses:
        return responses.get(keys)


def chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in lists of `CHUNK`; the last list may be shorter."""
    iterator = iter(items)
    while chunk := list(islice(iterator, CHUNK)):
        yield chunk


def row_of(key: str, model: str, response: Response) -> list[Any]:
    """Return the row that stores a response: its cells, then their checksum."""
    text = response.text.encode("utf-8", "surrogatepass")
    cells: list[Any] = [key, model, text, response.finish_reason]
    cells += map(held_count, astuple(response.usage))
    # SQLite stores -0.0 as 0.0.
    cells.append(float(response.seconds) + 0.0)
    cells.append(response.answered_by.encode("utf-8", "replace").decode())
    cells += [response.answered_at, response.server]
    return [*cells, checksum(*cells)]


def held_count(tokens: int | None) -> int | None:
    """Return a number of tokens if SQLite can hold it, else None: a server may send any
    number."""
    if tokens is None or not 0 <= tokens < 1 << 63:
        return None
    return tokens


def checksum(key: str, model: str, text: bytes, *others: object) -> bytes:
    """Return a checksum of 16 bytes over the cells of a row.

    The checksum covers the text's bytes, then the other cells as Python prints them.
    """
    digest = hashlib.blake2b(text, digest_size=16)
    digest.update(repr((key, model, *others)).encode("utf-8", "surrogatepass"))
    return digest.digest()


def intact(row: Sequence[Any]) -> bool:
    """Return whether a row has the checksum of its cells, so that it is unchanged since
    it was stored."""
    return isinstance(row[2], bytes) and row[-1] == checksum(*row[:-1])


def response_in(row: Sequence[Any]) -> Response:
    """Return the response that a row stores."""
    _, _, text, finish_reason, *others = row[:-1]
    usage = Usage(*others[:4])
    words = text.decode("utf-8", "surrogatepass")
    return Response(words, finish_reason, usage, *others[4:])


def open_database(path: Path) -> sqlite3.Connection:
    """Open the store in the file `path`, or create it.

    Raises `sqlite3.DatabaseError` if the file belongs to another program or version.
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
            path, BUSY_S, isolation_level="IMMEDIATE", check_same_thread=False
        )
        try:
            prepare(connection)
            return connection
        except sqlite3.Error as error:
            connection.close()
            # The switch to write-ahead logging does not wait for another process's lock.
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.02)


def prepare(connection: sqlite3.Connection) -> None:
    """Create the table of a new store, and refuse a file that is not a store of this
    version.

    Raises `sqlite3.DatabaseError` for such a file.
    """
    # Bytes that are not UTF-8 are damage, which the row's checksum shows.
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    # One query sees the file before or after another process makes its table.
    [[application, version, tables]] = connection.execute(STATE)
    if not (application or tables):
        connection.executescript(SCHEMA)
    elif (application, version) != (APPLICATION, VERSION):
        owner = "another program"
        if application == APPLICATION:
            owner = "another version of this kit"
        raise sqlite3.DatabaseError(
            f"is a file of {owner} (format {version}, not {VERSION})"
        )
    connection.execute("PRAGMA synchronous=NORMAL")


def size(path: Path) -> int:
    """Return a file's size in bytes; 0 if there is no file."""
    # Another process may remove the file at any time.
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
