"""Places of a program that mutations change: lines before which a statement or a comment may be
inserted, and methods whose order the program usually cannot see."""

import ast
from functools import lru_cache

from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

from ..edits import Lines, first_line, is_alone
from ..scopes import FunctionNode, blocks
from .hidden import refuse_seen
from .trees import (
    JAVA_CLASSES,
    JAVA_METHODS,
    NotNeutral,
    around,
    java_root,
    tree_of,
)

Methods = list[tuple[int, int]]
"""First and last line of each method, from 1."""
NO_PLACE = ("global ", "nonlocal ", "elif ", "elif(")


@lru_cache(maxsize=512)
def statement_lines(code: str, language: Language) -> list[int]:
    """Numbers, from 1, of the lines that begin with a statement inside a function, method or
    constructor, before which another statement may be inserted; in the order of the text. Raises
    `NotNeutral` if the program does not parse."""
    search = _python_lines if language == "python" else _java_lines
    return sorted(search(code))


def _python_lines(code: str) -> set[int]:
    lines = Lines(code)
    numbers = set[int]()
    tree = tree_of(code)
    for block, owner in blocks(tree.body):
        if not isinstance(owner, FunctionNode):
            continue
        documented = block is owner.body and ast.get_docstring(owner) is not None
        for statement in block[documented:]:
            first = first_line(statement)
            start = lines.starts[first - 1]
            continued = lines.text.endswith(f"\\{lines.feed}", 0, start)
            barred = lines.text.startswith(NO_PLACE, start + len(lines.indent(first)))
            if not (continued or barred) and is_alone(statement, lines):
                numbers.add(first)
    return numbers


def _java_lines(code: str) -> set[int]:
    lines = Lines(code)
    numbers = set[int]()
    fixed = ("explicit_constructor_invocation", "line_comment", "block_comment")
    for node in nodes(java_root(code)):
        if node.type not in ("block", "constructor_body"):
            continue
        if all(outer.type not in JAVA_METHODS for outer in around(node)):
            continue
        for child in node.named_children:
            row, column = child.start_point
            first = len(lines.indent(row + 1)) == column
            if first and child.type not in fixed:
                numbers.add(row + 1)
    return numbers


def movable(code: str, language: Language) -> list[Methods]:
    """Returns, for each Java class with at least two methods that may change places, a list with
    the first and last line of each such method, from 1; methods that share a line with other code
    may not. Raises `NotNeutral` if there is no such class, if the program may see the order, and
    for Python, whose methods the paper leaves in place (Table I)."""
    if language == "python":
        raise NotNeutral("functions are shuffled in Java alone")
    refuse_seen("order", code, language)
    lines = Lines(code)
    groups = []
    for node in nodes(java_root(code)):
        group = []
        for child in node.named_children if node.type in JAVA_CLASSES else ():
            first, last = child.start_point[0] + 1, child.end_point[0] + 1
            whole = lines.text[lines.starts[first - 1] : lines.end(last)]
            alone = whole.strip() == text_of(child)
            if child.type == "method_declaration" and alone:
                group.append((first, last))
        if len(group) > 1:
            groups.append(group)
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    return groups
