"""Relative differences and growth: known answers, and intervals that cover as often as they say."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike

from codestress.fitting.proportions import DOUBTED
from codestress.papers.codecrash.results.differences import relative_difference
from codestress.papers.codecrash.results.reasoning import (
    Collapse,
    growth_table,
    lack_of_growth,
)


def difference(before: ArrayLike, after: ArrayLike) -> dict[str, float]:
    """The difference of items that are independent."""
    pairs = pd.DataFrame({"score_before": before, "score": after}, dtype=float)
    return relative_difference(pairs.assign(question=pairs.index), 0.95)


def test_a_known_difference() -> None:
    found = difference([1, 1, 1, 0], [1, 0, 0.5, 0])
    assert found["points"] == pytest.approx(-37.5)
    assert found["relative_pct"] == pytest.approx(-50)
    # Three that agree prove no equality.
    same = difference([1, 0, 1], [1, 0, 1])
    assert same["relative_pct"] == 0
    assert same["points_low"] < 0 < same["points_high"]
    assert same["relative_low"] < 0 < same["relative_high"]
    assert math.isnan(difference([0, 0], [1, 0])["relative_pct"])


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


def growth(x: ArrayLike, y: ArrayLike) -> pd.Series:
    curve = pd.DataFrame({"tokens": x, "doubts": y})
    response = Collapse("m", "p", "MHC", 20_000, None, curve, "")
    return growth_table(response).iloc[0]


def test_growth_is_recovered() -> None:
    x = np.linspace(0, 20_000, 300)
    found = growth(x, 3 + 0.01 * x + 2e-6 * x**2)
    assert list(found[["c0", "c1", "c2"]]) == pytest.approx((3, 0.01, 2e-6), rel=1e-6)
    assert growth([1, 2], [1, 2])[["c2", "lack_of_fit_quadratic"]].isna().all()


@pytest.mark.slow
def test_a_curve_of_doubt_is_doubted_where_it_does_not_describe_its_points() -> None:
    """40 events of a response, whose number grows as x ** (1 / power)."""

    def doubted(power: float) -> float:
        found = []
        for study in range(60):
            random = np.random.default_rng((study, 2))
            events = np.sort(random.random(40)) ** power
            lack = lack_of_growth(np.concatenate([[0.0], events]), random)
            found.append(lack < DOUBTED)
        return float(np.mean(found))

    assert doubted(0.5) <= 0.05 + 0.057
    assert doubted(0.15) > 0.7
