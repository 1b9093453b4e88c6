"""Relative differences and growth: known answers, and intervals that cover as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike

from codestress.fitting.proportions import DOUBTED
from codestress.papers.codecrash.results.differences import relative_difference
from codestress.papers.codecrash.results.reasoning import fit_growth, lack_of_growth


def difference(before: ArrayLike, after: ArrayLike) -> dict[str, float]:
    """The difference of items that are independent."""
    pairs = pd.DataFrame({"score_before": before, "score": after}, dtype=float)
    return relative_difference(pairs.assign(question=pairs.index), 0.95)


def test_a_known_difference() -> None:
    found = difference([1, 1, 1, 0], [1, 0, 0.5, 0])
    assert (found["points"], found["relative_pct"]) == (
        pytest.approx(-37.5),
        pytest.approx(-50),
    )
    same = difference([1, 0, 1], [1, 0, 1])
    assert same["relative_pct"] == 0
    assert same["points_low"] < 0 < same["points_high"], (
        "three that agree prove no equality"
    )
    assert same["relative_low"] < 0 < same["relative_high"]
    none = difference([0, 0], [1, 0])
    assert math.isnan(none["relative_pct"])


def test_intervals_cover_the_truth() -> None:
    random = np.random.default_rng(1)
    covered = np.zeros(2)
    for _ in range(500):
        skill = random.random(200)
        before = random.random(200) < skill
        after = random.random(200) < 0.7 * skill
        found = difference(before, after)
        covered += [
            found["points_low"] <= -15 <= found["points_high"],
            found["relative_low"] <= -30 <= found["relative_high"],
        ]
    assert all(0.92 <= share <= 0.98 for share in covered / 500)


def test_growth_is_recovered() -> None:
    x = np.linspace(0, 20_000, 300)
    found = fit_growth(x, 3 + 0.01 * x + 2e-6 * x**2)
    assert [found["c0"], found["c1"], found["c2"]] == pytest.approx(
        (3, 0.01, 2e-6), rel=1e-6
    )
    assert found["r2_quadratic"] == pytest.approx(1)
    assert found["r2_linear"] < found["r2_quadratic"]
    line = fit_growth(x, 5 + 0.1 * x + np.random.default_rng(0).normal(0, 20, 300))
    assert line["r2_quadratic"] - line["r2_linear"] < 1e-4
    assert math.isnan(fit_growth([1, 2], [1, 2])["r2_linear"])


@pytest.mark.slow
@pytest.mark.parametrize(("degree", "true", "false"), [(1, 1.0, 0.5), (2, 0.5, 0.15)])
def test_a_curve_of_doubt_is_doubted_where_it_does_not_describe_its_points(
    degree: int, true: float, false: float
) -> None:
    """40 events of a response, whose number grows as x ** (1 / power)."""

    def doubted(power: float) -> float:
        found = []
        for study in range(60):
            random = np.random.default_rng((study, degree))
            events = np.sort(random.random(40)) ** power
            found.append(
                lack_of_growth(np.concatenate([[0.0], events]), degree, random)
                < DOUBTED
            )
        return float(np.mean(found))

    assert doubted(true) <= 0.05 + 0.057
    assert doubted(false) > 0.7
    assert math.isnan(lack_of_growth([0, 1, 2], degree, np.random.default_rng(0)))
