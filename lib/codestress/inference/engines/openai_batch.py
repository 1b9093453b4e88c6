"""The engine of OpenAI's batch mode: a file of requests, answered within a day at half the price.

Open batches are written to a file before the engine waits for them, so that a run that was stopped
finds them again and pays for nothing twice.
"""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field, TypeAdapter
from tqdm import tqdm

from codestress.errors import EngineError
from codestress.inference.engines import openai
from codestress.inference.engines.base import (
    BatchEngine,
    RequestFailed,
    served_identity,
)
from codestress.inference.engines.limits import LONGEST_WORDS, outcome_of, signs
from codestress.inference.registry import ModelEntry
from codestress.literals import parse_json
from codestress.paths import OUTPUTS, shown, write_whole
from codestress.types import Request, Response

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
        self._settings = settings = Settings.model_validate(entry.settings)
        if settings.endpoint != "chat":
            raise EngineError(f"{entry.name}: batch mode is for endpoint: chat")
        self.batch = settings.batch
        self._entry = entry
        own = settings.model_dump(include=set(openai.Settings.model_fields))
        self._engine = openai.open_engine(entry.model_copy(update={"settings": own}))
        self._client = self._engine.client
        self._open_batches = OUTPUTS / "batches" / f"{entry.fingerprint}.json"

    async def answers(
        self, requests: Sequence[Request]
    ) -> AsyncIterator[tuple[Request, Response | RequestFailed]]:
        """Yields each of `requests` as a pair with its response or failure as batches end, from
        batches that were open before and from new batches. Raises `EngineError` where no request
        can succeed, and `RequestFailed` where a call about files or batches fails."""
        waiting = {request.key: request for request in requests}
        try:
            batches = self._read()
            known = self.submitted()
            for part in self._files(
                [request for request in requests if request.key not in known]
            ):
                content = io.BytesIO(b"".join(part.values()))
                file = await self._client.files.create(
                    file=("requests.jsonl", content), purpose="batch"
                )
                batch = await self._client.batches.create(
                    input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h"
                )
                batches[batch.id] = [*part]
                self._write(batches)
            tqdm.write(
                f"{self._entry.name}: {len(batches)} batches open; this may take a day, and may be stopped",
                sys.stderr,
            )
            while batches:
                for identifier in list(batches):
                    batch_now = await self._client.batches.retrieve(identifier)
                    if batch_now.status in ENDED:
                        async for key, outcome in self._outcomes(
                            batch_now, batches[identifier]
                        ):
                            if key in waiting:
                                yield waiting.pop(key), outcome
                        del batches[identifier]
                        self._write(batches)
                if batches:
                    await asyncio.sleep(self._settings.poll_s)
        except Exception as error:
            raise self._engine.failure(error) from None

    def submitted(self) -> set[str]:
        """Returns the keys of requests in batches that were opened before and are not known to have
        ended."""
        return {key for keys in self._read().values() for key in keys}

    async def close(self) -> None:
        await self._engine.close()

    def _files(self, requests: Sequence[Request]) -> Iterator[dict[str, bytes]]:
        """Yields the content of each file to send: lines of JSON, one for each of `requests`, by
        request key, as many as a file may hold. Raises `EngineError` for a request that begins the
        answer."""
        part: dict[str, bytes] = {}
        size = 0
        for request in requests:
            line = self._line(request)
            if part and (len(part) == self.batch or size + len(line) > LARGEST_FILE):
                yield part
                part, size = {}, 0
            part[request.key] = line
            size += len(line)
        if part:
            yield part

    def _line(self, request: Request) -> bytes:
        if request.prompt.prefill:
            raise EngineError(
                f"{self._entry.name}: batch mode cannot continue a begun answer, and the prompt begins one: use "
                "a model with settings.prefill, or have the question begin the answer: SET=prefill=user."
            )
        body = openai.request_body(request, self._settings)
        line = {
            "custom_id": request.key,
            "method": "POST",
            "url": ENDPOINT,
            "body": body,
        }
        return json.dumps(line).encode() + b"\n"

    async def _outcomes(
        self, batch: Batch, keys: list[str]
    ) -> AsyncIterator[tuple[str, Response | RequestFailed]]:
        """Yields each of `keys`, the requests' keys in the ended batch `batch`, as a pair with its
        response, or with `RequestFailed` where the request failed or the batch has no answer to
        it."""
        left = dict.fromkeys(keys)
        for file in filter(None, (batch.output_file_id, batch.error_file_id)):
            content = (await self._client.files.content(file)).content
            for line in content.splitlines():
                try:
                    row = parse_json(line)
                    key = str(row["custom_id"])
                except (ValueError, KeyError, TypeError):
                    continue  # its request is left over, and said to have no answer
                if key in left:
                    del left[key]
                    yield key, self._outcome(row)
        errors = batch.errors.data or [] if batch.errors else []
        why = "; ".join(error.message or "" for error in errors)
        message = f"{self._entry.name}: batch {batch.id} {batch.status} without an answer {why}"
        for key in left:
            yield key, RequestFailed(message.strip())

    def _outcome(self, row: dict[str, Any]) -> Response | RequestFailed:
        reply = row.get("response")
        reply = reply if isinstance(reply, dict) else {}
        if reply.get("status_code") == 200:
            try:
                return openai.response_of(reply.get("body"), 0.0, self._engine.secret)
            except ValueError as error:
                return RequestFailed(f"{self._entry.name}: no chat completion: {error}")
        status = reply.get("status_code")
        words = json.dumps(row.get("error") or reply.get("body"), ensure_ascii=False)
        shown = self._engine.secret.out_of_message(words)[:300]
        outcome = outcome_of(status or 0, signs(words[:LONGEST_WORDS]))
        return RequestFailed(f"{self._entry.name}: status {status}: {shown}", outcome)

    def _read(self) -> dict[str, list[str]]:
        """Returns the keys of the requests in each batch that is not known to have ended, by the
        batch's id, from the file of open batches; empty without a file. Raises `EngineError` where
        the file is damaged."""
        try:
            return _BATCHES.validate_json(self._open_batches.read_bytes())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise EngineError(
                f"{shown(self._open_batches)}: does not name the batches that are under way: "
                f"{' '.join(str(error).split()[:12])}; set it right by the server's list of batches, or delete it and "
                "ask (and pay) again"
            ) from None

    def _write(self, batches: dict[str, list[str]]) -> None:
        if not batches:
            self._open_batches.unlink(missing_ok=True)
        else:
            write_whole(self._open_batches, json.dumps(batches))


open_engine = OpenAIBatch
