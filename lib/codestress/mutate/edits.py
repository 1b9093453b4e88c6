"""Edits of a program's text at positions that syntax trees give: lines from 1, columns in bytes."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from tree_sitter import Node


@dataclass(frozen=True)
class Edit:
    """Replacement of a text's characters from index `start` to before index `end`, counted from 0,
    by its `text`; an insertion where `start` equals `end`."""

    start: int
    end: int
    text: str


def edited(code: str, edits: Iterable[Edit]) -> str:
    """Returns the text `code` with the replacements `edits` made. Their indices count in `code`,
    and they must not overlap (not checked); insertions at one index keep the order of `edits`."""
    parts, last = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [code[last : edit.start], edit.text]
        last = edit.end
    return "".join([*parts, code[last:]])


class Lines:
    """A text with the positions at which its lines start; only line feeds end a line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(feed.end() for feed in re.finditer("\n", text))]
        """Index of the character, from 0, at which each line starts."""
        ends = text.count("\r\n") == text.count("\n") > 0
        self.feed = "\r\n" if ends else "\n"
        """End of the text's lines, for lines that are inserted; a line feed where the ends differ."""

    def at(self, line: int, byte_column: int) -> int:
        """Index in the text, from 0, of the character at the line `line` (from 1) and at
        `byte_column`, a number of UTF-8 bytes from the line's start (from 0), as syntax trees
        count."""
        start = self.starts[line - 1]
        content = self.text[start : start + byte_column]
        return start + len(content.encode()[:byte_column].decode("utf-8", "ignore"))

    def span(self, node: ast.expr | Node) -> tuple[int, int]:
        """Returns two indices, from 0: of a node's first character, and of the character after its
        last. The node is from Python's `ast` or from tree-sitter."""
        if isinstance(node, ast.expr):
            end = self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)
            return self.at(node.lineno, node.col_offset), end
        (first, left), (last, right) = node.start_point, node.end_point
        return self.at(first + 1, left), self.at(last + 1, right)

    def line_of(self, character: int) -> int:
        """Number of the line, from 1, that holds the character with the index `character` (from
        0)."""
        return bisect_right(self.starts, character)

    def end(self, line: int) -> int:
        """Index of the end (`feed`) of the line `line` (numbered from 1); for the last line, the
        length of the text."""
        if line < len(self.starts):
            return self.starts[line] - len(self.feed)
        return len(self.text)

    def indent(self, line: int) -> str:
        """Spaces and tabs at the beginning of the line `line` (numbered from 1), as text."""
        text = self.text[self.starts[line - 1] : self.end(line)]
        return text[: len(text) - len(text.lstrip(" \t"))]


def written_out(tree: ast.AST) -> str:
    """Text of a Python syntax tree; raises `SyntaxError` with the line of an integer that has too
    many digits for Python to write it out."""
    line = 0
    try:
        for node in ast.walk(tree):
            match node:
                case ast.Constant(value, lineno=line):
                    str(value)
    except ValueError as error:
        raise SyntaxError(str(error), (None, line, None, None)) from None
    return ast.unparse(tree)


def first_line(node: ast.stmt) -> int:
    """Number of the line, from 1, on which a Python statement or its first decorator begins."""
    first = [*getattr(node, "decorator_list", []), node][0]
    return int(first.lineno)


def is_alone(statement: ast.stmt, lines: Lines) -> bool:
    """Whether neither another statement nor the head of its block stands in front of a Python
    statement on its first line."""
    first = first_line(statement)
    start, end = lines.starts[first - 1], lines.at(first, statement.col_offset)
    return not lines.text[start:end].strip("@ \t")
