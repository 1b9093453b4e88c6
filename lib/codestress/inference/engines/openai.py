"""The engine of any OpenAI-compatible endpoint: the OpenAI API, `vllm serve`, others.

The openai client retries failures that may pass (408, 409, 429, 5xx, time-outs, broken connections)
with backoff and jitter, and waits as long as `Retry-After` says, up to two minutes; a longer wait
fails the request at once. Replies that the client would accept as answers (HTML, other JSON, an
error with status 200, the answer to another request) are checked and retried by this module. At most
`settings.concurrency` requests are in flight at the same time, their waits between tries included.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, HttpUrl, model_validator
from tqdm import tqdm

from codestress.errors import CodestressError, EngineError
from codestress.inference.budget import (
    FEWEST_CHARACTERS_PER_TOKEN,
    Budget,
    BudgetReached,
    Sum,
    one_request,
    said_or_most,
)
from codestress.inference.engines import dialects, limits
from codestress.inference.engines.base import (
    AnswerTooLong,
    Engine,
    RequestFailed,
    conversation,
    served_identity,
)
from codestress.inference.engines.secrets import Secret
from codestress.inference.network import (
    AROUND,
    PAUSE_S,
    Patience,
    base_of,
    connection,
    is_openai,
    only_for_openai,
    remedy_of,
    sent_on,
    through,
)
from codestress.inference.registry import ModelEntry
from codestress.literals import parse_json
from codestress.types import FinishReason, Outcome, Request, Response, Usage, now
from codestress.validation import Strict

if (
    TYPE_CHECKING
):  # at run time imported with the first engine that is opened: it takes a second
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

identity = served_identity

CONNECT_S = 30.0
LONGEST_PAUSE_S = 120.0
"""Longest Retry-After in seconds that is waited for."""
GARBLED_RETRIES = 2
GARBLED_PAUSE_S = 0.5
"""Seconds to wait before the second try of a request with an invalid reply; doubled before the
third."""
LACKS_ITS_END = re.compile(r"Unterminated|Expecting (?!value: line \d+ column 1 )")
"""Regular expression for the parser's words on JSON texts whose end is missing."""
CUT = "the connection broke within the reply"
"""Note on errors of the HTTP client after the first byte of a reply."""
NOT_PROCESSED = (400, 401, 402, 403, 404, 413, 422, 429)
"""Statuses by which servers say that they did nothing for a request: the request counts, and costs
no tokens."""
REMEDIES = {
    401: "The server wants a key: name its environment variable in the model's settings.key_env.",
    402: "The account has no credit left: add some, then run the same command again.",
    403: "The server does not let this account use the model: check the account's rights and the region.",
    404: "Check the model's id in params/models.yaml, and base_url, which for most servers ends in /v1.",
}
"""Advice by HTTP status, for statuses with which no request can succeed."""
TOKENS = (
    ("prompt_tokens",),
    ("completion_tokens",),
    ("completion_tokens_details", "reasoning_tokens"),
    ("prompt_tokens_details", "cached_tokens"),
)
"""Paths of the fields of `usage` in which servers count tokens: of the prompt, of the completion,
of reasoning, and of the prompt from a cache."""
MAY_BE_DIALECT = (400, 403, 404, 405, 406, 409, 415, 422, 500, 501, 502, 503)
"""Statuses of refusals that may mean that the server speaks a dialect (`dialects`)."""
MOST_TRIALS = 16
"""Maximum number of changed requests that an engine sends to find its server's dialects."""
NAMES_ERROR = re.compile("err|detail|mess|msg|code|base_resp")
"""Regular expression for the fields of a reply that tell of an error."""
FINISHED = ("stop", "length", "content_filter")
"""OpenAI's finish reasons of a completion without tools."""
ENDINGS = (
    "stop_reason",
    "finishReason",
    "done_reason",
    "native_finish_reason",
    "stop_type",
)
"""Fields of other APIs in a choice that say why its text ended."""
THOUGHT = re.compile("reason|think|thought|summary")
"""Regular expression for the types of parts that hold thoughts."""


class Settings(Strict):
    """A registry row's `settings` for the engine `openai` (params/models.yaml)."""

    base_url: str = "https://api.openai.com/v1"
    base_url_env: str | None = None
    """Environment variable that replaces `base_url` where it is set."""
    key_env: str | None = None
    """Environment variable that holds the key; empty when the server needs none. None:
    OPENAI_API_KEY at OpenAI's own address, no key elsewhere."""
    endpoint: Literal["chat", "completions"] = "chat"
    """Endpoint of the server. With `completions`, `chat_template` renders the prompt in this
    process, and any server then continues a begun answer."""
    chat_template: str = ""
    """A file in params/templates/, for `endpoint: completions`: the model's own template, in Jinja."""
    prefill: Literal["none", "vllm"] = "none"
    """Way in which a chat endpoint continues a begun answer: not at all, or by vLLM's
    `continue_final_message`, which is verified before the first request that needs it."""
    concurrency: int = Field(default=16, ge=1)
    """Maximum number of requests, and connections, in flight at the same time."""
    timeout_s: float = Field(default=600, gt=0)
    """Longest time for one try in seconds, from sending to the last byte."""
    max_reply_bytes: int = Field(default=16_000_000, ge=1)
    """Longest reply in bytes, unpacked."""
    retries: int = Field(default=6, ge=0)
    """Number of retries after the first try."""
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The server's name for the limit of a completion's tokens; OpenAI's reasoning models know only
    the second."""
    omit: list[Literal["temperature", "top_p"]] = []
    """Sampling parameters that the server does not let a request set; OpenAI's reasoning models:
    both."""
    roles: Literal["any", "alternating", "no system"] = "any"
    """Roles of messages that the server takes: any; or no two messages of one role in a row, so that
    they are sent as one message; or neither these nor a system message, whose text then begins the
    user's turn."""
    reasoning_effort: Literal["", "low", "medium", "high"] = ""
    """Reasoning effort of OpenAI's reasoning models; empty: not sent."""

    @property
    def override(self) -> str:
        """Address that replaces `base_url`: the value of the environment variable that
        `base_url_env` names; empty where none is named or the variable is not set."""
        return os.environ.get(self.base_url_env or "", "")

    @property
    def address(self) -> str:
        """Address of the server, without an endpoint's path; as given where it is none."""
        given = self.override or self.base_url
        with suppress(ValueError):
            return base_of(given)
        return given

    @property
    def key_variable(self) -> str:
        """Environment variable that holds the key; empty where none is sent."""
        if self.key_env is None:
            return "OPENAI_API_KEY" if is_openai(self.address) else ""
        return self.key_env

    @model_validator(mode="after")
    def _template_where_needed(self) -> Settings:
        if (self.endpoint == "completions") != bool(self.chat_template):
            raise ValueError(
                "`chat_template` belongs to `endpoint: completions`, and is needed there"
            )
        return self


class TooLongError(Exception):
    """Raised for a server's reply of more than `settings.max_reply_bytes` bytes; the request is not
    retried."""


class NoTextError(ValueError):
    """Raised for a reply without a text that gives no reason for it."""


class SilentReply(RequestFailed):
    """Raised for a request whose reply has no text and gives no reason for it."""


class OpenAIEngine(Engine):
    """An engine that asks one model of one server. Raises `EngineError`, before any request, where
    the key is unset or the address is invalid."""

    client: AsyncOpenAI

    def __init__(self, entry: ModelEntry) -> None:
        from openai import AsyncOpenAI

        self._settings = settings = Settings.model_validate(entry.settings)
        self.concurrency = settings.concurrency
        self._base_url = base_url = settings.address
        given = settings.override or settings.base_url
        if fault := fault_of_address(given, "settings.key_env"):
            # An environment variable may hold a secret by mistake: its value is never shown.
            source = "settings.base_url"
            if settings.override:
                source = f"the environment variable {settings.base_url_env}"
            raise EngineError(f"{entry.name}: {source} {fault}")
        key = key_in(settings.key_variable, entry.name)
        self.secret = Secret(key)
        self.secret.keep_out_of_logs()
        self._entry = entry
        self._who = f"{entry.name} ({entry.id}) at {base_url}{through(base_url)}"
        if base_url != given.rstrip("/"):
            tqdm.write(f"{entry.name}: its server is asked at {base_url}", sys.stderr)
        self.patience = Patience(entry.name)
        try:
            with only_for_openai(base_url):
                self.client = AsyncOpenAI(
                    api_key=key or "none",  # the client insists on one
                    base_url=base_url,
                    max_retries=settings.retries,
                    http_client=_http_client(settings, self),
                )
        except Exception as error:  # what the libraries read in the environment
            words = self.secret.shown(str(error))
            raise EngineError(
                f"{entry.name}: no connection can be set up: {words}"
            ) from None
        self._slots = asyncio.Semaphore(settings.concurrency)
        self.budget = Budget()
        """The budget that counts each try; without limits until a caller sets another."""
        self._replies: dict[int, str] = {}
        """Digest of the prompt that each reply answered, by the reply's hash."""
        self._continues: asyncio.Future[str] | None = None
        self._answered = 0
        """Characters of the longest prompt that was answered."""
        self._unfit: dict[int, int] = {}
        """Characters of the shortest prompt that proved too long, by the longest answer."""
        self._spoken: tuple[str, ...] = ()
        """Names of the dialects to which requests are adapted, in the order in which they were
        found."""
        self._said = set(entry.adapted)
        """Names of the dialects that the console has reported."""
        self._trials = 0
        self._adapting = asyncio.Lock()

    async def answer(self, request: Request) -> Response:
        """Returns the response to `request`, adapted to the server's dialect. Raises
        `RequestFailed` where this request fails, `EngineError` where none can succeed, and
        `BudgetReached` before a limit is crossed."""
        try:
            response = await self._understood(request)
        except Exception as error:
            raise await self._judged(self.failure(error), error, request) from None
        await self._check_room(request, response)
        return response

    async def _understood(self, request: Request) -> Response:
        """Returns the response to `request`; where the server refuses it in a dialect, to the
        request as the dialect wants it, as all later ones of this engine are. Raises the openai
        client's errors."""
        from openai import APIStatusError

        while True:
            spoken = self._spoken
            try:
                return await self._asked(request, spoken)
            except APIStatusError as error:
                refusal = error
            async with self._adapting:
                if (
                    self._spoken == spoken
                ):  # else another request found a dialect meanwhile
                    answer = await self._adapted(request, refusal, spoken)
                    if answer is not None:
                        return answer
                    raise refusal

    async def _adapted(
        self,
        request: Request,
        refusal: APIStatusError,
        spoken: tuple[str, ...],
    ) -> Response | None:
        """Returns the response to `request` in the first dialect that the server answers, which
        is kept; None where none is answered.

        `refusal` is what the server said to the request in the dialects `spoken`. Where it says
        something else to a changed request, the change is kept and the next is looked for.
        """
        from openai import APIStatusError

        words, settings = refusal.response.text, self._settings
        signs = limits.signs(
            dialects.words_of(words, numbers=True)[: limits.LONGEST_WORDS]
        )
        if (
            refusal.status_code not in MAY_BE_DIALECT
            or "prompt" in signs
            or "other" in signs
        ):
            return None
        body = request_body(request, settings, spoken)
        names = dialects.DIALECTS
        usable = [
            one
            for one in names
            if request_body(request, settings, (*spoken, one)) != body
        ]
        first = (
            not self._replies and refusal.status_code != 403
        )  # which is about a key, mostly
        changes = dialects.candidates(words, usable, first)
        if changes and refusal.status_code >= 500:
            changes.insert(0, ())  # the error may have passed, and then is no dialect
        for change in changes:
            if self._trials == MOST_TRIALS:
                break
            self._trials += 1
            trial = (*spoken, *change)
            try:
                answer: Response | None = await self._asked(request, trial)
                self._spoken = trial
            except APIStatusError as error:
                if not change or dialects.same_refusal(words, error.response.text):
                    continue
                answer = await self._adapted(request, error, trial)
            if answer is not None:
                return answer
        return None

    async def _asked(self, request: Request, spoken: tuple[str, ...]) -> Response:
        """Returns the response to `request`, which is sent in the dialects `spoken`. Raises
        the openai client's errors."""
        import httpx2

        prompt, body = request.prompt, request_body(request, self._settings, spoken)
        if prompt.prefill and self._settings.endpoint == "chat":
            await self._check_prefill(request.model)
        path = "/completions" if "prompt" in body else "/chat/completions"
        for number in range(1 + min(self._settings.retries, GARBLED_RETRIES)):
            if number:
                await asyncio.sleep(GARBLED_PAUSE_S * 2 ** (number - 1))
            # `post`, because `create` checks again what is sent, which takes a third of all the time
            async with self._slots:
                reply = await self.client.post(path, cast_to=httpx2.Response, body=body)
            try:
                content = parse_json(reply.content)
                seconds, most = (
                    reply.elapsed.total_seconds(),
                    prompt.sampling.max_tokens,
                )
                answer = response_of(content, seconds, self.secret, most)
                # A cache or proxy that mixes replies up sends one to another prompt too.
                name = _at(content, "id")
                same = hash((str(name), str(_at(content, "created")), answer.text))
                named = name and isinstance(name, str)
                if (
                    not named
                    or self._replies.setdefault(same, prompt.digest) == prompt.digest
                ):
                    spoken = (*spoken, *answer.dialects)
                    for new in sorted(set(spoken) - self._said):
                        line = f"its server speaks a dialect: {dialects.DIALECTS[new].line}"
                        tqdm.write(f"{self._entry.name}: {line}", sys.stderr)
                    self._said.update(spoken)
                    return replace(answer, dialects=spoken)
                problem = (
                    "it repeats, with its id and time, the answer to another request"
                )
                kind: type[RequestFailed] = RequestFailed
            except ValueError as error:
                problem = str(error)
                kind = SilentReply if isinstance(error, NoTextError) else RequestFailed
        words = self.secret.shown(reply.content.decode("utf-8", "replace")) or "nothing"
        words = f"the reply is not a chat completion ({problem}): {words}"
        outcome = (
            Outcome.CUT_REPLY if LACKS_ITS_END.match(problem) else Outcome.HARNESS_ERROR
        )
        raise kind(f"{self._who}: {words}", outcome)

    async def _judged(
        self, failure: Exception, error: Exception, request: Request
    ) -> Exception:
        """Returns `failure`, the failure of `request` for which the client raised `error`, with the
        outcome that the server's refusal shows, or as `AnswerTooLong`. Where the refusal is open to
        doubt, a shorter prompt is sent first."""
        status, body = getattr(error, "status_code", None), getattr(error, "body", "")
        if (
            isinstance(failure, SilentReply)
            and request.prompt.characters > self._answered
        ):
            if await self._fits_shorter(request):
                failure.outcome = Outcome.DOES_NOT_FIT
            return failure
        if status is None or not isinstance(failure, RequestFailed):
            return failure
        prompt, words = (
            request.prompt,
            body if isinstance(body, str) else json.dumps(body),
        )
        words = dialects.words_of(words, numbers=True)[: limits.LONGEST_WORDS]
        places = limits.signs(words)
        failure.outcome = limits.outcome_of(status, places)
        vague = failure.outcome is Outcome.DOES_NOT_FIT and limits.is_vague(
            status, places
        )
        if vague:
            failure.outcome = Outcome.HARNESS_ERROR
        elif failure.outcome is not Outcome.HARNESS_ERROR or "other" in places:
            return failure
        suspected = status in limits.SUSPICIOUS and not places
        counted = not places and limits.counts_it(words, status, prompt)
        too_long = suspected and counted
        if suspected and not too_long and limits.counts_answer(words, status, prompt):
            places = {"answer": 0}
        if places or counted or (suspected and prompt.characters > self._answered):
            too_long = too_long or await self._fits_shorter(request)
        named = "answer" in places
        if too_long or (named and not limits.blames_answer(places, prompt)):
            failure.outcome = Outcome.DOES_NOT_FIT
        elif named and status in limits.SUSPICIOUS:
            advice = "tokens: SET=max_tokens=… asks for shorter ones."
            limit = prompt.sampling.max_tokens
            return AnswerTooLong(
                f"{failure}\nThe server allows no answers of {limit:,} {advice}"
            )
        return failure

    async def _check_room(self, request: Request, answer: Response) -> None:
        """Raises `RequestFailed` where the text of `answer` is empty because the prompt of
        `request` is too long: longer than any that was answered, while a shorter one has an
        answer."""
        length = request.prompt.characters
        if answer.text.strip():
            self._answered = max(length, self._answered)
            return
        silent = answer.finish_reason == "stop" or answer.usage.completion_tokens == 0
        if silent and length > self._answered and await self._fits_shorter(request):
            reason = "the answer is empty, to a shorter prompt it is not"
            raise RequestFailed(f"{self._who}: {reason}", Outcome.DOES_NOT_FIT)

    async def _fits_shorter(self, request: Request) -> bool:
        """Whether the model answers `request` when its prompt is shortened; False, without a try,
        where it is short already, and True where a prompt that is no longer was tried before."""
        limit, length = request.prompt.sampling.max_tokens, request.prompt.characters
        shorter = limits.shortened(request.prompt)
        if shorter and length < self._unfit.get(limit, length + 1):
            with suppress(RequestFailed):
                answer = await self.answer(replace(request, prompt=shorter))
                if not answer.refused:
                    self._unfit[limit] = length
        return length >= self._unfit.get(limit, length + 1)

    async def close(self) -> None:
        await self.client.close()

    async def _check_prefill(self, model: str) -> None:
        """Checks once that the server has the model with the id `model` continue an answer that the
        prompt begins; raises `EngineError` where this is not verified."""
        if self._continues is None:
            self._continues = asyncio.ensure_future(self._fault_of_prefill(model))
        if fault := await asyncio.shield(self._continues):
            raise EngineError(
                f"{self._who}: this endpoint cannot continue a begun answer, and the prompt begins one: {fault}.\n"
                "Have the question begin it, as the paper did for GPT 4.1: SET=prefill=user. Or in params/models.yaml "
                "set the model's settings.prefill to 'vllm' if a vLLM server answers there, or `endpoint: completions` "
                "with the model's chat_template, which every server with /v1/completions can do."
            )

    async def _fault_of_prefill(self, model: str) -> str:
        """Returns the reason why the server does not continue begun answers of the model with the
        id `model`; empty where it verifiably continues them.

        The server renders two messages, once with the last answer left open and once with it
        closed: only where the first rendering has fewer tokens is the answer left open. vLLM's
        `/tokenize` counts the tokens; where it is missing, two one-token completions do.
        """
        if self._settings.prefill == "none":
            return "settings.prefill is 'none'"
        messages = [
            {"role": "user", "content": "Count."},
            {"role": "assistant", "content": "One, two,"},
        ]
        body = {"model": model, "messages": messages, "add_generation_prompt": False}
        try:
            opened = await self._rendered_tokens(
                body | {"continue_final_message": True}
            )
            closed = await self._rendered_tokens(
                body | {"continue_final_message": False}
            )
        except ValueError as error:
            return str(error)
        if opened < closed:
            return ""
        return f"it closes the answer that should be left open ({opened} tokens open, {closed} closed)"

    async def _rendered_tokens(self, body: dict[str, Any]) -> int:
        """Returns the number of tokens of the prompt that the server renders from a request's JSON
        body `body`; raises `ValueError`, with the reason, where the server does not tell."""
        import httpx2

        root = self._base_url.removesuffix("/").removesuffix("/v1")
        completion = body | {"max_tokens": 1}
        for place, content, path in (
            (f"{root}/tokenize", body, ("count",)),
            ("/chat/completions", completion, ("usage", "prompt_tokens")),
        ):
            problem = "the server does not say how many tokens the probe had"
            try:
                reply = await self.client.post(
                    place, cast_to=httpx2.Response, body=content
                )
                count = _count(parse_json(reply.content), *path)
                if count is not None:
                    return count
            except ValueError:  # no JSON
                continue
            except BudgetReached:
                raise
            except Exception as error:  # it costs the feature, not the run
                problem = f"the probe failed: {self.failure(error)}"
        raise ValueError(problem)

    def failure(self, error: Exception) -> Exception:
        """Returns the error to raise for `error`, which the openai client raised: `RequestFailed`
        where one request failed, `EngineError` where no request can succeed; an error of this kit
        is returned itself."""
        import httpx2
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        if isinstance(error, APIStatusError):
            return self._status_failure(error)
        cause = error.__cause__
        words = self.secret.shown(str(cause or error))
        reason = f"the connection failed: {words}"
        if isinstance(error, TooLongError):
            reason = str(error)
        elif isinstance(error, UnicodeEncodeError):
            reason = "the prompt holds half a surrogate pair, which is no text"
        elif isinstance(error, CodestressError | RequestFailed):
            return error
        elif remedy := remedy_of(error.__cause__):
            return EngineError(f"{self._who}: {words}{remedy}")
        elif not isinstance(error, APIConnectionError):
            reason = f"the request failed: {type(error).__name__}: {words}"
        elif any(isinstance(step, socket.gaierror) for step in _causes(error)):
            return EngineError(
                f"{self._who}: no such host\nCheck base_url, and the network."
            )
        elif CUT in getattr(cause, "__notes__", ()):
            return RequestFailed(f"{self._who}: {reason}", Outcome.CUT_REPLY)
        elif isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            reason = f"no server answers at {self._base_url} ({words}); start it, or correct base_url"
        elif isinstance(error, APITimeoutError):
            limit, tries = self._settings.timeout_s, self._settings.retries + 1
            reason = f"no answer within {limit:g} s (settings.timeout_s), tried {tries} times"
            return RequestFailed(f"{self._who}: {reason}", Outcome.TIMEOUT)
        return RequestFailed(f"{self._who}: {reason}")

    def _status_failure(self, error: APIStatusError) -> EngineError | RequestFailed:
        words = _at(error.body, "message")
        message = f"{self._who}: status {error.status_code}: "
        message += self.secret.shown(
            words if words and isinstance(words, str) else error.response.text
        )
        status = 402 if error.code == "insufficient_quota" else error.status_code
        if status == 401 and (variable := self._settings.key_variable):
            return EngineError(f"{message}\nCheck the key in {variable}.")
        if status in REMEDIES:
            return EngineError(f"{message}\n{REMEDIES[status]}")
        if error.response.is_redirect:
            target = sent_on(
                str(error.request.url), error.response.headers.get("location", "")
            )
            return EngineError(f"{message}\n{self.secret.shown(target)}")
        wait = error.response.headers.get("retry-after")
        return RequestFailed(
            f"{message} (Retry-After: {self.secret.shown(wait)})" if wait else message
        )

    def is_loading(self, reply: httpx2.Response) -> bool:
        """Whether `reply` says that the server is loading its model, and is to be waited for."""
        return self.patience.asks_again(
            reply.status_code, self.secret.shown(reply.text)
        )

    @asynccontextmanager
    async def paid(
        self, request: httpx2.Request
    ) -> AsyncIterator[Callable[[httpx2.Response], None]]:
        """Context of one try, which sends `request`: reserves the most requests, tokens and dollars
        that the try can take, and yields a function that takes the reply and counts the real ones;
        without limits neither is done. Raises `BudgetReached` before a try that could cross a
        limit."""
        import httpx2

        if request.method != "POST" or not self.budget.limited:
            yield lambda _: None
            return
        most = _most_tokens(json.loads(request.content))
        async with self.budget.paying(one_request(self._entry, *most)) as paid:

            def came(reply: httpx2.Response) -> None:
                most_now = (0, 0) if reply.status_code in NOT_PROCESSED else most
                tokens = said_or_most(_said_tokens(reply.content), most_now)
                paid.append(one_request(self._entry, *tokens))

            try:
                yield came
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                paid.append(Sum())  # nothing was sent
                raise


open_engine = OpenAIEngine


def fault_of_address(url: str, key_env: str) -> str:
    """Returns the reason why the server's address `url` cannot be used, as the end of a message;
    empty where it can. The reason does not show the address, which may hold a secret.

    `key_env` is the name, for the message, of the setting in which a person names the key's
    environment variable.
    """
    try:
        parts = HttpUrl(url.strip(AROUND))
    except ValueError:
        return "is not an address such as http://localhost:8000/v1"
    if not (parts.username or parts.password or parts.query or parts.fragment):
        return ""
    return f"must not hold a user, password or query; a key belongs into the environment variable that {key_env} names"


def key_in(variable: str, who: str) -> str:
    """Returns the key that the environment variable `variable` holds; empty where `variable` is
    empty. Raises `EngineError`, which begins with `who`, where the variable is unset, or its value
    holds spaces, line breaks or letters outside ASCII."""
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


def request_body(
    request: Request, settings: Settings, spoken: Sequence[str] = ()
) -> dict[str, Any]:
    """Returns the JSON body, as a dictionary, that is sent for `request`: with messages for the
    chat endpoint, or, where `settings.endpoint` is `completions`, with one text rendered by the
    chat template. `spoken` names dialects (`dialects`) to which it is adapted beside the settings.
    Raises `EngineError` where the template fails."""
    if spoken:
        settings = Settings.model_validate(
            dialects.applied(settings.model_dump(), spoken)
        )
    prompt = dialects.shown_to(request.prompt, settings.roles)
    sampling, prefill = prompt.sampling, prompt.prefill
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
        from codestress.inference.engines.chat_template import (
            render,
        )  # here: few need jinja2

        body["prompt"] = render(settings.chat_template, conversation(prompt)) + prefill
        return body
    body["messages"] = conversation(prompt, prefill)
    if prefill:
        # Without both flags vLLM closes the begun turn and starts another, silently.
        body |= {"add_generation_prompt": False, "continue_final_message": True}
    return body


def _most_tokens(body: dict[str, Any]) -> tuple[int, int]:
    """Returns upper bounds of the tokens of a request with the JSON body `body`, as a pair: of its
    prompt, by the number of characters, and of its completion."""
    texts = [
        body.get("prompt", ""),
        *(message["content"] for message in body.get("messages", ())),
    ]
    answer = body.get("max_completion_tokens", body.get("max_tokens", 0))
    return -(-sum(map(len, texts)) // FEWEST_CHARACTERS_PER_TOKEN), answer


def _said_tokens(content: bytes) -> tuple[int | None, int | None]:
    """Returns the tokens of prompt and completion that the reply `content` counts, as a pair; None
    for a count that it lacks, both where it is no JSON. Its other faults do not matter."""
    try:
        body = parse_json(content)
    except ValueError:
        body = None
    return _count(body, "usage", "prompt_tokens"), _count(
        body, "usage", "completion_tokens"
    )


def _http_client(settings: Settings, engine: OpenAIEngine) -> httpx2.AsyncClient:
    """Returns an HTTP client with at most `settings.concurrency` connections, and the deadline
    `settings.timeout_s` for each try. It has `engine` count what each try costs.

    httpx's own read time-out starts again with every byte, so a server that trickles would hold a
    request for ever.
    """
    import httpx2

    class Client(httpx2.AsyncClient):
        async def send(
            self, request: httpx2.Request, **options: Any
        ) -> httpx2.Response:
            async with engine.paid(request) as came:
                try:
                    reply = await self._once(request, options)
                    while engine.is_loading(reply):
                        await asyncio.sleep(PAUSE_S)
                        reply = await self._once(request, options)
                    came(reply)
                    if reply.is_success:
                        reply.status_code = (
                            _status_of(reply.content) or reply.status_code
                        )
                except TimeoutError:
                    raise httpx2.ReadTimeout("deadline", request=request) from None
                if reply.status_code in limits.OVERLOADED:
                    wait = _seconds(reply.headers.get("retry-after"))
                    if wait > min(settings.timeout_s, LONGEST_PAUSE_S):
                        reply.headers["x-should-retry"] = "false"  # fails at once
                return reply

        async def _once(self, request: httpx2.Request, options: Any) -> httpx2.Response:
            async with asyncio.timeout(settings.timeout_s):
                reply = await super().send(request, **{**options, "stream": True})
                await _read(reply, settings.max_reply_bytes)
                return reply

    timeout = httpx2.Timeout(
        settings.timeout_s, connect=min(CONNECT_S, settings.timeout_s)
    )
    many = settings.concurrency
    connections = httpx2.Limits(max_connections=many, max_keepalive_connections=many)
    options = connection(settings.address) | {"timeout": timeout, "limits": connections}
    return Client(follow_redirects=False, **options)


async def _read(reply: httpx2.Response, most: int) -> None:
    """Reads the content of `reply` in full and keeps it in `reply`; returns nothing. Raises
    `TooLongError` for more than `most` bytes unpacked, and `DecodingError` for a reply that is
    packed otherwise than by gzip or deflate."""
    import httpx2

    try:
        packed = reply.headers.get("content-encoding", "").strip().lower()
        # Others unpack a few bytes to any length at once.
        if packed not in ("", "identity", "gzip", "deflate"):
            message = f"unknown Content-Encoding {packed[:40]!r}"
            raise httpx2.DecodingError(message, request=reply.request)
        content = bytearray()
        async for part in reply.aiter_bytes():
            content += part
            if len(content) > most:
                raise TooLongError(
                    f"the reply is longer than {most:,} bytes (settings.max_reply_bytes)"
                )
    except httpx2.TransportError as error:
        error.add_note(CUT)
        raise
    finally:
        await reply.aclose()
    reply._content = bytes(content)


def _status_of(content: bytes) -> int | None:
    """Returns the HTTP status of the error in the reply `content`, which some servers send with
    status 200: the one that it names, or 400 where it names a limit of lengths; None for others."""
    if b'"choices"' in content and b'"error"' not in content:
        return None
    try:
        body = parse_json(content)
    except ValueError:
        return None
    choices = _at(body, "choices") or [None]
    error = _at(body, "error") or (
        _at(choices[0], "error") if isinstance(choices, list) else None
    )
    if error is None and isinstance(body, dict) and choices == [None]:
        error = {
            name: value for name, value in body.items() if NAMES_ERROR.search(name)
        }
    if not error:
        return None
    for code in (
        _at(error, "code"),
        _at(error, "status"),
        _at(body, "code"),
        _at(body, "status"),
    ):
        if type(code) is int and 400 <= code < 600:
            return code
    words = dialects.words_of(json.dumps(error), numbers=True)
    limit = limits.signs(words[: limits.LONGEST_WORDS])
    return 400 if limit and "other" not in limit else None


def _seconds(retry_after: str | None) -> float:
    """Returns the seconds that the Retry-After header `retry_after` names, at least 0; 0 without a
    header, and for a date, which the client itself waits for."""
    try:
        return max(0.0, float(retry_after or 0))
    except ValueError:
        return 0.0


def response_of(
    body: Any, seconds: float, secret: Secret, most: int | None = None
) -> Response:
    """Returns the response in the JSON body `body` of a reply that took `seconds`, with the key of
    `secret` replaced in its texts; raises `ValueError`, with the reason, where the body is no valid
    reply or has another number of choices than one.

    `most` is the largest number of tokens that was asked for: a completion of so many tokens is cut
    off where the server does not say why it ended.
    """
    choices = _at(body, "choices") or []
    if _at(body, "error") is not None:  # some servers report one with status 200
        raise ValueError("error")
    if not isinstance(choices, list):
        raise ValueError("no list of choices, not 1")
    if len(choices) != 1:
        kind = NoTextError if _at(body, "choices") == [] else ValueError
        raise kind(f"{len(choices)} choices, not 1 as asked")
    [choice] = choices
    usage = Usage(*(_count(body, "usage", *path) for path in TOKENS))
    names = _text(body, "model"), _text(body, "system_fingerprint")
    by, at = secret.out_of(" ".join(filter(None, names))), now()
    text, reason = _said(choice, "choices.0")
    odd = {
        "finish_reason": _at(choice, "finish_reason") not in FINISHED,
        "parts": isinstance(_at(choice, "message", "content"), list),
    }
    full = most is not None and (usage.completion_tokens or 0) >= most
    if full and reason == "stop" and odd["finish_reason"]:
        reason = "length"
    spoken = tuple(name for name in odd if odd[name])
    return Response(
        secret.out_of(text), reason, usage, seconds, by, at, dialects=spoken
    )


def _said(choice: Any, place: str) -> tuple[str, FinishReason]:
    """Returns the text of `choice`, one of a reply's choices, and the reason why it ended:
    `content_filter` for a refusal, `reasoning` for thoughts without a text, else the server's.
    Raises `ValueError`, which names the choice by `place`, for an invalid choice."""
    message, said = _at(choice, "message"), _at(choice, "finish_reason")
    if message is None and _at(choice, "text") is None:
        raise ValueError(f"{place}: neither message nor text")
    if not isinstance(message, dict | None):
        raise ValueError(f"the reply's {place}.message must be a mapping")
    refusal, content = (
        _text(message, "refusal", place),
        _text(message, "content", place),
    )
    if message is None:
        content = _text(choice, "text", place)
    parts = isinstance(_at(message, "content"), list)
    thought = _at(message, "reasoning_content") or _at(message, "reasoning") or parts
    reason = said
    if said not in FINISHED:
        reason = dialects.ending(said, *(_at(choice, name) for name in ENDINGS))
        whole = content.strip() or thought or refusal
        if reason is None or (reason == "stop" and not whole):
            kind = ValueError if reason is None else NoTextError
            raise kind(f"{place}.finish_reason: {said!r}")
    if refusal:
        return refusal, "content_filter"
    if thought and not content.strip() and reason == "stop":
        return content, "reasoning"
    return content, reason


def _at(body: Any, *path: str) -> Any:
    """Returns the value to which the keys `path` lead, one after the other, in `body` and the
    mappings inside; None where a key is missing or no mapping is there."""
    for name in path:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _text(body: Any, name: str, place: str = "") -> str:
    """Returns the text field `name` of the mapping `body`, which may hold half a surrogate pair;
    empty where it is missing, and joined where it is a list of parts. Raises `ValueError`, which
    names the mapping by `place`, where the field is neither."""
    text = _at(body, name)
    if isinstance(text, list) and all(isinstance(part, dict) for part in text):
        text = "".join(_text_of(part, place) for part in text)
    if not isinstance(text, str | None):
        field = f"{place}.message.{name}" if place else name
        raise ValueError(f"the reply's {field} must be a text")
    return text or ""


def _text_of(part: dict[str, Any], place: str) -> str:
    """Returns the text of `part`, one of the parts of an answer; empty for a thought, and for a
    part of another kind, such as an image. Raises `ValueError`, as `_text` does, where the part
    has neither a kind nor a text."""
    kind = part.get("type", "text" if "text" in part else None)
    if not isinstance(kind, str):
        raise ValueError(f"the reply's {place}.message.content must be a text")
    if "text" not in kind or THOUGHT.search(kind) or part.get("thought") is True:
        return ""
    if isinstance(part.get("text"), dict):
        return _text(part["text"], "value", place)
    return _text(part, "text", place)


def _count(body: Any, *path: str) -> int | None:
    """Returns the number of tokens to which the keys `path` lead in `body`, a negative one as 0;
    None where no integer is there."""
    count = _at(body, *path)
    return max(0, count) if type(count) is int else None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
