"""The largest of several estimated differences: max-t intervals, which hold their level where a bootstrap does not.

The best position minus the worst one is never negative, so that noise alone makes it positive: a percentile bootstrap
covers it in 0 to 87 % of studies (bench/bench_coverage.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from codestress.fitting.proportions import UNKNOWN, Interval, normal_quantile

Array = NDArray[np.float64]
Places = NDArray[np.int64]


def largest_drop(table: Array, weights: Array, confidence: float) -> Interval:
    """Interval of the best minus the worst position, from scores (items, positions), not below 0.

    The lower end is the largest that the studentized maximum of the bootstrap leaves of any pair of positions (Romano
    and Wolf 2005); the upper end is the largest of the single pairs'. `weights` (resamples, items) are the bootstrap's,
    rows that sum to 1.
    """
    first, second = np.nonzero(~np.eye(table.shape[1], dtype=bool))
    if not len(first):
        return Interval(0.0, 0.0)
    pairs = _Pairs(table, first, second)
    upper = (pairs.drop + normal_quantile(confidence) * pairs.error).max()
    lower = (pairs.drop - pairs.reach(weights @ table, confidence) * pairs.error).max()
    return Interval(max(0.0, float(lower)), min(1.0, float(upper)))


def largest_relative_drop(table: Array, weights: Array, confidence: float) -> Interval:
    """The same for 1 - worst / best; `UNKNOWN` where nothing is correct anywhere."""
    first, second = np.nonzero(~np.eye(table.shape[1], dtype=bool))
    return _relative(table, weights, first, second, confidence)


def relative_to_best(table: Array, weights: Array, confidence: float) -> list[Interval]:
    """For each position the interval of its share of the best position's mean, which is estimated too."""
    every = np.arange(table.shape[1])
    found = []
    for position in every:
        others = every[every != position]
        low, high = _relative(table, weights, others, np.full(len(others), position), confidence)
        found.append(Interval(1 - high, 1 - low))
    return found


def _relative(table: Array, weights: Array, first: Places, second: Places, confidence: float) -> Interval:
    if not table.any():
        return UNKNOWN
    if not len(first):  # one position alone is the best, and nothing is lost
        return Interval(0.0, 0.0)
    pairs = _Pairs(table, first, second)
    _, least = pairs.ratios(normal_quantile(confidence))
    most, _ = pairs.ratios(pairs.reach(weights @ table, confidence))
    return Interval(*(float(min(1.0, max(0.0, 1 - end.min()))) for end in (most, least)))


class _Pairs:
    """Pairs of positions: the first one's mean minus the second's, with errors that are never 0.

    Two items that are correct at one position alone are added to each pair's variance, as Bonett and Price do.
    """

    def __init__(self, table: Array, first: Places, second: Places) -> None:
        items = len(table)
        means = table.mean(axis=0)
        covariance = (np.cov(table.T, ddof=0) + np.eye(table.shape[1]) / (items + 2)) / items
        variances = np.diag(covariance)
        self.places = first, second
        self.means = means[first], means[second]
        self.variances = variances[first], variances[second], covariance[first, second]
        self.drop = means[first] - means[second]
        self.error = np.sqrt(self.variances[0] + self.variances[1] - 2 * self.variances[2])

    def reach(self, drawn: Array, confidence: float) -> float:
        """How many errors the greatest of all pairs is off in a resample, at the upper end of the interval."""
        first, second = self.places
        greatest = ((drawn[:, first] - drawn[:, second] - self.drop) / self.error).max(axis=1)
        return float(np.quantile(greatest, (1 + confidence) / 2))

    def ratios(self, errors: float) -> tuple[Array, Array]:
        """Greatest and least second / first that lie within so many errors, by Fieller's theorem (1954).

        A ratio of means is skewed, so that its own error would be short where a position is best by luck.
        """
        (one, two), (of_one, of_two, of_both) = self.means, self.variances
        a, b, c = one**2 - errors**2 * of_one, one * two - errors**2 * of_both, two**2 - errors**2 * of_two
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            greatest, least = (b + root) / a, c / (b + root)
        return np.where(a > 0, greatest, np.inf), np.where((a > 0) & (c > 0), least, 0.0)
