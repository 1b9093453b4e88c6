"""Exponential decay of correct answers with the distance of two links, fitted by least
squares."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.proportions import Array, Interval, floats

HIGHEST = np.array([1.0, 50.0, 0.0])
"""Upper bounds of a decay's parameters: top, rate (1 / reach) and floor."""
Sides = Mapping[tuple[str, int], ExponentialFit]
"""Curves of `fit_decay`, as a dict from (label of the series, sign of d: 1 or -1) to
curve."""


def fit_decay(
    x: ArrayLike,
    table: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> ExponentialFit:
    """Return the exponential decay, over x - 1, fitted to shares at distances `x` (k,),
    all at least 1. `table` (items, k) holds scores from 0 to 1, nan if not asked.

    Values of the fit are nan if fewer than two distances were asked or nothing was
    right. Points are weighted by `certainty`; intervals at `confidence` come from a
    bootstrap over items with `resamples` resamples, drawn with `rng`.
    """
    scores = floats(table)
    return fit_exponential(
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


def certainty(means: Array, asked: Array) -> Array:
    """Return the weights of squared errors, for the `means` of `asked` answers. A
    weight is one over the variance of a share with one success and one failure added; 0
    if nothing was asked."""
    share = (means * asked + 1) / (asked + 2)
    return floats(asked / (share * (1 - share)))


def reach_of(fit: ExponentialFit) -> tuple[float, Interval]:
    """Return the reach of `fit` and its interval. The reach is the distance, in lines,
    over which the share falls to 1/e (1 / rate; inf: no decay; nan: nothing to fit)."""
    half = fit.half_life, *fit.interval("half_life")
    reach, low, high = (lines / math.log(2) for lines in half)
    return reach, Interval(low, high)
