"""Variables that may be renamed by their text alone: local ones that nobody outside can see or name."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from codestress.generation.edits import Lines
from codestress.generation.scopes import FunctionNode, Names, Scope, names_of
from codestress.papers.faultloc.faults.itself import looks_at
from codestress.papers.faultloc.faults.trees import JAVA_TYPES, NotNeutral, around, java_root, tree_of
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

Spans = dict[str, list[tuple[int, int]]]
"""By name: first character and the one behind the last of each occurrence, in the order of the text."""


@lru_cache(maxsize=512)
def variables(code: str, language: Language) -> Spans:
    """The occurrences of each variable that may be renamed; `NotNeutral` where the program sees names."""
    if seen := looks_at("names", code, language):
        raise NotNeutral(f"the program sees names of variables ({seen})")
    return _python_variables(code) if language == "python" else _java_variables(code)


def _python_variables(code: str) -> Spans:
    """Not: parameters that a caller may give by their names; names that occur as keywords, as whole texts, in f-strings
    (whose positions are unreliable before Python 3.12), in `global`, `except … as` or patterns; names that stand for
    several variables or for a function, class or module too."""
    tree = tree_of(code)
    names = names_of(tree)
    lines = Lines.of(code)
    free = _free_names(tree, names)
    spans: Spans = {}
    for occurrence in names.occurrences:
        name, node = occurrence.name, occurrence.node
        if name in free and isinstance(node, ast.Name | ast.arg):
            start = lines.at(node.lineno, node.col_offset)
            spans.setdefault(name, []).append((start, start + len(name)))
    return {name: sorted(found) for name, found in spans.items()}


def _free_names(tree: ast.Module, names: Names) -> set[str]:
    barred = {part.arg for part in ast.walk(tree) if isinstance(part, ast.keyword) and part.arg is not None}
    barred |= _named_by_callers(tree, names)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            barred |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            barred.add(node.value)  # getattr, __all__, format strings
    owners: dict[str, set[Scope | None]] = {}
    for occurrence in names.occurrences:
        if not isinstance(occurrence.node, ast.Name | ast.arg):
            barred.add(occurrence.name)
        owners.setdefault(occurrence.name, set()).add(names.binding(occurrence))
    found = set()
    for name, scopes in owners.items():
        inside = [one for one in scopes if one is not None and one.kind in ("function", "comprehension")]
        plain = len(inside) == len(scopes) and all(one.bound[name] <= {"parameter", "variable"} for one in inside)
        if plain and name not in barred and name not in ("self", "cls") and not name.startswith("__"):
            found.add(name)
    return found


def _named_by_callers(tree: ast.Module, names: Names) -> set[str]:
    """Parameters that a caller may give by their names: keyword-only ones; all of a decorated function; and those not
    before a `/` of lambdas, of functions that are not private or local, that are ever used but to be called, and of all
    where the program calls anything with `**`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    spread = any(keyword.arg is None for call in calls for keyword in call.keywords)
    called = {id(call.func) for call in calls}
    uses = (node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Attribute) and id(node) not in called)
    used = {node.id if isinstance(node, ast.Name) else node.attr for node in uses}
    found = set[str]()
    for scope in names.scopes:
        function = scope.node
        if not isinstance(function, FunctionNode | ast.Lambda):
            continue
        given = function.args
        found |= {one.arg for one in given.kwonlyargs}
        if spread or isinstance(function, ast.Lambda) or function.name in used or _is_public(function, scope):
            found |= {one.arg for one in given.args}
        if not isinstance(function, ast.Lambda) and function.decorator_list:
            found |= {one.arg for one in (*given.posonlyargs, *given.args, given.vararg, given.kwarg) if one}
    return found


def _is_public(function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
    """Whether somebody who reads no text but the program's interface can call it: a method, or a function of the
    module, without an underscore."""
    hidden = function.name.startswith("_") and not function.name.endswith("__")
    return not hidden and scope.parent is not None and scope.parent.kind != "function"


# --- Java -----------------------------------------------------------------------------------------------------------

DECLARING = ("formal_parameter", "enhanced_for_statement", "resource", "catch_formal_parameter")
OTHERWISE = (
    *("lambda_expression", "inferred_parameters", "labeled_statement", "break_statement", "continue_statement"),
    *("method_reference", "element_value_pair", "switch_label", "annotation", "marker_annotation"),
)
"""Where an identifier may be something else than a variable."""
SCOPES = (
    *("block", "constructor_body", "for_statement", "enhanced_for_statement", "switch_block", "catch_clause"),
    *("try_with_resources_statement", "method_declaration", "constructor_declaration", "lambda_expression"),
)
"""In which a variable that is declared is known."""


def _java_variables(code: str) -> Spans:
    """Not: names that stand for anything else in the file (fields, methods, types, labels, components of records,
    elements of annotations), as whole texts, or where no declaration of a variable is around: an inherited field,
    perhaps, as in every class inside the declaration's scope."""
    lines = Lines.of(code)
    known: dict[str, list[tuple[Node, int]]] = {}
    others = set[str]()
    uses: dict[str, list[Node]] = {}
    for node in nodes(java_root(code)):
        if node.type == "string_literal":
            others.add(text_of(node)[1:-1])
        if node.type not in ("identifier", "type_identifier"):
            continue
        name = text_of(node)
        uses.setdefault(name, []).append(node)
        scope = _declared_in(node)
        if scope is not None:
            known.setdefault(name, []).append((scope, node.start_byte))
        elif _is_other(node):
            others.add(name)
    return {
        name: [lines.span(node) for node in uses[name]]
        for name, places in known.items()
        if name not in others and all(any(_sees(node, *place) for place in places) for node in uses[name])
    }


def _declared_in(node: Node) -> Node | None:
    """The scope of the variable that an identifier declares; None where it declares none."""
    parent = node.parent
    if parent is None or parent.child_by_field_name("name") != node:
        return None
    declaration = parent.parent if parent.type == "variable_declarator" else parent
    if declaration is None or declaration.type not in (*DECLARING, "local_variable_declaration"):
        return None
    scope = next((one for one in around(declaration) if one.type in (*SCOPES, *JAVA_TYPES)), None)
    return None if scope is None or scope.type in JAVA_TYPES else scope


def _is_other(node: Node) -> bool:
    parent = node.parent
    if parent is None or node.type == "type_identifier" or parent.type in OTHERWISE:
        return True
    return node in (parent.child_by_field_name("name"), parent.child_by_field_name("field"))


def _sees(node: Node, scope: Node, declared: int) -> bool:
    """Whether a use stands in a variable's scope, behind its declaration, and in no class inside it."""
    for one in around(node):
        if one == scope:
            return node.start_byte >= declared
        if one.type in JAVA_TYPES:
            return False
    return False
