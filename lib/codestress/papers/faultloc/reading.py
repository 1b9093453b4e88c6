"""How a simulated reader looks for a fault: by what lines look like, never by knowing (Fault Localizability).

Each kept line of the program gets a suspicion from its text; comments that speak of a fault draw suspicion to the line
below them; the line that is named is drawn in proportion to suspicion.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache

from codestress.simulated.reading import Reading

SUSPICIOUS = (
    (re.compile(r"^\s*return;?$"), 30.0),
    (re.compile(r"^\s*return (?:0|null|false|None);$"), 6.0),
    (re.compile(r"range\(.*[-+] ?1\b|[-+] 1\)"), 8.0),
    (re.compile(r"<=|>="), 2.5),
    (re.compile(r"\band\b|\bor\b|&&|\|\|"), 2.0),
    (re.compile(r"\w [*/] \w"), 2.0),
    (re.compile(r"\w [-+] \w|[-+*/]="), 1.5),
    (re.compile(r"\bfor\b|\bwhile\b"), 1.0),
    (re.compile(r"\bif (?:\(?false\)?|False|0|1 > 2)\b"), 4.0),
)
"""Patterns and the suspicion that they add."""
BASE = 0.02
ALARM = re.compile(r"wrong|fault|bug|error|off by|too far|careful|fragile|incorrect|fails|broken|must not", re.I)
ALARMED = 6.0
"""Suspicion of a line below a comment that speaks of a fault, for who believes comments entirely."""


def localize_fault(reading: Reading, _prefill: str) -> str | None:
    """Names a kept line of the program."""
    if '"line_number"' not in reading.question:
        return None
    lines = _program(reading)
    if not lines:
        return json.dumps({"line_number": 1, "line": ""})
    weights = []
    alarmed = False
    for _, text in lines:
        weight, alarming = seen_as(text)
        weights.append(weight + ALARMED * reading.reader.credulity * (alarmed and weight > 0))
        alarmed = alarming
    total = sum(weights)
    at = reading.random.random() * total
    chosen = 0
    for chosen, weight in enumerate(weights):  # noqa: B007
        at -= weight
        if at < 0:
            break
    number, text = lines[chosen]
    written = re.match(r"^(\d+): (.*)$", text)
    if written:
        number, text = int(written[1]), written[2]
    answer = json.dumps({"line_number": number, "line": text.strip()})
    if reading.reader.style == "reasoning":
        return f"<think>\nThe line `{text.strip()}` looks wrong to me.\n</think>\n{answer}"
    return answer


@lru_cache(maxsize=50_000)
def seen_as(text: str) -> tuple[float, bool]:
    """How suspicious a line looks (a comment not at all), and whether it is a comment that speaks of a fault: the same
    lines come again in every mutation of a program."""
    code = re.sub(r"^\d+: ", "", text)
    if comment := re.match(r"\s*(?:#|//)(.*)", code):
        return 0.0, bool(ALARM.search(comment[1]))
    return BASE + sum(weight for pattern, weight in SUSPICIOUS if pattern.search(code)), False


def _program(reading: Reading) -> list[tuple[int, str]]:
    """The kept lines of the program with their numbers, counted from the fence, or from the first kept line."""
    placed = [(line, text) for line, (_, text) in zip(reading.lines, reading.kept, strict=True)]
    fences = [line for line, text in placed if text.startswith("```")]
    start = fences[0] if fences else (placed[0][0] + 2 if placed else 0)
    return [
        (line - start, text)
        for line, text in placed
        if line > start and not text.startswith("```") and text not in reading.question
    ]


TASKS = (localize_fault,)
