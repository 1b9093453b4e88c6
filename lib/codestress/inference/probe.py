"""A probe of a model's abilities by a handful of requests, so that no study discovers a gap midway.

The store keeps the responses to a probe like any others, under keys with the row's revision.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from codestress.errors import EngineError, ParameterError
from codestress.inference.budget import Budget
from codestress.inference.coroutines import run_coroutine
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.dialects import adapted
from codestress.inference.opening import open_engine
from codestress.inference.registry import (
    REGISTRY,
    SERVED,
    ModelEntry,
    keep,
    load_registry,
)
from codestress.inference.requests import as_sent
from codestress.inference.served import function_in, served_at
from codestress.inference.servers import server_of
from codestress.inference.store import Store
from codestress.paths import STORE, shown
from codestress.types import Message, Prompt, Request, Response, Sampling, Usage

MOST_AT_ONCE = 64
"""Maximum number of requests that a probe sends at the same time."""
CALLED = (
    "(messages, prefill=…, temperature=…, top_p=…, max_tokens=…, stop=…), "
    "messages being dictionaries of role and content, and returns the answer's text."
)
"""End of a sentence that begins with a function's name: how the kit calls the function."""
SUM = "What is 17 + 25? Answer with the number alone."


@dataclass(frozen=True)
class Ability:
    """One ability of a model that was tried: its `what` names it, its `can` says whether the model
    has it, and its `detail` says in words how it showed."""

    what: str
    can: bool
    detail: str


def name_of(model: str, model_id: str, key_env: str, *, ask: bool) -> str:
    """Returns the name of the registry row for `model`, given by name, by URL or as
    FILE.py:FUNCTION; a plain name is returned unchanged and unchecked.

    Rows made from a URL or a function are written to the file `SERVED`; for a URL, `model_id` and
    `key_env` are those of `served_at`. With `ask` a short request tries the model first. Raises
    `ParameterError` for a bad URL or id and where another model's row has the name, and
    `EngineError` where the server or, with `ask`, the model does not answer.
    """
    if "://" not in model and ".py:" not in model:
        return model
    rows = load_registry(SERVED) if SERVED.is_file() else {}
    advice = ""
    try:
        if "://" in model:
            entry = served_at(model, model_id, key_env, "--models")
            entry = _as_saved(entry, rows.get(entry.name))
        else:
            entry = function_in(model)
            advice = f"\nIt is called as {entry.id}{CALLED}"
        _check_name(model, entry)
        entry = checked(entry) if ask else entry
    except EngineError as error:
        place = urlsplit(model).netloc or model
        names = [name for name, row in rows.items() if place in " ".join(_place(row))]
        if names:
            known = " or ".join(names)
            advice += f"\nTo use its answers without it: MODELS={known}"
        raise EngineError(f"{error}{advice}") from None
    keep(entry)
    return entry.name


def _as_saved(entry: ModelEntry, saved: ModelEntry | None) -> ModelEntry:
    """Returns `saved`, the registry row that an earlier command line saved, with the settings that
    its try of the model found. Returns `entry`, the row of this command line, where `saved` is None
    or names another model, revision, address or key's variable."""
    if saved is None or saved.settings.get("key_env") != entry.settings["key_env"]:
        return entry
    same = (saved.id, saved.revision) == (entry.id, entry.revision)
    return saved if same else entry


def _check_name(model: str, entry: ModelEntry) -> None:
    other = _place(load_registry().get(entry.name, entry))
    if other != _place(entry):
        raise ParameterError(
            f"{model}: its name {entry.name} is that of {' at '.join(other)}, in "
            f"{shown(SERVED)} or {shown(REGISTRY)}; rename that row, or remove it"
        )


def _place(entry: ModelEntry) -> tuple[str, str]:
    """Returns the id of the registry row `entry`, and the address or function that answers for
    it."""
    place = entry.settings.get("base_url") or entry.settings.get("function")
    return entry.id, str(place)


def begins(entry: ModelEntry) -> bool:
    """Whether the registry row `entry` says that its server continues an answer that a request
    begins: by a setting `prefill` other than "none", or the setting `endpoint: completions`."""
    if entry.settings.get("endpoint") == "completions":
        return True
    return bool(entry.settings.get("prefill", "none") != "none")


def checked(entry: ModelEntry) -> ModelEntry:
    """Tries the model of the registry row `entry` with one short request and returns the row,
    adapted to the dialect in which its server answers; where the server does not continue a begun
    answer, a copy with the setting `prefill` "none", tried again.

    Raises `EngineError` where the model does not answer.
    """
    if begins(entry):
        try:
            return run_coroutine(_tried(entry, "One, two,"))
        except EngineError as error:
            if "cannot continue a begun answer" not in str(error):
                raise
        settings = {**entry.settings, "prefill": "none"}
        entry = entry.model_copy(update={"settings": settings})
    return run_coroutine(_tried(entry, ""))


async def _tried(entry: ModelEntry, prefill: str) -> ModelEntry:
    """Returns the registry row `entry`, adapted to the dialect in which the server answered one
    short request with a system message and the begun answer `prefill`."""
    opening = (Message("system", "Answer in few words."),)
    async with Asker(entry) as asker:
        answer = await asker.ask(
            "Count from 1 to 3.", prefill, opening=opening, max_tokens=16
        )
    return adapted(entry, answer.dialects)


class Asker:
    """Sends the model of a registry row short requests within the environment's budget, between
    `async with Asker(entry) as asker` and the end of the block. Responses are kept in the store."""

    def __init__(self, entry: ModelEntry) -> None:
        self._budget = Budget.from_environment()
        self._budget.check(entry)
        self._entry = entry
        self._engine = open_engine(entry)
        self._store = Store(STORE)
        self._server = server_of(entry)
        self.concurrency = self._engine.concurrency
        """Number of requests that the engine takes at once."""

    async def __aenter__(self) -> Asker:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._engine.close()
        self._store.close()

    async def ask(
        self,
        text: str,
        prefill: str = "",
        sample: int = 0,
        anew: bool = False,
        opening: tuple[Message, ...] = (),
        max_tokens: int = 64,
        **sampling: Any,
    ) -> Response:
        """Returns the response to the user's message `text`, after the messages `opening`, with the
        begun answer `prefill`: the stored one of the same server, unless `anew`, else a new one.
        `sampling` are further fields of `Sampling`. Raises `EngineError` where no response comes,
        and `BudgetReached` at a limit."""
        entry = self._entry
        messages = (*opening, Message("user", text))
        prompt = Prompt(messages, Sampling(max_tokens=max_tokens, **sampling), prefill)
        request = as_sent(Request(entry.id, entry.identity, prompt, sample), entry)
        # An answer is begun in another way, or by another server, than the stored one.
        if not anew and (begins(entry) or not prefill):
            stored = self._store.get([request.key]).get(request.key)
            if stored is not None and stored.server == self._server:
                return stored
        response = await self._answer(request)
        request = as_sent(request, adapted(entry, response.dialects))
        self._store.put(request.key, entry.name, response)
        return response

    async def _answer(self, request: Request) -> Response:
        until = self._budget.until
        seconds = None if until is None else until - time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                response = await self._budget.answer(self._engine, self._entry, request)
        except TimeoutError:
            raise EngineError(
                f"{self._entry.name}: a short question has no answer within the minutes"
            ) from None
        except RequestFailed as failure:
            raise EngineError(f"{failure}") from None
        return replace(response, server=response.server or self._server)


async def probe(entry: ModelEntry) -> AsyncIterator[Ability]:
    """Yields, one by one, the abilities (`Ability`) that the studies need of the model of the
    registry row `entry`, each after trying it, also those that it lacks. Raises `EngineError` where
    a request is not answered."""
    async with Asker(entry) as asker:
        ask = asker.ask
        first = await ask(SUM)
        detail = f"{_start(first)} in {first.seconds:.2f} s"
        yield Ability("answers", not first.refused, detail)
        detail = "a model that cannot add will not read programs"
        yield Ability("knows a sum", "42" in first.text, detail)
        again = await ask(SUM, sample=1)
        same = again.text == first.text
        detail = "" if same else _start(again)
        yield Ability("says the same again at temperature 0", same, detail)
        by = first.answered_by
        detail = by or "manifests cannot name it"
        yield Ability("says which model it is", bool(by), detail)
        counts = first.usage.prompt_tokens is not None
        yield Ability("reports tokens", counts, _tokens(first.usage))
        short = await ask("Count from 1 to 100, separated by commas.", max_tokens=8)
        is_cut = short.finish_reason == "length"
        detail = f"{short.finish_reason}: {_start(short)}"
        yield Ability("is cut off where max_tokens says", is_cut, detail)
        stopped = await ask("Count from 1 to 20, separated by commas.", stop=("7",))
        detail = f"{stopped.text.strip()[-60:]!r}"
        yield Ability("stops at a stop sequence", "8" not in stopped.text, detail)
        yield await _samples(asker)
        yield await _continues(asker)
        yield await _answers_together(asker)


def _start(response: Response) -> str:
    return f"{response.text.strip()[:60]!r}"


def _tokens(usage: Usage) -> str:
    """Returns the counts of tokens in `usage` in words, or what their absence costs."""
    words = []
    for field, count in asdict(usage).items():
        if count is not None:
            name = field.removesuffix("_tokens").replace("completion", "answer")
            words.append(f"{name} {count}")
    return ", ".join(words) or "budgets in tokens and dollars cannot hold"


async def _samples(asker: Asker) -> Ability:
    """Tries by `asker` whether four samples at temperature 1 differ."""
    requests = []
    for sample in range(4):
        requests.append(
            asker.ask("Name a random animal.", temperature=1.0, sample=sample)
        )
    # At once, as builds ask.
    answers = await asyncio.gather(*requests)
    count = len({answer.text for answer in answers})
    detail = f"{count} different answers of 4"
    return Ability("samples at temperature 1", count > 1, detail)


async def _continues(asker: Asker) -> Ability:
    """Tries by `asker` whether the model continues an answer that is begun for it, and
    returns this ability; the model lacks it where an `EngineError` is raised."""
    what = "continues a begun answer"
    try:
        begun = await asker.ask(SUM, prefill="The answer is 4")
    except EngineError as error:  # the engine's own check, which every build makes
        return Ability(what, False, str(error).split("\n")[-1])
    detail = _start(begun)
    if not begun.text.lstrip().startswith("2"):
        detail += ", which is not how 42 goes on"
    return Ability(what, True, detail)


async def _answers_together(asker: Asker) -> Ability:
    """Sends as many requests at the same time as builds do, at most `MOST_AT_ONCE`, and returns the
    server's ability to answer them; the server lacks it where one of them fails."""
    many = min(asker.concurrency, MOST_AT_ONCE)
    requests = []
    for number in range(many):
        requests.append(asker.ask(f"What is {number} + {number}?", anew=True))
    answers = await asyncio.gather(*requests, return_exceptions=True)
    failed = [answer for answer in answers if isinstance(answer, BaseException)]
    detail = ""
    if failed:
        remedy = "the row's settings.concurrency says how many builds ask at once"
        detail = f"{failed[0]}; {remedy}"
    return Ability(
        f"answers {many} questions at once, as builds ask", not failed, detail
    )
