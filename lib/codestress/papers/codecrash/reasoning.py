"""Measures of a reasoning model's text before its answer: number of tokens, words of doubt, and
collapse (CodeCrash, section 3.4)."""

from __future__ import annotations

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


HINTED = re.compile(r"(?:#|//) *The return value is (.+)$", re.M)
"""Pattern of MHC's hint, as the kit and the paper write it (section 2.2)."""
SPEAKS_OF_HINT = re.compile(r"\b(comments?|hints?|annotations?)\b", re.I)
STAGES = (
    "executes",
    "checks itself",
    "weighs the hint",
    "argues for the hint",
    "repeats one unit",
)


def hinted_value(code: str) -> str | None:
    """Returns the return value that the misleading hint in a comment of the program `code` gives,
    as text; None where no comment says `The return value is …`."""
    found = HINTED.search(code)
    return found[1].strip() if found else None


def stage_starts(text: str, answer: str, hint: str | None) -> dict[str, int]:
    """Returns, as a dict by stage (`STAGES`), the index of the character at which the stage begins
    in the response `text`; stages that the response lacks are left out.

    The paper tells six stages of one response apart by reading it (Appendix F.6). This function
    follows rules, with the right `answer` and the value of the misleading `hint` (None: no hint).
    The model executes the program (1) until the first word of doubt. It checks itself (2) until it
    speaks of the hint or gives the hint's value. It weighs the hint (3 and 4, which differ in what
    is looked at) until it has given the right value for the last time. After that it argues for the
    hint (5), if it gives the hint's value at least twice more. Then it repeats one unit (6, a
    collapse).
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
    return {
        stage: start
        for (stage, start), end in zip(starts.items(), places[1:], strict=True)
        if start < end
    }


def _places(value: str, text: str) -> list[int]:
    """Returns the indices of the characters of `text` at which the text `value` stands by itself,
    not within a word or number."""
    return [
        one.start()
        for one in re.finditer(rf"(?<![\w.-]){re.escape(value)}(?!\w|\.\d)", text)
    ]
