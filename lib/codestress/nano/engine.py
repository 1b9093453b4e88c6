"""The engine of `nano`, the small transformer that comes with the kit: greedy decoding in numpy, on any machine.

Prompts that follow each other share what they begin with, and it is read once.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from threadpoolctl import ThreadpoolController

from codestress.errors import DataError, EngineError
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.registry import ModelEntry
from codestress.nano.configuration import chatml, weights_folder
from codestress.seeding import rng
from codestress.types import Request, Response, Usage, now
from codestress.validation import Strict

if TYPE_CHECKING:
    from codestress.nano.model import Nano


class Settings(Strict):
    """Where the weights are."""

    folder: str = "weights"
    """In the same layout as the kit's own; a name without a slash is one of those (lib/codestress/nano)."""


class NanoEngine(Engine):
    """One request after the other."""

    concurrency = 4

    def __init__(self, entry: ModelEntry, model: Nano) -> None:
        self.entry = entry
        self.model = model
        self.pool = ThreadPoolExecutor(max_workers=1)
        self.threads = ThreadpoolController()

    async def answer(self, request: Request) -> Response:
        """The continuation; a prompt that is longer than the context is a failed request."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, self._alone, request)

    def _alone(self, request: Request) -> Response:
        """On one thread: matrices of this size gain nothing from more, and lose much where others compute too."""
        with self.threads.limit(limits=1, user_api="blas"):
            return self._answer(request)

    def _answer(self, request: Request) -> Response:
        started = time.monotonic()
        sampling, model = request.prompt.sampling, self.model
        tokens = model.tokens(prompt_text(request))
        if len(tokens) >= model.shape.max_position_embeddings:
            raise RequestFailed(
                f"{self.entry.name}: the prompt has {len(tokens)} tokens, its context "
                f"{model.shape.max_position_embeddings}: ask with fewer distractors or lines"
            )
        random = rng(0, "nano", request.key)
        told: list[int] = []
        text, finished = "", False
        for token in model.continuation(tokens, temperature=sampling.temperature, top_p=sampling.top_p, random=random):
            told.append(token)
            text = model.tokenizer.decode(told)
            cut = [text.index(stop) for stop in sampling.stop if stop in text]
            if cut:
                text, finished = text[: min(cut)], True
                break
            if len(told) == sampling.max_tokens:
                break
        else:
            finished = len(tokens) + len(told) < model.shape.max_position_embeddings
        return Response(
            text=text,
            finish_reason="stop" if finished else "length",
            usage=Usage(prompt_tokens=len(tokens), completion_tokens=len(told)),
            seconds=time.monotonic() - started,
            answered_by=f"{self.entry.id} {self.entry.identity}",
            answered_at=now(),
        )

    async def close(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)


def prompt_text(request: Request) -> str:
    """ChatML, the assistant's turn begun."""
    prompt = request.prompt
    return chatml([(message.role, message.content) for message in prompt.messages], prompt.prefill)


def identity(entry: ModelEntry) -> str:
    """What enters keys: the revision, and a hash of the weights."""
    return f"{entry.revision} {weights_hash(weights_folder(str(entry.settings.get('folder', 'weights'))))}".strip()


@cache
def weights_hash(folder: Path) -> str:
    """Of what answers; empty where nothing is there."""
    read = [path.read_bytes() for name in ("model.safetensors", "tokenizer.json") if (path := folder / name).is_file()]
    return hashlib.blake2b(b"".join(read), digest_size=8).hexdigest() if read else ""


def open_engine(entry: ModelEntry) -> NanoEngine:
    """The weights of the kit, or those in `settings.folder`."""
    from codestress.nano.model import Nano

    settings = Settings.model_validate(entry.settings)
    try:
        return NanoEngine(entry, Nano(weights_folder(settings.folder)))
    except DataError as error:
        raise EngineError(f"{entry.name}: settings.folder: {error}") from None
