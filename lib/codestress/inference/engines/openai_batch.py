"""The engine of OpenAI's batch mode: a file of requests, answered within a day at half
the price.

Open batches are written to a file before the engine waits for them. A run that was
stopped finds them again when it is started anew, and pays for nothing twice.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field, TypeAdapter

from codestress.errors import EngineError
from codestress.literals import parse_json
from codestress.paths import OUTPUTS, shown, write_whole
from codestress.types import Request, Response

from ..progress import say
from ..registry import ModelEntry
from . import openai
from .base import (
    BatchEngine,
    Outcomes,
    RequestFailed,
)
from .replies import outcome_of, response_of, value_at

if TYPE_CHECKING:
    from openai.types import Batch


LARGEST_FILE = 100_000_000
"""Largest file of requests, in bytes; the API takes 200 MB."""
ENDPOINT: Final = "/v1/chat/completions"
ENDED = ("completed", "failed", "expired", "cancelled")
_BATCHES = TypeAdapter(dict[str, list[str]])
"""Validator of the file of open batches: a dict from a batch's id to the keys of its
requests."""


class Settings(openai.Settings):
    """A registry row's `settings` for the engine `openai_batch` (params/models.yaml):
    the settings of the engine `openai`, and how to wait."""

    batch: int = Field(default=20_000, ge=1, le=50_000)
    """Maximum number of requests in one file."""
    poll_s: float = Field(default=60, gt=0)
    """Seconds between two checks of whether a batch has ended."""


class OpenAIBatch(BatchEngine):
    """An engine that asks one model through OpenAI's batch mode, with files of
    requests.

    Raises `EngineError` for another endpoint than `chat`.
    """

    def __init__(self, entry: ModelEntry) -> None:
        super().__init__(entry)
        self._settings = settings = Settings.model_validate(entry.settings)
        if settings.endpoint != "chat":
            raise EngineError(f"{entry.name}: batch mode is for endpoint: chat")
        self.concurrency = settings.batch
        # The client takes a second to import.
        from .openai_engine import OpenAIEngine

        self._engine = OpenAIEngine(entry, settings)
        self._client = self._engine.client
        self._file = OUTPUTS / "batches" / f"{entry.fingerprint}.json"
        self._batches = self._read()
        """Keys of the requests in each batch that is not known to have ended, by the
        batch's id."""
        self.submitted = frozenset().union(*self._batches.values())

    async def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yield responses and failures as batches end: batches that were open before,
        and new batches.

        Raises `EngineError` if no request can succeed, and `RequestFailed` if a call
        about files or batches fails.
        """
        try:
            await self._open(requests)
            while self._batches:
                for identifier, keys in list(self._batches.items()):
                    batch = await self._client.batches.retrieve(identifier)
                    if batch.status in ENDED:
                        async for outcome in self._outcomes(batch, keys):
                            yield outcome
                        for _ in range(2):  # waiting tasks wake up and store responses
                            await asyncio.sleep(0)
                        del self._batches[identifier]
                        self._write()
                if self._batches:
                    await asyncio.sleep(self._settings.poll_s)
        except Exception as error:
            raise self._engine.failure(error) from None

    async def close(self) -> None:
        await super().close()
        await self._engine.close()

    async def _open(self, requests: Sequence[Request]) -> None:
        """Open batches for those of `requests` that are in no open batch.

        Raises `NoContinuationError`, an `EngineError`, if a request has a begun answer.
        """
        known = set().union(*self._batches.values())
        lines: dict[str, bytes] = {}
        size = 0
        for request in requests:
            if request.key in known:
                continue
            line = self._line(request)
            size += len(line)
            if lines and size > LARGEST_FILE:
                await self._send(lines)
                lines, size = {}, len(line)
            lines[request.key] = line
        if lines:
            await self._send(lines)
        say(
            f"{self.entry.name}: {len(self._batches)} batches open; this may take a day, "
            "and may be stopped"
        )

    async def _send(self, lines: Mapping[str, bytes]) -> None:
        """Open a batch of requests; `lines` is a dict from key to the request's line of
        JSON."""
        file = await self._client.files.create(
            file=("requests.jsonl", b"".join(lines.values())), purpose="batch"
        )
        batch = await self._client.batches.create(
            input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h"
        )
        self._batches[batch.id] = list(lines)
        self._write()

    def _line(self, request: Request) -> bytes:
        if request.prompt.prefill:
            raise self._engine.not_continued("batch mode begins a new one")
        line = {"custom_id": request.key, "method": "POST", "url": ENDPOINT}
        body = openai.request_body(request, self._settings)
        return json.dumps({**line, "body": body}).encode() + b"\n"

    async def _outcomes(self, batch: Batch, keys: list[str]) -> Outcomes:
        """Yield the outcomes of `batch`, which has ended, for the requests with these
        `keys`.

        The first outcome of each request is a failure, which counts if the batch has no
        answer to the request.
        """
        message = f"batch {batch.id} {batch.status} without an answer"
        if batch.errors:
            message += f": {self._engine.secret.quote(batch.errors.to_json())}"
        for key in keys:
            yield key, RequestFailed(f"{self.entry.name}: {message}")
        for file in (batch.error_file_id, batch.output_file_id):
            content = (await self._client.files.content(file)).content if file else b""
            for line in content.splitlines():
                with suppress(ValueError):  # a broken line answers no request
                    row = parse_json(line)
                    yield str(value_at(row, "custom_id")), self._outcome(row)

    def _outcome(self, row: Any) -> Response | RequestFailed:
        """Return the response in `row`, a line of a batch's file, or the failure."""
        status = value_at(row, "response", "status_code")
        body = value_at(row, "response", "body")
        if status == 200:
            try:
                return response_of(body, 0.0, self._engine.secret)
            except ValueError as error:
                return RequestFailed(f"{self.entry.name}: no chat completion: {error}")
        words = json.dumps(value_at(row, "error") or body, ensure_ascii=False)
        message = f"status {status}: {self._engine.secret.quote(words)}"
        outcome = outcome_of(status or 0, words)
        return RequestFailed(f"{self.entry.name}: {message}", outcome)

    def _read(self) -> dict[str, list[str]]:
        """Return a dict from batch id to the keys of the batch's requests, read from
        the file of open batches; empty if there is no file.

        The dict has the batches that are not known to have ended. Raises `EngineError`
        if the file is damaged.
        """
        try:
            return _BATCHES.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            raise EngineError(
                f"{shown(self._file)}: does not name the batches that are under way; "
                "correct it by the server's list of batches, or delete it and ask (and pay) "
                "again"
            ) from None

    def _write(self) -> None:
        if self._batches:
            write_whole(self._file, json.dumps(self._batches))
        else:
            self._file.unlink(missing_ok=True)


open_engine = OpenAIBatch
