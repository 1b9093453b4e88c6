"""Random choices, all from one stream of random numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Draw:
    """Maker of random numbers and choices, all drawn from a generator's uniform numbers, whose
    stream never changes."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._uniform = generator.random

    def chance(self, probability: float) -> bool:
        return self._uniform() < probability

    def integer(self, low: int, high: int) -> int:
        """Random integer from `low` to `high`, both included."""
        return low + int(self._uniform() * (high - low + 1))

    def choice(self, items: Sequence[T]) -> T:
        return items[int(self._uniform() * len(items))]

    def weighted(self, items: Sequence[tuple[float, T]]) -> T:
        at = self._uniform() * sum(weight for weight, _ in items)
        for weight, item in items:
            at -= weight
            if at < 0:
                return item
        return items[-1][1]
