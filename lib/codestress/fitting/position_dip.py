"""Size of a U-shape over positions with a paired test, and the largest of several
differences.

The best position minus the worst is never negative, so noise alone makes it positive. A
percentile bootstrap covers its true value in 0 to 87 % of studies
(bench/bench_coverage.py); max-t intervals hold their level.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .proportions import (
    UNKNOWN,
    Array,
    Interval,
    cluster_weights,
    floats,
    normal_quantile,
    paired_difference,
)

Chosen = NDArray[np.intp]
"""Pairs of positions, shape (2, pairs): the indices of each pair's first and second
position."""


class PositionDip(NamedTuple):
    """Dip (ends minus middle) and drop (best position minus worst) of mean scores, from
    0 to 1, over positions, with intervals over items.

    The dip's interval comes from paired differences. The drop's interval comes from the
    largest of all pairs' differences (max-t) and is conservative.
    """

    dip: float = math.nan
    """Mean of the first and last position minus the mean of the middle third; positive
    for a U-shape."""
    dip_interval: Interval = UNKNOWN
    """Interval of the dip (`paired_difference`)."""
    relative_dip: float = math.nan
    """The dip as a share of the best position's mean."""
    drop: float = math.nan
    """Mean of the best position minus mean of the worst. The drop is never negative, so
    noise alone makes it positive."""
    drop_interval: Interval = UNKNOWN
    """Interval of the drop (`largest_drop`)."""
    drop_without_effect: float = math.nan
    """Average drop that noise alone would produce if all positions were alike."""
    relative_drop: float = math.nan
    """The drop as a share of the best position's mean: the loss relative to the maximum
    in Sense and Sensitivity."""
    relative_drop_interval: Interval = UNKNOWN
    """Interval of the relative drop (`largest_relative_drop`)."""
    p_value: float = math.nan
    """p-value of the test that the first and the last position are both better than the
    middle. It is the larger p-value of two one-sided sign-flip tests on items."""
    items: int = 0
    """Number of items, such as programs, behind all numbers."""


def position_dip(
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 1000,
    rng: np.random.Generator,
) -> PositionDip:
    """Return dip and drop of `scores` (items, positions) at three or more equally spaced positions,
    first to last, without missing values.

    The dip is the mean of the two ends minus that of the middle third; the drop is the best
    position's mean minus the worst's. The p-value is the larger of the two ends' p-values, which
    holds the level (intersection-union test, Berger 1982). nan and `UNKNOWN` for fewer positions or
    no items. A single item has no intervals (`UNKNOWN`).
    """
    table = floats(scores)
    items, places = table.shape
    if items == 0 or places < 3:
        return PositionDip(items=items)
    depths = np.linspace(0, 1, places)
    inner = np.abs(depths - 0.5) <= 1 / 6 + 1e-9
    middle = table[:, inner].mean(axis=1)
    ends = table.T[[0, -1]]
    dips = ends.mean(axis=0) - middle
    weights = cluster_weights(items, resamples, rng) / items
    means = table.mean(axis=0)
    best = means.max() or math.nan
    dip = dips.mean()
    drop = np.ptp(means)
    noise = np.ptp(weights @ table - means, axis=1).mean()
    p_value = max(greater(end - middle, resamples, rng) for end in ends)
    of_dip = of_drop = of_relative = UNKNOWN
    if items > 1:
        of_dip = paired_difference(dips, confidence=confidence)
        of_drop = largest_drop(table, weights, confidence)
        of_relative = largest_relative_drop(table, weights, confidence)
    loss = drop / best, of_relative
    return PositionDip(
        dip, of_dip, dip / best, drop, of_drop, noise, *loss, p_value, items
    )


def greater(differences: Array, resamples: int, rng: np.random.Generator) -> float:
    """Return the one-sided p-value of the hypothesis that the mean of `differences`
    (items,) is not above zero, from `resamples` random flips of the items' signs."""
    signs = rng.integers(0, 2, (resamples, len(differences))) * 2 - 1
    flipped = signs @ differences
    least = differences.sum() - 1e-12
    as_large = (flipped >= least).sum()
    return float((1 + as_large) / (1 + resamples))


def largest_drop(table: Array, weights: Array, confidence: float) -> Interval:
    """Return the interval, within 0 and 1, of the best position's mean minus the
    worst's, from the scores `table` (items, positions). From 0 to 0 for a single
    position.

    The lower end is the largest lower bound over all pairs of positions, from the
    studentized maximum of the bootstrap (Romano and Wolf 2005). The upper end is the
    largest upper bound of the pairs' own intervals. `weights` (resamples, items) are
    the items' weights in each resample; rows sum to 1.
    """
    pairs = Pairs(table, weights, every_pair(table))
    lower = pairs.drop - pairs.reach(confidence) * pairs.error
    upper = pairs.drop + normal_quantile(confidence) * pairs.error
    ends = lower.max(initial=0), upper.max(initial=0)
    return Interval(*np.minimum(ends, 1).tolist())


def largest_relative_drop(
    table: Array, weights: Array, confidence: float, chosen: Chosen | None = None
) -> Interval:
    """Return the interval of the largest 1 - second / first over pairs of positions'
    means. Over all pairs, that is 1 - worst / best.

    `chosen` are the pairs, all if None. `table` has scores (items, positions);
    `weights` (resamples, items) are the items' weights in each resample; rows sum to 1.
    `UNKNOWN` if no answer is correct; from 0 to 0 for a single position.
    """
    if not table.any():
        return UNKNOWN
    if chosen is None:
        chosen = every_pair(table)
    pairs = Pairs(table, weights, chosen)
    most, _ = pairs.ratios(pairs.reach(confidence))
    _, least = pairs.ratios(normal_quantile(confidence))
    ends = most.min(initial=1), least.min(initial=1)
    return Interval(*(1 - np.maximum(ends, 0)).tolist())


def relative_to_best(table: Array, weights: Array, confidence: float) -> list[Interval]:
    """Return, for each position, the interval of its mean as a share from 0 to 1 of the
    best position's mean. `UNKNOWN` for all positions if no answer is correct.

    The best mean is an estimate too, so the interval includes its error. `table` has
    scores (items, positions); `weights` (resamples, items) are the items' weights in
    each resample.
    """
    every = every_pair(table)
    intervals = []
    for position in range(table.shape[1]):
        pairs = every[:, every[1] == position]
        low, high = largest_relative_drop(table, weights, confidence, pairs)
        intervals.append(Interval(1 - high, 1 - low))
    return intervals


def every_pair(table: Array) -> Chosen:
    """Return all ordered pairs of two positions, the columns of `table`."""
    same = np.eye(table.shape[1], dtype=bool)
    return np.argwhere(~same).T


class Pairs:
    """Drops in mean score from the first to the second position of each `chosen` pair,
    with standard errors that are never 0.

    `table` and `weights` are as in `largest_drop`. Two items that are correct at only
    one position are added to each pair's variance, as in Bonett and Price
    (`paired_difference`).
    """

    def __init__(self, table: Array, weights: Array, chosen: Chosen) -> None:
        first, second = chosen
        self.first, self.second = table.mean(axis=0)[chosen]
        self.drop = self.first - self.second
        drawn = weights @ table
        self.drawn = drawn[:, first] - drawn[:, second]
        items, places = table.shape
        doubt = np.eye(places) / (items + 2)
        covariance = (np.cov(table.T, ddof=0) + doubt) / items
        self.both = covariance[first, second]
        self.variances = covariance.diagonal()[chosen]
        self.error = np.sqrt(self.variances.sum(axis=0) - 2 * self.both)

    def reach(self, confidence: float) -> float:
        """Return the number of standard errors by which the largest of all pairs' drops
        may deviate: its quantile, at (1 + `confidence`) / 2, over resamples. Not less
        than for a single pair, as it would be if answers to each position are alike."""
        errors = (self.drawn - self.drop) / self.error
        largest = errors.max(axis=1, initial=normal_quantile(confidence))
        return float(np.quantile(largest, (1 + confidence) / 2))

    def ratios(self, errors: float) -> tuple[Array, Array]:
        """Return, for each pair, the largest and the smallest ratio of means second /
        first within `errors` (a number) standard errors.

        The bounds follow from Fieller's theorem (1954); a ratio without bound is inf or
        0. A ratio of means is skewed, so its own standard error would be too small for
        a position that is best by luck.
        """
        square = errors**2
        a = self.first**2 - square * self.variances[0]
        b = self.first * self.second - square * self.both
        c = self.second**2 - square * self.variances[1]
        root = np.maximum(b**2 - a * c, 0)
        root = np.sqrt(root)
        with np.errstate(divide="ignore", invalid="ignore"):
            most = (b + root) / a
            least = c / (b + root)
        most[a <= 0] = np.inf
        least[(a <= 0) | (c <= 0)] = 0.0
        return most, least
