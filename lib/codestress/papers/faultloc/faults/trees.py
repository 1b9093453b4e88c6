"""Syntax trees of faulty programs, and the error where a program has none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from codestress.generation.scopes import FunctionNode
from codestress.literals import parse_program
from codestress.sandbox.runtimes import nodes, parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

JAVA_METHODS = ("method_declaration", "constructor_declaration")
JAVA_CLASSES = ("class_body", "enum_body_declarations", "interface_body")
JAVA_TYPES = (
    *(*JAVA_CLASSES, "enum_body", "annotation_type_body", "record_declaration", "annotation_type_declaration"),
)
"""What stands around the members of a type."""
_WORDS = (
    "_ abstract assert boolean break byte case catch char class const continue default do double else enum exports "
    "extends false final finally float for goto if implements import instanceof int interface long module native new "
    "non null open opens package permits private protected provides public record requires return sealed short static "
    "strictfp super switch synchronized this throw throws to transient transitive true try uses var void volatile when "
    "while with yield"
)
JAVA_WORDS = frozenset(_WORDS.split())
"""Words that name no variable, or not everywhere."""
ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u+(?:00[0-7]|(?![0-9a-fA-F]{4}))")
"""A unicode escape of an ASCII character, which javac reads as that character wherever it stands; or a broken one."""


class NotNeutral(ValueError):
    """The mutation cannot be made on this program, or cannot be proved neutral; the message says why."""


def _lines_are_certain(code: str) -> None:
    """Parsers and readers count a carriage return of its own as a line, or not."""
    if "\r" in code.replace("\r\n", "\n"):
        raise NotNeutral("a carriage return without a line feed: lines are counted in two ways")


def tree_of(code: str) -> ast.Module:
    _lines_are_certain(code)
    try:
        return parse_program(code)
    except SyntaxError as error:
        raise NotNeutral(f"does not parse: {error}") from None


@lru_cache(maxsize=64)
def java_root(code: str) -> Node:
    """The tree of a Java program, to be looked at alone."""
    _lines_are_certain(code)
    if ESCAPE.search(code):
        raise NotNeutral("a unicode escape that may be part of the program's form")
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


@lru_cache(maxsize=256)
def named_in(code: str) -> frozenset[str]:
    """All names that a Java program declares or imports, type parameters too."""
    named = set()
    for node in nodes(java_root(code)):
        parent = node.parent
        if node.type not in ("identifier", "type_identifier") or parent is None:
            continue
        if parent.type == "type_parameter" or parent.child_by_field_name("name") == node:
            named.add(text_of(node))
    return frozenset(named)
