"""Answers that name a faulty line: `{"line_number": 12, "line": "…"}` (Fault Localizability, section IV-B).

`strict` counts exactly the line; `reference` counts lines within two of it, as the public artifact does.
"""

from __future__ import annotations

import json
import re

from codestress.scoring.judging import said, unanswered, unread
from codestress.types import Reason, Response, Score

TOLERANCE = 2
"""Lines by which the artifact lets an answer be off; the paper says only that numbers are compared."""

DECODER = json.JSONDecoder(strict=False)


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
    right = 1 <= number <= len(lines) and abs(number - label) <= tolerance
    detail = f"line {number}"
    if quoted is not None and not (1 <= number <= len(lines) and same_line(quoted, lines[number - 1])):
        where = [place for place, line in enumerate(lines, start=1) if same_line(quoted, line)]
        detail += f", but the quoted line stands in {where[:3]}" if where else ", but the quoted line is not there"
    return Score(Reason.RIGHT if right else Reason.WRONG, float(right), detail)


def named_line(text: str) -> tuple[int, str | None] | None:
    """Line number and quoted line of the last JSON object that has a number; None where there is none."""
    for found in reversed(list(re.finditer(r"\{[^{}]*\"line_number\"", text))):
        try:
            value, _ = DECODER.raw_decode(text, found.start())
        except ValueError:
            # The quoted line may hold quotes that the model did not escape.
            number = re.match(r"\{\s*\"line_number\"\s*:\s*(\d{1,9})\s*[,}]", text[found.start() :])
            if number:
                return int(number[1]), None
            continue
        number_found = value.get("line_number")
        if isinstance(number_found, int) and not isinstance(number_found, bool):
            quoted = value.get("line")
            return number_found, quoted if isinstance(quoted, str) else None
    return None


def same_line(one: str, other: str) -> bool:
    """Whether two lines are the same but for white space."""
    return one.split() == other.split()
