"""The dip of a U-shape and the largest drop over positions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from codestress.fitting.position_dip import (
    largest_drop,
    largest_relative_drop,
    position_dip,
    relative_to_best,
)
from codestress.fitting.proportions import cluster_weights

PLACES = np.linspace(0, 1, 11)


def weights(items: int) -> np.ndarray:
    return cluster_weights(items, 400, np.random.default_rng(0)) / items


def test_an_exact_shape() -> None:
    table = np.tile([1.0, 0.5, 0.5, 0.2, 0.2, 0.2, 0.2, 0.2, 0.5, 0.5, 0.8], (10, 1))
    result = position_dip(table, rng=np.random.default_rng(0))
    assert (result.dip, result.relative_dip) == pytest.approx((0.7, 0.7))
    assert (result.drop, result.relative_drop) == pytest.approx((0.8, 0.8))
    assert result.dip_interval.low < 0.7 < result.dip_interval.high
    assert result.p_value < 0.01
    assert result.items == 10


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
def test_a_u_shape_is_found_and_others_only_at_the_level(
    shape: np.ndarray, items: int, least: float, most: float
) -> None:
    """500 simulated studies each; an item that is hard is hard at every place."""
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(500):
        chance = np.clip(shape + rng.normal(0, 0.2, (items, 1)), 0, 1)
        table = (rng.random(chance.shape) < chance) * 1.0
        decided += position_dip(table, resamples=200, rng=rng).p_value < 0.05
    assert least <= decided / 500 <= most


def test_too_few_items_or_places_say_nothing() -> None:
    rng = np.random.default_rng(0)
    for table in (np.empty((0, 11)), np.ones((5, 2))):
        assert math.isnan(position_dip(table, rng=rng).dip)
    single = position_dip(np.ones((1, 11)), rng=rng)
    assert math.isnan(single.dip_interval.low)
    wrong = position_dip(np.zeros((8, 11)), rng=rng)
    assert math.isnan(wrong.relative_drop)
    assert wrong.drop == 0


def test_the_largest_drop_of_an_exact_shape() -> None:
    table = np.tile([1.0, 0.5, 0.2], (4000, 1))
    for drop in (largest_drop, largest_relative_drop):
        assert drop(table, weights(4000), 0.95) == pytest.approx((0.8, 0.8), abs=0.005)
    ends = np.mean(relative_to_best(table, weights(4000), 0.95), axis=1)
    assert ends == pytest.approx([1, 0.5, 0.2], abs=0.005)


def test_answers_that_are_all_alike_leave_an_interval_of_the_drop() -> None:
    low, high = largest_drop(np.ones((25, 11)), weights(25), 0.95)
    assert low == 0 < 0.05 < high
    middle = np.tile([1.0, 0.0, 1.0], (25, 1))
    for drop in (largest_drop, largest_relative_drop):
        low, high = drop(middle, weights(25), 0.95)
        assert 0.7 < low < 0.95 < high == 1
    for low, high in relative_to_best(np.ones((25, 11)), weights(25), 0.95):
        assert low < high


def test_one_position_alone_loses_nothing() -> None:
    table = np.array([[1.0], [0.0], [1.0]])
    for drop in (largest_drop, largest_relative_drop):
        assert drop(table, weights(3), 0.95) == (0, 0)
    assert relative_to_best(table, weights(3), 0.95) == [(1, 1)]
