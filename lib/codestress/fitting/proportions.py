"""Intervals for shares."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy.stats import binomtest


class Interval(NamedTuple):
    """Both ends, in the unit of the estimate; nan where there is nothing to say."""

    low: float
    high: float


UNKNOWN = Interval(math.nan, math.nan)


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share (Wilson 1927); `UNKNOWN` without trials.

    For independent trials; `cluster_bootstrap_mean` is for several answers to one item.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be between 0 and trials, not {successes} of {trials}")
    if trials == 0:
        return UNKNOWN
    interval = binomtest(successes, trials).proportion_ci(confidence, method="wilson")
    return Interval(float(interval.low), float(interval.high))
