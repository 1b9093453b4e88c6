"""Coroutines run from plain calls, in scripts, in notebooks and under papermill alike."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_coroutine(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Runs `coroutine` to its end and returns its result or raises its error; runs in a separate
    thread where an event loop is running already (a notebook's kernel)."""
    try:
        outer = asyncio.current_task()
    except RuntimeError:
        return asyncio.run(coroutine)

    from anyio.from_thread import start_blocking_portal  # few need it, and it is large

    # An error in here, such as Ctrl-C, cancels the coroutine and waits for its end.
    with start_blocking_portal() as portal:
        outcome: Future[Result] = portal.start_task_soon(lambda: coroutine)
        while not wait([outcome], 0.2).done:
            # `asyncio.run` turns Ctrl-C into a cancellation.
            if outer is not None and outer.cancelling():
                raise KeyboardInterrupt
        return outcome.result()


def first_error(group: BaseException) -> BaseException:
    """Returns the first error inside `group`, an exception group that may hold others; an error
    that is no group is returned itself."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group
