"""Random choices, all made from one stream of random numbers."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Draw:
    """Source of random numbers and choices, all made from the uniform numbers of
    `generator`.

    Only uniform numbers are used, because their stream never changes.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        self._uniform = generator.random

    def chance(self, probability: float) -> bool:
        """Return True with the probability `probability` (0 to 1)."""
        return self._uniform() < probability

    def integer(self, low: int, high: int) -> int:
        """Return a random integer from `low` to `high`, both included."""
        return low + int(self._uniform() * (high - low + 1))

    def choice(self, items: Sequence[T]) -> T:
        """Return one of `items`, each with the same probability."""
        return items[int(self._uniform() * len(items))]

    def sample(self, items: Iterable[T], count: int) -> list[T]:
        """Return `count` different items of `items` in the order drawn, or all items in
        random order if there are fewer."""
        left = list(items)
        count = min(count, len(left))
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]
