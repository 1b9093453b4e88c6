"""Names resolved as the interpreter resolves them: the standard library's symtable is the oracle."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

import pytest

from codestress.mutate.scopes import Scope, names_of, resolve
from standard_library import standard_source

MODULES = [
    *(
        "textwrap",
        "heapq",
        "bisect",
        "argparse",
        "dataclasses",
        "functools",
        "collections/__init__",
        "contextlib",
    ),
    *(
        "enum",
        "fractions",
        "graphlib",
        "inspect",
        "json/decoder",
        "pathlib",
        "shlex",
        "statistics",
        "typing",
    ),
    *("asyncio/tasks", "unittest/mock", "turtle", "ast", "tarfile"),
]


def tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from tables(child)


COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")


def described(table: symtable.SymbolTable) -> tuple[str, int, str]:
    name = table.get_name()
    kind = "comprehension" if name in COMPREHENSIONS else table.get_type()
    return str(kind), table.get_lineno(), "lambda" if name == "lambda" else name


def described_scope(scope: Scope) -> tuple[str, int, str]:
    names = {
        ast.ListComp: "listcomp",
        ast.SetComp: "setcomp",
        ast.DictComp: "dictcomp",
        ast.GeneratorExp: "genexpr",
    }
    name = names.get(type(scope.node), getattr(scope.node, "name", "lambda"))
    node = scope.node
    line = getattr(node, "lineno", 0)
    return scope.kind, line, name


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_resolved_as_the_interpreter_does(module: str) -> None:
    text = standard_source(module)
    ours = names_of(ast.parse(text))
    by_place: dict[tuple[str, int, str], list[Scope]] = {}
    for scope in ours.scopes:
        by_place.setdefault(described_scope(scope), []).append(scope)
    compared = 0
    for table in tables(symtable.symtable(text, module, "exec")):
        if table.get_type() == "module":
            continue
        candidates = by_place.get(described(table), [])
        # Decorated functions have other lines; several lambdas may share one.
        if len(candidates) != 1:
            continue
        scope = candidates[0]
        for symbol in table.get_symbols():
            name = symbol.get_name()
            if name.startswith((".", "__")) or "__" in name:
                continue  # mangled names, hidden arguments
            owner = resolve(name, scope)
            if symbol.is_local() and not symbol.is_free():
                assert owner is scope, (table.get_name(), name)
            elif symbol.is_free():
                assert owner is not None, (table.get_name(), name)
                assert owner is not scope
                assert owner.kind in ("function", "comprehension")
            elif symbol.is_global():
                assert owner is None or owner.kind == "module", (table.get_name(), name)
            compared += 1
    assert compared > 20
