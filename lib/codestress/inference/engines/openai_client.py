"""The HTTP client that OpenAI's client uses, and the errors of both clients.

Each try has a deadline and a longest reply, and is counted in the budget.
"""

import asyncio
import re
from contextvars import ContextVar
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError

from codestress.errors import CodestressError, EngineError
from codestress.types import Outcome

from ..budget import Budget, Sum, spent_on
from ..network import (
    PAUSE_S,
    Patience,
    Secret,
    connection,
    through,
)
from ..registry import ModelEntry
from .base import RequestFailed
from .dialects import words_of
from .openai import Settings
from .replies import (
    PASSING,
    REMEDIES,
    limit_of,
    remedy_of,
    sent_on,
    status_in,
    usage_in,
    value_at,
)

CONNECT_S = 30.0
NOT_PROCESSED = (400, 401, 402, 403, 404, 413, 422, 429)
"""HTTP statuses with which servers say that they did not process a request: it counts
as a request, and costs no tokens."""
NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout)
"""Errors of a request that was not sent."""
PACKINGS = ("", "identity", "gzip", "deflate")
"""Values of Content-Encoding that are read; other encodings unpack a few bytes to any
length at once."""
MOST: ContextVar[tuple[int, int]] = ContextVar("MOST")
"""Upper bounds of the tokens of the request that the current task sends: of its prompt,
and of its completion."""


class Cut(httpx2.ReadError):
    """Raised if a connection breaks within a reply."""


class Client(httpx2.AsyncClient):
    """An HTTP client of the server of one registry row, with one connection for each
    request in flight.

    httpx's own read time-out starts again with every byte, so that a server that sends
    its reply very slowly would hold a request for ever. Each try therefore has
    `settings.timeout_s` in all. Raises `EngineError` if a proxy or certificate that the
    environment names is unusable.
    """

    budget: Budget
    """The budget that counts each try; without limits until a caller sets another
    budget."""

    def __init__(self, entry: ModelEntry, settings: Settings, secret: Secret) -> None:
        url, timeout = settings.address, settings.timeout_s
        limit = httpx2.Timeout(timeout, connect=min(CONNECT_S, timeout))
        self._options = connection(url) | {"timeout": limit}
        super().__init__(**self._options)
        self._idle: list[httpx2.AsyncClient] = []
        """Idle clients of one connection each. A shared pool would look through all its
        connections whenever a request begins or ends, which takes half of a request's
        time with 64 connections."""
        self.who = f"{entry.name} ({entry.id}) at {url}{through(url)}"
        """Model and server, which begin each message."""
        self.budget = Budget()
        self.entry = entry
        self.settings = settings
        self.secret = secret
        self._patience = Patience(entry.name, secret)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Return the reply to one try of `request`, read in full.

        A reply of status 200 that holds an error gets the status of this error. Raises
        `BudgetReached` before a try that could cross a limit.
        """
        if self.budget.limited and request.method == "POST":
            reply = await self._paid(request, options)
        else:
            reply = await self._loaded(request, options)
        if reply.is_success and request.url.path.endswith("completions"):
            reply.status_code = status_in(reply.content) or reply.status_code
        limit = ""
        if reply.is_error:
            limit = limit_of(reply.status_code, reply.text)
        if reply.status_code in PASSING:
            reply.headers["x-should-retry"] = "true"  # OpenAI's client reads it
        # However long one waits, these would be refused again.
        if limit in ("money", "rate"):
            reply.headers["x-should-retry"] = "false"
        wait = re.fullmatch(r"([\d.]+) ?(m?)s", reply.headers.get("retry-after", ""))
        if wait:  # a time with its unit
            reply.headers["retry-after-ms" if wait[2] else "retry-after"] = wait[1]
        return reply

    async def _paid(
        self, request: httpx2.Request, options: dict[str, Any]
    ) -> httpx2.Response:
        """Return the reply to `request`, paid from the budget.

        The largest cost of the try is reserved before the try, and its real cost is
        counted afterwards.
        """
        most = MOST.get()
        async with self.budget.paying(self.entry, most) as paid:
            try:
                reply = await self._loaded(request, options)
            except NOT_SENT:
                paid.append(Sum())
                raise
            if reply.status_code in NOT_PROCESSED:
                most = (0, 0)
            paid.append(spent_on(self.entry, usage_in(reply.content), most))
            return reply

    async def _loaded(
        self, request: httpx2.Request, options: dict[str, Any]
    ) -> httpx2.Response:
        """Return the reply to `request`, sent again while the server loads its model."""
        options["stream"] = True
        while True:
            idle = self._idle
            client = idle.pop() if idle else httpx2.AsyncClient(**self._options)
            try:
                async with asyncio.timeout(self.settings.timeout_s):
                    reply = await client.send(request, **options)
                    reply = await self._read_in_full(reply)
            except TimeoutError:
                raise httpx2.ReadTimeout("deadline", request=request) from None
            finally:
                idle.append(client)
            if not self._patience.asks_again(reply.status_code, reply.content):
                return reply
            await asyncio.sleep(PAUSE_S)

    async def aclose(self) -> None:
        for client in self._idle:
            await client.aclose()
        await super().aclose()

    async def _read_in_full(self, reply: httpx2.Response) -> httpx2.Response:
        """Return `reply` with its content, unpacked.

        Raises `RequestFailed` if the unpacked reply has too many bytes, `DecodingError`
        for an unknown encoding, and `Cut` if the reply breaks off.
        """
        content = bytearray()
        most = self.settings.max_reply_bytes
        packing = reply.headers.get("content-encoding", "").strip().lower()
        try:
            if packing not in PACKINGS:
                message = f"unknown Content-Encoding {packing[:40]!r}"
                raise httpx2.DecodingError(message, request=reply.request)
            async for part in reply.aiter_bytes():
                content += part
                if len(content) > most:
                    raise self.failed(
                        f"the reply is longer than {most:,} bytes (settings.max_reply_bytes)"
                    )
        except httpx2.TransportError as error:
            raise Cut(str(error), request=reply.request) from None
        finally:
            await reply.aclose()
        reply.headers.pop("content-encoding", None)
        unpacked = httpx2.Response(
            reply.status_code,
            headers=reply.headers,
            content=bytes(content),
            request=reply.request,
        )
        unpacked.elapsed = reply.elapsed
        return unpacked

    def failure(self, error: Exception) -> Exception:
        """Return the error to raise for `error`, an error of OpenAI's client.

        The returned error is a `RequestFailed` if one request failed, and an
        `EngineError` if no request can succeed. An error of this kit is returned
        unchanged.
        """
        if isinstance(error, CodestressError | RequestFailed):
            return error
        if isinstance(error, APIStatusError):
            return self._of_status(error)
        cause = error.__cause__ or error
        words = self.secret.quote(str(cause)) or type(cause).__name__
        if remedy := remedy_of(cause):
            return EngineError(f"{self.who}: {words}{remedy}")
        if isinstance(cause, Cut):
            reason = f"the connection broke within the reply: {words}"
            return self.failed(reason, Outcome.CUT_REPLY)
        if isinstance(cause, NOT_SENT):
            return self.failed(
                f"no server answers ({words}); start it, or correct base_url"
            )
        if isinstance(error, APITimeoutError):
            reason = (
                f"no answer within {self.settings.timeout_s:g} s (settings.timeout_s)"
            )
            return self.failed(reason, Outcome.TIMEOUT)
        part = "request"
        if isinstance(error, APIConnectionError):
            part = "connection"
        return self.failed(f"the {part} failed: {type(cause).__name__}: {words}")

    def _of_status(self, error: APIStatusError) -> EngineError | RequestFailed:
        reply = error.response
        words = value_at(error.body, "message")
        if not words or not isinstance(words, str):
            words = words_of(reply.text)
        message = f"status {error.status_code}: {self.secret.quote(words)}"
        limit = limit_of(error.status_code, reply.text)
        variable = self.settings.key_variable or "none"
        status = {"money": 402, "key": 401}.get(limit, error.status_code)
        remedy = REMEDIES.get(status, "").format(variable)
        if not remedy and reply.is_redirect:
            location = reply.headers.get("location", "")
            remedy = self.secret.quote(sent_on(str(error.request.url), location))
        if remedy:
            return EngineError(f"{self.who}: {message}\n{remedy}")
        if wait := reply.headers.get("retry-after"):
            message += f" (Retry-After: {self.secret.quote(wait)})"
        return self.failed(message + REMEDIES.get(limit, ""))

    def failed(
        self, reason: str, outcome: Outcome = Outcome.HARNESS_ERROR
    ) -> RequestFailed:
        return RequestFailed(f"{self.who}: {reason}", outcome)
