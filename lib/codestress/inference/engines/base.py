"""Engines, the error of a request that failed, and what engines of servers share."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from codestress.errors import EngineError
from codestress.types import Outcome, Prompt, Request, Response

from ..registry import ModelEntry, engine_module

GATHERING_S = 0.05
"""Seconds from the first request of a batch to the batch's beginning."""
FAILURES_IN_A_ROW = 20
"""Number of failed requests, with no response between them, after which a server counts as gone."""


Waiting = dict[str, tuple[Request, asyncio.Future[Response]]]
"""Requests without a response, each with the future that gets it, by key."""


class Engine(Protocol):
    """An engine: answers requests for one model, one by one. The function `open_engine` of an
    engine's module makes it from a registry row."""

    concurrency: int
    """Maximum number of requests in flight at the same time."""
    submitted: frozenset[str] = frozenset()
    """Keys of requests that were paid in an earlier run."""

    async def answer(self, request: Request) -> Response:
        """Returns the response to `request`. Raises `RequestFailed` where this request alone fails,
        and `EngineError` when no request can succeed."""
        ...

    async def close(self) -> None:
        """Closes the connections and processes that the engine opened."""
        return


class RequestFailed(Exception):
    """Raised for one request that failed for a reason that is not the model's, after the engine's
    own retries. Its `outcome` says which: `timed out`, `does not fit`, `overloaded`, `cut reply`,
    else `harness error`."""

    def __init__(self, message: str, outcome: Outcome = Outcome.HARNESS_ERROR) -> None:
        super().__init__(message)
        self.outcome = outcome


class AnswerTooLong(RequestFailed):
    """Raised where the server allows no answer of as many tokens as a request asks for (its
    `max_tokens`), whatever the prompt."""


Outcomes = AsyncIterator[tuple[str, Response | RequestFailed]]
"""Keys of requests, each with the request's response or failure."""


class BatchEngine(Engine):
    """An engine that answers many requests for one model in one call: an engine in this process, a
    cluster or a provider's batch mode. Requests that come within `GATHERING_S` seconds make a batch,
    at most `concurrency` of them; one batch is answered after the other.

    No batch has a request twice. Only the first response to a request counts, one to a request that
    was not made is dropped, and a request without any fails (`RequestFailed`) with its last failure.
    Raises `EngineError` where none of `FAILURES_IN_A_ROW` requests or more has a response.
    """

    def __init__(self, entry: ModelEntry) -> None:
        self.entry = entry
        self._waiting: Waiting = {}
        """Requests in no batch yet."""
        self._running: asyncio.Task[None] | None = None

    def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yields the response to each of `requests`, or its failure, with the request's key, in the
        order in which they come. Raises `EngineError` when no request can succeed."""
        raise NotImplementedError

    async def answer(self, request: Request) -> Response:
        future = asyncio.get_running_loop().create_future()
        _, future = self._waiting.setdefault(request.key, (request, future))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        # Cancelled, one caller leaves the response to the others.
        return await asyncio.shield(future)

    async def close(self) -> None:
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(GATHERING_S)
            keys = list(self._waiting)[: self.concurrency]
            await self._ask({key: self._waiting.pop(key) for key in keys})

    async def _ask(self, batch: Waiting) -> None:
        """Asks once for all requests of `batch`, and gives each of its futures a response or an error."""
        who = self.entry.name
        nothing = RequestFailed(f"{who}: no answer came back for a request")
        failures: dict[str, Exception] = dict.fromkeys(batch, nothing)
        try:
            requests = [request for request, _ in batch.values()]
            async for key, outcome in self.answers(requests):
                if isinstance(outcome, Response):
                    if failures.pop(key, None):
                        batch[key][1].set_result(outcome)
                elif key in failures:
                    failures[key] = outcome
            if len(failures) == len(batch) >= FAILURES_IN_A_ROW:
                *_, last = failures.values()
                raise EngineError(
                    f"{who}: none of {len(batch)} requests was answered; the last: {last}"
                )
        except Exception as error:  # else all callers would wait for ever
            failures = dict.fromkeys(failures, error)
        for key, failure in failures.items():
            batch[key][1].set_exception(failure)
            batch[key][1].exception()  # marks it as seen: its caller may be gone


def open_engine(entry: ModelEntry) -> Engine:
    """Returns the engine of the registry row `entry`; raises `EngineError` where it cannot be
    opened."""
    engine: Engine = engine_module(entry.engine).open_engine(entry)
    return engine


def conversation(prompt: Prompt, begun: str = "") -> list[dict[str, str]]:
    """Returns the messages of `prompt` in the form that servers take, dictionaries of `role` and
    `content`. The text `begun`, a begun answer that the model is to continue, is added as the
    assistant's last message, unless it is empty."""
    messages = [dict(vars(message)) for message in prompt.messages]
    return messages + ([{"role": "assistant", "content": begun}] if begun else [])


def own_settings(entry: ModelEntry) -> dict[str, Any]:
    """Returns the settings with which the server of the registry row `entry` is asked: the row's
    own, or, for the engine `ray`, those of its workers."""
    worker = entry.settings.get("worker", {"settings": entry.settings})
    settings: dict[str, Any] = worker.get("settings", {})
    return settings


def served_identity(entry: ModelEntry) -> str:
    """Returns a served model's part of its requests' keys: the revision of the registry row
    `entry`, then, where the settings of its engine or workers name them, the omitted parameters,
    another field for the longest answer, the reasoning effort and the chat template."""
    settings = own_settings(entry)
    parts = {
        "without ": ", ".join(settings.get("omit") or ()),
        "with ": settings.get("max_tokens_field"),
        "effort ": settings.get("reasoning_effort"),
        "": settings.get("chat_template"),
    }
    identity = entry.revision
    for name, value in parts.items():
        if value and value != "max_tokens":
            identity += f" {name}{value}"
    return identity
