"""Places of a program that mutations change.

The places are lines before which a statement or a comment may be inserted, methods
whose order the program usually cannot see, and all occurrences of local variables that
may be renamed.
"""

import ast
from functools import lru_cache

from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

from ..edits import Lines, first_line, is_alone
from ..scopes import FunctionNode, blocks, names_of
from .trees import (
    JAVA_CLASSES,
    JAVA_METHODS,
    JAVA_TYPES,
    RULES,
    Node,
    NotNeutral,
    around,
    java_root,
    refuse_seen,
    tree_of,
)

Methods = list[tuple[int, int]]
"""First and last line of each method, from 1."""
NO_PLACE = ("global ", "nonlocal ", "elif ", "elif(")


@lru_cache(maxsize=512)
def statement_lines(code: str, language: Language) -> list[int]:
    """Return the numbers, from 1, of the lines before which another statement may be
    inserted, in order.

    Such a line begins with a statement inside a function, method or constructor. Raises
    `NotNeutral` if the program does not parse.
    """
    search = _python_lines if language == "python" else _java_lines
    return sorted(search(code))


def _python_lines(code: str) -> set[int]:
    lines = Lines(code)
    numbers = set[int]()
    tree = tree_of(code)
    for block, owner in blocks(tree.body):
        if not isinstance(owner, FunctionNode):
            continue
        documented = block is owner.body and ast.get_docstring(owner) is not None
        for statement in block[documented:]:
            first = first_line(statement)
            start = lines.starts[first - 1]
            continued = lines.text.endswith(f"\\{lines.feed}", 0, start)
            barred = lines.text.startswith(NO_PLACE, start + len(lines.indent(first)))
            if not (continued or barred) and is_alone(statement, lines):
                numbers.add(first)
    return numbers


def _java_lines(code: str) -> set[int]:
    lines = Lines(code)
    numbers = set[int]()
    fixed = ("explicit_constructor_invocation", "line_comment", "block_comment")
    for node in nodes(java_root(code)):
        if node.type not in ("block", "constructor_body"):
            continue
        if all(outer.type not in JAVA_METHODS for outer in around(node)):
            continue
        for child in node.named_children:
            row, column = child.start_point
            first = len(lines.indent(row + 1)) == column
            if first and child.type not in fixed:
                numbers.add(row + 1)
    return numbers


def movable(code: str, language: Language) -> list[Methods]:
    """Return, for each Java class with at least two methods that may change places, the
    first and last line of each such method.

    Lines count from 1. A method that shares a line with other code may not change its
    place. Raises `NotNeutral` if there is no such class, if the program may see the
    order of methods, and for Python, whose methods the paper leaves in place (Table I).
    """
    if language == "python":
        raise NotNeutral("functions are shuffled in Java alone")
    refuse_seen("order", code, language)
    lines = Lines(code)
    groups = []
    for node in nodes(java_root(code)):
        group = []
        for child in node.named_children if node.type in JAVA_CLASSES else ():
            first, last = child.start_point[0] + 1, child.end_point[0] + 1
            whole = lines.text[lines.starts[first - 1] : lines.end(last)]
            alone = whole.strip() == text_of(child)
            if child.type == "method_declaration" and alone:
                group.append((first, last))
        if len(group) > 1:
            groups.append(group)
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    return groups


# --- local variables ---


Spans = dict[str, list[tuple[int, int]]]
"""Dict from a name to its occurrences, in the order of the text: index of the first
character and index after the last, from 0."""


@lru_cache(maxsize=512)
def variables(code: str, language: Language) -> Spans:
    """Return a dict from each variable that may be renamed to its occurrences
    (`Spans`).

    Raises `NotNeutral` if the program may see names of variables, or does not parse.
    """
    refuse_seen("names", code, language)
    return _python_variables(code) if language == "python" else _java_variables(code)


def _python_variables(code: str) -> Spans:
    """Return a dict from each Python variable that may be renamed to its occurrences.

    Left out are parameters, which a caller may pass by keyword. Left out are also names
    that occur as keywords, as whole texts, in f-strings (whose positions are unreliable
    before Python 3.12), in `global`, in `except … as` or in patterns. Names that stand
    for a function, class, module or global anywhere are left out too.
    """
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
        # Tools look for some names with underscores: `__tracebackhide__`.
        if (
            scope is not None
            and scope.kind in ("function", "comprehension")
            and scope.bound[name] == {"variable"}
            and isinstance(node, ast.Name)
            and not name.startswith("__")
        ):
            spans.setdefault(name, []).append(lines.span(node))
        else:
            barred.add(name)
    return {
        name: sorted(places) for name, places in spans.items() if name not in barred
    }


DECLARING, OTHERWISE = RULES["java"]["declaring"], RULES["java"]["other_names"]
"""Types of nodes: those that declare a Java variable, and those in which an identifier
may be something else than a variable."""


def _java_variables(code: str) -> Spans:
    """Return a dict from each Java variable that may be renamed to its occurrences.

    Left out are names that stand for anything else in the file: fields, methods, types,
    labels, components of records, elements of annotations. Left out are also names that
    occur as whole texts, and names used outside the scope of their declarations; there
    they may mean an inherited field. For the same reason, a class inside the scope
    counts as outside.
    """
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
    local = {}
    for name, places in known.items():
        seen = []
        for node in uses[name]:
            seen.append(any(_sees(node, *place) for place in places))
        if all(seen) and name not in others:
            local[name] = [lines.span(node) for node in uses[name]]
    return local


def _declared_in(node: Node) -> Node | None:
    """Return the scope (a node) of the local variable that the identifier `node`
    declares; None if it declares none."""
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
    """Return whether the identifier `node` can mean the variable that is declared in
    `scope` at the byte `declared`.

    It can if it stands in `scope`, not before that byte, and not in a class inside the
    scope.
    """
    for outer in around(node):
        if outer == scope:
            return bool(node.start_byte >= declared)
        if outer.type in JAVA_TYPES:
            return False
    return False
