"""Edits of a program's text, at the positions that syntax trees give: lines from 1,
columns in bytes from 0."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from tree_sitter import Node


@dataclass(frozen=True)
class Edit:
    """Replacement of a text's characters from index `start` to before index `end` (both
    from 0) with `text`.

    An edit whose `start` equals its `end` is an insertion.
    """

    start: int
    end: int
    text: str


def edited(code: str, edits: Iterable[Edit]) -> str:
    """Return the text `code` after the replacements `edits`.

    The indices of all edits count in `code`, and edits must not overlap (not checked).
    Insertions at the same index keep the order of `edits`.
    """
    parts, last = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        parts += [code[last : edit.start], edit.text]
        last = edit.end
    return "".join([*parts, code[last:]])


class Lines:
    """A text with the index at which each of its lines starts; only line feeds end a
    line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(feed.end() for feed in re.finditer("\n", text))]
        """Index of the first character of each line, from 0; the list's item 0 is for
        line 1."""
        ends = text.count("\r\n") == text.count("\n") > 0
        self.feed = "\r\n" if ends else "\n"
        """Line end for inserted lines: `\r\n` if every line of the text ends so, else
        `\n`."""

    def at(self, line: int, byte_column: int) -> int:
        """Return the index in the text, from 0, of the character at `line` (from 1) and
        `byte_column`.

        `byte_column` is a number of UTF-8 bytes from the line's start, from 0, as
        syntax trees count columns.
        """
        start = self.starts[line - 1]
        content = self.text[start : start + byte_column]
        return start + len(content.encode()[:byte_column].decode("utf-8", "ignore"))

    def span(self, node: ast.expr | Node) -> tuple[int, int]:
        """Return two indices, from 0: of a node's first character, and of the character
        after the node's last.

        The node is from Python's `ast` or from tree-sitter.
        """
        if isinstance(node, ast.expr):
            end = self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)
            return self.at(node.lineno, node.col_offset), end
        (first, left), (last, right) = node.start_point, node.end_point
        return self.at(first + 1, left), self.at(last + 1, right)

    def line_of(self, character: int) -> int:
        """Return the number of the line, from 1, that holds the character at the index
        `character` (from 0)."""
        return bisect_right(self.starts, character)

    def end(self, line: int) -> int:
        """Return the index at which the line end (`feed`) of `line` (from 1) begins.

        For the last line, return the length of the text.
        """
        if line < len(self.starts):
            return self.starts[line] - len(self.feed)
        return len(self.text)

    def indent(self, line: int) -> str:
        """Return the spaces and tabs at the beginning of `line` (from 1)."""
        text = self.text[self.starts[line - 1] : self.end(line)]
        return text[: len(text) - len(text.lstrip(" \t"))]


def written_out(tree: ast.AST) -> str:
    """Return the source text of a Python syntax tree.

    Raises `SyntaxError` with the line number if an integer has too many digits for
    Python to convert it to text.
    """
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
    """Return the number of the line, from 1, on which a Python statement or its first
    decorator begins."""
    first = [*getattr(node, "decorator_list", []), node][0]
    return int(first.lineno)


def is_alone(statement: ast.stmt, lines: Lines) -> bool:
    """Return whether a Python statement is the first thing on its first line.

    Return False if another statement, or the head of a block such as `if x:`, stands
    before the statement on that line.
    """
    first = first_line(statement)
    start, end = lines.starts[first - 1], lines.at(first, statement.col_offset)
    return not lines.text[start:end].strip("@ \t")
