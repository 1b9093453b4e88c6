"""Proof that a mutation is neutral (keeps the program's meaning), by syntax trees alone, as far as
the language allows a proof."""

import ast
from functools import lru_cache
from typing import Any

from codestress.notes import noted
from codestress.sandbox.runtimes import text_of
from codestress.types import Language

from ..scopes import blocks, names_of
from .dead_code import is_false, never_runs
from .trees import (
    JAVA_CLASSES,
    Node,
    NotNeutral,
    field_text,
    java_root,
    tree_of,
)


@noted
def equivalence_error(before: str, after: str, spm: str, language: Language) -> str:
    """Returns why the mutation `spm` (a name of `SPMS`) of the program `before` to `after` is not
    proved neutral; empty if it is. Nothing is run.

    Each mutation leaves the syntax tree the same, apart from its own change. Comments: no change.
    Names: names are mapped one to one. Dead code: statements are added under a condition that is
    always false (`dead_code.py` says which). Functions: methods change places.
    Compositions: all changes of their parts at once.
    """
    parts = tuple(spm.split("+"))
    try:
        form = _java_form if language == "java" else _python_form
        same = form(before, parts) == form(after, parts)
    except NotNeutral as error:
        return str(error)
    return "" if same else "the syntax tree differs"


@lru_cache(maxsize=256)
def _python_form(code: str, parts: tuple[str, ...]) -> str:
    """Form of a Python program that no mutation of the kinds `parts` changes, as text: its tree
    without dead code, if that is one of `parts`, and with numbers for names if these are."""
    tree = tree_of(code)
    if "dead_code" in parts:
        for block, _ in blocks(tree.body):
            block[:] = [node for node in block if not never_runs(node)]
    numbers: dict[str, str] = {}
    for occurrence in names_of(tree).occurrences if "names" in parts else []:
        name = occurrence.name
        occurrence.rename(numbers.setdefault(name, f"name {len(numbers)}"))
    return ast.dump(tree, annotate_fields=False)


@lru_cache(maxsize=256)
def _java_form(code: str, parts: tuple[str, ...]) -> object:
    """Form of a Java program that no mutation of the kinds `parts` changes: its tree of node types
    and texts, without comments. With `names` in `parts`, identifiers are numbered as they appear;
    with `dead_code`, blocks under a condition that is always false are left out; with `functions`,
    the members of classes are sorted."""
    numbers: dict[str, int] = {}

    def shape(node: Node) -> tuple[Any, ...]:
        if not node.children:
            text = text_of(node)
            if "names" in parts and node.type == "identifier":
                text = str(numbers.setdefault(text, len(numbers)))
            return node.type, text
        shapes = []
        for child in node.children:
            dead = "dead_code" in parts and _never_runs(child)
            if "comment" not in child.type and not dead:
                shapes.append(shape(child))
        if "functions" in parts and node.type in JAVA_CLASSES:
            shapes.sort(key=repr)
        return node.type, *shapes

    return shape(java_root(code))


def _never_runs(node: Node) -> bool:
    """Whether a Java node is an `if` without `else` whose condition is false."""
    if node.type != "if_statement" or node.child_by_field_name("alternative"):
        return False
    return is_false(field_text(node, "condition")[1:-1])
