"""The engine of OpenAI's batch mode: a file of requests, answered within a day at half the price.

Open batches are written to a file before the engine waits for them, so that a run that was stopped
finds them again and pays for nothing twice.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field, TypeAdapter
from tqdm import tqdm

from codestress.errors import EngineError
from codestress.literals import parse_json
from codestress.paths import OUTPUTS, shown, write_whole
from codestress.types import Request, Response

from ..registry import ModelEntry
from . import openai
from .base import (
    BatchEngine,
    Outcomes,
    RequestFailed,
    served_identity,
)
from .replies import outcome_of, response_of, value_at

if TYPE_CHECKING:
    from openai.types import Batch

identity = served_identity

LARGEST_FILE = 100_000_000
"""Largest file of requests, in bytes; the API takes 200 MB."""
ENDPOINT: Final = "/v1/chat/completions"
ENDED = ("completed", "failed", "expired", "cancelled")
_BATCHES = TypeAdapter(dict[str, list[str]])
"""Validator of the file of open batches: keys of requests by batch."""


class Settings(openai.Settings):
    """A registry row's `settings` for the engine `openai_batch` (params/models.yaml): the settings
    of the engine `openai`, and how to wait."""

    batch: int = Field(default=20_000, ge=1, le=50_000)
    """Maximum number of requests in one file."""
    poll_s: float = Field(default=60, gt=0)
    """Seconds between two checks of whether a batch has ended."""


class OpenAIBatch(BatchEngine):
    """An engine that asks one model by OpenAI's batch mode, with files of requests; `EngineError`
    for another endpoint than `chat`."""

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
        self.submitted = set().union(*self._read().values())

    async def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yields each of `requests` as a pair with its response or failure as batches end, from
        batches that were open before and from new batches. Raises `EngineError` where no request
        can succeed, and `RequestFailed` where a call about files or batches fails."""
        waiting = {request.key: request for request in requests}
        try:
            batches = await self._opened(requests)
            while batches:
                for identifier, keys in list(batches.items()):
                    batch = await self._client.batches.retrieve(identifier)
                    if batch.status not in ENDED:
                        continue
                    outcomes = await self._outcomes(batch, keys)
                    for key, outcome in outcomes.items():
                        if key in waiting:
                            yield waiting.pop(key), outcome
                    del batches[identifier]
                    self._write(batches)
                if batches:
                    await asyncio.sleep(self._settings.poll_s)
        except Exception as error:
            raise self._engine.failure(error) from None

    async def close(self) -> None:
        await super().close()
        await self._engine.close()

    async def _opened(self, requests: Sequence[Request]) -> dict[str, list[str]]:
        """Returns the keys of the requests in each open batch, by the batch's id, after opening
        batches for those of `requests` that are in none."""
        batches = self._read()
        known = set().union(*batches.values())
        new = [request for request in requests if request.key not in known]
        for lines in self._files(new):
            file = await self._client.files.create(
                file=("requests.jsonl", b"".join(lines.values())), purpose="batch"
            )
            batch = await self._client.batches.create(
                input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h"
            )
            batches[batch.id] = list(lines)
            self._write(batches)
        advice = "this may take a day, and may be stopped"
        line = f"{self.entry.name}: {len(batches)} batches open; {advice}"
        tqdm.write(line, sys.stderr)
        return batches

    def _files(self, requests: Sequence[Request]) -> Iterator[dict[str, bytes]]:
        """Yields the content of each file to send: lines of JSON, one for each of `requests`, by
        request key, as many as a file may hold. Raises `EngineError` for a request that begins the
        answer."""
        lines: dict[str, bytes] = {}
        size = 0
        for request in requests:
            line = self._line(request)
            size += len(line)
            if lines and (len(lines) == self.concurrency or size > LARGEST_FILE):
                yield lines
                lines = {}
                size = len(line)
            lines[request.key] = line
        if lines:
            yield lines

    def _line(self, request: Request) -> bytes:
        if request.prompt.prefill:
            raise EngineError(
                f"{self.entry.name}: batch mode cannot continue a begun answer, and the "
                "prompt begins one: use a model with settings.prefill, or have the "
                "question begin the answer: SET=prefill=user."
            )
        line = {"custom_id": request.key, "method": "POST", "url": ENDPOINT}
        body = openai.request_body(request, self._settings)
        return json.dumps({**line, "body": body}).encode() + b"\n"

    async def _outcomes(
        self, batch: Batch, keys: list[str]
    ) -> dict[str, Response | RequestFailed]:
        """Returns the response or failure of each of `keys`, the requests' keys in the ended batch
        `batch`, by key; a failure where the batch has no answer."""
        message = f"batch {batch.id} {batch.status} without an answer"
        if batch.errors:
            message += f": {self._engine.secret.shown(batch.errors.to_json())}"
        failure = RequestFailed(f"{self.entry.name}: {message}")
        outcomes: dict[str, Response | RequestFailed] = dict.fromkeys(keys, failure)
        for file in (batch.error_file_id, batch.output_file_id):
            content = (await self._client.files.content(file)).content if file else b""
            for line in content.splitlines():
                try:
                    row = parse_json(line)
                except ValueError:
                    continue  # its request has no answer
                key = str(value_at(row, "custom_id"))
                if key in outcomes:
                    outcomes[key] = self._outcome(row)
        return outcomes

    def _outcome(self, row: dict[str, Any]) -> Response | RequestFailed:
        """Returns the response in `row`, a line of a batch's file, or the failure."""
        status = value_at(row, "response", "status_code")
        body = value_at(row, "response", "body")
        if status == 200:
            try:
                return response_of(body, 0.0, self._engine.secret)
            except ValueError as error:
                return RequestFailed(f"{self.entry.name}: no chat completion: {error}")
        words = json.dumps(row.get("error") or body, ensure_ascii=False)
        message = f"status {status}: {self._engine.secret.shown(words)}"
        outcome = outcome_of(status or 0, words)
        return RequestFailed(f"{self.entry.name}: {message}", outcome)

    def _read(self) -> dict[str, list[str]]:
        """Returns the keys of the requests in each batch that is not known to have ended, by the
        batch's id, from the file of open batches; empty without a file. Raises `EngineError` where
        the file is damaged."""
        try:
            return _BATCHES.validate_json(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError:
            raise EngineError(
                f"{shown(self._file)}: does not name the batches that are under way; set "
                "it right by the server's list of batches, or delete it and ask (and pay) "
                "again"
            ) from None

    def _write(self, batches: dict[str, list[str]]) -> None:
        if batches:
            write_whole(self._file, json.dumps(batches))
        else:
            self._file.unlink(missing_ok=True)


open_engine = OpenAIBatch
