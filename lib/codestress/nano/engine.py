"""Engine of `nano`, the small transformer that comes with the kit: decoding in numpy, on any
machine.

Consecutive prompts with a common beginning share it, so that it is read once.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from threadpoolctl import ThreadpoolController

from codestress.errors import DataError, EngineError
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.registry import ModelEntry
from codestress.seeding import rng
from codestress.types import Outcome, Request, Response, Usage, now
from codestress.validation import Strict

from .configuration import chatml, weights_folder

if TYPE_CHECKING:
    from .model import Nano


class Settings(Strict):
    """Settings of a registry row (a model that can be asked) whose engine is `nano`."""

    folder: str = "weights"
    """Folder of weights in the kit's layout; a name without a slash is a folder in
    lib/codestress/nano."""


class NanoEngine(Engine):
    """Engine of a registry row, with a loaded model; it answers one request after the other."""

    concurrency = 1

    def __init__(self, entry: ModelEntry, model: Nano) -> None:
        self.entry = entry
        self.model = model
        self.threads = ThreadpoolController()

    async def answer(self, request: Request) -> Response:
        """Returns the response to a request, with the completion of its prompt; raises
        `RequestFailed` for a prompt that does not fit the context window."""
        return await asyncio.to_thread(self._alone, request)

    def _alone(self, request: Request) -> Response:
        """Returns the response to a request, computed by numpy on one thread: matrices of this size
        gain nothing from more threads, and lose much beside other computations."""
        with self.threads.limit(limits=1, user_api="blas"):
            return self._answer(request)

    def _answer(self, request: Request) -> Response:
        started = time.monotonic()
        sampling, model = request.prompt.sampling, self.model
        tokens = model.tokens(prompt_text(request))
        if len(tokens) >= model.shape.max_position_embeddings:
            raise RequestFailed(
                f"{self.entry.name}: the prompt is too long, {len(tokens)} tokens of "
                f"{model.shape.max_position_embeddings} that fit: ask with fewer distractors or lines",
                Outcome.DOES_NOT_FIT,
            )
        random = rng(0, "nano", request.key)
        told: list[int] = []
        text, finished = "", False
        continuation = model.continuation(
            tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            random=random,
        )
        for token in continuation:
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


def prompt_text(request: Request) -> str:
    """Returns a request's prompt as ChatML, with the assistant's turn begun by the prefill."""
    prompt = request.prompt
    return chatml(
        [(message.role, message.content) for message in prompt.messages], prompt.prefill
    )


def identity(entry: ModelEntry) -> str:
    """Returns the text that stands for the model of `entry`, a registry row, in request keys: the
    entry's revision and a hash of its weights (`weights_hash`)."""
    return f"{entry.revision} {weights_hash(weights_folder(str(entry.settings.get('folder', 'weights'))))}".strip()


@cache
def weights_hash(folder: Path) -> str:
    """Returns a hash (16 hexadecimal digits) of a folder's model.safetensors and tokenizer.json;
    empty without such files."""
    read = [
        path.read_bytes()
        for name in ("model.safetensors", "tokenizer.json")
        if (path := folder / name).is_file()
    ]
    return hashlib.blake2b(b"".join(read), digest_size=8).hexdigest() if read else ""


def open_engine(entry: ModelEntry) -> NanoEngine:
    """Returns the engine of `entry`, a registry row, with the weights in the folder that the row's
    settings name, by default the kit's; raises `EngineError` when they cannot be read."""
    from .model import Nano

    settings = Settings.model_validate(entry.settings)
    try:
        return NanoEngine(entry, Nano(weights_folder(settings.folder)))
    except DataError as error:
        raise EngineError(f"{entry.name}: settings.folder: {error}") from None
