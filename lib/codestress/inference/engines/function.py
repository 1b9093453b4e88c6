"""The engine of a Python function: a model that somebody wraps in ten lines.

The file is code of whoever runs the kit, not of a stranger: it is imported as it is. Its content is part of every
request's key, so that other code gives other answers.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable
from typing import Any

from pydantic import Field

from codestress.errors import EngineError, ParameterError
from codestress.functions import FunctionName, file_of, load_function
from codestress.inference.engines.base import Engine, RequestFailed, conversation
from codestress.inference.registry import ModelEntry
from codestress.types import Request, Response, now
from codestress.validation import Strict


class Settings(Strict):
    """A row's `settings` in params/models.yaml."""

    function: FunctionName
    """Called as NAME(messages, prefill=…, temperature=…, top_p=…, max_tokens=…, stop=…), messages being dictionaries of
    role and content; returns the answer's text."""
    concurrency: int = Field(default=1, ge=1)
    """Calls at once, each in a thread."""


class FunctionEngine(Engine):
    """Asks one function."""

    def __init__(self, entry: ModelEntry, settings: Settings, function: Callable[..., Any]) -> None:
        self.concurrency = settings.concurrency
        self._entry = entry
        self._function = function

    async def answer(self, request: Request) -> Response:
        prompt, sampling = request.prompt, request.prompt.sampling
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            text = await asyncio.to_thread(
                self._function,
                conversation(prompt),
                prefill=prompt.prefill,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                max_tokens=sampling.max_tokens,
                stop=list(sampling.stop),
            )
        except Exception as error:  # whatever the function raises
            raise RequestFailed(f"{self._entry.name}: the function raised {type(error).__name__}: {error}") from None
        if inspect.iscoroutine(text):
            text.close()
            raise RequestFailed(f"{self._entry.name}: the function is async; give one that waits, by asyncio.run(…)")
        if not isinstance(text, str):
            raise RequestFailed(f"{self._entry.name}: the function returned {type(text).__name__}, not a text")
        return Response(
            text,
            "stop",
            seconds=loop.time() - started,
            answered_by=f"function {self._entry.identity}",
            answered_at=now(),
        )


def identity(entry: ModelEntry) -> str:
    """What enters keys: the revision, and the file's content."""
    path = file_of(str(entry.settings["function"]))
    code = path.read_bytes() if path.is_file() else b""
    return f"{entry.revision} {hashlib.blake2b(code, digest_size=8).hexdigest()}".strip()


def open_engine(entry: ModelEntry) -> FunctionEngine:
    """The function that a row of the registry names."""
    settings = Settings.model_validate(entry.settings)
    try:
        function = load_function(settings.function, f"{entry.name}: settings.function")
    except ParameterError as error:
        raise EngineError(str(error)) from None
    return FunctionEngine(entry, settings, function)
