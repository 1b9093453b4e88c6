"""Places for messages in Python programs, and tracing.

Tracing adds code that records a run of the call: the values of returns, the places for
messages reached, and whether an assignment or a method changed a value. The record
decides whether messages about the program are true.
"""

import ast
import itertools
from collections.abc import Iterator, Sequence

from ..edits import first_line
from ..scopes import FunctionNode, statements
from .edits import MessageSite, stimuli

METHODS = frozenset(stimuli("messages")["methods"])
"""Methods of lists, sets, dictionaries and strings at whose calls a message may stand.
"""
KINDS: dict[str, str] = stimuli("python")["nodes"]
"""Dict from the name of a statement's type to the kind of its place for messages, for
types that alone decide the kind."""


def message_sites(block: list[ast.stmt]) -> Iterator[MessageSite]:
    """Yield the places at which a message may stand in the statements of a program, in
    the order of the text.

    Each statement must stand on a line of its own.
    """
    returns = itertools.count()
    for statement, _ in statements(block):
        kind = _kind(statement)
        ordinal = next(returns) if kind == "return" else -1
        yield from _sites(statement, kind, ordinal)


def _kind(statement: ast.stmt) -> str:
    """Return the kind of the place for messages at a statement; empty if no message may
    stand there."""
    match statement:
        case ast.Assign([ast.Name()], ast.BinOp()):
            return "operator"
        case ast.Assign([ast.Name()]) | ast.AnnAssign(ast.Name(), _, ast.expr()):
            return "assignment"
    return KINDS.get(type(statement).__name__, "")


def _sites(statement: ast.stmt, kind: str, ordinal: int) -> Iterator[MessageSite]:
    """Yield the places for messages of one statement, without those of statements
    inside it.

    They are one place of its `kind`, and one for each method of `METHODS` that it
    calls.
    """
    body: list[ast.stmt] = getattr(statement, "body", [])
    above = inside = (first_line(statement), statement.col_offset)
    header_end = statement.end_lineno or statement.lineno
    if body:
        match body:
            case [ast.Expr(ast.Constant(str()))]:
                # Nothing may stand before a docstring.
                return
            case [ast.Expr(ast.Constant()), first, *_] | [first, *_]:
                inside = (first_line(first), first.col_offset)
        header_end = first_line(body[0]) - 1
    if kind:
        line = inside[0] if kind in ("while", "for") else header_end
        yield MessageSite(kind, line, *inside, ordinal=ordinal)
    calls = sorted(
        (method.end_lineno or 0, method.end_col_offset or 0, method.attr)
        for _, method in method_calls(statement)
    )
    start = inside if isinstance(statement, ast.If | ast.While) else above
    for method in dict.fromkeys(name for *_, name in calls):
        yield MessageSite(method, header_end, *start)


# --- tracing ---


def noted(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements `block` with tracing code after each `note_ran(NUMBER,
    KIND)`.

    A `note_ran` stands before each place for a message.
    """
    body: list[ast.stmt] = []
    numbers: dict[str, int] = {}
    for statement in block:
        body.append(statement)
        match statement:
            case ast.Expr(ast.Call(ast.Name("note_ran"), [place, kind])):
                # The last place of a kind is the statement's own. At the start of a block,
                # a place of the condition around the block may stand before it.
                numbers[ast.literal_eval(kind)] = ast.literal_eval(place)
                continue
        for call, method in method_calls(statement):
            if method.attr in numbers:
                site = ast.Constant(numbers[method.attr])
                call.args = [site, method.value, ast.Constant(method.attr), *call.args]
                call.func = ast.Name("note_call", ast.Load())
        number = numbers.get("operator", numbers.get("assignment"))
        target = _changed(statement)
        if number is not None and target:
            look = f"note_shown(lambda: {target})"
            body[-1:-1] = ast.parse(f"noted_{number} = {look}").body
            body += ast.parse(f"note_kept({number}, noted_{number}, {look})").body
        numbers = {}
    return body


def _changed(statement: ast.stmt) -> str:
    """Return the text of the target that an assignment changes, such as `n`.

    Return the empty text for other statements, if reading the target may have an
    effect, or if it is unclear what a claim about the assignment means.
    """
    match statement:
        case ast.AugAssign(target):
            calls = any(isinstance(part, ast.Call) for part in ast.walk(target))
            return "" if calls else ast.unparse(target)
        case ast.Assign([ast.Name(name)], value):
            names = [getattr(part, "id", "") for part in ast.walk(value)]
            return name if name in names or not isinstance(value, ast.BinOp) else ""
        case ast.AnnAssign(ast.Name(name)):
            return name
    return ""


def method_calls(statement: ast.stmt) -> list[tuple[ast.Call, ast.Attribute]]:
    """Return the calls of methods of `METHODS` in a statement, each with the attribute
    that it calls.

    Calls in statements inside the statement are left out. The list is empty for
    definitions of functions and classes.
    """
    calls = list[tuple[ast.Call, ast.Attribute]]()
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return calls
    for part in ast.iter_child_nodes(statement):
        if isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
            continue
        for node in ast.walk(part):
            match node:
                case ast.Call(ast.Attribute(attr=name) as method) if name in METHODS:
                    calls.append((node, method))
    return calls
