"""Where half of the answers are correct: a stretched exponential of counts of correct answers, by maximum likelihood.

share(x) = exp(-ln 2 * (x / half) ** steepness), Weibull's survival curve (1951): all correct at 0, half at `half`;
steepness 1 is exponential decay, a large one a wall. Answers are taken as independent given the curve.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import Interval, normal_quantile

Array = NDArray[np.float64]

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

    def at(self, x: ArrayLike) -> Array:
        """The curve."""
        places = np.asarray(x, dtype=float)
        if not 0 < self.half < math.inf:
            return np.full(places.shape, float(self.half > 0))
        return np.asarray(np.exp(-math.log(2) * (places / self.half) ** self.steepness))


def fit_half_length(x: ArrayLike, right: ArrayLike, asked: ArrayLike, confidence: float = 0.95) -> HalfLength:
    """Fits `right` of `asked` answers at places `x` > 0, all (k,). `ValueError` where nothing was asked."""
    places, correct, total = (np.asarray(one, dtype=float) for one in (x, right, asked))
    if not total.sum() > 0 or not (places > 0).all():
        raise ValueError("a half-length needs answers, all at places above 0")
    reach = normal_quantile(confidence) ** 2 / 2
    halves = np.geomspace(places.min() / BEYOND, places.max() * BEYOND, STEPS)
    profile, steepest = _profile(places, correct, total, halves, STEEPNESS)
    kept = np.flatnonzero(profile >= profile.max() - reach - 2)
    first, last = max(kept[0] - 1, 0), min(kept[-1] + 1, STEPS - 1)
    fine = np.geomspace(halves[first], halves[last], 2 * STEPS)
    around = np.sort(steepest[first : last + 1]) * STEEPNESS[1] / STEEPNESS[0]
    least = max(around[0] * (STEEPNESS[0] / STEEPNESS[1]) ** 2, STEEPNESS[0])
    profile, steepness = _profile(
        places, correct, total, fine, np.geomspace(least, min(around[-1], STEEPNESS[-1]), len(STEEPNESS) * 2)
    )
    inside = np.flatnonzero(profile >= profile.max() - reach)
    low = 0.0 if first == 0 and inside[0] == 0 else _end(fine, profile, int(inside[0]), -1, reach)
    high = (
        math.inf
        if last == STEPS - 1 and inside[-1] == len(fine) - 1
        else _end(fine, profile, int(inside[-1]), 1, reach)
    )
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


def _end(halves: Array, profile: Array, inside: int, step: int, reach: float) -> float:
    """Where the profile crosses its limit between a place inside the interval and the next one, in log(half)."""
    outside = inside + step
    if not 0 <= outside < len(halves):
        return float(halves[inside])
    limit = profile.max() - reach
    part = (profile[inside] - limit) / (profile[inside] - profile[outside])
    return float(np.exp(np.log(halves[inside]) + part * (np.log(halves[outside]) - np.log(halves[inside]))))


def misfit(fit: HalfLength, x: ArrayLike, right: ArrayLike, asked: ArrayLike, rng: np.random.Generator) -> float:
    """How often answers drawn from the curve itself lie as far from it as these: small where it does not describe them.

    Far: the sum of squared distances of the mean of up to `BLOCKS` neighbouring parts of `x`. The curve was fitted to
    these answers, so that this is cautious. nan without a curve.
    """
    places, correct, total = (np.asarray(one, dtype=float) for one in (x, right, asked))
    if not 0 < fit.half < math.inf:
        return math.nan
    blocks = np.array_split(np.argsort(places), min(BLOCKS, len(places)))
    expected = fit.at(places)

    def distance(counts: Array) -> Array:
        parts = [
            ((counts[..., block].sum(-1) - (expected * total)[block].sum()) / total[block].sum()) ** 2
            for block in blocks
        ]
        return np.asarray(np.sum(parts, axis=0))

    drawn = rng.binomial(total.astype(int), expected, size=(2000, len(places))).astype(float)
    return float((1 + (distance(drawn) >= distance(correct) - 1e-12).sum()) / 2001)
