"""The engine that asks one model of one OpenAI-compatible server.

OpenAI's client retries failures that may pass (408, 409, 429, 5xx, time-outs, broken connections)
with backoff and jitter, and waits as long as `Retry-After` says, up to two minutes; a longer wait
fails the request at once. Replies that the client would accept as answers (HTML, other JSON, the
answer to another request) are retried here. At most `settings.concurrency` requests are in flight
at the same time, their waits between tries included.
"""

import asyncio
import re
import sys
from dataclasses import replace
from typing import Any

import httpx2
from openai import AsyncOpenAI
from tqdm import tqdm

from codestress.errors import EngineError
from codestress.literals import parse_json
from codestress.types import Message, Outcome, Prompt, Request, Response, Sampling

from ..budget import Budget, BudgetReached
from ..network import Secret, only_for_openai
from ..registry import ModelEntry
from . import dialects
from .base import Engine
from .openai import (
    Settings,
    fault_of_address,
    key_in,
    request_body,
)
from .openai_client import Client
from .refusals import Dialogue
from .replies import response_of, usage_in, value_at

GARBLED_RETRIES = 2
"""Maximum number of retries of a request with an invalid reply."""
GARBLED_PAUSE_S = 0.5
"""Seconds to wait before the second try of a request with an invalid reply; doubled before the
third."""
LACKS_ITS_END = re.compile(r"Unterminated|Expecting (?!value: line \d+ column 1 )")
"""Regular expression for the parser's words on JSON texts whose end is missing."""

NO_PREFILL = """this endpoint cannot continue a begun answer, and the prompt begins one: {}.
SET=prefill=user has the question begin it, as the paper did for GPT 4.1. In params/models.yaml, \
settings.prefill: vllm is for a vLLM server, `endpoint: completions` with the model's chat_template \
for any with /v1/completions."""


class OpenAIEngine(Engine):
    """An engine that asks one model of one server. Raises `EngineError`, before any request, where
    the key is unset or the address is invalid."""

    budget: Budget
    """The budget that counts each try; without limits until a caller sets another."""

    def __init__(self, entry: ModelEntry, settings: Settings) -> None:
        self._name = entry.name
        self._settings = settings
        self.concurrency = settings.concurrency
        base_url = _address(entry.name, settings)
        key = key_in(settings.key_variable, entry.name)
        self.secret = Secret(key)
        self.budget = Budget()
        try:
            self.http = Client(entry, settings, self.secret, lambda: self.budget)
            with only_for_openai(base_url):
                self.client = AsyncOpenAI(
                    api_key=key or "none",  # the client insists on one
                    base_url=base_url,
                    max_retries=settings.retries,
                    http_client=self.http,
                )
        except Exception as error:  # what the libraries read in the environment
            words = self.secret.shown(str(error))
            raise EngineError(
                f"{entry.name}: no connection can be set up: {words}"
            ) from None
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._dialogue = Dialogue(settings, self.http, self._sent)
        self._prefill: asyncio.Task[str] | None = None
        """Search for the reason why begun answers are not continued."""
        self._prompts: dict[int, str] = {}
        """Digest of the prompt that each reply answered, by the reply's hash."""
        self._announced = set(entry.adapted)
        """Names of the dialects that the console has reported."""

    async def answer(self, request: Request) -> Response:
        return await self._dialogue.answer(request)

    async def close(self) -> None:
        await self.client.close()

    async def _sent(self, request: Request, spoken: tuple[str, ...]) -> Response:
        """Returns the response to `request`, which is sent in the dialects `spoken`, again where
        the reply is none. Raises the client's errors."""
        if request.prompt.prefill and self._settings.endpoint == "chat":
            await self._check_prefill(request)
        body = request_body(request, self._settings, spoken)
        retries = min(self._settings.retries, GARBLED_RETRIES)
        for number in range(retries + 1):
            if number:
                await asyncio.sleep(GARBLED_PAUSE_S * 2 ** (number - 1))
            async with self._slots:
                reply = await self._post(body)
            try:
                return self._read(reply, request, spoken)
            except ValueError as error:
                fault = error
        words = self.secret.shown(reply.content)
        message = f"the reply is not a chat completion ({fault}): {words or 'nothing'}"
        is_cut = LACKS_ITS_END.match(str(fault))
        outcome = Outcome.CUT_REPLY if is_cut else Outcome.HARNESS_ERROR
        raise self.http.failed(message, outcome) from fault

    async def _post(self, body: dict[str, Any]) -> httpx2.Response:
        path = "/completions" if "prompt" in body else "/chat/completions"
        # The client's `create` checks again what is sent, a third of all the time.
        return await self.client.post(path, cast_to=httpx2.Response, body=body)

    def _read(
        self, reply: httpx2.Response, request: Request, spoken: tuple[str, ...]
    ) -> Response:
        """Returns the response in `reply` to `request`, with the dialects `spoken` and those of the
        reply; raises `ValueError` where it is none, or the answer to another request."""
        content = parse_json(reply.content)
        prompt = request.prompt
        seconds = reply.elapsed.total_seconds()
        most = prompt.sampling.max_tokens
        response = response_of(content, seconds, self.secret, most)
        name = value_at(content, "id")
        if name and isinstance(name, str):
            # A cache or proxy that mixes replies up sends one to another prompt too.
            created = str(value_at(content, "created"))
            same = hash((name, created, response.text))
            if self._prompts.setdefault(same, prompt.digest) != prompt.digest:
                raise ValueError(
                    "it repeats, with its id and time, the answer to another request"
                )
        spoken = (*spoken, *response.dialects)
        for name in sorted(set(spoken) - self._announced):
            line = dialects.DIALECTS[name].line
            tqdm.write(f"{self._name}: its server speaks a dialect: {line}", sys.stderr)
        self._announced.update(spoken)
        return replace(response, dialects=spoken)

    async def _check_prefill(self, request: Request) -> None:
        """Checks once that the server continues answers that prompts begin, as that of `request`
        does; raises `EngineError` where this is not verified."""
        if self._prefill is None:
            self._prefill = asyncio.create_task(self._fault_of_prefill(request))
        if fault := await asyncio.shield(self._prefill):
            raise EngineError(f"{self.http.who}: {NO_PREFILL.format(fault)}")

    async def _fault_of_prefill(self, request: Request) -> str:
        """Returns the reason why the server does not continue begun answers of the model that
        `request` asks; empty where it verifiably continues them.

        The server continues two messages by one token, once with the last answer left open and once
        with it closed: only where the first prompt has fewer tokens is the answer left open.
        """
        if self._settings.prefill == "none":
            return "settings.prefill is 'none'"
        counts = []
        prompt = Prompt(
            (Message("user", "Count."),), Sampling(max_tokens=1), "One, two,"
        )
        body = request_body(replace(request, prompt=prompt), self._settings)
        for left_open in (True, False):
            body["continue_final_message"] = left_open
            try:
                reply = await self._post(body)
            except BudgetReached:
                raise
            except Exception as error:  # it costs the feature, not the run
                return f"the probe failed: {self.http.failure(error)}"
            counts.append(usage_in(reply.content).prompt_tokens)
        opened, closed = counts
        if opened is not None and closed is not None and opened < closed:
            return ""
        return (
            "its counts do not show that it leaves the answer open "
            f"({opened} tokens open, {closed} closed)"
        )


def _address(name: str, settings: Settings) -> str:
    """Returns the address of the server by `settings` of the model `name`, and says on the console
    where it differs from the given one. Raises `EngineError` for an invalid address."""
    given = settings.override or settings.base_url
    if fault := fault_of_address(given, "settings.key_env"):
        # An environment variable may hold a secret by mistake: its value is never shown.
        source = "settings.base_url"
        if settings.override:
            source = f"the environment variable {settings.base_url_env}"
        raise EngineError(f"{name}: {source} {fault}")
    address = settings.address
    if address != given.rstrip("/"):
        tqdm.write(f"{name}: its server is asked at {address}", sys.stderr)
    return address
