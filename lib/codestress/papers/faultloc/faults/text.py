"""Positions in a text that several tools count differently: lines from 1, columns in bytes or in characters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True)
class Lines:
    """A text by lines; lines end in line feeds alone."""

    text: str
    starts: tuple[int, ...]
    """Character at which each line starts."""

    @classmethod
    def of(cls, text: str) -> Lines:
        return cls(text, tuple(accumulate((len(line) + 1 for line in text.split("\n")), initial=0))[:-1])

    def at(self, line: int, byte_column: int) -> int:
        """The character at a line (from 1) and a column in UTF-8 bytes, as Python's syntax trees count."""
        start = self.starts[line - 1]
        content = self.text[start : start + byte_column]
        if content.isascii():
            return start + byte_column
        line_text = self.text[start : self.text.find("\n", start) if "\n" in self.text[start:] else len(self.text)]
        return start + len(line_text.encode()[:byte_column].decode("utf-8", "ignore"))

    def line_of(self, character: int) -> int:
        """The line, from 1 on, in which a character stands."""
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.starts[middle] <= character else (low, middle)
        return low + 1

    def continued(self, line: int) -> bool:
        """Whether a line goes on with the one before it, which ends in a backslash."""
        return line > 1 and self.text[: self.starts[line - 1] - 1].endswith("\\")

    def indent(self, line: int) -> str:
        """The white space with which a line begins."""
        start = self.starts[line - 1]
        end = start
        while end < len(self.text) and self.text[end] in " \t":
            end += 1
        return self.text[start:end]
