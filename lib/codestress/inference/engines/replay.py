"""The engine of an archive: answers what somebody asked before, and nothing else. CODESTRESS_REPLAY names the file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from codestress.errors import EngineError
from codestress.inference.archive import Row, difference, read_archive
from codestress.inference.engines.base import Engine
from codestress.inference.registry import ModelEntry
from codestress.inference.servers import belongs
from codestress.paths import shown
from codestress.types import Request, Response


class Replay(Engine):
    """Answers for one model."""

    concurrency = 1

    def __init__(self, entry: ModelEntry, path: Path) -> None:
        self._entry = entry
        self._path = path.resolve()
        self._rows = _rows(self._path, path.stat().st_mtime_ns if path.is_file() else 0)
        self._belongs = belongs(entry, shown(path))

    async def answer(self, request: Request) -> Response:
        row = self._rows.get(request.key)
        if row is None:
            raise EngineError(
                f"{self._entry.name}: {shown(self._path)} has no answer to a request: "
                f"{difference(self._rows.values(), request)}.\n"
                "Build with the parameters and the version that made the archive, or ask the model: without REPLAY."
            )
        self._belongs(row.model, row.server)
        return row.response


@lru_cache(maxsize=1)
def _rows(path: Path, _changed: int) -> dict[str, Row]:
    return {row.key: row for row in read_archive(path)}
