"""Intervals for shares, and for differences between them, that say something where all answers are alike too; and the
bootstrap over items: answers to one item are not independent of each other, items are."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

DOUBTED = 0.05
"""A fitted curve whose lack of fit has a smaller p-value is said not to describe its points."""


class Interval(NamedTuple):
    """Both ends, in the unit of the estimate; nan where there is nothing to say."""

    low: float
    high: float


UNKNOWN = Interval(math.nan, math.nan)


class Estimate(NamedTuple):
    """A mean with its interval."""

    value: float
    interval: Interval
    clusters: int
    n: int


def normal_quantile(confidence: float) -> float:
    """How many standard errors an interval reaches to each side."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def student_quantile(confidence: float, clusters: float) -> float:
    """The same where the error itself is known from so many clusters, two or more."""
    from scipy.special import stdtrit  # here: what needs none can do without

    return float(stdtrit(clusters - 1, (1 + confidence) / 2))


def wilson(successes: float, trials: float, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share (Wilson 1927); `UNKNOWN` without trials.

    For independent trials, or as many as answers that hang together are worth (`effective_number`), which need not be a
    whole number. Written out, and tested against scipy.stats, because importing that costs every notebook's kernel more
    than a second.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be between 0 and trials, not {successes} of {trials}")
    if trials == 0:
        return UNKNOWN
    z = normal_quantile(confidence)
    share, shrink = successes / trials, 1 / (1 + z * z / trials)
    centre = (share + z * z / (2 * trials)) * shrink
    half = z * shrink * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # Exact at the ends, where rounding could put the share itself outside.
    return Interval(0.0 if successes == 0 else centre - half, 1.0 if successes == trials else centre + half)


def effective_number(clusters: ArrayLike) -> float:
    """How many independent answers the answers of clusters are worth at least: (sum of sizes)² / sum of squared sizes.

    `clusters` (n,) names each answer's. It is Kish's number (1965) for answers of one cluster that all agree; three
    candidates for each of 800 problems are worth 800.
    """
    _, sizes = np.unique(np.asarray(clusters), return_counts=True)
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if sizes.size else 0.0


def clustered_share(scores: ArrayLike, clusters: ArrayLike, confidence: float = 0.95) -> Estimate:
    """The mean of scores (0 to 1) with Wilson's interval at the effective number of clusters, always.

    A bootstrap has no width where all answers are alike, and an interval that changes its method there covers 82 to
    94 % (bench/bench_coverage.py); this one is named conservative: it takes a cluster's answers for copies of each
    other. Clustered errors in evaluations: Miller 2024, "Adding error bars to evals".
    """
    numbers, names = np.asarray(scores, dtype=float), np.asarray(clusters)
    if numbers.size == 0:
        return Estimate(math.nan, UNKNOWN, 0, 0)
    share, worth = float(numbers.mean()), effective_number(names)
    return Estimate(share, wilson(min(share * worth, worth), worth, confidence), len(np.unique(names)), numbers.size)


def newcombe(first: float, first_n: float, second: float, second_n: float, confidence: float = 0.95) -> Interval:
    """Interval of `second` - `first`, two independent shares (Newcombe 1998, method 10); `UNKNOWN` without trials."""
    one, two = wilson(first * first_n, first_n, confidence), wilson(second * second_n, second_n, confidence)
    down = math.hypot(second - two.low, one.high - first)
    up = math.hypot(two.high - second, first - one.low)
    return Interval(second - first - down, second - first + up)


def clustered_mean(values: ArrayLike, clusters: ArrayLike, *, confidence: float = 0.95) -> Estimate:
    """Mean of `values` (n,), none below 0, with an interval over `clusters` (n,), whose answers hang together.

    Of the logarithm of the mean, by Student's quantile: numbers of tokens have a long tail, and a sample that lacks it
    has too small a mean and too small a spread at once. Above, it is longer by the skewness of the clusters (Chen
    1995). Two clusters are added, as in `paired_difference`, that lie as far beside the mean as it is from 0, so that
    values that are all alike still leave a doubt. One cluster says nothing, nor do zeros alone: `UNKNOWN`.
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
    error = math.sqrt((away**2).sum() + 2 * (typical * value) ** 2) / (sizes.sum() + 2 * typical)
    spread = float(np.sqrt((away**2).mean()))
    skewness = max(float((away**3).mean()) / spread**3, 0.0) if spread > 1e-9 * value else 0.0
    skewness *= math.sqrt(count * (count - 1)) / max(count - 2, 1)
    a, t = skewness / (6 * math.sqrt(count)), student_quantile(confidence, count)
    longer = 1 + (a * (1 + 2 * t**2) + 4 * a**2 * (t + 2 * t**3)) / t
    down, up = (math.exp(min(t * error * by / value, 50)) for by in (1, longer))
    return Estimate(value, Interval(value / down, value * up), count, numbers.size)


def paired_difference(differences: ArrayLike, clusters: ArrayLike | None = None, confidence: float = 0.95) -> Interval:
    """Interval of the mean of paired differences (-1 to 1), the answers of a cluster hanging together.

    Bonett and Price 2012: two items are added, one that favours each side, so that pairs that all agree still leave a
    doubt; here they are clusters of average size, which for single items is their formula.
    """
    numbers = np.asarray(differences, dtype=float)
    if numbers.size == 0:
        return UNKNOWN
    _, index = np.unique(np.arange(numbers.size) if clusters is None else np.asarray(clusters), return_inverse=True)
    sums, sizes = np.bincount(index, weights=numbers), np.bincount(index).astype(float)
    typical = sizes.mean()
    sums, sizes = np.append(sums, [typical, -typical]), np.append(sizes, [typical, typical])
    mean = sums.sum() / sizes.sum()
    error = math.sqrt(((sums - mean * sizes) ** 2).sum()) / sizes.sum()
    half = normal_quantile(confidence) * error
    value = float(numbers.mean())
    return Interval(max(-1.0, min(mean - half, value)), min(1.0, max(mean + half, value)))


def ratio_of_shares(
    first: float, second: float, worth: float, correlation: float, confidence: float = 0.95
) -> Interval:
    """Interval of `second` / `first`, two shares of the same items, from Wilson's intervals of both.

    Donner and Zou 2012 (MOVER for ratios): `worth` is the effective number of items, `correlation` that of the two
    sides' scores over items. The upper end is infinite where the first share could be zero.
    """
    return ratio(
        (first, wilson(first * worth, worth, confidence)),
        (second, wilson(second * worth, worth, confidence)),
        correlation,
    )


def ratio(first: tuple[float, Interval], second: tuple[float, Interval], correlation: float = 0.0) -> Interval:
    """Interval of `second` / `first`, positive numbers with the intervals that they have alone (the same, MOVER)."""
    (base, (below, above)), (top, (low, high)) = first, second
    if not base > 0:
        return UNKNOWN
    return Interval(
        _ratio_end(top, max(low, 0.0), base, above, correlation, -1),
        _ratio_end(top, high, base, max(below, 0.0), correlation, 1),
    )


def _ratio_end(top: float, top_end: float, base: float, base_end: float, correlation: float, side: int) -> float:
    product = top * base - correlation * abs(top - top_end) * abs(base - base_end)
    over, under = top_end * (2 * top - top_end), base_end * (2 * base - base_end)
    root = math.sqrt(max(product**2 - over * under, 0.0))
    if side < 0:  # the smaller root of the quadratic, written so that nothing cancels
        return max(0.0, over / (product + root)) if product + root > 0 else 0.0
    return (product + root) / under if under > 0 else math.inf


def cluster_weights(clusters: int, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each cluster is drawn in each resample: shape (resamples, clusters), rows that sum to `clusters`."""
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(float)


def stretched(draws: NDArray[Any], best: NDArray[Any], clusters: int, confidence: float) -> NDArray[Any]:
    """Draws (resamples, k) away from the estimate (k,) by Student's quantile and n / (n - 1), because few clusters know
    little of their own spread: of 25 by 8 %, of 800 by 0.2 %."""
    known = max(clusters, 2)
    by = student_quantile(confidence, known) / normal_quantile(confidence) * math.sqrt(known / (known - 1))
    return np.asarray(best + by * (draws - best))


def percentile_interval(draws: NDArray[Any], confidence: float) -> Interval:
    """The central share of the draws; nan among them are left out."""
    kept = draws[~np.isnan(draws)]
    if kept.size == 0:
        return UNKNOWN
    low, high = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
