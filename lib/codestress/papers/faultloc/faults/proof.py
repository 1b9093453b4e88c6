"""The proof that a mutation is neutral, as far as the language allows, by syntax trees alone."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from codestress.generation.scopes import FunctionNode, names_of
from codestress.notes import noted
from codestress.papers.faultloc.faults.dead import java_never_runs, never_runs
from codestress.papers.faultloc.faults.trees import JAVA_CLASSES, NotNeutral, java_root, tree_of
from codestress.sandbox.runtimes import text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node


@noted
def equivalence_error(before: str, after: str, spm: str, language: Language) -> str:
    """Why a mutation is not neutral, by its syntax tree; empty where it is.

    Comments: the tree is the same. Names: the same with names mapped one to one. Dead code: the same without statements
    under a condition that is always false, and no name stands for another variable. Functions: the same with methods
    sorted. Compositions: all of these at once.
    """
    parts = tuple(spm.split("+"))
    try:
        if language == "java":
            return "" if _java_form(before, parts) == _java_form(after, parts) else "the syntax tree is another"
        (shape, variables), (mutated, others) = _form(before, parts), _form(after, parts)
        if shape != mutated:
            return "the syntax tree is another"
        if variables != others:
            return "dead code binds a name that the program has elsewhere"
    except NotNeutral as error:
        return str(error)
    return ""


@lru_cache(maxsize=256)
def _form(code: str, parts: tuple[str, ...]) -> tuple[str, list[int]]:
    """What a mutation must not change in a program: its shape and, under dead code, for each name in code that may run,
    in order, which variable it stands for, scopes numbered as they appear."""
    tree = tree_of(code)
    if "functions" in parts:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                node.body.sort(key=lambda one: one.name if isinstance(one, FunctionNode) else "")
    names = names_of(tree) if "dead_code" in parts or "names" in parts else None
    occurrences, variables = names.occurrences if names else [], []
    if "dead_code" in parts and names:
        dead = _remove_dead(tree)
        occurrences = [one for one in occurrences if id(one.node) not in dead]
        scopes: dict[object, int] = {}
        bound = (names.binding(one) for one in occurrences)
        variables = [scopes.setdefault(None if scope is None else id(scope), len(scopes)) for scope in bound]
    if "names" in parts:
        numbers: dict[str, str] = {}
        for occurrence in occurrences:
            occurrence.rename(numbers.setdefault(occurrence.name, f"name {len(numbers)}"))
    return ast.dump(tree, annotate_fields=False), variables


def _remove_dead(tree: ast.AST) -> set[int]:
    """Takes the statements that never run out of a tree; the ids of all their nodes."""
    dead: set[int] = set()
    for node in ast.walk(tree):
        for block in (value for value in vars(node).values() if isinstance(value, list)):
            if gone := [one for one in block if isinstance(one, ast.stmt) and never_runs(one)]:
                dead |= {id(part) for one in gone for part in ast.walk(one)}
                block[:] = [one for one in block if one not in gone]
    return dead


@lru_cache(maxsize=256)
def _java_form(code: str, parts: tuple[str, ...]) -> object:
    """What a mutation must not change in a program."""
    return _java_shape(java_root(code), parts, {})


def _java_shape(node: Node, parts: tuple[str, ...], numbers: dict[str, int]) -> tuple[Any, ...] | str:
    """A tree of types and texts, without comments; for names with identifiers numbered as they appear; for dead code
    without blocks under a condition that is always false; for functions with the members of classes sorted."""
    if not node.children:
        text = text_of(node)
        if "names" in parts and node.type == "identifier":
            text = str(numbers.setdefault(text, len(numbers)))
        return f"{node.type}:{text}"
    shapes = [
        _java_shape(child, parts, numbers)
        for child in node.children
        if "comment" not in child.type and not ("dead_code" in parts and java_never_runs(child))
    ]
    if "functions" in parts and node.type in JAVA_CLASSES:
        shapes.sort(key=repr)
    return (node.type, *shapes)
