"""Blocks at whose end a function returns anyway: one more return there changes nothing, and is no
fault."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from codestress.mutate.faults.java_reached import statements_of
from codestress.mutate.scopes import FunctionNode
from codestress.sandbox.runtimes import text_of

if TYPE_CHECKING:
    from tree_sitter import Node


def python_leaving(block: list[ast.stmt], *, leaves: bool = True) -> Iterator[int]:
    """Yields the ids of `block`, statements of a Python function, and of the blocks inside it, at
    whose end the function returns None and does nothing before. `leaves` says whether it does so at
    the end of `block`."""
    if leaves and block:
        yield id(block)
    for statement in reversed(block):
        match statement:
            case ast.Return(None | ast.Constant(None)):
                leaves = True
            case ast.Pass() | ast.Expr(ast.Constant()):
                continue
            case _:
                for part, ends in _parts(statement):
                    yield from python_leaving(part, leaves=leaves and ends)
                leaves = False


def _parts(statement: ast.stmt) -> Iterator[tuple[list[ast.stmt], bool]]:
    """Yields pairs: a block of a Python statement, and whether what follows the statement also
    follows the block. None for functions and classes."""
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return
    orelse = getattr(statement, "orelse", [])
    loops = isinstance(statement, ast.For | ast.AsyncFor | ast.While)
    tries = isinstance(statement, ast.Try | ast.TryStar)
    yield getattr(statement, "body", []), not (loops or (tries and orelse))
    yield orelse, True
    yield getattr(statement, "finalbody", []), False
    for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
        yield part.body, True


LAST = (
    "if_statement",
    "try_statement",
    "try_with_resources_statement",
    "catch_clause",
    "synchronized_statement",
    "labeled_statement",
    "switch_expression",
    "switch_block",
    "switch_rule",
)
"""Types of Java nodes whose blocks are followed by what follows the node."""


def java_leaving(node: Node, value: str, *, leaves: bool) -> Iterator[int]:
    """Yields the ids of those blocks in a part of a Java method at whose end the method returns
    `value` (a default value as text, empty for void) and does nothing before. `leaves` says whether
    it does so at the end of `node`."""
    if node.type not in ("block", "constructor_body"):
        ends = leaves and node.type in LAST
        for part in node.named_children:
            yield from java_leaving(part, value, leaves=ends)
        return
    if leaves:
        yield node.id
    for statement in reversed(statements_of(node)):
        if statement.type == "return_statement":
            leaves = _returns(text_of(statement), value)
        else:
            yield from java_leaving(statement, value, leaves=leaves)
            leaves = False


def _returns(statement: str, value: str) -> bool:
    """Whether the text of a Java return gives `value`, a default value as text."""
    given = statement.removeprefix("return").strip("; \t\n()")
    if value == "0" and given:
        return not given.strip("+-0.LlFfDd")
    return given == value
