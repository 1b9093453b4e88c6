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
@pytest.mark.parametrize(
    ("shape", "items", "least", "most"),
    [
        (0.5 + 0.3 * (2 * PLACES - 1) ** 2, 150, 0.9, 1),
        (np.full(11, 0.5), 60, 0, 0.05),
        (0.8 - 0.5 * PLACES, 60, 0, 0.05),
    ],
    ids=["a U", "flat", "a slope"],
)
def test_a_u_is_found_and_what_is_none_at_its_level_alone(
    shape: np.ndarray, items: int, least: float, most: float
) -> None:
    """500 simulated studies each; intervals are covered in bench_coverage."""
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(500):
        table = scores(rng, shape, items)
        found += position_dip(table, resamples=200, rng=rng).p_value < 0.05
    assert least <= found / 500 <= most


def test_too_little_says_nothing() -> None:
    rng = np.random.default_rng(0)
    for table in (np.empty((0, 11)), np.ones((5, 2))):
        assert math.isnan(position_dip(table, rng=rng).dip)
    single = position_dip(np.ones((1, 11)), rng=rng)
    assert math.isnan(single.dip_interval.low)
    nothing = position_dip(np.zeros((8, 11)), rng=rng)
    assert math.isnan(nothing.relative_drop)
    assert nothing.drop == 0
