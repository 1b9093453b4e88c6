"""Tests of significance beside scipy's, and Holm's correction beside the closed test that
it shortens."""

from __future__ import annotations

import functools
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import (
    binomtest,
    chi2_contingency,
    kendalltau,
    permutation_test,
    ttest_1samp,
)

from codestress.fitting.proportions import Interval
from codestress.fitting.significance import (
    holm,
    kendall,
    kendall_interval,
    mean_difference,
    open_ranks,
    pair_signs,
    sign_flips,
    two_shares_p,
)
from told import refused


def exact_p(values: np.ndarray) -> float:
    """Return the p-value of all sign flips of `values`, by scipy."""
    how = {"permutation_type": "samples", "n_resamples": np.inf}
    return float(permutation_test((values,), np.mean, **how).pvalue)


@pytest.mark.parametrize(("won", "lost"), [(83, 0), (5, 4), (6, 6)])
def test_sign_flips_of_single_items_are_mcnemars_exact_test(
    won: int, lost: int
) -> None:
    p_value = sign_flips([1] * won + [-1] * lost + [0] * 9)
    exact = binomtest(won, won + lost).pvalue
    assert p_value == pytest.approx(exact, rel=1e-9)


def test_mean_differences_have_students_interval_and_exact_sign_flips() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 12)
    result = mean_difference(values, 0.95)
    student = ttest_1samp(values, 0).confidence_interval(0.95)
    assert result.interval == pytest.approx(tuple(student))
    assert result.p_value == pytest.approx(exact_p(values), rel=1e-9)


def test_sign_flips_of_nothing_and_of_too_many_values() -> None:
    assert sign_flips([0, 0]) == sign_flips([]) == 1
    with refused(ValueError, "40", "too many"):
        sign_flips(np.random.default_rng(0).normal(size=40))


def test_holms_correction_is_the_closed_test_by_bonferroni() -> None:
    p = np.random.default_rng(0).uniform(0, 0.2, 6)
    closed = np.zeros(6)
    for size in range(1, 7):
        for part in map(list, combinations(range(6), size)):
            bonferroni = min(1.0, size * p[part].min())
            closed[part] = np.maximum(closed[part], bonferroni)
    assert holm(p) == pytest.approx(closed)
    corrected = holm([0.01, np.nan, 0.04])
    assert corrected == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)


def test_kendalls_tau_and_its_test_are_scipys() -> None:
    draws = np.random.default_rng(3)
    for n, tolerance in ((3, 1e-9), (7, 1e-9), (10, 0.01)):
        x, y = draws.normal(size=(2, n))
        result = kendall(x, y, 0.95, draws)
        exact = kendalltau(x, y, method="exact")
        assert result.value == pytest.approx(exact.statistic)
        assert result.p_value == pytest.approx(exact.pvalue, abs=tolerance)
        assert result.interval.low <= result.value <= result.interval.high
    tied = kendall([1, 1, 2, 3], [0, 5, 5, 9], 0.95, draws)
    assert tied.value == pytest.approx(kendalltau([1, 1, 2, 3], [0, 5, 5, 9]).statistic)


def test_kendalls_tau_is_unknown_without_an_order() -> None:
    draws = np.random.default_rng(3)
    for values in ([1, 1, 1], [1], [1, 2, np.nan]):
        result = kendall(values, range(len(values)), 0.95, draws)
        assert np.isnan([result.value, result.p_value]).all()


@functools.cache
def interval_of(inversions: int, n: int) -> Interval:
    """Return the interval for `n` models of which `inversions` pairs stand in opposite
    orders."""
    order = []
    rest = list(range(n))
    for _ in range(n):
        step = min(inversions, len(rest) - 1)
        order.append(rest.pop(step))
        inversions -= step
    return kendall_interval(range(n), order, 0.95, np.random.default_rng(1))


@pytest.mark.parametrize(("n", "correlation"), [(4, 0.5), (6, 0.0), (7, 0.9)])
def test_the_interval_of_kendalls_tau_covers_with_few_models(
    n: int, correlation: float
) -> None:
    draws = np.random.default_rng(n)
    tau = 2 / np.pi * np.arcsin(correlation)
    covered = 0
    for _ in range(600):
        x, noise = draws.normal(size=(2, n))
        y = correlation * x + np.sqrt(1 - correlation**2) * noise
        inversions = (pair_signs(x) * pair_signs(y) < 0).sum()
        low, high = interval_of(int(inversions), n)
        covered += low <= tau <= high
    assert covered / 600 >= 0.925


def test_the_test_of_two_shares_is_the_chi_squared_test() -> None:
    for first, second in ((30, 12), (7, 8), (1, 0)):
        table = [[first, 40 - first], [second, 60 - second]]
        p = chi2_contingency(table, correction=False).pvalue
        assert two_shares_p(first / 40, 40, second / 60, 60) == pytest.approx(p)
    assert two_shares_p(0, 10, 0, 20) == two_shares_p(1, 10, 1, 20) == 1


def test_open_ranks_hold_the_true_ones() -> None:
    shares = np.array([0.3, 0.45, 0.5, 0.7, 0.7])
    draws = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        ranks = open_ranks(draws.binomial(200, shares) / 200, np.full(5, 200))
        below = (ranks.low <= [5, 4, 3, 1, 1]).all()
        held += below and (ranks.high >= [5, 4, 3, 2, 2]).all()
    assert held / 400 >= 0.95
    apart = open_ranks([0.9, 0.1, 0.5], [1000, 1000, 1000])
    assert (list(apart.low), list(apart.high)) == ([1, 3, 2], [1, 3, 2])
    assert set(map(tuple, apart.apart)) == {(0, 1), (0, 2), (2, 1)}
