"""Titles of Sense and Sensitivity's figures follow from the numbers that are drawn."""

import math
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import FillBetweenPolyCollection

from codestress.artefact_files import read_artefact
from codestress.inference.registry import load_registry
from codestress.papers.semtrace import charts, removal_charts
from codestress.papers.semtrace.results import by_position, removal, tables
from told import names

SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def versions(right: dict[float, float], problems: int = 40) -> pd.DataFrame:
    """Answers of ten lines each; the first part of the programs is right at each share of lines removed."""
    rows = [
        (f"p{number}", share, round(10 * share), float(number < part * problems))
        for number, (share, part) in product(range(problems), right.items())
    ]
    columns = ["problem", "share_removed", "removed", "value_strict"]
    answers = pd.DataFrame(rows, columns=columns).assign(lines=10)
    return answers.assign(
        model="phi-4", task="output_prediction", outcome_strict="correct"
    )


GIVEN: Any = SimpleNamespace(
    trend="exponential",
    weighted=False,
    confidence=0.95,
    resamples=100,
    seed=0,
    epsilon=1e-9,
    complete_wrong="left_out",
)
STEP = {share: float(share < 0.6) for share in SHARES}


def falling(rate: float) -> dict[float, float]:
    return {share: math.exp(-rate * share) for share in SHARES}


def told(answers: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Title and drawn curves."""
    table = removal.accuracy_by_share(answers, confidence=0.95)
    fits = removal.fit_removal(answers, GIVEN)
    title = removal.removal_title(removal.recall_sensitivity(answers, GIVEN))
    return title, removal.fitted_curves(table, fits)


def test_no_fit_is_a_headline() -> None:
    """A doubted one is dotted: see test_a_rejected_fit_is_dotted_and_has_no_band."""
    names(told(versions(STEP))[0], "phi-4", "33 %")  # 2 of 6 versions
    assert "half" not in told(versions(falling(2)))[0].lower()
    # Which `publish` words as "(not known)".
    names(told(versions(dict.fromkeys(SHARES, 0.0)))[0], "nan %")


def test_curves_reach_as_far_as_their_points() -> None:
    _, curves = told(versions(falling(2)).query("share_removed < 0.6"))
    assert (curves["share_removed"].min(), curves["share_removed"].max()) == (0, 0.5)


@pytest.mark.parametrize("shares", [(0.0,), (0.0, 1.0), (0.0, 0.5, 1.0)])
def test_few_places_have_a_band_around_the_curve_or_none(
    shares: tuple[float, ...],
) -> None:
    """One version of each program leaves one place: no curve, and no band."""
    _, curves = told(versions({share: 1.0 - share for share in shares}, problems=3))
    known = curves.dropna(subset=["accuracy", "low", "high"], how="all")
    assert len(known) == (len(shares) > 1) * len(curves)
    assert (known["low"] <= known["accuracy"]).all()
    assert (known["accuracy"] <= known["high"]).all()


def dip(model: str, points: float, low: float, p_value: float) -> dict[str, object]:
    return {
        "model": model,
        "dip_points": points,
        "dip_low": low,
        "dip_relative_pct": 2 * points,
        "p_value": p_value,
    }


def test_a_title_by_position_names_who_loses_in_the_middle() -> None:
    none = pd.DataFrame(columns=["low", "high"])

    def title(
        *dips: dict[str, object], queries: pd.DataFrame = none, relative: bool = False
    ) -> str:
        return by_position.headline(pd.DataFrame(dips), queries, relative=relative)

    both = dip("phi-4", 30.4, 12, 0.001), dip("gemma", 9, -2, 0.2)
    names(title(*both), "middle", "30 points", "for phi-4")
    names(title(*both, relative=True), "middle", "for phi-4", "61 %")
    several = [both[0] | {"model": name} for name in "abc"]
    names(title(*several, both[1], relative=True), "for 3 of 4")
    # One clear curve of many is what noise makes.
    many = [dip("phi-4", 30, 12, 0.02), *[dip("phi-4", 1, -9, 0.5)] * 4]
    names(title(*many), "for none")
    # Of three tests one is left by Holm's correction.
    asked = pd.DataFrame({"p_value": [0.01, 0.03, 0.04]})
    names(title(*both, queries=asked), "clear effect", "query", "1 of 3")


def test_a_rejected_fit_is_dotted_and_has_no_band() -> None:
    for right, style, bands in ((falling(4), "-", 1), (STEP, ":", 0)):
        answers = versions(right, problems=400)
        table = removal.accuracy_by_share(answers, confidence=0.95)
        _, curves = told(answers)
        figure = removal_charts.removal_curve(table, curves, None, confidence=0.95)
        [ax] = figure.axes
        assert ax.lines[0].get_linestyle() == style
        drawn = [isinstance(one, FillBetweenPolyCollection) for one in ax.collections]
        assert sum(drawn) == bands


def test_published_accuracies_stand_in_the_rows_of_the_same_models() -> None:
    none = pd.DataFrame(columns=["label", "condition", "cell"])
    published = tables.beside_published(none, "semtrace/tab02", 0.95)
    assert published["condition"].nunique() == 4
    here = published[published["label"] == "gemma-3-12b"]
    here = here.assign(accuracy=[0.5, 0.4, 0.6, 0.8], low=0.3, high=0.9)
    both = tables.beside_published(here.drop(columns="from"), "semtrace/tab02", 0.95)
    inputs, outputs = charts.baseline_dots(both).axes
    rows = [label.get_text() for label in inputs.get_yticklabels()]
    assert rows[0] == "gemma-3-12b"
    assert len(rows) == published["label"].nunique() == 9
    for ax, plain, keyed in ((inputs, 50, 60), (outputs, 40, 80)):
        drawn = {bars.get_label(): bars.lines[0].get_xydata() for bars in ax.containers}
        assert drawn["without keys"][0, 0] == pytest.approx(plain)
        assert drawn["with keys"][0, 0] == pytest.approx(keyed)
        assert sorted(np.rint(drawn["published with keys"][:, 1])) == [*range(9)]


def test_table_2_without_a_comparison_has_no_clear_effect() -> None:
    none = pd.DataFrame(columns=["p_value", "cell"])
    both = tables.beside_published(none, "semtrace/tab02", 0.95)
    names(tables.headline(both, none), "none of 0")


def test_a_licence_counts_once_whoever_holds_it() -> None:
    registry = load_registry()
    models = read_artefact("semtrace/tab03").parameters["models"]
    table = tables.licences([registry[name] for name in models])
    assert len(table) == len(models) + 2  # data sets
    kinds = tables.licence_kinds(table)
    assert len(kinds) == 8
    assert sum("MIT" in kind for kind in kinds) == 1
