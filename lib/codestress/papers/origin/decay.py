"""Exponential decay of a share with distance, fitted by non-linear least squares."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import OptimizeWarning, curve_fit

from codestress.fitting.bootstrap import cluster_weights, percentile_interval
from codestress.fitting.proportions import UNKNOWN, Interval

LONGEST = 1e6
"""A reach beyond this counts as no decay: inf."""


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


def decay(x: NDArray[np.float64], top: float, rate: float) -> NDArray[np.float64]:
    """The curve, with rate = 1 / reach, which is bounded where reach is not."""
    return np.asarray(top * np.exp(-(x - 1) * rate))


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
    certain. Intervals: percentile bootstrap over items, the rows of the table.
    """
    places = np.asarray(x, dtype=float)
    scores = np.asarray(table, dtype=float)
    asked = (~np.isnan(scores)).astype(float)
    right = np.nan_to_num(scores)
    best = _fit(places, right.sum(axis=0), asked.sum(axis=0))
    if best is None:
        return DecayFit(math.nan, math.nan, math.nan, UNKNOWN, UNKNOWN, resamples)
    weights = cluster_weights(len(scores), resamples, rng)
    fits = [_fit(places, r, n, best) for r, n in zip(weights @ right, weights @ asked, strict=True)]
    draws = np.array([fit for fit in fits if fit is not None]).reshape(-1, 2)
    # Quantiles of the rate, turned round: a rate of zero is a reach of infinity.
    rates = percentile_interval(draws[:, 1], confidence)
    reach = Interval(_reach(rates.high), _reach(rates.low))
    top = percentile_interval(draws[:, 0], confidence)
    failed = resamples - len(draws)
    return DecayFit(best[0], _reach(best[1]), _reach(best[1]) * math.log(2), top, reach, failed)


def _reach(rate: float) -> float:
    if math.isnan(rate):
        return math.nan
    return 1 / rate if rate > 1 / LONGEST else math.inf


def _fit(
    x: NDArray[np.float64],
    right: NDArray[np.float64],
    asked: NDArray[np.float64],
    start: tuple[float, float] | None = None,
) -> tuple[float, float] | None:
    """Top and rate; None when it cannot be fitted: fewer than two distances asked, or nothing right anywhere."""
    use = asked > 0
    x, right, asked = x[use], right[use], asked[use]
    if len(x) < 2 or right.sum() == 0:
        return None
    share = right / asked
    smooth = (right + 1) / (asked + 2)
    error = np.sqrt(smooth * (1 - smooth) / asked)
    if start is None:
        slope = np.polyfit(x - 1, np.log(smooth), 1)
        start = float(np.clip(np.exp(slope[1]), 0.01, 1)), float(np.clip(-slope[0], 1e-4, 10))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)
            (top, rate), _ = curve_fit(
                decay,
                x,
                share,
                p0=np.clip(start, [1e-6, 1e-9], [1, 50]),
                sigma=error,
                bounds=([0, 0], [1, 50]),
                jac=lambda x, top, rate: np.stack(
                    [np.exp(-(x - 1) * rate), -top * (x - 1) * np.exp(-(x - 1) * rate)], axis=1
                ),
                max_nfev=200,
            )
    except (RuntimeError, ValueError):
        return None
    return float(top), float(rate)
