"""The dip of a U-shape: recovered, covered by its interval, and not found where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest

from codestress.fitting.position_dip import position_dip

PLACES = np.linspace(0, 1, 11)


def scores(
    rng: np.random.Generator, means: np.ndarray, items: int, spread: float = 0.2
) -> np.ndarray:
    """Right or wrong at every place; an item that is hard is hard everywhere."""
    chance = np.clip(means + rng.normal(0, spread, items)[:, None], 0, 1)
    return (rng.random(chance.shape) < chance).astype(float)


def test_an_exact_shape() -> None:
    table = np.tile([1.0, 0.5, 0.5, 0.2, 0.2, 0.2, 0.2, 0.2, 0.5, 0.5, 0.8], (10, 1))
    found = position_dip(table, rng=np.random.default_rng(0))
    assert found.dip == pytest.approx(0.7)
    assert found.relative_dip == pytest.approx(0.7)
    assert (found.drop, found.relative_drop) == (pytest.approx(0.8), pytest.approx(0.8))
    assert found.dip_interval.low < 0.7 < found.dip_interval.high
    many = position_dip(
        np.tile(table, (500, 1)), resamples=100, rng=np.random.default_rng(0)
    )
    assert tuple(many.dip_interval) == pytest.approx((0.7, 0.7), abs=0.01)
    assert found.p_value < 0.01
    assert found.items == 10


@pytest.mark.slow
def test_intervals_cover_and_the_test_holds_its_level() -> None:
    """500 simulated studies each: a U of known depth, no shape at all, and a slope, which is no U."""
    rng = np.random.default_rng(1)
    deep = 0.5 + 0.3 * (2 * PLACES - 1) ** 2
    covered = found_u = found_flat = found_slope = 0
    truth = float(
        scores(rng, deep, 200_000)[:, [0, 10]].mean()
        - scores(rng, deep, 200_000)[:, 4:7].mean()
    )
    for _ in range(500):
        u = position_dip(scores(rng, deep, 150), resamples=300, rng=rng)
        covered += u.dip_interval.low <= truth <= u.dip_interval.high
        found_u += u.p_value < 0.05
        found_flat += (
            position_dip(
                scores(rng, np.full(11, 0.5), 60), resamples=200, rng=rng
            ).p_value
            < 0.05
        )
        found_slope += (
            position_dip(
                scores(rng, 0.8 - 0.5 * PLACES, 60), resamples=200, rng=rng
            ).p_value
            < 0.05
        )
    assert 0.925 <= covered / 500 <= 0.975
    assert found_u > 450
    assert found_flat <= 0.05 * 500
    assert found_slope <= 0.05 * 500


def test_too_little_says_nothing() -> None:
    rng = np.random.default_rng(0)
    for table in (np.empty((0, 11)), np.ones((5, 2))):
        assert math.isnan(position_dip(table, rng=rng).dip)
    single = position_dip(np.ones((1, 11)), rng=rng)
    assert math.isnan(single.dip_interval.low)
    nothing = position_dip(np.zeros((8, 11)), rng=rng)
    assert math.isnan(nothing.relative_drop)
    assert nothing.drop == 0
