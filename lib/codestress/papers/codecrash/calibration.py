"""Calibration of CodeCrash's estimator on a simulated reader whose probabilities of a correct
answer are set.

The true accuracy of other simulated readers is unknown: only running the lines that they kept shows
whether an answer is correct. This reader reads no program. Its probability of a correct answer is
drawn once for each program, and each perturbation leaves a set share of that probability.
"""

from __future__ import annotations

import itertools

import pandas as pd

from codestress.papers.codecrash.parameters import DifferenceCalibration
from codestress.papers.codecrash.results.differences import (
    POINTS,
    RELATIVE,
    relative_difference,
)
from codestress.seeding import rng
from codestress.simulated.calibration import estimates

PLAIN = "VAN"


def known_answers(given: DifferenceCalibration) -> pd.DataFrame:
    """Returns simulated answers of one study with the parameters `given`, a row for each problem,
    condition and sample.

    Columns: problem, condition (`VAN`, the plain program; then for each share of its chance that is
    left, in `given.kept`, such as `80% left` or, for 1, `asked again`), sample (from 0), chance
    (probability of a correct answer), value_strict (1 or 0).
    """
    random = rng(given.seed, "calibration")
    chances = random.beta(
        2, 1, given.n_problems
    )  # programs differ: most are easy, some are hard
    conditions = {PLAIN: 1.0} | {_named(kept): kept for kept in given.kept}
    rows = [
        (f"problem {number}", condition, sample, kept * chances[number])
        for number, (condition, kept), sample in itertools.product(
            range(given.n_problems), conditions.items(), range(given.samples)
        )
    ]
    answers = pd.DataFrame(rows, columns=["problem", "condition", "sample", "chance"])
    return answers.assign(
        value_strict=(random.random(len(answers)) < answers["chance"]) * 1.0
    )


def _named(kept: float) -> str:
    return "asked again" if kept == 1 else f"{kept:.0%} left"


def differences(
    answers: pd.DataFrame, confidence: float, *, relative: bool
) -> pd.DataFrame:
    """Returns the difference of each condition (index) to the plain programs, paired by problem,
    with an interval at `confidence`: value, low, high, in % of the plain programs if `relative`,
    else in points (`relative_difference`). `answers` come from `known_answers`."""
    scores = answers.pivot_table(
        index="problem", columns="condition", values="value_strict", sort=False
    )
    columns = RELATIVE if relative else POINTS
    conditions = [name for name in scores if name != PLAIN]
    rows = [
        relative_difference(scores[PLAIN], scores[name], confidence)
        for name in conditions
    ]
    return estimates(pd.DataFrame(rows), columns, conditions)
