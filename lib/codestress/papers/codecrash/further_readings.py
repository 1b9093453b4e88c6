"""How often a simulated reader answers CodeCrash right: estimated once, from many further readings of each question.

An answer is what the kept lines do when they are run, so that its probability cannot be computed as it is for the other
papers (docs/readers.md). `bench/readings.py` has each question of the demo read `FURTHER` more times, and notes what
came of it in params/readings/codecrash.csv; none of these readings is one that a figure shows. Questions that are not
there, as those of another seed, have no such value.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from codestress.paths import PARAMS
from codestress.simulated.engine import REVISION
from codestress.types import Prompt

READINGS = PARAMS / "readings" / "codecrash.csv"
"""Columns: question (`question_key`), right (of `FURTHER` readings, by the strict rule), and the mean tokens of the
answer and of what was thought before it."""
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


@cache
def _readings() -> dict[str, Readings]:
    with READINGS.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return {
            question: Readings(int(right) / FURTHER, float(tokens), float(thought))
            for question, right, tokens, thought in rows
        }


def readings(settings: Mapping[str, Any], *prompts: Prompt) -> Readings | None:
    """What came of the further readings of a question; None where there were none."""
    return _readings().get(question_key(settings, *prompts))
