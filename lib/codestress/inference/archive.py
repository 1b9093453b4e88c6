"""Archives: one file of responses, with hashes of their requests, that rebuilds every figure
without a model.

The format is gzipped JSON Lines: a header line, then one row for each request, sorted by key. Equal
responses therefore give equal bytes, and `zdiff` compares two archives line by line. One that is not
gzipped any more is read too, whatever its name.
"""

from __future__ import annotations

import gzip
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
from codestress.problems.problem_files import opened, refuse_packed
from codestress.types import FinishReason, Request, Response, Usage, digest_of, hash_of

FORMAT = 2
FORMATS = (1, FORMAT)
"""Formats that can be read. Rows of format 1 name no server: it is unknown."""
LONGEST_LINE = 100_000_000
"""Longest row, in bytes: the longest response with each of its characters written as an escape."""
SAME = ("text", "finish_reason", "seconds", "answered_by", "answered_at", "server")
"""Fields that a row copies from its response."""
Asked = dict[str, Any]
"""A request's content by field: one hash of the messages, all other fields unchanged, and the
prompt's digest."""


class Row(BaseModel):
    """A request and its response, as one line of an archive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(pattern="^[0-9a-f]{32}$")
    model: str
    """The model's name in the registry."""
    asked: Asked
    text: Any
    """The completion, a string. It may hold lone surrogates, which pydantic's own string type
    refuses."""
    finish_reason: FinishReason
    usage: tuple[int | None, int | None, int | None, int | None]
    """Tokens of the prompt, the completion, the reasoning, and the part of the prompt that came
    from a cache; None where unknown."""
    seconds: float = Field(ge=0, allow_inf_nan=False)
    answered_by: str
    answered_at: str
    server: str = ""
    """Address of the server that answered; empty where no server answered or its address is
    unknown."""

    @property
    def response(self) -> Response:
        return Response(
            usage=Usage(*self.usage), **{name: getattr(self, name) for name in SAME}
        )


def asked_of(request: Request) -> Asked:
    """Returns a request's content by field: `id` (the model), `revision`, `messages` (one hash of
    all messages), `prefill` (the answer's given beginning), the sampling settings, `sample`,
    `attempt` and `prompt` (the prompt's digest)."""
    prompt = request.prompt
    messages = [[message.role, message.content] for message in prompt.messages]
    return {
        "id": request.model,
        "revision": request.revision,
        "messages": hash_of(json.dumps(messages)),
        "prefill": prompt.prefill,
        **asdict(prompt.sampling),
        "stop": list(prompt.sampling.stop),
        "sample": request.sample,
        "attempt": request.attempt,
        "prompt": prompt.digest,
    }


def key_of(asked: Asked) -> str:
    """Returns the key of the request with the content `asked` (as `asked_of` returns it): a hash of
    its model, revision, prompt's digest, sample and attempt; `KeyError` where one of them is
    missing."""
    named = {name: asked[name] for name in ("revision", "prompt", "sample", "attempt")}
    return digest_of({"model": asked["id"], **named})


def write_archive(
    path: Path, answered: Iterable[tuple[ModelEntry, Request, Response]]
) -> int:
    """Writes the archive `path` from `answered`, triples of a registry row, a request and its
    response, and returns its number of responses.

    Each key is written once, with its first response, in sorted order. The file is written whole or
    not at all.
    """
    lines: dict[str, bytes] = {}
    for entry, request, response in answered:
        if request.key not in lines:
            same = {name: getattr(response, name) for name in SAME}
            asked, usage = asked_of(request), astuple(response.usage)
            row = Row(
                key=request.key, model=entry.name, asked=asked, usage=usage, **same
            )
            lines[row.key] = zlib.compress(_line(row.__dict__))
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            part.open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        ):
            packed.write(_line({"codestress archive": FORMAT, "responses": len(lines)}))
            for key in sorted(lines):
                packed.write(zlib.decompress(lines[key]))
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    return len(lines)


def _line(content: dict[str, Any]) -> bytes:
    return (
        json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
    )


def read_archive(path: Path) -> Iterator[Row]:
    """Yields the rows (`Row`) of the archive `path` and checks each: its form, the order of keys,
    and that its key is the hash of its request.

    Raises `ArchiveError` for an unreadable file, for a row that fails a check, and after the last
    row where the first line promises another number of rows.
    """
    number, before, place = 0, "", f"{shown(path)}, line 1"
    try:
        with opened(path) as file:
            promised = _promised(file.readline(LONGEST_LINE), shown(path))
            lines = iter(lambda: file.readline(LONGEST_LINE), b"")
            for number, line in enumerate(lines, start=1):
                place = f"{shown(path)}, line {number + 1}"
                if len(line) == LONGEST_LINE:
                    raise ArchiveError(f"{place}: longer than {LONGEST_LINE:,} bytes")
                row = Row.model_validate(parse_json(line))
                if not isinstance(row.text, str):
                    raise ArchiveError(f"{place}: text: must be a string")
                if row.key <= before:
                    raise ArchiveError(
                        f"{place}: keys are not in order, or one stands twice; "
                        "export the archive again"
                    )
                if key_of(row.asked) != row.key:
                    raise ArchiveError(
                        f"{place}: the key is not that of what was asked"
                    )
                before = row.key
                yield row
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "row"
        raise ArchiveError(f"{place}: {where}: {first['msg']}") from None
    except (OSError, EOFError, zlib.error) as error:
        where = f"{place}, or the next" if number else shown(path)
        raise ArchiveError(
            f"{where}: cannot be read: {error}; copy the file again"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError(
            f"{place}: not a row of an archive: {error!r:.200}"
        ) from None
    if promised != number:
        raise ArchiveError(
            f"{shown(path)}: {number} responses, and the first line promises {promised}"
        )


def _promised(line: bytes, path: str) -> Any:
    """Returns the number of responses that `line`, the first of the archive `path`, promises.
    Raises `ArchiveError` where the line names no known format, and `KeyError` where it has no
    number."""
    refuse_packed(line)
    head = parse_json(line)
    if not isinstance(head, dict) or head.get("codestress archive") not in FORMATS:
        raise ArchiveError(f"{path}: no archive of this kit (format {FORMAT} or 1)")
    return head["responses"]


def import_archive(
    path: Path, store: Path, models: Mapping[str, ModelEntry]
) -> tuple[int, int]:
    """Copies the responses of the archive `path` into the store at the path `store`, after checking
    all of them, and never replaces a stored response. Returns a pair of numbers: the archive's
    responses, and those of them that were new.

    `models` is the registry, its rows by name. Raises `ArchiveError` for an invalid archive, and
    `EngineError` where the archive or the store has responses from another server than the model's
    registry row names; for a model without a row, `ArchiveError` where the archive's server and the
    store's differ.
    """
    keys: dict[tuple[str, str], list[str]] = {}
    for row in read_archive(path):
        keys.setdefault((row.model, row.server), []).append(row.key)
    for model, server in keys:
        if model in models:
            belongs(models[model], shown(path))(model, server)
    with Store(store) as responses:
        for (model, server), asked in keys.items():
            check = comes_from(model, server, shown(path))
            responses.missing(
                asked, belongs(models[model]) if model in models else check
            )
        before = responses.count()
        rows = read_archive(path)
        responses.put_all((row.key, row.model, row.response) for row in rows)
        return sum(map(len, keys.values())), responses.count() - before


def import_known(entries: Iterable[ModelEntry], store: Path) -> None:
    """Copies the archives that registry rows in `entries` name, by their field `archive`, into the
    store at the path `store`, each once in a process; rows that name none are skipped. Raises as
    `import_archive` does."""
    models = {entry.name: entry for entry in entries}
    for path in dict.fromkeys(
        entry.archive for entry in models.values() if entry.archive
    ):
        if (path, store) not in _IMPORTED:
            import_archive(path, store, models)
            _IMPORTED.add((path, store))


_IMPORTED: set[tuple[Path, Path]] = set()


def difference(rows: Iterable[Row], request: Request) -> str:
    """Returns words that say why an archive with the rows `rows` lacks `request`: the fields in
    which the nearest row's request differs, with both values except for messages and begun answers;
    or that no row has a field in common."""
    wanted = {
        name: value for name, value in asked_of(request).items() if name != "prompt"
    }
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
    fields = []
    for name in nearest:
        values = f" ({there.get(name)!r} there, {wanted[name]!r} here)"
        fields.append(name if name in ("messages", "prefill") else name + values)
    return f"the nearest differs in {', '.join(fields)}"
