"""Scores that all studies give alike: to refused, empty and cut-off responses, and to those without
an answer."""

from codestress.types import Outcome, Response, Score

from .forms import without_thoughts


def unanswered(response: Response, detail: str = "") -> Score | None:
    """Returns the score 0, with `detail`, of a response that is refused (outcome `refused`), or
    empty or nothing but hidden thoughts (`only reasoning`, or `truncated` where it was cut off);
    None for any other response."""
    if response.refused:
        return Score(Outcome.REFUSED, 0.0, detail)
    if without_thoughts(response.text).strip():
        return None
    return _cut_off_or(Outcome.ONLY_REASONING, response, detail)


def missed(response: Response, detail: str = "") -> Score:
    """Returns the score 0, with `detail`, of a response that is not correct: outcome `incorrect`,
    or `truncated` where the response was cut off."""
    return _cut_off_or(Outcome.INCORRECT, response, detail)


def unread(response: Response, why: str) -> Score:
    """Returns the score 0 of a response in which no answer is found: outcome `unparsable`, or
    `truncated` where the response was cut off. `why` is the score's detail."""
    return _cut_off_or(Outcome.UNPARSABLE, response, why)


def _cut_off_or(outcome: Outcome, response: Response, detail: str) -> Score:
    cut_off = response.finish_reason == "length"
    return Score(Outcome.TRUNCATED if cut_off else outcome, 0.0, detail)
