"""The engine of a Python function: a model that a user wraps in ten lines.

The file is trusted code of the user who runs the kit, and is imported without a
sandbox. The file's content is part of every request's key, so that changed code gives
new answers.
"""

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from codestress.errors import EngineError, ParameterError
from codestress.functions import FunctionName, file_of, load_function
from codestress.types import Prompt, Request, Response, now
from codestress.validation import Strict

from ..registry import ModelEntry
from .base import Engine, RequestFailed, conversation
from .replies import outcome_of


class Settings(Strict):
    """A registry row's `settings` for the engine `function` (params/models.yaml)."""

    function: FunctionName
    """The function as FILE.py:NAME, which returns the completion's text.

    The engine calls NAME(messages, prefill=…, temperature=…, top_p=…, max_tokens=…,
    stop=…). Messages are dictionaries of role and content.
    """


class FunctionEngine(Engine):
    """An engine that asks the Python function that a registry row names.

    A function that raises, or returns something other than a text, fails the request
    (`RequestFailed`). Raises `EngineError` if the function cannot be loaded.
    """

    concurrency = 1

    def __init__(self, entry: ModelEntry) -> None:
        settings = Settings.model_validate(entry.settings)
        self._entry = entry
        try:
            self._function = load_function(
                settings.function, f"{entry.name}: settings.function"
            )
        except ParameterError as error:
            raise EngineError(str(error)) from None

    async def answer(self, request: Request) -> Response:
        started = time.monotonic()
        text = await in_a_thread(lambda: self._text(request.prompt))
        return Response(
            text,
            "stop",
            seconds=time.monotonic() - started,
            answered_by=f"function {self._entry.identity}",
            answered_at=now(),
        )

    def _text(self, prompt: Prompt) -> str:
        """Return the function's answer to `prompt`.

        An error that would end this process or its event loop (SystemExit,
        StopIteration) fails the request like any other error.
        """
        who = f"{self._entry.name}: the function"
        settings = {**vars(prompt.sampling), "stop": list(prompt.sampling.stop)}
        messages = conversation(prompt)
        try:
            text = self._function(messages, prefill=prompt.prefill, **settings)
        except BaseException as error:  # whatever the function raises
            message = f"{who} raised {type(error).__name__}: {error}"
            # Client libraries of servers raise errors with an HTTP status.
            outcome = outcome_of(getattr(error, "status_code", 0), message)
            raise RequestFailed(message, outcome) from None
        if not isinstance(text, str):
            raise RequestFailed(f"{who} returned {type(text).__name__}, not a text")
        return text


async def in_a_thread(call: Callable[[], Any]) -> Any:
    """Return the result of `call`, called without arguments in a thread, or raise its
    error.

    Unlike with `asyncio.to_thread`, a call that never returns can be abandoned, and
    does not keep the process from ending.
    """
    outcome: Future[Any] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    outcome.set_running_or_notify_cancel()
    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(outcome)


def identity(entry: ModelEntry) -> str:
    """Return the model's part of its requests' keys: the revision of the registry row
    `entry`, and a hash of the function's file.

    A missing file is hashed as an empty file.
    """
    path = file_of(str(entry.settings["function"]))
    code = path.read_bytes() if path.is_file() else b""
    return (
        f"{entry.revision} {hashlib.blake2b(code, digest_size=8).hexdigest()}".strip()
    )


open_engine = FunctionEngine
