"""What is true of simulated readers: with which probability one answers right, computed from its parameters.

Nothing is drawn here. Estimates from what readers answered can be held against it: does an interval hold the true
value as often as it says? Each paper's `truth.py` says for its questions what has to be kept for a right answer.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray


@cache
def _points() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Nodes and weights between 0 and 1; a moment's work, which a build with nothing to do spares."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return (nodes + 1) / 2, weights / 2


def share_of_kept(mine: float, others: NDArray[np.float64]) -> float:
    """E[K / (K + sum of K_i)]: how often a draw from what was kept falls on one piece.

    It is kept with probability `mine`, the others each with theirs, all independently. As an integral: `mine` times
    that of the product of (1 - p_i + p_i t) over t from 0 to 1, by Gauss and Legendre.
    """
    nodes, weights = _points()
    return float(mine * (weights * (1 - others + others * nodes[:, None]).prod(axis=1)).sum())
