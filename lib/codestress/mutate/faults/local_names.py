"""Local variables of a program that may be renamed, with all their occurrences."""

import ast
from functools import lru_cache

from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

from ..edits import Lines
from ..scopes import names_of
from .hidden import refuse_seen
from .trees import JAVA_TYPES, RULES, Node, around, java_root, tree_of

Spans = dict[str, list[tuple[int, int]]]
"""Occurrences by name, in the order of the text: index of the first character, and of the character
behind the last."""


@lru_cache(maxsize=512)
def variables(code: str, language: Language) -> Spans:
    """Returns the occurrences of each variable that may be renamed, by name: pairs of the first
    character's index and the index behind the last. Raises `NotNeutral` if the program may see
    names, or does not parse."""
    refuse_seen("names", code, language)
    return _python_variables(code) if language == "python" else _java_variables(code)


def _python_variables(code: str) -> Spans:
    """Occurrences of the Python variables that may be renamed, by name. Left out are parameters,
    which a caller may give by their names; names that occur as keywords, as whole texts, in
    f-strings (whose positions are unreliable before Python 3.12), in `global`, `except … as` or
    patterns; names that stand for a function, class, module or global somewhere."""
    tree = tree_of(code)
    names = names_of(tree)
    lines = Lines(code)
    barred = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.arg(str(name)) | ast.keyword(str(name)) | ast.Constant(str(name)):
                barred.add(name)
            case ast.JoinedStr():
                barred.update(getattr(part, "id", "") for part in ast.walk(node))
    spans: Spans = {}
    for occurrence in names.occurrences:
        name, node, scope = occurrence.name, occurrence.node, occurrence.binding
        special = name.startswith("__")  # tools look for some: `__tracebackhide__`
        if special or scope is None or scope.kind not in ("function", "comprehension"):
            barred.add(name)
        elif scope.bound[name] == {"variable"} and isinstance(node, ast.Name):
            start = lines.at(node.lineno, node.col_offset)
            spans.setdefault(name, []).append((start, start + len(name)))
        else:
            barred.add(name)
    return {
        name: sorted(places) for name, places in spans.items() if name not in barred
    }


DECLARING, OTHERWISE = RULES["java"]["declaring"], RULES["java"]["other_names"]
"""Types of nodes that declare a Java variable, and of those in which an identifier may be something
else than a variable."""


def _java_variables(code: str) -> Spans:
    """Occurrences of the Java variables that may be renamed, by name. Left out are names that stand
    for anything else in the file (fields, methods, types, labels, components of records, elements
    of annotations), that occur as whole texts, or that are used outside the scope of their
    declarations: perhaps an inherited field, as in every class inside the scope."""
    lines = Lines(code)
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
        if name not in others
        and all(any(_sees(node, *place) for place in places) for node in uses[name])
    }


def _declared_in(node: Node) -> Node | None:
    """Node that is the scope of the local variable that the identifier `node` declares; None if it
    declares none."""
    declaration = node.parent
    if declaration.child_by_field_name("name") != node:
        return None
    if declaration.type == "variable_declarator":
        declaration = declaration.parent
    if declaration.type not in DECLARING:
        return None
    scope = declaration
    while scope.type in (*DECLARING[1:], "formal_parameters", "resource_specification"):
        scope = scope.parent
    return None if scope.type in JAVA_TYPES else scope


def _is_other(node: Node) -> bool:
    parent = node.parent
    if node.type == "type_identifier" or parent.type in OTHERWISE:
        return True
    return node in map(parent.child_by_field_name, ("name", "field"))


def _sees(node: Node, scope: Node, declared: int) -> bool:
    """Whether the identifier `node` stands in `scope` (a node) of a variable, not before the byte
    `declared` where the variable is declared, and in no class inside the scope."""
    for outer in around(node):
        if outer == scope:
            return bool(node.start_byte >= declared)
        if outer.type in JAVA_TYPES:
            return False
    return False
