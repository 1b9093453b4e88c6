"""Names in a Python program: each place where a name occurs, with the scope (module, class,
function or comprehension) that binds it.

Follows Python's language reference, section 4.2: functions inside a class body do not see its
names, the first iterable of a comprehension belongs to the scope around it, an assignment
expression binds outside comprehensions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["parameter", "variable", "function", "class", "import"]
"""Ways in which a scope binds a name."""
FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
SAYS_NAMES = frozenset(
    [
        "NameError",
        "UnboundLocalError",
        "TypeError",
        "AttributeError",
        "Exception",
        "BaseException",
    ]
)
"""Exceptions whose messages may contain names of variables, parameters or functions."""


@dataclass(eq=False)
class Scope:
    """A part of a program with names of its own: a module, a class body, a function (or lambda) or
    a comprehension."""

    kind: Literal["module", "class", "function", "comprehension"]
    node: ast.AST
    parent: Scope | None
    bound: dict[str, set[Kind]] = field(default_factory=dict)
    """Names that the scope binds, each with the kinds of its bindings."""
    functions: dict[str, list[FunctionNode]] = field(default_factory=dict)
    """Definitions of the functions that the scope defines, by name, in the order of the text."""
    global_names: set[str] = field(default_factory=set)
    nonlocal_names: set[str] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Occurrence:
    """One place where a name occurs in a syntax tree: the attribute `field` of `node`, or the
    element `index` of that attribute where it is a list."""

    node: ast.AST
    field: str
    scope: Scope
    """Scope in which the name occurs."""
    index: int | None = None

    @property
    def name(self) -> str:
        held = getattr(self.node, self.field)
        return str(held if self.index is None else held[self.index])

    def rename(self, name: str) -> None:
        if self.index is None:
            setattr(self.node, self.field, name)
        else:
            getattr(self.node, self.field)[self.index] = name


@dataclass(frozen=True)
class Names:
    """All scopes of a program, and all occurrences of names in it; attributes, keywords of calls
    and names in imports do not count as occurrences."""

    scopes: list[Scope]
    occurrences: list[Occurrence]
    """Occurrences in no particular order."""

    def binding(self, occurrence: Occurrence) -> Scope | None:
        """Scope that binds an occurrence's name; None for builtins and for names that nothing
        binds."""
        return resolve(occurrence.name, occurrence.scope)


def resolve(name: str, scope: Scope) -> Scope | None:
    """Returns the scope that binds `name` where it is used in `scope`; None for builtins and for
    names that nothing binds."""
    here: Scope | None = scope
    while here is not None:
        if here.kind != "class" or here is scope:
            if name in here.global_names:
                here = _module(here)
                return here if name in here.bound else None
            if name in here.bound and name not in here.nonlocal_names:
                return here
        here = here.parent
    return None


def names_of(tree: ast.mod) -> Names:
    """Returns all scopes of a module's syntax tree, and all occurrences of names in it
    (`Names`)."""
    reader = _Reader(tree)
    reader.generic_visit(tree)
    return Names(reader.scopes, reader.occurrences)


def parameters(function: FunctionNode | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function or lambda as `ast.arg` nodes; `*args` and `**kwargs` are the
    last."""
    given = function.args
    starred = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *starred]


def parameter_names(function: FunctionNode | ast.Lambda) -> list[str]:
    return [one.arg for one in parameters(function)]


def reads_message(handler: ast.ExceptHandler) -> bool:
    """Whether an `except` clause may read names of the program in an exception's message.

    True where the clause binds an exception of `SAYS_NAMES` to a variable `e` and uses `e` anywhere
    but in `raise e`, `raise … from e`, `isinstance(e, …)` or `type(e)`.
    """
    if handler.name is None:
        return False
    kinds = (
        {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
        if handler.type
        else set()
    )
    if handler.type is not None and not kinds & SAYS_NAMES:
        return False
    allowed = set[int]()
    for node in ast.walk(ast.Module(handler.body, [])):
        if isinstance(node, ast.Raise):
            allowed |= {id(part) for part in (node.exc, node.cause)}
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("isinstance", "type")
        ):
            allowed |= {id(part) for part in node.args}
    read = [
        node
        for part in handler.body
        for node in ast.walk(part)
        if isinstance(node, ast.Name)
    ]
    return any(node.id == handler.name and id(node) not in allowed for node in read)


Owner = FunctionNode | ast.ClassDef | None
"""Function or class that a statement stands in; None at the top level."""


def blocks(
    block: list[ast.stmt], owner: Owner = None
) -> Iterator[tuple[list[ast.stmt], Owner]]:
    """Yields the statements `block` and all lists of statements inside, each with the function or
    class that it stands in: `owner` for the first, None at the top level."""
    yield block, owner
    for statement in block:
        inner = owner
        if isinstance(statement, FunctionNode | ast.ClassDef):
            inner = statement
        below = [
            getattr(statement, name, []) for name in ("body", "orelse", "finalbody")
        ]
        for name in ("handlers", "cases"):
            below += [part.body for part in getattr(statement, name, [])]
        for statements in filter(None, below):
            yield from blocks(statements, inner)


def own_blocks(function: FunctionNode) -> list[list[ast.stmt]]:
    """Lists of statements in a function, without those of functions and classes inside it."""
    every = blocks(function.body, function)
    return [block for block, owner in every if owner is function]


def _module(scope: Scope) -> Scope:
    while scope.parent is not None:
        scope = scope.parent
    return scope


class _Reader(ast.NodeVisitor):
    """Tree visitor that collects scopes and occurrences of names while it tracks the current
    scope."""

    def __init__(self, tree: ast.mod) -> None:
        self.scope = Scope("module", tree, None)
        self.scopes = [self.scope]
        self.occurrences: list[Occurrence] = []

    def occurs(
        self,
        node: ast.AST,
        field: str,
        kind: Kind | None = None,
        index: int | None = None,
    ) -> None:
        """Records the attribute `field` of `node` (its element `index`, if given) as an occurrence
        of a name in the current scope; with `kind`, the name is also bound."""
        found = Occurrence(node, field, self.scope, index)
        self.occurrences.append(found)
        if kind is not None:
            self.bind(found.name, kind)

    def bind(self, name: str, kind: Kind) -> None:
        self.owner(name).bound.setdefault(name, set()).add(kind)

    def owner(self, name: str) -> Scope:
        """Scope that binds `name` when code in the current scope assigns to it: the current scope,
        or the one that a `global` or `nonlocal` statement refers to."""
        if name in self.scope.global_names:
            return _module(self.scope)
        if name in self.scope.nonlocal_names:
            return resolve(name, self.scope) or self.scope
        return self.scope

    @contextmanager
    def inside(
        self, kind: Literal["class", "function", "comprehension"], node: ast.AST
    ) -> Iterator[None]:
        """Context manager: makes a new scope of the given kind, for `node`, the current one until
        the context ends."""
        outer = self.scope
        self.scope = Scope(kind, node, outer)
        self.scopes.append(self.scope)
        yield
        self.scope = outer

    def visit_all(self, *nodes: ast.AST | None) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    def visit_FunctionDef(self, node: FunctionNode | ast.Lambda) -> None:
        named = parameters(node)
        if not isinstance(node, ast.Lambda):
            self.visit_all(*node.decorator_list, node.returns)
            self.occurs(node, "name", "function")
            self.owner(node.name).functions.setdefault(node.name, []).append(node)
        self.visit_all(
            *node.args.defaults,
            *node.args.kw_defaults,
            *(one.annotation for one in named),
        )
        body = node.body if isinstance(node.body, list) else [node.body]
        with self.inside("function", node):
            for one in named:
                self.occurs(one, "arg", "parameter")
            for declaration in _declarations(body):
                target = (
                    self.scope.global_names
                    if isinstance(declaration, ast.Global)
                    else self.scope.nonlocal_names
                )
                target.update(declaration.names)
            self.visit_all(*body)

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all(*node.decorator_list, *node.bases, *node.keywords)
        self.occurs(node, "name", "class")
        with self.inside("class", node):
            self.visit_all(*node.body)

    def visit_Name(self, node: ast.Name) -> None:
        self.occurs(node, "id", None if isinstance(node.ctx, ast.Load) else "variable")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Skips constants, which have no names."""

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        outer = self.scope
        while self.scope.kind == "comprehension" and self.scope.parent is not None:
            self.scope = self.scope.parent
        self.occurs(node.target, "id", "variable")
        self.scope = outer

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        for index in range(len(node.names)):
            self.occurs(node, "names", index=index)
        if isinstance(node, ast.Global) and self.scope.kind == "class":
            self.scope.global_names.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            module = isinstance(node, ast.Import)
            self.bind(
                alias.asname
                or (alias.name.partition(".")[0] if module else alias.name),
                "import",
            )

    visit_ImportFrom = visit_Import

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self.occurs(node, "name", "variable")
        self.generic_visit(node)

    def visit_MatchAs(
        self, node: ast.MatchAs | ast.MatchStar | ast.MatchMapping
    ) -> None:
        self.generic_visit(node)
        field = "rest" if isinstance(node, ast.MatchMapping) else "name"
        if getattr(node, field) is not None:
            self.occurs(node, field, "variable")

    visit_MatchStar = visit_MatchMapping = visit_MatchAs

    def visit_ListComp(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> None:
        first = node.generators[0]
        self.visit(first.iter)
        with self.inside("comprehension", node):
            for loop in node.generators:
                self.visit_all(
                    loop.target, *loop.ifs, None if loop is first else loop.iter
                )
            self.visit_all(
                *(
                    (node.key, node.value)
                    if isinstance(node, ast.DictComp)
                    else (node.elt,)
                )
            )

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp


def _declarations(
    body: list[ast.stmt] | list[ast.expr],
) -> list[ast.Global | ast.Nonlocal]:
    """Returns the `global` and `nonlocal` statements of a function's body, without those of
    functions and classes inside it."""
    found: list[ast.Global | ast.Nonlocal] = []
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            found.append(node)
        elif not isinstance(node, FunctionNode | ast.ClassDef | ast.expr):
            waiting.extend(ast.iter_child_nodes(node))
    return found
