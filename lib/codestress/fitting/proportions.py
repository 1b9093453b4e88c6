"""Intervals for shares."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple


class Interval(NamedTuple):
    """Both ends, in the unit of the estimate; nan where there is nothing to say."""

    low: float
    high: float


UNKNOWN = Interval(math.nan, math.nan)


def wilson(successes: int, trials: int, confidence: float = 0.95) -> Interval:
    """Wilson's score interval of a share (Wilson 1927); `UNKNOWN` without trials.

    For independent trials; `cluster_bootstrap_mean` is for several answers to one item. Written out, and tested
    against scipy.stats, because importing that costs every notebook's kernel more than a second.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must be between 0 and trials, not {successes} of {trials}")
    if trials == 0:
        return UNKNOWN
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, shrink = successes / trials, 1 / (1 + z * z / trials)
    centre = (share + z * z / (2 * trials)) * shrink
    half = z * shrink * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # Exact at the ends, where rounding could put the share itself outside.
    return Interval(0.0 if successes == 0 else centre - half, 1.0 if successes == trials else centre + half)
