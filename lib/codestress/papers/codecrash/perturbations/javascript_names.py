"""Which names a JavaScript program declares, where, and which it uses without declaring them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

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


def around(node: Node | None, types: Sequence[str]) -> Node | None:
    """The node itself, or the nearest above it, of one of these types."""
    while node is not None and node.type not in types:
        node = node.parent
    return node


def parameters(function: Node | None) -> list[str]:
    """Names that a function's parameters bind."""
    if function is None:
        return []
    single = function.child_by_field_name("parameter")
    return bound(single or function.child_by_field_name("parameters"))


def bound(pattern: Node | None) -> list[str]:
    """Names that a pattern binds; defaults in it are no names."""
    if pattern is None:
        return []
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        return [text_of(pattern)]
    if pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        return bound(pattern.child_by_field_name("left"))
    if pattern.type == "pair_pattern":
        return bound(pattern.child_by_field_name("value"))
    return [name for part in pattern.named_children for name in bound(part)]


def declared(every: Sequence[Node]) -> Iterator[tuple[str, int]]:
    """Each name that is declared, with the identity of the node inside which it is known."""
    for node in every:
        name, parent = node.child_by_field_name("name"), node.parent
        place: Node | None = None
        names: list[str] = []
        match node.type:
            case "function_declaration" | "generator_function_declaration":
                names, place = bound(name), around(parent, (*FUNCTIONS, "program"))
            case "class_declaration":
                names, place = bound(name), around(parent, BLOCKS)
            case "function_expression" | "generator_function" | "class":
                names, place = bound(name), node
            case "variable_declarator":
                hoisted = parent is not None and parent.type == "variable_declaration"
                names, place = bound(name), around(parent, (*FUNCTIONS, "program") if hoisted else BLOCKS)
            case "for_in_statement" if kind := text_of(node.child_by_field_name("kind")):
                outer = around(parent, (*FUNCTIONS, "program"))
                names, place = bound(node.child_by_field_name("left")), outer if kind == "var" else node
            case "catch_clause":
                names, place = bound(node.child_by_field_name("parameter")), node
        if place is not None:
            yield from ((one, place.id) for one in names)
        if node.type in FUNCTIONS:
            yield from ((one, node.id) for one in parameters(node))


def written(every: Sequence[Node]) -> list[str]:
    """Names that something is assigned to after they were declared, each as often as it is."""
    found = []
    for node in every:
        if node.type in WRITES and not node.child_by_field_name("kind"):
            found += bound(node.child_by_field_name("left"))
        elif node.type == "update_expression":
            found += bound(node.child_by_field_name("argument"))
    return found


def free_names(every: Sequence[Node]) -> set[str]:
    """Names that stand somewhere for what is not declared around that place: globals, or nothing."""
    scopes: dict[str, set[int]] = {}
    for name, place in declared(every):
        scopes.setdefault(name, set()).add(place)
    found = set()
    for node in every:
        if node.type in IDENTIFIERS:
            here: Node | None = node
            while here is not None and here.id not in scopes.get(text_of(node), ()):
                here = here.parent
            found |= {text_of(node)} if here is None else set()
    return found
