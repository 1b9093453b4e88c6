"""NCC: neutral comments, which say nothing about the program and are as long as the
misleading ones (a control of the kit, not of CodeCrash).

A comment may cost accuracy before it misleads, since it adds text and separates lines
of code. MCC (misleading comments) has this cost and the cost of the message. NCC has
the first cost alone. It puts a comment at each place of an MCC comment, with as many
characters, about nothing but the comment's own English. The sentences are the kit's
own.
"""

import re
from collections.abc import Sequence

from codestress.types import Language

from ..draw import Draw
from .edits import stimuli

HEADS, TAILS, KEYWORDS = stimuli("neutral").values()
"""Phrases that begin a neutral sentence; phrases that may follow, in this order; dict
from a language to its keywords among the words of the sentences.

A sentence that shares only a keyword with a program still says nothing about the
program.
"""
LONGEST = 90
"""Most characters of one sentence; longer texts have several sentences."""
PART = 60
"""Length, in characters, of the sentences with which longer texts begin."""
NEUTRAL = rf"(?:(?:{'|'.join(HEADS)})(?:{'|'.join(TAILS)})*\.|\.+)"
"""Pattern of one neutral sentence, or of a row of full stops."""


def neutral_text(
    length: int, draw: Draw, program: str, language: Language = "python"
) -> str:
    """Return a text of exactly `length` characters that is true and about nothing but
    itself.

    The text shares no word with the text `program`, except keywords of `language`. It
    is made of neutral sentences. Full stops replace a sentence if none is short enough,
    or if all have words of the program.
    """
    names = _words(program) - {*KEYWORDS[language]}
    heads, tails = (
        [part for part in parts if not _words(part) & names] for parts in (HEADS, TAILS)
    )
    parts, left = list[str](), length
    while left > LONGEST and (part := _sentence(PART, heads, tails, draw)):
        parts.append(part)
        left -= PART + 1
    last = _sentence(left, heads, tails, draw) or "." * left
    return " ".join([*parts, last])


def is_neutral(comment: str) -> bool:
    """Return whether a comment's text, without the comment sign, consists of neutral
    sentences or full stops alone."""
    return bool(re.fullmatch(f"{NEUTRAL}(?: {NEUTRAL})*", comment))


def _sentence(
    length: int, heads: Sequence[str], tails: Sequence[str], draw: Draw
) -> str:
    """Return a sentence of `length` characters, full stop included: one of `heads`,
    then some of `tails` in their order.

    Return the empty text if no such sentence has that length.
    """
    sums = _sums(tails)
    possible = [head for head in heads if length - 1 - len(head) in sums[0]]
    if not possible:
        return ""
    text = draw.choice(possible)
    for number, tail in enumerate(tails):
        left = length - 1 - len(text)
        options = [part for part in ("", tail) if left - len(part) in sums[number + 1]]
        text += draw.choice(options)
    return f"{text}."


def _sums(tails: Sequence[str]) -> list[set[int]]:
    """Return, for each index of `tails` and the one after the last, the set of all
    total lengths of choices from that index on."""
    sums = [{0}]
    for tail in reversed(tails):
        sums.append(sums[-1] | {length + len(tail) for length in sums[-1]})
    return sums[::-1]


def _words(text: str) -> set[str]:
    """Return the words of a text, in lower case."""
    return {word.casefold() for word in re.findall(r"\w+", text)}
