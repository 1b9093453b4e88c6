"""Reachable parts of a Python program: no fault is made in the others.

The walk follows the statements in the order in which they run. A condition may go either way unless
literal values decide it, and a call may raise an exception. Behind a statement that does not lead
to the next one, nothing is reached.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from dataclasses import dataclass, field

from codestress.mutate.faults.dead import NOTHING, truth
from codestress.mutate.faults.trees import written
from codestress.mutate.scopes import FunctionNode

NEXT, BREAK, CONTINUE, RETURN = "next", "break", "continue", "return"
Ways = set[str]
"""Ways out of a statement or a block: `next` (the statement behind it), `break`, `continue`,
`return`; empty where control never leaves it normally."""
ENDING = {"exit", "quit", "sys.exit", "os._exit", "os.abort", "parser.error"}
"""Calls that end the program."""
ENDLESS = ("itertools.count", "itertools.cycle")
"""Iterators without an end."""
SWALLOWING = [
    "suppress",
    "raises",
    "assertRaises",
    "assertRaisesRegex",
    "ExitStack",
    "AsyncExitStack",
]
"""Context managers that may swallow an exception."""
FINDING = {"eval", "exec", "locals", "vars"}
"""Functions that find a program's names by their texts."""
QUIET = (
    ast.Constant,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.Return,
    ast.Assign,
    ast.Expr,
    ast.Global,
    ast.Nonlocal,
    ast.expr_context,
)
"""Nodes that raise no exception, unless one of their parts does."""


@dataclass
class Flow:
    """Parts of a program that can run, as ids of the nodes of a syntax tree (Python's `id`, or
    tree-sitter's)."""

    reached: set[int] = field(default_factory=set)
    completing: set[int] = field(default_factory=set)
    """Statements that may lead to the next statement."""


def python_flow(tree: ast.Module) -> Flow:
    """Returns the parts of a Python program that can run, by Python's `id` of its nodes."""
    stopping = set[str]()
    while True:
        walk = _Walk(tree, stopping)
        walk.block(tree.body)
        more = walk.stopping - walk.returning - walk.bound
        if more <= stopping:
            return walk.flow
        stopping |= more


class _Walk:
    """One walk over a Python program. It is given the names of functions that never return, as far
    as they are known, and finds others in `stopping`."""

    def __init__(self, tree: ast.Module, known: Iterable[str]) -> None:
        self.flow = Flow()
        self.imported = _imported(tree)
        self.stopping = set[str]()
        """Names of functions that never return."""
        self.returning = set[str]()
        """Names of functions that may return."""
        self.bound = set[str]()
        """Names that stand for anything else."""
        self.read = set[str]()
        self.nested = False
        """Whether the walk is inside a function, and in no class inside it."""
        defined = set[str]()
        for node in ast.walk(tree):
            match node:
                case ast.Name(name, ast.Load()):
                    self.read.add(name)
                case ast.Global(names) | ast.Nonlocal(names):
                    self.read.update(names)
                case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
                    defined.add(name)
                case ast.Name(name) | ast.arg(name):
                    self.bound.add(name)
                case ast.alias(name, other):
                    self.bound.add(other or name.partition(".")[0])
                case _:
                    self.bound.add(str(getattr(node, "name", "")))
        self.ending = (ENDING - self.bound - defined) | {*known}

    def block(self, statements: Iterable[ast.stmt]) -> Ways:
        """Walks statements up to one that does not lead to the next, and returns the ways out."""
        ways = {NEXT}
        for statement in statements:
            if NEXT not in ways:
                break
            ways = (ways - {NEXT}) | self.statement(statement)
        return ways

    def statement(self, node: ast.stmt) -> Ways:
        self.flow.reached.add(id(node))
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
                self.expression(part)
        ways = self.left(node)
        if NEXT in ways:
            self.flow.completing.add(id(node))
        return ways

    def expression(self, node: ast.AST) -> None:
        self.flow.reached.add(id(node))
        for part in _evaluated(node):
            self.expression(part)

    def left(self, node: ast.stmt) -> Ways:
        """Walks the blocks inside a statement and returns the ways out of the statement."""
        match node:
            case ast.Return() | ast.Break() | ast.Continue():
                return {type(node).__name__.lower()}
            case ast.Raise():
                return set()
            case ast.Assert(test) if decision(test) is False:
                return set()
            case ast.Expr(value) | ast.Assign(value=value) | ast.AnnAssign(value=value):
                return set() if self.called(value) in self.ending else {NEXT}
            case ast.If(test, body, orelse):
                known = decision(test)
                then = self.block(body) if known is not False else set()
                return then | (self.block(orelse) if known is not True else set())
            case ast.While(test):
                known = decision(test)
                return self.loop(node, known is not False, known is not True)
            case ast.For(iter=items) | ast.AsyncFor(iter=items):
                return self.loop(node, not _is_empty(items), not self.is_endless(items))
            case ast.With() | ast.AsyncWith():
                return self.managed(node)
            case ast.Try() | ast.TryStar():
                return self.tried(node)
            case ast.Match():
                return self.matched(node)
            case ast.ClassDef(body=body):
                return self.inside(body, nested=False)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.function(node)
        return {NEXT}

    def loop(
        self, node: ast.For | ast.AsyncFor | ast.While, enters: bool, ends: bool
    ) -> Ways:
        inside = self.block(node.body) if enters else set()
        ways = self.block(node.orelse) if ends else set()
        if BREAK in inside:
            ways.add(NEXT)
        return ways | (inside & {RETURN})

    def managed(self, node: ast.With | ast.AsyncWith) -> Ways:
        ways = self.block(node.body)
        for item in node.items:
            name = self.called(item.context_expr).rpartition(".")[2]
            if name in SWALLOWING and self.raises(node.body):
                ways.add(NEXT)
        return ways

    def tried(self, node: ast.Try | ast.TryStar) -> Ways:
        ways = self.block(node.body)
        if NEXT in ways:
            ways = (ways - {NEXT}) | self.block(node.orelse)
        caught: tuple[type, ...] = ()
        for handler in node.handlers if self.raises(node.body) else []:
            kinds = _caught_by(handler)
            if kinds and all(issubclass(kind, caught) for kind in kinds):
                continue
            caught += kinds
            self.flow.reached.add(id(handler))
            ways |= self.block(handler.body)
            if isinstance(node, ast.TryStar):  # where Python takes no return
                self.flow.completing -= {id(part) for part in ast.walk(handler)}
        last = self.block(node.finalbody)
        return ways | (last - {NEXT}) if NEXT in last else last

    def matched(self, node: ast.Match) -> Ways:
        """Walks the cases of a `match` up to one that matches everything. A `match` of a tuple, of
        both truth values, or of values of one class (an enumeration) counts as complete, since it
        often is."""
        ways = set[str]()
        values = set[str]()
        for case in node.cases:
            self.flow.reached.add(id(case))
            known: bool | None = True
            if case.guard:
                self.expression(case.guard)
                known = decision(case.guard)
            if known is not False:
                ways |= self.block(case.body)
            if known is True and _matches_all(case.pattern):
                return ways
            values.update(_matched(case.pattern) if known else [""])
        of_class = len(node.cases) > 1 and len(values) == 1 and "" not in values
        complete = of_class or values == {"True", "False"}
        tuples = isinstance(node.subject, ast.Tuple)
        return ways if complete or tuples else ways | {NEXT}

    def function(self, node: FunctionNode) -> None:
        """Walks a function, unless it is inside a function and nothing calls it."""
        decorated = bool(node.decorator_list)
        found = node.name in self.read or self.read & FINDING
        if self.nested and not decorated and not found:
            return
        ways = self.inside(node.body, nested=True)
        yields = any(
            isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node)
        )
        later = yields or decorated or isinstance(node, ast.AsyncFunctionDef)
        returns = later or ways & {NEXT, RETURN}
        (self.returning if returns else self.stopping).add(node.name)

    def inside(self, body: list[ast.stmt], *, nested: bool) -> Ways:
        outer = self.nested
        self.nested = nested
        ways = self.block(body)
        self.nested = outer
        return ways

    def called(self, node: ast.expr | None) -> str:
        """Name of the function that an expression calls, with dots as in `sys.exit`, whatever the
        import calls it; empty if the expression is no call or does not call by a name."""
        if isinstance(node, ast.Call) and isinstance(
            node.func, ast.Name | ast.Attribute
        ):
            first, dot, rest = written(node.func).partition(".")
            return self.imported.get(first, first) + dot + rest
        return ""

    def is_endless(self, node: ast.expr) -> bool:
        """Whether an iterator certainly has no end: `count()`, `cycle(…)`, `repeat(x)` without a
        number."""
        match node:
            case ast.Call(args=[_], keywords=[]):
                return self.called(node) in (*ENDLESS, "itertools.repeat")
        return self.called(node) in ENDLESS

    def raises(self, body: list[ast.stmt]) -> bool:
        """Whether a block has a reached part that may raise an exception."""
        return any(self.may_raise(statement) for statement in body)

    def may_raise(self, node: ast.AST) -> bool:
        if id(node) not in self.flow.reached:
            return False
        if isinstance(node, ast.Name):
            return isinstance(node.ctx, ast.Load) and node.id not in self.bound
        parts = ast.iter_child_nodes(node)
        return not isinstance(node, QUIET) or any(map(self.may_raise, parts))


def decision(test: ast.expr) -> bool | None:
    """Truth value that a Python condition always has; None if it depends on more than literals.
    `TYPE_CHECKING` counts as false."""
    match test:
        case ast.BoolOp(op, values):
            decides = isinstance(op, ast.Or)
            known = [decision(value) for value in values]
            if decides in known:
                return decides
            return None if None in known else not decides
        case ast.UnaryOp(ast.Not(), operand):
            operand_is = decision(operand)
            return None if operand_is is None else not operand_is
        case ast.Name("TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"):
            return False
    return truth(test)


def _evaluated(node: ast.AST) -> Iterable[ast.AST]:
    """Parts of an expression that may be evaluated."""
    match node:
        case ast.BoolOp(op, values):
            known = [decision(value) for value in values]
            decides = isinstance(op, ast.Or)
            return values[: known.index(decides) + 1] if decides in known else values
        case ast.IfExp(test, body, orelse) if decision(test) is not None:
            return [test, body if decision(test) else orelse]
    return ast.iter_child_nodes(node)


def _imported(tree: ast.Module) -> dict[str, str]:
    """Full names of what a program imports, by the names that it gives them: `sys.exit` by
    `leave`."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Import(aliases):
                names.update({one.asname: one.name for one in aliases if one.asname})
            case ast.ImportFrom(str(module), aliases):
                for alias in aliases:
                    names[alias.asname or alias.name] = f"{module}.{alias.name}"
    return names


def _is_empty(node: ast.expr) -> bool:
    """Whether an iterable certainly has no elements, as its text shows: `[]`, `range(5, 5)`,
    `zip([], names)`."""
    match node:
        case ast.Call(ast.Name("range"), arguments, []):
            try:
                return not range(*map(ast.literal_eval, arguments))
            except (ValueError, TypeError):
                return False
        case ast.Call(ast.Name("zip"), arguments):
            return any(map(_is_empty, arguments))
        case ast.Call(
            ast.Name("enumerate" | "reversed" | "sorted" | "iter"), [argument]
        ):
            return _is_empty(argument)
    return written(node) in NOTHING


def _caught_by(handler: ast.ExceptHandler) -> tuple[type, ...]:
    """Exceptions that an `except` clause catches; empty if one of them is not built in."""
    if handler.type is None:
        return (BaseException,)
    names = [node for node in ast.walk(handler.type) if isinstance(node, ast.Name)]
    kinds = [getattr(builtins, name.id, None) for name in names]
    types = tuple(kind for kind in kinds if isinstance(kind, type))
    return types if len(types) == len(kinds) else ()


def _matched(pattern: ast.pattern) -> list[str]:
    """What a pattern matches: `True`, `False`, or for a value such as `Colour.RED` its class;
    one of each alternative, and an empty text for any other pattern."""
    match pattern:
        case ast.MatchOr(patterns):
            return [word for part in patterns for word in _matched(part)]
        case ast.MatchSingleton(value):
            return [str(value)]
        case ast.MatchValue(ast.Attribute(owner)):
            return [ast.unparse(owner)]
    return [""]


def _matches_all(pattern: ast.pattern) -> bool:
    """Whether a pattern matches every value: a name or `_`, alone or among alternatives."""
    match pattern:
        case ast.MatchOr(patterns):
            return any(map(_matches_all, patterns))
        case ast.MatchAs(inner):
            return inner is None or _matches_all(inner)
    return False
