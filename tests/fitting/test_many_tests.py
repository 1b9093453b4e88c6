"""Exact sign flips beside scipy's tests, Holm's correction beside the closed test that it shortens."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from codestress.fitting.significance import holm, sign_flips
from told import refused


@pytest.mark.parametrize(
    ("won", "lost"), [(83, 0), (0, 3), (5, 4), (26, 1), (6, 6), (1, 0)]
)
def test_of_single_items_it_is_mcnemars_exact_test(won: int, lost: int) -> None:
    exact = binomtest(won, won + lost).pvalue
    found = sign_flips([1] * won + [-1] * lost + [0] * 9)
    assert found == pytest.approx(exact, rel=1e-9)


def test_of_other_numbers_it_is_the_exact_permutation_test() -> None:
    draws = np.random.default_rng(3)
    for _ in range(5):
        values = draws.normal(0.4, 1, 11)
        how = {"permutation_type": "samples", "n_resamples": np.inf}
        every = permutation_test((values,), np.mean, **how)
        assert sign_flips(values) == pytest.approx(float(every.pvalue), rel=1e-9)


def test_nothing_differs_and_too_much_differs() -> None:
    assert sign_flips([0, 0]) == sign_flips([]) == 1
    with refused(ValueError, "40", "too many"):
        sign_flips(np.random.default_rng(0).normal(size=40))


def test_holm_is_the_closed_test_by_bonferroni() -> None:
    for seed in range(20):
        p = np.random.default_rng(seed).uniform(0, 0.2, 6)
        closed = np.zeros(6)
        for size in range(1, 7):
            for part in map(list, combinations(range(6), size)):
                of_part = min(1.0, size * p[part].min())
                closed[part] = np.maximum(closed[part], of_part)
        assert holm(p) == pytest.approx(closed)
    found = holm([0.01, np.nan, 0.04])
    assert found == pytest.approx([0.02, np.nan, 0.04], nan_ok=True)
