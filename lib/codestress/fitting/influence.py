"""Means, totals and differences over several models that were asked about the same clusters, such as programs.

Each estimate knows how much every cluster moves it; what is computed from several estimates adds these up, so that what
a program adds to all models, or to both sides of a difference, is counted once (the infinitesimal jackknife, Efron
1982; clustered as in Miller 2024, "Adding error bars to evals").
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import null_space
from scipy.special import fdtrc

from codestress.fitting.proportions import UNKNOWN, Interval, normal_quantile


class Moved(NamedTuple):
    """An estimate and by how much each cluster moves it."""

    value: float
    moved: pd.Series
    """Indexed by cluster; sums to 0."""
    scale: float
    """By how much two clusters that are added beside it are off, so that clusters that all agree leave a doubt."""

    def interval(self, clusters: int, confidence: float = 0.95) -> Interval:
        """Normal, of so many clusters, those included that have no answer here; `UNKNOWN` with fewer than two."""
        if clusters < 2 or math.isnan(self.value):
            return UNKNOWN
        error = math.sqrt(float((self.moved**2).sum()) + 2 * (self.scale / (clusters + 2)) ** 2)
        half = normal_quantile(confidence) * error
        return Interval(self.value - half, self.value + half)


NOTHING = Moved(math.nan, pd.Series(dtype=float), math.nan)


def share(parts: pd.Series, wholes: pd.Series | None = None) -> Moved:
    """sum(parts) / sum(wholes), both indexed by cluster; without wholes the mean of parts. `NOTHING` of nothing."""
    sums = parts.groupby(level=0).sum()
    of = (wholes if wholes is not None else parts.notna().astype(float)).groupby(level=0).sum()
    total = float(of.sum())
    if not total:
        return NOTHING
    value = float(sums.sum()) / total
    return Moved(value, sums.sub(value * of, fill_value=0.0) / total, 0.5)


def slope(x: pd.Series, y: pd.Series) -> Moved:
    """Of the least-squares line of y on x, both indexed by cluster; `NOTHING` where all x are equal."""
    away = x - x.mean()
    spread = float((away**2).sum())
    if not spread:
        return NOTHING
    value = float((away * y).sum()) / spread
    rest = y - y.mean() - value * away
    return Moved(value, (away * rest).groupby(level=0).sum() / spread, 1 / float(np.ptp(x)))


def lack_of_line(x: Sequence[float], points: Sequence[Moved], clusters: int) -> float:
    """p-value of a straight line through estimates at x: small where none describes them. nan without a residual to
    spare, or with too few clusters to know how residuals vary.

    Hotelling's test that all contrasts of the points with the line are 0 (profile analysis: Rencher 2002, 5.9), the
    points' covariance from how clusters move them, so that answers about one cluster hang together. Simulated: a true
    line is doubted in at most about 5 of 100 studies.
    """
    free = len(points) - 2
    if free < 1 or clusters <= free or any(math.isnan(one.value) for one in points):
        return math.nan
    moved = pd.concat([one.moved for one in points], axis=1).fillna(0.0).to_numpy()
    doubt = [2 * (one.scale / (clusters + 2)) ** 2 for one in points]
    contrasts = null_space(np.vander(np.asarray(x, dtype=float), 2).T)
    covariance = contrasts.T @ (moved.T @ moved * clusters / (clusters - 1) + np.diag(doubt)) @ contrasts
    away = contrasts.T @ [one.value for one in points]
    distance = float(away @ np.linalg.solve(covariance, away))
    return float(fdtrc(free, clusters - free, distance * (clusters - free) / (free * (clusters - 1))))


def combined(terms: Sequence[tuple[float, Moved]]) -> Moved:
    """The sum of estimates, each times its factor; `NOTHING` where one is missing."""
    if not terms or any(math.isnan(one.value) for _, one in terms):
        return NOTHING
    moved = pd.concat([factor * one.moved for factor, one in terms]).groupby(level=0).sum()
    scale = math.sqrt(sum((factor * one.scale) ** 2 for factor, one in terms))
    return Moved(sum(factor * one.value for factor, one in terms), moved, scale)


def mean(estimates: Sequence[Moved]) -> Moved:
    """Their mean."""
    return combined([(1 / len(estimates), one) for one in estimates])
