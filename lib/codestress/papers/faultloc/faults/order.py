"""Methods that may change places: in Java any of a class, in Python those whose order nothing can tell."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from codestress.generation.edits import Lines
from codestress.generation.scopes import FunctionNode, parameters
from codestress.papers.faultloc.faults.itself import looks_at
from codestress.papers.faultloc.faults.trees import JAVA_CLASSES, NotNeutral, java_root, tree_of
from codestress.sandbox.runtimes import nodes
from codestress.types import Language

Methods = list[tuple[int, int]]
"""The first and last line of each."""


def movable(code: str, language: Language) -> list[Methods]:
    """The methods of each class that may change places, where there are two; `NotNeutral` where there are none."""
    if seen := looks_at("order", code, language):
        raise NotNeutral(f"the program sees the order of methods ({seen})")
    groups = [one for one in (_python_groups if language == "python" else _java_groups)(code) if len(one) > 1]
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    return groups


@lru_cache(maxsize=256)
def _python_groups(code: str) -> list[Methods]:
    """For each class its methods, where each has a name of its own and no decorator, and where nothing that is
    evaluated while the class is made can tell their order."""
    groups = []
    lines = Lines.of(code)
    tree = tree_of(code)
    plain = _plain_classes(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef) or node.name not in plain:
            continue
        methods = [one for one in node.body if isinstance(one, FunctionNode)]
        counts = Counter(one.name for one in methods)
        run: list[ast.AST] = [one for one in node.body if not isinstance(one, FunctionNode)]  # while the class is made
        run += [part for one in methods for part in (*one.decorator_list, *_defaults(one), *_annotations(one))]
        every = [part for one in run for part in ast.walk(one)]
        used = {part.id for part in every if isinstance(part, ast.Name)}
        used |= {part.name for part in every if isinstance(part, FunctionNode | ast.ClassDef)}
        used |= {(part.asname or part.name) for part in every if isinstance(part, ast.alias)}
        acts = any(isinstance(part, ACTING) for part in every)
        changed = {part.id for part in every if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
        changed |= {*counts, *(used if acts else ())}
        group = [
            (one.lineno, one.end_lineno or one.lineno)
            for one in methods
            if counts[one.name] == 1
            and not one.decorator_list
            and one.name not in used
            and _still(_defaults(one), STILL, changed)
            and _still(_annotations(one), (*STILL, ast.Subscript, ast.BinOp, ast.BitOr), changed)
        ]
        if len({lines.indent(first) for first, _ in group}) == 1:
            groups.append(group)
    return groups


ACTING = (
    *(ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Delete, ast.Import, ast.ImportFrom, ast.With),
)
"""What may do something when it is evaluated."""
STILL = (
    *(ast.Constant, ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop),
    ast.expr_context,
)
"""What gives the same whenever it is evaluated, as long as nothing changes its names."""
KNOWN_DECORATORS = {"dataclass", "total_ordering", "final", "unique", "runtime_checkable"}
KNOWN_BASES = {
    *(name for name, held in vars(builtins).items() if isinstance(held, type)),
    *("ABC", "Enum", "IntEnum", "Flag", "TestCase", "Thread", "Protocol", "Generic", "NodeVisitor", "NodeTransformer"),
    *("HTMLParser", "Cmd", "UserDict", "UserList", "Mapping", "MutableMapping", "Sequence", "MutableSequence"),
}
"""Classes that do not ask in which order the methods of those below them stand."""


def _plain_classes(tree: ast.Module) -> set[str]:
    """Classes without a metaclass or a decorator that is not known, below such classes alone."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    asking = {
        node.name
        for node in classes
        if any(isinstance(one, FunctionNode) and one.name == "__init_subclass__" for one in node.body)
    }
    plain = {one.name: one for one in classes if not one.keywords and _named(one.decorator_list) <= KNOWN_DECORATORS}
    twice = {name for name, count in Counter(one.name for one in classes).items() if count > 1}
    while True:
        known = (KNOWN_BASES - {one.name for one in classes}) | (plain.keys() - asking)
        left = {name: one for name, one in plain.items() if name not in twice and _named(one.bases) <= known}
        if len(left) == len(plain):
            return set(plain)
        plain = left


def _named(parts: Sequence[ast.expr]) -> set[str]:
    """The last name of each: `Base` of `Base`, `module.Base` and `Base[int]`; the text of what is none of these."""
    found = set()
    for part in parts:
        held = part.func if isinstance(part, ast.Call) else part.value if isinstance(part, ast.Subscript) else part
        found.add(held.attr if isinstance(held, ast.Attribute) else ast.unparse(held))
    return found


def _defaults(function: FunctionNode) -> list[ast.expr]:
    return [one for one in (*function.args.defaults, *function.args.kw_defaults) if one is not None]


def _annotations(function: FunctionNode) -> list[ast.expr]:
    given = [function.returns, *(one.annotation for one in parameters(function))]
    return [one for one in given if one is not None]


def _still(parts: Sequence[ast.expr], kinds: tuple[type[ast.AST], ...], changed: set[str]) -> bool:
    """Whether expressions give the same wherever in the class they stand: nothing but these kinds, and no names that
    something changes."""
    every = [part for one in parts for part in ast.walk(one)]
    named = {one.id for one in every if isinstance(one, ast.Name)}
    return all(isinstance(one, kinds) for one in every) and named.isdisjoint(changed)


@lru_cache(maxsize=256)
def _java_groups(code: str) -> list[Methods]:
    """For each class its methods, where each begins and ends on lines of its own."""
    lines = Lines.of(code)
    groups = []
    for node in nodes(java_root(code)):
        if node.type not in JAVA_CLASSES:
            continue
        group = []
        for child in (one for one in node.named_children if one.type == "method_declaration"):
            first, last = child.start_point[0] + 1, child.end_point[0] + 1
            whole = lines.text[lines.starts[first - 1] : lines.end(last)]
            if whole.strip() == lines.text[slice(*lines.span(child))]:
                group.append((first, last))
        groups.append(group)
    return groups
