"""Calibration of Sense and Sensitivity's estimators on SemTrace, by readers with known
parameters."""

from __future__ import annotations

import re

import pandas as pd

from codestress.literals import parse_literal
from codestress.papers.semtrace.results.by_position import dips
from codestress.problems.program import Problem
from codestress.simulated.calibration import estimates
from codestress.simulated.reading import Settings, prospect
from codestress.types import Prompt


def chance(problem: Problem, prompt: Prompt, reader: Settings) -> float:
    """Probability (0 to 1) that a simulated reader answers correctly the SemTrace question in
    `prompt`.

    `problem` is the problem asked about (`StopIteration` if `prompt` lacks its program), `reader`
    the reader's settings. The reader must remember the function's head, the list of zeros, and each
    assignment of a value other than zero: an element without its assignment stays 0. Other
    functions do not mislead a reader that traces by hand; a refusal is incorrect.
    """
    seen = prospect(prompt, reader)
    lines = problem.code.split("\n")
    start = next(
        n for n in range(len(seen.pieces)) if seen.pieces[n : n + len(lines)] == lines
    )
    values = parse_literal(problem.output).value
    needed = [0, 1]
    for number, line in enumerate(lines):
        assigned = re.match(r" +arr\[(\d+)\] = ", line)
        if assigned and values[int(assigned[1])] != 0:
            needed.append(number)
    return float(seen.kept[[start + number for number in needed]].prod()) * (
        1 - reader.refusal
    )


def middle_dips(answers: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Table of the dip of each model in `answers`, indexed by model: the columns value, low, high,
    in percentage points.

    A dip is the accuracy at both ends of the context minus the accuracy in its middle, from strict
    scores, with intervals at the level `confidence`, paired by problem (`position_dip`). nan with
    fewer than three positions.
    """
    table = dips(
        answers, metrics=["strict"], confidence=confidence, resamples=100, seed=seed
    )
    return estimates(table, ("dip_points", "dip_low", "dip_high"), table["model"])
