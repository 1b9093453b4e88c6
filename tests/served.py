"""Models at a server on loopback: their rows, requests to them, and runs with a registry and a store of their own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from codestress.inference.engines.base import RequestFailed
from codestress.inference.engines.openai import open_engine
from codestress.inference.registry import ModelEntry
from codestress.inference.results import Results
from codestress.inference.run import run
from codestress.types import (
    Message,
    Outcome,
    Prompt,
    Request,
    Response,
    Sampling,
    Score,
    Trial,
    Trials,
)
from openai_server import OpenAIServer


def settings_of(server: OpenAIServer | str, **settings: Any) -> dict[str, Any]:
    """Settings of a row that asks a server, given by itself or by its address, each question once."""
    base_url = getattr(server, "base_url", server)
    return {"base_url": base_url, "key_env": "", "retries": 0, **settings}


def entry(server: OpenAIServer | str, **settings: Any) -> ModelEntry:
    settings = settings_of(server, **settings)
    return ModelEntry(name="served", engine="openai", id="served-1", settings=settings)


def prompt(text: str, prefill: str = "", **sampling: Any) -> Prompt:
    return Prompt((Message("user", text),), Sampling(**sampling), prefill)


def correct(_: Trial, response: Response) -> Score:
    """A judge that takes every text for a correct answer."""
    if response.refused:
        return Score(Outcome.REFUSED, 0)
    return Score(Outcome.CORRECT, 1, response.text)


def trials_of(*prompts: Prompt, judge: Any = correct) -> Trials:
    """Trials that ask these prompts, one each, with its number as their factor."""
    items = [Trial(f"q{n}", {"number": n}) for n in range(len(prompts))]
    return Trials(
        items,
        lambda trial: prompts[int(trial.factors["number"] or 0)],
        {"strict": judge},
    )


def in_two_steps(trials: Trials, second: Callable[[Trial, Response], Prompt]) -> Trials:
    """The trials, each with a second request after its first answer."""

    def follow_up(trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        return second(trial, *responses) if len(responses) == 1 else None

    return replace(trials, follow_up=follow_up, steps=lambda _: 2)


def outcomes(
    row: ModelEntry, *prompts: Prompt | Request, at_once: bool = False
) -> list[Response | RequestFailed]:
    """One engine's responses and failures, one after the other or all at once."""

    async def outcome(engine: Any, one: Prompt | Request) -> Response | RequestFailed:
        request = Request(row.id, "", one) if isinstance(one, Prompt) else one
        try:
            response: Response = await engine.answer(request)
            return response
        except RequestFailed as failure:
            return failure

    async def asking() -> list[Response | RequestFailed]:
        engine = open_engine(row)
        try:
            coroutines = [outcome(engine, one) for one in prompts]
            if at_once:
                return await asyncio.gather(*coroutines)
            return [await one for one in coroutines]
        finally:
            await engine.close()

    return asyncio.run(asking())


def responses(
    row: ModelEntry, *prompts: Prompt | Request, at_once: bool = False
) -> list[Response]:
    """As `outcomes`; the first failure is raised."""
    answered = []
    for outcome in outcomes(row, *prompts, at_once=at_once):
        if isinstance(outcome, RequestFailed):
            raise outcome
        answered.append(outcome)
    return answered


class Served:
    """Models of a registry in a folder, and runs that keep their answers in a store there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.registry = folder / "models.yaml"
        self.store = folder / "s.sqlite"

    def rows(
        self,
        server: OpenAIServer | str,
        *names: str,
        row: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Path:
        """Writes the registry: rows with these names (`served` by default), alike but for the name."""
        settings = settings_of(server, **{"concurrency": 4, **settings})
        content = {"engine": "openai", "settings": settings}
        rows = dict.fromkeys(names or ["served"], content | (row or {}))
        self.registry.write_text(json.dumps(rows))
        return self.registry

    def run(self, trials: Trials, *models: str, **options: Any) -> Results:
        options = {"store": self.store, "registry": self.registry, **options}
        return run(trials, models or ["served"], **options)


def counts_of(results: Results) -> dict[str, int]:
    """The only model's answers by outcome, without zeros."""
    [counts] = results.counts().values()
    return {outcome: number for outcome, number in counts.items() if number}
