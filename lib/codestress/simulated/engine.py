"""Engine of the simulated readers, which get the same messages as a model and nothing else."""

import asyncio
import json

from codestress.inference.engines.base import Engine
from codestress.inference.registry import ModelEntry
from codestress.rooms import offered_by
from codestress.types import (
    CHARACTERS_PER_TOKEN,
    Request,
    Response,
    Usage,
    hash_of,
    now,
)

from .reading import Reading, Settings, read, summary

REVISION = "aaf498d05d35d335"
"""Revision of the readers' code, part of the key of every request to a reader. Each
change to an answer needs a new revision (a test compares answers with those of this
revision)."""


class SimulatedReader(Engine):
    """Engine that answers requests as the simulated reader that a registry row
    describes. Raises pydantic's `ValidationError` for wrong settings."""

    concurrency = 64

    def __init__(self, entry: ModelEntry) -> None:
        self.settings = Settings.model_validate(entry.settings)

    async def answer(self, request: Request) -> Response:
        await asyncio.sleep(0)
        reading = read(request, self.settings)
        prompt = request.prompt
        prefill = prompt.prefill
        whole = ""
        if reading.random.random() >= self.settings.refusal:
            whole = answer_text(reading, prefill)
        text = whole[: prompt.sampling.max_tokens * CHARACTERS_PER_TOKEN]
        tokens = []
        for characters in (prompt.characters + len(prefill), len(text)):
            tokens.append(-(-characters // CHARACTERS_PER_TOKEN))
        return Response(
            text=text,
            finish_reason="stop" if text == whole else "length",
            usage=Usage(*tokens),
            answered_by="simulated",
            answered_at=now(),
        )


def answer_text(reading: Reading, prefill: str) -> str:
    """Return a reader's completion: the answer of the first of the papers' tasks that
    recognises the question in `reading`, else a summary of the kept text.

    No question is recognised by the tasks of two papers. `prefill` is the beginning of
    the answer in the prompt.
    """
    for tasks in offered_by("reading", "TASKS").values():
        for task in tasks:
            answer: str | None = task(reading, prefill)
            if answer is not None:
                return answer
    return summary(reading, prefill)


def identity(entry: ModelEntry) -> str:
    """Return a hash (16 hexadecimal digits) of the reader's parameters in its registry
    row `entry` and of the revision of the readers' code. The hash is part of request
    keys."""
    settings = json.dumps(entry.settings, sort_keys=True)
    return hash_of(f"{settings} {REVISION}", 8)


open_engine = SimulatedReader
