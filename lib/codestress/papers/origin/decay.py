"""Exponential decay of a share with distance, fitted by non-linear least squares."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.exponential import Array, curve, lack_of_fit, least_squares, refit
from codestress.fitting.proportions import UNKNOWN, Interval, cluster_weights, percentile_interval, stretched

LONGEST = 1e6
"""A reach beyond this counts as no decay: inf."""
HIGHEST = np.array([1.0, 50.0, 0.0])
"""Bounds of top and rate (a rate is 1 / reach, and bounded where a reach is not), and of a floor that it has not."""


class FittedSide(NamedTuple):
    """share(x) = top * exp(-(x - 1) / reach), fitted to one side of d = 0."""

    label: str
    sign: int
    top: float
    """Share at x = 1."""
    reach: float
    """In the unit of x: where the share has fallen to 1/e. inf: nothing decays; nan: nothing to fit."""
    top_interval: Interval = UNKNOWN
    reach_interval: Interval = UNKNOWN
    failed: int = 0
    """Resamples that could not be fitted; they are not in the intervals."""
    lack: float = math.nan
    """p-value of its lack of fit."""

    def at(self, x: Array) -> Array:
        """The fitted curve, at distances from 1 on."""
        return np.asarray(curve(x - 1, np.array([[self.top, 1 / self.reach, 0.0]]))[0])


def fit_decay(
    x: ArrayLike,
    table: ArrayLike,
    label: str = "",
    sign: int = 1,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> FittedSide:
    """Fits shares at distances `x` (k,), all at least 1, from `table` (items, k): 0 to 1, nan where not asked.

    Points are weighted by their standard errors, from shares with one success and one failure added so that none is
    certain. Intervals: quantiles of a bootstrap over items, the rows of the table, with as much noise added at each
    distance as two items make that are right there alone: answers that are all alike leave a doubt too. They are
    stretched for few items (`stretched`).
    """
    places = np.asarray(x, dtype=float) - 1
    scores = np.asarray(table, dtype=float)
    asked = (~np.isnan(scores)).astype(float)
    right = np.nan_to_num(scores)
    best = _fit(places, right.sum(axis=0), asked.sum(axis=0))
    if best is None:
        return FittedSide(label, sign, math.nan, math.nan, failed=resamples)
    weights = cluster_weights(len(scores), resamples, rng)
    behind = np.maximum(asked.sum(axis=0), 1)
    drawn, counted = weights @ right, weights @ asked
    noise = rng.normal(0, 1 / np.sqrt(behind * (behind + 2)), drawn.shape) * counted
    smoothed = np.where(drawn.any(axis=1, keepdims=True), np.clip(drawn + noise, 0, counted), 0)
    means = np.divide(smoothed, counted, out=np.zeros_like(drawn), where=counted > 0)
    fitted, good = refit(places, means, _weights(smoothed, counted), best, 2, HIGHEST)
    draws = np.clip(stretched(fitted[good, :2], best[:2], len(scores), confidence), 0, HIGHEST[:2])
    # Quantiles of the rate, turned round: a rate of zero is a reach of infinity.
    rates = percentile_interval(draws[:, 1], confidence)
    reach = Interval(_reach(rates.high), _reach(rates.low))
    top = percentile_interval(draws[:, 0], confidence)
    failed = resamples - len(draws)
    lack = lack_of_fit(places, right, asked, best, _weights(right.sum(axis=0), asked.sum(axis=0)), 2, rng)
    return FittedSide(label, sign, float(best[0]), _reach(best[1]), top, reach, failed, lack)


def _weights(right: Array, asked: Array) -> Array:
    """Of squared errors: one over the variance of a share with one success and one failure added; 0 where nothing was
    asked."""
    smooth = (right + 1) / (asked + 2)
    return np.asarray(asked / (smooth * (1 - smooth)))


def _reach(rate: float) -> float:
    if math.isnan(rate):
        return math.nan
    return float(1 / rate) if rate > 1 / LONGEST else math.inf


def _fit(x: Array, right: Array, asked: Array) -> Array | None:
    """Top, rate and no floor; None when it cannot be fitted: fewer than two distances asked, or nothing right
    anywhere."""
    use = asked > 0
    x, right, asked = x[use], right[use], asked[use]
    if len(x) < 2 or right.sum() == 0:
        return None
    slope, level = np.polyfit(x, np.log((right + 1) / (asked + 2)), 1)
    start = np.clip([np.exp(level), -slope], [0.01, 1e-4], [1, 10])
    return least_squares(x, right / asked, _weights(right, asked) ** -0.5, start, HIGHEST[:2], max_nfev=200)
