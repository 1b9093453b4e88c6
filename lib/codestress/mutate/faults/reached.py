"""Reachability of a Python program's parts: a fault in code that can never run is no fault.

The analysis walks over the statements as compilers do. A condition may go either way unless literal
values decide it, a call may raise an exception, and a statement leads to the next statement or
jumps. Unreachable is a function inside a function that nothing calls, code behind a jump, an
endless loop without `break`, a branch of which every part jumps, `raise`, a call that ends the
program, or a call of a function that never returns. A context manager swallows an exception only if
its name says so.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from codestress.mutate.faults.dead import NOTHING, truth
from codestress.mutate.faults.trees import blocks
from codestress.mutate.scopes import FunctionNode, parameters

NEXT, BREAK, CONTINUE, RETURN = "next", "break", "continue", "return"
EXITS = {"exit", "quit", "sys.exit", "os._exit", "os.abort"}
"""Calls that end the program."""
ENDLESS = {"count", "cycle", "itertools.count", "itertools.cycle"}
"""Iterators without an end."""
SWALLOWS = {
    "suppress",
    "raises",
    "assertRaises",
    "assertRaisesRegex",
    "ExitStack",
    "AsyncExitStack",
}
"""Context managers that may swallow an exception."""
SAFE = (
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
"""Types of nodes that raise no exception, unless one of their own parts does."""
Ways = set[str]
"""Ways out of a statement or a block: `next` (the statement behind it), `break`, `continue`,
`return`; empty where control never leaves it normally."""


@dataclass
class Flow:
    """Result of `python_flow` or `java_flow`: its `reached` are the ids of the nodes of a syntax
    tree that can run (Python's `id`, or tree-sitter's)."""

    reached: set[int] = field(default_factory=set)
    completing: set[int] = field(default_factory=set)
    """Ids of the statements that may lead to the next statement."""


def python_flow(tree: ast.Module) -> Flow:
    """Returns the parts of a Python program that can run, as a `Flow` of Python's `id` of the nodes
    of `tree`."""
    endless, uncalled = frozenset[str](), _uncalled(tree)
    while True:
        walk = _Walk(endless, uncalled)
        walk.block(tree.body)
        more = endless | _never_return(tree, walk.ways)
        if more == endless:
            return walk.flow
        endless = more


def _uncalled(tree: ast.Module) -> set[int]:
    """Ids of the functions inside functions that nothing calls: no decorator has them, and no code
    reads their name. Empty where the program may find names by their texts."""
    functions, read = list[FunctionNode](), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                functions.append(node)
            case ast.Name(name, ast.Load()):
                read.add(name)
            case ast.Global(names) | ast.Nonlocal(names):
                read.update(names)
    if read & {"eval", "exec", "locals", "vars"}:
        return set()
    inside = [block for function in functions for _, block in blocks(function)]
    return {
        id(one)
        for one in chain.from_iterable(inside)
        if isinstance(one, FunctionNode)
        and one.name not in read
        and not one.decorator_list
    }


def _never_return(tree: ast.Module, ways: Mapping[int, Ways]) -> set[str]:
    """Names that stand only for functions that never return; `ways` holds the ways out of each
    function's body (`Ways`), by the id of the function."""
    endless, others = set[str](), set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name) if not _returns(node, ways):
                endless.add(name)
            case (
                ast.FunctionDef(name)
                | ast.AsyncFunctionDef(name)
                | ast.ClassDef(name)
                | ast.Name(name, ast.Store())
                | ast.arg(name)
                | ast.alias(asname=str(name))
                | ast.alias(name)
            ):
                others.add(name)
    return endless - others


def _returns(function: ast.FunctionDef, ways: Mapping[int, Ways]) -> bool:
    """Whether a call of a function may return, by the `ways` out of all functions' bodies;
    generators and decorated functions count as returning."""
    yields = any(
        isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(function)
    )
    left = ways.get(id(function), {NEXT}) & {NEXT, RETURN}
    return bool(function.decorator_list or yields or left)


class _Walk:
    """One walk over a Python program; its `flow` collects what can run. The arguments: `endless`
    are names of functions known never to return, `uncalled` ids of those that nothing calls."""

    def __init__(self, endless: frozenset[str], uncalled: set[int]) -> None:
        self.endless = endless
        self.uncalled = uncalled
        self.flow = Flow()
        self.ways: dict[int, Ways] = {}
        """Ways out of functions' bodies, by the ids of the functions."""
        self.parameters = frozenset[str]()
        """Parameters of the function that is walked: names that certainly have a value."""

    def block(self, statements: Iterable[ast.stmt]) -> Ways:
        """Walks statements up to one that cannot lead to the next, and returns the ways out of the
        block (`Ways`: `next`, `return`, …)."""
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
        """Marks an expression, and the parts of it that may be evaluated, as reached."""
        self.flow.reached.add(id(node))
        parts: Sequence[ast.AST] = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.BoolOp):
            decides = isinstance(node.op, ast.Or)
            known = [decision(value) for value in node.values]
            parts = (
                node.values[: known.index(decides) + 1]
                if decides in known
                else node.values
            )
        elif isinstance(node, ast.IfExp):
            chosen = {True: node.body, False: node.orelse, None: None}[
                decision(node.test)
            ]
            parts = [node.test, chosen] if chosen else parts
        for part in parts:
            self.expression(part)

    def left(self, node: ast.stmt) -> Ways:
        """Returns the ways out of a statement (`Ways`: `next`, `return`, …), and walks the blocks
        inside the statement, whose runnable parts are added to the walk's `flow`."""
        match node:
            case ast.Return():
                return {RETURN}
            case ast.Raise():
                return set()
            case ast.Break():
                return {BREAK}
            case ast.Continue():
                return {CONTINUE}
            case ast.Assert():
                return set() if decision(node.test) is False else {NEXT}
            case ast.If():
                known = decision(node.test)
                then = self.block(node.body) if known is not False else set()
                return then | (self.block(node.orelse) if known is not True else set())
            case ast.While():
                known = decision(node.test)
                return self.loop(
                    node, enters=known is not False, ends=known is not True
                )
            case ast.For() | ast.AsyncFor():
                ends = not _is_endless(node.iter)
                return self.loop(node, enters=not _is_empty(node.iter), ends=ends)
            case ast.With() | ast.AsyncWith():
                ways = self.block(node.body)
                managers = {
                    _called(item.context_expr).rpartition(".")[2] for item in node.items
                }
                return (
                    ways | {NEXT}
                    if managers & SWALLOWS and self.raises(node.body)
                    else ways
                )
            case ast.Try() | ast.TryStar():
                return self.tried(node)
            case ast.Match():
                return self.matched(node)
            case ast.ClassDef():
                return self.block(node.body)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if (
                id(node) not in self.uncalled
            ):
                self.function(node)
        return set() if self.never_ends(node) else {NEXT}

    def loop(
        self, node: ast.For | ast.AsyncFor | ast.While, *, enters: bool, ends: bool
    ) -> Ways:
        inside = self.block(node.body) if enters else set()
        after = self.block(node.orelse) if ends else set()
        return after | (inside & {RETURN}) | ({NEXT} if BREAK in inside else set())

    def tried(self, node: ast.Try | ast.TryStar) -> Ways:
        ways = self.block(node.body)
        if NEXT in ways:
            ways = (ways - {NEXT}) | self.block(node.orelse)
        if self.raises(node.body):
            caught: tuple[type, ...] = ()
            for handler in node.handlers:
                types = _exceptions(handler.type)
                if types and all(issubclass(one, caught) for one in types):
                    continue
                caught += types
                self.flow.reached.add(id(handler))
                if handler.type:
                    self.expression(handler.type)
                ways |= self.block(handler.body)
        last = self.block(node.finalbody)
        return last if NEXT not in last else ways | (last - {NEXT})

    def matched(self, node: ast.Match) -> Ways:
        """Walks the cases of a `match` in order, up to a case that matches everything, and returns
        the ways out of the statement (`Ways`: `next`, `return`, …)."""
        ways: Ways = set()
        for case in node.cases:
            self.flow.reached.add(id(case))
            known = decision(case.guard) if case.guard else True
            if case.guard:
                self.expression(case.guard)
            if known is not False:
                ways |= self.block(case.body)
            if known is True and _matches_all(case.pattern):
                return ways
        return ways | {NEXT}

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        outer = self.parameters
        self.parameters = frozenset(parameter.arg for parameter in parameters(node))
        self.ways[id(node)] = self.block(node.body)
        self.parameters = outer

    def never_ends(self, node: ast.stmt) -> bool:
        """Whether a statement is, or assigns, a call that never returns."""
        if not isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign):
            return False
        return _called(node.value) in EXITS | self.endless

    def raises(self, body: Sequence[ast.stmt]) -> bool:
        """Whether any statement of a block has a part that this walk reached and that may raise an
        exception."""
        return any(self.may_raise(statement) for statement in body)

    def may_raise(self, node: ast.AST) -> bool:
        if id(node) not in self.flow.reached:
            return False
        if isinstance(node, ast.Name):
            return isinstance(node.ctx, ast.Load) and node.id not in self.parameters
        parts = ast.iter_child_nodes(node)
        return not isinstance(node, SAFE) or any(map(self.may_raise, parts))


def decision(test: ast.expr) -> bool | None:
    """Truth value that a Python condition always has; None if it depends on more than literals.
    `TYPE_CHECKING` counts as false."""
    if isinstance(test, ast.BoolOp):
        decides = isinstance(test.op, ast.Or)
        known = [decision(value) for value in test.values]
        if decides in known:
            return decides
        return None if None in known else not decides
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        operand = decision(test.operand)
        return None if operand is None else not operand
    if isinstance(test, ast.Name | ast.Attribute):
        return (
            False if ast.unparse(test).rpartition(".")[2] == "TYPE_CHECKING" else None
        )
    return truth(test)


def _called(node: ast.expr | None) -> str:
    """Name of the function that an expression calls, with dots as in `sys.exit`; empty if the
    expression is no call or does not call by a name."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        return ast.unparse(node.func)
    return ""


def _is_empty(node: ast.expr) -> bool:
    """Whether an iterable certainly has no elements, as its text shows: `[]`, `range(5, 5)`,
    `zip([], names)`."""
    match node:
        case ast.Call(ast.Name("zip"), arguments, []):
            return any(map(_is_empty, arguments))
        case ast.Call(
            ast.Name("enumerate" | "reversed" | "sorted" | "iter"), [argument], []
        ):
            return _is_empty(argument)
        case ast.Call(ast.Name("range"), arguments, []):
            try:
                return not range(*map(ast.literal_eval, arguments))
            except (ValueError, TypeError):
                return False
    return ast.unparse(node) in NOTHING


def _is_endless(node: ast.expr) -> bool:
    """Whether an iterator certainly has no end: `count()`, `cycle(…)`, `repeat(x)` without a
    number."""
    name = _called(node)
    if name.rpartition(".")[2] == "repeat" and isinstance(node, ast.Call):
        return len(node.args) == 1 and not node.keywords
    return name in ENDLESS


def _exceptions(caught: ast.expr | None) -> tuple[type, ...]:
    """Exception types that an `except` clause catches, from the expression behind `except`:
    `BaseException` without one; an empty tuple if a type is not built in."""
    if caught is None:
        return (BaseException,)
    names = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    values = [
        getattr(builtins, name.id, None) for name in names if isinstance(name, ast.Name)
    ]
    types = tuple(value for value in values if isinstance(value, type))
    return types if len(types) == len(names) else ()


def _matches_all(pattern: ast.pattern) -> bool:
    """Whether a pattern matches every value: a name or `_`, alone or among alternatives."""
    if isinstance(pattern, ast.MatchOr):
        return any(map(_matches_all, pattern.patterns))
    if isinstance(pattern, ast.MatchAs):
        return pattern.pattern is None or _matches_all(pattern.pattern)
    return False
