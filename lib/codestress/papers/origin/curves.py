"""Curves of correct answers: exponential decay with the distance of two links, fitted by
least squares, and a stretched exponential of counts, fitted by maximum likelihood.

The stretched exponential is Weibull's survival curve (1951): share(x) = exp(-ln 2 *
(x / half) ** steepness), all correct at 0, half at `half`. Steepness 1 is exponential
decay, a large steepness a sudden drop. Answers are taken as independent given the curve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.proportions import Array, Interval, floats, normal_quantile

LONGEST = 1e6
"""Largest reach; a longer reach counts as no decay (inf)."""
HIGHEST = np.array([1.0, 50.0, 0.0])
"""Upper bounds of a decay's parameters: top, rate (1 / reach) and floor."""


@dataclass(frozen=True)
class FittedSide:
    """A fitted curve share(x) = top * exp(-(x - 1) / reach) on one side of d = 0: its
    `sign` is 1 (d > 0) or -1, its `label` the name of the series."""

    label: str
    sign: int
    fit: ExponentialFit
    """The curve over x - 1: its height is the top, its rate 1 / reach."""

    @property
    def reach(self) -> float:
        """Distance over which the share falls to 1/e, in the unit of x. inf: no decay;
        nan: nothing to fit."""
        return reach_of(self.fit.rate)

    @property
    def reach_interval(self) -> Interval:
        """Interval of the reach; a rate of zero is a reach of infinity."""
        slow, fast = self.fit.interval("rate")
        return Interval(reach_of(fast), reach_of(slow))

    @property
    def lack(self) -> float:
        """p-value of the curve's lack of fit; nan where it cannot be tested."""
        return self.fit.lack

    def at(self, x: Array) -> Array:
        """Return the fitted curve's values at the distances `x` (k,), all at least 1; nan
        where nothing was fitted."""
        return self.fit.at(x - 1)


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
    """Return the decay fitted to shares at distances `x` (k,), all at least 1, from
    `table` (items, k): scores 0 to 1, nan where not asked. Its values are nan if fewer
    than two distances were asked or nothing was right. Points are weighted by their
    `certainty`; intervals come from a bootstrap of items."""
    scores = floats(table)
    fit = fit_exponential(
        floats(x) - 1,
        np.nan_to_num(scores),
        ~np.isnan(scores),
        weigh=certainty,
        highest=HIGHEST,
        confidence=confidence,
        resamples=resamples,
        check=True,
        rng=rng,
    )
    return FittedSide(label, sign, fit)


def certainty(means: Array, asked: Array) -> Array:
    """Return the weights of squared errors, for the `means` of `asked` answers: one over
    the variance of a share with one success and one failure added; 0 where nothing was
    asked."""
    share = (means * asked + 1) / (asked + 2)
    return floats(asked / (share * (1 - share)))


def reach_of(rate: float) -> float:
    """Return 1 / `rate`; inf where that is longer than `LONGEST`, nan for nan."""
    return math.inf if rate <= 1 / LONGEST else float(1 / rate)


STEEPNESS = np.geomspace(0.2, 20, 25)
"""Steepnesses that are tried, from a long tail to a sudden drop; beyond both ends the
data cannot tell curves apart."""
BEYOND = 1000.0
"""Factor by which the search for halves goes below the least x and above the largest."""
STEPS = 81
BLOCKS = 9
"""Number of parts of the x-axis in which the curve is compared with the answers."""
SIMULATIONS = 2000


class HalfLength(NamedTuple):
    """A fitted stretched exponential, with the likelihood interval of its half."""

    half: float
    """Place at which half of the answers are correct, in the unit of x; 0 if everything
    is wrong, inf if everything is correct."""
    steepness: float
    """Steepness of the curve; nan where `half` is 0 or inf."""
    interval: Interval
    """Profile likelihood interval of `half`; from 0, or to inf, if the answers bound one
    side alone."""


def fit_half_length(
    x: ArrayLike, right: ArrayLike, asked: ArrayLike, confidence: float = 0.95
) -> HalfLength:
    """Fit a stretched exponential to `right` correct answers of `asked` (at least 1) at
    places `x` > 0, arrays (k,). Return it as a `HalfLength` with an interval at the level
    `confidence`; the half is 0 if all answers are wrong, inf if all are correct."""
    places = floats(x)
    correct = floats(right)
    total = floats(asked)
    depth = normal_quantile(confidence) ** 2 / 2
    halves = np.geomspace(places.min() / BEYOND, places.max() * BEYOND, STEPS)
    profile, steepness = likelihood_profile(places, correct, total, halves, STEEPNESS)

    # A second, finer grid covers the halves within reach of the best.
    likely = np.flatnonzero(profile >= profile.max() - depth - 2)
    first = max(likely[0] - 1, 0)
    last = min(likely[-1] + 1, STEPS - 1)
    fine = np.geomspace(halves[first], halves[last], 2 * STEPS)
    step = STEEPNESS[1] / STEEPNESS[0]
    chosen = steepness[first : last + 1]
    least = max(chosen.min() / step, STEEPNESS[0])
    most = min(chosen.max() * step, STEEPNESS[-1])
    finer = np.geomspace(least, most, 2 * len(STEEPNESS))
    profile, steepness = likelihood_profile(places, correct, total, fine, finer)

    interval = likelihood_interval(np.log(fine), profile, profile.max() - depth)
    if not correct.any():
        return HalfLength(0.0, math.nan, Interval(0.0, interval.high))
    if (correct == total).all():
        return HalfLength(math.inf, math.nan, Interval(interval.low, math.inf))
    best = int(profile.argmax())
    return HalfLength(float(fine[best]), float(steepness[best]), interval)


def likelihood_profile(
    x: Array, right: Array, asked: Array, halves: Array, steepnesses: Array
) -> tuple[Array, Array]:
    """Return two arrays (halves,): the largest log-likelihood of `right` of `asked`
    answers at places `x` (k,) for each of `halves` over all of `steepnesses`, and the
    steepness that gives it."""
    distance = np.log(x)[:, None, None] - np.log(halves)[None, :, None]
    # -log of the share, (k, halves, steepnesses), clipped so that no logarithm is -inf.
    lost = math.log(2) * np.exp(np.clip(distance * steepnesses, -27, 6))
    of_right = -np.tensordot(right, lost, 1)
    of_wrong = np.tensordot(asked - right, np.log(-np.expm1(-lost)), 1)
    likelihood = of_right + of_wrong
    best = likelihood.argmax(axis=1)
    return likelihood[np.arange(len(halves)), best], steepnesses[best]


def likelihood_interval(logs: Array, profile: Array, limit: float) -> Interval:
    """Return the interval of halves whose log-likelihood, `profile`, is at least `limit`,
    interpolated in `logs`, the logarithms of the halves; from 0, or to inf, where the
    profile does not cross the limit."""
    inside = np.flatnonzero(profile >= limit)
    lowest, highest = inside[0], inside[-1]
    low, high = 0.0, math.inf
    if lowest > 0:
        low = crossing(logs, profile, lowest, lowest - 1, limit)
    if highest + 1 < len(logs):
        high = crossing(logs, profile, highest, highest + 1, limit)
    return Interval(low, high)


def crossing(
    logs: Array, profile: Array, inside: int, outside: int, limit: float
) -> float:
    """Return the half at which `profile` crosses `limit`, between two neighbouring
    indices, interpolated in `logs`."""
    part = (profile[inside] - limit) / (profile[inside] - profile[outside])
    return float(np.exp(logs[inside] + part * (logs[outside] - logs[inside])))


def misfit(
    fit: HalfLength,
    x: ArrayLike,
    right: ArrayLike,
    asked: ArrayLike,
    rng: np.random.Generator,
) -> float:
    """Return the probability (0 to 1) that answers drawn by `rng` from the curve `fit`
    lie as far from the curve as the real answers, `right` of `asked` at places `x` (all
    (k,)); small if the curve does not describe them. nan if `fit.half` is 0 or inf, so
    that there is no curve.

    The distance is the sum of squared distances of the means of up to `BLOCKS`
    neighbouring parts of `x`. The curve was fitted to the real answers, so the test is
    cautious.
    """
    if not 0 < fit.half < math.inf:
        return math.nan
    places = floats(x)
    correct = floats(right)
    total = floats(asked)
    expected = np.exp(-math.log(2) * (places / fit.half) ** fit.steepness)
    size = SIMULATIONS, len(places)
    drawn = rng.binomial(total.astype(int), expected, size=size)
    counts = np.vstack([correct, drawn])
    distances = np.zeros(len(counts))
    for block in np.array_split(np.argsort(places), min(BLOCKS, len(places))):
        change = (counts - expected * total)[:, block].sum(axis=1)
        distances += (change / total[block].sum()) ** 2
    farther = distances[1:] >= distances[0] - 1e-12
    return float((1 + farther.sum()) / (1 + SIMULATIONS))
