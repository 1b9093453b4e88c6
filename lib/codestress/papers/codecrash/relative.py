"""How far a condition lies from another one on the same items, in points and relative to it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.bootstrap import cluster_weights, percentile_interval
from codestress.fitting.proportions import UNKNOWN, Interval


class RelativeDifference(NamedTuple):
    """The second condition against the first, on paired items."""

    absolute: float
    """Mean of the second minus mean of the first."""
    absolute_interval: Interval
    relative: float
    """second / first - 1; nan where the first is 0."""
    relative_interval: Interval
    items: int


def relative_difference(
    first: ArrayLike, second: ArrayLike, *, confidence: float, resamples: int, rng: np.random.Generator
) -> RelativeDifference:
    """Percentile intervals from resampling items; `first` and `second` (n,) hold one score (0 to 1) an item.

    CodeCrash, section 3.1: (pass@1 - VAN) / VAN. Both means are drawn from the same items, so that what is common to
    them cancels. Resamples in which the first condition has nothing right have no ratio and are left out.
    """
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.shape != two.shape or one.ndim != 1:
        raise ValueError(f"paired scores must have one shape (n,), not {one.shape} and {two.shape}")
    if one.size == 0:
        return RelativeDifference(math.nan, UNKNOWN, math.nan, UNKNOWN, 0)
    before, after = float(one.mean()), float(two.mean())
    ratio = after / before - 1 if before else math.nan
    if one.size == 1:
        return RelativeDifference(after - before, UNKNOWN, ratio, UNKNOWN, 1)
    weights = cluster_weights(one.size, resamples, rng)
    ones, twos = weights @ one, weights @ two
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(ones > 0, twos / ones - 1, np.nan)
    return RelativeDifference(
        after - before,
        percentile_interval((twos - ones) / one.size, confidence),
        ratio,
        percentile_interval(ratios, confidence),
        one.size,
    )
