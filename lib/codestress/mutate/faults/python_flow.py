"""Parts of a Python program that cannot run: no fault is made in them.

Rules refuse rather than prove. A statement that does not lead to the next one by these few rules
counts as an end, and all behind an end counts as dead. So every part that is not dead can run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from codestress.mutate.scopes import FunctionNode, own_blocks

Loop = ast.For | ast.AsyncFor | ast.While
ENDING = {"exit", "quit", "_exit", "abort"}
"""Functions that end the program."""
ENDLESS = {"count", "cycle", "repeat"}
"""Functions of `itertools` that return iterators without an end."""
WRAPPERS = ("zip", "enumerate", "reversed", "sorted", "iter")
"""Built-ins that return nothing for an argument without elements."""
EMPTY = ("[]", "()", "{}", "''", "b''", "dict()", "list()", "set()")


class PythonFlow:
    """Flow of control in one program, by the rules."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.names: dict[str, str] = {}
        """Names that imports give to functions of `ENDING` and `ENDLESS`."""
        self.read = set[str]()
        """Names that the program reads."""
        functions = list[ast.FunctionDef]()
        for node in ast.walk(tree):
            match node:
                case ast.Name(name, ast.Load()):
                    self.read.add(name)
                case ast.alias(name, str(other)):
                    self.names[other] = name
                case ast.FunctionDef(decorator_list=[]):
                    functions.append(node)
        self.stopping = {*ENDING}
        """Names of functions that never return."""
        while never := [one for one in functions if self.stops(one)]:
            self.stopping.update(one.name for one in never)
            functions = [one for one in functions if one not in never]

    def stops(self, function: ast.FunctionDef) -> bool:
        """Whether a function never returns, by its body."""
        for block in own_blocks(function):
            if any(isinstance(node, ast.Return) for node in self.first(block)):
                return False
        nodes = ast.walk(function)
        later = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in nodes)
        return not later and not self.lead_on(function.body)

    def called(self, node: ast.AST | None) -> str:
        """Last part of the name that an expression calls, such as `exit` in `sys.exit()`, whatever
        an import calls it; empty for any other expression."""
        match node:
            case ast.Call(ast.Attribute(ast.Name("parser"), "error")):
                return "exit"
            case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
                return self.names.get(name, name)
        return ""

    def lead_on(self, block: Sequence[ast.stmt]) -> bool:
        """Whether control may pass the end of a block."""
        return all(map(self.leads_on, block))

    def leads_on(self, node: ast.stmt) -> bool:
        """Whether a statement may lead to the next one."""
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return False
            case ast.Assert(test):
                return not decided(test)
            case ast.Expr() | ast.Assign() | ast.AnnAssign():
                return self.called(node.value) not in self.stopping
            case ast.While(test, body) if decided(test):  # which may have no end
                return self.breaks(body)
            case ast.If(test, body, orelse):
                both = [self.lead_on(body), self.lead_on(orelse)]
                return all(both) if decided(test) else any(both)
            case ast.For() | ast.AsyncFor() | ast.While():
                ends = not self.is_endless(node) and self.lead_on(node.orelse)
                return ends or self.breaks(node.body)
            case ast.Try(body, handlers, orelse, last):
                caught = handlers[: _raises(body[0])]
                ways = [[*body, *orelse], *(one.body for one in caught)]
                return self.lead_on(last) and any(map(self.lead_on, ways))
            case ast.With() | ast.AsyncWith():
                return self.lead_on(node.body)
            case ast.TryStar() | ast.Match():
                return False
        return True

    def is_endless(self, node: Loop) -> bool:
        if isinstance(node, ast.While):
            return isinstance(node.test, ast.Constant) and bool(node.test.value)
        return self.called(node.iter) in ENDLESS

    def breaks(self, block: Sequence[ast.stmt]) -> bool:
        """Whether a condition in the body of a loop has a `break` that leaves the loop."""
        for node in self.first(block):
            if isinstance(node, ast.If):
                for way in self.live(node):
                    if isinstance(self.first(way)[-1], ast.Break):
                        return True
        return False

    def first(self, block: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
        """Statements of a block up to the first that does not lead on."""
        for number, statement in enumerate(block, start=1):
            if not self.leads_on(statement):
                return block[:number]
        return block

    def live(self, node: ast.AST) -> list[list[ast.stmt]]:
        """Blocks of a statement that may run, as far as the rules say."""
        body: list[ast.stmt] = getattr(node, "body", [])
        match node:
            case ast.If(test) if decided(test):
                return []
            case ast.For(iter=items, orelse=orelse) if is_empty(items):
                return [orelse]
            case ast.For() | ast.AsyncFor() | ast.While() if self.is_endless(node):
                return [body]
            case ast.While(test, orelse=orelse) if decided(test):
                return [orelse]
            case ast.TryStar() | ast.Match():
                return []
            case ast.Try(body, handlers, orelse, last):
                # A later clause may catch what an earlier one has caught.
                caught = [one.body for one in handlers[: _raises(body[0])]]
                return [body, *caught, last, orelse if self.lead_on(body) else []]
        return blocks_in(node)

    def dead(self) -> set[int]:
        """Python's `id` of each node that cannot run, or where a fault is refused."""
        dead = set[int]()
        for node in ast.walk(self.tree):
            for part in [] if id(node) in dead else self.refused(node):
                dead.update(map(id, ast.walk(part)))
        return dead

    def refused(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields the parts of a node that cannot run, or where a fault is refused."""
        live = self.live(node)
        for block in blocks_in(node):
            yield from block[len(self.first(block)) if block in live else 0 :]
        match node:
            case ast.JoinedStr():  # positions inside are unreliable before Python 3.12
                yield node
            case ast.BoolOp(values=[*values, _]) if any(map(decided, values)):
                yield node
            case ast.IfExp(test) if decided(test):
                yield node
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for loop in node.generators:
                    if is_empty(loop.iter) or any(map(decided, loop.ifs)):
                        yield node
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                for part in ast.walk(node):
                    if part is not node and isinstance(part, FunctionNode):
                        called = part.name in self.read or part.decorator_list
                        yield from [] if called else [part]

    def leaving(
        self, block: Sequence[ast.stmt], ends: bool = True, broken: bool = False
    ) -> Iterator[list[ast.stmt]]:
        """Yields the bodies of the loops and conditions in a block of a function at whose end a
        return may be inserted: control passes the end, and the function does not return there
        anyway. `ends` says whether it does so behind the block, `broken` behind a `break` in it."""
        for number, node in enumerate(block, start=1):
            if isinstance(node, FunctionNode | ast.ClassDef):
                continue
            here = _returns_at(block[number:], ends, broken)
            loops = isinstance(node, Loop)
            if isinstance(node, Loop | ast.If) and self.lead_on(node.body):
                yield from [] if here and not loops else [node.body]
            split = loops or (isinstance(node, ast.Try) and node.orelse)
            for inner in blocks_in(node):
                first = inner is getattr(node, "body", None)
                inside = here and not (first and split)
                yield from self.leaving(inner, inside, here if loops else broken)


def blocks_in(node: ast.AST) -> list[list[ast.stmt]]:
    """Lists of statements in a statement, without empty ones."""
    names = ("body", "orelse", "finalbody")
    blocks = [getattr(node, name, []) for name in names]
    for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        blocks.append(part.body)
    return [block for block in blocks if isinstance(block, list) and block]


def _returns_at(rest: Sequence[ast.stmt], ends: bool, broken: bool) -> bool:
    """Whether a function returns None at the statements `rest` and does nothing before; `ends` and
    `broken` say so of the end of the block, and of a `break`."""
    for node in rest:
        match node:
            case ast.Pass() | ast.Expr(ast.Constant()):
                continue
            case ast.Return(None | ast.Constant(None)):
                return True
        return broken and isinstance(node, ast.Break)
    return ends


def _raises(node: ast.stmt) -> bool:
    """Whether a statement may raise an exception: it calls or imports something."""
    raising = ast.Call | ast.Import | ast.ImportFrom
    return any(isinstance(part, raising) for part in ast.walk(node))


def decided(test: ast.expr) -> bool:
    """Whether a condition, or a part of it, may be decided by literal values alone."""
    match test:
        case ast.BoolOp(values=values):
            return any(map(decided, values))
        case ast.UnaryOp(ast.Not(), operand):
            return decided(operand)
    for part in ast.walk(test):
        match part:
            case ast.Name(name) | ast.Attribute(attr=name) if name != "TYPE_CHECKING":
                return False
    return True


def is_empty(node: ast.expr) -> bool:
    """Whether an iterable certainly has no elements, as its text shows: `[]`, `range(5, 5)`,
    `zip([], names)`."""
    match node:
        case ast.Call(ast.Name("range"), arguments):
            with suppress(ValueError, TypeError):
                return not range(*map(ast.literal_eval, arguments))
        case ast.Call(ast.Name(name), arguments) if name in WRAPPERS:
            return any(map(is_empty, arguments))
        case ast.Constant() | ast.List() | ast.Tuple() | ast.Dict() | ast.Call():
            return ast.unparse(node) in EMPTY
    return False
