"""Exponential decay of an accuracy, y = floor + height * exp(-rate * x), by non-linear least
squares.

The best fit is scipy's. The bootstrap fits all resamples at once with Levenberg-Marquardt steps for
a stack of problems, started at the best fit, because a thousand calls of scipy take a thousand
times as long.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import OptimizeWarning, curve_fit

from codestress.fitting.proportions import (
    UNKNOWN,
    Interval,
    cluster_weights,
    percentile_interval,
    stretched,
)

Array = NDArray[np.float64]

LOWEST = np.array([0.0, 0.0, 0.0])
HIGHEST = np.array([2.0, 1e4, 1.0])
"""Bounds of height, rate and floor; a height above 1 means an accuracy beyond 100 %, only at an x
without answers."""
LACK_RESAMPLES = 400


class ExponentialFit(NamedTuple):
    """A fitted curve, y = floor + height * exp(-rate * x), with intervals of its parameters.
    Without a fit the numbers are nan, the intervals `UNKNOWN`, `items` is 0, and all resamples
    count as `failed`."""

    height: float
    """Accuracy at x = 0, above the floor."""
    rate: float
    """Decay rate per unit of x."""
    floor: float
    half_life: float
    """Value of x at which half of the height is lost: ln 2 / rate; inf without decay."""
    height_interval: Interval
    rate_interval: Interval
    floor_interval: Interval
    half_life_interval: Interval
    draws: Array
    """Height, rate and floor of every resample, stretched for few problems, shape (resamples, 3);
    nan for a failed fit."""
    failed: int
    """Number of resamples without a fit; the intervals leave them out."""
    r_squared: float
    """R² of the mean accuracies at each x, unweighted."""
    items: int
    """Number of problems behind the fit."""
    lack: float
    """p-value of the curve's lack of fit (`lack_of_fit`); nan when not requested."""

    def at(self, x: ArrayLike) -> Array:
        """Returns the curve's accuracies (k,) at the values `x` (k,); nan without a fit."""
        places = np.asarray(x, dtype=float)
        return np.asarray(
            curve(places, np.array([[self.height, self.rate, self.floor]]))[0]
        )

    def loss_at(self, x: float, confidence: float) -> tuple[float, float, float]:
        """Returns three numbers: the share of the accuracy at x = 0 that is lost at the one value
        `x`, and the lower and upper end of its interval from the resamples. nan where the accuracy
        at 0 is 0."""
        best = float(_lost(x, np.array([[self.height, self.rate, self.floor]]))[0])
        return best, *percentile_interval(self.losses_at(x), confidence, best)

    def losses_at(self, x: float) -> Array:
        """Returns the share of the accuracy at x = 0 that is lost at the one value `x`, in every
        resample: shape (resamples,). nan for a resample without a fit, or whose accuracy at 0 is
        0."""
        return _lost(x, self.draws)

    def band(self, x: ArrayLike, confidence: float) -> tuple[Array, Array]:
        """Returns the lower and the upper edge, each (k,), of the curve's interval at each of the
        values `x` (k,), from the resamples, and around the curve; nan where no resample has a fit."""
        values = curve(np.asarray(x, dtype=float), self.draws)
        kept = values[~np.isnan(values).any(axis=1)]
        if len(kept) == 0:
            nothing = np.full(np.shape(x), math.nan)
            return nothing, nothing
        low, high = np.quantile(
            kept, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0
        )
        return np.minimum(low, self.at(x)), np.maximum(high, self.at(x))


def curve(x: Array, parameters: Array) -> Array:
    """Returns the values (m, k) of m curves at `x` (k,): floor + height * exp(-rate * x). The rows
    of `parameters` (m, 3) are height, rate and floor."""
    height, rate, floor = (parameters[:, i : i + 1] for i in range(3))
    return np.asarray(floor + height * np.exp(-rate * x))


def _lost(x: float, parameters: Array) -> Array:
    values = curve(np.array([0.0, x]), parameters)
    start = np.where(
        values[:, 0] > 0, values[:, 0], np.nan
    )  # of nothing no share is lost
    return np.asarray(1 - values[:, 1] / start)


def fit_exponential(
    x: ArrayLike,
    right: ArrayLike,
    asked: ArrayLike,
    *,
    floor: bool = False,
    weighted: bool = False,
    confidence: float = 0.95,
    resamples: int = 1000,
    check: bool = False,
    rng: np.random.Generator,
) -> ExponentialFit:
    """Returns the fit of a decay, floor + height * exp(-rate * x), to mean accuracies at `x` (k,),
    from sums of scores `right` and numbers of answers `asked`, both (problems, k).

    `floor`: fit the floor too, else it is 0. `weighted`: squared errors count by the number of
    answers at each x; else each x counts the same, as for a curve of aggregated results. Intervals
    are quantiles of a bootstrap of problems (rows), with noise of variance 1 / (n * (n + 2)) at an
    x with n problems, so that identical answers leave uncertainty, and stretched for few problems
    (`stretched`). `check`: compute `lack`, the p-value of a test of the curve, else it is nan.
    """
    places = np.asarray(x, dtype=float)
    scores, numbers = np.asarray(right, dtype=float), np.asarray(asked, dtype=float)
    free = 3 if floor else 2
    means, weights = _means(scores.sum(axis=0), numbers.sum(axis=0), weighted)
    best = _best(places, means, weights, free)
    if best is None:
        nan = math.nan
        empty = np.full((resamples, 3), nan)
        return ExponentialFit(
            nan,
            nan,
            nan,
            nan,
            UNKNOWN,
            UNKNOWN,
            UNKNOWN,
            UNKNOWN,
            empty,
            resamples,
            nan,
            0,
            nan,
        )
    drawn = cluster_weights(len(scores), resamples, rng)
    resampled, counted = _means(drawn @ scores, drawn @ numbers, weighted)
    behind = np.maximum((numbers > 0).sum(axis=0), 1)
    noise = rng.normal(0, 1 / np.sqrt(behind * (behind + 2)), resampled.shape)
    fitted, good = refit(places, np.clip(resampled + noise, 0, 1), counted, best, free)
    wider = np.clip(stretched(fitted, best, len(scores), confidence), LOWEST, HIGHEST)
    draws = np.where(good[:, None], wider, np.nan)
    used = weights > 0
    residual = means[used] - curve(places, best[None])[0][used]
    spread = float(((means[used] - means[used].mean()) ** 2).sum())
    height, rate, level = map(float, best)
    intervals = [
        percentile_interval(draws[:, i], confidence, best[i]) for i in range(3)
    ]
    half = Interval(_half_life(intervals[1].high), _half_life(intervals[1].low))
    return ExponentialFit(
        height,
        rate,
        level,
        _half_life(rate),
        intervals[0],
        intervals[1],
        intervals[2] if floor else Interval(0.0, 0.0),
        half,
        draws,
        int((~good).sum()),
        1 - float((residual**2).sum()) / spread if spread > 0 else math.nan,
        len(scores),
        lack_of_fit(places, scores, numbers, best, weights, free, rng)
        if check
        else math.nan,
    )


def lack_of_fit(
    x: Array,
    right: Array,
    asked: Array,
    best: Array,
    weights: Array,
    free: int,
    rng: np.random.Generator,
) -> float:
    """Returns the p-value of a fitted curve's lack of fit: small when the curve does not describe
    its points. nan with no more values of x than fitted parameters, or fewer than two problems.

    `right` and `asked` (problems, k) are sums of scores and numbers of answers at `x` (k,). `best`
    (3,) has the curve's height, rate and floor; the first `free` of them were fitted, with the
    squared errors at each x weighted by `weights` (k,). The statistic is the sum of squared
    residuals over the variances that the curve implies. Its reference distribution comes from
    resampled problems whose means are moved onto the curve and fitted again (a bootstrap under the
    hypothesis, Davison and Hinkley 1997, 4.4), so that answers on one problem stay together. In
    simulations, a true curve is rejected in about 5 of 100 studies.
    """
    used = weights > 0
    problems = len(right)
    if used.sum() <= free or problems < 2:
        return math.nan
    x, right, asked, weights = x[used], right[:, used], asked[:, used], weights[used]
    behind = (asked > 0).sum(axis=0)

    def distance(means: Array, values: Array) -> Array:
        expected = np.clip(curve(x, values), 0, 1)
        variance = expected * (1 - expected) / behind + 1 / (behind * (behind + 2))
        return np.asarray(((means - expected) ** 2 / variance).sum(axis=1))

    means = right.sum(axis=0) / asked.sum(axis=0)
    drawn = cluster_weights(problems, LACK_RESAMPLES, rng)
    resampled, counted = _means(drawn @ right, drawn @ asked, False)
    away = np.where(counted > 0, resampled - means, 0) * math.sqrt(
        problems / (problems - 1)
    )
    moved = np.clip(curve(x, best[None]) + away, 0, 1)
    fitted, good = refit(x, moved, np.tile(weights, (LACK_RESAMPLES, 1)), best, free)
    # A curve through points that are all right is none short.
    found = distance(means[None], best[None])[0] - 1e-6
    return float(
        (1 + (distance(moved, fitted)[good] >= found).sum()) / (1 + good.sum())
    )


def _half_life(rate: float) -> float:
    return math.log(2) / rate if not rate <= 1e-9 else math.inf


def _means(right: Array, asked: Array, weighted: bool) -> tuple[Array, Array]:
    """Returns mean accuracies `right` / `asked`, and their weights in the sum of squares: `asked`
    when `weighted`, else 1. Both are 0 at an x without answers."""
    means = np.divide(right, asked, out=np.zeros_like(right), where=asked > 0)
    return means, asked if weighted else (asked > 0).astype(float)


def _best(x: Array, y: Array, weights: Array, free: int) -> Array | None:
    """Returns height, rate and floor (3,) fitted by scipy to the means `y` at `x` with `weights`,
    started from a line through the logarithms; the first `free` of them are fitted, the others 0.
    None when the fit fails, when fewer values of x than parameters have answers, or when no answer
    is correct."""
    used = weights > 0
    if used.sum() < free or not y[used].any():
        return None
    x, y, weights = x[used], y[used], weights[used]
    low = max(0.0, float(y.min()) * 0.9) if free == 3 else 0.0
    slope, level = np.polyfit(x, np.log(np.maximum(y - low, 1e-3)), 1)
    start = np.clip(
        [math.exp(level), -slope, low][:free],
        LOWEST[:free] + 1e-9,
        HIGHEST[:free] - 1e-9,
    )
    closely = {"ftol": 1e-12, "xtol": 1e-12, "gtol": 1e-12, "max_nfev": 2000}
    return least_squares(x, y, 1 / np.sqrt(weights), start, HIGHEST[:free], **closely)


def least_squares(
    x: Array,
    y: Array,
    errors: Array,
    start: ArrayLike,
    highest: ArrayLike,
    **options: Any,
) -> Array | None:
    """Returns height, rate and floor (3,) by scipy's bounded fit of `y` at `x`; None when the fit
    fails.

    Only as many parameters are fitted as `start` has, the others are 0. `errors` are the standard
    errors of `y`; the parameters lie between 0 and `highest`.
    """

    def model(x: Array, *values: float) -> Array:
        return np.asarray(curve(x, np.array([[*values, 0.0][:3]]))[0])

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizeWarning)
            found, _ = curve_fit(
                model, x, y, p0=start, sigma=errors, bounds=(0, highest), **options
            )
    except (RuntimeError, ValueError):
        return None
    return np.array([*found, 0.0][:3])


def refit(
    x: Array,
    y: Array,
    weights: Array,
    start: Array,
    free: int,
    highest: Array = HIGHEST,
) -> tuple[Array, NDArray[np.bool_]]:
    """Returns the parameters (m, 3), height, rate and floor, of a curve fitted to each row of `y`
    (m, k) at `x` (k,), and whether each fit converged (m,).

    `weights` (m, k) weigh the squared errors; all fits begin at `start` (3,). The first `free`
    parameters are fitted, within 0 and `highest`; the others stay as in `start`.
    """
    rows = len(y)
    values = np.tile(start, (rows, 1))
    damping = np.full(rows, 1e-3)
    cost = _cost(x, y, weights, values)
    done = np.zeros(rows, dtype=bool)
    for _ in range(200):
        jacobian = _derivatives(x, values)[:, :free]
        residual = y - curve(x, values)
        gradient = np.einsum("mpk,mk,mk->mp", jacobian, weights, residual)
        inside = values[:, :free]
        held = ((inside <= LOWEST[:free]) & (gradient < 0)) | (
            (inside >= highest[:free]) & (gradient > 0)
        )
        gradient[held] = (
            0  # what would leave the bounds stays there, and the others move as if it were known
        )
        jacobian[held] = 0
        normal = np.einsum("mpk,mk,mqk->mpq", jacobian, weights, jacobian)
        diagonal = np.einsum("mpp->mp", normal)
        normal = normal + np.einsum(
            "mp,pq->mpq", damping[:, None] * (diagonal + 1e-12), np.eye(free)
        )
        step = np.linalg.solve(normal, gradient[..., None])[..., 0]
        tried = values.copy()
        tried[:, :free] = np.clip(
            values[:, :free] + step, LOWEST[:free], highest[:free]
        )
        moved = np.abs(tried - values).max(axis=1) / (1 + np.abs(values).max(axis=1))
        new = _cost(x, y, weights, tried)
        better = new <= cost
        values[better & ~done] = tried[better & ~done]
        # Some creep along a valley for ever.
        done |= (moved < 1e-9) | (better & (cost - new < 1e-12 * cost))
        cost = np.where(better & ~done, new, cost)
        damping = np.clip(np.where(better, damping / 5, damping * 5), 1e-12, 1e12)
        if done.all():
            break
    enough = ((weights > 0).sum(axis=1) >= free) & y.any(axis=1)
    return values, done & enough & np.isfinite(values).all(axis=1)


def _cost(x: Array, y: Array, weights: Array, values: Array) -> Array:
    return np.asarray((weights * (y - curve(x, values)) ** 2).sum(axis=1))


def _derivatives(x: Array, values: Array) -> Array:
    """Returns the derivatives at `x` (k,) of m curves, whose height, rate and floor are the rows of
    `values`, with respect to these three: shape (m, 3, k)."""
    height, rate = values[:, :1], values[:, 1:2]
    falling = np.exp(-rate * x)
    return np.stack([falling, -height * x * falling, np.ones_like(falling)], axis=1)
