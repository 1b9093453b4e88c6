"""The engine of any OpenAI-compatible endpoint: the OpenAI API, `vllm serve`, others.

The openai client retries what may pass (408, 409, 429, 5xx, time-outs, broken connections) with backoff and jitter, and
waits as long as `Retry-After` says, up to two minutes; more than that fails the request at once. What it would let pass
for an answer (HTML, other JSON, an error with status 200, the answer to another request) is checked and tried again
here. A server that says that it has too much to do gets fewer requests at once (`limiter`).
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, HttpUrl, TypeAdapter, ValidationError, model_validator

from codestress.errors import EngineError
from codestress.inference.budget import FEWEST_CHARACTERS_PER_TOKEN, Budget, Sum, one_request, said_or_most
from codestress.inference.engines.base import Engine, RequestFailed, conversation, served_identity
from codestress.inference.engines.limiter import LONGEST_PAUSE_S, Limiter
from codestress.inference.engines.secrets import Secret
from codestress.inference.registry import ModelEntry
from codestress.literals import parse_json
from codestress.types import FinishReason, Outcome, Request, Response, Usage, now
from codestress.validation import Strict

if TYPE_CHECKING:  # at run time imported with the first engine that is opened: it takes a second
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

identity = served_identity

CONNECT_S = 30.0
GARBLED_RETRIES = 2
GARBLED_PAUSE_S = 0.5
"""Before the second try; doubled before the third."""
GATHERING_TURNS = 4
"""Of the event loop, in which requests for candidates of one prompt come together."""
OVERLOADED = (429, 503, 529)
"""Statuses by which servers ask for fewer requests."""
NOT_PROCESSED = (400, 401, 402, 403, 404, 413, 422, 429)
"""Statuses by which servers say that they did nothing for a request: it counts, and costs no tokens."""
REMEDIES = {
    401: "The server wants a key: name its environment variable in the model's settings.key_env.",
    402: "The account has no credit left: add some, then run the same command again.",
    403: "The server does not let this account use the model: check the account's rights and the region.",
    404: "Check the model's id in params/models.yaml, and base_url, which for most servers ends in /v1.",
}
"""What to do where no request can succeed, by the status that says so."""
DETAILS = ("completion_tokens_details", "reasoning_tokens"), ("prompt_tokens_details", "cached_tokens")
"""Where servers count, in `usage`, tokens of reasoning, and those of the prompt from a cache."""
SHOWN_CHARACTERS = 300
"""Of a server's words, in a message."""


class Settings(Strict):
    """A row's `settings` in params/models.yaml."""

    base_url: str = "https://api.openai.com/v1"
    base_url_env: str | None = None
    """Environment variable that replaces `base_url` where it is set."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; empty when the server needs none."""
    endpoint: Literal["chat", "completions"] = "chat"
    """`completions`: the prompt is rendered here, by `chat_template`; any server then continues a begun answer."""
    chat_template: str = ""
    """A file in params/templates/, for `endpoint: completions`: the model's own template, in Jinja."""
    prefill: Literal["none", "vllm"] = "none"
    """How a chat endpoint continues a begun answer: not at all, or by vLLM's `continue_final_message`, which is
    verified before the first request that needs it."""
    candidates: int = Field(default=1, ge=1)
    """Answers to one prompt that one request may ask for (`n`), where a study samples several."""
    concurrency: int = Field(default=16, ge=1)
    """Requests, and connections, in flight at once."""
    timeout_s: float = Field(default=600, gt=0)
    """Longest time for one try, from sending to the last byte."""
    max_reply_bytes: int = Field(default=16_000_000, ge=1)
    """Longest reply, unpacked."""
    retries: int = Field(default=6, ge=0)
    """Tries after the first."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for the longest answer; OpenAI's reasoning models know only the second."""
    omit: list[Literal["temperature", "top_p"]] = []
    """Sampling that the server does not let be chosen; OpenAI's reasoning models: both."""
    reasoning_effort: Literal["", "low", "medium", "high"] = ""
    """How long OpenAI's reasoning models think; empty: not said."""

    @model_validator(mode="after")
    def _template_where_needed(self) -> Settings:
        if (self.endpoint == "completions") != bool(self.chat_template):
            raise ValueError("`chat_template` belongs to `endpoint: completions`, and is needed there")
        return self


class TooLongError(Exception):
    """A reply that is longer than it may be: it is not asked for again."""


class OpenAIEngine(Engine):
    """Asks one model of one server."""

    client: AsyncOpenAI

    def __init__(self, entry: ModelEntry, settings: Settings, base_url: str, key: str) -> None:
        from openai import AsyncOpenAI

        self.concurrency = settings.concurrency
        self._settings = settings
        self._base_url = base_url
        self.secret = Secret(key)
        self.secret.keep_out_of_logs()
        self._entry = entry
        self._who = f"{entry.name} ({entry.id}) at {base_url}"
        self.client = AsyncOpenAI(
            api_key=key or "none",  # the client insists on one
            base_url=base_url,
            max_retries=settings.retries,
            http_client=_http_client(settings, Limiter(settings.concurrency), self),
        )
        self.budget = Budget()
        """Has each try counted; without limits until somebody sets another."""
        self._gathering: dict[str, tuple[list[Request], asyncio.Task[list[Response]]]] = {}
        """Requests for candidates of one prompt that are about to be sent as one, by its digest."""
        self._replies: dict[int, str] = {}
        """Hashes of replies with the digests of the prompts that they answered."""
        self._continues: asyncio.Future[str] | None = None

    async def answer(self, request: Request) -> Response:
        """With others that wait to ask the same, up to `settings.candidates`, in one request."""
        if self._settings.candidates == 1:
            return (await self._answers(request, 1))[0]
        digest = request.prompt.digest
        asked, replied = self._gathering.get(digest, ([], None))
        if replied is None or len(asked) == self._settings.candidates:
            asked = list[Request]()
            replied = asyncio.create_task(self._gathered(asked))
            self._gathering[digest] = asked, replied
        asked.append(request)
        number = len(asked) - 1
        return (await asyncio.shield(replied))[number]

    async def _gathered(self, asked: list[Request]) -> list[Response]:
        """Answers to requests that ask the same: those that come before it is sent."""
        for _ in range(GATHERING_TURNS):  # lets those that are ready now come
            await asyncio.sleep(0)
        digest = asked[0].prompt.digest
        if self._gathering[digest][0] is asked:
            del self._gathering[digest]
        return await self._answers(asked[0], len(asked))

    async def _answers(self, request: Request, count: int) -> list[Response]:
        import httpx2

        prompt, body = request.prompt, request_body(request, self._settings)
        if prompt.prefill and self._settings.endpoint == "chat":
            await self._check_prefill(request.model)
        if count > 1:
            body["n"] = count
        path = "/completions" if "prompt" in body else "/chat/completions"
        for number in range(1 + min(self._settings.retries, GARBLED_RETRIES)):
            if number:
                self.budget.failed += 1
                await asyncio.sleep(GARBLED_PAUSE_S * 2 ** (number - 1))
            try:  # `post`, because `create` checks again what is sent, which takes a third of all the time
                reply = await self.client.post(path, cast_to=httpx2.Response, body=body)
            except Exception as error:
                raise self.failure(error) from None
            try:
                content = parse_json(reply.content)
                found = responses(content, reply.elapsed.total_seconds(), self.secret, count)
                # A cache or proxy that mixes replies up sends one to another prompt too.
                name = _at(content, "id")
                same = hash((str(name), str(_at(content, "created")), found[0].text))
                if (
                    not name
                    or not isinstance(name, str)
                    or self._replies.setdefault(same, prompt.digest) == prompt.digest
                ):
                    return found
                problem = "it repeats, with its id and time, the answer to another request"
            except ValueError as error:
                problem = str(error)
        got = self._shown(reply.content.decode("utf-8", "replace"))
        raise RequestFailed(f"{self._who}: the reply is not a chat completion ({problem}): {got or 'nothing'}")

    async def close(self) -> None:
        await self.client.close()

    async def _check_prefill(self, model: str) -> None:
        """Once for a model: `EngineError` where the server does not verifiably continue a begun answer."""
        if self._continues is None:
            self._continues = asyncio.ensure_future(self._fault_of_prefill(model))
        fault = await asyncio.shield(self._continues)
        if fault:
            raise EngineError(
                f"{self._who}: this endpoint cannot continue a begun answer, and the prompt begins one: {fault}.\n"
                "Have the question begin it, as the paper did for GPT 4.1: SET=prefill=user. Or in params/models.yaml "
                "set the model's settings.prefill to 'vllm' if a vLLM server answers there, or `endpoint: completions` "
                "with the model's chat_template, which every server with /v1/completions can do."
            )

    async def _fault_of_prefill(self, model: str) -> str:
        """Why begun answers are not continued; empty where they verifiably are.

        The server renders two messages, the answer once left open and once closed: only where the first has fewer
        tokens is it left open. Asked of vLLM's `/tokenize`; where that is not there, of two one-token answers.
        """
        if self._settings.prefill == "none":
            return "settings.prefill is 'none'"
        messages = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "One, two,"}]
        body = {"model": model, "messages": messages, "add_generation_prompt": False}
        try:
            opened = await self._rendered_tokens(body | {"continue_final_message": True})
            closed = await self._rendered_tokens(body | {"continue_final_message": False})
        except ValueError as error:
            return str(error)
        told = f"it closes the answer that should be left open ({opened} tokens open, {closed} closed)"
        return "" if opened < closed else told

    async def _rendered_tokens(self, body: dict[str, Any]) -> int:
        """Tokens of a prompt as the server renders it; `ValueError` says why they are not known."""
        import httpx2
        from openai import APIStatusError

        root = self._base_url.removesuffix("/").removesuffix("/v1")
        places: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
            f"{root}/tokenize": ({}, ("count",)),
            "/chat/completions": ({"max_tokens": 1}, ("usage", "prompt_tokens")),
        }
        for place, (more, path) in places.items():
            problem = "the server does not say how many tokens the probe had"
            try:
                reply = await self.client.post(place, cast_to=httpx2.Response, body=body | more)
                if (count := _count(parse_json(reply.content), *path)) is not None:
                    return count
            except APIStatusError as error:
                problem = f"the probe got status {error.status_code}: {self._shown(error.response.text)}"
            except ValueError:  # no JSON
                continue
        raise ValueError(problem)

    def failure(self, error: Exception) -> Exception:
        """What an exception of the client means for the request, or for all of them; others as they are."""
        import httpx2
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        if isinstance(error, APIStatusError):
            return self._status_failure(error)
        cause = error.__cause__
        told = f"the connection failed: {self._shown(str(cause or error))}"
        if isinstance(error, TooLongError):
            told = str(error)
        elif isinstance(error, UnicodeEncodeError):
            told = "the prompt holds half a surrogate pair, which is no text"
        elif not isinstance(error, APIConnectionError):
            return error
        elif any(isinstance(one, socket.gaierror) for one in _causes(error)):
            return EngineError(f"{self._who}: no such host\nCheck base_url, and the network.")
        elif isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            why = self._shown(str(cause))
            told = f"no server answers at {self._base_url} ({why}); start it, or correct base_url"
        elif isinstance(error, APITimeoutError):
            limit, tries = self._settings.timeout_s, self._settings.retries + 1
            told = f"no answer within {limit:g} s (settings.timeout_s), tried {tries} times"
            return RequestFailed(f"{self._who}: {told}", Outcome.TIMEOUT)
        return RequestFailed(f"{self._who}: {told}")

    def _status_failure(self, error: APIStatusError) -> EngineError | RequestFailed:
        said = _at(error.body, "message")
        message = f"{self._who}: status {error.status_code}: "
        message += self._shown(said if said and isinstance(said, str) else error.response.text)
        status = 402 if error.code == "insufficient_quota" else error.status_code
        if status == 401 and self._settings.key_env:
            return EngineError(f"{message}\nCheck the key in {self._settings.key_env}.")
        if status in REMEDIES:
            return EngineError(f"{message}\n{REMEDIES[status]}")
        if error.response.is_redirect:
            target = self._shown(error.response.headers["location"])
            return EngineError(f"{message} (redirects are not followed: to {target}); correct base_url")
        wait = error.response.headers.get("retry-after")
        return RequestFailed(f"{message} (Retry-After: {self._shown(wait)})" if wait else message)

    @asynccontextmanager
    async def paid(self, request: httpx2.Request) -> AsyncIterator[Callable[[httpx2.Response], None]]:
        """Around one try: the most that it can cost, until a reply says what it did cost; `BudgetReached` before it."""
        import httpx2

        if request.method != "POST" or not self.budget.limited:
            yield lambda _: None
            return
        most = _most_tokens(json.loads(request.content))
        failed = True
        async with self.budget.paying(one_request(self._entry, *most)) as paid:

            def came(reply: httpx2.Response) -> None:
                nonlocal failed
                failed = reply.status_code in OVERLOADED
                free = (0, 0) if reply.status_code in NOT_PROCESSED else most
                paid.append(one_request(self._entry, *said_or_most(_said_tokens(reply.content), free)))

            try:
                yield came
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                paid.append(Sum())  # nothing was sent
                raise
            finally:
                self.budget.failed += failed

    def _shown(self, words: str) -> str:
        """On one line, printable, shortened, without the key."""
        words = self.secret.out_of_message(words)
        line = " ".join("".join(c if c.isprintable() else " " for c in words).split())
        return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def open_engine(entry: ModelEntry) -> OpenAIEngine:
    """The engine of a row; `EngineError` before any request where the key is unset or the address is none."""
    settings = Settings.model_validate(entry.settings)
    override = os.environ.get(settings.base_url_env) if settings.base_url_env else None
    base_url = override or settings.base_url
    if fault := fault_of_address(base_url, "settings.key_env"):
        # An environment variable may hold a secret by mistake: its value is never shown.
        source = f"the environment variable {settings.base_url_env}" if override else "settings.base_url"
        raise EngineError(f"{entry.name}: {source} {fault}")
    return OpenAIEngine(entry, settings, base_url, key_in(settings.key_env, entry.name))


def fault_of_address(url: str, key_env: str) -> str:
    """What keeps a server's address from being asked; empty where nothing does. It may hold a secret: not shown."""
    try:
        parts = TypeAdapter(HttpUrl).validate_python(url)
    except ValidationError:
        return "is not an address such as http://localhost:8000/v1"
    if not (parts.username or parts.password or parts.query or parts.fragment):
        return ""
    return f"must not hold a user, password or query; a key belongs into the environment variable that {key_env} names"


def key_in(variable: str, who: str) -> str:
    """The key that an environment variable holds; empty where none is named."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise EngineError(
            f"{who}: the environment variable {variable} is not set.\n"
            f"export {variable}=… with your key, or run offline with MODELS=sim-near"
        )
    if not all("!" <= character <= "~" for character in key):
        raise EngineError(
            f"{who}: the value of {variable} cannot be a key: it holds spaces, line breaks or letters "
            "outside ASCII; copy it again"
        )
    return key


def request_body(request: Request, settings: Settings) -> dict[str, Any]:
    """What is sent to the endpoint for a request."""
    sampling, prefill = request.prompt.sampling, request.prompt.prefill
    body: dict[str, Any] = {
        "model": request.model,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        settings.max_tokens_field: sampling.max_tokens,
    }
    for name in settings.omit:
        del body[name]
    if settings.reasoning_effort:
        body["reasoning_effort"] = settings.reasoning_effort
    if sampling.stop:
        body["stop"] = list(sampling.stop)
    if settings.endpoint == "completions":
        from codestress.inference.engines.chat_template import render  # here: few need jinja2

        body["prompt"] = render(settings.chat_template, conversation(request.prompt)) + prefill
        return body
    body["messages"] = conversation(request.prompt, prefill)
    if prefill:
        # Without both flags vLLM closes the begun turn and starts another, silently.
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return body


def _most_tokens(body: dict[str, Any]) -> tuple[int, int]:
    """The most tokens that what is sent and what comes back can have."""
    texts = [body.get("prompt", ""), *(message["content"] for message in body.get("messages", ()))]
    answer = body.get("max_completion_tokens", body.get("max_tokens", 0))
    return -(-sum(map(len, texts)) // FEWEST_CHARACTERS_PER_TOKEN), answer * body.get("n", 1)


def _said_tokens(content: bytes) -> tuple[int | None, int | None]:
    """What the server says that it counted, whatever else is wrong with its reply."""
    try:
        body = parse_json(content)
    except ValueError:
        body = None
    return _count(body, "usage", "prompt_tokens"), _count(body, "usage", "completion_tokens")


def _http_client(settings: Settings, limiter: Limiter, engine: OpenAIEngine) -> httpx2.AsyncClient:
    """A connection for each request in flight, and a deadline for each try.

    httpx's own read time-out starts again with every byte, so a server that trickles would hold a request for ever.
    """
    import httpx2

    class Client(httpx2.AsyncClient):
        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            async with limiter.slot() as sent_in, engine.paid(request) as came:
                try:
                    async with asyncio.timeout(settings.timeout_s):
                        reply = await super().send(request, **{**options, "stream": True})
                        await _read(reply, settings.max_reply_bytes)
                    came(reply)
                except TimeoutError:
                    limiter.overloaded(sent_in)
                    raise httpx2.ReadTimeout("deadline", request=request) from None
                if reply.status_code in OVERLOADED:
                    wait = _seconds(reply.headers.get("retry-after"))
                    if wait > min(settings.timeout_s, LONGEST_PAUSE_S):
                        reply.headers["x-should-retry"] = "false"  # fails at once, and holds nobody else back
                        wait = 0.0
                    limiter.overloaded(sent_in, wait)
                elif reply.is_success:
                    limiter.answered()
                return reply

    return Client(
        timeout=httpx2.Timeout(settings.timeout_s, connect=min(CONNECT_S, settings.timeout_s)),
        limits=httpx2.Limits(max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency),
        follow_redirects=False,
    )


async def _read(reply: httpx2.Response, most: int) -> None:
    """Reads all of a reply; one that is longer than `most`, unpacked, or packed in an unknown way, is none."""
    import httpx2

    try:
        packed = reply.headers.get("content-encoding", "").strip().lower()
        if packed not in ("", "identity", "gzip", "deflate"):  # others unpack a few bytes to any length at once
            raise httpx2.DecodingError(f"unknown Content-Encoding {packed[:40]!r}", request=reply.request)
        parts, length = [], 0
        async for part in reply.aiter_bytes():
            parts.append(part)
            length += len(part)
            if length > most:
                raise TooLongError(f"the reply is longer than {most:,} bytes (settings.max_reply_bytes)")
    finally:
        await reply.aclose()
    reply._content = b"".join(parts)


def _seconds(retry_after: str | None) -> float:
    """What a Retry-After header says in seconds; 0 for a date, which the client itself waits for."""
    try:
        return max(0.0, float(retry_after or 0))
    except ValueError:
        return 0.0


def responses(body: Any, seconds: float, secret: Secret, count: int = 1) -> list[Response]:
    """The answers in a reply; `ValueError` says why it is none. Of several the first carries the tokens of all, which
    the server counts together."""
    choices = _at(body, "choices") or []
    if _at(body, "error") is not None:  # some servers report one with status 200
        raise ValueError("error")
    if not isinstance(choices, list) or len(choices) != count:
        raise ValueError(f"{len(choices) if isinstance(choices, list) else 'no list of'} choices, not {count}")
    names = ("prompt_tokens",), ("completion_tokens",), *DETAILS
    total = Usage(*(_count(body, "usage", *name) for name in names))
    by = secret.out_of(" ".join(filter(None, (_text(body, "model"), _text(body, "system_fingerprint")))))
    answered_at, found = now(), list[Response]()
    for number, choice in enumerate(choices):
        text, reason = _said(choice, f"choices.{number}")
        usage = Usage(0, 0, 0, 0) if found else total
        found.append(Response(secret.out_of(text), reason, usage, seconds, answered_by=by, answered_at=answered_at))
    return found


def _said(choice: Any, place: str) -> tuple[str, FinishReason]:
    """What one of a reply's choices says, and why it ended."""
    message, reason = _at(choice, "message"), _at(choice, "finish_reason")
    if message is None and _at(choice, "text") is None:
        raise ValueError(f"{place}: neither message nor text")
    if not isinstance(message, dict | None):
        raise ValueError(f"{place}.message: must be a mapping")
    refusal, content = _text(message, "refusal", place), _text(message, "content", place)
    if reason not in ("stop", "length", "content_filter"):
        raise ValueError(f"{place}.finish_reason: {reason!r}")
    if refusal:
        return refusal, "content_filter"
    thought = not content.strip() and (_at(message, "reasoning_content") or _at(message, "reasoning"))
    text = content if message is not None else _text(choice, "text", place)
    return text, "reasoning" if thought and reason == "stop" else reason


def _at(body: Any, *path: str) -> Any:
    """What stands inside mappings, whose shape differs between servers; None where it is not there."""
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _text(body: Any, name: str, place: str = "") -> str:
    """A text, which may hold half a surrogate pair; empty where there is none."""
    found = _at(body, name)
    if not isinstance(found, str | None):
        raise ValueError(f"{place}{'.message.' if place else ''}{name}: must be a text")
    return found or ""


def _count(body: Any, *path: str) -> int | None:
    """A number of tokens."""
    found = _at(body, *path)
    return max(0, found) if type(found) is int else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
