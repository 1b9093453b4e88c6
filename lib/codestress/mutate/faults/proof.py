"""Proof that a mutation is neutral (keeps the program's meaning), by syntax trees alone, as far as
the language allows a proof."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from codestress.mutate.faults.dead import java_never_runs, never_runs
from codestress.mutate.faults.trees import JAVA_CLASSES, NotNeutral, java_root, tree_of
from codestress.mutate.scopes import names_of
from codestress.notes import noted
from codestress.sandbox.runtimes import text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node


@noted
def equivalence_error(before: str, after: str, spm: str, language: Language) -> str:
    """Returns why the mutation `spm` (a name of `SPMS`) of the program `before` to `after` is not
    proved neutral; empty if it is. Nothing is run.

    Each mutation leaves the syntax tree the same, apart from its own change. Comments: no change.
    Names: names are mapped one to one. Dead code: statements are added under a condition that is
    always false, and no name stands for another variable. Functions: methods change places.
    Compositions: all changes of their parts at once.
    """
    parts = tuple(spm.split("+"))
    try:
        form = _java_form if language == "java" else _form
        (shape, variables), (mutated, others) = form(before, parts), form(after, parts)
    except NotNeutral as error:
        return str(error)
    if shape != mutated:
        return "the syntax tree is another"
    if variables != others:
        return "dead code binds a name that the program has elsewhere"
    return ""


@lru_cache(maxsize=256)
def _form(code: str, parts: tuple[str, ...]) -> tuple[str, list[int]]:
    """Two things in a Python program that a mutation of the kinds `parts` must not change: the
    program's shape as text and, if `parts` has `dead_code`, a number for each name in runnable
    code, in order, that stands for the scope of its variable (an empty list otherwise)."""
    tree = tree_of(code)
    names = names_of(tree) if "dead_code" in parts or "names" in parts else None
    occurrences, variables = names.occurrences if names else [], []
    if "dead_code" in parts and names:
        dead = _remove_dead(tree)
        occurrences = [one for one in occurrences if id(one.node) not in dead]
        scopes: dict[object, int] = {}
        bound = (names.binding(one) for one in occurrences)
        variables = [
            scopes.setdefault(None if scope is None else id(scope), len(scopes))
            for scope in bound
        ]
    if "names" in parts:
        numbers: dict[str, str] = {}
        for occurrence in occurrences:
            occurrence.rename(
                numbers.setdefault(occurrence.name, f"name {len(numbers)}")
            )
    return ast.dump(tree, annotate_fields=False), variables


def _remove_dead(tree: ast.AST) -> set[int]:
    """Removes the statements that never run (`never_runs`) from a syntax tree, in place, and
    returns Python's `id` of each of their nodes."""
    dead: set[int] = set()
    for node in ast.walk(tree):
        for block in vars(node).values():
            for statement in [*block] if isinstance(block, list) else []:
                if isinstance(statement, ast.stmt) and never_runs(statement):
                    dead.update(map(id, ast.walk(statement)))
                    block.remove(statement)
    return dead


@lru_cache(maxsize=256)
def _java_form(code: str, parts: tuple[str, ...]) -> tuple[object, list[int]]:
    """Two things as in `_form`, for a Java program: the program's shape, and always an empty list,
    since dead code names no variable of the program."""
    return _java_shape(java_root(code), parts, {}), []


def _java_shape(
    node: Node, parts: tuple[str, ...], numbers: dict[str, int]
) -> tuple[Any, ...] | str:
    """Tree of node types and texts, without comments. With `names` in `parts`, identifiers are
    numbered as they appear (in `numbers`); with `dead_code`, blocks under a condition that is
    always false are left out; with `functions`, the members of classes are sorted."""
    if not node.children:
        text = text_of(node)
        if "names" in parts and node.type == "identifier":
            text = str(numbers.setdefault(text, len(numbers)))
        return f"{node.type}:{text}"
    shapes = [
        _java_shape(child, parts, numbers)
        for child in node.children
        if "comment" not in child.type
        and not ("dead_code" in parts and java_never_runs(child))
    ]
    if "functions" in parts and node.type in JAVA_CLASSES:
        shapes.sort(key=repr)
    return (node.type, *shapes)
