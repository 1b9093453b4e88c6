"""At which of several places scores are lowest, with all the places that it may be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.proportions import paired_difference


class LowestPlace(NamedTuple):
    """Places count from 0."""

    place: int
    """With the lowest mean, the first of several."""
    candidates: tuple[int, ...]
    """A confidence set: it misses the place whose true mean is lowest with at most 1 - confidence."""


def lowest_place(scores: ArrayLike, confidence: float = 0.95) -> LowestPlace:
    """From scores (items, places), 0 to 1, none missing; with fewer than two items every place is a candidate.

    A place leaves the set where another is lower by a one-sided paired test. To lose the true one takes a wrong
    rejection in one of places - 1 tests, so that each is at that part of the level (Bonferroni).
    """
    table = np.asarray(scores, dtype=float)
    items, places = table.shape
    means = table.mean(axis=0) if items else np.zeros(places)
    if items < 2 or places < 2:
        return LowestPlace(int(means.argmin()), tuple(range(places)))
    two_sided = 1 - 2 * (1 - confidence) / (places - 1)
    kept = [
        place
        for place in range(places)
        if not any(
            paired_difference(table[:, place] - table[:, other], confidence=two_sided).low > 0
            for other in range(places)
            if other != place
        )
    ]
    return LowestPlace(int(means.argmin()), tuple(kept))
