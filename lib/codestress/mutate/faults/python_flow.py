"""Parts of a Python program that cannot run: no fault is made in them.

Rules refuse rather than prove. A statement that does not lead to the next one by these few rules
counts as an end, and all behind an end counts as dead. So every part that is not dead can run.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain

from ..scopes import Comprehension, FunctionNode, blocks, blocks_in, statements
from .python_text import RARE, is_empty, names_read, raises, replaced, yields
from .trees import RULES

Loop = ast.For | ast.AsyncFor | ast.While
ENDING, ENDLESS, LAZY, FIXED = map(frozenset, RULES["python_flow"].values())
"""Functions that end the program; functions of `itertools` that return iterators without an end;
functions that run nothing until their result is read; names and attributes that are the same in all
runs of a program."""
WRITTEN = ast.Constant | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.BinOp
"""Expressions whose values never change."""


class PythonFlow:
    """Flow of control in one program, by the rules."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.names: dict[str, str] = {}
        """Names that imports give to functions of `ENDING` and `ENDLESS`."""
        self.read = Counter(names_read(ast.walk(tree)))
        """Number of times that the program reads each name."""
        self.idle = Counter[str]()
        """Number of times that it calls each name without use of what the call returns."""
        self.constants = set(FIXED)
        """Names that have the same written value everywhere."""
        self.endless = set(ENDLESS)
        """Names of functions that return iterators without an end."""
        bound = Counter[str]()
        functions = list[ast.FunctionDef]()
        for node in ast.walk(tree):
            match node:
                case ast.Expr(ast.Call(ast.Name(name))):
                    self.idle[name] += 1
                case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name):
                    bound[name] += 1
                case ast.Assign([ast.Name(name)], value):
                    if isinstance(value, WRITTEN) and self.decided(value):
                        self.constants.add(name)
                case ast.alias(name, str(other)):
                    self.names[other] = name
                case ast.FunctionDef(decorator_list=[]):
                    functions.append(node)
        self.constants -= {name for name, times in bound.items() if times > 1}
        self.stopping = set[str]()
        """Names of functions that never return."""
        self.unreached = set[int]()
        """Python's `id` of each node that cannot run."""
        never: Set[str] = ENDING
        while never - self.stopping:
            self.stopping |= never
            never = {function.name for function in functions if self.stops(function)}

    def stops(self, function: ast.FunctionDef) -> bool:
        """Whether a function never returns, by its body."""
        if self.passes(function.body):
            return False
        for node, owner in statements(function.body):
            reached = owner is None and id(node) not in self.unreached
            if reached and isinstance(node, ast.Return):
                return False
        if yields(function):
            self.endless.add(function.name)
        return not yields(function)

    def called(self, node: ast.AST | None) -> str:
        """Last part of the name that an expression calls, such as `exit` in `sys.exit()`, whatever
        an import calls it; empty for any other expression."""
        match node:
            case ast.Call(ast.Attribute(ast.Name("parser"), "error")):
                return "exit"
            case ast.Call(ast.Name("iter"), [ast.Name("int" | "list" | "str"), _]):
                return "repeat"
            case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
                return self.names.get(name, name)
        return ""

    def refuse(self, nodes: Iterable[ast.AST]) -> None:
        """Counts nodes, with all that is inside, among those that cannot run."""
        for node in nodes:
            self.unreached.update(map(id, ast.walk(node)))

    def passes(self, block: Sequence[ast.stmt]) -> bool:
        """Whether control may pass the end of a block; what it does not reach is refused."""
        for number, node in enumerate(block, start=1):
            if not self.leads_on(node):
                self.refuse(block[number:])
                return False
        return True

    def leads_on(self, node: ast.stmt) -> bool:
        """Whether a statement may lead to the next one; its parts that cannot run are refused."""
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return False
            case ast.Assert(test):
                return not self.decided(test)
            case ast.Expr() | ast.Assign() | ast.AnnAssign():
                return self.called(node.value) not in self.stopping
            case ast.If(test, body, orelse):
                both = [self.passes(body), self.passes(orelse)]
                if self.decided(test):
                    self.refuse([*body, *orelse])
                    return all(both)
                return any(both)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self.loops_end(node)
            case ast.Try():
                return self.try_ends(node)
            case ast.TryStar() | ast.Match():
                self.refuse(chain(*blocks_in(node)))
                return False
        inside = all([self.passes(block) for block in blocks_in(node)])
        return inside or not isinstance(node, ast.With | ast.AsyncWith)

    def loops_end(self, node: Loop) -> bool:
        """Whether a loop may lead to the next statement (`leads_on`)."""
        self.passes(node.body)
        ends, broken = self.passes(node.orelse), self.breaks(node.body)
        if isinstance(node, ast.While):
            endless = isinstance(node.test, ast.Constant) and bool(node.test.value)
            never = self.decided(node.test)
            # A loop that is decided may have no end.
            ends = ends and not never
        else:
            never = is_empty(node.iter, RARE)
            endless = not never and self.called(node.iter) in self.endless
        if endless:
            self.refuse(node.orelse)
        elif never:
            self.refuse(node.body)
        return broken or (ends and not endless)

    def try_ends(self, node: ast.Try) -> bool:
        """Whether a `try` may lead to the next statement (`leads_on`)."""
        ends = self.passes(node.body)
        if not ends:
            self.refuse(node.orelse)
        ways = [self.passes(node.orelse) and ends]
        for number, handler in enumerate(node.handlers):
            # A later clause may catch what an earlier one has caught.
            if number or not raises(node.body[0]):
                self.refuse(handler.body)
            else:
                ways.append(self.passes(handler.body))
        return self.passes(node.finalbody) and any(ways)

    def breaks(self, block: Sequence[ast.stmt]) -> bool:
        """Whether a condition in the body of a loop has a `break` that leaves the loop."""
        for node in block:
            for last in chain(*blocks_in(node)) if isinstance(node, ast.If) else ():
                if isinstance(last, ast.Break) and id(last) not in self.unreached:
                    return True
        return False

    def dead(self) -> set[int]:
        """Python's `id` of each node that cannot run, or where a fault is refused."""
        self.passes(self.tree.body)
        for block, _ in blocks(self.tree.body):
            self.refuse(replaced(block))
        for node in ast.walk(self.tree):
            self.refuse(self.refused(node))
            kinds = map(vars(node).get, ("annotation", "returns"))
            self.refuse(filter(None, kinds))
        return self.unreached

    def refused(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yields the parts of a node in which no fault is put, although they may run: a fault there may
        change nothing, or its position is not known."""
        match node:
            # Positions in an f-string are unreliable before Python 3.12.
            case ast.JoinedStr():
                yield node
            case ast.Expr(value) if self.is_lazy(value):
                yield node
            case ast.BoolOp(values=[*tests, _]) if any(map(self.decided, tests)):
                yield node
            case ast.IfExp(test) if self.decided(test):
                yield node
            case ast.expr() if isinstance(node, Comprehension):
                for loop in node.generators:
                    if is_empty(loop.iter, RARE) or any(map(self.decided, loop.ifs)):
                        yield node
            case ast.ClassDef(body=body):
                yield from filter(self.is_hidden, body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                calls = self.idle[node.name]
                if 0 < calls == self.read[node.name] and yields(node):
                    yield node
                _, *inside = ast.walk(node)
                yield from filter(self.is_unread, inside)

    def is_lazy(self, node: ast.expr) -> bool:
        """Whether an expression runs its parts only where something reads its value."""
        written = isinstance(node, ast.Lambda | ast.GeneratorExp)
        return written or self.called(node) in LAZY

    def is_hidden(self, member: ast.stmt) -> bool:
        """Whether a statement of a class body is a private method, `__name`, that nothing reads."""
        name = getattr(member, "name", "")
        return name.startswith("__") and name[-2:] != "__" and self.is_unread(member)

    def is_unread(self, node: ast.AST) -> bool:
        """Whether a node defines a function or class, or names an expression that runs only where
        something reads it, and nothing but itself reads this name."""
        match node:
            # Functions and classes.
            case ast.stmt(name=name, decorator_list=[]):  # type: ignore[misc]
                pass
            case ast.Assign([ast.Name(name)], value) if self.is_lazy(value):
                pass
            case _:
                return False
        own = [*names_read(ast.walk(node))]
        return self.read[name] <= own.count(name)

    def decided(self, test: ast.expr) -> bool:
        """Whether a condition, or a part of it, may be decided by literal values and constants
        alone."""
        match test:
            case ast.BoolOp(values=values):
                return any(map(self.decided, values))
            case ast.UnaryOp(ast.Not(), operand):
                return self.decided(operand)
            case ast.Compare(left, _, [right]) if ast.dump(left) == ast.dump(right):
                return True
        known = set[int]()
        for part in ast.walk(test):
            match part:
                case ast.Attribute(owner, name) if {name, ast.unparse(part)} & FIXED:
                    known.add(id(owner))
                case ast.Attribute():
                    return False
                case ast.Name(name, ast.Load()) if id(part) not in known:
                    if name not in self.constants:
                        return False
        return True

    def leaving(
        self, block: Sequence[ast.stmt], ends: bool = True, broken: bool = False
    ) -> Iterator[list[ast.stmt]]:
        """Yields the bodies of the loops and conditions in a block of a function at whose end a
        return may be inserted: control passes the end, and the function does not return there
        anyway. `ends` says whether it does so behind the block, `broken` behind a `break` in it."""
        for number, node in enumerate(block, start=1):
            if isinstance(node, FunctionNode | ast.ClassDef):
                continue
            returns = _returns_at(block[number:], ends, broken)
            loops = isinstance(node, Loop)
            if (
                isinstance(node, Loop | ast.If)
                and (loops or not returns)
                and self.passes(node.body)
            ):
                yield node.body
            split = loops or (isinstance(node, ast.Try) and node.orelse)
            for inner in blocks_in(node):
                first = inner is getattr(node, "body", None)
                inside = returns and not (first and split)
                yield from self.leaving(inner, inside, returns if loops else broken)


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
