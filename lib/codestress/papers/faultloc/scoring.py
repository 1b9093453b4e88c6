"""Answers that name a faulty line: `{"line_number": 12, "line": "…"}` (Fault Localizability, section IV-B).

`strict` counts exactly the line; `reference` counts lines within two of it, as the public artifact does.
"""

from __future__ import annotations

import json
import re
from operator import itemgetter
from typing import Any

from codestress.scoring.judging import said, unanswered, unread
from codestress.types import Outcome, Response, Score

TOLERANCE = 2
"""Lines by which the artifact lets an answer be off; the paper says only that numbers are compared."""

DECODER = json.JSONDecoder(strict=False, parse_int=lambda digits: _integer(digits))


def score_location(response: Response, label: int, code: str, tolerance: int) -> Score:
    """Right when the number is within `tolerance` of the label; a number that is no line of the program is wrong.

    The detail says what was named, and whether the quoted line stands there.
    """
    if score := unanswered(response):
        return score
    answer = named_line(said(response.text))
    if answer is None:
        return unread(response, "no JSON object with a whole number in line_number")
    number, quoted = answer
    lines = code.split("\n")
    named = lines[number - 1] if 1 <= number <= len(lines) else None
    right = named is not None and abs(number - label) <= tolerance
    detail = f"line {number}"
    if quoted is not None and (named is None or named.split() != quoted.split()):  # the same but for white space
        where = [place for place, line in enumerate(lines, start=1) if line.split() == quoted.split()]
        detail += f", but the quoted line stands in {where[:3]}" if where else ", but the quoted line is not there"
    return Score(Outcome.CORRECT if right else Outcome.INCORRECT, float(right), detail)


def named_line(text: str) -> tuple[int, str | None] | None:
    """Line number and quoted line of the last JSON object that has a number; None where there is none.

    The number is a whole one or a text of digits, and stands where it likes in an object, which stands where it likes
    in the text. Of what is meant for an object and is none (a quoted line with quotes in it, a dictionary of Python's)
    the number alone is read.
    """
    found: list[tuple[int, tuple[int, str | None]]] = []
    left = ""  # the text with what was read blotted out
    at = text.find("{")
    while at >= 0:
        try:
            value, end = DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            left += text[len(left) : at] + "\0" * (end - at)
            if named := _named_in(value):
                found.append((at, named))
        at = text.find("{", end)
    left += text[len(left) :]
    found += [(one.start(), (_integer(one[1]), None)) for one in BROKEN.finditer(left)]
    return max(found, key=itemgetter(0))[1] if found else None


QUOTE = r"\\?[\"'“”]?"  # Python's, a word processor's, or those of an object within a text
BROKEN = re.compile(rf"[{{,]\s*{QUOTE}line_number{QUOTE}\s*:\s*{QUOTE}\s*([0-9]+)\s*{QUOTE}\s*[,}}]")


def _named_in(value: Any) -> tuple[int, str | None] | None:
    """What an object names, else the last of those inside it."""
    if isinstance(value, dict):
        number, quoted = whole_number(value.get("line_number")), value.get("line")
        if number is not None:
            return number, quoted if isinstance(quoted, str) else None
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((named for one in reversed([*inside]) if (named := _named_in(one))), None)


def whole_number(value: Any) -> int | None:
    """An integer, or the one that a text of digits writes out; None for anything else, true and 4.0 included."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]+\s*", value):
        value = _integer(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _integer(digits: str) -> int:
    """Of more digits than any program has lines, the first ones: such a number names no line, however long it is."""
    return int(digits.strip()[:20])
