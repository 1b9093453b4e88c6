"""Parts of a Python program that cannot run. They are refused: no fault is made in
them.

The rules are few and cautious: they refuse a part in case of doubt, without a proof
that it cannot run. A statement that does not lead to the next one by these rules counts
as an end, and all code behind an end counts as dead. So every part that is not counted
as dead can run.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain

from ..scopes import Comprehension, blocks, blocks_in, statements
from .python_text import is_empty, names_read, raises, replaced, yields
from .trees import RULES

Loop = ast.For | ast.AsyncFor | ast.While
ENDING, ENDLESS, LAZY, FIXED = map(frozenset, RULES["python_flow"].values())
"""Names of functions that end the program; of functions of `itertools` that return
endless iterators; of functions that run nothing until their result is read; of built-ins
that return the same for the same arguments."""
MACHINE = re.compile(RULES["python_machine"])
"""Pattern of a condition that mentions Python's version or the system, which are the same
in all runs of a program."""
WRITTEN = ast.Constant | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.BinOp
"""Types of expressions whose value never changes if their operands' values never
change."""


class PythonFlow:
    """Flow of control in one program, by the module's rules."""

    def __init__(self, tree: ast.Module) -> None:
        self.tree = tree
        self.names: dict[str, str] = {}
        """Dict from the name that an import gives with `as` to the imported name."""
        self.read = Counter(names_read(ast.walk(tree)))
        """Number of times that the program reads each name."""
        self.attributes = {getattr(node, "attr", "") for node in ast.walk(tree)}
        """Names of all attributes that the program uses."""
        self.idle = Counter[str]()
        """Number of times that the program calls each name without using the returned
        value."""
        self.constants = set(FIXED)
        """Names with the same value in the whole program: those of `FIXED`, and those
        assigned once from literal values."""
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
        """Names of functions that never return, or whose generator has no end."""
        self.unreached = set[int]()
        """`id` (Python's built-in) of each node that cannot run."""
        never: Set[str] = ENDING
        while never - self.stopping:
            self.stopping |= never
            never = {function.name for function in functions if self.stops(function)}

    def stops(self, function: ast.FunctionDef) -> bool:
        """Return whether a function, or the generator that it makes, never ends, by the
        function's body."""
        returns = set[int]()
        for node, owner in statements(function.body):
            if owner is None and isinstance(node, ast.Return):
                returns.add(id(node))
        return not self.passes(function.body) and returns <= self.unreached

    def called(self, node: ast.AST | None) -> str:
        """Return the last part of the name that an expression calls, such as `exit` for
        `sys.exit()`.

        An imported function counts under its own name, not the one after `as`. The call
        `parser.error()` counts as `exit`, and `iter(int, 1)` as the endless `repeat`.
        Return the empty text if the expression is not a call.
        """
        match node:
            case ast.Call(ast.Attribute(ast.Name("parser"), "error")):
                return "exit"
            case ast.Call(ast.Name("iter"), [_, _]):
                return "repeat"
            case ast.Call(ast.Name(name) | ast.Attribute(attr=name)):
                return self.names.get(name, name)
        return ""

    def refuse(self, nodes: Iterable[ast.AST]) -> None:
        """Add `nodes`, and all nodes inside them, to the nodes that cannot run."""
        for node in nodes:
            self.unreached.update(map(id, ast.walk(node)))

    def passes(self, block: Sequence[ast.stmt]) -> bool:
        """Return whether control may pass the end of a block; statements that it does
        not reach are refused."""
        for number, node in enumerate(block, start=1):
            if not self.leads_on(node):
                self.refuse(block[number:])
                return False
        return True

    def leads_on(self, node: ast.stmt) -> bool:
        """Return whether a statement may lead to the next one; parts of it that cannot
        run are refused, and all of it in case of doubt."""
        ends = [self.passes(block) for block in blocks_in(node)]
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return False
            case ast.Assert(test):
                return not self.decided(test)
            case ast.Expr() | ast.Assign() | ast.AnnAssign():
                return self.called(node.value) not in self.stopping
            case ast.If(test, body, orelse):
                if self.decided(test):
                    self.refuse([*body, *orelse])
                    return all(ends)
                return any(ends) or not orelse
            case ast.While(ast.Constant(value), body, []) if value:
                return self.breaks(body)
            case ast.For() | ast.AsyncFor() | ast.While():
                if self.is_doubtful(node):
                    self.refuse([node])
                    return False
                return all(ends[1:]) or self.breaks(node.body)
            case ast.Try():
                return self.try_ends(node)
            case ast.TryStar() | ast.Match():
                self.refuse([node])
                return False
        return all(ends) or not isinstance(node, ast.With | ast.AsyncWith)

    def is_doubtful(self, loop: Loop) -> bool:
        """Return whether the body of a loop may never run, or the loop may never end."""
        if isinstance(loop, ast.While):
            return self.decided(loop.test)
        endless = self.called(loop.iter) in self.stopping | ENDLESS
        return endless or is_empty(loop.iter)

    def try_ends(self, node: ast.Try) -> bool:
        """Return whether a `try` may lead to the next statement; parts that cannot run
        are refused."""
        # A later clause may catch what an earlier one has caught.
        caught = node.handlers[: raises(node.body[0])]
        self.refuse(node.handlers[len(caught) :])
        ways = [self.passes(handler.body) for handler in caught]
        ways.append(self.passes([*node.body, *node.orelse]))
        return self.passes(node.finalbody) and any(ways)

    def breaks(self, block: Sequence[ast.stmt]) -> bool:
        """Return whether an `if` in the body of a loop has a `break` that leaves the
        loop and can run."""
        for node in block:
            for last in chain(*blocks_in(node)) if isinstance(node, ast.If) else ():
                if isinstance(last, ast.Break) and id(last) not in self.unreached:
                    return True
        return False

    def dead(self) -> set[int]:
        """Return the `id` (Python's built-in) of each node that cannot run, or in which
        a fault is refused."""
        self.passes(self.tree.body)
        for block, _ in blocks(self.tree.body):
            self.refuse(replaced(block))
        for node in ast.walk(self.tree):
            self.refuse(self.refused(node))
            kinds = map(vars(node).get, ("annotation", "returns"))
            self.refuse(filter(None, kinds))
        return self.unreached

    def refused(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the parts of a node that get no fault although they may run.

        A fault there may change nothing, or its position is not known.
        """
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
                    if is_empty(loop.iter) or any(map(self.decided, loop.ifs)):
                        yield node
            case ast.ClassDef(body=body):
                yield from filter(self.is_hidden, body)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                _, *inside = ast.walk(node)
                yield from filter(self.is_unread, inside)

    def is_lazy(self, node: ast.expr) -> bool:
        """Return whether an expression runs its parts only when its value is read."""
        written = isinstance(node, ast.Lambda | ast.GeneratorExp)
        return written or self.called(node) in LAZY

    def is_hidden(self, member: ast.stmt) -> bool:
        """Return whether a statement of a class body is a private method, such as
        `__name`, that nothing reads."""
        name = getattr(member, "name", "")
        is_private = name.startswith("__") and not name.endswith("__")
        return is_private and name not in self.attributes and not self.read[name]

    def is_unread(self, node: ast.AST) -> bool:
        """Return whether a node defines something whose name is read nowhere outside
        the node.

        The node is a function or class without decorators, or an assignment of a lazy
        expression (`is_lazy`) to one name. Return False for any other node.
        """
        match node:
            # Functions and classes.
            case ast.stmt(name=name, decorator_list=[]):  # type: ignore[misc]
                pass
            case ast.Assign([ast.Name(name)], value) if self.is_lazy(value):
                pass
            case _:
                return False
        own = [*names_read(ast.walk(node))].count(name)
        # A call of a generator runs nothing if its value is not used.
        idle = self.idle[name] if yields(node) else 0
        return self.read[name] <= own + idle

    def decided(self, test: ast.expr) -> bool:
        """Return whether literal values, constants, Python's version or the system may
        decide a condition or a part of it."""
        match test:
            case ast.BoolOp(values=values):
                return any(map(self.decided, values))
            case ast.UnaryOp(ast.Not(), operand):
                return self.decided(operand)
            case ast.Compare(left, _, [right]) if ast.dump(left) == ast.dump(right):
                return True
        for part in ast.walk(test):
            named = isinstance(part, ast.Name | ast.Attribute)
            if named and MACHINE.search(ast.unparse(part)):
                return True
        return self.constants.issuperset(names_read(ast.walk(test)))

    def leaving(
        self,
        block: Sequence[ast.stmt],
        after: ast.stmt | None = None,
        broken: bool = False,
    ) -> Iterator[list[ast.stmt]]:
        """Yield the bodies of loops and conditions in `block` at whose end a return may
        be inserted.

        Control passes the end of each body, and the function does not return right
        there anyway. `block` is a block of a function; `after` is the statement that
        runs behind the block, None at the function's end. `broken` says whether the
        function returns None right behind a `break` in the block.
        """
        behind = after
        for node in reversed(block):
            match node:
                case ast.Pass() | ast.Expr(ast.Constant()):
                    continue
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    behind = node
                    continue
            match behind:
                case ast.Break():
                    returns = broken
                case None | ast.Return(None | ast.Constant(None)):
                    returns = True
                case _:
                    returns = False
            body: list[ast.stmt] = getattr(node, "body", [])
            loops = isinstance(node, Loop)
            may_return = loops or (isinstance(node, ast.If) and not returns)
            if may_return and self.passes(body):
                yield body
            again = loops or (isinstance(node, ast.Try) and node.orelse)
            for inner in blocks_in(node):
                following = node if again and inner is body else behind
                yield from self.leaving(inner, following, returns if loops else broken)
            behind = node
