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
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from codestress.generation.edits import Edit, Lines, edited, first_line
from codestress.generation.scopes import FunctionNode
from codestress.papers.faultloc.faults.compiles import Declared, may_return, may_swap_logic
from codestress.papers.faultloc.faults.trees import JAVA_METHODS, NotNeutral, around, blocks, java_root, tree_of
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

    from codestress.papers.faultloc.programs import CorrectProgram

Kind = Literal["OffByOne", "MisplacedReturn", "IncorrectBooleanLogic", "OperatorSwap"]
KINDS: tuple[Kind, ...] = ("OffByOne", "MisplacedReturn", "IncorrectBooleanLogic", "OperatorSwap")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
BOOLEAN = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
ARITHMETIC = ("+", "-", "*", "/")
SWAPS: dict[str, tuple[Kind, list[str]]] = {
    **{sign: ("OffByOne", [other]) for sign, other in COMPARISONS.items()},
    **{sign: ("IncorrectBooleanLogic", [other]) for sign, other in BOOLEAN.items()},
    **{sign: ("OperatorSwap", [other for other in ARITHMETIC if other != sign]) for sign in ARITHMETIC},
}
"""For each operator the fault that another makes in its place, and which others do."""


@dataclass(frozen=True)
class FaultSite(Edit):
    """An edit that makes one fault."""

    kind: Kind
    line: int
    """The faulty line of the program that results, from 1 on."""
    before: str = ""
    """What stood there."""

    def apply(self, code: str) -> str:
        return edited(code, [self])

    def undo(self, code: str) -> str:
        """The seed, from the program that `apply` gave."""
        return edited(code, [Edit(self.start, self.start + len(self.text), self.before)])


def fault_sites(code: str, language: Language) -> list[FaultSite]:
    """All places where a fault can be made, in the order of the text. None where the program does not parse."""
    try:
        found = _python_sites(tree_of(code), code) if language == "python" else _java_sites(java_root(code), code)
        unique = {(site.kind, site.start, site.end, site.text): site for site in found}
    except NotNeutral:
        return []
    return sorted(unique.values(), key=lambda site: (site.start, site.kind, site.text))


@cache
def _silent() -> dict[str, list[list[str | int]]]:
    """Made by bench/silent.py, which runs all of them."""
    return dict(json.loads((files(__package__) / "silent.json").read_text(encoding="utf-8")))


def is_silent(program: CorrectProgram, site: FaultSite) -> bool:
    """Whether no run of one of the kit's own Java programs shows the fault: it may be equivalent, and is not asked
    about (section IV-A asks for faults, not for changes)."""
    return bool(program.runs) and [site.kind, site.start, site.text] in _silent().get(program.id, [])


def _replaced(kind: Kind, lines: Lines, start: int, end: int, texts: Iterable[str]) -> Iterator[FaultSite]:
    for text in texts:
        yield FaultSite(start, end, text, kind, lines.line_of(start), lines.text[start:end])


def _swapped(
    lines: Lines, start: int, sign: str, allowed: Callable[[str], bool] = lambda _: True
) -> Iterator[FaultSite]:
    """Other operators in the place of one, where there are others that are allowed."""
    if sign in SWAPS:
        kind, others = SWAPS[sign]
        yield from _replaced(kind, lines, start, start + len(sign), filter(allowed, others))


def _return_behind(lines: Lines, line: int, like: int, statement: str) -> FaultSite:
    """A return in a line of its own behind a line, indented like another."""
    end = lines.end(line)
    return FaultSite(end, end, f"\n{lines.indent(like)}{statement}", "MisplacedReturn", line + 1)


# --- Python ---------------------------------------------------------------------------------------------------------

SWAPPED = ast.Add | ast.Sub | ast.Mult | ast.Div
TEXT_METHODS = ("join", "format", "lower", "upper", "strip", "decode", "encode", "replace")
TEXT_FUNCTIONS = ("str", "repr", "list", "tuple", "chr", "hex", "sorted")


def _python_sites(tree: ast.Module, code: str) -> Iterator[FaultSite]:
    lines = Lines.of(code)
    strings = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in strings:  # positions inside f-strings are unreliable before Python 3.12
            continue
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from _range_sites(node.iter, lines)
        if isinstance(node, FunctionNode):
            yield from _return_sites(node, lines)
        for left, right in _operands(node, strings):
            yield from _between(lines.span(left)[1], lines.span(right)[0], lines)


def _operands(node: ast.AST, strings: set[int]) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Pairs of operands between which an operator may be exchanged."""
    if isinstance(node, ast.While):
        for part in ast.walk(node.test):
            if isinstance(part, ast.Compare) and id(part) not in strings:
                yield from zip([part.left, *part.comparators], part.comparators, strict=False)
    elif isinstance(node, ast.BoolOp):
        yield from zip(node.values, node.values[1:], strict=False)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, SWAPPED) and not _texts(node):
        yield node.left, node.right
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, SWAPPED) and not _texts(node.value):
        yield node.target, node.value


def _between(start: int, end: int, lines: Lines) -> Iterator[FaultSite]:
    """Others in the place of the one operator that stands there, beside parentheses and comments."""
    words = re.finditer(r"#.*|\w+|[^\w\s()\\#]+", lines.text[start:end])
    found = [one for one in words if not one[0].startswith("#")]
    if len(found) == 1:
        sign = found[0][0]
        yield from _swapped(lines, start + found[0].start(), sign if sign in SWAPS else sign.removesuffix("="))


def _texts(node: ast.expr) -> bool:
    """Whether an operand is a text or a collection by its looks."""
    if isinstance(node, ast.BinOp):
        return _texts(node.left) or _texts(node.right)
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | bytes)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in TEXT_METHODS
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in TEXT_FUNCTIONS
    return isinstance(node, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp | ast.Dict | ast.Set)


def _range_sites(node: ast.expr, lines: Lines) -> Iterator[FaultSite]:
    """The stop of `range(stop)` and `range(start, stop, …)`, one more and one less."""
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[stop] | [_, stop] | [_, stop, _], keywords=[]):
            if any(isinstance(one, ast.Starred) for one in node.args) or stop.lineno != stop.end_lineno:
                return
        case _:
            return
    start, end = lines.span(stop)
    if isinstance(stop, ast.Constant) and type(stop.value) is int:
        changed = [str(stop.value - 1), str(stop.value + 1)]
    else:
        plain = isinstance(stop, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)
        plain = plain or (isinstance(stop, ast.BinOp) and isinstance(stop.op, ast.Add | ast.Sub | ast.Mult))
        held = lines.text[start:end] if plain else f"({lines.text[start:end]})"
        changed = [f"{held} - 1", f"{held} + 1"]
    yield from _replaced("OffByOne", lines, start, end, changed)


def _return_sites(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: Lines) -> Iterator[FaultSite]:
    """Before each statement of the body but the last ones that return, and at the end of blocks inside it."""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    for statement in body:
        passing = ast.Return | ast.Raise | ast.Pass | ast.Global | ast.Nonlocal | ast.Import
        if not isinstance(statement, passing) and not _before(statement, lines):
            first = first_line(statement)
            start = lines.starts[first - 1]
            yield FaultSite(start, start, f"{lines.indent(first)}return\n", "MisplacedReturn", first)
    for owner, block in blocks(function):
        if not isinstance(owner, ast.For | ast.AsyncFor | ast.While | ast.If) or block is not owner.body:
            continue
        last = block[-1]
        leaving = ast.Return | ast.Raise | ast.Continue | ast.Break | ast.Pass
        if isinstance(last, leaving) or _before(last, lines):
            continue
        line = last.end_lineno or last.lineno
        behind = lines.text[lines.at(line, last.end_col_offset or 0) : lines.end(line)].strip()
        if not behind or behind.startswith("#"):
            yield _return_behind(lines, line, first_line(last), "return")


def _before(statement: ast.stmt, lines: Lines) -> str:
    """What stands before a statement on its first line: another one, or the head of its block."""
    first = first_line(statement)
    return lines.text[lines.starts[first - 1] : lines.at(first, statement.col_offset)].strip("@ \t")


# --- Java -----------------------------------------------------------------------------------------------------------

JAVA_LOOPS = ("for_statement", "while_statement", "do_statement")
JAVA_BLOCKS = ("for_statement", "enhanced_for_statement", "while_statement", "if_statement")
JAVA_DEFAULTS = {
    **dict.fromkeys(("int", "long", "short", "byte", "char", "float", "double"), " 0"),
    **{"boolean": " false", "void": "", "": ""},
}
"""What a return gives, by the method's type; others give null."""
JAVA_TEXTS = {"toString", "join", "substring", "repeat", "format", "valueOf", "getName", "trim", "charAt", "concat"}


def _java_sites(root: Node, code: str) -> Iterator[FaultSite]:
    lines = Lines.of(code)
    declared = Declared.of(root)
    for node in nodes(root):
        operator = node.child_by_field_name("operator")
        if node.type in ("binary_expression", "assignment_expression") and operator is not None:
            start, end = lines.span(operator)
            value = node if node.type == "binary_expression" else node.child_by_field_name("right")
            sign = text_of(operator)
            sign = sign if value == node else sign.removesuffix("=")
            if sign in ARITHMETIC:
                glued = {code[start - 1], code[end : end + 1]} & set(ARITHMETIC)  # another would be read as part of it
                if value is not None and not glued and not _java_text(value):
                    yield from _swapped(lines, start, sign, partial(declared.swaps, node, sign))
            elif may_swap_logic(node) if sign in BOOLEAN else _in_loop_condition(node):
                yield from _swapped(lines, start, sign)
        elif node.type in JAVA_METHODS:
            yield from _java_returns(node, lines)


def _in_loop_condition(node: Node) -> bool:
    for here in around(node):
        if here.parent is not None and here.parent.type in JAVA_LOOPS:
            condition = here.parent.child_by_field_name("condition")
            return condition is not None and condition.start_byte <= node.start_byte < condition.end_byte
        if here.type in ("block", "lambda_expression", "method_declaration"):
            return False
    return False


def _java_text(node: Node) -> bool:
    """Whether a `+` joins texts, by its looks: a text, a character or `toString()` among the operands of its chain."""
    top = node
    while top.parent is not None and top.parent.type in ("binary_expression", "parenthesized_expression"):
        top = top.parent
    return any(
        part.type in ("string_literal", "character_literal")
        or (part.type == "method_invocation" and text_of(part.child_by_field_name("name")) in JAVA_TEXTS)
        for part in nodes(top)
    )


def _java_returns(method: Node, lines: Lines) -> Iterator[FaultSite]:
    """A return of a value of the method's type at the end of blocks of loops and conditions."""
    kind = text_of(method.child_by_field_name("type")) + text_of(method.child_by_field_name("dimensions"))
    value = JAVA_DEFAULTS.get(kind, " null")
    body = method.child_by_field_name("body")
    for node in nodes(body) if body is not None else ():
        if node.type != "block" or node.parent is None or node.parent.type not in JAVA_BLOCKS:
            continue
        if text_of(node.parent.child_by_field_name("condition")) in ("(true)", "true"):
            continue  # what follows could not be reached otherwise either
        if not may_return(node, method):
            continue
        last = [child for child in node.named_children if "comment" not in child.type][-1]
        closing = node.end_point[0]  # the line before that of the closing brace, from 1 on
        if node.start_point[0] < last.start_point[0] and last.end_point[0] < closing:
            yield _return_behind(lines, closing, last.start_point[0] + 1, f"return{value};")
