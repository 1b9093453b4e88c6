"""The engine of the simulated readers: instruments that get the same messages as a model, and nothing else."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass

from codestress.inference.engines.base import Engine
from codestress.inference.registry import ModelEntry
from codestress.rooms import offered
from codestress.simulated.reading import Reading, Settings, read, summary
from codestress.simulated.runs import run_together
from codestress.types import CHARACTERS_PER_TOKEN, Request, Response, Usage, now

REVISION = "aaf498d05d35d335"
"""Of the readers' code, part of every key of theirs: a new one wherever an answer changes (a test compares answers with
those of this revision)."""


@dataclass
class SimulatedReader(Engine):
    """The engine of one reader."""

    settings: Settings
    concurrency: int = 64

    async def answer(self, request: Request) -> Response:
        await asyncio.sleep(0)
        reading = read(request, self.settings)
        prefill = request.prompt.prefill
        drawn = reading.random.bit_generator.state

        def worked_out() -> str:
            reading.random.bit_generator.state = drawn
            return "" if reading.random.random() < self.settings.refusal else answer_text(reading, prefill)

        text = await run_together(worked_out)
        most = request.prompt.sampling.max_tokens * CHARACTERS_PER_TOKEN
        characters = request.prompt.characters + len(prefill)
        return Response(
            text=text[:most],
            finish_reason="length" if len(text) > most else "stop",
            usage=Usage(
                prompt_tokens=-(-characters // CHARACTERS_PER_TOKEN),
                completion_tokens=-(-len(text[:most]) // CHARACTERS_PER_TOKEN),
            ),
            answered_by="simulated",
            answered_at=now(),
        )


def answer_text(reading: Reading, prefill: str) -> str:
    """The reader's answer: by the first of the papers' tasks that recognises the question, else a word on what was
    read. No two papers' tasks recognise the same question."""
    for tasks in offered("reading", "TASKS"):
        for task in tasks:
            answer: str | None = task(reading, prefill)
            if answer is not None:
                return answer
    return summary(reading, prefill)


def identity(entry: ModelEntry) -> str:
    """What enters keys: the reader's parameters, and the revision of the readers' code."""
    settings = json.dumps(entry.settings, sort_keys=True)
    return hashlib.blake2b(f"{settings} {REVISION}".encode(), digest_size=8).hexdigest()


def open_engine(entry: ModelEntry) -> Engine:
    """The reader that a row of the registry describes."""
    return SimulatedReader(Settings.model_validate(entry.settings))
