"""Which names a JavaScript program declares, where, and which it uses without declaring them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from codestress.sandbox.runtimes import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = (
    *("function_declaration", "function_expression", "generator_function_declaration", "generator_function"),
    *("method_definition", "arrow_function"),
)
IDENTIFIERS = ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern")
BLOCKS = ("statement_block", "for_statement", "for_in_statement", "switch_body", "class_static_block", "program")
WRITES = ("assignment_expression", "augmented_assignment_expression", "for_in_statement")
Declared = Literal["function", "class", "variable", "expression"]
"""What a name is declared as; the last is known to the expression alone that it names."""


def part(node: Node | None, *fields: str) -> Node | None:
    """The first part that a node has under one of these names of its grammar."""
    return next((found for one in fields if node is not None and (found := node.child_by_field_name(one))), None)


def text_at(node: Node | None, *fields: str) -> str:
    """The text of that part; empty where there is none."""
    return text_of(part(node, *fields))


def line_of(node: Node) -> int:
    """The line on which a node begins."""
    return node.start_point[0] + 1


def around(node: Node | None, types: Sequence[str]) -> Node | None:
    """The node itself, or the nearest above it, of one of these types."""
    while node is not None and node.type not in types:
        node = node.parent
    return node


def parameters(function: Node | None) -> list[str]:
    """Names that a function's parameters bind."""
    return bound(part(function, "parameter", "parameters"))


def bound(pattern: Node | None) -> list[str]:
    """Names that a pattern binds; defaults in it are no names."""
    if pattern is None:
        return []
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        return [text_of(pattern)]
    if pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        return bound(part(pattern, "left"))
    if pattern.type == "pair_pattern":
        return bound(part(pattern, "value"))
    return [name for one in pattern.named_children for name in bound(one)]


def declared(every: Sequence[Node]) -> Iterator[tuple[str, Declared, int]]:
    """Each name that is declared, as what, with the identity of the node inside which it is known."""
    for node in every:
        kind: Declared = "variable"
        names, place, parent = part(node, "name"), None, node.parent
        match node.type:
            case "function_declaration" | "generator_function_declaration":
                kind, place = "function", around(parent, (*FUNCTIONS, "program"))
            case "class_declaration":
                kind, place = "class", around(parent, BLOCKS)
            case "function_expression":
                kind, place = "function", node
            case "generator_function" | "class":
                kind, place = "expression", node
            case "variable_declarator":
                value = part(node, "value")
                kind = "function" if value and value.type in ("arrow_function", "function_expression") else "variable"
                hoisted = parent is not None and parent.type == "variable_declaration"
                place = around(parent, (*FUNCTIONS, "program") if hoisted else BLOCKS)
            case "for_in_statement" if said := text_at(node, "kind"):
                names, place = part(node, "left"), node if said != "var" else around(parent, (*FUNCTIONS, "program"))
            case "catch_clause":
                names, place = part(node, "parameter"), node
        if place is not None:
            yield from ((one, kind, place.id) for one in bound(names))
        if node.type in FUNCTIONS:
            yield from ((one, "variable", node.id) for one in parameters(node))


def written(every: Sequence[Node]) -> list[str]:
    """Names that something is assigned to after they were declared, each as often as it is."""
    targets = (
        part(node, "argument" if node.type == "update_expression" else "left")
        for node in every
        if node.type == "update_expression" or (node.type in WRITES and not part(node, "kind"))
    )
    return [name for target in targets for name in bound(target)]


def free_names(every: Sequence[Node]) -> set[str]:
    """Names that stand somewhere for what is not declared around that place: globals, or nothing."""
    scopes: dict[str, set[int]] = {}
    for name, _, place in declared(every):
        scopes.setdefault(name, set()).add(place)
    found = set()
    for node in every:
        if node.type in IDENTIFIERS:
            here: Node | None = node
            while here is not None and here.id not in scopes.get(text_of(node), ()):
                here = here.parent
            found |= {text_of(node)} if here is None else set()
    return found
