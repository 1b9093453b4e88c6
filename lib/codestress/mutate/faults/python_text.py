"""Parts of Python programs that are known from the program's text alone: iterables
without elements, generators, and functions that a later definition replaces."""

import ast
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from codestress.literals import literal_of

from ..scopes import FunctionNode
from .trees import RULES

WRAPPERS = frozenset(RULES["python_wrappers"])
"""Built-ins that return nothing for an argument without elements."""
EMPTY = re.compile(RULES["python_empty"])
"""Pattern of the texts of expressions without elements, unless the program has unusual
classes."""


def names_read(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the names that some nodes read."""
    for node in nodes:
        match node:
            case ast.Name(name, ast.Load()):
                yield name


def yields(function: ast.AST) -> bool:
    """Return whether a call of a function runs nothing at once, since it is a generator
    or a coroutine."""
    own = [*map(type, ast.walk(function))]
    return own[0] is ast.AsyncFunctionDef or ast.Yield in own or ast.YieldFrom in own


def raises(node: ast.stmt) -> bool:
    """Return whether a statement may raise an exception, since it calls or imports
    something."""
    raising = ast.Call | ast.Import | ast.ImportFrom
    return any(isinstance(part, raising) for part in ast.walk(node))


def is_empty(node: ast.expr) -> bool:
    """Return whether the text of an iterable shows that it has no elements in most
    programs: `[]`, `range(5, 5)`, `zip([], names)`, `names[:0]`, `range(n, n)`."""
    match node:
        case ast.Call(ast.Name("range"), arguments):
            with suppress(ValueError, TypeError):
                return not range(*(literal_of(item).value for item in arguments))
        case ast.Call(ast.Name(name), [_, *_] as arguments) if name in WRAPPERS:
            return any(map(is_empty, arguments))
    return bool(EMPTY.fullmatch(ast.unparse(node)))


def replaced(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the functions and classes of a block that another definition in it replaces before
    anything that runs by then reads them; not those called `_`, which decorators keep."""
    later = set[str]()
    for node in reversed(block):
        own = getattr(node, "name", "_")
        if own in later - {"_"}:
            yield node
        later.add(own)
        at_once: list[ast.AST] = [node]
        if isinstance(node, FunctionNode):
            at_once = [node.args, *node.decorator_list]
        for part in at_once:
            later.difference_update(names_read(ast.walk(part)))
