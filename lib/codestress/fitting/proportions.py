"""Intervals for shares and their differences that keep a width even if all answers are
alike, and a bootstrap over items.

Items are resampled because answers to one item are not independent of each other.
"""

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
"""Array of floats."""
DOUBTED = 0.05
"""Significance level for lack of fit: a curve with a smaller p-value is reported as not
describing its points."""


def floats(values: ArrayLike) -> Array:
    """Return the `values` as an array of floats."""
    return np.asarray(values, dtype=float)


class Interval(NamedTuple):
    """Lower and upper end of an interval, in the unit of the estimate; nan if unknown."""

    low: float
    """Lower end."""
    high: float
    """Upper end."""


UNKNOWN = Interval(math.nan, math.nan)
"""Interval of an estimate with no answers or too few."""


class Estimate(NamedTuple):
    """A mean with its interval, and the numbers of clusters and answers behind it."""

    value: float
    """Mean of all answers; nan if there are none."""
    interval: Interval
    """Interval of the mean."""
    clusters: int
    """Number of groups of answers that depend on each other, such as those to one item."""
    n: int
    """Number of answers."""


NO_ESTIMATE = Estimate(math.nan, UNKNOWN, 0, 0)
"""Estimate without answers."""


def normal_quantile(confidence: float) -> float:
    """Return the number of standard errors from the middle to each end of a normal
    interval with `confidence`, such as 0.95."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def student_quantile(confidence: float, clusters: float) -> float:
    """Return the number of standard errors from the middle to each end of Student's
    interval with `confidence`.

    The standard error is estimated from `clusters` clusters, two or more.
    """
    # Imported here, so that code without this interval need not load scipy.
    from scipy.special import stdtrit

    return float(stdtrit(clusters - 1, (1 + confidence) / 2))


def wilson(successes: float, trials: float, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of the share `successes` / `trials` (Wilson 1927).
    `UNKNOWN` for 0 trials.

    `trials` counts independent trials, or is the effective number of clustered answers
    (`effective_number`); the two numbers need not be whole. The formula is implemented
    here and tested against scipy.stats, because importing that costs every notebook's
    kernel more than a second. Raises `ValueError` if `successes` is not between 0 and
    `trials`.
    """
    if not 0 <= successes <= trials:
        raise ValueError(
            f"successes must be between 0 and trials, not {successes} of {trials}"
        )
    if trials == 0:
        return UNKNOWN
    z = normal_quantile(confidence)
    share = successes / trials
    shrink = 1 / (1 + z * z / trials)
    centre = (share + z * z / (2 * trials)) * shrink
    variance = share * (1 - share) / trials
    variance += z * z / (4 * trials * trials)
    half = z * shrink * math.sqrt(variance)
    low = centre - half
    high = centre + half
    # Exact at 0 and 1, because rounding could put the share itself outside.
    if successes == 0:
        low = 0.0
    if successes == trials:
        high = 1.0
    return Interval(low, high)


def effective_number(clusters: ArrayLike) -> float:
    """Return the smallest number of independent answers that clustered answers are
    worth: (sum of cluster sizes)² / sum of squared cluster sizes; 0 without answers.

    `clusters` (n,) names each answer's cluster. The formula is Kish's (1965) for
    clusters whose answers all agree; three candidates for each of 800 problems are
    worth 800.
    """
    _, sizes = np.unique(clusters, return_counts=True)
    if not sizes.size:
        return 0.0
    squares = (sizes**2).sum()
    return float(sizes.sum() ** 2 / squares)


def clustered_share(
    scores: ArrayLike, clusters: ArrayLike, confidence: float = 0.95
) -> Estimate:
    """Return the mean of `scores` (n,), each from 0 to 1, with Wilson's interval at the
    effective number of answers (`effective_number`). nan and `UNKNOWN` without scores.

    `clusters` (n,) names each score's cluster. A bootstrap interval has no width if all
    answers are alike, and an interval that changes its method in that case covers 82 to
    94 % (bench/bench_coverage.py). Wilson's interval here is conservative, because it
    treats a cluster's answers as copies of each other. Clustered errors in evaluations:
    Miller 2024, "Adding error bars to evals".
    """
    numbers = floats(scores)
    if numbers.size == 0:
        return NO_ESTIMATE
    share = float(numbers.mean())
    worth = effective_number(clusters)
    interval = wilson(min(share * worth, worth), worth, confidence)
    count = len(np.unique(clusters))
    return Estimate(share, interval, count, numbers.size)


def newcombe(
    first: float,
    first_n: float,
    second: float,
    second_n: float,
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of `second` - `first`, two independent shares from 0 to 1
    (Newcombe 1998, method 10).

    `first_n` and `second_n` are the numbers of answers. nan if either number is 0.
    """
    first_low, first_high = wilson(first * first_n, first_n, confidence)
    second_low, second_high = wilson(second * second_n, second_n, confidence)
    down = math.hypot(second - second_low, first_high - first)
    up = math.hypot(second_high - second, first - first_low)
    difference = second - first
    return Interval(difference - down, difference + up)


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike, *, confidence: float = 0.95
) -> Estimate:
    """Return the mean of `values` (n,), none below 0, with its interval. `clusters` (n,) names each value's cluster;
    values in one cluster are dependent.

    The interval is computed for the logarithm of the mean, with Student's quantile, because numbers of tokens have a
    long tail. The upper side of the interval is lengthened according to the clusters' skewness (Chen 1995), because a
    sample without the tail has too small a mean and spread. As in `paired_difference`, two clusters are added, so
    that equal values still leave uncertainty. These clusters lie as far from the mean as the mean lies from 0. The
    interval is `UNKNOWN` without values (the mean is then nan), for a single cluster, and if all values are 0. Raises
    `ValueError` for negative values.
    """
    import pandas as pd

    numbers = floats(values)
    if numbers.size == 0:
        return NO_ESTIMATE
    if numbers.min() < 0:
        raise ValueError("a value is negative")
    _, index = np.unique(clusters, return_inverse=True)
    value = float(numbers.mean())
    sizes = np.bincount(index)
    if len(sizes) < 2 or not value:
        return Estimate(value, UNKNOWN, len(sizes), numbers.size)
    away = np.bincount(index, weights=numbers - value).astype(float)
    typical = sizes.mean()
    squares = (away**2).sum()
    squares += 2 * (typical * value) ** 2
    error = math.sqrt(squares) / (sizes.sum() + 2 * typical)
    t = student_quantile(confidence, len(sizes))
    # Unknown (nan) for two clusters, and then 0.
    skewness = max(0.0, float(pd.Series(away).skew()))
    a = skewness / (6 * math.sqrt(len(sizes)))
    longer = 1 + (a * (1 + 2 * t**2) + 4 * a**2 * (t + 2 * t**3)) / t
    half = t * error
    down = min(half / value, 50)
    up = min(half * longer / value, 50)
    ends = Interval(value / math.exp(down), value * math.exp(up))
    return Estimate(value, ends, len(sizes), numbers.size)


def paired_difference(
    differences: ArrayLike, clusters: ArrayLike | None = None, confidence: float = 0.95
) -> Interval:
    """Return the interval of the mean of `differences` (n,) of paired scores, each from
    -1 to 1. `UNKNOWN` without differences.

    `clusters` (n,) names each difference's cluster; differences in one cluster are
    dependent. If `clusters` is None, all differences are independent. Bonett and Price
    2012 add two items, one in favour of each side, so that pairs that all agree still
    leave uncertainty. Here two clusters of average size are added; for single items the
    formula is the same.
    """
    numbers = floats(differences)
    if numbers.size == 0:
        return UNKNOWN
    if clusters is None:
        clusters = np.arange(numbers.size)
    _, index = np.unique(clusters, return_inverse=True)
    sizes = np.bincount(index).astype(float)
    typical = sizes.mean()
    sums = np.bincount(index, weights=numbers)
    sums = np.append(sums, [typical, -typical])
    sizes = np.append(sizes, [typical, typical])
    mean = sums.sum() / sizes.sum()
    squares = (sums - mean * sizes) ** 2
    error = math.sqrt(squares.sum()) / sizes.sum()
    half = normal_quantile(confidence) * error
    value = numbers.mean()
    low = min(mean - half, value)
    high = max(mean + half, value)
    return Interval(max(-1.0, low), min(1.0, high))


def ratio_of_shares(
    first: float,
    second: float,
    worth: float,
    correlation: float,
    confidence: float = 0.95,
) -> Interval:
    """Return the interval of `second` / `first`, two shares of the same items, computed
    from Wilson's intervals of the two shares (`ratio`).

    `worth` is the effective number of items (`effective_number`). `correlation` is the
    correlation over items between the scores behind the two shares.
    """
    base = wilson(first * worth, worth, confidence)
    top = wilson(second * worth, worth, confidence)
    return ratio((first, base), (second, top), correlation)


def ratio(
    first: tuple[float, Interval],
    second: tuple[float, Interval],
    correlation: float = 0.0,
) -> Interval:
    """Return the interval of the ratio second / first (MOVER for ratios, Donner and Zou
    2012). `UNKNOWN` if the first number is not positive.

    `first` and `second` are pairs (number, its interval). `correlation` is the
    correlation between the two numbers' errors. The upper end is inf if the first
    number could be zero.
    """
    base, (base_low, base_high) = first
    top, (top_low, top_high) = second
    if not base > 0:
        return UNKNOWN
    low, _ = ratio_roots(top, max(top_low, 0.0), base, base_high, correlation)
    _, high = ratio_roots(top, top_high, base, max(base_low, 0.0), correlation)
    return Interval(low, high)


def ratio_roots(
    top: float, top_end: float, base: float, base_end: float, correlation: float
) -> tuple[float, float]:
    """Return the smaller and the larger ratio at which the distances from `top` to
    `top_end` and from `base` to `base_end` cancel.

    The ratios are the roots of a quadratic; `correlation` is as in `ratio`. The larger
    ratio is inf if it has no bound.
    """
    product = top * base
    product -= correlation * abs(top - top_end) * abs(base - base_end)
    over = top_end * (2 * top - top_end)
    under = base_end * (2 * base - base_end)
    root = math.sqrt(max(product**2 - over * under, 0.0))
    # This form of the smaller root avoids a difference of nearly equal numbers.
    both = product + root
    smaller = 0.0
    larger = math.inf
    if both > 0:
        smaller = max(0.0, over / both)
    if under > 0:
        larger = both / under
    return smaller, larger


def cluster_weights(clusters: int, resamples: int, rng: np.random.Generator) -> Array:
    """Return how often each of `clusters` clusters is drawn in each bootstrap resample:
    shape (resamples, clusters); each row sums to `clusters`."""
    chances = np.full(clusters, 1 / clusters)
    return rng.multinomial(clusters, chances, size=resamples).astype(float)


def stretched(draws: Array, best: Array, clusters: int, confidence: float) -> Array:
    """Return the bootstrap `draws` (resamples, k), stretched away from the estimate
    `best` (k,) to correct for few clusters.

    The factor is Student's quantile over the normal quantile at `confidence`, times the
    square root of n / (n - 1). n is the number `clusters`, at least 2. Few clusters
    underestimate their own spread: 25 clusters are stretched by 8 %, 800 by 0.2 %.
    """
    n = max(clusters, 2)
    factor = student_quantile(confidence, n) / normal_quantile(confidence)
    factor *= math.sqrt(n / (n - 1))
    return floats(best + factor * (draws - best))


def percentile_interval(draws: Array, confidence: float, value: float) -> Interval:
    """Return the interval between the two quantiles of `draws` that enclose the share
    `confidence`, extended to the estimate `value` if that lies outside.

    (1 - `confidence`) / 2 of the draws lie beyond each quantile. All draws can lie on
    one side of an estimate that is at a bound or has few clusters. nan draws are
    ignored. `UNKNOWN` if all draws are nan or `value` is nan.
    """
    known = draws[~np.isnan(draws)]
    if known.size == 0 or math.isnan(value):
        return UNKNOWN
    levels = [(1 - confidence) / 2, (1 + confidence) / 2]
    low, high = np.quantile(known, levels)
    return Interval(min(low, value), max(high, value))
