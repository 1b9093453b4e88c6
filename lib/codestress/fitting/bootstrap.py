"""The bootstrap over items: answers to one item are not independent of each other, items are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import UNKNOWN, Estimate, Interval


def cluster_bootstrap_mean(
    values: ArrayLike,
    clusters: ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 2000,
    rng: np.random.Generator,
) -> Estimate:
    """Mean of `values` (n,) with a percentile interval from resampling whole `clusters` (n,) with replacement.

    For what is no share, such as numbers of tokens: a share has `clustered_share`, which keeps a width where all
    clusters agree. A draw of clusters is a multinomial weight for each, so that all resamples are one matrix product.
    One cluster says nothing of the spread: `UNKNOWN`.
    Efron & Tibshirani 1993, chapter 13; clustering as in Miller 2024, "Adding error bars to evals".
    """
    numbers = np.asarray(values, dtype=float)
    if numbers.size == 0:
        return Estimate(math.nan, UNKNOWN, 0, 0)
    _, index = np.unique(np.asarray(clusters), return_inverse=True)
    sums = np.bincount(index, weights=numbers)
    counts = np.bincount(index).astype(float)
    value = float(numbers.mean())
    if len(sums) < 2:
        return Estimate(value, UNKNOWN, len(sums), numbers.size)
    weights = cluster_weights(len(sums), resamples, rng)
    means = (weights @ sums) / (weights @ counts)
    return Estimate(value, percentile_interval(means, confidence), len(sums), numbers.size)


def cluster_weights(clusters: int, resamples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each cluster is drawn in each resample: shape (resamples, clusters), rows that sum to `clusters`."""
    return rng.multinomial(clusters, np.full(clusters, 1 / clusters), size=resamples).astype(float)


def percentile_interval(draws: NDArray[Any], confidence: float) -> Interval:
    """The central share of the draws; nan among them are left out."""
    kept = draws[~np.isnan(draws)]
    if kept.size == 0:
        return UNKNOWN
    low, high = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))
