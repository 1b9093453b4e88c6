"""The z test of two shares beside scipy's table, and ranks that tests leave open."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from codestress.fitting.significance import open_ranks, two_shares_p


def test_it_is_the_chi_squared_test() -> None:
    for one, other in ((30, 12), (7, 8), (1, 0)):
        table = [[one, 40 - one], [other, 60 - other]]
        p = chi2_contingency(table, correction=False).pvalue
        assert two_shares_p(one / 40, 40, other / 60, 60) == pytest.approx(p)
    assert two_shares_p(0, 10, 0, 20) == two_shares_p(1, 10, 1, 20) == 1


def test_open_ranks_hold_the_true_ones() -> None:
    true = np.array([0.3, 0.45, 0.5, 0.7, 0.7])
    draws, held = np.random.default_rng(1), 0
    for _ in range(400):
        found = open_ranks(draws.binomial(200, true) / 200, np.full(5, 200))
        held += bool(
            (found.low <= [5, 4, 3, 1, 1]).all()
            and (found.high >= [5, 4, 3, 2, 2]).all()
        )
    assert held / 400 >= 0.95
    apart = open_ranks([0.9, 0.1, 0.5], [1000, 1000, 1000])
    assert (list(apart.low), list(apart.high)) == ([1, 3, 2], [1, 3, 2])
    assert set(map(tuple, apart.apart)) == {(0, 1), (0, 2), (2, 1)}
