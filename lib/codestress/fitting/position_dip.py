"""The size of a U-shape over positions, with a paired test of it, and the largest of several differences.

The best position minus the worst one is never negative, so that noise alone makes it positive: a percentile bootstrap
covers it in 0 to 87 % of studies (bench/bench_coverage.py). Max-t intervals hold their level.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import UNKNOWN, Interval, cluster_weights, normal_quantile, paired_difference

Array = NDArray[np.float64]
Places = NDArray[np.int64]


class PositionDip(NamedTuple):
    """Scores at positions, 0 to 1; intervals over items: of the dip, paired; of the drop, max-t and conservative."""

    dip: float
    """Mean of both ends minus the mean of the middle third: positive for a U-shape."""
    dip_interval: Interval
    relative_dip: float
    """The dip as a share of the best position's mean."""
    drop: float
    """Best position's mean minus the worst one's. Never negative, so that noise alone makes it positive."""
    drop_interval: Interval
    drop_without_effect: float
    """What the drop would be on average if all positions were alike."""
    relative_drop: float
    """The drop as a share of the best position's mean: what the paper calls a loss relative to the maximum."""
    relative_drop_interval: Interval
    p_value: float
    """Of the test that both ends are better than the middle: the larger of two one-sided sign-flip tests on items."""
    items: int


def position_dip(
    scores: ArrayLike, *, confidence: float = 0.95, resamples: int = 1000, rng: np.random.Generator
) -> PositionDip:
    """From scores (items, positions), equally spaced places from first to last, at least three, none missing.

    Both ends must be better than the middle for a U; testing each and taking the larger p-value holds the level
    (intersection-union test, Berger 1982).
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[1] < 3 or len(table) == 0:
        nan = math.nan
        return PositionDip(nan, UNKNOWN, nan, nan, UNKNOWN, nan, nan, UNKNOWN, nan, len(table))
    places = np.linspace(0, 1, table.shape[1])
    middle = table[:, (places >= 1 / 3 - 1e-9) & (places <= 2 / 3 + 1e-9)].mean(axis=1)
    ends = (table[:, 0] + table[:, -1]) / 2
    weights = cluster_weights(len(table), resamples, rng) / len(table)
    means = table.mean(axis=0)
    best = float(means.max())
    drop = best - float(means.min())
    dip = float((ends - middle).mean())
    several = len(table) > 1
    return PositionDip(
        dip,
        paired_difference(ends - middle, confidence=confidence) if several else UNKNOWN,
        dip / best if best else math.nan,
        drop,
        largest_drop(table, weights, confidence) if several else UNKNOWN,
        float(np.ptp(weights @ table - means, axis=1).mean()),
        drop / best if best else math.nan,
        largest_relative_drop(table, weights, confidence) if several else UNKNOWN,
        max(_greater(table[:, end] - middle, resamples, rng) for end in (0, -1)),
        len(table),
    )


def _greater(differences: NDArray[np.float64], resamples: int, rng: np.random.Generator) -> float:
    """One-sided p-value of a mean above zero, by flipping the signs of the items' differences at random."""
    signs = rng.integers(0, 2, (resamples, len(differences))) * 2 - 1
    flipped = signs @ differences
    return float((1 + (flipped >= differences.sum() - 1e-12).sum()) / (1 + resamples))


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
    others = [every[every != position] for position in every]
    lost = [_relative(table, weights, rest, np.full_like(rest, at), confidence) for at, rest in enumerate(others)]
    return [Interval(1 - high, 1 - low) for low, high in lost]


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
