"""The HTTP client under OpenAI's client, and the errors of both: each try has a deadline and a
longest reply, and is counted in the budget."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError

from codestress.errors import CodestressError, EngineError
from codestress.types import Outcome

from ..budget import (
    FEWEST_CHARACTERS_PER_TOKEN,
    Budget,
    Sum,
    one_request,
    said_or_most,
)
from ..network import (
    PAUSE_S,
    Patience,
    Secret,
    connection,
    remedy_of,
    sent_on,
    through,
)
from ..registry import ModelEntry
from .base import RequestFailed
from .openai import Settings
from .replies import (
    OVERLOADED,
    status_in,
    usage_in,
    value_at,
)

CONNECT_S = 30.0
LONGEST_WAIT_S = 120.0
"""Longest Retry-After in seconds that is waited for."""
CUT = "cut"
"""Note on errors of the HTTP client after the first byte of a reply."""
NOT_PROCESSED = (400, 401, 402, 403, 404, 413, 422, 429)
"""Statuses by which servers say that they did nothing for a request: the request counts, and costs
no tokens."""
NOT_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout)
"""Errors of a request that was not sent."""
PACKINGS = ("", "identity", "gzip", "deflate")
"""Values of Content-Encoding that are read; others unpack a few bytes to any length at once."""

REMEDIES = {
    401: "Check the key: settings.key_env names its environment variable, now {}.",
    402: "The account has no credit left: add some, then run the same command again.",
    403: "The server does not let this account use the model: check the account's rights and the region.",
    404: "Check the model's id in params/models.yaml, and base_url, which for most servers ends in /v1.",
}
"""Advice by HTTP status, for statuses with which no request can succeed."""


class Client(httpx2.AsyncClient):
    """An HTTP client of the server of one registry row, with at most `settings.concurrency`
    connections. Raises `EngineError` where a proxy or certificate of the environment is unusable.

    httpx's own read time-out starts again with every byte, so a server that trickles would hold a
    request for ever: each try has `settings.timeout_s` in all.
    """

    def __init__(
        self,
        entry: ModelEntry,
        settings: Settings,
        secret: Secret,
        budget: Callable[[], Budget],
    ) -> None:
        url, timeout = settings.address, settings.timeout_s
        most = settings.concurrency
        super().__init__(
            timeout=httpx2.Timeout(timeout, connect=min(CONNECT_S, timeout)),
            limits=httpx2.Limits(max_connections=most, max_keepalive_connections=most),
            follow_redirects=False,
            **connection(url),
        )
        self.who = f"{entry.name} ({entry.id}) at {url}{through(url)}"
        """Model and server, which begin each message."""
        self._budget = budget
        self._entry = entry
        self._settings = settings
        self._secret = secret
        self._patience = Patience(entry.name, secret)

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Returns the reply to one try of `request`, read in full. An error that comes with status
        200 gets its own status. Raises `BudgetReached` before a try that could cross a limit."""
        reply = await self._paid(request, options)
        if reply.is_success:
            reply.status_code = status_in(reply.content) or reply.status_code
        if reply.status_code in OVERLOADED:
            wait = reply.headers.get("retry-after", "")
            longest = min(self._settings.timeout_s, LONGEST_WAIT_S)
            # OpenAI's client waits for dates.
            if wait.replace(".", "", 1).isdecimal() and float(wait) > longest:
                reply.headers["x-should-retry"] = "false"
        return reply

    async def _paid(
        self, request: httpx2.Request, options: dict[str, Any]
    ) -> httpx2.Response:
        """Returns the reply to `request`. Where the budget has limits, the most that the try can
        take is reserved before, and its real cost counted after it."""
        budget = self._budget()
        if request.method != "POST" or not budget.limited:
            return await self._loaded(request, options)
        most = _most_tokens(json.loads(request.content))
        async with budget.paying(one_request(self._entry, *most)) as paid:
            try:
                reply = await self._loaded(request, options)
            except NOT_SENT:
                paid.append(Sum())
                raise
            if reply.status_code in NOT_PROCESSED:
                most = (0, 0)
            usage = usage_in(reply.content)
            said = usage.prompt_tokens, usage.completion_tokens
            paid.append(one_request(self._entry, *said_or_most(said, most)))
            return reply

    async def _loaded(
        self, request: httpx2.Request, options: dict[str, Any]
    ) -> httpx2.Response:
        """Returns the reply to `request`, sent again while the server loads its model."""
        options = {**options, "stream": True}
        while True:
            try:
                async with asyncio.timeout(self._settings.timeout_s):
                    reply = await super().send(request, **options)
                    await self._read(reply)
            except TimeoutError:
                raise httpx2.ReadTimeout("deadline", request=request) from None
            if not self._patience.asks_again(reply.status_code, reply.content):
                return reply
            await asyncio.sleep(PAUSE_S)

    async def _read(self, reply: httpx2.Response) -> None:
        """Reads the content of `reply` in full and keeps it in `reply`. Raises `RequestFailed` for
        one of too many bytes unpacked, and `DecodingError` for an unknown packing."""
        content = bytearray()
        most = self._settings.max_reply_bytes
        try:
            packing = reply.headers.get("content-encoding", "").strip().lower()
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
            error.add_note(CUT)
            raise
        finally:
            await reply.aclose()
        reply._content = bytes(content)

    def failure(self, error: Exception) -> Exception:
        """Returns the error to raise for `error`, of OpenAI's client: `RequestFailed` where one
        request failed, `EngineError` where no request can succeed. An error of this kit is returned
        itself."""
        if isinstance(error, CodestressError | RequestFailed):
            return error
        if isinstance(error, APIStatusError):
            return self._of_status(error)
        cause = error.__cause__ or error
        words = self._secret.shown(str(cause))
        if remedy := remedy_of(cause):
            return EngineError(f"{self.who}: {words}{remedy}")
        if CUT in getattr(cause, "__notes__", ()):
            reason = f"the connection broke within the reply: {words}"
            return self.failed(reason, Outcome.CUT_REPLY)
        if isinstance(cause, NOT_SENT):
            return self.failed(
                f"no server answers ({words}); start it, or correct base_url"
            )
        if isinstance(error, APITimeoutError):
            limit = self._settings.timeout_s
            reason = f"no answer within {limit:g} s (settings.timeout_s)"
            return self.failed(reason, Outcome.TIMEOUT)
        part = "connection" if isinstance(error, APIConnectionError) else "request"
        return self.failed(f"the {part} failed: {type(cause).__name__}: {words}")

    def _of_status(self, error: APIStatusError) -> EngineError | RequestFailed:
        reply = error.response
        words = value_at(error.body, "message")
        if not words or not isinstance(words, str):
            words = reply.text
        message = f"status {error.status_code}: {self._secret.shown(words)}"
        status = 402 if error.code == "insufficient_quota" else error.status_code
        variable = self._settings.key_variable or "none"
        remedy = REMEDIES.get(status, "").format(variable)
        if not remedy and reply.is_redirect:
            location = reply.headers.get("location", "")
            remedy = self._secret.shown(sent_on(str(error.request.url), location))
        if remedy:
            return EngineError(f"{self.who}: {message}\n{remedy}")
        if wait := reply.headers.get("retry-after"):
            message += f" (Retry-After: {self._secret.shown(wait)})"
        return self.failed(message)

    def failed(
        self, reason: str, outcome: Outcome = Outcome.HARNESS_ERROR
    ) -> RequestFailed:
        return RequestFailed(f"{self.who}: {reason}", outcome)


def _most_tokens(body: dict[str, Any]) -> tuple[int, int]:
    """Returns upper bounds of the tokens of a request with the JSON body `body`, as a pair: of its
    prompt, by the number of characters, and of its completion."""
    characters = len(body.get("prompt", ""))
    for message in body.get("messages", ()):
        characters += len(message["content"])
    answer = body.get("max_completion_tokens", body.get("max_tokens", 0))
    return -(-characters // FEWEST_CHARACTERS_PER_TOKEN), answer
