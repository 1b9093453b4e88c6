"""What a model can: what its server says, and what a handful of requests shows, so that a study does not find it out.

A model that a URL names becomes a row of the registry by what an OpenAI-compatible server says that it serves; builds
keep such rows in outputs/models.yaml, which the registry reads beside params/models.yaml. No answer here is stored.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from codestress.errors import EngineError, ParameterError
from codestress.inference.budget import Budget
from codestress.inference.coroutines import run_coroutine
from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.openai import fault_of_address, key_in
from codestress.inference.opening import open_engine
from codestress.inference.registry import SERVED, ModelEntry, load_registry
from codestress.inference.servers import server_of
from codestress.literals import parse_json
from codestress.paths import write_whole
from codestress.types import Message, Prompt, Request, Response, Sampling
from codestress.validation import nearest

LOOK_S = 2.0
"""How long a server on loopback may take to say what it serves."""
ANSWER_S = 10.0
"""How long any other may."""
MOST_BYTES = 4_000_000
"""Of what a server says of itself."""
CONTEXT_FIELDS = ("max_model_len", "loaded_context_length", "context_length", "n_ctx")
"""Where servers say how many tokens they take; a context that was trained, not loaded, is none of them."""
CONTEXT_PLACES = {"/api/v0/models": "data", "/api/ps": "models", "/props": "default_generation_settings"}
"""Where servers say it beside `/v1/models`: LM Studio, Ollama (which cuts what is longer, silently), llama.cpp."""
MOST_AT_ONCE = 64
"""Questions of a probe."""


def served_at(url: str, model_id: str, key_env: str, who: str) -> ModelEntry:
    """A model that an OpenAI-compatible server offers, the only one where it offers one alone; `who` asks for it."""
    if fault := fault_of_address(url, "KEY_ENV (--key-env)"):
        raise ParameterError(f"{who}: the URL {fault}")
    base_url = url.rstrip("/")
    if not urlsplit(base_url).path.strip("/"):
        base_url += "/v1"
    key = key_in(key_env, f"{who} {url}")
    served = models_of(base_url, key, ANSWER_S)
    if not model_id and len(served) != 1:
        names = "\n".join(f"  ID={name}" for name in served) or "  none"
        raise ParameterError(f"{who} {url}: the server offers {len(served)} models; say which:\n{names}")
    if model_id and served and model_id not in served:
        raise ParameterError(f"{who} {url}: the server offers no {model_id!r}{nearest(model_id, served)}")
    chosen = model_id or next(iter(served))
    where = urlsplit(base_url)
    name = f"{chosen}@{where.hostname}{f'-{where.port}' if where.port else ''}"
    return ModelEntry(
        name=re.sub(r"[^\w.@-]+", "-", name).strip("-.")[:80],  # for folders and figures
        engine="openai",
        id=chosen,
        # Another server's model of the same name is another model.
        revision=f"at {base_url}",
        context=served.get(chosen),
        settings={"base_url": base_url, "key_env": key_env, "prefill": "vllm"},
        archive=None,
    )


def begins(entry: ModelEntry) -> bool:
    """Whether its row says that it continues a begun answer."""
    return entry.settings.get("prefill", "none") != "none" or entry.settings.get("endpoint") == "completions"


def checked(entry: ModelEntry) -> tuple[ModelEntry, list[str]]:
    """The row and, in words, what was found out by one short question: what it cannot do is worked around.

    `EngineError` where nothing can be asked."""
    fault = run_coroutine(fault_of(entry, "One, two," if begins(entry) else ""))
    told = [f"it does not continue a begun answer ({fault})"] if fault else []
    if fault:
        entry = entry.model_copy(update={"settings": {**entry.settings, "prefill": "none"}})
        run_coroutine(fault_of(entry, ""))
    if entry.context is None:
        context = loaded_context(entry)
        entry = entry.model_copy(update={"context": context})
        told += [] if context else ["it does not say how long a prompt may be"]
    return entry, told


def loaded_context(entry: ModelEntry) -> int | None:
    """Tokens for which a local server has loaded a model that has just answered; None where it does not say."""
    import httpx2

    address = server_of(entry).split(" by ")[0].removesuffix("/v1")
    if urlsplit(address).hostname != "localhost":
        return None
    for place, within in CONTEXT_PLACES.items():
        try:
            status, content = _fetched(f"{address}{place}", "", LOOK_S)
            found = parse_json(content)[within] if status == 200 else []
        except (httpx2.HTTPError, ValueError, KeyError, TypeError):
            continue
        rows = found if isinstance(found, list) else [found]
        for row in rows:
            named = {row.get("id"), row.get("name")} - {None} if isinstance(row, dict) else {None}
            if (not named or entry.id in named) and (context := _context(row)):
                return context
    return None


def models_of(base_url: str, key: str, timeout_s: float) -> dict[str, int | None]:
    """What a server says that it serves, with the context of each where it says so; `EngineError` where it is none."""
    import httpx2

    try:
        status, content = _fetched(f"{base_url}/models", key, timeout_s)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise EngineError(f"{base_url}: no server answers ({error}); start it, or correct the URL") from None
    if status != 200:
        remedy = "name the key's variable by KEY_ENV=…" if status in (401, 403) else "the URL of most ends in /v1"
        raise EngineError(f"{base_url}/models: status {status}; {remedy}")
    try:
        return {str(row["id"]): _context(row) for row in parse_json(content)["data"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise EngineError(f"{base_url}/models: is no list of models; the URL of most servers ends in /v1") from None


def _fetched(url: str, key: str, timeout_s: float) -> tuple[int, bytes]:
    """Status and body: all of it within the time, and no more than a list of models can need."""
    import httpx2

    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
    until, content = time.monotonic() + timeout_s, b""
    with httpx2.stream("GET", url, headers=headers, timeout=timeout_s, follow_redirects=False) as reply:
        for part in reply.iter_raw():
            content += part
            if len(content) > MOST_BYTES or time.monotonic() > until:
                raise httpx2.ReadTimeout("its reply does not end")
        return reply.status_code, content


def _context(row: Any) -> int | None:
    places = [row, row.get("meta") or {}]
    for place in places:
        for name in CONTEXT_FIELDS:
            if isinstance(place, dict) and type(place.get(name)) is int and place[name] > 0:
                return int(place[name])
    return None


def row_at(url: str, model_id: str, key_env: str, *, ask: bool) -> ModelEntry:
    """The same as a row of `SERVED`, where it is written; `ask` says whether a short question may try it out."""
    rows = load_registry(SERVED) if SERVED.is_file() else {}
    try:
        entry = served_at(url, model_id, key_env, "--models")
        entry = checked(entry)[0] if ask else rows.get(entry.name, entry)
    except EngineError as error:
        known = f"\nTo use its answers without it: MODELS={' or '.join(rows)}" if rows else ""
        raise EngineError(f"{error}{known}") from None
    write_registry({**rows, entry.name: entry}.values(), SERVED)
    return entry


def write_registry(entries: Iterable[ModelEntry], path: Path) -> None:
    """A registry of these rows."""
    rows = {one.name: one.model_dump(exclude={"name", "archive"}, exclude_defaults=True) for one in entries}
    write_whole(path, yaml.safe_dump(rows, allow_unicode=True, sort_keys=False))


@dataclass(frozen=True)
class Ability:
    """One thing that was tried."""

    what: str
    can: bool
    detail: str


Ask = Callable[..., Awaitable[Response]]
"""Asks one question: its text, a begun answer, the number of the sample, and what else of `Sampling` is to be said."""


@asynccontextmanager
async def asking(entry: ModelEntry) -> AsyncIterator[tuple[Ask, int]]:
    """What asks a model one question, within the budget of the environment, and how many it takes at once;
    `EngineError` where one brings no answer."""
    budget = Budget.from_environment()
    budget.check(entry)
    engine = open_engine(entry)

    async def ask(text: str, prefill: str = "", sample: int = 0, **sampling: Any) -> Response:
        prompt = Prompt((Message("user", text),), Sampling(**{"max_tokens": 64, **sampling}), prefill)
        try:
            return await budget.answer(engine, entry, Request(entry.id, entry.identity, prompt, sample))
        except RequestFailed as failure:
            raise EngineError(f"{failure}") from None

    try:
        yield ask, engine.concurrency
    finally:
        await engine.close()


async def fault_of(entry: ModelEntry, prefill: str) -> str:
    """Why a begun answer is not continued; empty where all is well, `EngineError` where nothing is answered."""
    async with asking(entry) as (ask, _):
        try:
            await ask("Count from 1 to 3.", prefill, max_tokens=16)
        except EngineError as error:
            if prefill and "cannot continue a begun answer" in str(error):
                return str(error).split("begins one: ")[1].split(".\n")[0]
            raise
    return ""


async def probe(entry: ModelEntry) -> AsyncIterator[Ability]:
    """Tries what the studies need of a model. `EngineError` where nothing can be asked."""
    async with asking(entry) as (ask, concurrency):
        question = "What is 17 + 25? Answer with the number alone."
        first = await ask(question)
        yield Ability("answers", not first.refused, f"{first.text.strip()[:60]!r} in {first.seconds:.2f} s")
        yield Ability("knows a sum", "42" in first.text, "a model that cannot add will not read programs")
        again = await ask(question, sample=1)
        same = again.text == first.text
        yield Ability("says the same again at temperature 0", same, "" if same else f"{again.text.strip()[:60]!r}")
        by = first.answered_by
        yield Ability("says which model it is", bool(by), by or "manifests cannot name it")
        counts = zip(("prompt", "answer", "reasoning", "cached"), astuple(first.usage), strict=True)
        told = ", ".join(f"{name} {value}" for name, value in counts if value is not None)
        counted = first.usage.prompt_tokens is not None
        yield Ability("reports tokens", counted, told or "budgets in tokens and dollars cannot hold")
        short = await ask("Count from 1 to 100, separated by commas.", max_tokens=8)
        cut = short.finish_reason == "length"
        yield Ability("is cut off where max_tokens says", cut, f"{short.finish_reason}: {short.text.strip()[:60]!r}")
        stopped = await ask("Count from 1 to 20, separated by commas.", stop=("7",))
        yield Ability("stops at a stop sequence", "8" not in stopped.text, f"{stopped.text.strip()[-60:]!r}")
        four = [ask("Name a random animal.", temperature=1.0, sample=n) for n in range(4)]  # at once, as builds ask
        warm = {one.text for one in await asyncio.gather(*four)}
        yield Ability("samples at temperature 1", len(warm) > 1, f"{len(warm)} different answers of 4")
        try:
            begun = await ask(question, prefill="The answer is 4")
        except EngineError as error:  # the engine's own check, which every build makes
            yield Ability("continues a begun answer", False, str(error).split("\n")[-1])
        else:
            sense = "" if begun.text.lstrip().startswith("2") else ", which is not how 42 goes on"
            yield Ability("continues a begun answer", True, f"{begun.text.strip()[:60]!r}{sense}")
        many = min(concurrency, MOST_AT_ONCE)
        together = await asyncio.gather(*(ask(f"What is {n} + {n}?") for n in range(many)), return_exceptions=True)
        failed = [one for one in together if isinstance(one, BaseException)]
        told = f"{failed[0]}; the row's settings.concurrency says how many builds ask at once" if failed else ""
        yield Ability(f"answers {many} questions at once, as builds ask", not failed, told)
