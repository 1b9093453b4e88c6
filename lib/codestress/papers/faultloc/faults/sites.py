"""The four faults of the paper (Table I): every place where one can be made, as an edit of the text.

An edit replaces characters inside one line, or puts in one line: so the faulty line is known exactly, and undoing the
edit gives the program back byte for byte. What the paper leaves open is decided here and named:

- OffByOne: the stop of `range(…)` by one up or down; `<` against `<=`, `>` against `>=` in the condition of a loop.
- MisplacedReturn: a return of its own before a statement of a function (Python), or at the end of a block inside a
  loop or a condition (both languages; in Java elsewhere the compiler refuses what follows).
- IncorrectBooleanLogic: one `and` against `or`, one `&&` against `||`.
- OperatorSwap: one of + - * / for another of them, where no operand is a text or a list.
"""

from __future__ import annotations

import ast
import bisect
import io
import tokenize
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from codestress.generation.scopes import FunctionNode
from codestress.papers.faultloc.faults.text import Lines
from codestress.sandbox.runtimes import nodes, parser
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

Kind = Literal["OffByOne", "MisplacedReturn", "IncorrectBooleanLogic", "OperatorSwap"]
KINDS: tuple[Kind, ...] = ("OffByOne", "MisplacedReturn", "IncorrectBooleanLogic", "OperatorSwap")
ARITHMETIC = ("+", "-", "*", "/")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
BOOLEAN = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
PYTHON_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}


@dataclass(frozen=True)
class FaultSite:
    """An edit that makes one fault: the characters from `start` to `end` become `text`."""

    kind: Kind
    line: int
    """The faulty line of the program that results, from 1 on."""
    start: int
    end: int
    text: str
    before: str
    """What stood there."""

    def apply(self, code: str) -> str:
        return code[: self.start] + self.text + code[self.end :]

    def undo(self, code: str) -> str:
        """The seed, from the program that `apply` gave."""
        return code[: self.start] + self.before + code[self.start + len(self.text) :]


def fault_sites(code: str, language: Language) -> list[FaultSite]:
    """All places where a fault can be made, in the order of the text. None where the program does not parse."""
    found = _python_sites(code) if language == "python" else _java_sites(code)
    unique = {(site.kind, site.start, site.end, site.text): site for site in found}
    return sorted(unique.values(), key=lambda site: (site.start, site.kind, site.text))


def _edit(kind: Kind, lines: Lines, start: int, end: int, text: str) -> FaultSite:
    return FaultSite(kind, lines.line_of(start), start, end, text, lines.text[start:end])


# --- Python ---------------------------------------------------------------------------------------------------------


def _python_sites(code: str) -> Iterator[FaultSite]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    lines = Lines.of(code)
    operators = _operator_tokens(code, lines)
    strings = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in strings:  # positions inside f-strings are unreliable before Python 3.12
            continue
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _range_sites(node.iter, lines)
        if isinstance(node, ast.While):
            yield from _comparison_sites(node.test, lines, operators, strings)
        if isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from _between(left, right, lines, operators, BOOLEAN, "IncorrectBooleanLogic")
        if isinstance(node, ast.BinOp) and type(node.op) in PYTHON_OPERATORS and not _texts(node):
            yield from _between(node.left, node.right, lines, operators, ARITHMETIC, "OperatorSwap")
        if isinstance(node, ast.AugAssign) and type(node.op) in PYTHON_OPERATORS and not _texts(node.value):
            yield from _between(node.target, node.value, lines, operators, ARITHMETIC, "OperatorSwap")
        if isinstance(node, FunctionNode):
            yield from _return_sites(node, lines)


def _span(node: ast.expr, lines: Lines) -> tuple[int, int]:
    return lines.at(node.lineno, node.col_offset), lines.at(node.end_lineno or 0, node.end_col_offset or 0)


@lru_cache(maxsize=4)
def _operator_tokens(code: str, lines: Lines) -> tuple[tuple[int, str], ...]:
    """Operators and the words and, or with the characters at which they start, in the order of the text."""
    found = []
    wanted = {*ARITHMETIC, *COMPARISONS, *BOOLEAN, "+=", "-=", "*=", "/="}
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.string in wanted and token.type in (tokenize.OP, tokenize.NAME):
                found.append((lines.starts[token.start[0] - 1] + token.start[1], token.string))
    except (tokenize.TokenError, SyntaxError, IndentationError):
        return ()
    return tuple(found)


def _tokens_between(start: int, end: int, operators: tuple[tuple[int, str], ...]) -> list[tuple[int, str]]:
    first = bisect.bisect_left(operators, (start, ""))
    found = []
    for place, text in operators[first:]:
        if place >= end:
            break
        found.append((place, text))
    return found


def _between(
    left: ast.expr,
    right: ast.expr,
    lines: Lines,
    operators: tuple[tuple[int, str], ...],
    swaps: dict[str, str] | tuple[str, ...],
    kind: Kind,
) -> Iterator[FaultSite]:
    """Edits of the one operator that stands between two operands."""
    found = _tokens_between(_span(left, lines)[1], _span(right, lines)[0], operators)
    if len(found) != 1:
        return
    place, text = found[0]
    sign = text.removesuffix("=") if isinstance(swaps, tuple) else text
    if sign not in swaps:
        return
    others = [swaps[sign]] if isinstance(swaps, dict) else [one for one in swaps if one != sign]
    for other in others:
        yield _edit(kind, lines, place, place + len(sign), other)


def _texts(node: ast.expr) -> bool:
    """Whether an operand is a text or a collection by its looks."""
    if isinstance(node, ast.BinOp):
        return _texts(node.left) or _texts(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("join", "format", "lower", "upper", "strip", "decode", "encode", "replace")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("str", "repr", "list", "tuple", "chr", "hex", "sorted")
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.Set)


def _range_sites(node: ast.expr, lines: Lines) -> Iterator[FaultSite]:
    """The stop of `range(stop)` and `range(start, stop, …)`, one more and one less."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"):
        return
    if node.keywords or not 1 <= len(node.args) <= 3 or any(isinstance(one, ast.Starred) for one in node.args):
        return
    stop = node.args[0] if len(node.args) == 1 else node.args[1]
    start, end = _span(stop, lines)
    if stop.lineno != stop.end_lineno:
        return
    before = lines.text[start:end]
    if isinstance(stop, ast.Constant) and isinstance(stop.value, int) and not isinstance(stop.value, bool):
        changed = [str(stop.value - 1), str(stop.value + 1)]
    else:
        plain = isinstance(stop, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant | ast.BinOp)
        plain = plain and not (isinstance(stop, ast.BinOp) and not isinstance(stop.op, ast.Add | ast.Sub | ast.Mult))
        held = before if plain else f"({before})"
        changed = [f"{held} - 1", f"{held} + 1"]
    for text in changed:
        yield _edit("OffByOne", lines, start, end, text)


def _comparison_sites(
    test: ast.expr, lines: Lines, operators: tuple[tuple[int, str], ...], strings: set[int]
) -> Iterator[FaultSite]:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and id(node) not in strings:
            for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
                yield from _between(left, right, lines, operators, COMPARISONS, "OffByOne")


def _return_sites(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: Lines) -> Iterator[FaultSite]:
    """Before each statement of the body but the last ones that return, and at the end of blocks inside it."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    for statement in body:
        if not isinstance(statement, ast.Return | ast.Raise | ast.Pass | ast.Global | ast.Nonlocal | ast.Import):
            yield from _return_before(statement, lines)
    for block in _inner_blocks(function):
        last = block[-1]
        if isinstance(last, ast.Return | ast.Raise | ast.Continue | ast.Break | ast.Pass) or _one_line(last, lines):
            continue
        line = last.end_lineno or last.lineno
        end = lines.starts[line] - 1 if line < len(lines.starts) else len(lines.text)
        behind = lines.text[lines.at(line, last.end_col_offset or 0) : end].strip()
        if not behind or behind.startswith("#"):
            text = f"\n{lines.indent(_first_line(last))}return"
            yield FaultSite("MisplacedReturn", line + 1, end, end, text, "")


def _return_before(statement: ast.stmt, lines: Lines) -> Iterator[FaultSite]:
    first = _first_line(statement)
    start = lines.starts[first - 1]
    indent = lines.indent(first)
    if lines.text[start + len(indent) : lines.at(first, statement.col_offset)].strip("@ \t"):
        return  # something stands before it on its line
    yield FaultSite("MisplacedReturn", first, start, start, f"{indent}return\n", "")


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _one_line(statement: ast.stmt, lines: Lines) -> bool:
    """Whether a block stands behind its head on one line (`if x: y`)."""
    first = _first_line(statement)
    return bool(lines.text[lines.starts[first - 1] : lines.at(first, statement.col_offset)].strip(" \t@"))


def _inner_blocks(function: ast.AST) -> Iterator[list[ast.stmt]]:
    """Bodies of loops and conditions in a function, not in functions inside it."""
    for child in ast.iter_child_nodes(function):
        if isinstance(child, FunctionNode | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(child, ast.For | ast.AsyncFor | ast.While | ast.If):
            yield child.body
        yield from _inner_blocks(child)


# --- Java -----------------------------------------------------------------------------------------------------------

JAVA_LOOPS = ("for_statement", "while_statement", "do_statement")
JAVA_DEFAULTS = {
    **dict.fromkeys(("int", "long", "short", "byte", "char", "float", "double"), "0"),
    "boolean": "false",
}


def _java_sites(code: str) -> Iterator[FaultSite]:
    source = code.encode()
    root = parser("java").parse(source).root_node
    if root.has_error:
        return
    lines = Lines.of(code)
    place = _Places(code, source)
    for node in nodes(root):
        if node.type == "binary_expression":
            yield from _java_operator(node, lines, place)
        elif node.type == "assignment_expression":
            operator = node.child_by_field_name("operator")
            value = node.child_by_field_name("right")
            sign = _text(operator).removesuffix("=")
            if operator is not None and sign in ARITHMETIC and value is not None and not _java_text(value):
                start = place(operator.start_byte)
                for other in ARITHMETIC:
                    if other != sign:
                        yield _edit("OperatorSwap", lines, start, start + 1, other)
        elif node.type in ("method_declaration", "constructor_declaration"):
            yield from _java_returns(node, lines)


class _Places:
    """Bytes of a source as characters."""

    def __init__(self, code: str, source: bytes) -> None:
        self.plain = len(code) == len(source)
        self.source = source

    def __call__(self, byte: int) -> int:
        return byte if self.plain else len(self.source[:byte].decode("utf-8", "ignore"))


def _text(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text else ""


def _java_operator(node: Node, lines: Lines, place: _Places) -> Iterator[FaultSite]:
    operator = node.child_by_field_name("operator")
    if operator is None:
        return
    sign = _text(operator)
    start = place(operator.start_byte)
    if sign in ("&&", "||"):
        yield _edit("IncorrectBooleanLogic", lines, start, start + 2, BOOLEAN[sign])
    elif sign in COMPARISONS and _in_loop_condition(node):
        yield _edit("OffByOne", lines, start, start + len(sign), COMPARISONS[sign])
    elif sign in ARITHMETIC and not _java_text(node):
        for other in ARITHMETIC:
            if other != sign:
                yield _edit("OperatorSwap", lines, start, start + 1, other)


def _in_loop_condition(node: Node) -> bool:
    here: Node | None = node
    while here is not None and here.parent is not None:
        if here.parent.type in JAVA_LOOPS:
            condition = here.parent.child_by_field_name("condition")
            return condition is not None and condition.start_byte <= node.start_byte < condition.end_byte
        if here.type in ("block", "lambda_expression", "method_declaration"):
            return False
        here = here.parent
    return False


def _java_text(node: Node) -> bool:
    """Whether a `+` joins texts, by its looks: a text, a character or `toString()` among the operands of its chain."""
    top = node
    while top.parent is not None and top.parent.type in ("binary_expression", "parenthesized_expression"):
        top = top.parent
    words = ("toString", "join", "substring", "repeat", "format", "valueOf", "getName", "trim", "charAt", "concat")
    return any(
        part.type in ("string_literal", "character_literal")
        or (part.type == "method_invocation" and _text(part.child_by_field_name("name")) in words)
        for part in nodes(top)
    )


def _java_returns(method: Node, lines: Lines) -> Iterator[FaultSite]:
    """A return at the end of blocks of loops and conditions; it gives what the method's last return gives where that is
    a literal, else a value of its type."""
    kind = _text(method.child_by_field_name("type"))
    value = "" if kind in ("void", "") else " " + JAVA_DEFAULTS.get(kind, "null")
    body = method.child_by_field_name("body")
    for node in nodes(body) if body is not None else ():
        if node.type != "block" or node.parent is None or _method_of(node) != method.id:
            continue
        if node.parent.type not in ("for_statement", "enhanced_for_statement", "while_statement", "if_statement"):
            continue
        condition = node.parent.child_by_field_name("condition")
        if _text(condition) in ("(true)", "true"):
            continue  # what follows could not be reached otherwise either
        statements = [child for child in node.named_children if "comment" not in child.type]
        if not statements or statements[-1].type in (
            *("return_statement", "throw_statement", "break_statement", "continue_statement"),
        ):
            continue
        last = statements[-1]
        if last.start_point[0] == node.start_point[0]:
            continue
        line = node.end_point[0]  # the line before that of the closing brace, from 1 on
        end = lines.starts[line] - 1
        if node.end_point[0] <= last.end_point[0]:
            continue
        indent = lines.indent(last.start_point[0] + 1)
        yield FaultSite("MisplacedReturn", line + 1, end, end, f"\n{indent}return{value};", "")


def _method_of(node: Node) -> int:
    here: Node | None = node
    while here is not None and here.type not in ("method_declaration", "constructor_declaration", "lambda_expression"):
        here = here.parent
    return here.id if here is not None else -1
