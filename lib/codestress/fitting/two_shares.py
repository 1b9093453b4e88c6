"""Two independent shares, and the ranks of several that such tests leave open."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.multiplicity import holm


def two_shares_p(first: float, first_n: float, second: float, second_n: float) -> float:
    """Two-sided p-value of the pooled z test, for numbers of answers that need not be whole; 1 where both are alike."""
    pooled = (first * first_n + second * second_n) / (first_n + second_n)
    error = math.sqrt(max(pooled * (1 - pooled), 0.0) * (1 / first_n + 1 / second_n))
    return math.erfc(abs(second - first) / error / math.sqrt(2)) if error > 0 else 1.0


class OpenRanks(NamedTuple):
    """Where each of several shares may stand; 1 is the largest."""

    low: NDArray[np.int64]
    """One more than are surely larger."""
    high: NDArray[np.int64]
    """As many as are not surely smaller."""
    told: list[tuple[int, int]]
    """Pairs that are told apart, the larger share first."""


def open_ranks(shares: ArrayLike, numbers: ArrayLike, level: float) -> OpenRanks:
    """Ranks of `shares` (k,) of `numbers` (k,) that the tests of all pairs leave open (Mogstad, Romano, Shaikh and
    Wilhelm 2024), with Holm's correction over the pairs. Independent shares; of the same items it is cautious."""
    values, n = np.asarray(shares, dtype=float), np.asarray(numbers, dtype=float)
    pairs = list(combinations(range(len(values)), 2))
    p_values = [two_shares_p(values[a], n[a], values[b], n[b]) for a, b in pairs]
    sure = [pair for pair, p in zip(pairs, holm(p_values), strict=True) if p < level]
    told = [(a, b) if values[a] > values[b] else (b, a) for a, b in sure]
    larger, smaller = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    for over, under in told:
        larger[under] += 1
        smaller[over] += 1
    return OpenRanks(1 + larger, len(values) - smaller, told)
