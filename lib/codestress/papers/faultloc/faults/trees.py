"""Syntax trees of faulty programs, and the error where a program has none."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

from codestress.sandbox.runtimes import parser

if TYPE_CHECKING:
    from tree_sitter import Node


class NotNeutral(ValueError):
    """The mutation cannot be made on this program, or cannot be proved neutral; the message says why."""


def tree_of(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise NotNeutral(f"does not parse: {error}") from None


def java_root(code: str) -> Node:
    root = parser("java").parse(code.encode("utf-8", "surrogatepass")).root_node
    if root.has_error:
        raise NotNeutral("does not parse")
    return root


@lru_cache(maxsize=512)
def words_of(code: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", code))
