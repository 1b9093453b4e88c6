"""Intervals for shares and their differences that keep a width even when all answers are alike; and
a bootstrap over items, because answers to one item are not independent of each other."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

DOUBTED = 0.05
"""Level for lack of fit: a curve with a smaller p-value is reported as not describing its
points."""


class Interval(NamedTuple):
    """Both ends, `low` and `high`, of an interval, in the unit of the estimate; nan if unknown."""

    low: float
    high: float


UNKNOWN = Interval(math.nan, math.nan)


class Estimate(NamedTuple):
    """A mean with its interval, and the numbers of clusters and answers behind it."""

    value: float
    interval: Interval
    clusters: int
    n: int


def normal_quantile(confidence: float) -> float:
    """Returns the number of standard errors that a normal interval with `confidence`, such as 0.95,
    reaches to each side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def student_quantile(confidence: float, clusters: float) -> float:
    """Returns the number of standard errors that Student's interval with `confidence` reaches to
    each side, when the error is estimated from `clusters` clusters, two or more."""
    from scipy.special import stdtrit  # here: what needs none can do without

    return float(stdtrit(clusters - 1, (1 + confidence) / 2))


def wilson(successes: float, trials: float, confidence: float = 0.95) -> Interval:
    """Returns Wilson's score interval of the share `successes` / `trials` (Wilson 1927). `UNKNOWN`
    for 0 trials, `ValueError` for successes outside 0 to `trials`.

    For independent trials, or the effective number of clustered answers (`effective_number`):
    neither number need be whole. Implemented here and tested against scipy.stats, because that
    import costs every notebook's kernel more than a second.
    """
    if not 0 <= successes <= trials:
        raise ValueError(
            f"successes must be between 0 and trials, not {successes} of {trials}"
        )
    if trials == 0:
        return UNKNOWN
    z = normal_quantile(confidence)
    share, shrink = successes / trials, 1 / (1 + z * z / trials)
    centre = (share + z * z / (2 * trials)) * shrink
    half = (
        z
        * shrink
        * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    )
    # Exact at the ends, where rounding could put the share itself outside.
    return Interval(
        0.0 if successes == 0 else centre - half,
        1.0 if successes == trials else centre + half,
    )


def effective_number(clusters: ArrayLike) -> float:
    """Returns the smallest number of independent answers that clustered answers are worth: (sum of
    sizes)² / sum of squared sizes; 0 without answers.

    `clusters` (n,) names each answer's cluster. The formula is Kish's (1965) for clusters whose
    answers all agree; three candidates for each of 800 problems are worth 800.
    """
    _, sizes = np.unique(np.asarray(clusters), return_counts=True)
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if sizes.size else 0.0


def clustered_share(
    scores: ArrayLike, clusters: ArrayLike, confidence: float = 0.95
) -> Estimate:
    """Returns the mean of `scores` (n,), from 0 to 1, with Wilson's interval at the effective
    number of answers (`effective_number`), as an `Estimate`; nan and `UNKNOWN` without scores.

    `clusters` (n,) names each score's cluster. A bootstrap has no width when all answers are alike,
    and an interval that changes its method in that case covers 82 to 94 %
    (bench/bench_coverage.py). Wilson's interval here is conservative: it treats a cluster's answers
    as copies of each other. Clustered errors in evaluations: Miller 2024, "Adding error bars to
    evals".
    """
    numbers, names = np.asarray(scores, dtype=float), np.asarray(clusters)
    if numbers.size == 0:
        return Estimate(math.nan, UNKNOWN, 0, 0)
    share, worth = float(numbers.mean()), effective_number(names)
    return Estimate(
        share,
        wilson(min(share * worth, worth), worth, confidence),
        len(np.unique(names)),
        numbers.size,
    )


def newcombe(
    first: float,
    first_n: float,
    second: float,
    second_n: float,
    confidence: float = 0.95,
) -> Interval:
    """Returns the interval of `second` - `first`, two independent shares (0 to 1) of `second_n` and
    `first_n` answers (Newcombe 1998, method 10); nan when either number is 0."""
    one, two = (
        wilson(first * first_n, first_n, confidence),
        wilson(second * second_n, second_n, confidence),
    )
    down = math.hypot(second - two.low, one.high - first)
    up = math.hypot(two.high - second, first - one.low)
    return Interval(second - first - down, second - first + up)


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike, *, confidence: float = 0.95
) -> Estimate:
    """Returns the mean of `values` (n,), none below 0, with its interval, as an `Estimate`.
    `clusters` (n,) names each value's cluster; values in one cluster are dependent.

    The interval is for the logarithm of the mean, by Student's quantile: numbers of tokens have a
    long tail, and a sample without that tail has both too small a mean and too small a spread. The
    upper side is longer by the skewness of the clusters (Chen 1995). Two clusters are added, as in
    `paired_difference`, that lie as far from the mean as the mean from 0, so that equal values
    still leave uncertainty. The interval is `UNKNOWN` without values (the mean is then nan), for a
    single cluster and for zeros alone; `ValueError` for negative values.
    """
    numbers = np.asarray(values, dtype=float)
    if numbers.size == 0:
        return Estimate(math.nan, UNKNOWN, 0, 0)
    if numbers.min() < 0:
        raise ValueError("numbers of which there cannot be fewer than none")
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    value, count = float(numbers.mean()), int(index.max()) + 1
    if count < 2 or not value:
        return Estimate(value, UNKNOWN, count, numbers.size)
    away, sizes = np.bincount(index, weights=numbers - value), np.bincount(index)
    typical = sizes.mean()
    error = math.sqrt((away**2).sum() + 2 * (typical * value) ** 2) / (
        sizes.sum() + 2 * typical
    )
    spread = float(np.sqrt((away**2).mean()))
    skewness = (
        max(float((away**3).mean()) / spread**3, 0.0) if spread > 1e-9 * value else 0.0
    )
    skewness *= math.sqrt(count * (count - 1)) / max(count - 2, 1)
    a, t = skewness / (6 * math.sqrt(count)), student_quantile(confidence, count)
    longer = 1 + (a * (1 + 2 * t**2) + 4 * a**2 * (t + 2 * t**3)) / t
    down, up = (math.exp(min(t * error * by / value, 50)) for by in (1, longer))
    return Estimate(value, Interval(value / down, value * up), count, numbers.size)


def paired_difference(
    differences: ArrayLike, clusters: ArrayLike | None = None, confidence: float = 0.95
) -> Interval:
    """Returns the interval of the mean of `differences` (n,) of paired scores, each from -1 to 1;
    `UNKNOWN` without differences.

    `clusters` (n,) names each difference's cluster: those in one cluster are dependent; without it
    all are independent. Bonett and Price 2012 add two items, one in favour of each side, so that
    pairs that all agree still leave uncertainty. Here two clusters of average size are added, which
    for single items is the same formula.
    """
    numbers = np.asarray(differences, dtype=float)
    if numbers.size == 0:
        return UNKNOWN
    _, index = np.unique(
        np.arange(numbers.size) if clusters is None else np.asarray(clusters),
        return_inverse=True,
    )
    sums, sizes = np.bincount(index, weights=numbers), np.bincount(index).astype(float)
    typical = sizes.mean()
    sums, sizes = (
        np.append(sums, [typical, -typical]),
        np.append(sizes, [typical, typical]),
    )
    mean = sums.sum() / sizes.sum()
    error = math.sqrt(((sums - mean * sizes) ** 2).sum()) / sizes.sum()
    half = normal_quantile(confidence) * error
    value = float(numbers.mean())
    return Interval(
        max(-1.0, min(mean - half, value)), min(1.0, max(mean + half, value))
    )


def ratio_of_shares(
    first: float,
    second: float,
    worth: float,
    correlation: float,
    confidence: float = 0.95,
) -> Interval:
    """Returns the interval of `second` / `first`, two shares of the same items, from Wilson's
    intervals of both (MOVER for ratios, Donner and Zou 2012).

    `worth` is the effective number of items (`effective_number`), `correlation` that of the two
    sides' scores over items. The upper end is infinite when `first` could be zero; `UNKNOWN` when
    it is zero.
    """
    return ratio(
        (first, wilson(first * worth, worth, confidence)),
        (second, wilson(second * worth, worth, confidence)),
        correlation,
    )


def ratio(
    first: tuple[float, Interval],
    second: tuple[float, Interval],
    correlation: float = 0.0,
) -> Interval:
    """Returns the interval of the ratio second / first (MOVER for ratios, Donner and Zou 2012).
    `first` and `second` are pairs (positive number, its interval); `UNKNOWN` when the first number
    is not positive.

    `correlation` is that of the two numbers' errors. The upper end is infinite when the first could
    be zero.
    """
    (base, (below, above)), (top, (low, high)) = first, second
    if not base > 0:
        return UNKNOWN
    return Interval(
        _ratio_end(top, max(low, 0.0), base, above, correlation, -1),
        _ratio_end(top, high, base, max(below, 0.0), correlation, 1),
    )


def _ratio_end(
    top: float,
    top_end: float,
    base: float,
    base_end: float,
    correlation: float,
    side: int,
) -> float:
    product = top * base - correlation * abs(top - top_end) * abs(base - base_end)
    over, under = top_end * (2 * top - top_end), base_end * (2 * base - base_end)
    root = math.sqrt(max(product**2 - over * under, 0.0))
    if side < 0:  # the smaller root of the quadratic, written so that nothing cancels
        return max(0.0, over / (product + root)) if product + root > 0 else 0.0
    return (product + root) / under if under > 0 else math.inf


def cluster_weights(
    clusters: int, resamples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Returns the number of times that each of `clusters` clusters is drawn in each resample of a
    bootstrap: shape (resamples, clusters); each row sums to `clusters`."""
    return rng.multinomial(
        clusters, np.full(clusters, 1 / clusters), size=resamples
    ).astype(float)


def stretched(
    draws: NDArray[Any], best: NDArray[Any], clusters: int, confidence: float
) -> NDArray[Any]:
    """Returns the `draws` (resamples, k) of a bootstrap, stretched away from the estimate `best`
    (k,): by Student's quantile over the normal one, and by the square root of n / (n - 1), n the
    number `clusters`, at least 2.

    Few clusters tell little of their own spread: 25 clusters are stretched by 8 %, 800 by 0.2 %.
    """
    known = max(clusters, 2)
    by = (
        student_quantile(confidence, known)
        / normal_quantile(confidence)
        * math.sqrt(known / (known - 1))
    )
    return np.asarray(best + by * (draws - best))


def percentile_interval(
    draws: NDArray[Any], confidence: float, value: float
) -> Interval:
    """Returns the interval between the quantiles of `draws` that leave (1 - `confidence`) / 2 of
    them out on each side, or up to the estimate `value` where that lies outside: at a bound, or of
    few clusters, all draws can lie on one side. nan draws do not count; without others, or without
    an estimate, the result is `UNKNOWN`."""
    kept = draws[~np.isnan(draws)]
    if kept.size == 0 or math.isnan(value):
        return UNKNOWN
    low, high = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(min(low, value)), float(max(high, value)))
