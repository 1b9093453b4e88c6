"""Archives: one file of responses, with hashes of their requests, that rebuilds every
figure without a model.

The format is gzipped JSON Lines: a header, then one row for each request, sorted by
key. Equal responses therefore give equal bytes, and `zdiff` compares two archives line
by line. A file that a browser has unpacked is read too, whatever its name.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import astuple
from io import BytesIO
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from codestress.errors import ArchiveError, ParameterError
from codestress.literals import parse_json
from codestress.paths import shown, write_whole
from codestress.problems.problem_files import opened
from codestress.types import FinishReason, Request, Response, Usage, digest_of, hash_of
from codestress.validation import check

from .registry import ModelEntry
from .requests import belongs
from .store import Store

HEADER = "codestress archive"
"""Field of the first line that holds the format's number."""
FORMAT = 2
NO_ARCHIVE = (
    f"no archive in format {FORMAT}; `codestress archive export` writes one from the "
    "store"
)
LONGEST_LINE = 100_000_000
"""Length in bytes that a row must stay below: enough for the longest response with each
character as an escape."""
KEYED = ("revision", "prompt", "sample", "attempt")
"""Fields of a request from which, with its model, the request's key is made."""
Content = dict[str, Any]
"""Dict from field to value for a request's content; one hash replaces the messages."""
_imported: set[tuple[Path, Path]] = set()
"""Archives that this process has imported, each with the store's path."""


class Row(BaseModel):
    """A request and its response, as one line of an archive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(pattern="^[0-9a-f]{32}$")
    model: str
    """The model's name in the registry."""
    asked: Content
    text: InstanceOf[str]
    """The completion. It may hold lone surrogates, which pydantic's own string type
    refuses."""
    finish_reason: FinishReason
    usage: tuple[int | None, int | None, int | None, int | None]
    """Numbers of tokens: of the prompt, of the completion, of the reasoning, and of the
    part of the prompt that came from a cache. None if unknown."""
    seconds: float = Field(ge=0, allow_inf_nan=False)
    answered_by: str
    answered_at: str
    server: str = ""
    """Address of the server that answered; empty if no server did or it is unknown."""

    @property
    def response(self) -> Response:
        _, _, _, text, finish_reason, usage, *others = dict(self).values()
        return Response(text, finish_reason, Usage(*usage), *others)


def asked_of(request: Request) -> Content:
    """Return a dict from field to value for a request's content.

    The fields are `id` (the model), `revision`, `messages` (one hash for all),
    `prefill`, the sampling settings, `sample`, `attempt` and `prompt` (the prompt's
    digest).
    """
    prompt = request.prompt
    messages = [[message.role, message.content] for message in prompt.messages]
    return {
        "id": request.model,
        "revision": request.revision,
        "messages": hash_of(json.dumps(messages)),
        "prefill": prompt.prefill,
        **vars(prompt.sampling),
        "sample": request.sample,
        "attempt": request.attempt,
        "prompt": prompt.digest,
    }


def key_of(content: Content) -> str:
    """Return the key of the request with this content (see `asked_of`)."""
    fields = {name: content.get(name) for name in KEYED}
    fields["model"] = content.get("id")
    return digest_of(fields)


def write_archive(
    path: Path, answered: Iterable[tuple[ModelEntry, Request, Response]]
) -> int:
    """Write an archive of requests and their responses, and return its number of
    responses.

    Each request also comes with its model's registry row. Each key is written once,
    with its first response. The file is written whole or not at all.
    """
    lines: dict[str, bytes] = {}
    for entry, request, response in answered:
        if request.key in lines:
            continue
        cells = request.key, entry.name, asked_of(request), *astuple(response)
        row = dict(zip(Row.model_fields, cells, strict=False))
        # Compressed: all rows stay in memory until they are sorted.
        lines[request.key] = zlib.compress(json_line(row))
    content = BytesIO()
    with gzip.GzipFile("", "wb", fileobj=content, mtime=0) as packed:
        packed.write(json_line({HEADER: FORMAT, "responses": len(lines)}))
        for key in sorted(lines):
            packed.write(zlib.decompress(lines[key]))
    write_whole(path, content.getvalue())
    return len(lines)


def json_line(content: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(content, separators=(',', ':'))}\n".encode()


def read_archive(path: Path) -> Iterator[Row]:
    """Yield the rows of an archive, each after checks: its form, the order of keys, and
    that its key is the hash of its request.

    Raises `ArchiveError`, with the line, if a check fails or the file cannot be read.
    Raises `ArchiveError` after the last row if the header promises another number of
    rows.
    """
    name = shown(path)
    number = 1
    before = ""
    try:
        with opened(path) as file:
            header = parse_json(file.readline(LONGEST_LINE))
            if not isinstance(header, dict) or header.get(HEADER) != FORMAT:
                raise ValueError(NO_ARCHIVE)
            while line := file.readline(LONGEST_LINE):
                number += 1
                if len(line) == LONGEST_LINE:
                    raise ValueError(f"longer than {LONGEST_LINE:,} bytes")
                row = check(Row, parse_json(line), "row")
                if key_of(row.asked) != row.key:
                    raise ValueError("the key is not that of the request")
                if row.key <= before:
                    raise ValueError("keys not in order, or one twice; export it again")
                before = row.key
                yield row
    except (OSError, EOFError, zlib.error) as error:
        raise ArchiveError(
            f"{name}: cannot be read after line {number}: {error}; copy the file again"
        ) from None
    except (ValueError, ParameterError) as error:
        raise ArchiveError(f"{name}, line {number}: {error!s:.500}") from None
    if header.get("responses") != number - 1:
        raise ArchiveError(
            f"{name}: {number - 1} responses, and the first line promises "
            f"{header.get('responses')}"
        )


def import_archive(
    path: Path, store: Path, models: Mapping[str, ModelEntry]
) -> tuple[int, int]:
    """Copy an archive's responses into a store, after checking all of them; return
    their number, and how many were new to the store.

    A stored response is never replaced. `models` is the registry. Raises `ArchiveError`
    for an invalid archive. Raises `EngineError` if the archive has responses from
    another server than the model's registry row names; models without a row are not
    checked.
    """
    origins = Counter((row.model, row.server) for row in read_archive(path))
    for model, server in origins:
        if model in models:
            belongs(models[model], shown(path))(model, server)
    rows = ((row.key, row.model, row.response) for row in read_archive(path))
    with Store(store) as responses:
        before = responses.count()
        responses.put_all(rows)
        return origins.total(), responses.count() - before


def import_known(entries: Iterable[ModelEntry], store: Path) -> None:
    """Copy into a store the archives that registry rows name in their field `archive`,
    each once per process.

    Raises as `import_archive` does.
    """
    models = {entry.name: entry for entry in entries}
    for entry in models.values():
        if entry.archive and (entry.archive, store) not in _imported:
            import_archive(entry.archive, store, models)
            _imported.add((entry.archive, store))
