"""The engine that asks one model of one OpenAI-compatible server.

OpenAI's client retries failures that may pass (408, 409, 429, 5xx, time-outs, broken
connections) with backoff and jitter. The client waits as long as `Retry-After` says, up
to two minutes; a longer wait fails the request at once. Replies that the client would
accept as answers (HTML, other JSON, the answer to another request) are retried here. At
most `settings.concurrency` requests are in flight at the same time, including those for
which the client waits between tries.

A server refuses a request that is in another dialect of the protocol, or whose prompt
or answer is too long. The engine finds the dialect by sending changed requests. If a
refusal does not show whether the length is the reason, the engine sends a shorter
prompt: the length is the reason if the shorter prompt is answered.
"""

import asyncio
import math
from contextlib import suppress
from dataclasses import replace
from itertools import chain, combinations
from typing import Any

import httpx2
from openai import APIStatusError, AsyncOpenAI, RateLimitError

from codestress.errors import EngineError, NoContinuationError
from codestress.literals import parse_json
from codestress.types import Message, Outcome, Prompt, Request, Response, Sampling, now

from ..budget import BudgetReached, most_tokens
from ..network import Secret, only_for_openai
from ..progress import say
from ..registry import ModelEntry
from .base import AnswerTooLong, Engine, RequestFailed
from .dialects import DIALECTS, shortened
from .openai import Settings, address_of, key_in, request_body
from .openai_client import MOST, Client
from .replies import (
    LACKS_ITS_END,
    OUTCOMES,
    REMEDIES,
    SUSPICIOUS,
    NoTextError,
    Texts,
    check_repeat,
    dialects_in,
    limit_of,
    response_of,
    usage_in,
    value_at,
)

PAUSES_S = (0.0, 0.5, 1.0)
"""Seconds of waiting before each try of a request whose replies are invalid."""
MOST_TRIALS = 16
"""Maximum number of changed requests that are sent to find a server's dialects."""
COUNT = Prompt((Message("user", "Count."),), Sampling(max_tokens=1), "One, two,")
"""Prompt with a begun answer, with which the engine finds out whether the server
continues begun answers."""
Spoken = tuple[str, ...]
"""Names of the dialects in which a request is sent, in the order in which they were
found."""


class OpenAIEngine(Client, Engine):
    """An engine that asks one model of one server.

    Raises `EngineError`, before any request, if the key is unset or the address is
    invalid.
    """

    _prefill: asyncio.Task[None] | None = None
    """Task that checks whether the server continues begun answers; None if no check has
    begun."""
    _spoken: Spoken = ()
    _trials = 0
    _answered = 0
    """Number of characters of the longest prompt that was answered."""

    def __init__(self, entry: ModelEntry, settings: Settings) -> None:
        base_url = address_of(entry.name, settings)
        key = key_in(settings.key_variable, entry.name)
        self.entry = entry
        try:
            super().__init__(f"{entry.name} ({entry.id}) at {base_url}", settings, key)
            with only_for_openai(base_url):
                self.client = AsyncOpenAI(
                    api_key=key or "none",  # the client insists on one
                    base_url=base_url,
                    max_retries=settings.retries,
                    http_client=self,
                )
        except Exception as error:  # what the libraries read in the environment
            words = Secret(key).quote(str(error))
            fault = f"{entry.name}: no connection can be set up: {words}"
            raise EngineError(fault) from None
        self.concurrency = settings.concurrency
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._texts: Texts = {}
        self._announced = set(entry.adapted)
        """Names of the dialects that the console has reported."""
        self._searching = asyncio.Lock()
        self._unfit: dict[int, int] = {}
        """Number of characters of the shortest prompt that proved too long, by the
        request's `max_tokens`."""

    async def close(self) -> None:
        await self.client.close()

    async def answer(self, request: Request) -> Response:
        """Return the response to `request`.

        If the answer is empty, the prompt counts as too long if it is longer than every
        answered prompt and its shortened form is answered.

        Raises `RequestFailed`, with the outcome that the server's refusal shows, if
        this request fails; `EngineError` if no request can succeed; and `BudgetReached`
        before a limit is crossed.
        """
        try:
            response = await self._in_dialect(request)
        except Exception as error:
            raise await self._judged(error, request) from None
        length = request.prompt.characters
        if response.text.strip():
            self._answered = max(length, self._answered)
            return response
        ended = response.finish_reason == "stop" or (
            response.usage.completion_tokens == 0
        )
        if ended and length > self._answered and await self._fits_shorter(request):
            raise self.failed(
                "the answer is empty, that to a shorter prompt is not",
                Outcome.DOES_NOT_FIT,
            )
        return response

    async def _judged(self, error: Exception, request: Request) -> Exception:
        """Return the failure of `request`, for which the client raised `error`, with
        the outcome that the server's refusal shows.

        If the server allows no answer as long as requested, the failure is an
        `AnswerTooLong`. If the refusal is ambiguous, a shorter prompt is sent first.
        """
        failure = self.failure(error)
        prompt, limit, status = request.prompt, "", 0
        if isinstance(error, APIStatusError):
            status = error.status_code
            limit = limit_of(status, error.response.text, prompt)
            if status == 403 and self._answered and not limit:
                # The account may use the model: a firewall refuses this prompt.
                return RequestFailed(str(failure).partition("\n")[0])
        if not isinstance(failure, RequestFailed):
            return failure
        if status:
            failure.outcome = OUTCOMES.get(limit, Outcome.HARNESS_ERROR)
        is_silent = status in SUSPICIOUS and not limit
        is_silent = is_silent or isinstance(failure.__cause__, NoTextError)
        is_silent = is_silent and prompt.characters > self._answered
        if limit in ("answer", "excess", "memory") or is_silent:
            fits = await self._fits_shorter(request)
            failure.outcome = Outcome.DOES_NOT_FIT if fits else Outcome.HARNESS_ERROR
        if failure.outcome is not Outcome.HARNESS_ERROR:
            return failure
        if limit == "answer" and status in SUSPICIOUS:
            remedy = REMEDIES["long answer"].format(prompt.sampling.max_tokens)
            return AnswerTooLong(f"{failure}\n{remedy}")
        replied = failure.__cause__ or 0 < status < 500
        if replied and not limit and not self._answered:
            return RequestFailed(f"{failure}\n{REMEDIES['another API']}")
        return failure

    async def _fits_shorter(self, request: Request) -> bool:
        """Return whether the model answers `request` when its prompt is shortened.

        Return False, without a try, if the prompt is short already, and True, without a
        try, if a prompt of at most its length proved too long before.
        """
        prompt = request.prompt
        limit, length = prompt.sampling.max_tokens, prompt.characters
        if length >= self._unfit.get(limit, math.inf):
            return True
        shorter = shortened(prompt)
        if 2 * shorter.characters >= length:
            return False
        with suppress(RequestFailed):
            response = await self.answer(replace(request, prompt=shorter))
            if not response.refused and response.usage.completion_tokens != 0:
                self._unfit[limit] = length
                return True
        return False

    async def _in_dialect(self, request: Request) -> Response:
        """Return the response to `request`, sent in the dialect that the server takes.

        If a refusal shows that the server takes another form of requests (a dialect),
        this and all later requests are sent in that form. A refusal by the server's
        filter becomes a response with the finish reason `content_filter`. Raises the
        client's errors.
        """
        while True:
            spoken = self._spoken
            try:
                return await self._sent(request, spoken)
            except APIStatusError as error:
                refusal = error
            if limit_of(refusal.status_code, refusal.response.text) == "filter":
                return Response("", "content_filter", answered_at=now())
            async with self._searching:
                # Another request may have found a dialect meanwhile.
                if self._spoken == spoken:
                    return await self._adapted(request, refusal, spoken)

    async def _adapted(
        self, request: Request, refusal: APIStatusError, spoken: Spoken
    ) -> Response:
        """Return the response to `request`, which the server refused by `refusal` in
        the dialects `spoken`, in the first other dialects that the server answers.

        Later requests use the same dialects. The dialects whose signs the refusal bears
        are tried one by one, then together. If a change leads to a refusal with other
        signs, further changes are added to it first. Raises `refusal` if no change is
        answered.
        """
        signs = dialects_in(refusal.status_code, refusal.response.text)
        body = request_body(request, self.settings, spoken)
        names = []
        for name in signs:
            if request_body(request, self.settings, (*spoken, name)) != body:
                names.append(name)
        # An error of the server may have passed, and then is no dialect.
        first = 0 if refusal.status_code >= 500 else 1
        sizes = range(first, len(names) + 1) if names else ()
        for added in chain.from_iterable(combinations(names, size) for size in sizes):
            if self._trials == MOST_TRIALS:
                break
            self._trials += 1
            change = (*spoken, *added)
            try:
                response = await self._sent(request, change)
                self._spoken = change
                return response
            except APIStatusError as error:
                if dialects_in(error.status_code, error.response.text) != signs:
                    with suppress(APIStatusError):
                        return await self._adapted(request, error, change)
        raise refusal

    async def _sent(self, request: Request, spoken: Spoken) -> Response:
        """Return the response to `request`, sent in the dialects `spoken`; send the
        request again if the reply is not a completion.

        Raises the client's errors, and `RequestFailed` if no try gets a completion.
        """
        if request.prompt.prefill and self.settings.endpoint == "chat":
            check = self._prefill or asyncio.create_task(self._check_prefill(request))
            self._prefill = check
            await asyncio.shield(check)
        body = request_body(request, self.settings, spoken)
        for pause in PAUSES_S[: self.settings.retries + 1]:
            await asyncio.sleep(pause)
            reply = await self._post(request, body)
            try:
                return self._read(reply, request, spoken)
            except ValueError as error:
                fault = error
        words = self.secret.quote(reply.text)
        message = f"the reply is not a chat completion ({fault}): {words or 'nothing'}"
        failure = self.failed(message)
        if LACKS_ITS_END.match(str(fault)):
            failure.outcome = Outcome.CUT_REPLY
        raise failure from fault

    async def _post(self, request: Request, body: dict[str, Any]) -> httpx2.Response:
        MOST.set(most_tokens(request, body.get("prompt", "")))
        path = "/completions" if "prompt" in body else "/chat/completions"
        # The client's `create` checks again what is sent, a third of all the time.
        async with self._slots:
            return await self.client.post(path, cast_to=httpx2.Response, body=body)

    def _read(
        self, reply: httpx2.Response, request: Request, spoken: Spoken
    ) -> Response:
        """Return the response in `reply` to `request`, with the dialects `spoken` and
        those of the reply.

        Dialects that are new are reported on the console. Raises `ValueError` if the
        reply is not a completion or answers another request.
        """
        content = parse_json(reply.content)
        prompt = request.prompt
        seconds = reply.elapsed.total_seconds()
        most = prompt.sampling.max_tokens
        response = response_of(content, seconds, self.secret, most)
        name = str(value_at(content, "id") or "")
        if response.text and name:
            text = f"{value_at(content, 'created')} {response.text}"
            check_repeat(self._texts, name, text, prompt.digest)
        spoken = (*spoken, *response.dialects)
        for name in sorted(set(spoken) - self._announced):
            done = DIALECTS[name].line
            say(f"{self.entry.name}: its server speaks a dialect: {done}")
        self._announced.update(spoken)
        return replace(response, dialects=spoken)

    async def _check_prefill(self, request: Request) -> None:
        """Raise `NoContinuationError` unless the server verifiably continues begun
        answers of the model that `request` asks.

        The server completes the prompt `COUNT` by one token twice: with the begun
        answer left open, and with the answer closed. The server continues begun answers
        only if the open prompt has fewer tokens than the closed prompt.
        """
        fault = "settings.prefill is 'none'"
        if self.settings.prefill != "none":
            request = replace(request, prompt=COUNT)
            body = request_body(request, self.settings)
            counts = []
            try:
                for left_open in (True, False):
                    body["continue_final_message"] = left_open
                    reply = await self._post(request, body)
                    counts.append(usage_in(reply.content).prompt_tokens or 0)
                opened, closed = counts
                if 0 < opened < closed:
                    return
                fault = (
                    "its counts do not show that it leaves the answer open "
                    f"({opened} tokens open, {closed} closed)"
                )
            except (BudgetReached, RateLimitError):
                # Nothing is known of the server: the next request checks again.
                self._prefill = None
                raise
            except Exception as error:  # it costs the feature, not the run
                fault = f"the probe failed: {self.failure(error)}".rstrip(".")
        raise self.not_continued(fault)

    def not_continued(self, fault: str) -> NoContinuationError:
        """Return the error for a begun answer that the server does not continue because
        of `fault`."""
        return NoContinuationError(
            f"{self.who}: this endpoint cannot continue a begun answer, and the prompt "
            f"begins one: {fault}.\n{REMEDIES['begun answer']}"
        )
