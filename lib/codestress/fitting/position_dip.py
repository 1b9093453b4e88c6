"""Size of a U-shape over positions with a paired test, and the largest of several differences.

The best position minus the worst is never negative, so noise alone makes it positive. A percentile
bootstrap covers it in 0 to 87 % of studies (bench/bench_coverage.py); max-t intervals hold their
level.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import (
    UNKNOWN,
    Interval,
    cluster_weights,
    normal_quantile,
    paired_difference,
)

Array = NDArray[np.float64]
Places = NDArray[np.int64]


class PositionDip(NamedTuple):
    """Dip (both ends minus the middle) and drop (best position minus worst) of mean scores (0 to 1)
    over positions, with intervals over items: from paired differences for the dip, from the largest
    of all pairs' differences (max-t), conservative, for the drop."""

    dip: float
    """Mean of both ends minus the mean of the middle third: positive for a U-shape."""
    dip_interval: Interval
    relative_dip: float
    """The dip as a share of the best position's mean."""
    drop: float
    """Mean of the best position minus mean of the worst. Never negative, so noise alone makes it
    positive."""
    drop_interval: Interval
    drop_without_effect: float
    """Average drop that noise alone would produce if all positions were alike."""
    relative_drop: float
    """Drop as a share of the best position's mean: the paper's loss relative to the maximum."""
    relative_drop_interval: Interval
    p_value: float
    """p-value of the test that both ends are better than the middle: the larger p-value of two
    one-sided sign-flip tests on items."""
    items: int


def position_dip(
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> PositionDip:
    """Returns dip and drop of `scores` (items, positions) at three or more equally spaced
    positions, first to last, without missing values. nan and `UNKNOWN` for fewer positions or no
    items; a single item has no intervals (`UNKNOWN`).

    The dip is the mean of both ends minus that of the middle third, the drop the best position's
    mean minus the worst's. A U-shape needs both ends to be better than the middle. Testing each end
    and taking the larger p-value holds the level (intersection-union test, Berger 1982).
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[1] < 3 or len(table) == 0:
        nan = math.nan
        return PositionDip(
            nan, UNKNOWN, nan, nan, UNKNOWN, nan, nan, UNKNOWN, nan, len(table)
        )
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


def _greater(differences: Array, resamples: int, rng: np.random.Generator) -> float:
    """Returns the one-sided p-value of the hypothesis that the mean of `differences` (items,) is
    not above zero, by `resamples` random flips of the items' signs."""
    signs = rng.integers(0, 2, (resamples, len(differences))) * 2 - 1
    flipped = signs @ differences
    return float((1 + (flipped >= differences.sum() - 1e-12).sum()) / (1 + resamples))


def largest_drop(table: Array, weights: Array, confidence: float) -> Interval:
    """Returns the interval of the best position's mean minus the worst's, from the scores `table`
    (items, positions), within 0 and 1; from 0 to 0 for a single position.

    The lower end is the largest over all pairs of positions that the studentized maximum of the
    bootstrap allows (Romano and Wolf 2005); the upper end is the largest of the single pairs'.
    `weights` (resamples, items) are the items' weights in each resample; rows sum to 1.
    """
    first, second = np.nonzero(~np.eye(table.shape[1], dtype=bool))
    if not len(first):
        return Interval(0.0, 0.0)
    pairs = _Pairs(table, first, second)
    upper = (pairs.drop + normal_quantile(confidence) * pairs.error).max()
    lower = (pairs.drop - pairs.reach(weights @ table, confidence) * pairs.error).max()
    return Interval(max(0.0, float(lower)), min(1.0, float(upper)))


def largest_relative_drop(table: Array, weights: Array, confidence: float) -> Interval:
    """Returns the interval of 1 - worst / best over the positions' means, from the scores `table`
    (items, positions); `UNKNOWN` when no answer is correct, from 0 to 0 for a single position.

    `weights` (resamples, items) are the items' weights in each resample; rows sum to 1.
    """
    first, second = np.nonzero(~np.eye(table.shape[1], dtype=bool))
    return _relative(table, weights, first, second, confidence)


def relative_to_best(table: Array, weights: Array, confidence: float) -> list[Interval]:
    """Returns, for each position, the interval of its mean as a share (0 to 1) of the best
    position's mean; `UNKNOWN` for all when no answer is correct.

    The best mean is an estimate too, so the interval counts its error. `table` has scores (items,
    positions); `weights` (resamples, items) are the items' weights in each resample.
    """
    every = np.arange(table.shape[1])
    others = [every[every != position] for position in every]
    lost = [
        _relative(table, weights, rest, np.full_like(rest, at), confidence)
        for at, rest in enumerate(others)
    ]
    return [Interval(1 - high, 1 - low) for low, high in lost]


def _relative(
    table: Array, weights: Array, first: Places, second: Places, confidence: float
) -> Interval:
    if not table.any():
        return UNKNOWN
    if not len(first):  # one position alone is the best, and nothing is lost
        return Interval(0.0, 0.0)
    pairs = _Pairs(table, first, second)
    _, least = pairs.ratios(normal_quantile(confidence))
    most, _ = pairs.ratios(pairs.reach(weights @ table, confidence))
    return Interval(
        *(float(min(1.0, max(0.0, 1 - end.min()))) for end in (most, least))
    )


class _Pairs:
    """Differences in mean score of pairs of positions (`first` minus `second`, arrays of columns of
    `table`), with standard errors that are never 0.

    Two items that are correct at only one position are added to each pair's variance, as in Bonett
    and Price (`paired_difference`).
    """

    def __init__(self, table: Array, first: Places, second: Places) -> None:
        items = len(table)
        means = table.mean(axis=0)
        covariance = (
            np.cov(table.T, ddof=0) + np.eye(table.shape[1]) / (items + 2)
        ) / items
        variances = np.diag(covariance)
        self.places = first, second
        self.means = means[first], means[second]
        self.variances = variances[first], variances[second], covariance[first, second]
        self.drop = means[first] - means[second]
        self.error = np.sqrt(
            self.variances[0] + self.variances[1] - 2 * self.variances[2]
        )

    def reach(self, drawn: Array, confidence: float) -> float:
        """Returns the number of standard errors that the largest deviation among all pairs'
        differences reaches: its quantile, at (1 + `confidence`) / 2, over resamples. `drawn`
        (resamples, positions) has each resample's means."""
        first, second = self.places
        greatest = ((drawn[:, first] - drawn[:, second] - self.drop) / self.error).max(
            axis=1
        )
        return float(np.quantile(greatest, (1 + confidence) / 2))

    def ratios(self, errors: float) -> tuple[Array, Array]:
        """Returns, for each pair, the largest and the smallest ratio of means second / first within
        `errors` (a number) standard errors, by Fieller's theorem (1954): inf and 0 without a bound.

        A ratio of means is skewed, so its own standard error would be too small for a position that
        is best by luck.
        """
        (one, two), (of_one, of_two, of_both) = self.means, self.variances
        a, b, c = (
            one**2 - errors**2 * of_one,
            one * two - errors**2 * of_both,
            two**2 - errors**2 * of_two,
        )
        root = np.sqrt(np.maximum(b**2 - a * c, 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            greatest, least = (b + root) / a, c / (b + root)
        return np.where(a > 0, greatest, np.inf), np.where(
            (a > 0) & (c > 0), least, 0.0
        )
