"""Exponential decay of a share with distance, fitted by non-linear least squares."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.bootstrap import cluster_weights, percentile_interval, stretched
from codestress.fitting.exponential import Array, curve, derivatives, lack_of_fit, least_squares
from codestress.fitting.proportions import UNKNOWN, Interval

LONGEST = 1e6
"""A reach beyond this counts as no decay: inf."""
HIGHEST = (1.0, 50.0)
"""Bounds of top and rate; a rate is 1 / reach, and bounded where a reach is not."""


class DecayFit(NamedTuple):
    """share(x) = top * exp(-(x - 1) / reach)."""

    top: float
    """Share at x = 1."""
    reach: float
    """In the unit of x: where the share has fallen to 1/e. inf: nothing decays; nan: nothing to fit."""
    half_life: float
    """reach * ln 2."""
    top_interval: Interval
    reach_interval: Interval
    failed: int
    """Resamples that could not be fitted; they are not in the intervals."""
    lack: float = math.nan
    """p-value of its lack of fit."""


class FittedSide(NamedTuple):
    """A fit to one side of d = 0."""

    label: str
    sign: int
    top: float
    reach: float
    lack: float = math.nan
    """p-value of its lack of fit."""

    def at(self, x: Array) -> Array:
        """The fitted curve, at distances from 1 on."""
        return np.asarray(curve(x - 1, np.array([[self.top, 1 / self.reach, 0.0]]))[0])


def fit_decay(
    x: ArrayLike,
    table: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> DecayFit:
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
        return DecayFit(math.nan, math.nan, math.nan, UNKNOWN, UNKNOWN, resamples)
    weights = cluster_weights(len(scores), resamples, rng)
    behind = np.maximum(asked.sum(axis=0), 1)
    drawn, counted = weights @ right, weights @ asked
    noise = rng.normal(0, 1 / np.sqrt(behind * (behind + 2)), drawn.shape) * counted
    smoothed = np.where(drawn.any(axis=1, keepdims=True), np.clip(drawn + noise, 0, counted), 0)
    fits = [_fit(places, r, n, best) for r, n in zip(smoothed, counted, strict=True)]
    draws = np.array([fit for fit in fits if fit is not None]).reshape(-1, 3)[:, :2]
    draws = np.clip(stretched(draws, best[:2], len(scores), confidence), 0, HIGHEST)
    # Quantiles of the rate, turned round: a rate of zero is a reach of infinity.
    rates = percentile_interval(draws[:, 1], confidence)
    reach = Interval(_reach(rates.high), _reach(rates.low))
    top = percentile_interval(draws[:, 0], confidence)
    failed = resamples - len(draws)
    errors = _errors(right.sum(axis=0), asked.sum(axis=0))
    lack = lack_of_fit(places, right, asked, best, np.where(np.isfinite(errors), errors**-2.0, 0), 2, rng)
    return DecayFit(float(best[0]), _reach(best[1]), _reach(best[1]) * math.log(2), top, reach, failed, lack)


def _errors(right: Array, asked: Array) -> Array:
    """Standard errors of shares with one success and one failure added; nan where nothing was asked."""
    smooth = (right + 1) / (asked + 2)
    return np.asarray(np.sqrt(smooth * (1 - smooth) / np.where(asked > 0, asked, np.nan)))


def _reach(rate: float) -> float:
    if math.isnan(rate):
        return math.nan
    return float(1 / rate) if rate > 1 / LONGEST else math.inf


def _fit(x: Array, right: Array, asked: Array, start: Array | None = None) -> Array | None:
    """Top and rate; None when it cannot be fitted: fewer than two distances asked, or nothing right anywhere."""
    use = asked > 0
    x, right, asked = x[use], right[use], asked[use]
    if len(x) < 2 or right.sum() == 0:
        return None
    error = _errors(right, asked)
    if start is None:
        slope, level = np.polyfit(x, np.log((right + 1) / (asked + 2)), 1)
        start = np.clip([np.exp(level), -slope], [0.01, 1e-4], [1, 10])

    def jacobian(x: Array, *values: float) -> Array:
        return derivatives(x, np.array([values]))[0, :2].T

    return least_squares(
        x, right / asked, error, np.clip(start[:2], [1e-6, 1e-9], HIGHEST), HIGHEST, jac=jacobian, max_nfev=200
    )
