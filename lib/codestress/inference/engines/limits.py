"""Signs by which servers say which limit a request crosses: that of the prompt's length, that of
the answer's length, or another one, such as a rate; or that something they do not name exceeds one.

A sign is a regular expression for the words, codes and field names of a refusal, in the languages
that servers speak (params/refusals.yaml). A refusal with signs of the answer's length, of an
unnamed excess alone, or with none, decides nothing by itself: `engines.openai` then tries a shorter
prompt.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from codestress.paths import PARAMS
from codestress.types import CHARACTERS_PER_TOKEN, Outcome, Prompt
from codestress.validation import read_yaml

OVERLOADED = (429, 503, 529)
"""Statuses by which servers ask for fewer requests."""
TOO_LARGE = 413
"""Status by which servers say that a request is too large."""
SUSPICIOUS = (400, TOO_LARGE, 422)
"""Statuses with which servers refuse a prompt that is too long, and other faults of a request."""
LONGEST_WORDS = 1000
"""Maximum number of characters of a refusal that are read; what follows may repeat the prompt."""
SHORT = 100
"""Maximum number of characters of each message in a shortened prompt."""
SMALLEST_CONTEXT = 128
"""Smallest context in tokens; smaller numbers in a refusal are no limit of a prompt."""
SIGNS = PARAMS / "refusals.yaml"
"""The table of signs: regular expressions by the limit that they name (`prompt`, `answer`, `other`,
or `excess` for none) and by their source."""

SIZE = re.compile(
    r"\b(?!50\d\b)\d{2,}|max|limit|too |exceed|long|über|höchst|trop|dépass|demasiad|supera"
    "|[长長]|超|[过過]|[范範]|макс|초과",
    re.I,
)
"""Regular expression for words of size; a refusal without any is none of an answer's length."""


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    texts = {limit: "|".join(rows.values()) for limit, rows in read_yaml(SIGNS).items()}
    return {limit: re.compile(text, re.I | re.S) for limit, text in texts.items()}


def signs(words: str) -> dict[str, int]:
    """Returns the limits that a server's `words` name by the table `SIGNS`, each with the place of
    its first sign."""
    found = {limit: pattern.search(words) for limit, pattern in _patterns().items()}
    places = {limit: match.start() for limit, match in found.items() if match}
    if not SIZE.search(words):
        places.pop("answer", None)
    return places


def outcome_of(status: int, places: dict[str, int]) -> Outcome:
    """Returns the outcome of a refusal by its HTTP `status` and its signs alone (`places`, of
    `signs`): `overloaded`, `does not fit`, or `harness error` where they decide nothing."""
    if status in OVERLOADED:
        return Outcome.OVERLOADED
    if (places and places.keys() <= {"prompt", "excess"}) or (
        status == TOO_LARGE and not places
    ):
        return Outcome.DOES_NOT_FIT
    return Outcome.HARNESS_ERROR


def is_vague(status: int, places: dict[str, int]) -> bool:
    """Whether a refusal with the HTTP `status` says by its signs (`places`, of `signs`) only that
    something is too much."""
    return places.keys() == {"excess"} and status != TOO_LARGE


def _numbers(words: str, status: int) -> set[int]:
    """Returns the whole numbers in a server's `words`, the HTTP `status` aside."""
    return {int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", words)} - {status}


def counts_it(words: str, status: int, prompt: Prompt) -> bool:
    """Whether a server's `words` have a number that can be the tokens of `prompt`, and a smaller
    one, which then is the limit. The HTTP `status` and the longest answer are no such numbers."""
    answer, length = prompt.sampling.max_tokens, prompt.characters
    numbers = _numbers(words, status) - {answer}
    tokens = [n for n in numbers if length / 6 <= n <= length / 1.5 + answer]
    return any(SMALLEST_CONTEXT <= n < max(tokens, default=0) for n in numbers)


def counts_answer(words: str, status: int, prompt: Prompt) -> bool:
    """Whether a server's `words` have the longest answer that `prompt` asks for as a number, and a
    smaller number, which then is the limit. The HTTP `status` is no such number."""
    answer, numbers = prompt.sampling.max_tokens, _numbers(words, status)
    return answer in numbers and any(SMALLEST_CONTEXT <= n < answer for n in numbers)


def blames_answer(places: dict[str, int], prompt: Prompt) -> bool:
    """Whether a refusal of `prompt` with signs of the answer's length blames that length: it is the
    longer of the two, or named first. `places` are those that `signs` returns."""
    longer = prompt.sampling.max_tokens > prompt.characters / CHARACTERS_PER_TOKEN
    return longer or places["answer"] < places.get("prompt", LONGEST_WORDS)


def shortened(prompt: Prompt) -> Prompt | None:
    """Returns `prompt` with the first `SHORT` characters of each message; None where that is more
    than half of it."""
    messages = tuple(
        replace(one, content=one.content[:SHORT]) for one in prompt.messages
    )
    shorter = replace(prompt, messages=messages)
    return shorter if 2 * shorter.characters < prompt.characters else None
