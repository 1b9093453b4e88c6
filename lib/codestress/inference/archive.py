"""Archives: responses with hashes of what was asked, as one file that rebuilds every figure without a model.

Gzipped JSON Lines: a line that says what it is, then a row for each request, sorted by key, so that the same responses
make the same bytes, and two archives can be compared by line (`zdiff`).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, astuple
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from codestress.errors import ArchiveError
from codestress.inference.registry import ModelEntry
from codestress.inference.servers import belongs, comes_from
from codestress.inference.store import Store
from codestress.literals import parse_json
from codestress.paths import shown
from codestress.types import FinishReason, Request, Response, Usage

FORMAT = 2
FIRST_FORMAT = 1
"""Without servers, which are then unknown."""
LONGEST_LINE = 100_000_000
"""Bytes of a row: the longest reply, each of its characters written as an escape."""
SAME = ("text", "finish_reason", "seconds", "answered_by", "answered_at", "server")
"""Fields of a response that a row has too."""
Asked = dict[str, Any]
"""What a request asks, by field: the prompt's texts as hashes, all else as it is."""


class Row(BaseModel):
    """A request and its response."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(pattern="^[0-9a-f]{32}$")
    model: str
    """The registry's name."""
    asked: Asked
    text: Any
    """A string, which may hold lone surrogates: pydantic's own type for texts would refuse them."""
    finish_reason: FinishReason
    usage: tuple[int | None, int | None, int | None, int | None]
    """Tokens of prompt, answer, reasoning, and of the prompt from a cache."""
    seconds: float = Field(ge=0, allow_inf_nan=False)
    answered_by: str
    answered_at: str
    server: str = ""
    """The address that answered; empty where there was none, or nobody knows it."""

    @property
    def response(self) -> Response:
        return Response(usage=Usage(*self.usage), **{name: getattr(self, name) for name in SAME})


def asked_of(request: Request) -> Asked:
    """What a request asks, by field."""
    prompt = request.prompt
    messages = [[message.role, message.content] for message in prompt.messages]
    return {
        "id": request.model,
        "revision": request.revision,
        "messages": _hash(json.dumps(messages)),
        "prefill": prompt.prefill,
        **asdict(prompt.sampling),
        "stop": list(prompt.sampling.stop),
        "sample": request.sample,
        "attempt": request.attempt,
        "prompt": prompt.digest,
    }


def key_of(asked: Asked) -> str:
    """The key that a request with these fields has; see `Request.key`."""
    parts = {"model": asked["id"], **{name: asked[name] for name in ("revision", "prompt", "sample", "attempt")}}
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return _hash(canonical)


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def write_archive(path: Path, answered: Iterable[tuple[ModelEntry, Request, Response]]) -> int:
    """Writes responses, each once, sorted by key; returns how many. The file is there whole, or not at all."""
    lines: dict[str, bytes] = {}
    for entry, request, response in answered:
        if request.key not in lines:
            same = {name: getattr(response, name) for name in SAME}
            asked, usage = asked_of(request), astuple(response.usage)
            row = Row(key=request.key, model=entry.name, asked=asked, usage=usage, **same)
            lines[row.key] = zlib.compress(_line(row.__dict__))
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with part.open("wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            packed.write(_line({"codestress archive": FORMAT, "responses": len(lines)}))
            for key in sorted(lines):
                packed.write(zlib.decompress(lines[key]))
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return len(lines)


def _line(content: dict[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def read_archive(path: Path) -> Iterator[Row]:
    """The rows of an archive, each checked: form, order, and that its key is the hash of what it says was asked."""
    number, before, promised = 0, "", -1
    try:
        with gzip.open(path) as file:
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
                if len(line) == LONGEST_LINE:
                    raise ArchiveError(f"{shown(path)}, line {number}: longer than {LONGEST_LINE:,} bytes")
                if number == 1:
                    head = parse_json(line)
                    if not isinstance(head, dict) or head.get("codestress archive") not in (FIRST_FORMAT, FORMAT):
                        raise ArchiveError(f"{shown(path)}: no archive of this kit (format {FORMAT} or {FIRST_FORMAT})")
                    promised = head["responses"]
                    continue
                row = Row.model_validate(parse_json(line))
                if not isinstance(row.text, str):
                    raise ArchiveError(f"{shown(path)}, line {number}: text: must be a string")
                if row.key <= before:
                    raise ArchiveError(f"{shown(path)}, line {number}: keys are not in order, or one stands twice")
                if key_of(row.asked) != row.key:
                    raise ArchiveError(f"{shown(path)}, line {number}: the key is not that of what was asked")
                before = row.key
                yield row
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "row"
        raise ArchiveError(f"{shown(path)}, line {number}: {where}: {first['msg']}") from None
    except (OSError, EOFError, zlib.error) as error:
        raise ArchiveError(f"{shown(path)}: cannot be read: {error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{shown(path)}, line {number}: not a row of an archive: {error!r}") from None
    if promised != number - 1:
        raise ArchiveError(f"{shown(path)}: {number - 1} responses, and the first line promises {promised}")


def import_archive(path: Path, store: Path, models: Mapping[str, ModelEntry]) -> tuple[int, int]:
    """Puts an archive's responses into a store, after all of it was checked; returns how many it has, and how many of
    them were new. Answers that are there stay.

    `models` is the registry: `EngineError` where the archive or the store has answers of another server than a model's
    row asks, `ArchiveError` where those of a model without a row differ in it.
    """
    keys: dict[tuple[str, str], list[str]] = {}
    for row in read_archive(path):
        keys.setdefault((row.model, row.server), []).append(row.key)
    for model, server in keys:
        if model in models:
            belongs(models[model], shown(path))(model, server)
    with Store(store) as responses:
        for (model, server), asked in keys.items():
            known = models.get(model)
            responses.missing(asked, belongs(known) if known else comes_from(model, server, shown(path)))
        before, rows, done = responses.count(), 0, None
        for row in read_archive(path):
            done = responses.put(row.key, row.model, row.response)
            rows += 1
        if done is not None:
            done.result()
        return rows, responses.count() - before


def import_known(entries: Iterable[ModelEntry], store: Path) -> None:
    """Puts the answers into a store that come with these models (`archive` in the registry); once in a process."""
    models = {entry.name: entry for entry in entries}
    for path in dict.fromkeys(entry.archive for entry in models.values() if entry.archive):
        if (path, store) not in _IMPORTED:
            import_archive(path, store, models)
            _IMPORTED.add((path, store))


_IMPORTED: set[tuple[Path, Path]] = set()


def difference(rows: Iterable[Row], request: Request) -> str:
    """What keeps a request from being one of an archive's: the fields in which the nearest row is another."""
    wanted = {name: value for name, value in asked_of(request).items() if name != "prompt"}
    nearest: list[str] = list(wanted)
    there: Asked = {}
    for row in rows:
        other = [name for name, value in wanted.items() if row.asked.get(name) != value]
        if len(other) < len(nearest):
            nearest, there = other, row.asked
            if len(other) == 1:
                break
    if not there:
        return "it has nothing like it"
    told = []
    for name in nearest:
        values = "" if name in ("messages", "prefill") else f" ({there.get(name)!r} there, {wanted[name]!r} here)"
        told.append(f"{name}{values}")
    return f"the nearest differs in {', '.join(told)}"
