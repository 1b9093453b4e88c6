"""Engine of `nano`, the small transformer that comes with the kit: decoding in numpy,
on any machine.

A common beginning of consecutive prompts is read only once.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from functools import cache
from itertools import islice
from pathlib import Path

from threadpoolctl import ThreadpoolController

from codestress.errors import DataError, EngineError
from codestress.inference.engines.base import Engine, RequestFailed
from codestress.inference.registry import ModelEntry
from codestress.seeding import rng
from codestress.types import FinishReason, Outcome, Request, Response, Usage, now
from codestress.validation import Strict

from .configuration import chatml, weights_folder


class Settings(Strict):
    """Settings of a registry row (the entry of a model that can be asked) whose engine
    is `nano`."""

    folder: str = "weights"
    """Folder of weights in the kit's layout, as in `weights_folder`: a name without a
    slash is a folder in lib/codestress/nano."""


class NanoEngine(Engine):
    """Engine of a registry row, which answers one request after the other with the
    model in the folder that the row's settings name (default: the kit's weights).

    Raises `EngineError` if the weights cannot be read.
    """

    concurrency = 1

    def __init__(self, entry: ModelEntry) -> None:
        from .model import Nano

        self.entry = entry
        settings = Settings.model_validate(entry.settings)
        try:
            self.model = Nano(weights_folder(settings.folder))
        except DataError as error:
            raise EngineError(f"{entry.name}: settings.folder: {error}") from None
        # Matrices of this size gain nothing from more threads, and more threads lose much
        # time if other computations run beside them.
        alone = ThreadpoolController().wrap(limits=1, user_api="blas")
        self.alone = alone(self._answer)

    async def answer(self, request: Request) -> Response:
        """Return the response to a request, with the completion of its prompt. Raises
        `RequestFailed` if the prompt does not fit into the context window."""
        return await asyncio.to_thread(self.alone, request)

    def _answer(self, request: Request) -> Response:
        started = time.monotonic()
        sampling, model = request.prompt.sampling, self.model
        tokens = model.tokens(prompt_text(request))
        window = model.shape.max_position_embeddings
        length = len(tokens)
        if length >= window:
            raise RequestFailed(
                f"{self.entry.name}: the prompt is too long, {length} tokens of "
                f"{window} that fit: ask with fewer distractors or lines",
                Outcome.DOES_NOT_FIT,
            )
        continuation = model.continuation(
            tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            random=rng(0, "nano", request.key),
        )
        most = min(sampling.max_tokens, window - length)
        written: list[int] = []
        text = ""
        reason: FinishReason = "length"
        for token in islice(continuation, most):
            written.append(token)
            text = model.tokenizer.decode(written)
            cuts = [text.index(stop) for stop in sampling.stop if stop in text]
            if cuts:
                text = text[: min(cuts)]
                reason = "stop"
                break
        if len(written) < most:
            reason = "stop"
        usage = Usage(length, len(written))
        model_id = f"{self.entry.id} {self.entry.identity}"
        return Response(
            text, reason, usage, time.monotonic() - started, model_id, now()
        )


def prompt_text(request: Request) -> str:
    """Return a request's prompt as ChatML text that ends with the prefill in the
    assistant's open turn."""
    prompt = request.prompt
    turns = [(message.role, message.content) for message in prompt.messages]
    return chatml(turns, prompt.prefill)


def identity(entry: ModelEntry) -> str:
    """Return the text that identifies the model of the registry row `entry` in request
    keys: the row's revision and the hash of its weights (`weights_hash`)."""
    folder = weights_folder(str(entry.settings.get("folder", "weights")))
    return f"{entry.revision} {weights_hash(folder)}".strip()


@cache
def weights_hash(folder: Path) -> str:
    """Return a hash (16 hexadecimal digits) of model.safetensors and tokenizer.json in
    `folder`, as far as they exist."""
    content = b""
    for name in ("model.safetensors", "tokenizer.json"):
        path = folder / name
        if path.is_file():
            content += path.read_bytes()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


open_engine = NanoEngine
