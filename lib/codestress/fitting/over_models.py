"""Where models are the sample: correlations and mean differences over a dozen models that a paper happened to take.

Models of one family are no independent draws, so that every interval here speaks of these models, and is too short for
any others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from codestress.fitting.proportions import Interval, normal_quantile
from codestress.fitting.sign_flips import sign_flips

PERMUTATIONS = 10_000


class OverModels(NamedTuple):
    """An estimate over models."""

    value: float
    interval: Interval
    p_value: float
    models: int


def rank_correlation(x: ArrayLike, y: ArrayLike, confidence: float, rng: np.random.Generator) -> OverModels:
    """Spearman's of (n,) and (n,), n at least 4. Interval by Fisher's transformation with Bonett and Wright's error
    (2000); p-value by permutations. nan where one side is all alike."""
    one, other = (pd.Series(np.asarray(side, dtype=float)).rank().to_numpy() for side in (x, y))
    one, other = one - one.mean(), other - other.mean()
    scale = math.sqrt(float((one**2).sum() * (other**2).sum()))
    if scale == 0:
        return OverModels(math.nan, Interval(math.nan, math.nan), math.nan, len(one))
    value = float(one @ other) / scale
    shuffled = rng.permuted(np.tile(one, (PERMUTATIONS, 1)), axis=1) @ other / scale
    p_value = (1 + int((np.abs(shuffled) >= abs(value) - 1e-12).sum())) / (1 + PERMUTATIONS)
    return OverModels(value, fisher_interval(value, len(one), 1 + value**2 / 2, confidence), p_value, len(one))


def fisher_interval(correlation: float, n: int, variance: float, confidence: float) -> Interval:
    """Of a correlation over n, on Fisher's scale, where its variance is `variance` / (n - 3)."""
    middle = math.atanh(min(max(correlation, -1 + 1e-12), 1 - 1e-12))
    half = normal_quantile(confidence) * math.sqrt(variance / (n - 3))
    return Interval(math.tanh(middle - half), math.tanh(middle + half))


def mean_difference(differences: ArrayLike, confidence: float) -> OverModels:
    """The mean of a difference of each model (n,): Student's interval, exact sign flips."""
    given = np.asarray(differences, dtype=float)
    half = float(stdtrit(len(given) - 1, (1 + confidence) / 2)) * float(given.std(ddof=1)) / math.sqrt(len(given))
    value = float(given.mean())
    return OverModels(value, Interval(value - half, value + half), sign_flips(given), len(given))
