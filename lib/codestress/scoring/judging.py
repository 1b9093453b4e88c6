"""Scores that all studies share: for refused, empty and cut-off responses, and for
responses without an answer."""

from codestress.types import Outcome, Response, Score

from .forms import without_thoughts


def unanswered(response: Response, detail: str = "") -> Score | None:
    """Return the score 0, with `detail`, of a response without any text to score; None
    for any other response.

    The outcome is `refused` for a refused response. For a response that is empty or has
    only hidden thoughts it is `truncated` if the response was cut off, else `only
    reasoning`.
    """
    if response.refused:
        return Score(Outcome.REFUSED, 0.0, detail)
    if without_thoughts(response.text).strip():
        return None
    return _cut_off_or(Outcome.ONLY_REASONING, response, detail)


def missed(response: Response, detail: str = "") -> Score:
    """Return the score 0, with `detail`, of a response that is not correct. The outcome
    is `truncated` if the response was cut off, else `incorrect`."""
    return _cut_off_or(Outcome.INCORRECT, response, detail)


def unread(response: Response, why: str) -> Score:
    """Return the score 0 of a response in which no answer was found, with `why` as
    detail. The outcome is `truncated` if the response was cut off, else `unparsable`.
    """
    return _cut_off_or(Outcome.UNPARSABLE, response, why)


def _cut_off_or(outcome: Outcome, response: Response, detail: str) -> Score:
    cut_off = response.finish_reason == "length"
    return Score(Outcome.TRUNCATED if cut_off else outcome, 0.0, detail)
