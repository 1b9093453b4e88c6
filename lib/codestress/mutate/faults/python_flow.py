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
    """What the rules know of one program."""

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
        self.stopping = set[str]()
        """Names of functions that never return."""
        while never := [one for one in functions if self.stops(one)]:
            self.stopping.update(one.name for one in never)
            functions = [one for one in functions if one not in never]

    def stops(self, function: ast.FunctionDef) -> bool:
        """Whether a function never returns, by its body."""
        for block in own_blocks(function):
            if any(isinstance(node, ast.Return) for node in self.first(block)):
                return False
        yields = (ast.Yield, ast.YieldFrom)
        later = any(isinstance(node, yields) for node in ast.walk(function))
        return not later and not self.lead_on(function.body)

    def called(self, node: ast.expr) -> str:
        """Last part of the name that an expression calls, such as `exit` in `sys.exit()`, whatever
        an import calls it; empty for any other expression."""
        match node:
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
            case ast.Expr(value) | ast.Assign(value=value) | ast.AnnAssign(value=value):
                return not self.ends(node, value)
            case ast.If(test, body, orelse):
                both = [self.lead_on(body), self.lead_on(orelse)]
                return all(both) if decided(test) else any(both)
            case ast.For() | ast.AsyncFor() | ast.While():
                ends = not self.is_endless(node) and self.lead_on(node.orelse)
                return ends or self.breaks(node.body)
            case ast.With() | ast.AsyncWith():
                return self.lead_on(node.body)
            case ast.Try(body, handlers, orelse, last):
                caught = [handlers[0].body] if handlers and _raises(body[0]) else []
                ways = [[*body, *orelse], *caught]
                return self.lead_on(last) and any(map(self.lead_on, ways))
            case ast.TryStar():  # whose clauses take no return
                return False
            case ast.Match(cases=cases):
                return any(self.lead_on(case.body) for case in cases)
        return True

    def ends(self, node: ast.stmt, value: ast.expr | None) -> bool:
        """Whether a statement with the expression `value` is a call that never returns."""
        match value:
            case ast.Call(ast.Name(name)) if name in self.stopping:
                return True
            case ast.Call(function) if isinstance(node, ast.Expr):
                known = self.called(value) in ENDING
                return known or ast.unparse(function) == "parser.error"
        return False

    def is_endless(self, node: Loop) -> bool:
        if isinstance(node, ast.While):
            return isinstance(node.test, ast.Constant) and bool(node.test.value)
        return self.called(node.iter) in ENDLESS

    def breaks(self, block: Sequence[ast.stmt]) -> bool:
        """Whether a condition in the body of a loop has a `break` that leaves the loop."""
        for node in self.first(block):
            if isinstance(node, ast.If) and not decided(node.test):
                ways = self.first(node.body)[-1:], self.first(node.orelse)[-1:]
                if any(way and isinstance(way[0], ast.Break) for way in ways):
                    return True
        return False

    def first(self, block: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
        """Statements of a block up to the first that does not lead on."""
        for number, statement in enumerate(block, start=1):
            if not self.leads_on(statement):
                return block[:number]
        return block

    def dead(self) -> set[int]:
        """Python's `id` of each node that cannot run, or where a fault is refused."""
        dead = set[int]()
        for node in ast.walk(self.tree):
            for part in [] if id(node) in dead else self.refused(node):
                dead.update(map(id, ast.walk(part)))
        return dead

    def refused(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields the parts of a node that cannot run, or where a fault is refused."""
        for block in vars(node).values():
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield from block[len(self.first(block)) :]
        match node:
            case ast.JoinedStr():  # positions inside are unreliable before Python 3.12
                yield node
            case ast.BoolOp(values=[*values, _]) if any(map(decided, values)):
                yield node
            case ast.IfExp(test) if decided(test):
                yield node
            case ast.comprehension(iter=items, ifs=tests):
                if is_empty(items) or any(map(decided, tests)):
                    yield node
            case ast.If(test, body, orelse) if decided(test):
                yield from [*body, *orelse]
            case ast.For(iter=items, body=body) if is_empty(items):
                yield from body
            case ast.While(test, body) if decided(test) and not self.is_endless(node):
                yield from body
            case ast.For() | ast.AsyncFor() | ast.While() if self.is_endless(node):
                yield from node.orelse
            case ast.TryStar():
                yield node
            case ast.Try(body, handlers, orelse):
                # A later clause may catch what an earlier one has caught.
                yield from handlers[_raises(body[0]) :]
                yield from [] if self.lead_on(body) else orelse
            case ast.match_case(guard=ast.expr(), body=body) if decided(node.guard):
                yield from body
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
            loops = isinstance(node, Loop)
            here = _returns_at(block[number:], ends, broken)
            body: list[ast.stmt] = getattr(node, "body", [])
            others = list[list[ast.stmt]]()
            for name in ("orelse", "finalbody"):
                others.append(getattr(node, name, []))
            for name in ("handlers", "cases"):
                others += [part.body for part in getattr(node, name, [])]
            if isinstance(node, Loop | ast.If) and self.lead_on(body):
                yield from [] if here and not loops else [body]
            split = loops or (isinstance(node, ast.Try) and node.orelse)
            inside = here and not split
            yield from self.leaving(body, inside, here if loops else broken)
            for other in others:
                yield from self.leaving(other, here, broken)


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
    kinds = (ast.Call, ast.Import, ast.ImportFrom)
    return any(isinstance(part, kinds) for part in ast.walk(node))


def decided(test: ast.expr | None) -> bool:
    """Whether a condition, or a part of it, may be decided by literal values alone."""
    match test:
        case None:
            return False
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
