"""Means, totals and differences over several models that were asked about the same
clusters, such as programs.

Each estimate stores the influence of every cluster on it. Arithmetic on estimates
applies to the values and the influences together. A program's effect on all models, or
on the two sides of a difference, is therefore counted once. The method is the
infinitesimal jackknife (Efron 1982), clustered as in Miller 2024, "Adding error bars to
evals".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from .proportions import UNKNOWN, Interval, normal_quantile


@dataclass(frozen=True)
class Moved:
    """An estimate, such as a mean or a difference, with the influence of each cluster
    on it: how far the cluster's answers move the value.

    Estimates can be added, subtracted, and multiplied or divided by numbers. The
    quotient of two estimates uses the delta method. A result is nan if one of its
    operands is nan. Division raises `ZeroDivisionError` if the divisor is 0.
    """

    value: float
    """The estimate; nan if unknown."""
    moved: pd.Series
    """Influence of each cluster on the estimate, indexed by cluster; sums to 0."""
    scale: float
    """Deviation of two added clusters from the mean, so that clusters that all agree
    still leave uncertainty."""

    def __add__(self, other: Moved | float) -> Moved:
        """Return the sum of this estimate and another estimate or a number."""
        if not isinstance(other, Moved):
            return replace(self, value=self.value + other)
        return total([self, other])

    def __mul__(self, factor: float) -> Moved:
        """Return the product of this estimate and a number."""
        return Moved(factor * self.value, factor * self.moved, abs(factor) * self.scale)

    def __sub__(self, other: Moved | float) -> Moved:
        """Return the difference of this estimate and another estimate or a number."""
        return self + other * -1.0

    def __rsub__(self, other: float) -> Moved:
        """Return the difference of a number and this estimate."""
        return self * -1.0 + other

    def __truediv__(self, other: Moved | float) -> Moved:
        """Return the quotient of this estimate and a number, or another estimate (delta
        method)."""
        if not isinstance(other, Moved):
            return self * (1 / other)
        value = self.value / other.value
        return replace((self - other * value) / other.value, value=value)

    def interval(self, clusters: int, confidence: float = 0.95) -> Interval:
        """Return the interval of the value from the normal distribution.

        `clusters` is the number of all clusters, including those without an answer
        here. `UNKNOWN` for fewer than two clusters, or if the value is nan.
        """
        if clusters < 2 or math.isnan(self.value):
            return UNKNOWN
        added = 2 * (self.scale / (clusters + 2)) ** 2
        error = math.sqrt(float((self.moved**2).sum()) + added)
        half = normal_quantile(confidence) * error
        return Interval(self.value - half, self.value + half)


NOTHING = Moved(math.nan, pd.Series(dtype=float), math.nan)
"""Estimate without answers."""


def share(parts: pd.Series, wholes: pd.Series | None = None) -> Moved:
    """Return the estimate sum(`parts`) / sum(`wholes`), or the mean of `parts` if
    `wholes` is None. `NOTHING` (nan) if the divisor is 0.

    `parts` and `wholes` are series of numbers indexed by cluster.
    """
    if wholes is None:
        wholes = parts.notna().astype(float)
    sums = parts.groupby(level=0).sum()
    sizes = wholes.groupby(level=0).sum()
    total = float(sizes.sum())
    if not total:
        return NOTHING
    value = float(sums.sum()) / total
    return Moved(value, sums.sub(value * sizes, fill_value=0.0) / total, 0.5)


def total(estimates: Sequence[Moved]) -> Moved:
    """Return the sum of `estimates`, one or more, as an estimate."""
    value = sum(estimate.value for estimate in estimates)
    parts = pd.concat([estimate.moved for estimate in estimates])
    scale = math.hypot(*(estimate.scale for estimate in estimates))
    return Moved(value, parts.groupby(level=0).sum(), scale)


def mean(estimates: Sequence[Moved]) -> Moved:
    """Return the mean of `estimates` as an estimate. `NOTHING` if there are no
    estimates; the value is nan if an estimate is nan."""
    if not estimates:
        return NOTHING
    return total(estimates) / len(estimates)
