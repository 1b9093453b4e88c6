"""The engine of any OpenAI-compatible endpoint: the OpenAI API, `vllm serve`, others.

The openai client retries what may pass (408, 409, 429, 5xx, time-outs, broken connections) with backoff and jitter, and
waits as long as `Retry-After` says, up to two minutes; more than that fails the request at once. What it would let pass
for an answer (HTML, other JSON, an error with status 200) is checked and tried again here.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, TypeAdapter, ValidationError

from codestress.errors import EngineError
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.registry import ModelEntry
from codestress.types import Reason, Request, Response, Usage
from codestress.validation import Strict

if TYPE_CHECKING:  # at run time imported with the first engine that is opened: it takes a second
    import httpx2
    from openai import APIConnectionError, APIStatusError

__all__ = ["OpenAIEngine", "Settings", "open_engine"]

CONNECT_S = 30.0
GARBLED_RETRIES = 2
GARBLED_PAUSE_S = 0.5
"""Before the second try; doubled before the third."""
SHOWN_CHARACTERS = 300
"""Of a server's words, in a message."""


class Settings(Strict):
    """A row's `settings` in params/models.yaml."""

    base_url: str = "https://api.openai.com/v1"
    base_url_env: str | None = None
    """Environment variable that replaces `base_url` where it is set."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; empty when the server needs none."""
    prefill: Literal["none", "vllm"] = "none"
    """How the server continues a begun answer: not at all, or by vLLM's `continue_final_message`."""
    concurrency: int = Field(default=16, ge=1)
    """Requests, and connections, in flight at once."""
    timeout_s: float = Field(default=600, gt=0)
    """Longest time for one try, from sending to the last byte."""
    retries: int = Field(default=6, ge=0)
    """Tries after the first."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for the longest answer; OpenAI's reasoning models know only the second."""
    omit: list[Literal["temperature", "top_p"]] = []
    """Sampling that the server does not let be chosen; OpenAI's reasoning models: both."""
    reasoning_effort: Literal["", "low", "medium", "high"] = ""
    """How long OpenAI's reasoning models think; empty: not said."""


class _Message(BaseModel):
    model_config = ConfigDict(strict=True)

    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    model_config = ConfigDict(strict=True)

    message: _Message
    finish_reason: Literal["stop", "length", "content_filter"]


class _Completion(BaseModel):
    """What a reply must hold to count as an answer."""

    model_config = ConfigDict(strict=True)

    choices: list[_Choice] = Field(min_length=1)
    error: None = None
    """Some servers report an error with status 200."""
    model: str | None = None
    system_fingerprint: str | None = None
    usage: Any = None


class OpenAIEngine:
    """Asks one model of one server."""

    def __init__(self, entry: ModelEntry, settings: Settings, base_url: str, key: str) -> None:
        from openai import AsyncOpenAI

        self.concurrency = settings.concurrency
        self._settings = settings
        self._base_url = base_url
        self._key = key
        self._name = entry.name
        self._who = f"{entry.name} ({entry.id}) at {base_url}"
        self._client = AsyncOpenAI(
            api_key=key or "none",  # the client insists on one
            base_url=base_url,
            max_retries=settings.retries,
            http_client=_http_client(settings),
        )

    async def answer(self, request: Request) -> Response:
        body = self._body(request)
        problem = ""
        for number in range(1 + min(self._settings.retries, GARBLED_RETRIES)):
            if number:
                await asyncio.sleep(GARBLED_PAUSE_S * 2 ** (number - 1))
            content, seconds = await self._ask(body)
            try:
                return _response(content, seconds)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                problem = f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}"
        got = self._shown(content.decode("utf-8", "replace"))
        raise RequestFailed(f"{self._who}: the reply is not a chat completion ({problem}): {got or 'nothing'}")

    async def close(self) -> None:
        await self._client.close()

    def _body(self, request: Request) -> dict[str, Any]:
        """The arguments of `chat.completions.create`."""
        sampling = request.prompt.sampling
        messages = [{"role": message.role, "content": message.content} for message in request.prompt.messages]
        body: dict[str, Any] = {
            "model": request.model,
            "messages": messages,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            self._settings.max_tokens_field: sampling.max_tokens,
        }
        for name in self._settings.omit:
            del body[name]
        if self._settings.reasoning_effort:
            body["reasoning_effort"] = self._settings.reasoning_effort
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if request.prompt.prefill:
            if self._settings.prefill == "none":
                raise EngineError(
                    f"{self._who}: this endpoint cannot continue a begun answer, and the prompt begins one.\n"
                    "Set the model's settings.prefill in params/models.yaml to 'vllm' if a vLLM server answers there; "
                    "otherwise choose a model that has it, or prompts without a prefill.",
                    self._name,
                )
            messages.append({"role": "assistant", "content": request.prompt.prefill})
            # Without both flags vLLM closes the begun turn and starts another, silently.
            body["extra_body"] = {"add_generation_prompt": False, "continue_final_message": True}
        return body

    async def _ask(self, body: dict[str, Any]) -> tuple[bytes, float]:
        """The body of a reply with status 2xx, and the seconds of the try that brought it."""
        from openai import APIConnectionError, APIStatusError

        try:
            reply = await self._client.chat.completions.with_raw_response.create(**body)
        except APIStatusError as error:
            raise self._status_failure(error) from None
        except APIConnectionError as error:
            raise self._connection_failure(error) from None
        except UnicodeEncodeError:
            raise RequestFailed(f"{self._who}: the prompt holds half a surrogate pair, which is no text") from None
        return reply.content, reply.elapsed.total_seconds()

    def _status_failure(self, error: APIStatusError) -> EngineError | RequestFailed:
        body = error.body
        words = body["message"] if isinstance(body, dict) and isinstance(body.get("message"), str) else ""
        message = f"{self._who}: status {error.status_code}: {self._shown(words or error.response.text)}"
        remedy = self._remedy(402 if error.code == "insufficient_quota" else error.status_code)
        if remedy:
            return EngineError(f"{message}\n{remedy}", self._name)
        wait = error.response.headers.get("retry-after")
        return RequestFailed(f"{message} (Retry-After: {self._shown(wait)})" if wait else message)

    def _remedy(self, status: int) -> str | None:
        """What to do where no request can succeed."""
        key_env = self._settings.key_env
        match status:
            case 401 if not key_env:
                return "The server wants a key: name its environment variable in the model's settings.key_env."
            case 401:
                return f"Check the key in {key_env}."
            case 402:
                return "The account has no credit left: add some, then run the same command again."
            case 403:
                return "The server does not let this account use the model: check the account's rights and the region."
            case 404:
                return "Check the model's id in params/models.yaml, and base_url, which for most servers ends in /v1."
        return None

    def _connection_failure(self, error: APIConnectionError) -> EngineError | RequestFailed:
        import httpx2
        from openai import APITimeoutError

        cause = error.__cause__
        if any(isinstance(one, socket.gaierror) for one in _causes(error)):
            return EngineError(f"{self._who}: no such host\nCheck base_url, and the network.", self._name)
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            return RequestFailed(
                f"{self._who}: no server answers at {self._base_url} ({self._shown(str(cause))}); "
                "start it, or correct base_url"
            )
        if isinstance(error, APITimeoutError):
            return RequestFailed(
                f"{self._who}: no answer within {self._settings.timeout_s:g} s (settings.timeout_s), "
                f"tried {self._settings.retries + 1} times",
                Reason.TIMEOUT,
            )
        return RequestFailed(f"{self._who}: the connection failed: {self._shown(str(cause or error))}")

    def _shown(self, words: str) -> str:
        """On one line, printable, shortened, without the key."""
        if self._key:
            words = words.replace(self._key, "[key]")
        line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
        return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def open_engine(entry: ModelEntry) -> Engine:
    """The engine of a row; `EngineError` before any request where the key is unset or the address is none."""
    settings = Settings.model_validate(entry.settings)
    override = os.environ.get(settings.base_url_env) if settings.base_url_env else None
    base_url = override or settings.base_url
    # An environment variable may hold a secret by mistake: its value is never shown.
    source = f"the environment variable {settings.base_url_env}" if override else f"settings.base_url = {base_url!r}"
    try:
        url = TypeAdapter(HttpUrl).validate_python(base_url)
    except ValidationError:
        raise EngineError(
            f"{entry.name}: {source} is not an address such as http://localhost:8000/v1", entry.name
        ) from None
    if url.username or url.password or url.query:
        raise EngineError(
            f"{entry.name}: the base_url must not hold a user, password or query; a key belongs into the environment "
            "variable that settings.key_env names",
            entry.name,
        )
    key = os.environ.get(settings.key_env, "").strip() if settings.key_env else ""
    if settings.key_env and not key:
        raise EngineError(
            f"{entry.name}: the environment variable {settings.key_env} is not set.\n"
            f"export {settings.key_env}=… with your key, or run offline with MODELS=sim-near",
            entry.name,
        )
    if not all("!" <= character <= "~" for character in key):
        raise EngineError(
            f"{entry.name}: the value of {settings.key_env} cannot be a key: it holds spaces, line breaks or letters "
            "outside ASCII; copy it again",
            entry.name,
        )
    return OpenAIEngine(entry, settings, base_url, key)


def _http_client(settings: Settings) -> httpx2.AsyncClient:
    """A connection for each request in flight, and a deadline for each try.

    httpx's own read time-out starts again with every byte, so a server that trickles would hold a request for ever.
    """
    import httpx2

    class Client(httpx2.AsyncClient):
        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            try:
                async with asyncio.timeout(settings.timeout_s):
                    return await super().send(request, **options)
            except TimeoutError:
                raise httpx2.ReadTimeout("deadline", request=request) from None

    return Client(
        timeout=httpx2.Timeout(settings.timeout_s, connect=min(CONNECT_S, settings.timeout_s)),
        limits=httpx2.Limits(max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency),
        follow_redirects=True,
    )


def _response(content: bytes, seconds: float) -> Response:
    """The answer in a reply; `ValidationError` where it is none."""
    completion = _Completion.model_validate_json(content)
    choice = completion.choices[0]
    refusal = choice.message.refusal
    return Response(
        text=refusal or choice.message.content or "",
        finish_reason="content_filter" if refusal else choice.finish_reason,
        usage=Usage(
            prompt_tokens=_count(completion.usage, "prompt_tokens"),
            completion_tokens=_count(completion.usage, "completion_tokens"),
            reasoning_tokens=_count(completion.usage, "completion_tokens_details", "reasoning_tokens"),
            cached_tokens=_count(completion.usage, "prompt_tokens_details", "cached_tokens"),
        ),
        seconds=seconds,
        answered_by=" ".join(filter(None, (completion.model, completion.system_fingerprint))),
        answered_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _count(usage: Any, *path: str) -> int | None:
    """A number inside `usage`, whose shape differs between servers; None where it is not there."""
    for name in path:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if type(usage) is int else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
