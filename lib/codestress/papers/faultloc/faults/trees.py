"""Syntax trees of faulty programs, and the error where a program has none."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from codestress.generation.scopes import FunctionNode
from codestress.sandbox.runtimes import parser

if TYPE_CHECKING:
    from tree_sitter import Node

JAVA_METHODS = ("method_declaration", "constructor_declaration")
JAVA_CLASSES = ("class_body", "enum_body_declarations", "interface_body")


class NotNeutral(ValueError):
    """The mutation cannot be made on this program, or cannot be proved neutral; the message says why."""


def _lines_are_certain(code: str) -> None:
    """Parsers and readers count a carriage return of its own as a line, or not."""
    if "\r" in code.replace("\r\n", "\n"):
        raise NotNeutral("a carriage return without a line feed: lines are counted in two ways")


def tree_of(code: str) -> ast.Module:
    _lines_are_certain(code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise NotNeutral(f"does not parse: {error}") from None


def java_root(code: str) -> Node:
    _lines_are_certain(code)
    root = parser("java").parse(code.encode("utf-8", "surrogatepass")).root_node
    if root.has_error:
        raise NotNeutral("does not parse")
    return root


def around(node: Node) -> Iterator[Node]:
    """The node and what it stands in, from the inside out."""
    here: Node | None = node
    while here is not None:
        yield here
        here = here.parent


def blocks(function: ast.AST) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
    """What holds statements in a function and each list of them; functions and classes inside it are left out."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(function, name, None)
        if isinstance(block, list) and block:
            yield function, block
            for statement in block:
                if not isinstance(statement, FunctionNode | ast.ClassDef):
                    yield from blocks(statement)
    for part in [*getattr(function, "handlers", []), *getattr(function, "cases", [])]:
        yield from blocks(part)


@lru_cache(maxsize=512)
def words_of(code: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", code))
