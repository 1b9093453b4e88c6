"""Tests of published numbers: families of tests, paired differences, pairs of shares,
and ranks of several shares. Also correlations and mean differences over a sample of
models, such as a dozen in a paper.

Models of one family are not independent draws. Every interval over models therefore
holds for these models only, and is too short for other models.
"""

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .proportions import (
    UNKNOWN,
    Array,
    Interval,
    floats,
    student_quantile,
)

LEVEL = 0.05
"""Significance level of a family of tests."""
MOST = 2_000_000
"""Largest number of different sums kept at once in `sign_flips`. Differences that are
whole numbers share most of their sums; 20 other differences have about a million."""
ORDERS = 50_000
"""Number of random orders that are drawn if there are more than eight models (eight
have 40,320 orders)."""
KENDALL_GRID = np.linspace(-1, 1, 81)
"""Population taus that `kendall_interval` tries as ends of the interval."""
KENDALL_DRAWS = 4000
"""Number of samples that are drawn for each tau of the grid."""


def holm(p_values: ArrayLike) -> Array:
    """Return `p_values` (n,) of one family of tests, adjusted with Holm's method
    (1979), in their original order. nan stays nan and does not count as a test."""
    given = floats(p_values)
    adjusted = np.full(given.shape, np.nan)
    members = np.flatnonzero(~np.isnan(given))
    order = members[np.argsort(given[members], kind="stable")]
    raised = np.arange(len(order), 0, -1) * given[order]
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(raised))
    return adjusted


def with_holm(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the table `tests`, a row for each test of one family, with the added
    columns `p_holm` and `decided`.

    `p_holm` is the column `p` adjusted with Holm's method. `decided` says whether
    `p_holm` is below `LEVEL` (0.05).
    """
    adjusted = holm(tests["p"])
    return tests.assign(p_holm=adjusted, decided=adjusted < LEVEL)


def significant(p_values: ArrayLike) -> int:
    """Return the number of significant differences in one family of tests: those with a
    p-value below `LEVEL` after Holm's correction of `p_values` (n,)."""
    return int((holm(p_values) < LEVEL).sum())


def sign_flips(differences: ArrayLike) -> float:
    """Return the two-sided p-value of paired `differences` (n,) from sign flips.

    The p-value is the share of all 2^n sign choices whose sum is at least as far from 0
    as the observed sum.

    For differences of -1, 0 or 1 this is McNemar's exact test (1947). The result is 1
    if all differences are 0. Raises `ValueError` for more than about 20 differences
    that are not whole numbers.
    """
    given = floats(differences)
    sums = np.zeros(1)
    chances = np.ones(1)
    for step in given[given != 0]:
        both = np.concatenate([sums + step, sums - step])
        both = np.round(both, 9)
        sums, place = np.unique(both, return_inverse=True)
        if len(sums) > MOST:
            raise ValueError(f"too many differences: {len(given)}, over {MOST:,} sums")
        chances = np.bincount(place, np.tile(chances / 2, 2)).astype(float)
    least = abs(given.sum()) - 1e-7
    extreme = np.abs(sums) >= least
    return float(min(1.0, chances[extreme].sum()))


def two_shares_p(first: float, first_n: float, second: float, second_n: float) -> float:
    """Return the two-sided p-value of the pooled z test of two independent shares from
    0 to 1; 1 for equal shares.

    The shares are `first`, of `first_n` answers, and `second`, of `second_n`. The
    numbers of answers need not be whole.
    """
    correct = first * first_n + second * second_n
    pooled = correct / (first_n + second_n)
    variance = max(pooled * (1 - pooled), 0.0)
    variance *= 1 / first_n + 1 / second_n
    if not variance > 0:
        return 1.0
    z = abs(second - first) / math.sqrt(variance)
    return math.erfc(z / math.sqrt(2))


class OpenRanks(NamedTuple):
    """Best and worst possible rank of each of several shares, and the pairs that differ
    significantly. Rank 1 is the largest share."""

    low: NDArray[np.int64]
    """Best possible rank of each share: 1 plus the number of significantly larger
    shares."""
    high: NDArray[np.int64]
    """Worst possible rank of each share: the number of shares that are not
    significantly smaller, including the share itself."""
    apart: NDArray[np.int64]
    """Pairs of indices of shares that differ significantly, the larger share first:
    shape (pairs, 2)."""


def open_ranks(shares: ArrayLike, numbers: ArrayLike) -> OpenRanks:
    """Return the ranks of `shares` (k,) that pairwise tests leave open (Mogstad,
    Romano, Shaikh and Wilhelm 2024). `numbers` (k,) are their numbers of answers.

    Two shares differ significantly if their p-value is below `LEVEL` after Holm's
    correction over all pairs. The test assumes independent shares; for shares of the
    same items it is conservative.
    """
    values = floats(shares)
    n = floats(numbers)
    count = len(values)
    pairs = np.triu_indices(count, 1)
    p_values = []
    for a, b in zip(*pairs, strict=True):
        p_values.append(two_shares_p(values[a], n[a], values[b], n[b]))
    apart = np.zeros((count, count), dtype=bool)
    apart[pairs] = holm(p_values) < LEVEL
    larger = (apart | apart.T) & (values[:, None] > values)
    low = 1 + larger.sum(axis=0)
    high = count - larger.sum(axis=1)
    return OpenRanks(low, high, np.argwhere(larger))


class OverModels(NamedTuple):
    """An estimate over models, with its interval, p-value and number of models."""

    value: float
    """Correlation or mean difference; nan if it is undefined."""
    interval: Interval
    """Interval of the value, for these models only."""
    p_value: float
    """Two-sided p-value of the hypothesis that the value is 0."""
    models: int
    """Number of models; each model is one observation."""


def pair_signs(values: ArrayLike) -> Array:
    """Return the signs (-1, 0, 1) of first minus second for all pairs of `values` (…,
    n) along the last axis.

    The result has the shape (…, n (n - 1) / 2), with the pairs in the order of
    `itertools.combinations`.
    """
    given = floats(values)
    first, second = np.triu_indices(given.shape[-1], 1)
    return floats(np.sign(given[..., first] - given[..., second]))


def kendall(
    x: ArrayLike, y: ArrayLike, confidence: float, rng: np.random.Generator
) -> OverModels:
    """Return Kendall's tau-b (1945) of `x` (n,) and `y` (n,), the values of n models on
    two measures.

    Tau suits few models, because each pair of models counts alike. The p-value is the
    share of orders of `y` whose tau is at least as far from 0. The test uses all
    orders, or `ORDERS` random orders if there are more. The interval comes from
    `kendall_interval`. The result is nan if all values of `x` or of `y` are equal, or
    one is nan.
    """
    # Imported here: the import takes a second, which most code need not spend.
    from scipy.stats import permutation_test

    signs = pair_signs(x)
    others = pair_signs(y)
    scale = math.sqrt((signs**2).sum() * (others**2).sum())
    models = len(floats(y))
    if not scale > 0:
        return OverModels(math.nan, UNKNOWN, math.nan, models)

    def distance(order: Array, axis: int) -> Array:  # noqa: ARG001
        """Return the distances from 0 of the unscaled taus of orders of `y` (…, n)."""
        return floats(np.abs(pair_signs(order) @ signs))

    test = permutation_test(
        (floats(y),),
        distance,
        permutation_type="pairings",
        alternative="greater",
        n_resamples=ORDERS,
        vectorized=True,
        rng=rng,
    )
    interval = kendall_interval(x, y, confidence, rng)
    value = float(signs @ others) / scale
    return OverModels(value, interval, float(test.pvalue), models)


def kendall_interval(
    x: ArrayLike, y: ArrayLike, confidence: float, rng: np.random.Generator
) -> Interval:
    """Return the interval of Kendall's tau of `x` (n,) and `y` (n,), neither with all
    values equal. `UNKNOWN` if the interval would be empty.

    The interval contains a population tau if samples of n models from that population
    are often enough like the observed one. More exactly, the probability of a tau at
    most as small as the observed tau, and that of one at least as large, must exceed (1
    - confidence) / 2.

    Populations are bivariate normal in their ranks, so that tau is 2 / pi *
    asin(correlation) (Kruskal 1958). Samples have the same ties as the models. Fisher's
    transformation has no interval at +-1, a frequent value for few models, and covers
    75 to 95 %. This interval covers 94 to 100 %, more for fewer models, because tau
    then has few values.
    """
    known_x, known_y = np.sort([floats(x), floats(y)])
    value = pair_signs(x) @ pair_signs(y)
    first, noise = rng.normal(size=(2, KENDALL_DRAWS, len(known_x)))
    signs = pair_signs(tied(first, known_x))
    inside = []
    for tau in KENDALL_GRID:
        correlation = math.sin(math.pi / 2 * tau)
        second = correlation * first
        second += math.sqrt(1 - correlation**2) * noise
        others = pair_signs(tied(second, known_y))
        drawn = (signs * others).sum(axis=1)
        least = min((drawn >= value).mean(), (drawn <= value).mean())
        if least > (1 - confidence) / 2:
            inside.append(float(tau))
    if not inside:
        return UNKNOWN
    return Interval(inside[0], inside[-1])


def tied(draws: Array, known: Array) -> Array:
    """Return the `draws` (…, n) with the ties of `known` (n,), which is sorted. Along
    the last axis, the smallest draw becomes the first value of `known`, and so on.

    The draws are unchanged if no two values of `known` are equal.
    """
    if (np.diff(known) > 0).all():
        # Without ties, only the order of the draws matters.
        return draws
    return floats(known[draws.argsort().argsort()])


def mean_difference(differences: ArrayLike, confidence: float) -> OverModels:
    """Return the mean of `differences` (n,), one for each of two or more models, with
    Student's interval and the exact p-value from sign flips (`sign_flips`)."""
    given = floats(differences)
    models = len(given)
    value = given.mean()
    error = given.std(ddof=1) / math.sqrt(models)
    half = student_quantile(confidence, models) * error
    interval = Interval(value - half, value + half)
    return OverModels(value, interval, sign_flips(given), models)
