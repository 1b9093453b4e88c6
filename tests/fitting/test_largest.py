"""Max-t intervals of the largest drop, and clustered, paired and relative shares: closed forms and edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from codestress.fitting.position_dip import (
    largest_drop,
    largest_relative_drop,
    relative_to_best,
)
from codestress.fitting.proportions import (
    cluster_weights,
    clustered_share,
    effective_number,
    newcombe,
    paired_difference,
    ratio_of_shares,
    wilson,
)


def weights(items: int) -> np.ndarray:
    return cluster_weights(items, 400, np.random.default_rng(0)) / items


def test_three_candidates_count_once() -> None:
    names = np.repeat(np.arange(800), 3)
    assert effective_number(names) == pytest.approx(800)
    assert effective_number([1, 1, 1, 2]) == pytest.approx(16 / 10)
    scores = np.tile([1.0, 0.0], 1200)
    assert clustered_share(scores, names).interval == pytest.approx(wilson(400, 800))
    assert clustered_share(scores, np.arange(2400)).interval == pytest.approx(
        tuple(binomtest(1200, 2400).proportion_ci(method="wilson"))
    )


def test_nothing_has_no_width_where_all_answers_are_alike() -> None:
    for value in (0.0, 1.0):
        low, high = clustered_share(np.full(25, value), np.arange(25)).interval
        assert high - low > 0.1
        low, high = largest_drop(np.full((25, 11), value), weights(25), 0.95)
        assert low == 0 < 0.05 < high
    middle = np.tile([1.0, 0.0, 1.0], (25, 1))  # all are wrong there, and right outside
    for drop in (largest_drop, largest_relative_drop):
        low, high = drop(middle, weights(25), 0.95)
        assert 0.7 < low < 0.95 < high == 1
    low, high = paired_difference(np.zeros(25))
    assert low == pytest.approx(-high)
    assert high > 0.05
    for low, high in relative_to_best(np.ones((25, 11)), weights(25), 0.95):
        assert low < high


def test_newcombe_s_published_example() -> None:
    # Newcombe 1998, table II (a): 56/70 - 48/80 = 0.20, method 10 gives 0.0524 to 0.3339.
    found = newcombe(48 / 80, 80, 56 / 70, 70)
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_bonett_and_price_s_formula() -> None:
    differences = np.repeat([1.0, -1.0, 0.0], [10, 4, 36])
    one, two = (10 + 1) / 52, (4 + 1) / 52
    mean = one - two
    half = 1.959964 * math.sqrt((one + two - mean**2) / 52)
    ends = (mean - half, mean + half)
    assert paired_difference(differences) == pytest.approx(ends, abs=1e-6)


def test_copies_of_items_say_no_more_than_the_items() -> None:
    differences = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], 60)
    once = paired_difference(differences)
    copied = paired_difference(np.repeat(differences, 4), np.repeat(np.arange(60), 4))
    assert copied == pytest.approx(once, abs=1e-9)


def test_a_ratio_is_between_what_its_ends_allow() -> None:
    low, high = ratio_of_shares(0.5, 0.35, 800, 0.4)
    assert low < 0.7 < high
    error = math.sqrt(
        (1 - 0.35) / 0.35 + (1 - 0.5) / 0.5 - 2 * 0.4 * math.sqrt(0.65 / 0.35)
    ) / math.sqrt(800)
    # The delta method, at this n.
    assert math.log(high / low) == pytest.approx(2 * 1.96 * error, rel=0.02)
    assert math.isnan(ratio_of_shares(0.0, 0.5, 25, 0.0).low)
    low, high = ratio_of_shares(0.04, 0.04, 25, 0.0)
    assert low < 1 < high


def test_the_largest_drop_of_an_exact_shape() -> None:
    table = np.tile([1.0, 0.5, 0.2], (4000, 1))
    for drop in (largest_drop, largest_relative_drop):
        assert drop(table, weights(4000), 0.95) == pytest.approx((0.8, 0.8), abs=0.005)
    ends = relative_to_best(table, weights(4000), 0.95)
    assert [sum(end) / 2 for end in ends] == pytest.approx([1, 0.5, 0.2], abs=0.005)
    assert math.isnan(largest_relative_drop(np.zeros((30, 3)), weights(30), 0.95).low)


def test_one_position_alone_loses_nothing() -> None:
    table = np.array([[1.0], [0.0], [1.0]])
    weights = np.full((10, 3), 1 / 3)
    for drop in (largest_drop, largest_relative_drop):
        assert drop(table, weights, 0.95) == (0, 0)
    assert relative_to_best(table, weights, 0.95) == [(1, 1)]
