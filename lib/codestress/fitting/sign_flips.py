"""The exact test of paired differences: under no effect each could as well have the other sign."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

MOST = 2_000_000
"""Different sums that are kept at once; whole numbers share most of theirs, 20 others have no more."""


def sign_flips(differences: ArrayLike) -> float:
    """Two-sided p-value of differences (n,): of all 2^n ways to sign them, the share whose sum is as far from 0.

    Of differences that are -1, 0 or 1 it is McNemar's exact test (1947). 1 where nothing differs. `ValueError` for
    more than about 20 differences that are no whole numbers.
    """
    given = np.asarray(differences, dtype=float)
    sums, shares = np.zeros(1), np.ones(1)
    for one in given[given != 0]:
        sums, place = np.unique(np.round(np.concatenate([sums + one, sums - one]), 9), return_inverse=True)
        if len(sums) > MOST:
            raise ValueError(f"{len(given)} differences have more than {MOST:,} sums: too many for an exact test")
        shares = np.asarray(np.bincount(place, weights=np.tile(shares / 2, 2)), dtype=float)
    return float(min(1.0, shares[np.abs(sums) >= abs(given.sum()) - 1e-7].sum()))
