"""Tests of published numbers: families of tests, paired differences, two shares, ranks of several
shares, and correlations and mean differences over a sample of models, such as a dozen in a paper.

Models of one family are not independent draws. Every interval over models therefore holds for these
models only, and is too short for others.
"""

from __future__ import annotations

import math
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import (
    UNKNOWN,
    Interval,
    normal_quantile,
    student_quantile,
)

Array = NDArray[np.float64]
LEVEL = 0.05
"""Significance level of a family of tests."""
MOST = 2_000_000
"""Largest number of different sums kept at once. Whole numbers share most of their sums; 20 other
numbers have about a million."""
PERMUTATIONS = 10_000
ENUMERATED, ORDERS = 7, 50_000
"""Largest number of models for which all orders are enumerated (5,040 orders), and number of orders
drawn for more models."""
KENDALL_GRID = np.linspace(-1, 1, 81)
KENDALL_DRAWS = 4000


def holm(p_values: ArrayLike) -> Array:
    """Returns `p_values` (n,) of one family of tests, adjusted by Holm's method (1979), in the
    given order; nan stays nan and does not count."""
    given = np.asarray(p_values, dtype=float)
    adjusted = np.full(given.shape, np.nan)
    members = np.flatnonzero(~np.isnan(given))
    order = members[np.argsort(given[members], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * given[order]))
    return adjusted


def with_holm(tests: pd.DataFrame) -> pd.DataFrame:
    """Returns the table `tests`, a row for each test of one family, with two added columns:
    `p_holm`, the column `p` adjusted by Holm's method, and `decided`, whether that is below `LEVEL`
    (0.05)."""
    adjusted = holm(tests["p"])
    return tests.assign(p_holm=adjusted, decided=adjusted < LEVEL)


def told_from_zero(p_values: ArrayLike) -> int:
    """Returns the number of differences that their `p_values` (n,), of one family of tests, tell
    from zero after Holm's correction."""
    return int((holm(p_values) < LEVEL).sum())


def sign_flips(differences: ArrayLike) -> float:
    """Returns the two-sided p-value of paired `differences` (n,) by sign flips: the share of all
    2^n sign choices whose sum is at least as far from 0 as the observed sum.

    For differences of -1, 0 or 1 this is McNemar's exact test (1947). 1 when all differences are 0.
    `ValueError` for more than about 20 differences that are not whole numbers.
    """
    given = np.asarray(differences, dtype=float)
    sums, shares = np.zeros(1), np.ones(1)
    for step in given[given != 0]:
        both = np.round([sums + step, sums - step], 9).ravel()
        sums, place = np.unique(both, return_inverse=True)
        if len(sums) > MOST:
            raise ValueError(
                f"{len(given)} differences have more than {MOST:,} sums: too many for an exact test"
            )
        shares = np.asarray(
            np.bincount(place, weights=np.tile(shares / 2, 2)), dtype=float
        )
    return float(min(1.0, shares[np.abs(sums) >= abs(given.sum()) - 1e-7].sum()))


def two_shares_p(first: float, first_n: float, second: float, second_n: float) -> float:
    """Returns the two-sided p-value of the pooled z test of two shares (0 to 1): `first`, of
    `first_n` answers, and `second`, of `second_n`; neither number need be whole. 1 for equal
    shares."""
    pooled = (first * first_n + second * second_n) / (first_n + second_n)
    error = math.sqrt(max(pooled * (1 - pooled), 0.0) * (1 / first_n + 1 / second_n))
    return math.erfc(abs(second - first) / error / math.sqrt(2)) if error > 0 else 1.0


class OpenRanks(NamedTuple):
    """Best and worst possible rank of each of several shares, and the pairs that differ
    significantly; rank 1 is the largest share."""

    low: NDArray[np.int64]
    """Best possible rank: 1 plus the number of significantly larger shares."""
    high: NDArray[np.int64]
    """Worst possible rank: number of shares that are not significantly smaller, including the share
    itself."""
    told: list[tuple[int, int]]
    """Pairs of shares (indices) that differ significantly, the larger share first."""


def open_ranks(shares: ArrayLike, numbers: ArrayLike, level: float) -> OpenRanks:
    """Returns, as `OpenRanks`, the ranks of `shares` (k,), each of its `numbers` (k,) of answers,
    that pairwise tests leave open (Mogstad, Romano, Shaikh and Wilhelm 2024).

    Two shares differ significantly when their p-value, by Holm's correction over the pairs, is
    below `level`. The test assumes independent shares; for shares of the same items it is
    conservative.
    """
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
    """An estimate over models, with interval, p-value and number of models."""

    value: float
    interval: Interval
    p_value: float
    models: int


def rank_correlation(
    x: ArrayLike, y: ArrayLike, confidence: float, rng: np.random.Generator
) -> OverModels:
    """Returns, as `OverModels`, Spearman's rank correlation of `x` (n,) and `y` (n,), two measures
    of n models, 4 or more, with interval and p-value. nan when all values of one side are equal.

    The interval is by Fisher's transformation with Bonett and Wright's error (2000), the p-value by
    permutations.
    """
    one, other = (
        pd.Series(np.asarray(side, dtype=float)).rank().to_numpy() for side in (x, y)
    )
    one, other = one - one.mean(), other - other.mean()
    scale = math.sqrt(float((one**2).sum() * (other**2).sum()))
    if scale == 0:
        return OverModels(math.nan, UNKNOWN, math.nan, len(one))
    value = float(one @ other) / scale
    shuffled = rng.permuted(np.tile(one, (PERMUTATIONS, 1)), axis=1) @ other / scale
    p_value = (1 + int((np.abs(shuffled) >= abs(value) - 1e-12).sum())) / (
        1 + PERMUTATIONS
    )
    interval = fisher_interval(value, len(one), 1 + value**2 / 2, confidence)
    return OverModels(value, interval, p_value, len(one))


def fisher_interval(
    correlation: float, n: int, variance: float, confidence: float
) -> Interval:
    """Returns the interval of `correlation`, from `n` pairs (4 or more), by Fisher's transformation
    with the variance `variance` / (n - 3)."""
    middle = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    half = normal_quantile(confidence) * math.sqrt(variance / (n - 3))
    return Interval(math.tanh(middle - half), math.tanh(middle + half))


def pair_signs(values: ArrayLike) -> Array:
    """Returns the signs (-1, 0, 1) of first minus second for all pairs of `values` (…, n) along the
    last axis, in the order of `itertools.combinations`: shape (…, n (n - 1) / 2)."""
    given = np.asarray(values, dtype=float)
    first, second = np.triu_indices(given.shape[-1], 1)
    return np.asarray(np.sign(given[..., first] - given[..., second]))


class Kendall(NamedTuple):
    """Kendall's tau-b (1945), a rank correlation of two measures of the same models, with interval,
    p-value, number of models, and the smallest tau that would be significant."""

    value: float
    interval: Interval
    p_value: float
    least: float
    """Smallest absolute tau that would be significant with this number of models; nan when no tau
    would be."""
    models: int


def kendall(
    x: ArrayLike, y: ArrayLike, confidence: float, rng: np.random.Generator
) -> Kendall:
    """Returns, as `Kendall`, the tau-b of `x` (n,) and `y` (n,), the values of n models on two
    measures. nan when all values of one side are equal.

    Tau suits few models, because each pair of models counts alike. The p-value is the share of
    orders of `y` whose tau is at least as far from 0: all orders for up to `ENUMERATED` models,
    random orders for more. The interval is from `kendall_interval`.
    """
    one, other = pair_signs(x), np.asarray(y, dtype=float)
    n = len(other)
    scale = math.sqrt(float((one**2).sum() * (pair_signs(other) ** 2).sum()))
    if scale == 0:
        return Kendall(math.nan, UNKNOWN, math.nan, math.nan, n)
    value = float(one @ pair_signs(other)) / scale
    if n <= ENUMERATED:
        orders = np.array(list(permutations(other)))
    else:
        orders = np.vstack([other, rng.permuted(np.tile(other, (ORDERS, 1)), axis=1)])
    taus = np.abs(pair_signs(orders) @ one) / scale
    sizes, counts = np.unique(np.round(taus, 9), return_counts=True)
    p_values = counts[::-1].cumsum()[::-1] / len(orders)
    decided = sizes[p_values < LEVEL]
    least = float(decided[0]) if decided.size else math.nan
    p_value = float(p_values[np.searchsorted(sizes, abs(value) - 1e-6)])
    return Kendall(value, kendall_interval(x, y, confidence, rng), p_value, least, n)


def kendall_interval(
    x: ArrayLike, y: ArrayLike, confidence: float, rng: np.random.Generator
) -> Interval:
    """Returns the interval of Kendall's tau of `x` (n,) and `y` (n,), neither with all values
    equal; `UNKNOWN` when it would hold no value.

    The interval holds every population tau from which samples of n models have a tau at most as
    small as the observed one, and at least as large, each with a probability above (1 - confidence)
    / 2. Populations are bivariate normal in their ranks, so that tau is 2 / pi * asin(correlation)
    (Kruskal 1958), and samples are tied where the models are. Fisher's transformation has no
    interval at +-1, a frequent value for few models, and covers 75 to 95 %. This interval covers 94
    to 100 %, more for fewer models, because tau then has few values.
    """
    known = [np.sort(np.asarray(side, dtype=float)) for side in (x, y)]
    n, allowed = len(known[0]), (1 - confidence) / 2
    first, noise = rng.normal(size=(2, KENDALL_DRAWS, n))
    signs, value = (
        pair_signs(_tied(first, known[0])),
        float(pair_signs(x) @ pair_signs(y)),
    )
    kept = []
    for tau in KENDALL_GRID:
        correlation = math.sin(math.pi / 2 * tau)
        second = correlation * first + math.sqrt(1 - correlation**2) * noise
        drawn = (signs * pair_signs(_tied(second, known[1]))).sum(axis=1)
        if min((drawn >= value).mean(), (drawn <= value).mean()) > allowed:
            kept.append(float(tau))
    return Interval(min(kept), max(kept)) if kept else UNKNOWN


def _tied(draws: Array, known: Array) -> Array:
    """Returns the `draws` (…, n) with ties: along the last axis, the smallest value becomes the
    first of the sorted values `known` (n,), and so on. Unchanged where no two of `known` are
    equal."""
    if (np.diff(known) > 0).all():
        return draws  # their order alone counts
    tied = np.empty_like(draws)
    np.put_along_axis(
        tied, draws.argsort(axis=-1), np.broadcast_to(known, draws.shape), axis=-1
    )
    return tied


def mean_difference(differences: ArrayLike, confidence: float) -> OverModels:
    """Returns, as `OverModels`, the mean of `differences` (n,), one for each model, two or more,
    with Student's interval and the p-value by exact sign flips (`sign_flips`)."""
    given = np.asarray(differences, dtype=float)
    models, value = len(given), float(given.mean())
    half = (
        student_quantile(confidence, models)
        * float(given.std(ddof=1))
        / math.sqrt(models)
    )
    return OverModels(
        value, Interval(value - half, value + half), sign_flips(given), models
    )
