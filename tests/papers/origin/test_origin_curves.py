"""Decay of shares with the distance of two links, and its reach in lines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from codestress.papers.origin.curves import fit_decay, reach_of
from codestress.seeding import rng


def test_a_decay_is_recovered() -> None:
    x = np.array([1, 3, 5, 10, 15])
    table = np.tile(0.8 * np.exp(-(x - 1) / 6), (40, 1))
    fit = fit_decay(x, table, rng=rng(0))
    reach, (low, high) = reach_of(fit)
    assert (fit.height, reach) == pytest.approx((0.8, 6), rel=1e-4)
    assert low < 6 < high


def test_a_decay_says_when_there_is_none() -> None:
    flat = fit_decay([1, 5, 15], np.ones((40, 3)), resamples=50, rng=rng(0))
    assert math.isinf(reach_of(flat)[0])
    assert flat.lack == 1, "a curve through points that are all right describes them"
    assert flat.height == pytest.approx(1)
    nothing = fit_decay([1, 5, 15], np.zeros((40, 3)), resamples=50, rng=rng(0))
    assert math.isnan(reach_of(nothing)[0])
    assert nothing.failed == 50


def test_resamples_without_a_right_answer_fail() -> None:
    rare = np.zeros((40, 3))
    rare[0, 0] = 1
    assert fit_decay([1, 5, 15], rare, resamples=200, rng=rng(0)).failed > 20


@pytest.mark.parametrize(
    ("x", "right", "problems"), [([1, 2], [11, 0], 21), ([1, 3, 6], [30, 0, 0], 40)]
)
def test_a_fall_in_one_step_has_a_reach_with_an_end(
    x: list[int], right: list[int], problems: int
) -> None:
    table = np.arange(problems)[:, None] < np.array(right)
    reach, (low, high) = reach_of(fit_decay(x, table, rng=np.random.default_rng(0)))
    assert low <= reach <= high < x[1] - x[0]
