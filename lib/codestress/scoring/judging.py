"""What judges of single responses share."""

from __future__ import annotations

import atexit
from functools import cache

from codestress.sandbox.executor import Executor
from codestress.types import Outcome, Response, Score

OPENING, CLOSING = "<think>", "</think>"


@cache
def shared_executor() -> Executor:
    """One worker for all judges of a process; it ends with it."""
    executor = Executor(workers=1)
    atexit.register(executor.close)
    return executor


def unanswered(response: Response, detail: str = "") -> Score | None:
    """The score of a response that says nothing."""
    if response.refused:
        return Score(Outcome.REFUSED, 0.0, detail)
    if response.text.strip():
        return None
    return Score(Outcome.TRUNCATED if response.finish_reason == "length" else Outcome.ONLY_REASONING, 0.0, detail)


def missed(response: Response, detail: str = "") -> Score:
    """The score of a response that is not right: what was cut off is not wrong but truncated."""
    return Score(Outcome.TRUNCATED if response.finish_reason == "length" else Outcome.INCORRECT, 0.0, detail)


def unread(response: Response, why: str) -> Score:
    """The score of a response in which no answer is found: what was cut off is not unparsable but truncated."""
    return Score(Outcome.TRUNCATED if response.finish_reason == "length" else Outcome.UNPARSABLE, 0.0, why)


def said(text: str) -> str:
    """What a reasoning model says, without what it thought before."""
    before, opening, rest = text.partition(OPENING)
    if opening:
        return before + rest.partition(CLOSING)[2]
    return text.rpartition(CLOSING)[2]
