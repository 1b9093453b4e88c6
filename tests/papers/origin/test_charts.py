"""Figures of Find the Origin: their size with the paper's models, and what their titles say."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from codestress.fitting.exponential import ExponentialFit
from codestress.papers.origin import (
    charts,
    needle_charts,
    needle_results,
    published,
    results,
)
from codestress.report.style import PUBLISHED, TALLEST, looks
from told import names

CONDITIONS = ("d = 15, other lines shuffled", "d = 15, in order")
ROOM = 0.6
"""Height of title and footnote in inches, which `publish` adds."""


def fit_of(height: float, rate: float, lack: float = np.nan) -> ExponentialFit:
    return ExponentialFit(np.empty((0, 3)), 0.95, height, rate, 0.0, lack=lack)


def regenerated(models: list[str]) -> pd.DataFrame:
    rows = product(CONDITIONS, models)
    table = pd.DataFrame(rows, columns=["condition", "model"])
    return table.assign(accuracy=0.5, low=0.4, high=0.6)


def size(figure: Figure) -> tuple[float, float]:
    with warnings.catch_warnings(action="error"):  # as of a layout without room
        figure.draw_without_rendering()
    width, height = figure.get_size_inches()
    return float(width), float(height)


def test_the_papers_shares_stand_in_a_panel_of_their_own() -> None:
    bars = results.published_shares("origin/fig11", 0.95)
    models = bars["model"].unique().tolist()
    shares = results.share_table(bars, regenerated(models))
    figure = charts.share_rows(shares, xlabel="right (%)")
    width, height = size(figure)
    assert width == pytest.approx(3.3)
    assert height < TALLEST - ROOM
    theirs, ours = figure.axes[:2]
    names(theirs.get_title("right"), "published")
    names(ours.get_title("right"), "regenerated")
    colours = [to_hex(bar.get_facecolor()).upper() for bar in theirs.containers[0]]
    assert set(colours) == {PUBLISHED}
    labels = [label.get_text() for label in theirs.get_yticklabels()]
    assert set(labels) == set(bars["label"])


@pytest.mark.slow
def test_maps_of_shuffled_and_ordered_lists_of_many_models_fit_a_page() -> None:
    rows = product([f"m{n}" for n in range(14)], [16, 24])
    cells = pd.DataFrame(rows, columns=["model", "lines"])
    cells["outcome"] = ["correct", "incorrect"] * 14
    sources = ("published", "regenerated, shuffled", "regenerated, in order")
    parts = [cells.assign(source=source) for source in sources]
    figure = charts.outcome_map(pd.concat(parts))
    assert size(figure)[1] <= TALLEST - ROOM
    assert [len(ax.get_yticks()) for ax in figure.axes[:3]] == [14] * 3
    assert figure.axes[0].get_xlim() == (12, 28)


@pytest.mark.slow
def test_outcomes_of_many_models_by_length_fit_a_page() -> None:
    models = [f"claude-3-5-sonnet-2024{n}" for n in range(10, 22)]
    rows = product(models, [900, 27000])
    shares = pd.DataFrame(rows, columns=["label", "characters"])
    shares = shares.assign(
        text="printed", accuracy=0.5, low=0.2, high=0.8, published=False
    )
    outcomes = shares.assign(outcome="solved", share=0.5)
    figure = needle_charts.length_curve(shares, outcomes)
    assert size(figure)[1] < TALLEST - ROOM
    assert max(map(len, figure.axes[0].get_title().split("\n"))) <= 13
    assert "own" not in figure.get_supxlabel()
    own = needle_charts.length_curve(shares, outcomes.assign(text="own"))
    names(own.get_supxlabel(), "the kit's own")
    names(needle_results.headline(shares), "0 of 12", "27,000", "900")


def test_the_legend_says_where_a_fit_halves_or_that_it_is_rejected() -> None:
    fits = {
        ("sim-wide", 1): fit_of(0.9, np.log(2) / 10),
        ("sim-wide", -1): fit_of(0.9, 0.2, lack=0.001),
    }
    points = pd.DataFrame(
        [("theirs (published)", True, 1), ("theirs (published)", True, 15)]
        + [("sim-wide", False, d) for d in (1, 15, -1, -15)],
        columns=["label", "published", "d"],
    ).assign(accuracy=[0.9, 0.2, 0.8, 0.7, 0.8, 0.5], low=0.1, high=0.9)
    figure = charts.distance_curve(points, fits)
    [legend] = figure.legends
    *labels, fit = [text.get_text() for text in legend.get_texts()]
    assert labels == ["sim-wide", "theirs (published)"]
    names(fit, "sim-wide", "10 down", "rejected up")
    own = looks(["theirs (published)", "sim-wide"])["sim-wide"]
    assert own.colour in {line.get_color() for line in figure.axes[0].lines}
    names(results.distances_headline(points), "15 lines", "sim-wide 20", "theirs 70")


def test_titles_of_maps_name_the_best_models() -> None:
    rows = [
        ("published", "a", 9),
        ("regenerated, shuffled", "b", 3),
        ("regenerated, in order", "b", 5),
        ("regenerated, shuffled", "c", 4),
        ("regenerated, in order", "c", 4),
    ]
    table = pd.DataFrame(rows, columns=["source", "model", "correct"])
    told = results.outcomes_headline(table, [15])
    names(told, "d = 15", "9 sizes in the paper (a)", "5 here (b)")
    told = results.outcomes_headline(table.replace({"correct": {5: 4}}), [15])
    names(told, "4 here (b and 1 more)")


def test_titles_of_shares_say_the_largest_or_how_many_differences_are_certain() -> None:
    bars = results.published_shares("origin/fig04", 0.95)
    ours = regenerated(["sim-a", "sim-b"])
    in_order = ours[ours["condition"] == CONDITIONS[1]]
    none = pd.DataFrame(columns=["low", "high"])
    told = results.shares_headline(results.share_table(bars, in_order), none)
    names(told, "d = 15", "27 % right in the paper (GPT4-turbo)", "50 % here (sim-a")
    differences = pd.DataFrame({"p_value": [0.02, 0.03]})  # by Holm, 0.04 and 0.04
    assert "none of 2" in results.shares_headline(ours, differences + 0.01)
    told = results.shares_headline(ours, differences)
    names(told, "differ for 2 of 2")


def test_the_best_models_stand_first_and_none_is_left_out() -> None:
    rows = [("a", "x", 0.2), ("b", "x", 0.4), ("a", "y", 0.9), ("c", "y", 1.0)]
    shares = pd.DataFrame(rows, columns=["label", "condition", "accuracy"])
    shares = shares.assign(source="regenerated", low=0.1, high=1.0)
    ax = charts.share_rows(shares, xlabel="").axes[0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a", "c"]


def test_the_title_of_the_published_findings_counts_decided_models() -> None:
    pairs = published.paired_by_size(published.outcomes(), 0.95)
    helped, harmed = published.headline(pairs).split("15 lines")
    names(helped, "7 of 14 models")
    names(harmed, "9")


def test_comparisons_of_published_lists_are_grey() -> None:
    rows = [
        ("up - down", "m", 0.5, 0.4, 0.6, True),
        ("up - down", "n", 0, -1, 1, False),
    ]
    columns = ["comparison", "model", "difference", "low", "high", "decided"]
    figure = charts.published_chart(pd.DataFrame(rows, columns=columns))
    colours = set[str]()
    for marks in figure.axes[0].collections:
        drawn = [*marks.get_edgecolor(), *marks.get_facecolor()]
        colours |= {to_hex(colour).upper() for colour in drawn}
    assert colours == {PUBLISHED, "#FFFFFF"}
