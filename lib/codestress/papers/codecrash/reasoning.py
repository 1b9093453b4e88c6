"""What a reasoning model writes before its answer: how long it is, where it doubts, and whether it collapses
(CodeCrash, section 3.4)."""

from __future__ import annotations

import re

from codestress.scoring.judging import CLOSING, OPENING
from codestress.types import CHARACTERS_PER_TOKEN, Response

CONFUSED = re.compile(
    r"\b(wait|hmm+|confus\w*|contradict\w*|but the comment|but the hint|maybe|perhaps|unsure|odd)\b", re.I
)
"""Words of doubt. The paper counts "confusing tokens" and does not list them."""
LONGEST_UNIT = 120
"""Characters of a unit that a collapse may repeat."""
LEAST_REPEATS = 20
LEAST_RUN = 400
"""Characters that the repetitions must make up."""


def thinking(text: str) -> str:
    """The part before the answer: between the tags, or all of it where the model never came to an end."""
    _, opening, rest = text.partition(OPENING)
    return rest.partition(CLOSING)[0] if opening else ""


def reasoning_tokens(response: Response) -> int:
    """As the server counts them; else from the text, at four characters each."""
    if response.usage.reasoning_tokens is not None:
        return response.usage.reasoning_tokens
    return -(-len(thinking(response.text)) // CHARACTERS_PER_TOKEN)


def collapse_start(text: str) -> int | None:
    """Where the text begins to repeat one unit until it ends; None where it does not.

    A collapse is a unit of at most 120 characters repeated at least 20 times over at least 400 characters.
    """
    ending = text.rstrip()
    for length in range(1, LONGEST_UNIT + 1):
        unit = ending[-length:]
        if len(ending) < LEAST_REPEATS * length:
            return None
        start = len(ending)
        while start >= length and ending.startswith(unit, start - length):
            start -= length
        run = len(ending) - start
        if run >= LEAST_REPEATS * length and run >= LEAST_RUN and unit.strip():
            return start
    return None


def doubts(text: str) -> list[int]:
    """Places of the words of doubt in a text, in characters."""
    return [found.start() for found in CONFUSED.finditer(text)]


HINTED = re.compile(r"(?:#|//) *The return value is (.+)$", re.M)
"""The hint of MHC, as the kit and the paper write it (section 2.2)."""
SPEAKS_OF_HINT = re.compile(r"\b(comments?|hints?|annotations?)\b", re.I)
STAGES = ("executes", "checks itself", "weighs the hint", "argues for the hint", "repeats one unit")


def hinted_value(code: str) -> str | None:
    """The value that a program's misleading hint gives; None without one."""
    found = HINTED.search(code)
    return found[1].strip() if found else None


def stage_starts(text: str, answer: str, hint: str | None) -> dict[str, int]:
    """Where each of `STAGES` that a response has begins, in characters.

    The paper tells six stages of one response apart by reading it (Appendix F.6). These follow rules: the program is
    executed (1) until the first word of doubt; the model checks itself (2) until it speaks of the hint or gives its
    value; it weighs the hint (3 and 4, which differ in what is looked at) until it has given the right value for the
    last time; what follows argues for the hint (5), where it gives its value again; then the response repeats one unit
    (6, a collapse).
    """
    collapse = collapse_start(text)
    body = text[:collapse] if collapse is not None else text
    starts = {STAGES[0]: 0}
    wavers = next(iter(doubts(body)), None)
    values = _places(hint, body) if hint and hint != answer else []
    speaks = SPEAKS_OF_HINT.search(body)
    noticed = min([*values[:1], *([speaks.start()] if speaks else [])], default=None)
    if wavers is not None and (noticed is None or wavers < noticed):
        starts[STAGES[1]] = wavers
    if noticed is not None:
        starts[STAGES[2]] = noticed
        last_right = max([noticed, *_places(answer, body)])
        argues = [place for place in values if place > last_right]
        if len(argues) > 1:
            starts[STAGES[3]] = argues[0]
    if collapse is not None:
        starts[STAGES[4]] = collapse
    places = [*starts.values(), len(text) + 1]
    return {stage: start for (stage, start), end in zip(starts.items(), places[1:], strict=True) if start < end}


def _places(value: str, text: str) -> list[int]:
    """Where a value stands by itself in a text."""
    return [one.start() for one in re.finditer(rf"(?<![\w.-]){re.escape(value)}(?!\w|\.\d)", text)]
