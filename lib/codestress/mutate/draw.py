"""Random choices, all from one stream of random numbers."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Draw:
    """Maker of random numbers and choices, all drawn from a generator's uniform numbers, whose
    stream never changes."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._uniform = generator.random

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._uniform() < probability

    def integer(self, low: int, high: int) -> int:
        """Random integer from `low` to `high`, both included."""
        return low + int(self._uniform() * (high - low + 1))

    def choice(self, items: Sequence[T]) -> T:
        """Returns one of `items`, each as likely."""
        return items[int(self._uniform() * len(items))]

    def sample(self, items: Iterable[T], count: int) -> list[T]:
        """`count` different ones of `items` in the order drawn; all where there are fewer."""
        left = list(items)
        count = min(count, len(left))
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]
