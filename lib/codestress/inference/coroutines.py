"""Coroutines run from plain calls, in scripts, in notebooks and under papermill alike."""

import asyncio
from collections.abc import Coroutine, Iterable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run `coroutine` to its end, and return its result or raise its error.

    The coroutine runs in a separate thread if an event loop is running already (a
    notebook's kernel).
    """
    try:
        outer = asyncio.current_task()
    except RuntimeError:
        return asyncio.run(coroutine)

    from anyio.from_thread import start_blocking_portal  # large, and rarely needed

    # An error in this block, such as Ctrl-C, cancels the coroutine and waits for its end.
    with start_blocking_portal() as portal:
        outcome: Future[Result] = portal.start_task_soon(lambda: coroutine)
        while not wait([outcome], 0.2).done:
            # `asyncio.run` turns Ctrl-C into a cancellation.
            if outer is not None and outer.cancelling():
                raise KeyboardInterrupt
        return outcome.result()


async def together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run coroutines at the same time until all have ended.

    The first error cancels the other coroutines, and is raised when they have ended.
    All coroutines begin, also if the caller's time limit is over.
    """
    tasks = [asyncio.create_task(coroutine) for coroutine in work]
    try:
        # A caller whose time is over is cancelled here, after their first steps.
        await asyncio.sleep(0)
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
