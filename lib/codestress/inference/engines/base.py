"""Engines, the error of a request that failed, and code that engines of servers share."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Protocol

from codestress.errors import EngineError
from codestress.types import Outcome, Prompt, Request, Response

from ..registry import ModelEntry, engine_module

GATHERING_S = 0.05
"""Seconds from the first request of a batch until the batch is sent."""
FAILURES_IN_A_ROW = 20
"""Number of failed requests, with no response between them, after which a server counts
as gone."""


Waiting = dict[str, tuple[Request, asyncio.Future[Response]]]
"""Requests without a response, by key, each with the future that gets the response."""


class Engine(Protocol):
    """An engine: answers requests for one model, one by one.

    The function `open_engine` of an engine's module makes the engine from a registry
    row.
    """

    concurrency: int
    """Maximum number of requests in flight at the same time."""
    submitted: frozenset[str] = frozenset()
    """Keys of requests that were paid in an earlier run."""

    async def answer(self, request: Request) -> Response:
        """Return the response to `request`.

        Raises `RequestFailed` if this request alone fails, and `EngineError` if no
        request can succeed.
        """
        ...

    async def close(self) -> None:
        """Close the connections and processes that the engine opened."""
        return


class RequestFailed(Exception):
    """Raised for one request that failed, after the engine's own retries, for a reason
    outside the model.

    The error's `outcome` names the reason: `timed out`, `does not fit`, `overloaded`,
    `cut reply`, else `harness error`.
    """

    def __init__(self, message: str, outcome: Outcome = Outcome.HARNESS_ERROR) -> None:
        super().__init__(message)
        self.outcome = outcome


class AnswerTooLong(RequestFailed):
    """Raised if the server allows no answer of as many tokens as a request asks for
    (its `max_tokens`), whatever the prompt."""


Outcomes = AsyncIterator[tuple[str, Response | RequestFailed]]
"""Pairs of a request's key and the request's response or failure."""


class BatchEngine(Engine):
    """An engine that answers many requests for one model in one call: an engine in this
    process, a cluster or a provider's batch mode.

    Requests that come within `GATHERING_S` seconds form a batch of at most
    `concurrency` requests. Batches are answered one after the other, and a batch never
    has a request twice.

    Only the first response to a request counts, and a response to a request that was
    not made is dropped. A request without a response fails (`RequestFailed`) with its
    last failure. A batch of at least `FAILURES_IN_A_ROW` requests of which none has a
    response raises `EngineError`.
    """

    def __init__(self, entry: ModelEntry) -> None:
        self.entry = entry
        self._waiting: Waiting = {}
        """Requests that are in no batch yet."""
        self._running: asyncio.Task[None] | None = None

    def answers(self, requests: Sequence[Request]) -> Outcomes:
        """Yield, for each of `requests`, its key with its response or failure, in the
        order in which they come.

        Raises `EngineError` if no request can succeed.
        """
        raise NotImplementedError

    async def answer(self, request: Request) -> Response:
        future = asyncio.get_running_loop().create_future()
        _, future = self._waiting.setdefault(request.key, (request, future))
        if self._running is None or self._running.done():
            self._running = asyncio.create_task(self._run())
        # A caller that is cancelled leaves the response to other callers.
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
        """Ask once for all requests of `batch`, and give each of the batch's futures a
        response or an error."""
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
        except Exception as error:  # otherwise all callers would wait for ever
            failures = dict.fromkeys(failures, error)
        for key, failure in failures.items():
            batch[key][1].set_exception(failure)
            batch[key][1].exception()  # marked as retrieved: its caller may be gone


def open_engine(entry: ModelEntry) -> Engine:
    """Return the engine of the registry row `entry`.

    Raises `EngineError` if the engine cannot be opened.
    """
    engine: Engine = engine_module(entry.engine).open_engine(entry)
    return engine


def conversation(prompt: Prompt, begun: str = "") -> list[dict[str, str]]:
    """Return the messages of `prompt` in the form that servers take: dictionaries of
    `role` and `content`.

    The text `begun` is a begun answer that the model is to continue. Unless `begun` is
    empty, it is added as the assistant's last message.
    """
    messages = [dict(vars(message)) for message in prompt.messages]
    return messages + ([{"role": "assistant", "content": begun}] if begun else [])


def own_settings(entry: ModelEntry) -> dict[str, Any]:
    """Return the settings with which the server of the registry row `entry` is asked:
    the row's own, or, for the engine `ray`, its workers'."""
    worker = entry.settings.get("worker", {"settings": entry.settings})
    return dict(worker.get("settings", {}))


def served_identity(entry: ModelEntry) -> str:
    """Return a served model's part of its requests' keys.

    This part begins with the revision of the registry row `entry`. Settings of the
    row's engine or workers follow, if they are set: omitted parameters, another field
    for the longest answer, the reasoning effort and the chat template.
    """
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
