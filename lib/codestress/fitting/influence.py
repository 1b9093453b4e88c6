"""Means, totals and differences over several models that were asked on the same clusters, such as
programs.

Each estimate stores the influence of every cluster. An estimate computed from several estimates
adds their influences up, so that a program's effect on all models, or on both sides of a
difference, is counted once (the infinitesimal jackknife, Efron 1982; clustered as in Miller 2024,
"Adding error bars to evals").
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
    """An estimate, such as a mean or a difference, with the influence of each cluster on it: how
    far the cluster's answers move the value."""

    value: float
    moved: pd.Series
    """Influence of each cluster on the estimate, indexed by cluster; sums to 0."""
    scale: float
    """Deviation of two added clusters, so that clusters that all agree still leave uncertainty."""

    def interval(self, clusters: int, confidence: float = 0.95) -> Interval:
        """Returns the interval of the value by the normal distribution. `clusters` is the number of
        all clusters, including those without an answer here; `UNKNOWN` with fewer than two, or when
        the value is nan."""
        if clusters < 2 or math.isnan(self.value):
            return UNKNOWN
        error = math.sqrt(
            float((self.moved**2).sum()) + 2 * (self.scale / (clusters + 2)) ** 2
        )
        half = normal_quantile(confidence) * error
        return Interval(self.value - half, self.value + half)


NOTHING = Moved(math.nan, pd.Series(dtype=float), math.nan)


def share(parts: pd.Series, wholes: pd.Series | None = None) -> Moved:
    """Returns the estimate sum(`parts`) / sum(`wholes`), two series of numbers indexed by cluster,
    or without `wholes` the mean of `parts`. `NOTHING` (nan) when the total is 0."""
    sums = parts.groupby(level=0).sum()
    of = (
        (wholes if wholes is not None else parts.notna().astype(float))
        .groupby(level=0)
        .sum()
    )
    total = float(of.sum())
    if not total:
        return NOTHING
    value = float(sums.sum()) / total
    return Moved(value, sums.sub(value * of, fill_value=0.0) / total, 0.5)


def slope(x: pd.Series, y: pd.Series) -> Moved:
    """Returns, as an estimate, the slope of the least-squares line of `y` on `x`, series of the
    same answers indexed by cluster; `NOTHING` (nan) when all x are equal."""
    away = x - x.mean()
    spread = float((away**2).sum())
    if not spread:
        return NOTHING
    value = float((away * y).sum()) / spread
    rest = y - y.mean() - value * away
    return Moved(
        value, (away * rest).groupby(level=0).sum() / spread, 1 / float(np.ptp(x))
    )


def lack_of_line(x: Sequence[float], points: Sequence[Moved], clusters: int) -> float:
    """Returns the p-value of the lack of fit of a straight line through the estimates `points` at
    `x`: small when no line describes them. nan with fewer than three points, with a point that is
    nan, or with no more `clusters` (their number) than points less two.

    Hotelling's test that all contrasts of the points with the line are 0 (profile analysis: Rencher
    2002, 5.9). The points' covariance comes from the clusters' influences, so that answers on one
    cluster stay together. In simulations, a true line is rejected in at most about 5 of 100
    studies.
    """
    free = len(points) - 2
    if free < 1 or clusters <= free or any(math.isnan(one.value) for one in points):
        return math.nan
    moved = pd.concat([one.moved for one in points], axis=1).fillna(0.0).to_numpy()
    doubt = [2 * (one.scale / (clusters + 2)) ** 2 for one in points]
    contrasts = null_space(np.vander(np.asarray(x, dtype=float), 2).T)
    covariance = (
        contrasts.T
        @ (moved.T @ moved * clusters / (clusters - 1) + np.diag(doubt))
        @ contrasts
    )
    away = contrasts.T @ [one.value for one in points]
    distance = float(away @ np.linalg.solve(covariance, away))
    return float(
        fdtrc(
            free,
            clusters - free,
            distance * (clusters - free) / (free * (clusters - 1)),
        )
    )


def combined(terms: Sequence[tuple[float, Moved]]) -> Moved:
    """Returns, as an estimate, the sum of estimates, each times its factor; `terms` are pairs
    (factor, estimate). `NOTHING` (nan) without terms, or when one estimate is nan."""
    if not terms or any(math.isnan(one.value) for _, one in terms):
        return NOTHING
    moved = (
        pd.concat([factor * one.moved for factor, one in terms]).groupby(level=0).sum()
    )
    scale = math.sqrt(sum((factor * one.scale) ** 2 for factor, one in terms))
    return Moved(sum(factor * one.value for factor, one in terms), moved, scale)


def quotient(first: Moved, second: Moved) -> Moved:
    """Returns the estimate `second` / `first`, by the delta method; `ZeroDivisionError` when
    `first` is 0."""
    value = second.value / first.value
    moved = combined([(1 / first.value, second), (-value / first.value, first)])
    return moved._replace(value=value)


def mean(estimates: Sequence[Moved]) -> Moved:
    """Returns, as an estimate, the mean of `estimates`; `NOTHING` (nan) without any, or when one is
    nan."""
    return combined([(1 / len(estimates), one) for one in estimates])
