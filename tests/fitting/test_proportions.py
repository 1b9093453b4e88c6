"""Intervals of shares, means, differences and ratios: closed forms, scipy's results and
simulations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

import bench_coverage
from codestress.fitting.proportions import (
    clustered_mean,
    clustered_share,
    effective_number,
    newcombe,
    paired_difference,
    ratio_of_shares,
    stretched,
    wilson,
)
from codestress.seeding import rng
from told import refused


@pytest.mark.parametrize(("k", "n"), [(0, 10), (10, 10), (32, 117)])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_wilsons_interval_is_scipys(k: int, n: int, confidence: float) -> None:
    expected = binomtest(k, n).proportion_ci(confidence, method="wilson")
    ends = pytest.approx((expected.low, expected.high), abs=1e-12)
    assert wilson(k, n, confidence) == ends


def test_wilsons_interval_is_unknown_without_trials_and_refuses_nonsense() -> None:
    assert np.isnan(wilson(0, 0)).all()
    for k, n in ((3, 2), (-1, 2)):
        with refused(ValueError, k, n):
            wilson(k, n)


def test_three_candidates_of_one_problem_count_once() -> None:
    problems = np.repeat(np.arange(800), 3)
    assert effective_number(problems) == pytest.approx(800)
    assert effective_number([1, 1, 1, 2]) == pytest.approx(16 / 10)
    share = clustered_share(np.tile([1.0, 0.0], 1200), problems)
    assert share.interval == pytest.approx(wilson(400, 800))


def test_answers_that_are_all_alike_leave_an_interval() -> None:
    for value in (0.0, 1.0):
        low, high = clustered_share(np.full(25, value), np.arange(25)).interval
        assert high - low > 0.1
    low, high = paired_difference(np.zeros(25))
    assert low == pytest.approx(-high)
    assert high > 0.05
    low, high = clustered_mean([300] * 25, range(25)).interval
    assert low < 280
    assert high > 320


def test_the_mean_of_many_independent_values_has_the_normal_interval() -> None:
    values = rng(0, "values").random(4000)
    half = 1.96 * values.std() / math.sqrt(4000)
    ends = (values.mean() - half, values.mean() + half)
    mean = clustered_mean(values, np.arange(4000))
    assert mean.interval == pytest.approx(ends, abs=0.0003)


@pytest.mark.parametrize(("spread", "items"), [(0.4, 25), (0.7, 100)])
def test_intervals_of_token_numbers_cover_with_few_items(
    spread: float, items: int
) -> None:
    """2,000 studies: two standard errors of 95 % are one point."""
    study = next(iter(bench_coverage.means(spread, items).values()))
    random = rng(0, "tokens", items)
    assert 0.935 <= np.mean([study(random) for _ in range(2000)]) <= 0.98


def test_a_mean_without_a_spread_to_see_has_no_interval() -> None:
    single = clustered_mean([0, 1], ["a", "a"])
    assert single.value == 0.5
    assert math.isnan(single.interval.low)
    assert math.isnan(clustered_mean([], []).value)
    assert math.isnan(clustered_mean([0, 0, 0], range(3)).interval.high)
    with refused(ValueError, "negative"):
        clustered_mean([1, -1], range(2))


def test_newcombes_published_example() -> None:
    # Newcombe 1998, table II (a): 56/70 - 48/80, method 10.
    ends = newcombe(48 / 80, 80, 56 / 70, 70)
    assert ends == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_paired_differences_have_bonett_and_prices_interval() -> None:
    differences = np.repeat([1.0, -1.0, 0.0], [10, 4, 36])
    better, worse = 11 / 52, 5 / 52
    mean = better - worse
    half = 1.959964 * math.sqrt((better + worse - mean**2) / 52)
    ends = paired_difference(differences)
    assert ends == pytest.approx((mean - half, mean + half), abs=1e-6)


def test_copies_of_items_say_no_more_than_the_items() -> None:
    differences = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], 60)
    copies = np.repeat(differences, 4)
    clusters = np.repeat(np.arange(60), 4)
    expected = pytest.approx(paired_difference(differences), abs=1e-9)
    assert paired_difference(copies, clusters) == expected


def test_the_interval_of_a_ratio_is_the_delta_methods_at_many_items() -> None:
    low, high = ratio_of_shares(0.5, 0.35, 800, 0.4)
    assert low < 0.7 < high
    variance = 0.65 / 0.35 + 1 - 2 * 0.4 * math.sqrt(0.65 / 0.35)
    width = 2 * 1.96 * math.sqrt(variance / 800)
    assert math.log(high / low) == pytest.approx(width, rel=0.02)
    assert math.isnan(ratio_of_shares(0.0, 0.5, 25, 0.0).low)


def test_few_clusters_stretch_draws_and_many_do_not() -> None:
    draws, best = np.array([[0.5, 3.0], [0.7, math.nan]]), np.array([0.6, 2.0])
    few = [0.6 - 0.1075, 2 + 1.075]
    assert stretched(draws, best, 25, 0.95)[0] == pytest.approx(few, abs=1e-3)
    assert stretched(draws, best, 800, 0.95)[0] == pytest.approx([0.5, 3.0], rel=0.002)
