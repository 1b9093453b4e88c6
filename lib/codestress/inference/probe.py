"""What a model can, tried out by a handful of requests, so that a study does not find it out. Nothing is stored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import astuple, dataclass
from typing import Any

from codestress.errors import EngineError
from codestress.inference.budget import Budget
from codestress.inference.engines.base import RequestFailed
from codestress.inference.opening import open_engine
from codestress.inference.registry import ModelEntry
from codestress.types import Message, Prompt, Request, Response, Sampling

MOST_AT_ONCE = 64
"""Questions of a probe."""


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
