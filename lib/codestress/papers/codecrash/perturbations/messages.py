"""MCC and MPS: messages that lie about the code, as comments or as print statements (CodeCrash, appendix B.2).

Eight kinds of place: functions, returns, while, for, conditions, assignments, arithmetic assignments, and calls of
sixteen methods of lists, sets, dictionaries and strings. The messages are the kit's own (messages.yaml): 20 for each
kind, 5 for each method. A message at a return names a value; it is one that this return never gives in the problem's
call, found by running it.
"""

from __future__ import annotations

import ast
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import yaml

from codestress.generation.scopes import FunctionNode
from codestress.literals import NotLiteral, parse_literal
from codestress.papers.codecrash.perturbations.edits import Perturbed, Site
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem, literal_text
from codestress.types import Language

METHODS = frozenset(
    """
    append extend insert remove pop sort reverse update add split join replace lower upper capitalize swapcase
    """.split()  # noqa: SIM905
)
Format = Literal["comment", "print"]
USELESS: Mapping[str, Sequence[str]] = {
    "bool": ("False", "True"),
    "int": ("0", "-1", "1"),
    "float": ("0.0", "-1.0"),
    "str": ("''", "' '", "'None'"),
    "list": ("[]", "[0]", "[None]"),
    "tuple": ("()", "(0,)"),
    "dict": ("{}", "{0: 0}"),
    "set": ("set()", "{0}"),
}
"""Values that a return may be said to give, by the type of what it gives, best first."""
ANY = ("None", "0", "''")
"""For other types, and for returns that are not reached."""


@dataclass(frozen=True)
class MessageSite:
    """A place where a message may stand; lines count from 1 on, indents in spaces."""

    kind: str
    """A key of messages.yaml: function, return, …, or a method."""
    line: int
    """The line at whose end a comment stands, or before which, for loops."""
    print_line: int
    """The line before which a print statement stands."""
    print_indent: int
    own_line: bool = False
    """Comments on loops stand on a line of their own, before the first statement inside."""
    ordinal: int = -1
    """Of returns, in the order of the text."""


@cache
def messages() -> dict[str, list[str]]:
    """All messages by kind; those of methods under the methods' names."""
    content: dict[str, Any] = yaml.safe_load((files(__package__) / "messages.yaml").read_text(encoding="utf-8"))
    methods: dict[str, list[str]] = content.pop("methods")
    return {**content, **methods}


def insert_messages(
    problem: Problem, draw: Draw, *, style: Format, density: float, returned: Mapping[int, frozenset[str]]
) -> Perturbed:
    """Puts a message at each site with probability `density`.

    The same draw at a higher density has the same messages and more. `returned` has what each return statement gives,
    by its number in the text, as `repr` writes it: a message may not name that.
    """
    chosen = drawn_messages(message_sites(ast.parse(problem.code)), draw, density, returned)
    if not chosen:
        return Perturbed(problem)
    code = with_messages(problem.code, chosen, "# {}" if style == "comment" else "", "print({!r})")
    if style == "print":
        code = ast.unparse(ast.parse(code))
    return Perturbed(replace(problem, code=code), tuple(Site(site.line, site.kind, text) for site, text in chosen))


def drawn_messages(
    sites: Iterable[MessageSite],
    draw: Draw,
    density: float,
    returned: Mapping[int, frozenset[str]],
    language: Language = "python",
) -> list[tuple[MessageSite, str]]:
    """A message for each site that gets one. Every site draws, so that a higher density only adds to a lower one."""
    chosen = []
    for site in sites:
        wanted, message = draw.chance(density), draw.choice(messages()[site.kind])
        if wanted:
            value = literal_text(parse_literal(useless_value(returned.get(site.ordinal, frozenset()))).value, language)
            chosen.append((site, message.replace("{value}", value)))
    return chosen


def with_messages(code: str, chosen: Sequence[tuple[MessageSite, str]], comment: str, printed: str) -> str:
    """The program with its messages: as comments where `comment` says how they are written, else printed."""
    before, behind = defaultdict[int, list[str]](list), defaultdict[int, list[str]](list)
    for site, text in chosen:
        if not comment:
            before[site.print_line].append(" " * site.print_indent + printed.format(text))
        elif site.own_line:
            before[site.line].append(" " * site.print_indent + comment.format(text))
        else:
            behind[site.line].append(text)
    lines = []
    for number, line in enumerate(code.split("\n"), start=1):
        lines += before[number]
        lines.append(f"{line}    {comment.format(' '.join(behind[number]))}" if behind[number] else line)
    return "\n".join(lines)


def useless_value(seen: frozenset[str]) -> str:
    """A value of the type of those seen that is none of them; of other types when there is none."""
    values = [parse_literal(text).value for text in seen if _is_literal(text)]
    kinds = dict.fromkeys(type(value).__name__ for value in sorted(values, key=repr))
    candidates = [text for kind in kinds for text in USELESS.get(kind, ())] + [*ANY, "-1"]
    return next(text for text in candidates if text not in seen and parse_literal(text).value not in values)


def _is_literal(text: str) -> bool:
    try:
        parse_literal(text)
    except NotLiteral:
        return False
    return True


def message_sites(tree: ast.Module) -> Iterator[MessageSite]:
    """All sites of a program that was unparsed (a statement a line), in the order of the text."""
    returns = itertools.count()

    def visit(statements: Sequence[ast.stmt]) -> Iterator[MessageSite]:
        for statement in statements:
            yield from _sites(statement, returns)
            for block in blocks(statement):
                yield from visit(block)

    yield from visit(tree.body)


def blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements inside a statement, in the order of the text."""
    yield from (block for name in ("body",) if (block := getattr(statement, name, None)))
    for part in [*getattr(statement, "handlers", []), *getattr(statement, "cases", [])]:
        yield part.body
    yield from (block for name in ("orelse", "finalbody") if (block := getattr(statement, name, None)))


def _sites(statement: ast.stmt, returns: Iterator[int]) -> Iterator[MessageSite]:
    """The sites of one statement, without those of statements inside it."""
    body: list[ast.stmt] = getattr(statement, "body", [])
    above = (_first_line(statement), statement.col_offset)
    inside = above
    header_end = statement.end_lineno or statement.lineno
    if body:
        first = body[1] if _is_docstring(body[0]) and len(body) > 1 else body[0]
        inside = (_first_line(first), first.col_offset)
        header_end = _first_line(body[0]) - 1
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield MessageSite("function", header_end, *inside)
        case ast.Return():
            yield MessageSite("return", header_end, *above, ordinal=next(returns))
        case ast.While():
            yield MessageSite("while", inside[0], *inside, own_line=True)
        case ast.For() | ast.AsyncFor():
            yield MessageSite("for", inside[0], *inside, own_line=True)
        case ast.If():
            yield MessageSite("condition", header_end, *inside)
        case ast.AugAssign() | ast.Assign(targets=[ast.Name()], value=ast.BinOp()):
            yield MessageSite("operator", header_end, *above)
        case ast.Assign(targets=[ast.Name()]) | ast.AnnAssign(target=ast.Name(), value=ast.expr()):
            yield MessageSite("assignment", header_end, *above)
    place = inside if isinstance(statement, ast.If | ast.While) else above
    for method in _methods(statement):
        yield MessageSite(method, header_end, *place)


def _first_line(statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    return int(min([statement.lineno, *(one.lineno for one in decorators)]))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _methods(statement: ast.stmt) -> list[str]:
    """Names of the methods with messages that a statement calls itself, each once, in the order of the text."""
    if isinstance(statement, FunctionNode | ast.ClassDef):
        return []
    found: list[tuple[int, int, str]] = []
    waiting: list[ast.AST] = [child for child in ast.iter_child_nodes(statement) if not isinstance(child, ast.stmt)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.ExceptHandler | ast.match_case):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            found.append((node.func.end_lineno or 0, node.func.end_col_offset or 0, node.func.attr))
        waiting.extend(ast.iter_child_nodes(node))
    return list(dict.fromkeys(name for *_, name in sorted(found)))
