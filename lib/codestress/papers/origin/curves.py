"""Curves of correct answers: exponential decay with the distance of two links, fitted by least
squares, and a stretched exponential of counts, fitted by maximum likelihood. The half of the
stretched exponential is the place at which half of the answers are correct.

share(x) = exp(-ln 2 * (x / half) ** steepness), Weibull's survival curve (1951): all correct at 0,
half at `half`. Steepness 1 is exponential decay, a large steepness a sudden drop. Answers are taken
as independent given the curve.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.exponential import (
    Array,
    curve,
    lack_of_fit,
    least_squares,
    refit,
)
from codestress.fitting.proportions import (
    UNKNOWN,
    Interval,
    cluster_weights,
    normal_quantile,
    percentile_interval,
    stretched,
)

LONGEST = 1e6
"""Largest reach; a longer reach counts as no decay (inf)."""
HIGHEST = np.array([1.0, 50.0, 0.0])
"""Upper bounds of a decay's parameters: top, rate and floor. The rate is 1 / reach, and bounded
where a reach is not; the curve has no floor."""


class FittedSide(NamedTuple):
    """Record of a fitted curve share(x) = top * exp(-(x - 1) / reach), on one side of d = 0: its
    `sign` is 1 (d > 0) or -1, its `label` the name of the series."""

    label: str
    sign: int
    top: float
    """Share at x = 1."""
    reach: float
    """Distance over which the share falls to 1/e, in the unit of x. inf: no decay; nan: nothing to
    fit."""
    top_interval: Interval = UNKNOWN
    reach_interval: Interval = UNKNOWN
    failed: int = 0
    """Number of resamples that could not be fitted; the intervals leave them out."""
    lack: float = math.nan
    """p-value of the curve's lack of fit; nan where it cannot be tested."""

    def at(self, x: Array) -> Array:
        """Values of the fitted curve at the distances `x` (k,), all at least 1; nan where nothing
        was fitted."""
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
    """Fits exponential decay to shares at distances `x` (k,), all at least 1, from `table` (items,
    k): scores 0 to 1, nan where not asked. Returns the `FittedSide` with `label` and `sign`; its
    values are nan if fewer than two distances were asked or nothing was right.

    Points are weighted by their standard errors, from shares with one success and one failure
    added, so that none is certain. Intervals at the level `confidence` are quantiles of a bootstrap
    (`resamples`, drawn by `rng`) over items, the rows of `table`, stretched for few items
    (`stretched`). Each distance gets additional noise, as much as two items make that are right at
    that distance alone: answers that are all alike leave a doubt too.
    """
    places = np.asarray(x, dtype=float) - 1
    scores = np.asarray(table, dtype=float)
    asked = (~np.isnan(scores)).astype(float)
    right = np.nan_to_num(scores)
    best = _fit(places, right.sum(axis=0), asked.sum(axis=0))
    if best is None:
        return FittedSide(label, sign, math.nan, math.nan, failed=resamples)
    copies = cluster_weights(len(scores), resamples, rng)
    behind = np.maximum(asked.sum(axis=0), 1)
    drawn, counted = copies @ right, copies @ asked
    noise = rng.normal(0, 1 / np.sqrt(behind * (behind + 2)), drawn.shape) * counted
    smoothed = np.where(
        drawn.any(axis=1, keepdims=True), np.clip(drawn + noise, 0, counted), 0
    )
    means = np.divide(smoothed, counted, out=np.zeros_like(drawn), where=counted > 0)
    fitted, good = refit(places, means, _weights(smoothed, counted), best, 2, HIGHEST)
    draws = np.clip(
        stretched(fitted[good, :2], best[:2], len(scores), confidence), 0, HIGHEST[:2]
    )
    # Quantiles of the rate, turned round: a rate of zero is a reach of infinity.
    rates = percentile_interval(draws[:, 1], confidence, best[1])
    reach = Interval(_reach(rates.high), _reach(rates.low))
    top = percentile_interval(draws[:, 0], confidence, best[0])
    failed = resamples - len(draws)
    weights = _weights(right.sum(axis=0), asked.sum(axis=0))
    lack = lack_of_fit(places, right, asked, best, weights, 2, rng)
    return FittedSide(
        label, sign, float(best[0]), _reach(best[1]), top, reach, failed, lack
    )


def _weights(right: Array, asked: Array) -> Array:
    """Weights of squared errors (k,) for `right` of `asked` answers: one over the variance of a
    share with one success and one failure added; 0 where nothing was asked."""
    smooth = (right + 1) / (asked + 2)
    return np.asarray(asked / (smooth * (1 - smooth)))


def _reach(rate: float) -> float:
    if math.isnan(rate):
        return math.nan
    return float(1 / rate) if rate > 1 / LONGEST else math.inf


def _fit(x: Array, right: Array, asked: Array) -> Array | None:
    """Parameters of the decay as an array (3,), top, rate and a floor of 0, fitted to `right` of
    `asked` answers at distances minus 1, `x` (all three (k,)). None if fewer than two distances
    were asked, or if nothing was right."""
    use = asked > 0
    x, right, asked = x[use], right[use], asked[use]
    if len(x) < 2 or right.sum() == 0:
        return None
    slope, level = np.polyfit(x, np.log((right + 1) / (asked + 2)), 1)
    start = np.clip([np.exp(level), -slope], [0.01, 1e-4], [1, 10])
    return least_squares(
        x,
        right / asked,
        _weights(right, asked) ** -0.5,
        start,
        HIGHEST[:2],
        max_nfev=200,
    )


STEEPNESS = np.geomspace(0.2, 20, 25)
"""Steepnesses that are tried, from a long tail to a sudden drop; beyond both ends the data cannot
tell curves apart."""
BEYOND = 1000.0
"""Factor by which the search for halves goes below the least x and above the largest."""
STEPS = 81
BLOCKS = 9
"""Number of parts of the x-axis in which the curve is compared with the answers."""


class HalfLength(NamedTuple):
    """Record of a fitted stretched exponential, with the likelihood interval of its half, the place
    at which half of the answers are correct."""

    half: float
    """Place at which half of the answers are correct, in the unit of x; 0 if everything is wrong,
    inf if everything is correct."""
    steepness: float
    """Steepness of the curve; nan where `half` is 0 or inf."""
    interval: Interval
    """Profile likelihood interval of `half`; from 0, or to inf, if the answers bound one side
    alone."""


def fit_half_length(
    x: ArrayLike, right: ArrayLike, asked: ArrayLike, confidence: float = 0.95
) -> HalfLength:
    """Fits a stretched exponential to `right` correct answers of `asked` (at least 1) at places `x`
    > 0, arrays (k,), and returns it as a `HalfLength` with an interval at the level `confidence`;
    the half is 0 if all answers are wrong, inf if all are correct."""
    places, correct, total = (np.asarray(one, dtype=float) for one in (x, right, asked))
    reach = normal_quantile(confidence) ** 2 / 2
    halves = np.geomspace(places.min() / BEYOND, places.max() * BEYOND, STEPS)
    profile, steepest = _profile(places, correct, total, halves, STEEPNESS)
    kept = np.flatnonzero(profile >= profile.max() - reach - 2)
    first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, STEPS - 1)
    fine = np.geomspace(halves[first], halves[last], 2 * STEPS)
    around = np.sort(steepest[first : last + 1]) * STEEPNESS[1] / STEEPNESS[0]
    least = max(around[0] * (STEEPNESS[0] / STEEPNESS[1]) ** 2, STEEPNESS[0])
    steepnesses = np.geomspace(
        least, min(around[-1], STEEPNESS[-1]), len(STEEPNESS) * 2
    )
    profile, steepness = _profile(places, correct, total, fine, steepnesses)
    limit = profile.max() - reach
    lowest, highest = (int(np.flatnonzero(profile >= limit)[end]) for end in (0, -1))
    low = _crossing(np.log(fine), profile, lowest, lowest - 1, limit) if lowest else 0.0
    high = math.inf
    if highest + 1 < len(fine):
        high = _crossing(np.log(fine), profile, highest, highest + 1, limit)
    if not correct.any():
        return HalfLength(0.0, math.nan, Interval(0.0, high))
    if (correct == total).all():
        return HalfLength(math.inf, math.nan, Interval(low, math.inf))
    best = int(profile.argmax())
    return HalfLength(float(fine[best]), float(steepness[best]), Interval(low, high))


def _profile(
    x: Array, right: Array, asked: Array, halves: Array, steepnesses: Array
) -> tuple[Array, Array]:
    """Pair of arrays (halves,): the largest log-likelihood of `right` of `asked` answers at places
    `x` (k,) for each of `halves` over all of `steepnesses`, and the steepness that gives it."""
    power = np.log(x)[:, None, None] - np.log(halves)[None, :, None]
    # -log of the share, (k, halves, steepnesses).
    lost = math.log(2) * np.exp(np.clip(power * steepnesses, -27, 6))
    wrong = asked - right
    likelihood = -np.tensordot(right, lost, 1) + np.tensordot(
        wrong, np.log(-np.expm1(-lost)), 1
    )
    best = likelihood.argmax(axis=1)
    return likelihood[np.arange(len(halves)), best], steepnesses[best]


def _crossing(
    logs: Array, profile: Array, inside: int, outside: int, limit: float
) -> float:
    """Half at which the log-likelihoods `profile` cross `limit`, between the index `inside` the
    interval and the next index `outside`, interpolated in `logs`, the logarithms of the halves."""
    part = (profile[inside] - limit) / (profile[inside] - profile[outside])
    return float(np.exp(logs[inside] + part * (logs[outside] - logs[inside])))


def misfit(
    fit: HalfLength,
    x: ArrayLike,
    right: ArrayLike,
    asked: ArrayLike,
    rng: np.random.Generator,
) -> float:
    """Probability (0 to 1) that answers drawn by `rng` from the curve `fit` lie as far from the
    curve as the real answers, `right` of `asked` at places `x` (all (k,)); small if the curve does
    not describe them. nan if `fit.half` is 0 or inf, so that there is no curve.

    The distance is the sum of squared distances of the means of up to `BLOCKS` neighbouring parts
    of `x`. The curve was fitted to the real answers, so the test is cautious.
    """
    places, correct, total = (np.asarray(one, dtype=float) for one in (x, right, asked))
    if not 0 < fit.half < math.inf:
        return math.nan
    blocks = np.array_split(np.argsort(places), min(BLOCKS, len(places)))
    expected = np.exp(-math.log(2) * (places / fit.half) ** fit.steepness)

    def distance(counts: Array) -> Array:
        away = counts - expected * total
        parts = [
            (away[..., block].sum(-1) / total[block].sum()) ** 2 for block in blocks
        ]
        return np.asarray(np.sum(parts, axis=0))

    drawn = rng.binomial(total.astype(int), expected, size=(2000, len(places))).astype(
        float
    )
    return float((1 + (distance(drawn) >= distance(correct) - 1e-12).sum()) / 2001)
