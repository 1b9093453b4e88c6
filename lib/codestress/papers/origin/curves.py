"""Curves of correct answers: exponential decay with the distance of two links, fitted by least squares, and a stretched
exponential of counts, by maximum likelihood, whose half says where half of the answers are correct.

share(x) = exp(-ln 2 * (x / half) ** steepness), Weibull's survival curve (1951): all correct at 0, half at `half`;
steepness 1 is exponential decay, a large one a wall. Its answers are taken as independent given the curve.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.exponential import Array, curve, lack_of_fit, least_squares, refit
from codestress.fitting.proportions import (
    UNKNOWN,
    Interval,
    cluster_weights,
    normal_quantile,
    percentile_interval,
    stretched,
)

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


STEEPNESS = np.geomspace(0.2, 20, 25)
"""From a long tail to a wall; beyond both ends the data cannot tell curves apart."""
BEYOND = 1000.0
"""Halves are looked for so many times below the least x and above the largest."""
STEPS = 81
BLOCKS = 9
"""Parts of the x-axis in which the curve is held against the answers."""


class HalfLength(NamedTuple):
    """The curve with the likelihood interval of its half."""

    half: float
    """In the unit of x; 0 where everything is wrong, inf where everything is correct."""
    steepness: float
    """nan where `half` is 0 or inf."""
    interval: Interval
    """Profile likelihood; from 0, or to inf, where the answers bound one side alone."""


def fit_half_length(x: ArrayLike, right: ArrayLike, asked: ArrayLike, confidence: float = 0.95) -> HalfLength:
    """Fits `right` of `asked` answers, some at least, at places `x` > 0, all (k,)."""
    places, correct, total = (np.asarray(one, dtype=float) for one in (x, right, asked))
    reach = normal_quantile(confidence) ** 2 / 2
    halves = np.geomspace(places.min() / BEYOND, places.max() * BEYOND, STEPS)
    profile, steepest = _profile(places, correct, total, halves, STEEPNESS)
    kept = np.flatnonzero(profile >= profile.max() - reach - 2)
    first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, STEPS - 1)
    fine = np.geomspace(halves[first], halves[last], 2 * STEPS)
    around = np.sort(steepest[first : last + 1]) * STEEPNESS[1] / STEEPNESS[0]
    least = max(around[0] * (STEEPNESS[0] / STEEPNESS[1]) ** 2, STEEPNESS[0])
    steepnesses = np.geomspace(least, min(around[-1], STEEPNESS[-1]), len(STEEPNESS) * 2)
    profile, steepness = _profile(places, correct, total, fine, steepnesses)
    limit = profile.max() - reach
    lowest, highest = (int(np.flatnonzero(profile >= limit)[end]) for end in (0, -1))
    low = _crossing(np.log(fine), profile, lowest, lowest - 1, limit) if lowest else 0.0
    high = _crossing(np.log(fine), profile, highest, highest + 1, limit) if highest + 1 < len(fine) else math.inf
    if not correct.any():
        return HalfLength(0.0, math.nan, Interval(0.0, high))
    if (correct == total).all():
        return HalfLength(math.inf, math.nan, Interval(low, math.inf))
    best = int(profile.argmax())
    return HalfLength(float(fine[best]), float(steepness[best]), Interval(low, high))


def _profile(x: Array, right: Array, asked: Array, halves: Array, steepnesses: Array) -> tuple[Array, Array]:
    """The largest log-likelihood at each half over all steepnesses, and where it is."""
    power = np.log(x)[:, None, None] - np.log(halves)[None, :, None]
    lost = math.log(2) * np.exp(np.clip(power * steepnesses, -27, 6))  # -log of the share, (k, halves, steepnesses)
    wrong = asked - right
    likelihood = -np.tensordot(right, lost, 1) + np.tensordot(wrong, np.log(-np.expm1(-lost)), 1)
    best = likelihood.argmax(axis=1)
    return likelihood[np.arange(len(halves)), best], steepnesses[best]


def _crossing(logs: Array, profile: Array, inside: int, outside: int, limit: float) -> float:
    """The half where the profile crosses its limit between a place inside the interval and the next one, in `logs`."""
    part = (profile[inside] - limit) / (profile[inside] - profile[outside])
    return float(np.exp(logs[inside] + part * (logs[outside] - logs[inside])))


def misfit(fit: HalfLength, x: ArrayLike, right: ArrayLike, asked: ArrayLike, rng: np.random.Generator) -> float:
    """How often answers drawn from the curve itself lie as far from it as these: small where it does not describe them.

    Far: the sum of squared distances of the mean of up to `BLOCKS` neighbouring parts of `x`. The curve was fitted to
    these answers, so that this is cautious. nan without a curve.
    """
    places, correct, total = (np.asarray(one, dtype=float) for one in (x, right, asked))
    if not 0 < fit.half < math.inf:
        return math.nan
    blocks = np.array_split(np.argsort(places), min(BLOCKS, len(places)))
    expected = np.exp(-math.log(2) * (places / fit.half) ** fit.steepness)

    def distance(counts: Array) -> Array:
        parts = [
            ((counts[..., block].sum(-1) - (expected * total)[block].sum()) / total[block].sum()) ** 2
            for block in blocks
        ]
        return np.asarray(np.sum(parts, axis=0))

    drawn = rng.binomial(total.astype(int), expected, size=(2000, len(places))).astype(float)
    return float((1 + (distance(drawn) >= distance(correct) - 1e-12).sum()) / 2001)
