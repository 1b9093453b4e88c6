"""Coroutines run from plain calls, in scripts, in notebooks and under papermill alike."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs it to its end, in a thread of its own where an event loop is running already (a notebook's kernel)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    outcome: list[Result] = []
    errors: list[BaseException] = []
    ready, done = threading.Event(), threading.Event()
    control: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Result]]] = []

    async def watched() -> Result:
        task = asyncio.ensure_future(coroutine)
        control.append((asyncio.get_running_loop(), task))
        ready.set()
        return await task

    def target() -> None:
        try:
            outcome.append(asyncio.run(watched()))
        except BaseException as error:  # handed to the caller's thread
            errors.append(error)
        finally:
            ready.set()
            done.set()

    thread = threading.Thread(target=target, name="codestress-run")
    thread.start()
    outer = asyncio.current_task()
    try:
        while not done.wait(0.2):  # not `join`: interrupted, it takes a thread that runs for one that has ended
            if outer is not None and outer.cancelling():  # `asyncio.run` turns Ctrl-C into a cancellation
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        ready.wait()
        for loop, task in control:
            with contextlib.suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)
        done.wait()
        thread.join()
        raise
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]


def first_error(group: BaseException) -> BaseException:
    """The first error inside nested exception groups."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group
