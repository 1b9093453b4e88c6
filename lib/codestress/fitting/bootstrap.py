"""The bootstrap over items: answers to one item are not independent of each other, items are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from codestress.fitting.proportions import UNKNOWN, Interval


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
