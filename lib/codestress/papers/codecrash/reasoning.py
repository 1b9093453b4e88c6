"""Measures of a reasoning model's text before its answer: number of tokens, words of doubt, and
collapse (CodeCrash, section 3.4)."""

import re

from codestress.scoring.forms import split_thoughts
from codestress.types import CHARACTERS_PER_TOKEN, Response

CONFUSED = re.compile(
    r"\b(wait|hmm+|confus\w*|contradict\w*|but the comment|but the hint|maybe|perhaps|unsure|odd)\b",
    re.I,
)
"""Words of doubt. The paper counts "confusing tokens" and does not list them."""
LONGEST_UNIT = 120
"""Longest text, in characters, that a collapse may repeat."""
LEAST_REPEATS = 20
LEAST_RUN = 400
"""Smallest number of characters that the repetitions of a collapse make up together."""


def reasoning_tokens(response: Response) -> int:
    """Returns the number of reasoning tokens of a response as the server reports it; else an
    estimate from the thoughts in the text, at four characters a token (0 without thoughts)."""
    if response.usage.reasoning_tokens is not None:
        return response.usage.reasoning_tokens
    return -(-len(split_thoughts(response.text).thoughts) // CHARACTERS_PER_TOKEN)


def collapse_start(text: str) -> int | None:
    """Returns the index, from 0, of the character of `text` at which it begins to repeat one unit
    until its end (a collapse); None without a collapse.

    The unit has at most 120 characters and is not blank; it is repeated at least 20 times over at
    least 400 characters.
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
    """Returns the indices of the characters at which words of doubt (wait, maybe, …: `CONFUSED`)
    begin in a text."""
    return [found.start() for found in CONFUSED.finditer(text)]
