"""Simulated reader's search for a fault: the look of lines decides, never knowledge of
the answer (Fault Localizability).

Each program line that the reader kept gets a suspicion (a weight) from its text. A
comment that speaks of a fault adds suspicion to the line below. The named line is drawn
in proportion to suspicion.
"""

import json
import re
from functools import lru_cache
from pathlib import Path

import numpy as np

from codestress.simulated.reading import Reading
from codestress.validation import read_yaml

TABLE = read_yaml(Path(__file__).with_name("reading.yaml"))
SUSPICIOUS = [(re.compile(pattern), weight) for pattern, weight in TABLE["suspicious"]]
"""Patterns of suspicious lines, each with the suspicion that it adds."""
Line = tuple[int, str]
"""Number and text of a line."""
BASE = 0.02
"""Suspicion that every line of code has."""
ALARM = re.compile("|".join(TABLE["alarming"]), re.IGNORECASE)
"""Pattern of words that speak of a fault."""
ALARMED = 6.0
"""Suspicion added to a line below a comment that speaks of a fault, for a reader that
fully believes comments."""


def localize_fault(reading: Reading, _prefill: str) -> str | None:
    """Return a simulated reader's answer, in JSON, to the question for a line number;
    None for any other question.

    The answer is a program line that the reader has kept (not missed) in `reading`,
    drawn in proportion to suspicion; line 1 if none was kept. For readers of the style
    `reasoning`, a thought stands before the answer.
    """
    if '"line_number"' not in reading.question:
        return None
    lines = _program(reading)
    if not lines:
        return json.dumps({"line_number": 1, "line": ""})
    number, line, thought = _suspect(reading, lines)
    return thought + json.dumps({"line_number": number, "line": line})


def point_at_fault(reading: Reading, _prefill: str) -> str | None:
    """Return a simulated reader's answer in prose to the printed prompt of section II
    of Fault Localizability.

    The answer is a line that the reader has kept (not missed) in `reading` below the
    question `ASKED`, drawn in proportion to suspicion. If no such line was kept, the
    answer says that the reader sees no program. Return None if `ASKED` was not kept.
    """
    kept = _kept(reading)
    asked = [line for line, text in kept if ASKED in text]
    if not asked:
        return None
    start = asked[0] + 1
    lines = [(line - start, text) for line, text in kept if line >= start]
    if not lines:
        return "I cannot see a program."
    number, line, thought = _suspect(reading, lines)
    return f"{thought}The error is in line {number}:\n\n`{line}`"


ASKED = "Can you identify the specific line of code responsible for the error?"
"""Sentence by which a reader recognises the printed prompt of section II."""


def _suspect(reading: Reading, lines: list[Line]) -> tuple[int, str, str]:
    """Draw one of `lines` in proportion to suspicion, and return its number, its text
    and, for a reader of the style `reasoning`, the thought that it looks wrong.

    The suspicion is that of `seen_as`; below a comment that speaks of a fault, it is
    higher if the reader believes comments.
    """
    weights = []
    alarmed = False
    for _, text in lines:
        weight, alarming = seen_as(text)
        if alarmed and weight:
            weight += ALARMED * reading.reader.credulity
        weights.append(weight)
        alarmed = alarming
    sums = np.cumsum(weights)
    chosen = np.searchsorted(sums, reading.random.random() * sums[-1], side="right")
    number, text = lines[min(int(chosen), len(lines) - 1)]
    line = text.strip()
    thought = ""
    if reading.reader.style == "reasoning":
        thought = f"<think>\nThe line `{line}` looks wrong to me.\n</think>\n"
    return number, line, thought


@lru_cache(maxsize=50_000)
def seen_as(text: str) -> tuple[float, bool]:
    """Return the suspicion of the line `text` (0 for a comment), and whether the line
    is a comment that speaks of a fault.

    Results are cached, since the same lines come again in every mutation of a program.
    """
    if comment := re.match(r"\s*(?:#|//)(.*)", text):
        return 0.0, bool(ALARM.search(comment[1]))
    weights = [weight for pattern, weight in SUSPICIOUS if pattern.search(text)]
    return BASE + sum(weights), False


def _program(reading: Reading) -> list[Line]:
    """Return the program lines that the reader has kept in `reading`, as pairs of
    number and text.

    A number that stands before a line is its number. Otherwise line 1 stands below the
    first kept code fence; without a kept fence, line 0 stands two lines below the first
    kept line. The list is empty if no program line was kept.
    """
    kept = _kept(reading)
    fences = [line for line, text in kept if text.startswith("```")]
    lines = []
    for line, text in kept:
        start = fences[0] if fences else kept[0][0] + 2
        if line <= start or text in reading.question or text.startswith("```"):
            continue
        number = line - start
        if written := re.match(r"(\d+): (.*)$", text):
            number = int(written[1])
            text = written[2]
        lines.append((number, text))
    return lines


def _kept(reading: Reading) -> list[Line]:
    """Return the kept segments of `reading`, each with its line."""
    texts = [text for _, text in reading.kept]
    return list(zip(reading.lines, texts, strict=True))


TASKS = (localize_fault, point_at_fault)
