"""Scoring rules for answers that name a faulty line.

Answers are JSON such as `{"line_number": 12, "line": "…"}` (Fault Localizability,
section IV-B), or prose, since the paper's printed prompt does not ask for a form
(section II). The rule `strict` accepts the labelled line only; `reference` accepts
lines within two of the label, as the public artifact does.
"""

import re

from codestress.scoring.forms import named_line, without_thoughts
from codestress.scoring.judging import missed, unanswered, unread
from codestress.types import Outcome, Response, Score

TOLERANCES = {"strict": 0, "reference": 2, "changed": 0, "changed_reference": 2}
"""Dict from a scoring rule to the accepted distance, in lines, from the line that
counts as faulty.

The artifact accepts 2; the paper says only that numbers are compared.
"""


def score_location(
    response: Response, label: int, code: str, tolerance: int, *, prose: bool = False
) -> Score:
    """Return the score of `response`: correct if it names a line of `code` at most
    `tolerance` lines from `label`, else incorrect.

    The response is JSON with the number in line_number. With `prose`, it is free text,
    and the line is that of `line_in_prose`. A response that names no line is
    unparsable, truncated if it was cut off, and only reasoning if it is empty or all
    thoughts. A refused response is refused. The score's detail gives the named line.
    """
    if score := unanswered(response):
        return score
    text = without_thoughts(response.text)
    nothing = "no line is named"
    if prose:
        answer = line_in_prose(text, code)
    else:
        answer = named_line(text)
        nothing = "no JSON object with a whole number in line_number"
    if answer is None:
        return unread(response, nothing)
    lines = code.count("\n") + 1
    right = 1 <= answer <= lines and abs(answer - label) <= tolerance
    outcome = Outcome.CORRECT if right else Outcome.INCORRECT
    return Score(outcome, float(right), f"{NAMED}{answer}")


NAMED = "line "
"""Beginning of a score's detail that names a line."""
RULES = ("row", "column", "diagonal")
"""Lines of a chessboard that no two queens may share.

The specification of N-Queens (section II of Fault Localizability) names all three, and
so must an answer.
"""


def score_specification(response: Response) -> Score:
    """Return the score of `response`, on the specification of N-Queens: correct if it
    names rows, columns and diagonals, else incorrect.

    It is truncated instead if it was cut off, and only reasoning if it is empty or all
    thoughts. A refused response is refused. The detail has the missing words.
    """
    if score := unanswered(response):
        return score
    text = without_thoughts(response.text).lower()
    absent = [rule for rule in RULES if rule not in text]
    if absent:
        return missed(response, f"not named: {', '.join(absent)}")
    return Score(Outcome.CORRECT, 1.0, "rows, columns and diagonals")


NUMBERED = re.compile(
    r"\blines?[ *_]*(?:number|no\.|#)?[ *_]*:?[ *_`]*(\d{1,5})\b", re.I
)
TOLD_NUMBER = re.compile(r"^\s*(?:[>*-]\s+)?(?:\d+\s*[:|.)]?\s)?")
"""Pattern of a line number or list mark that an answer may put before a quoted line."""
FENCE = re.compile(r"^[^\S\n]*```[^`\n]*$", re.M)
"""Pattern of a line that begins or ends a block of fenced code."""
STATEMENT = 2
"""Largest number of program lines in a block that still names its first line, since a
statement may take two lines."""


def line_in_prose(text: str, code: str) -> int | None:
    """Return the number of the line of the program `code` that the free text `text`
    names; None if it names no single line.

    The first quoted line decides, else the first stated line number. A quoted line may
    differ from the program's line in white space, and stands once in the program;
    comment lines never count, nor do blocks that quote more than `STATEMENT` lines. A
    stated number may be beyond the lines of the program.
    """
    lines = [_plain(line) for line in code.split("\n")]
    for number, part in enumerate(FENCE.split(text)):
        named = []
        for piece in re.split(r"[`\n]", part):
            quoted = _plain(TOLD_NUMBER.sub("", piece))
            if quoted and quoted in lines:
                named.append(quoted)
        if number % 2 and len(named) > STATEMENT:
            continue
        for quoted in named:
            if lines.count(quoted) == 1:
                return lines.index(quoted) + 1
    match = NUMBERED.search(text)
    return int(match[1]) if match else None


def _plain(line: str) -> str:
    """Return the text `line` with single spaces for white space, none at its ends, and
    without a comment."""
    return " ".join(line.partition("#")[0].split())
