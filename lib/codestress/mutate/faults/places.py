"""Places of a program that mutations change: lines before which a statement or a comment may be
inserted, methods whose order the program usually cannot see, and local variables that may be renamed,
with all their occurrences."""

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
    """Numbers, from 1, of the lines that begin with a statement inside a function, method or
    constructor, before which another statement may be inserted; in the order of the text. Raises
    `NotNeutral` if the program does not parse."""
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
    """Returns, for each Java class with at least two methods that may change places, a list with
    the first and last line of each such method, from 1; methods that share a line with other code
    may not. Raises `NotNeutral` if there is no such class, if the program may see the order, and
    for Python, whose methods the paper leaves in place (Table I)."""
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
    local = {}
    for name, places in known.items():
        seen = []
        for node in uses[name]:
            seen.append(any(_sees(node, *place) for place in places))
        if all(seen) and name not in others:
            local[name] = [lines.span(node) for node in uses[name]]
    return local


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
