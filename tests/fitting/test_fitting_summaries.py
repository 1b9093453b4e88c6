"""Comparisons of two conditions on the same items."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from codestress.fitting.summaries import compare
from codestress.seeding import rng


def single(scores: list[int]) -> pd.Series:
    return pd.Series(scores, dtype=float)


def test_mcnemars_test_is_the_binomial_tail() -> None:
    first = single([1] * 9 + [0] * 2 + [1] * 20)
    second = single([0] * 9 + [1] * 2 + [1] * 20)
    result = compare(first, second, rng=rng(0))
    tail = sum(math.comb(11, k) for k in range(3)) / 2**11
    assert result.p_value == pytest.approx(2 * tail)
    assert result[4:] == (31, 9, 2, 0)
    assert result.difference == pytest.approx(-7 / 31)
    assert result.low < -7 / 31 < result.high < 0


def test_items_with_one_side_are_counted_apart() -> None:
    result = compare(single([1, 0, 1]), single([1, 0, 1, 1, 1]), rng=rng(0))
    assert (result.difference, result.p_value) == (0, 1)
    assert (result.items, result.unpaired) == (3, 2)
    assert compare(single([]), single([1]), rng=rng(0)).unpaired == 1


def test_one_item_answered_often_decides_nothing() -> None:
    sides = [pd.Series(scores, ["a"] * 3) for scores in ([1, 0, 1], [0, 0, 0])]
    assert compare(*sides, rng=rng(0)).p_value == 1


def test_an_item_without_a_cluster_is_compared_too() -> None:
    items = np.arange(30)
    first, second = pd.Series(items % 2), pd.Series((items % 3 == 0) * 1.0)
    clusters = pd.Series([None if item == 3 else str(item // 3) for item in items])
    result = compare(first, second, clusters=clusters, rng=rng(0))
    assert result.items == 30
    assert 0 < result.p_value <= 1


@pytest.mark.slow
def test_the_test_of_items_answered_often_holds_its_level() -> None:
    random = rng(0, "paired")
    items = np.repeat(np.arange(30), 4)
    rejected = 0
    for _ in range(150):
        chances = np.repeat(random.random(30), 4)
        sides = [pd.Series((random.random(120) < chances) * 1.0, items) for _ in "12"]
        rejected += compare(*sides, resamples=300, rng=random).p_value < 0.05
    assert rejected / 150 <= 0.11
