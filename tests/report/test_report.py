"""Tables, claims and figures with what real runs put into them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from codestress.papers.origin.distance_curve import FittedSide, distance_curve
from codestress.papers.origin.length_curve import length_curve
from codestress.papers.origin.outcome_map import OutcomeRow, outcome_map
from codestress.report.claims import Claim, claims_frame
from codestress.report.publish import latex_table, markdown_table
from codestress.report.published import published_models, published_numbers
from codestress.report.share_bars import share_bars
from codestress.types import Reason


def test_tables_escape_what_would_break_them() -> None:
    frame = pd.DataFrame({"a|b": ["x|y", "50 % & more_"], "n": [0.12345, float("nan")], "k": [3, 4]})
    assert markdown_table(frame).splitlines()[2:] == [r"| x\|y | 0.123 | 3 |", "| 50 % & more_ |  | 4 |"]
    latex = latex_table(frame)
    assert r"50 \% \& more\_" in latex
    assert r"\begin{tabular}{lrr}" in latex


@pytest.mark.parametrize(
    ("published", "regenerated", "low", "high", "verdict"),
    [
        (27.4, 30.0, 25.0, 35.0, "holds"),
        (27.4, 40.0, 35.0, 45.0, "differs"),
        (27.4, 50.0, 27.44, 60.0, "holds"),  # as rounded as the paper prints it
        (27.4, math.nan, math.nan, math.nan, "not run"),
    ],
)
def test_verdicts(published: float, regenerated: float, low: float, high: float, verdict: str) -> None:
    claim = Claim("origin/fig04", "share", published, "%", regenerated, low, high)
    assert claim.verdict == verdict
    assert claims_frame([claim])["verdict"].tolist() == [verdict]


def test_an_empty_ledger_has_its_columns() -> None:
    assert "verdict" in claims_frame([]).columns


def test_published_numbers_agree_with_each_other() -> None:
    for bars, cells in (("fig04", "fig02"), ("fig05", "fig03"), ("fig11", "fig10")):
        outcomes = published_numbers(f"origin/{cells}")
        numbers = published_numbers(f"origin/{bars}")
        assert outcomes is not None
        assert numbers is not None
        assert set(outcomes["outcomes"]) == set(numbers["right"]) == set(published_models("origin"))
        for model, bits in outcomes["outcomes"].items():
            assert len(bits) == numbers["asked"] == outcomes["sizes"]
            assert bits.count("1") == numbers["right"][model]
            assert numbers["bar_percent"][model] == pytest.approx(100 * bits.count("1") / len(bits), abs=0.1)
    assert published_numbers("origin/wording") is None


def test_figures_can_be_drawn_from_very_little() -> None:
    rows = [OutcomeRow("m", [16], [Reason.TIMEOUT.value]), OutcomeRow("n", [16], [Reason.RIGHT.value])]
    one = {"label": ["m"], "share": [0.5], "low": [np.nan], "high": [np.nan]}
    points = pd.DataFrame({**one, "d": [1], "published": [False]})
    lengths = pd.DataFrame({**one, "characters": [900], "published": [False]})
    outcomes = pd.DataFrame({"label": ["m"], "characters": [900], "outcome": ["solved"], "share": [1.0]})
    for figure in (
        outcome_map({"regenerated": rows}),
        share_bars({"regenerated": pd.DataFrame({**one, "condition": ["c"]})}, xlabel="x"),
        distance_curve(points, [FittedSide("m", 1, 0.5, math.inf), FittedSide("m", -1, math.nan, math.nan)]),
        length_curve(lengths, outcomes, ["solved"]),
    ):
        figure.draw_without_rendering()
