"""Names in a Python program: each place at which a name occurs, with the scope that
binds the name.

A scope is a module, class, function or comprehension. The rules are those of Python's
language reference, section 4.2. Functions inside a class body do not see the names of
the class. The first iterable of a comprehension belongs to the scope around the
comprehension. An assignment expression binds its name outside comprehensions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

Kind = Literal["parameter", "variable", "function", "class", "import"]
"""Ways in which a scope binds a name."""
ScopeKind = Literal["module", "class", "function", "comprehension"]
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
"""Nodes of a syntax tree that define a function."""
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False)
class Scope:
    """Part of a program with its own names: a module, a class body, a function (or
    lambda) or a comprehension."""

    kind: ScopeKind
    node: ast.AST
    parent: Scope | None
    bound: dict[str, set[Kind]] = field(default_factory=dict)
    """Dict from each name that the scope binds to the kinds of its bindings."""
    functions: dict[str, list[FunctionNode]] = field(default_factory=dict)
    """Dict from a function's name to its definitions in the scope, in the order of the
    text."""
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Occurrence:
    """One occurrence of a name in a syntax tree, at `node`."""

    node: ast.AST
    name: str
    scope: Scope
    """Scope in which the name occurs; another scope may bind the name."""
    rename: Callable[[str], None]
    """Function that puts another name into `node`; the field `name` keeps the old name.
    """

    @property
    def binding(self) -> Scope | None:
        """Scope that binds the name; None for built-ins and for names that nothing
        binds."""
        return resolve(self.name, self.scope)


def resolve(name: str, scope: Scope) -> Scope | None:
    """Return the scope that binds `name` if code in `scope` uses it.

    Return None for built-ins and for names that nothing binds.
    """
    outer: Scope | None = scope
    while outer is not None:
        if outer.kind != "class" or outer is scope:
            if name in outer.global_names:
                outer = _module(outer)
            if name in outer.bound and name not in outer.nonlocal_names:
                return outer
        outer = outer.parent
    return None


def names_of(tree: ast.mod) -> Names:
    """Return all scopes of a module's syntax tree and all occurrences of names in the
    tree."""
    names = Names()
    scope = names.entered("module", tree, None)
    names.read(scope, *ast.iter_child_nodes(tree))
    return names


def parameters(function: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """Return all parameters of a function or lambda as `ast.arg` nodes, with `*args`
    and `**kwargs` last."""
    args = function.args
    starred = [arg for arg in (args.vararg, args.kwarg) if arg is not None]
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *starred]


def parameter_names(function: FunctionNode | ast.Lambda) -> list[str]:
    """Return the names of all parameters of a function or lambda, in the order of
    `parameters`."""
    return [arg.arg for arg in parameters(function)]


Owner = FunctionNode | ast.ClassDef | None
"""Innermost function or class around a statement; None at the top level."""


def blocks_in(node: ast.stmt) -> list[list[ast.stmt]]:
    """Return the lists of statements directly in a statement, such as its `body` and
    `orelse`; empty lists are left out."""
    lists = [getattr(node, name, []) for name in ("body", "orelse", "finalbody")]
    for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
        lists.append(part.body)
    return list(filter(None, lists))


def blocks(
    block: list[ast.stmt], owner: Owner = None
) -> Iterator[tuple[list[ast.stmt], Owner]]:
    """Yield the statements `block` and each list of statements nested in them, with its
    innermost function or class.

    `owner` is the function or class around `block`; None at the top level.
    """
    yield block, owner
    for statement in block:
        inner = owner
        if isinstance(statement, FunctionNode | ast.ClassDef):
            inner = statement
        for below in blocks_in(statement):
            yield from blocks(below, inner)


def statements(block: list[ast.stmt]) -> list[tuple[ast.stmt, Owner]]:
    """Return the statements of `block` and all nested ones, in the order of the text.

    Each has its innermost function or class in `block`; None if it has none there.
    """
    every = list[tuple[ast.stmt, Owner]]()
    for inner, owner in blocks(block):
        every += [(statement, owner) for statement in inner]
    return sorted(every, key=lambda pair: (pair[0].lineno, pair[0].col_offset))


def outside(scope: Scope) -> Scope:
    """Return the nearest scope, from `scope` outwards, that is not a comprehension's."""
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    return scope


def _module(scope: Scope) -> Scope:
    """Return the module scope around `scope`."""
    while scope.parent is not None:
        scope = scope.parent
    return scope


class Names:
    """All scopes of a program and all occurrences of names in it, collected by `read`.

    Attributes, keywords of calls and names in imports do not count as occurrences.
    """

    def __init__(self) -> None:
        self.scopes: list[Scope] = []
        self.occurrences: list[Occurrence] = []
        """Occurrences, in no particular order."""

    def entered(self, kind: ScopeKind, node: ast.AST, parent: Scope | None) -> Scope:
        """Return a new scope, added to `scopes`."""
        scope = Scope(kind, node, parent)
        self.scopes.append(scope)
        return scope

    def occurs(
        self, scope: Scope, node: ast.AST, field: str, kind: Kind | None
    ) -> None:
        """Record the attribute `field` of `node` as an occurrence of a name in `scope`.

        If `kind` is not None, the name is also bound in that way.
        """
        name, rename = getattr(node, field), partial(setattr, node, field)
        self.occurrences.append(Occurrence(node, name, scope, rename))
        if kind is not None:
            _bind(name, scope, kind)

    def read(self, scope: Scope, *nodes: ast.AST | None) -> None:
        """Record the scopes and occurrences in `nodes`, which stand in `scope`."""
        for node in nodes:
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                    self.read_function(scope, node)
                case ast.ClassDef(body=body):
                    self.read(scope, *node.decorator_list, *node.bases, *node.keywords)
                    self.occurs(scope, node, "name", "class")
                    self.read(self.entered("class", node, scope), *body)
                case ast.expr() if isinstance(node, Comprehension):
                    self.read_comprehension(scope, node)
                case ast.Name(ctx=context):
                    read = isinstance(context, ast.Load)
                    self.occurs(scope, node, "id", None if read else "variable")
                case ast.NamedExpr(target, value):
                    self.read(scope, value)
                    self.occurs(outside(scope), target, "id", "variable")
                case ast.Import(names) | ast.ImportFrom(names=names):
                    for alias in names:
                        name = alias.asname or alias.name.partition(".")[0]
                        _bind(name, scope, "import")
                case ast.AST():
                    self.read(scope, *ast.iter_child_nodes(node))
                    self.read_names(scope, node)

    def read_names(self, scope: Scope, node: ast.AST) -> None:
        """Record the names that `node` holds as strings, such as those of `global x` or
        `except E as x`."""
        match node:
            case ast.Global(names) | ast.Nonlocal(names):
                outer = isinstance(node, ast.Global)
                (scope.global_names if outer else scope.nonlocal_names).update(names)
                for index, name in enumerate(names):
                    put = partial(names.__setitem__, index)
                    self.occurrences.append(Occurrence(node, name, scope, put))
            case (
                ast.ExceptHandler(name=str())
                | ast.MatchAs(name=str())
                | ast.MatchStar(str())
            ):
                self.occurs(scope, node, "name", "variable")
            case ast.MatchMapping(rest=str()):
                self.occurs(scope, node, "rest", "variable")

    def read_function(self, scope: Scope, node: FunctionNode | ast.Lambda) -> None:
        """Record a function or lambda that stands in `scope`."""
        named = parameters(node)
        body = node.body if isinstance(node.body, list) else [node.body]
        if not isinstance(node, ast.Lambda):
            self.read(scope, *node.decorator_list, node.returns)
            self.occurs(scope, node, "name", "function")
            owner = resolve(node.name, scope) or scope
            owner.functions.setdefault(node.name, []).append(node)
        self.read(scope, *node.args.defaults, *node.args.kw_defaults)
        self.read(scope, *[arg.annotation for arg in named])
        inner = self.entered("function", node, scope)
        for arg in named:
            self.occurs(inner, arg, "arg", "parameter")
        self.read(inner, *body)

    def read_comprehension(self, scope: Scope, node: Comprehension) -> None:
        """Record a comprehension that stands in `scope`."""
        inner = self.entered("comprehension", node, scope)
        outer = scope
        for loop in node.generators:
            self.read(outer, loop.iter)
            self.read(inner, loop.target, *loop.ifs)
            outer = inner
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.read(inner, part)


def _bind(name: str, scope: Scope, kind: Kind) -> None:
    """Add a binding of `name`, made by code in `scope`, to the scope that it binds in.

    That is `scope` itself, or the scope that a `global` or `nonlocal` statement refers
    to.
    """
    if name in scope.global_names:
        scope = _module(scope)
    elif name in scope.nonlocal_names:
        scope = resolve(name, scope) or scope
    scope.bound.setdefault(name, set()).add(kind)
