"""Faults in Python programs (Fault Localizability, Table I); `sites.py` describes the
kinds of fault."""

import ast
import itertools
import re
from collections.abc import Iterator
from contextlib import suppress

from ..edits import Lines, first_line, is_alone
from .fault_site import (
    FaultSite,
    replaced,
    return_behind,
    swapped,
)
from .kinds import Kind
from .python_flow import PythonFlow
from .trees import RULES, tree_of

COLLECTIONS, OPERANDS, SUMS, PASSING = RULES["python_kinds"].values()
"""Names of types of nodes: collections and texts; expressions, and operators of
expressions, that `- 1` may follow without parentheses; statements before which an
inserted return is not a fault."""


def python_faults(code: str) -> Iterator[FaultSite]:
    """Yield all faults that can be made in a Python program, in no particular order,
    some twice.

    Raises `NotNeutral` if the program does not parse.
    """
    tree, lines = tree_of(code), Lines(code)
    flow = PythonFlow(tree)
    dead = flow.dead()
    for node in ast.walk(tree):
        if id(node) in dead:
            continue
        for kind, operands in _operands(node, dead):
            yield from _between(kind, operands, lines)
        match node:
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                for part in ast.walk(node.iter):
                    if id(part) not in dead:
                        yield from _range_sites(part, lines)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for statement in node.body:
                    if id(statement) not in dead and is_alone(statement, lines):
                        yield from _return_before(statement, lines)
                for block in flow.leaving(node.body):
                    if id(block[-1]) not in dead and is_alone(block[-1], lines):
                        yield from _return_after(block[-1], lines)


def _operands(node: ast.AST, dead: set[int]) -> Iterator[tuple[Kind, list[ast.expr]]]:
    """Yield the operands of a node whose operators may be replaced, each list with the
    kind of fault.

    `dead` has the ids of the nodes that get no fault.
    """
    match node:
        case ast.While(test):
            for part in ast.walk(test):
                if isinstance(part, ast.Compare) and id(part) not in dead:
                    yield "OffByOne", [part.left, *part.comparators]
        case ast.BoolOp(values=values):
            yield "IncorrectBooleanLogic", values
        case ast.BinOp(left, _, right) if not _is_text(node):
            yield "OperatorSwap", [left, right]
        case ast.AugAssign(target, _, value) if not _is_text(value):
            yield "OperatorSwap", [target, value]


def _between(kind: Kind, operands: list[ast.expr], lines: Lines) -> Iterator[FaultSite]:
    """Yield the faults of the kind `kind` that replace an operator between neighbouring
    `operands`.

    Parentheses and comments between operands are ignored.
    """
    for left, right in itertools.pairwise(operands):
        start, end = lines.span(left)[1], lines.span(right)[0]
        between = re.finditer(r"#.*|(\w+|[^\w\s()\\#]+)", lines.text[start:end])
        words = [word for word in between if word[1]]
        if len(words) == 1:
            at = start + words[0].start()
            yield from swapped(kind, lines, at, words[0][0])


def _kind(node: ast.AST | None) -> str:
    """Return the name of a node's type."""
    return type(node).__name__


def _is_text(node: ast.expr) -> bool:
    """Return whether an expression looks like a text or a collection, beside which `+`
    or `*` is not arithmetic."""
    match node:
        case ast.BinOp(left, _, right):
            return _is_text(left) or _is_text(right)
        case ast.Constant(value):
            return isinstance(value, str | bytes)
        case ast.Call(ast.Attribute(attr=name) | ast.Name(name)):
            return name in RULES["python_texts"]
    return _kind(node) in COLLECTIONS


def _range_sites(node: ast.AST, lines: Lines) -> Iterator[FaultSite]:
    """Yield the faults that make the stop of `range(stop)` or `range(start, stop, …)`
    one larger or one smaller.

    Yield nothing for other nodes, for starred arguments, and for a stop that spans two
    lines.
    """
    match node:
        case ast.Call(ast.Name("range"), [stop] | [_, stop] | [_, stop, _], []):
            starred = "Starred" in map(_kind, node.args)
            if not starred and stop.lineno == stop.end_lineno:
                start, end = lines.span(stop)
                texts = _beside(stop, lines.text[start:end])
                yield from replaced("OffByOne", lines, start, end, texts)


def _beside(stop: ast.expr, written: str) -> list[str]:
    """Return the texts of two expressions: one less and one more than `stop`, whose own
    text is `written`."""
    with suppress(ValueError):
        value = ast.literal_eval(stop)
        if isinstance(value, int):
            return [str(value - 1), str(value + 1)]
    plain = _kind(stop) in OPERANDS
    if not plain and _kind(getattr(stop, "op", None)) not in SUMS:
        written = f"({written})"
    return [f"{written} - 1", f"{written} + 1"]


def _return_before(statement: ast.stmt, lines: Lines) -> Iterator[FaultSite]:
    """Yield the fault that inserts a return before a statement, unless the statement
    returns, raises or does nothing."""
    match statement:
        case ast.Expr(ast.Constant()):
            return
    if _kind(statement) in PASSING:
        return
    first = first_line(statement)
    start, text = lines.starts[first - 1], f"{lines.indent(first)}return{lines.feed}"
    yield FaultSite(start, start, text, "MisplacedReturn", first)


def _return_after(statement: ast.stmt, lines: Lines) -> Iterator[FaultSite]:
    """Yield the fault that inserts a return after a statement, the last one of its
    block."""
    line = statement.end_lineno or statement.lineno
    end = lines.at(line, statement.end_col_offset or 0)
    last = re.match(r"\s*(#|$)", lines.text[end : lines.end(line)])
    if last and not isinstance(statement, ast.Pass):
        yield return_behind(lines, line, first_line(statement), "return")
