"""How much worse the middle is than the ends: the size of a U-shape over positions, and a paired test of it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.bootstrap import cluster_weights
from codestress.fitting.largest import largest_drop, largest_relative_drop
from codestress.fitting.proportions import UNKNOWN, Interval, paired_difference


class PositionDip(NamedTuple):
    """Scores at positions, 0 to 1; intervals over items: of the dip, paired; of the drop, max-t and conservative."""

    dip: float
    """Mean of both ends minus the mean of the middle third: positive for a U-shape."""
    dip_interval: Interval
    relative_dip: float
    """The dip as a share of the best position's mean."""
    drop: float
    """Best position's mean minus the worst one's. Never negative, so that noise alone makes it positive."""
    drop_interval: Interval
    drop_without_effect: float
    """What the drop would be on average if all positions were alike."""
    relative_drop: float
    """The drop as a share of the best position's mean: what the paper calls a loss relative to the maximum."""
    relative_drop_interval: Interval
    p_value: float
    """Of the test that both ends are better than the middle: the larger of two one-sided sign-flip tests on items."""
    items: int


def position_dip(
    scores: ArrayLike, *, confidence: float = 0.95, resamples: int = 1000, rng: np.random.Generator
) -> PositionDip:
    """From scores (items, positions), equally spaced places from first to last, at least three, none missing.

    Both ends must be better than the middle for a U; testing each and taking the larger p-value holds the level
    (intersection-union test, Berger 1982).
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or table.shape[1] < 3 or len(table) == 0:
        nan = math.nan
        return PositionDip(nan, UNKNOWN, nan, nan, UNKNOWN, nan, nan, UNKNOWN, nan, len(table))
    places = np.linspace(0, 1, table.shape[1])
    middle = table[:, (places >= 1 / 3 - 1e-9) & (places <= 2 / 3 + 1e-9)].mean(axis=1)
    ends = (table[:, 0] + table[:, -1]) / 2
    weights = cluster_weights(len(table), resamples, rng) / len(table)
    means = table.mean(axis=0)
    best = float(means.max())
    drop = best - float(means.min())
    dip = float((ends - middle).mean())
    several = len(table) > 1
    return PositionDip(
        dip,
        paired_difference(ends - middle, confidence=confidence) if several else UNKNOWN,
        dip / best if best else math.nan,
        drop,
        largest_drop(table, weights, confidence) if several else UNKNOWN,
        float(np.ptp(weights @ table - means, axis=1).mean()),
        drop / best if best else math.nan,
        largest_relative_drop(table, weights, confidence) if several else UNKNOWN,
        max(_greater(table[:, end] - middle, resamples, rng) for end in (0, -1)),
        len(table),
    )


def _greater(differences: NDArray[np.float64], resamples: int, rng: np.random.Generator) -> float:
    """One-sided p-value of a mean above zero, by flipping the signs of the items' differences at random."""
    signs = rng.integers(0, 2, (resamples, len(differences))) * 2 - 1
    flipped = signs @ differences
    return float((1 + (flipped >= differences.sum() - 1e-12).sum()) / (1 + resamples))
