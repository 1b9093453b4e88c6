"""Edits of a program's text, at places that syntax trees name: lines from 1 on, columns in bytes."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True)
class Edit:
    """The characters from `start` to `end` become `text`."""

    start: int
    end: int
    text: str


def edited(code: str, edits: Iterable[Edit]) -> str:
    """The text with its edits, which do not overlap; those at one place in their order."""
    parts, last = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        parts += [code[last : edit.start], edit.text]
        last = edit.end
    return "".join([*parts, code[last:]])


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
        """The character at a line and a column in UTF-8 bytes, as syntax trees count."""
        start = self.starts[line - 1]
        content = self.text[start : start + byte_column]
        return start + len(content if content.isascii() else content.encode()[:byte_column].decode("utf-8", "ignore"))

    def span(self, node: ast.expr | Node) -> tuple[int, int]:
        """First character of a node of Python's trees or of tree-sitter's, and the one behind its last."""
        if isinstance(node, ast.expr):
            end = self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)
            return self.at(node.lineno, node.col_offset), end
        (first, left), (last, right) = node.start_point, node.end_point
        return self.at(first + 1, left), self.at(last + 1, right)

    def line_of(self, character: int) -> int:
        """The line in which a character stands."""
        return bisect_right(self.starts, character)

    def end(self, line: int) -> int:
        """The character behind a line's last one: its line feed, or the text's end."""
        return self.starts[line] - 1 if line < len(self.starts) else len(self.text)

    def continued(self, line: int) -> bool:
        """Whether a line goes on with the one before it, which ends in a backslash."""
        start = self.starts[line - 1]
        return line > 1 and self.text[start - 2 : start - 1] == "\\"

    def indent(self, line: int) -> str:
        """The white space with which a line begins."""
        text = self.text[self.starts[line - 1] : self.end(line)]
        return text[: len(text) - len(text.lstrip(" \t"))]


def first_line(node: ast.stmt) -> int:
    """The first line of a statement or of its first decorator."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])
