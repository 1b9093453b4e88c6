"""Places for messages in Python programs; and tracing: code added to the program records the values
of returns, the places for messages that the run of the call reached, and whether the value that an
assignment or a method may change stayed the same. This decides whether messages about the program
are true.
"""

import ast
import itertools
from collections.abc import Iterator, Sequence

from ..edits import first_line
from ..scopes import FunctionNode, statements
from .edits import MessageSite, stimuli

METHODS = frozenset(stimuli("messages")["methods"])
"""Methods of lists, sets, dictionaries and strings at whose calls a message may stand."""
KINDS: dict[str, str] = stimuli("python")["nodes"]
"""Kind of the place for messages at a statement, by the name of the statement's type, where that
alone decides."""


def message_sites(block: list[ast.stmt]) -> Iterator[MessageSite]:
    """Yields the places where a message may stand in the statements of a program, in the order of
    the text; each statement must stand on a line of its own."""
    returns = itertools.count()
    for statement, _ in statements(block):
        kind = _kind(statement)
        ordinal = next(returns) if kind == "return" else -1
        yield from _sites(statement, kind, ordinal)


def _kind(statement: ast.stmt) -> str:
    """Kind of the place for messages at a statement; empty where none may stand."""
    match statement:
        case ast.Assign([ast.Name()], ast.BinOp()):
            return "operator"
        case ast.Assign([ast.Name()]) | ast.AnnAssign(ast.Name(), _, ast.expr()):
            return "assignment"
    return KINDS.get(type(statement).__name__, "")


def _sites(statement: ast.stmt, kind: str, ordinal: int) -> Iterator[MessageSite]:
    """Yields the places for messages of one statement, without those of statements inside it: one
    of its `kind`, and one for each method of `METHODS` that it calls."""
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
    """Returns the statements `block` with the tracing code behind each `note_ran(NUMBER, KIND)`,
    which stands before each place for a message."""
    body: list[ast.stmt] = []
    numbers: dict[str, int] = {}
    for statement in block:
        body.append(statement)
        match statement:
            case ast.Expr(ast.Call(ast.Name("note_ran"), [place, kind])):
                # The first place of a kind; in a block, a condition's may come before.
                numbers.setdefault(ast.literal_eval(kind), ast.literal_eval(place))
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
    """Text of the target that an assignment changes, such as `n`; empty where reading the target
    may have an effect, where it is unclear what a claim about the assignment means, and for other
    statements."""
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
    """Calls of methods of `METHODS` in a statement, each with what it calls, without those in
    statements inside it; empty for definitions of functions and classes."""
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
