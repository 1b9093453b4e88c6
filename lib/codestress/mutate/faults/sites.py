"""Sites of four kinds of fault (Fault Localizability, Table I): every place where a fault can be
made, as an edit of the text.

An edit replaces characters inside one line, or inserts one line. So the faulty line is known
exactly, and undoing the edit restores the program byte for byte. The kit decides the points that
the paper leaves open:

- OffByOne: in Python the stop of each `range(…)` in the iterable of a loop or a comprehension, by
  one up or down, whatever stands around it (`zip`, `enumerate`, `reversed`, a slice); in Java
  `range` against `rangeClosed` of `IntStream` and `LongStream`; in both `<` against `<=`, `>`
  against `>=` in the condition of a loop. The bounds of a slice are no loop's range.
- MisplacedReturn: an inserted return before a statement of a function (Python), or at the end of a
  block of a loop or a condition (both languages; elsewhere in Java the compiler rejects the
  statements behind the return), unless the function returns the same there anyway (`leaving.py`).
- IncorrectBooleanLogic: one `and` against `or`, one `&&` against `||`.
- OperatorSwap: one of + - * / for another of them, where no operand is a text or a list.

No fault is made in code that can never run (`reached.py`, `java_reached.py`).
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

from codestress.mutate.edits import Edit, Lines, edited, first_line
from codestress.mutate.faults.compiles import Declared, may_return, may_swap_logic
from codestress.mutate.faults.java_reached import (
    java_flow,
    leads_on,
    statements_of,
)
from codestress.mutate.faults.leaving import java_leaving, python_leaving
from codestress.mutate.faults.reached import Flow, python_flow
from codestress.mutate.faults.trees import (
    JAVA_METHODS,
    NotNeutral,
    around,
    field_text,
    java_root,
    tree_of,
)
from codestress.mutate.scopes import FunctionNode, own_blocks
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node


Kind = Literal["OffByOne", "MisplacedReturn", "IncorrectBooleanLogic", "OperatorSwap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
BOOLEAN = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
ARITHMETIC = ("+", "-", "*", "/")
SWAPS: dict[str, tuple[Kind, list[str]]] = {
    **{sign: ("OffByOne", [other]) for sign, other in COMPARISONS.items()},
    **{sign: ("IncorrectBooleanLogic", [other]) for sign, other in BOOLEAN.items()},
}
for sign in ARITHMETIC:
    SWAPS[sign] = "OperatorSwap", [other for other in ARITHMETIC if other != sign]
"""Kind of fault and replacement operators, by the operator that is replaced."""


@dataclass(frozen=True)
class FaultSite(Edit):
    """Edit of a correct program that makes one fault of the kind `kind`."""

    kind: Kind
    line: int
    """Number of the faulty line in the resulting program, from 1."""
    before: str = ""
    """Text that the edit replaces; empty for an insertion."""

    def apply(self, code: str) -> str:
        return edited(code, [self])

    def undo(self, code: str) -> str:
        """Returns the correct program from `code`, the text that `apply` returned."""
        return edited(
            code, [Edit(self.start, self.start + len(self.text), self.before)]
        )


def fault_sites(code: str, language: Language) -> list[FaultSite]:
    """Returns all faults that can be made in a Python or Java program, each as an edit with its
    kind and line, in the order of the text; empty if the program does not parse. Raises
    `ValueError` for JavaScript."""
    if language == "javascript":
        raise ValueError(
            "faults are made in Python and Java programs, not in JavaScript"
        )
    try:
        sites = dict.fromkeys(
            (_python_sites if language == "python" else _java_sites)(code)
        )
    except NotNeutral:
        return []
    return sorted(sites, key=lambda site: (site.start, site.kind, site.text))


def _replaced(
    kind: Kind, lines: Lines, start: int, end: int, texts: Iterable[str]
) -> Iterator[FaultSite]:
    for text in texts:
        yield FaultSite(
            start, end, text, kind, lines.line_of(start), lines.text[start:end]
        )


def _swapped(
    lines: Lines, start: int, sign: str, allowed: Callable[[str], bool] = lambda _: True
) -> Iterator[FaultSite]:
    """Yields the faults that replace the operator `sign`, at the index `start`, by those operators
    of its row in `SWAPS` for which `allowed` returns True; none where `SWAPS` has no such row."""
    if sign in SWAPS:
        kind, others = SWAPS[sign]
        yield from _replaced(
            kind, lines, start, start + len(sign), filter(allowed, others)
        )


def _return_behind(lines: Lines, line: int, like: int, statement: str) -> FaultSite:
    """Fault that inserts the return `statement` in a new line behind the line `line`, indented like
    the line `like` (numbers from 1)."""
    end = lines.end(line)
    return FaultSite(
        end, end, f"\n{lines.indent(like)}{statement}", "MisplacedReturn", line + 1
    )


# --- Python ---------------------------------------------------------------------------------------------------------

SWAPPED = ast.Add | ast.Sub | ast.Mult | ast.Div
COLLECTIONS = ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.Set
TEXT_METHODS = (
    "join",
    "format",
    "lower",
    "upper",
    "strip",
    "decode",
    "encode",
    "replace",
)
TEXT_FUNCTIONS = ("str", "repr", "list", "tuple", "chr", "hex", "sorted")


def _python_sites(code: str) -> Iterator[FaultSite]:
    tree = tree_of(code)
    lines = Lines.of(code)
    flow = python_flow(tree)
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    # Positions inside f-strings are unreliable before Python 3.12.
    usable = flow.reached - {id(part) for text in texts for part in ast.walk(text)}
    for node in ast.walk(tree):
        if id(node) not in usable:
            continue
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            for part in ast.walk(node.iter):
                if isinstance(part, ast.Call) and id(part) in usable:
                    yield from _range_sites(part, lines)
        if isinstance(node, FunctionNode):
            yield from _return_sites(node, flow, lines)
        for left, right in _operands(node, usable):
            yield from _between(lines.span(left)[1], lines.span(right)[0], lines)


def _operands(node: ast.AST, usable: set[int]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields pairs of neighbouring operands at a node, where the operator between them may be
    replaced; `usable` holds the ids of nodes that may change."""
    match node:
        case ast.While(test):
            for part in ast.walk(test):
                if isinstance(part, ast.Compare) and id(part) in usable:
                    yield from itertools.pairwise([part.left, *part.comparators])
        case ast.BoolOp(values=values):
            yield from itertools.pairwise(values)
        case ast.BinOp(left, op, right) if isinstance(op, SWAPPED) and not _texts(node):
            yield left, right
        case ast.AugAssign(target, op, value) if isinstance(op, SWAPPED) and not _texts(
            value
        ):
            yield target, value


def _between(start: int, end: int, lines: Lines) -> Iterator[FaultSite]:
    """Yields the faults that replace the operator between the indices `start` and `end` of the
    text; parentheses and comments are ignored. None unless exactly one word or sign stands
    there."""
    tokens = list(re.finditer(r"#.*|(\w+|[^\w\s()\\#]+)", lines.text[start:end]))
    words = [token for token in tokens if token[1]]
    if len(words) == 1:
        sign = words[0][0]
        sign = sign if sign in SWAPS else sign.removesuffix("=")
        yield from _swapped(lines, start + words[0].start(), sign)


def _texts(node: ast.expr) -> bool:
    """Whether an expression looks like a text or a collection, so that `+` or `*` beside it is no
    arithmetic."""
    if isinstance(node, ast.BinOp):
        return _texts(node.left) or _texts(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in TEXT_METHODS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in TEXT_FUNCTIONS
    return isinstance(node, COLLECTIONS)


def _range_sites(node: ast.Call, lines: Lines) -> Iterator[FaultSite]:
    """Yields the faults that make the stop of `range(stop)` or `range(start, stop, …)` one larger
    or one smaller; none for other calls, and where arguments are starred or the stop covers two
    lines."""
    match node:
        case ast.Call(ast.Name("range"), [stop] | [_, stop] | [_, stop, _], []):
            starred = any(isinstance(argument, ast.Starred) for argument in node.args)
            if starred or stop.lineno != stop.end_lineno:
                return
        case _:
            return
    start, end = lines.span(stop)
    written, whole = lines.text[start:end], _whole(stop)
    if whole is not None:
        changed = [str(whole - 1), str(whole + 1)]
    else:
        sums = isinstance(stop, ast.BinOp) and isinstance(
            stop.op, ast.Add | ast.Sub | ast.Mult
        )
        held = written if sums or isinstance(stop, PLAIN) else f"({written})"
        changed = [f"{held} - 1", f"{held} + 1"]
    yield from _replaced("OffByOne", lines, start, end, changed)


PLAIN = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
"""Expressions to which a number is added without parentheses."""


def _whole(node: ast.expr) -> int | None:
    """Whole number that an expression writes out, perhaps with minus signs; None for any other
    expression."""
    match node:
        case ast.UnaryOp(ast.USub(), operand):
            value = _whole(operand)
            return None if value is None else -value
        case ast.Constant(value) if type(value) is int and value < LARGEST:
            return value
    return None


LARGEST = 10**4000
"""Bound of the whole numbers to which one is added: Python writes no more than 4,300 digits."""


def _return_sites(
    function: ast.FunctionDef | ast.AsyncFunctionDef, flow: Flow, lines: Lines
) -> Iterator[FaultSite]:
    """Yields the faults that insert a return before a statement of the function's body (except
    statements that return, raise or do nothing), or at the end of a block of a loop or
    condition."""
    for statement in function.body:
        passing = isinstance(statement, PASSING)
        match statement:
            case ast.Expr(ast.Constant()):  # such as `...`
                passing = True
        usable = id(statement) in flow.reached and not passing
        if usable and not _before(statement, lines):
            first = first_line(statement)
            start, text = lines.starts[first - 1], f"{lines.indent(first)}return\n"
            yield FaultSite(start, start, text, "MisplacedReturn", first)
    leaving = {*python_leaving(function.body)}
    every = itertools.chain.from_iterable(own_blocks(function))
    for block in [one.body for one in every if isinstance(one, BRANCHING)]:
        last = block[-1]
        usable = id(last) in flow.completing and not isinstance(last, ast.Pass)
        if not usable or id(block) in leaving or _before(last, lines):
            continue
        line = last.end_lineno or last.lineno
        behind = lines.text[
            lines.at(line, last.end_col_offset or 0) : lines.end(line)
        ].strip()
        if not behind or behind.startswith("#"):
            yield _return_behind(lines, line, first_line(last), "return")


PASSING = ast.Return | ast.Raise | ast.Pass | ast.Global | ast.Nonlocal | ast.Import
"""Statements before which an inserted return is no fault."""
BRANCHING = ast.For | ast.AsyncFor | ast.While | ast.If


def _before(statement: ast.stmt, lines: Lines) -> str:
    """Text in front of a statement on its first line: another statement, or the head of its block;
    empty where it stands alone."""
    first = first_line(statement)
    return lines.text[
        lines.starts[first - 1] : lines.at(first, statement.col_offset)
    ].strip("@ \t")


# --- Java -----------------------------------------------------------------------------------------------------------

JAVA_LOOPS = ("for_statement", "while_statement", "do_statement")
JAVA_STREAMS = re.compile(r"(java\.util\.stream\.)?(Int|Long)Stream")
JAVA_RANGES = {"range": ["rangeClosed"], "rangeClosed": ["range"]}
JAVA_BLOCKS = (
    "for_statement",
    "enhanced_for_statement",
    "while_statement",
    "if_statement",
)
JAVA_DEFAULTS = {
    **dict.fromkeys(("int", "long", "short", "byte", "char", "float", "double"), " 0"),
    "boolean": " false",
    "void": "",
    "": "",
}
"""Value that an inserted return gives, with a space before it, by the method's type; null for other
types."""
JAVA_TEXTS = {
    "toString",
    "join",
    "substring",
    "repeat",
    "format",
    "valueOf",
    "getName",
    "trim",
    "charAt",
    "concat",
}


def _java_sites(code: str) -> Iterator[FaultSite]:
    parts, lines = list(nodes(java_root(code))), Lines.of(code)
    declared = Declared.of(parts)
    flow = java_flow(parts[0])
    for node in parts:
        if node.id not in flow.reached:
            continue
        operator = node.child_by_field_name("operator")
        if (
            node.type in ("binary_expression", "assignment_expression")
            and operator is not None
        ):
            start, end = lines.span(operator)
            value = (
                node
                if node.type == "binary_expression"
                else node.child_by_field_name("right")
            )
            sign = text_of(operator)
            sign = sign if value == node else sign.removesuffix("=")
            if sign in ARITHMETIC:
                # Another would be read as part of it.
                glued = {code[start - 1], code[end : end + 1]} & set(ARITHMETIC)
                if value is not None and not glued and not _java_text(value):
                    yield from _swapped(
                        lines, start, sign, partial(declared.swaps, node, sign)
                    )
            elif may_swap_logic(node) if sign in BOOLEAN else _in_loop_condition(node):
                yield from _swapped(lines, start, sign)
        elif node.type in JAVA_METHODS:
            yield from _java_returns(node, flow, lines)
        elif node.type == "method_invocation":
            name = node.child_by_field_name("name")
            if name is not None and JAVA_STREAMS.fullmatch(field_text(node, "object")):
                others = JAVA_RANGES.get(text_of(name), [])
                yield from _replaced("OffByOne", lines, *lines.span(name), others)


def _in_loop_condition(node: Node) -> bool:
    for outer in around(node):
        if outer.parent is not None and outer.parent.type in JAVA_LOOPS:
            return outer == outer.parent.child_by_field_name("condition")
        if outer.type in ("block", "lambda_expression", "method_declaration"):
            return False
    return False


def _java_text(node: Node) -> bool:
    """Whether the `+` at `node` looks like joining texts: an operand in the whole chain of
    operators around is a text, a character or a call such as `toString()`."""
    chained = ("binary_expression", "parenthesized_expression")
    top = node
    while top.parent is not None and top.parent.type in chained:
        top = top.parent
    return any(
        part.type in ("string_literal", "character_literal")
        or (part.type == "method_invocation" and field_text(part, "name") in JAVA_TEXTS)
        for part in nodes(top)
    )


def _java_returns(method: Node, flow: Flow, lines: Lines) -> Iterator[FaultSite]:
    """Yields the faults that insert a return, with a default value of the method's type (without
    one for void), at the end of a block of a loop or condition, where the program still
    compiles."""
    kind = field_text(method, "type") + field_text(method, "dimensions")
    value = JAVA_DEFAULTS.get(kind, " null")
    body = method.child_by_field_name("body")
    if body is None:
        return
    leaving = {*java_leaving(body, value.strip(), leaves=not value)}
    for node in nodes(body):
        if (
            node.type != "block"
            or node.parent is None
            or node.parent.type not in JAVA_BLOCKS
        ):
            continue
        last = (statements_of(node) or [node])[-1]
        closing = node.end_point[
            0
        ]  # the line before that of the closing brace, from 1 on
        if not node.start_point[0] < last.start_point[0] <= last.end_point[0] < closing:
            continue
        if last.id not in flow.completing or not may_return(node, method):
            continue
        if node.id not in leaving and leads_on(node, flow):
            yield _return_behind(
                lines, closing, last.start_point[0] + 1, f"return{value};"
            )
