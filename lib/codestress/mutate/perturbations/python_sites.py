"""Places for messages in Python programs."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from codestress.mutate.edits import first_line
from codestress.mutate.perturbations.edits import MessageSite
from codestress.mutate.perturbations.tracing import method_calls
from codestress.mutate.scopes import statements

KINDS: dict[type[ast.stmt], str] = {
    ast.FunctionDef: "function",
    ast.AsyncFunctionDef: "function",
    ast.For: "for",
    ast.AsyncFor: "for",
    ast.Return: "return",
    ast.While: "while",
    ast.If: "condition",
    ast.AugAssign: "operator",
}
"""Kind of the place for messages at a statement, by the statement's type, where that alone
decides."""


def message_sites(block: list[ast.stmt]) -> Iterator[MessageSite]:
    """Yields the places where a message may stand in the statements of a program, in the order of
    the text; each statement must stand on a line of its own."""
    returns = itertools.count()
    for statement, _ in statements(block):
        kind = _kind(statement)
        ordinal = next(returns) if kind == "return" else -1
        yield from _sites(statement, kind, ordinal)


def _kind(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign([ast.Name()], ast.BinOp()):
            return "operator"
        case ast.Assign([ast.Name()]) | ast.AnnAssign(ast.Name(), _, ast.expr()):
            return "assignment"
    return KINDS.get(type(statement), "")


def _sites(statement: ast.stmt, kind: str, ordinal: int) -> Iterator[MessageSite]:
    """Yields the places for messages of one statement, without those of statements inside it: one
    of its `kind`, and one for each method of `METHODS` that it calls."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    above = inside = (first_line(statement), statement.col_offset)
    header_end = statement.end_lineno or statement.lineno
    if body:
        match body:
            case [ast.Expr(ast.Constant(str()))]:
                return  # before it a message makes the docstring none
            case [ast.Expr(ast.Constant()), first, *_] | [first, *_]:
                inside = (first_line(first), first.col_offset)
        header_end = first_line(body[0]) - 1
    if kind:
        line = inside[0] if kind in ("while", "for") else header_end
        yield MessageSite(kind, line, *inside, ordinal=ordinal)
    found = sorted(
        (method.end_lineno or 0, method.end_col_offset or 0, method.attr)
        for _, method in method_calls(statement)
    )
    start = inside if isinstance(statement, ast.If | ast.While) else above
    for method in dict.fromkeys(name for *_, name in found):
        yield MessageSite(method, header_end, *start)
