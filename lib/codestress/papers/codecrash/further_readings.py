"""How often a simulated reader answers CodeCrash right: estimated once, from many further readings of each question.

An answer is what the kept lines do when they are run, so that its probability cannot be computed as it is for the other
papers (docs/readers.md). `bench/readings.py` has each question of the demo read `FURTHER` more times, and notes what
came of it in params/readings/codecrash.csv; none of these readings is one that a figure shows. Questions that are not
there, as those of another seed, have no such value.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from codestress.errors import DataError
from codestress.paths import PARAMS, shown
from codestress.problems.problem_files import read_text
from codestress.simulated.engine import REVISION
from codestress.types import Prompt

READINGS = PARAMS / "readings" / "codecrash.csv"
"""Columns: question (`question_key`), right (of `FURTHER` readings, by the strict rule), and the mean tokens of the
answer and of what was thought before it."""
REMEDY = "`git checkout params/readings` brings it back, `python bench/readings.py` adds what it lacks"
FURTHER = 400
"""Readings of each question. The mean over 32 questions has a standard error of at most 0.45 points."""


def question_key(settings: Mapping[str, Any], *prompts: Prompt) -> str:
    """Names a question to a reader: the prompts that do not depend on an answer, and how the reader reads."""
    named = [json.dumps(settings, sort_keys=True), REVISION, *(prompt.digest for prompt in prompts)]
    return hashlib.blake2b(" ".join(named).encode(), digest_size=6).hexdigest()


class Readings(NamedTuple):
    """What came of the further readings of a question."""

    right: float
    """Share that the strict rule finds right."""
    tokens: float
    """Mean length of the answer."""
    thought: float
    """Mean length of what was thought before it, in tokens."""


COLUMNS = ["question", "right", "tokens", "thought"]


@cache
def known(path: Path = READINGS) -> dict[str, Readings]:
    """What came of the further readings, by question; `DataError` where a file says no such thing."""
    head, *rows = read_text(path).splitlines() or [""]
    if head.split(",") != COLUMNS:
        raise DataError(f"{shown(path)}, line 1: not {','.join(COLUMNS)}; {REMEDY}")
    found: dict[str, Readings] = {}
    for number, line in enumerate(rows, start=2):
        try:
            question, right, *lengths = line.split(",")
            told = Readings(int(right) / FURTHER, *map(float, lengths))
            sound = 0 <= told.right <= 1 and all(math.isfinite(one) and one >= 0 for one in told)
        except (ValueError, TypeError, OverflowError):
            sound = False
        if not sound or question in found:
            raise DataError(f"{shown(path)}, line {number}: no question's readings (of {FURTHER}), or twice; {REMEDY}")
        found[question] = told
    return found


def readings(settings: Mapping[str, Any], *prompts: Prompt) -> Readings | None:
    """What came of the further readings of a question; None where there were none."""
    return known().get(question_key(settings, *prompts))
