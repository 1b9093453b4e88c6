"""Signs by which servers say which limit a request crosses: that of the prompt's length, that of
the answer's length, or another one, such as a rate; or that something they do not name exceeds one.

A sign is a regular expression for the words, codes and field names of a refusal, in the languages
that servers speak (params/refusals.yaml).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Literal

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

Limit = Literal["", "load", "prompt", "answer"]
"""The limit that a refused request crosses: the server's load, the prompt's length, the answer's
length; empty for another or an unknown one."""


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    patterns = {}
    for limit, rows in read_yaml(SIGNS).items():
        patterns[limit] = re.compile("|".join(rows.values()), re.I | re.S)
    return patterns


def signs(words: str) -> dict[str, int]:
    """Returns the limits that a server's `words` name by the table `SIGNS`, each with the place of
    its first sign; of longer words the first `LONGEST_WORDS` characters count."""
    words = words[:LONGEST_WORDS]
    places = {}
    for limit, pattern in _patterns().items():
        if match := pattern.search(words):
            places[limit] = match.start()
    if not SIZE.search(words):
        places.pop("answer", None)
    return places


def outcome_of(status: int, words: str) -> Outcome:
    """Returns the outcome of a refusal by its HTTP `status` and its `words` alone: `overloaded`,
    `does not fit`, or `harness error` where they decide nothing."""
    places = signs(words)
    if status in OVERLOADED:
        return Outcome.OVERLOADED
    if places.keys() <= {"prompt", "excess"} and (places or status == TOO_LARGE):
        return Outcome.DOES_NOT_FIT
    return Outcome.HARNESS_ERROR


def crossed(
    status: int, words: str, prompt: Prompt, is_longest: bool
) -> tuple[Limit, bool]:
    """Returns the limit that `prompt` crosses by the HTTP `status` and the `words` of its refusal,
    and whether this is in doubt: where a shorter prompt is answered, the limit is the prompt's.

    `is_longest` says that no prompt of this length was answered before: then even a refusal without
    any sign may be about the length.
    """
    words = words[:LONGEST_WORDS]
    places = signs(words)
    if status in OVERLOADED:
        return "load", False
    if "other" in places:
        return "", False
    if "answer" in places:
        if not _blames_answer(places, prompt):
            return "prompt", False
        return ("answer" if status in SUSPICIOUS else ""), True
    if "prompt" in places or status == TOO_LARGE:
        return "prompt", False
    if places:
        return "", True
    texts = re.findall(r"\d[\d,]*", words)
    numbers = {int(text.replace(",", "")) for text in texts} - {status}
    answer = prompt.sampling.max_tokens
    counts_prompt = _counts_prompt(numbers - {answer}, prompt)
    if status not in SUSPICIOUS:
        return "", counts_prompt
    if counts_prompt:
        return "prompt", False
    if answer in numbers and _has_limit(numbers, answer):
        return "answer", True
    return "", is_longest


def _has_limit(numbers: set[int], tokens: int) -> bool:
    """Whether one of `numbers` in a refusal can be a limit below `tokens`."""
    return any(SMALLEST_CONTEXT <= number < tokens for number in numbers)


def _counts_prompt(numbers: set[int], prompt: Prompt) -> bool:
    """Whether `numbers`, of a refusal, have one that can be the tokens of `prompt`, and a smaller
    one, which then is the limit."""
    fewest = prompt.characters / 6
    most = prompt.characters / 1.5 + prompt.sampling.max_tokens
    tokens = max((n for n in numbers if fewest <= n <= most), default=0)
    return _has_limit(numbers, tokens)


def _blames_answer(places: dict[str, int], prompt: Prompt) -> bool:
    """Whether a refusal of `prompt` with signs of the answer's length blames that length: it is the
    longer of the two, or named first. `places` are those that `signs` returns."""
    if prompt.sampling.max_tokens > prompt.characters / CHARACTERS_PER_TOKEN:
        return True
    return places["answer"] < places.get("prompt", LONGEST_WORDS)


def shortened(prompt: Prompt) -> Prompt | None:
    """Returns `prompt` with the first `SHORT` characters of each message; None where that is more
    than half of it."""
    messages = []
    for message in prompt.messages:
        messages.append(replace(message, content=message.content[:SHORT]))
    shorter = replace(prompt, messages=tuple(messages))
    return shorter if 2 * shorter.characters < prompt.characters else None
