"""Random arguments of generated problems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from codestress.mutate.draw import Draw, T
from codestress.validation import read_yaml

LETTERS = "aaabcdeeefghiiklmnnoooprrsssttuvwy"
MARKS = " ,-:_.;"
GRAMMAR = read_yaml(Path(__file__).with_name("grammar.yaml"))
"""Names, types and forms of the generated problems, with their weights."""


class Values(Draw):
    """Maker of random choices, and of arguments by type."""

    def weighted(self, items: Sequence[tuple[float, T]]) -> T:
        """One of `items`, pairs of a weight and a value, by chance in proportion to the weight."""
        at = self._uniform() * sum(weight for weight, _ in items)
        for weight, item in items:
            at -= weight
            if at < 0:
                return item
        return items[-1][1]

    def value(self, kind: str) -> Any:
        """Random argument of the type `kind`: an integer for `int`, a list of integers for `ints`,
        a list of texts for `strs`, a dictionary from texts to integers for `dict`, else a text.
        Some texts, lists and dictionaries are empty."""
        if kind == "int":
            return self.weighted(
                [
                    (6, self.integer(0, 5)),
                    (3, self.integer(6, 30)),
                    (1, -self.integer(1, 9)),
                ]
            )
        if kind == "ints":
            return [
                self.integer(-3, 12) if self.chance(0.8) else self.integer(13, 99)
                for _ in range(self._size(2, 8))
            ]
        if kind == "strs":
            return [self.word() for _ in range(self._size(2, 5))]
        if kind == "dict":
            keys = dict.fromkeys(self.word() for _ in range(self._size(2, 4)))
            return {key: self.integer(0, 9) for key in keys}
        return self.text()

    def _size(self, low: int, high: int) -> int:
        return self.weighted([(0.04, 0), (0.06, 1), (0.9, self.integer(low, high))])

    def word(self) -> str:
        word = "".join(
            self.choice(GRAMMAR["syllables"]) for _ in range(self.integer(1, 3))
        )
        return self.weighted(
            [
                (6, word),
                (1, word.upper()),
                (1, word.title()),
                (1, f"{word}{self.integer(0, 99)}"),
            ]
        )

    def text(self) -> str:
        """Random text like CRUXEval's arguments: letters, a few words with marks between, letters
        with digits, or digits."""
        style = self.integer(0, 9)
        if style < 4:
            return "".join(self.choice(LETTERS) for _ in range(self._size(4, 14)))
        if style < 7:
            return self.choice(MARKS).join(
                self.word() for _ in range(self.integer(2, 4))
            )
        if style < 9:
            letters = LETTERS + LETTERS.upper() + "0123456789"
            return "".join(self.choice(letters) for _ in range(self._size(4, 12)))
        return "".join(self.choice("0123456789") for _ in range(self._size(3, 8)))
