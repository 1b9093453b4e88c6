"""Many tests of one family, so that the chance of any false finding stays below the level."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.05
"""Of a family of tests."""


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values (n,) of one family (Holm 1979), in the given order; nan stays nan and is no member."""
    given = np.asarray(p_values, dtype=float)
    adjusted = np.full(given.shape, np.nan)
    members = np.flatnonzero(~np.isnan(given))
    order = members[np.argsort(given[members], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * given[order]))
    return adjusted


def with_holm(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests of one family, with their `p`, and `p_holm` and `decided` (bool) beside it."""
    adjusted = holm(tests["p"])
    return tests.assign(p_holm=adjusted, decided=adjusted < LEVEL)
