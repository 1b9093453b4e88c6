"""Accuracy by share of lines removed: its curves and titles."""

import math

import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection
from small_study import crossed, settings

from codestress.papers.semtrace import removal_charts
from codestress.papers.semtrace.results import removal
from codestress.papers.semtrace.results.removal import (
    accuracy_by_share,
    recall_sensitivity,
)
from told import names

SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
STEP = {share: float(share < 0.6) for share in SHARES}
FALLING = {share: math.exp(-2 * share) for share in SHARES}


def versions(right: dict[float, float], problems: int = 40) -> pd.DataFrame:
    """Return answers on programs of ten lines.

    `right` has, for each share of lines removed, the share of programs that are right.
    """
    answers = crossed(problem=range(problems), share_removed=right)
    limit = problems * answers["share_removed"].map(right)
    answers["value_strict"] = (answers["problem"] < limit).astype(float)
    answers["removed"] = (10 * answers["share_removed"]).round().astype(int)
    answers = answers.assign(lines=10, model="phi-4", task="output_prediction")
    return answers.assign(outcome_strict="correct")


def drawn_curves(answers: pd.DataFrame) -> pd.DataFrame:
    table = accuracy_by_share(answers, confidence=0.95)
    return removal.fitted_curves(table, removal.fit_removal(answers, settings()))


def test_a_title_has_the_measured_loss_and_no_fit() -> None:
    def title(right: dict[float, float]) -> str:
        table = recall_sensitivity(versions(right), settings())
        return removal.removal_title(table)

    names(title(STEP), "phi-4", "33 %")  # 2 of 6 versions
    assert "half" not in title(FALLING).lower()
    names(title(dict.fromkeys(SHARES, 0.0)), "nan %")


def test_curves_reach_as_far_as_their_points() -> None:
    curves = drawn_curves(versions(FALLING).query("share_removed < 0.6"))
    assert (curves["share_removed"].min(), curves["share_removed"].max()) == (0, 0.5)


@pytest.mark.parametrize(
    ("right", "style", "bands"), [(FALLING, "-", 1), (STEP, ":", 0)]
)
def test_a_rejected_fit_is_dotted_and_has_no_band(
    right: dict[float, float], style: str, bands: int
) -> None:
    answers = versions(right, problems=400)
    table = accuracy_by_share(answers, confidence=0.95)
    curves = drawn_curves(answers)
    figure = removal_charts.removal_curve(table, curves, None, confidence=0.95)
    [ax] = figure.axes
    assert ax.lines[0].get_linestyle() == style
    areas = [isinstance(mark, FillBetweenPolyCollection) for mark in ax.collections]
    assert sum(areas) == bands


def test_the_table_of_fits_has_the_loss_at_half() -> None:
    fits = removal.fit_removal(versions(FALLING), settings())
    [fit] = fits.values()
    row = removal.fit_table(fits).iloc[0]
    assert (row["rate"], row["programs"]) == (fit.rate, 40)
    assert row["loss_at_half"] == pytest.approx(1 - math.exp(-1), abs=0.05)
    assert row["loss_low"] < row["loss_at_half"] < row["loss_high"]
