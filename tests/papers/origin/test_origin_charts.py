"""Figures of Find the Origin: their size with the paper's models, and their titles."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from codestress.fitting.exponential import ExponentialFit
from codestress.papers.origin import charts, results
from codestress.report.style import PUBLISHED, TALLEST
from told import names

CONDITIONS = ("d = 15, other lines shuffled", "d = 15, in order")
TITLE = 0.6
"""Height in inches of the title and footnote, which `publish` adds."""


def shares_of(models: list[str]) -> pd.DataFrame:
    rows = product(CONDITIONS, models)
    table = pd.DataFrame(rows, columns=["condition", "model"])
    return table.assign(accuracy=0.5, low=0.4, high=0.6)


def height(figure: Figure) -> float:
    with warnings.catch_warnings(action="error"):  # a layout without room warns
        figure.draw_without_rendering()
    return float(figure.get_size_inches()[1])


def test_published_shares_stand_in_a_panel_of_their_own() -> None:
    bars = results.published_shares("origin/fig11", 0.95)
    models = bars["model"].unique().tolist()
    shares = results.share_table(bars, shares_of(models))
    figure = charts.share_rows(shares, xlabel="right (%)")
    assert height(figure) < TALLEST - TITLE
    theirs, ours = figure.axes[:2]
    names(theirs.get_title("right"), "published")
    names(ours.get_title("right"), "regenerated")
    colours = {to_hex(bar.get_facecolor()).upper() for bar in theirs.containers[0]}
    assert colours == {PUBLISHED}
    labels = [label.get_text() for label in theirs.get_yticklabels()]
    assert set(labels) == set(bars["label"])


@pytest.mark.slow
def test_maps_of_many_models_fit_a_page() -> None:
    rows = product([f"m{n}" for n in range(14)], [16, 24])
    cells = pd.DataFrame(rows, columns=["model", "lines"])
    cells["outcome"] = ["correct", "incorrect"] * 14
    sources = ("published", "regenerated, shuffled", "regenerated, in order")
    parts = [cells.assign(source=source) for source in sources]
    figure = charts.outcome_map(pd.concat(parts))
    assert height(figure) <= TALLEST - TITLE
    assert [len(ax.get_yticks()) for ax in figure.axes[:3]] == [14] * 3


def test_the_legend_has_where_a_fit_halves_or_that_it_is_rejected() -> None:
    draws = np.empty((0, 3))
    fits = {
        ("sim-wide", 1): ExponentialFit(draws, 0.95, 0.9, np.log(2) / 10, 0.0),
        ("sim-wide", -1): ExponentialFit(draws, 0.95, 0.9, 0.2, 0.0, lack=0.001),
    }
    rows = [("theirs (published)", True, d) for d in (1, 15)]
    rows += [("sim-wide", False, d) for d in (1, 15, -1, -15)]
    points = pd.DataFrame(rows, columns=["label", "published", "d"])
    points = points.assign(accuracy=[0.9, 0.2, 0.8, 0.7, 0.8, 0.5], low=0.1, high=0.9)
    [legend] = charts.distance_curve(points, fits).legends
    *labels, fit = [text.get_text() for text in legend.get_texts()]
    assert labels == ["sim-wide", "theirs (published)"]
    names(fit, "sim-wide", "10 down", "rejected up")
    names(results.distances_headline(points), "15 lines", "sim-wide 20", "theirs 70")


def test_titles_of_maps_name_the_best_models() -> None:
    rows = [
        ("published", "a", 9),
        ("regenerated, shuffled", "b", 3),
        ("regenerated, in order", "b", 5),
        ("regenerated, in order", "c", 4),
    ]
    table = pd.DataFrame(rows, columns=["source", "model", "correct"])
    title = results.outcomes_headline(table, [15])
    names(title, "d = 15", "9 sizes in the paper (a)", "5 here (b)")
    title = results.outcomes_headline(table.replace({"correct": {5: 4}}), [15])
    names(title, "4 here (b and 1 more)")


def test_titles_of_shares_have_the_largest_or_the_number_of_clear_differences() -> None:
    bars = results.published_shares("origin/fig04", 0.95)
    ours = shares_of(["sim-a", "sim-b"])
    in_order = ours[ours["condition"] == CONDITIONS[1]]
    none = pd.DataFrame(columns=["low", "high"])
    title = results.shares_headline(results.share_table(bars, in_order), none)
    names(title, "d = 15", "27 % right in the paper (GPT4-turbo)", "50 % here (sim-a")
    differences = pd.DataFrame({"p_value": [0.02, 0.03]})  # by Holm, 0.04 and 0.04
    differences = differences.assign(
        first="d = 15, shuffled", second="d = 15, in order"
    )
    title = results.shares_headline(ours, differences)
    names(title, "d = 15, shuffled", "in order", "differences for 2 of 2")
    more = differences.assign(p_value=differences["p_value"] + 0.01)
    names(results.shares_headline(ours, more), "none of 2")
    more.loc[1, "second"] = "d = 15, as printed"
    assert "in order" not in results.shares_headline(ours, more)


def test_the_best_models_stand_first_and_none_is_left_out() -> None:
    rows = [("a", "x", 0.2), ("b", "x", 0.4), ("a", "y", 0.9), ("c", "y", 1.0)]
    shares = pd.DataFrame(rows, columns=["label", "condition", "accuracy"])
    shares = shares.assign(source="regenerated", low=0.1, high=1.0)
    ax = charts.share_rows(shares, xlabel="").axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a", "c"]
