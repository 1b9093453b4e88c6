"""Correlations and mean differences over models beside scipy's."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import kendalltau, permutation_test, ttest_1samp

from codestress.fitting.proportions import Interval
from codestress.fitting.significance import (
    kendall,
    kendall_interval,
    mean_difference,
    pair_signs,
)


def test_mean_differences_are_students_with_exact_sign_flips() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 12)
    found = mean_difference(values, 0.95)
    student = ttest_1samp(values, 0).confidence_interval(0.95)
    assert found.interval == pytest.approx(tuple(student))
    how = {"permutation_type": "samples", "n_resamples": np.inf}
    every = permutation_test((values,), np.mean, **how)
    assert found.p_value == pytest.approx(float(every.pvalue))


@cache
def interval_of(inversions: int, n: int) -> Interval:
    """Of n models of which so many pairs stand in opposite orders."""
    order, rest, left = [], list(range(n)), inversions
    for _ in range(n):
        step = min(left, len(rest) - 1)
        order.append(rest.pop(step))
        left -= step
    return kendall_interval(range(n), order, 0.95, np.random.default_rng(1))


@pytest.mark.parametrize(
    ("n", "correlation"), [(4, 0.5), (6, 0.0), (6, 0.5), (6, 0.9), (7, 0.9)]
)
def test_the_interval_of_kendalls_tau_covers_with_few_models(
    n: int, correlation: float
) -> None:
    draws, covered = np.random.default_rng(n), 0
    tau = 2 / np.pi * np.arcsin(correlation)
    for _ in range(600):
        x, noise = draws.normal(size=(2, n))
        y = correlation * x + np.sqrt(1 - correlation**2) * noise
        low, high = interval_of(int((pair_signs(x) * pair_signs(y) < 0).sum()), n)
        covered += low <= tau <= high
    assert covered / 600 >= 0.925


def test_kendalls_tau_and_its_test_are_scipys() -> None:
    draws = np.random.default_rng(3)
    for n in (3, 5, 7, 10):
        x, y = draws.normal(size=(2, n))
        found, exact = kendall(x, y, 0.95, draws), kendalltau(x, y, method="exact")
        assert found.value == pytest.approx(exact.statistic)
        assert found.p_value == pytest.approx(exact.pvalue, abs=0.01 if n > 7 else 1e-9)
        assert found.interval.low <= found.value <= found.interval.high
    tied = kendall([1, 1, 2, 3], [0, 5, 5, 9], 0.95, draws)
    assert tied.value == pytest.approx(kendalltau([1, 1, 2, 3], [0, 5, 5, 9]).statistic)
    assert np.isnan(kendall([1, 1, 1], [1, 2, 3], 0.95, draws).value)
    assert np.isnan(kendall([1], [1], 0.95, draws).value)
    unknown = kendall([1, 2, 3, np.nan], [1, 2, 3, 4], 0.95, draws)
    assert np.isnan([unknown.value, unknown.p_value]).all()


def test_what_few_models_can_decide() -> None:
    """A permutation test of n models has n! orders, of which two are the most extreme."""
    draws = np.random.default_rng(4)
    p = {n: kendall(range(n), range(n), 0.95, draws).p_value for n in (3, 4, 5)}
    assert min(p[3], p[4]) >= 0.05 > p[5]
