"""Coroutines run from plain calls, in scripts, in notebooks and under papermill alike."""

import asyncio
import contextlib
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs `coroutine` to its end and returns its result or raises its error; runs in a separate
    thread where an event loop is running already (a notebook's kernel)."""
    try:
        outer = asyncio.current_task()
    except RuntimeError:
        return asyncio.run(coroutine)
    started: Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any] | None]] = (
        Future()
    )

    async def watched() -> Result:
        started.set_result((asyncio.get_running_loop(), asyncio.current_task()))
        return await coroutine

    pool = ThreadPoolExecutor(1, "codestress-run")
    outcome = pool.submit(asyncio.run, watched())
    # Never a `join`: interrupted, it takes a thread that runs for one that has ended.
    pool.shutdown(wait=False)
    try:
        while not wait([outcome], 0.2).done:
            # `asyncio.run` turns Ctrl-C into a cancellation.
            if outer is not None and outer.cancelling():
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        loop, task = started.result()
        with contextlib.suppress(RuntimeError):  # it has just ended
            loop.call_soon_threadsafe(task.cancel)  # type: ignore[union-attr]
        wait([outcome])
        raise
    return outcome.result()


def first_error(group: BaseException) -> BaseException:
    """Returns the first error inside `group`, an exception group that may hold others; an error
    that is no group is returned itself."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group
