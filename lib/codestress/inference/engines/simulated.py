"""The engine of the simulated readers: instruments that get the same messages as a model, and nothing else."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from codestress.inference.engines.base import Engine
from codestress.inference.reading import CHARACTERS_PER_TOKEN, Settings, read
from codestress.inference.reading_tasks import answer_text
from codestress.inference.registry import ModelEntry
from codestress.types import Request, Response, Usage

__all__ = ["Settings", "SimulatedReader", "open_engine"]


@dataclass
class SimulatedReader:
    """The engine of one reader."""

    settings: Settings
    concurrency: int = 64

    async def answer(self, request: Request) -> Response:
        await asyncio.sleep(0)
        reading = read(request, self.settings)
        prefill = request.prompt.prefill
        text = "" if reading.random.random() < self.settings.refusal else answer_text(reading, prefill)
        most = request.prompt.sampling.max_tokens * CHARACTERS_PER_TOKEN
        characters = sum(len(message.content) for message in request.prompt.messages) + len(prefill)
        return Response(
            text=text[:most],
            finish_reason="length" if len(text) > most else "stop",
            usage=Usage(
                prompt_tokens=-(-characters // CHARACTERS_PER_TOKEN),
                completion_tokens=-(-len(text[:most]) // CHARACTERS_PER_TOKEN),
            ),
            answered_by="simulated",
            answered_at=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    async def close(self) -> None:
        pass


def open_engine(entry: ModelEntry) -> Engine:
    """The reader that a row of the registry describes."""
    return SimulatedReader(Settings.model_validate(entry.settings))
