"""Exponential decay of correct answers with the distance of two links, fitted by least
squares."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.proportions import Array, Interval, floats

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
