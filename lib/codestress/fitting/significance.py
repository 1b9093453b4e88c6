"""Tests of published numbers: families of tests, paired differences, two shares and the ranks of several, and
correlations and mean differences where models are the sample: a dozen that a paper happened to take.

Models of one family are no independent draws, so that every interval over models speaks of these models, and is too
short for any others.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import UNKNOWN, Interval, normal_quantile, student_quantile

LEVEL = 0.05
"""Of a family of tests."""
MOST = 2_000_000
"""Different sums that are kept at once; whole numbers share most of theirs, 20 others have no more."""
PERMUTATIONS = 10_000


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values (n,) of one family (Holm 1979), in the given order; nan stays nan and is no member."""
    given = np.asarray(p_values, dtype=float)
    adjusted = np.full(given.shape, np.nan)
    members = np.flatnonzero(~np.isnan(given))
    order = members[np.argsort(given[members], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * given[order]))
    return adjusted


def with_holm(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests of one family, with their `p`, and `p_holm` and `decided` (bool) beside it."""
    adjusted = holm(tests["p"])
    return tests.assign(p_holm=adjusted, decided=adjusted < LEVEL)


def sign_flips(differences: ArrayLike) -> float:
    """Two-sided p-value of paired differences (n,), which under no effect could as well have the other sign: of all 2^n
    ways to sign them, the share whose sum is as far from 0.

    Of differences that are -1, 0 or 1 it is McNemar's exact test (1947). 1 where nothing differs. `ValueError` for
    more than about 20 differences that are no whole numbers.
    """
    given = np.asarray(differences, dtype=float)
    sums, shares = np.zeros(1), np.ones(1)
    for one in given[given != 0]:
        sums, place = np.unique(np.round(np.concatenate([sums + one, sums - one]), 9), return_inverse=True)
        if len(sums) > MOST:
            raise ValueError(f"{len(given)} differences have more than {MOST:,} sums: too many for an exact test")
        shares = np.asarray(np.bincount(place, weights=np.tile(shares / 2, 2)), dtype=float)
    return float(min(1.0, shares[np.abs(sums) >= abs(given.sum()) - 1e-7].sum()))


def two_shares_p(first: float, first_n: float, second: float, second_n: float) -> float:
    """Two-sided p-value of the pooled z test, for numbers of answers that need not be whole; 1 where both are alike."""
    pooled = (first * first_n + second * second_n) / (first_n + second_n)
    error = math.sqrt(max(pooled * (1 - pooled), 0.0) * (1 / first_n + 1 / second_n))
    return math.erfc(abs(second - first) / error / math.sqrt(2)) if error > 0 else 1.0


class OpenRanks(NamedTuple):
    """Where each of several shares may stand; 1 is the largest."""

    low: NDArray[np.int64]
    """One more than are surely larger."""
    high: NDArray[np.int64]
    """As many as are not surely smaller."""
    told: list[tuple[int, int]]
    """Pairs that are told apart, the larger share first."""


def open_ranks(shares: ArrayLike, numbers: ArrayLike, level: float) -> OpenRanks:
    """Ranks of `shares` (k,) of `numbers` (k,) that the tests of all pairs leave open (Mogstad, Romano, Shaikh and
    Wilhelm 2024), with Holm's correction over the pairs. Independent shares; of the same items it is cautious."""
    values, n = np.asarray(shares, dtype=float), np.asarray(numbers, dtype=float)
    pairs = list(combinations(range(len(values)), 2))
    p_values = [two_shares_p(values[a], n[a], values[b], n[b]) for a, b in pairs]
    sure = [pair for pair, p in zip(pairs, holm(p_values), strict=True) if p < level]
    told = [(a, b) if values[a] > values[b] else (b, a) for a, b in sure]
    larger, smaller = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    for over, under in told:
        larger[under] += 1
        smaller[over] += 1
    return OpenRanks(1 + larger, len(values) - smaller, told)


class OverModels(NamedTuple):
    """An estimate over models."""

    value: float
    interval: Interval
    p_value: float
    models: int


def rank_correlation(x: ArrayLike, y: ArrayLike, confidence: float, rng: np.random.Generator) -> OverModels:
    """Spearman's of (n,) and (n,), n at least 4. Interval by Fisher's transformation with Bonett and Wright's error
    (2000); p-value by permutations. nan where one side is all alike."""
    one, other = (pd.Series(np.asarray(side, dtype=float)).rank().to_numpy() for side in (x, y))
    one, other = one - one.mean(), other - other.mean()
    scale = math.sqrt(float((one**2).sum() * (other**2).sum()))
    if scale == 0:
        return OverModels(math.nan, UNKNOWN, math.nan, len(one))
    value = float(one @ other) / scale
    shuffled = rng.permuted(np.tile(one, (PERMUTATIONS, 1)), axis=1) @ other / scale
    p_value = (1 + int((np.abs(shuffled) >= abs(value) - 1e-12).sum())) / (1 + PERMUTATIONS)
    return OverModels(value, fisher_interval(value, len(one), 1 + value**2 / 2, confidence), p_value, len(one))


def fisher_interval(correlation: float, n: int, variance: float, confidence: float) -> Interval:
    """Of a correlation over n, on Fisher's scale, where its variance is `variance` / (n - 3)."""
    middle = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    half = normal_quantile(confidence) * math.sqrt(variance / (n - 3))
    return Interval(math.tanh(middle - half), math.tanh(middle + half))


def mean_difference(differences: ArrayLike, confidence: float) -> OverModels:
    """The mean of a difference of each model (n,): Student's interval, exact sign flips."""
    given = np.asarray(differences, dtype=float)
    half = student_quantile(confidence, len(given)) * float(given.std(ddof=1)) / math.sqrt(len(given))
    value = float(given.mean())
    return OverModels(value, Interval(value - half, value + half), sign_flips(given), len(given))
