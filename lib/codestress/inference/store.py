"""The store of responses: an SQLite file that several notebooks use at once and that survives kill -9 at any moment.

Write-ahead logging, one thread per `Store` that writes all that is queued in one transaction: a response is on disk
within milliseconds, and the future that `put` returns is done only then. An answer that is there is never replaced.
Beside each stands the server that gave it, and a checksum of all of it, which is looked at whenever it is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from codestress.errors import StoreError
from codestress.paths import shown
from codestress.types import Response, Usage

if TYPE_CHECKING:
    from codestress.inference.servers import Belongs

APPLICATION = 0xC0DE57
VERSION = 2
FIRST_VERSION = 1
"""Without servers and checksums, which are added when such a store is opened."""
PAGE = 4096
ROOT = 2
"""The page where the table of responses begins, in every store."""
LEAF = b"\x0d"
"""First byte of a page that holds rows of a table."""
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
    answered_at TEXT NOT NULL,
    server TEXT NOT NULL DEFAULT '',
    checksum BLOB
)
"""
SAFE = "Answers stored before are safe."
REMEDIES = (
    (("another program", "another version"), "{said}. It is kept as it is; set CODESTRESS_STORE to another file."),
    (
        ("malformed", "not a database", "corrupt"),
        "{said}. The file is kept as it is. `codestress store salvage` moves it aside and saves every readable answer "
        "to a new one.",
    ),
    (
        ("full", "disk i/o", "no space", "too large"),
        f"cannot be written: {{said}} (is the disk full?). {SAFE} Make room, and go on.",
    ),
    (("locked",), f"another process held it for {BUSY_S:g} s. {SAFE} Run the same command again when it is done."),
    (("",), f"{{said}}. {SAFE} Check the folder's rights, or set CODESTRESS_STORE to another file."),
)
"""Words in what SQLite or the system says, and what to tell; the first that fits."""
OF_A_ROW = (
    *(OverflowError, TypeError, ValueError, sqlite3.InterfaceError),
    *(sqlite3.DataError, sqlite3.IntegrityError, sqlite3.ProgrammingError),
)
"""What spoils one row, and no other that is written with it; all else is the file's, which every row would wait for."""
SHOWN_KEYS = 10
"""Of damaged answers, in a message."""


class Row(NamedTuple):
    """A stored response, by column."""

    key: str
    model: str
    text: bytes
    """Not SQLite's text, which cannot hold all that a model's may: lone surrogates, NUL."""
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
        cells = (key, model, text, response.finish_reason, *counts, seconds, by, response.answered_at, response.server)
        return cls._make((*cells, None)).checked()

    @property
    def response(self) -> Response:
        text = self.text.decode("utf-8", "surrogatepass")
        return Response(text, self.finish_reason, Usage(*self[4:8]), *self[8:12])

    @property
    def sum(self) -> bytes:
        """Of all that is stored: the text, and the rest as Python writes it."""
        digest = hashlib.blake2b(self.text, digest_size=16)
        digest.update(repr((*self[:2], *self[3:12])).encode("utf-8", "surrogatepass"))
        return digest.digest()

    def checked(self) -> Row:
        return self._replace(checksum=self.sum)

    @property
    def intact(self) -> bool:
        """Whether an answer is as it was stored."""
        return isinstance(self.key, str) and isinstance(self.text, bytes) and self.checksum == self.sum


COLUMNS = ", ".join(Row._fields)
LAST = "SELECT max(rowid) FROM responses"
INSERT = f"INSERT OR IGNORE INTO responses ({COLUMNS}) VALUES ({', '.join('?' * len(Row._fields))})"


def _count(tokens: int | None) -> int | None:
    """A count that SQLite can hold; what a server says beyond that is no count."""
    return tokens if tokens is not None and 0 <= tokens < 1 << 63 else None


class Store:
    """An open store; close it, or use it in a `with` statement. Any thread may call its methods."""

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
            if log.is_file() and log.stat().st_size and not (path.is_file() and path.stat().st_size):
                # SQLite would delete the log, which may hold answers.
                raise sqlite3.DatabaseError(f"is missing or empty, but {log.name} beside it holds answers (malformed)")
            self._reader = _open(path)
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, keys: Iterable[str], belongs: Belongs | None = None) -> dict[str, Response]:
        """The responses of those keys that have one; `StoreError` where one is not as it was stored.

        `belongs` gets model and server of each, and raises where the response is not to be used.
        """
        rows = [Row(*cells) for cells in self._having(COLUMNS, keys)]
        damaged = [row.key for row in rows if not row.intact]
        if damaged:
            more = f" and {len(damaged) - SHOWN_KEYS} more" if len(damaged) > SHOWN_KEYS else ""
            raise StoreError(
                f"{shown(self.path)}: stored answers are not what they were, by their checksums: keys "
                f"{', '.join(damaged[:SHOWN_KEYS])}{more}. `codestress store verify` lists all of them; with --repair "
                "they are set aside and asked again."
            )
        if belongs is not None:
            for row in rows:
                belongs(row.model, row.server)
        return {row.key: row.response for row in rows}

    def missing(self, keys: Iterable[str], belongs: Belongs | None = None) -> list[str]:
        """The keys that have no response, each once, in their order. Without `belongs` it reads the index alone."""
        absent = dict.fromkeys(keys)
        for key, *origin in self._having("key, model, server" if belongs else "key", [*absent]):
            if belongs:
                belongs(*origin)
            absent.pop(key, None)
        return [*absent]

    def _having(self, columns: str, keys: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        """These columns of the responses to these keys."""
        iterator = iter(keys)
        while chunk := list(itertools.islice(iterator, CHUNK)):
            yield from self._query(
                f"SELECT {columns} FROM responses WHERE key IN ({', '.join('?' * len(chunk))})", chunk
            )

    def damaged(self) -> dict[int, str]:
        """Keys, by row, of responses that are not as they were stored: all are read."""
        found: dict[int, str] = {}
        for part in _parts(self._query(LAST, [])):
            rows = self._query(f"SELECT rowid, {COLUMNS} FROM responses NOT INDEXED WHERE {part}", [])
            found |= {rowid: ascii(cells[0])[1:-1] for rowid, *cells in rows if not Row(*cells).intact}
        return found

    def faults(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        return [str(row[0]) for row in self._query("PRAGMA integrity_check(20)", []) if row[0] != "ok"]

    def set_aside(self, rows: Iterable[int]) -> None:
        """Moves responses to the table `damaged`, so that they are asked again."""
        try:
            with self._lock:
                self._reader.execute("BEGIN IMMEDIATE")
                with self._reader:
                    self._reader.execute("CREATE TABLE IF NOT EXISTS damaged AS SELECT * FROM responses WHERE 0")
                    these = [[row] for row in rows]
                    self._reader.executemany("INSERT INTO damaged SELECT * FROM responses WHERE rowid = ?", these)
                    self._reader.executemany("DELETE FROM responses WHERE rowid = ?", these)
        except sqlite3.Error as error:
            raise self._error(error) from None

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
        number = next(self._numbers)
        self._queued[number] = Row.of(key, model, response)
        return self._thread.submit(self._write, number)

    def close(self) -> None:
        """Writes what is queued and closes the file."""
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
        """Writes one row, and whatever else is queued; nothing where it was written with another."""
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
            for one in rows:
                del self._queued[one]
        if number in self._failed:
            raise self._failed.pop(number)

    def _error(self, error: Exception) -> StoreError:
        told = next(words for signs, words in REMEDIES if any(sign in str(error).lower() for sign in signs))
        return StoreError(f"{shown(self.path)}: {told.format(said=error)}")


def _open(path: Path) -> sqlite3.Connection:
    """A connection in autocommit mode to a store, made when there is none; a foreign file is refused.

    While another process makes the store, SQLite says that it is locked at once, without waiting: tried again.
    """
    deadline = time.monotonic() + BUSY_S
    while True:
        connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        connection.text_factory = _decoded
        try:
            _prepare(connection)
            return connection
        except BaseException as error:
            connection.close()
            locked = isinstance(error, sqlite3.OperationalError) and "locked" in str(error)
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
        raise sqlite3.DatabaseError(f"made by another version of this kit (format {version}, not {VERSION})")
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
    """What is no UTF-8 has been damaged, and its checksum will tell."""
    return text.decode("utf-8", "surrogateescape")


def _add_checksums(connection: sqlite3.Connection) -> None:
    """Makes a store of the first version one of this version, whole or not at all."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] != FIRST_VERSION:
            return  # another process has done it
        connection.execute("ALTER TABLE responses ADD COLUMN server TEXT NOT NULL DEFAULT ''")
        connection.execute("ALTER TABLE responses ADD COLUMN checksum BLOB")
        for part in _parts(connection.execute(LAST).fetchall()):
            rows = connection.execute(f"SELECT {COLUMNS} FROM responses NOT INDEXED WHERE {part}").fetchall()
            sums = [(row.sum, row.key) for row in itertools.starmap(Row, rows)]
            connection.executemany("UPDATE responses SET checksum = ? WHERE key = ?", sums)
        connection.execute(f"PRAGMA user_version={VERSION}")


def _parts(last: list[tuple[int | None]]) -> Iterator[str]:
    """Conditions by which all rows up to the last are read, some at a time."""
    return (f"rowid >= {low} AND rowid < {low + CHUNK}" for low in range(1, (last[0][0] or 0) + 1, CHUNK))


def salvage(damaged: Path, fresh: Path) -> int:
    """Copies every readable row of a damaged store to a new file; returns how many. The damaged file is not changed.

    Every page that may hold rows is read, whether or not the table still leads to it. What is as it was stored comes
    first, then rows of the first version, then what is not as it was stored, as it is: `damaged` names it.
    """
    if fresh.exists():
        raise StoreError(f"{shown(fresh)}: exists already; salvage writes only to a new file")
    with tempfile.TemporaryDirectory(dir=fresh.parent) as folder:
        copy = Path(folder) / "copy.sqlite"
        for suffix in ("", "-wal"):
            if Path(f"{damaged}{suffix}").is_file():
                shutil.copyfile(f"{damaged}{suffix}", f"{copy}{suffix}")
        empty = Path(folder) / "empty.sqlite"
        _open(empty).close()
        _begin(copy, empty)  # twice, because the log may have a first page too
        with contextlib.closing(sqlite3.connect(copy)) as source, contextlib.suppress(sqlite3.DatabaseError):
            source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _begin(copy, empty)
        kept, faults = 0, list[str]()
        doubtful: list[Row] = []
        with contextlib.closing(_open(fresh)) as target:
            for row in filter(_readable, _rows(copy, faults)):
                if row.intact:
                    kept += target.execute(INSERT, row).rowcount
                else:
                    doubtful.append(row)
            for row in sorted(doubtful, key=lambda row: row.checksum is not None):
                known = row if row.checksum else row.checked()
                storable = [
                    cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell for cell in known
                ]
                kept += target.execute(INSERT, storable).rowcount
    if faults and not kept:
        raise StoreError(f"{shown(damaged)}: no answer can be read from it ({faults[-1]}); it is kept")
    return kept


def _rows(path: Path, faults: list[str]) -> Iterator[Row]:
    """The rows of every page that holds rows; what SQLite says against one is a fault.

    Each such page is put where the table begins, so that SQLite reads it as the whole table. `path` is spoilt.
    """
    with path.open("r+b", buffering=0) as file:
        for start in range(PAGE, path.stat().st_size, PAGE):
            file.seek(start)
            page = file.read(PAGE)
            if page[:1] != LEAF:
                continue
            file.seek((ROOT - 1) * PAGE)
            file.write(page)
            with contextlib.closing(sqlite3.connect(f"file:{quote(str(path))}?immutable=1", uri=True)) as source:
                source.text_factory = _decoded
                try:
                    yield from itertools.starmap(Row, _rows_of_page(source))
                except sqlite3.DatabaseError as error:
                    faults.append(str(error))


def _rows_of_page(source: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    """From both ends to a damaged cell, then one by one, which finds what lies between two of them."""
    read = f"SELECT {COLUMNS} FROM responses NOT INDEXED"
    for order in ("", "DESC"):
        with contextlib.suppress(sqlite3.DatabaseError):
            yield from source.execute(f"{read} ORDER BY rowid {order}")
            return
    low, high = source.execute("SELECT min(rowid), max(rowid) FROM responses NOT INDEXED").fetchone()
    for rowid in range(low, min(high, low + PAGE) + 1):
        with contextlib.suppress(sqlite3.DatabaseError):
            yield from source.execute(f"{read} WHERE rowid = {rowid}")


def _readable(row: Row) -> bool:
    """Whether it has what every answer has."""
    kinds = (str, str, bytes, str, *[int | None] * 4, float | int, str, str)
    return len(row.key or "") == 32 and all(map(isinstance, row, kinds))


def _begin(path: Path, empty: Path) -> None:
    """Gives a copy the first page of an empty store, whose tables stand at the same pages: of a damaged one, SQLite
    refuses the whole file. Rows of the first version lack the last columns, which SQLite fills in."""
    with path.open("r+b") as file:
        pages = -(-path.stat().st_size // PAGE)
        file.truncate(pages * PAGE)
        file.write(empty.read_bytes()[:28] + pages.to_bytes(4, "big") + empty.read_bytes()[32:PAGE])
