"""Correlations and mean differences over models beside scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, permutation_test, spearmanr, ttest_1samp

from codestress.fitting.significance import fisher_interval, mean_difference, rank_correlation


@pytest.mark.parametrize("seed", range(3))
def test_rank_correlations_are_scipys(seed: int) -> None:
    draws = np.random.default_rng(seed)
    x = draws.normal(size=17).round(1)  # with ties
    y = x + draws.normal(size=17)
    found = rank_correlation(x, y, 0.95, np.random.default_rng(9))
    assert found.value == pytest.approx(spearmanr(x, y).statistic)
    assert found.p_value == pytest.approx(spearmanr(x, y).pvalue, abs=0.02)
    plain = pearsonr(x, y)
    interval = plain.confidence_interval(0.95)
    assert fisher_interval(plain.statistic, 17, 1.0, 0.95) == pytest.approx((interval.low, interval.high))
    assert np.isnan(rank_correlation(x, np.ones(17), 0.95, draws).value)


@pytest.mark.parametrize(("slope", "true"), [(0.0, 0.0), (0.75, 0.582)])  # Pearson's 0.6: Spearman's 6/pi asin(0.3)
def test_its_interval_covers(slope: float, true: float) -> None:
    draws = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        x = draws.normal(size=17)
        found = rank_correlation(x, slope * x + draws.normal(size=17), 0.95, draws)
        covered += found.interval.low <= true <= found.interval.high
    assert 0.92 <= covered / 400 <= 0.985


def test_mean_differences_are_students_with_exact_sign_flips() -> None:
    values = np.random.default_rng(1).normal(0.3, 1, 12)
    found = mean_difference(values, 0.95)
    assert found.interval == pytest.approx(tuple(ttest_1samp(values, 0).confidence_interval(0.95)))
    every = permutation_test((values,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert found.p_value == pytest.approx(float(every.pvalue))
