"""The HTTP client that OpenAI's client uses, and the errors of both clients.

Each try has a deadline and a longest reply, and is counted in the budget.
"""

import asyncio
import re
import time
from contextlib import suppress
from contextvars import ContextVar
from typing import Any
from urllib.parse import urljoin

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError

from codestress.errors import CodestressError, EngineError
from codestress.types import Outcome

from ..budget import Budget, Sum, spent_on
from ..network import Secret, base_of, connection, through
from ..progress import say
from ..registry import ModelEntry
from .base import RequestFailed
from .dialects import words_of
from .openai import Settings
from .replies import (
    REMEDIES,
    limit_of,
    status_in,
    usage_in,
    value_at,
)

CONNECT_S = 30.0
LOADING_S = 60.0
"""Longest wait in seconds for a server that is loading its model."""
PAUSE_S = 1.0
"""Seconds between two requests to a server that is loading its model."""
LOADING = re.compile(
    r"\bloading|warming|starting|initiali[sz]|not (yet )?ready|加载|加載", re.I
)
"""Regular expression for the replies of a server that is loading its model."""
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

    entry: ModelEntry
    budget: Budget
    """The budget that counts each try; without limits until a caller sets another
    budget."""

    def __init__(self, who: str, settings: Settings, key: str) -> None:
        url, timeout = settings.address, settings.timeout_s
        # The deadline of a try takes the place of the other time-outs.
        limit = httpx2.Timeout(None, connect=min(CONNECT_S, timeout))
        self._options = connection(url) | {"timeout": limit}
        super().__init__(**self._options)
        self._idle: list[httpx2.AsyncClient] = []
        """Idle clients of one connection each. A shared pool would look through all its
        connections whenever a request begins or ends, which takes half of a request's
        time with 64 connections."""
        self.who = f"{who}{through(url)}"
        """Words that begin each message."""
        self.budget = Budget()
        self.settings = settings
        self.secret = Secret(key)
        self._loading_until = 0.0
        """End of the wait for the server to load its model; 0 before the first reply
        that says so."""

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
        if reply.is_error:
            limit = limit_of(reply.status_code, reply.text)
            if limit in ("money", "rate"):
                # However long one waits, these would be refused again.
                reply.headers["x-should-retry"] = "false"  # OpenAI's client reads it
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
                limit = f"no answer within {self.settings.timeout_s:g} s"
                raise httpx2.ReadTimeout(limit, request=request) from None
            finally:
                idle.append(client)
            if not self._is_loading(reply):
                return reply
            await asyncio.sleep(PAUSE_S)

    def _is_loading(self, reply: httpx2.Response) -> bool:
        """Return whether `reply` says that the server is loading its model, within
        `LOADING_S` seconds of the first such reply, which is reported on the console.
        """
        if reply.status_code != 503 or not LOADING.search(reply.text):
            return False
        now = time.monotonic()
        if not self._loading_until:
            self._loading_until = now + LOADING_S
            words = self.secret.quote(reply.text)
            say(f"{self.who}: the server says {words!r}; waiting up to {LOADING_S:g} s")
        return now < self._loading_until

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
        cause: BaseException = error
        if isinstance(error, APIConnectionError):
            cause = error.__cause__ or error
        words = self.secret.quote(str(cause)) or type(cause).__name__
        if "CERTIFICATE_VERIFY_FAILED" in str(cause):
            return EngineError(f"{self.who}: {words}{REMEDIES['certificate']}")
        if isinstance(cause, Cut):
            reason = f"the connection broke within the reply: {words}"
            return self.failed(reason, Outcome.CUT_REPLY)
        if isinstance(cause, NOT_SENT):
            return self.failed(
                f"no server answers ({words}); start it, or correct its URL (base_url)"
            )
        if isinstance(error, APITimeoutError):
            return self.failed(f"{words} (settings.timeout_s)", Outcome.TIMEOUT)
        part = "connection" if isinstance(error, APIConnectionError) else "request"
        return self.failed(f"the {part} failed: {type(cause).__name__}: {words}")

    def _of_status(self, error: APIStatusError) -> EngineError | RequestFailed:
        reply = error.response
        words = value_at(error.body, "message")
        if not words or not isinstance(words, str):
            words = words_of(reply.text)
        message = f"status {error.status_code}: {self.secret.quote(words)}"
        limit = limit_of(error.status_code, reply.text)
        status = {"money": 402, "key": 401}.get(limit, error.status_code)
        remedy = REMEDIES.get(status, "").format(self.settings.key_variable or "none")
        if remedy := remedy or self.redirect_of(reply):
            return EngineError(f"{self.who}: {message}\n{remedy}")
        if wait := reply.headers.get("retry-after"):
            message += f" (Retry-After: {self.secret.quote(wait)})"
        return self.failed(message + REMEDIES.get(limit, ""))

    def redirect_of(self, reply: httpx2.Response) -> str:
        """Return advice on a `reply` that redirects the request, with the address to
        give instead; empty for any other reply."""
        if not reply.is_redirect:
            return ""
        location = reply.headers.get("location", "")
        with suppress(ValueError):
            location = urljoin(str(reply.url), location).partition("?")[0]
            location = base_of(location)
        return self.secret.quote(REMEDIES["redirect"].format(location))

    def failed(
        self, reason: str, outcome: Outcome = Outcome.HARNESS_ERROR
    ) -> RequestFailed:
        return RequestFailed(f"{self.who}: {reason}", outcome)
