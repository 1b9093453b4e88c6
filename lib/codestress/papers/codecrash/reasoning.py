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
