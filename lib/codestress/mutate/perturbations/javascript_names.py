"""Names in JavaScript programs: what declares them, and where they are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain

import tree_sitter
import tree_sitter_javascript
from tree_sitter import Node

from codestress.sandbox.runtimes import nodes, text_of

FUNCTIONS = (
    "function_declaration",
    "function_expression",
    "generator_function_declaration",
    "generator_function",
    "method_definition",
    "arrow_function",
)
IDENTIFIERS = (
    "identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
)
BLOCKS = (
    "statement_block",
    "for_statement",
    "for_in_statement",
    "switch_body",
    "class_static_block",
    "program",
)
DECLARATIONS = """
[(function_declaration name: (_) @function_hoisted) (generator_function_declaration name: (_) @function_hoisted)]
[(function_expression name: (_) @function) (generator_function name: (_) @expression) (class name: (_) @expression)]
(class_declaration name: (_) @class_block)
(variable_declaration (variable_declarator name: (_) @variable_hoisted))
(variable_declaration (variable_declarator name: (_) @function_hoisted
  value: [(arrow_function) (function_expression) (generator_function) (class)]))
(lexical_declaration (variable_declarator name: (_) @variable_block))
(lexical_declaration (variable_declarator name: (_) @function_block
  value: [(arrow_function) (function_expression) (generator_function) (class)]))
(for_in_statement kind: "var" left: (_) @variable_hoisted)
(for_in_statement kind: ["let" "const"] left: (_) @variable)
[(_ parameters: (_) @variable) (_ parameter: (_) @variable)]
"""
"""Tree-sitter query for declared names. A capture says what a name is declared as (an expression's
own name is known to that expression alone), and where the name is known: in the function or block
around, else in the declaring node."""


@cache
def query_cursor(query: str) -> tree_sitter.QueryCursor:
    language = tree_sitter.Language(tree_sitter_javascript.language())
    return tree_sitter.QueryCursor(tree_sitter.Query(language, query))


def part(node: Node | None, *fields: str) -> Node | None:
    """First child of a syntax-tree node under one of the field names `fields`, tried in order; None
    if there is no such child or `node` is None."""
    children = [node.child_by_field_name(field) for field in fields] if node else []
    return next(filter(None, children), None)


def text_at(node: Node | None, *fields: str) -> str:
    """Text of the child of `node` that `part` finds under `fields`; empty without such a child."""
    return text_of(part(node, *fields))


def line_of(node: Node) -> int:
    """Line on which a node begins, from 1."""
    return node.start_point[0] + 1


def around(node: Node | None, types: Sequence[str]) -> Node | None:
    """Nearest node whose type is in `types`, from `node` itself upwards; None without such a
    node."""
    while node is not None and node.type not in types:
        node = node.parent
    return node


def parameters(function: Node | None) -> list[str]:
    """Names that the parameters of a function's node bind; empty where `function` is None."""
    return bound(part(function, "parameter", "parameters"))


def bound(pattern: Node | None) -> list[str]:
    """Names that the node of a pattern (a parameter, or the left side of an assignment) binds,
    without names in default values; empty where `pattern` is None."""
    if pattern is None:
        return []
    match pattern.type:
        case "identifier" | "shorthand_property_identifier_pattern":
            return [text_of(pattern)]
        case "assignment_pattern" | "object_assignment_pattern":
            return bound(part(pattern, "left"))
        case "pair_pattern":
            return bound(part(pattern, "value"))
    return [*chain.from_iterable(map(bound, pattern.named_children))]


def declared(root: Node) -> Iterator[tuple[str, str, int]]:
    """Yields each declared name, its kind of declaration (`function`, `variable`, `class`;
    `expression` for the own name of a class or generator expression), and the id of the node inside
    which the name is known. A variable whose value is a function is yielded twice, with both
    kinds."""
    within = {"hoisted": (*FUNCTIONS, "program"), "block": BLOCKS}
    for capture, found in query_cursor(DECLARATIONS).captures(root).items():
        kind, _, where = capture.partition("_")
        # The order of one capture's nodes differs between processes.
        for node in sorted(found, key=lambda node: (node.start_byte, node.end_byte)):
            place = node.parent
            if where and place is not None:
                place = around(place.parent, within[where])
            if place is not None:
                yield from ((name, kind, place.id) for name in bound(node))


def free_names(root: Node) -> set[str]:
    """Names that are used where no declaration of the name holds: globals, or undefined names."""
    scopes: dict[str, set[int]] = {}
    for name, _, place in declared(root):
        scopes.setdefault(name, set()).add(place)
    free = set()
    for node in nodes(root):
        if node.type in IDENTIFIERS:
            name = text_of(node)
            here: Node | None = node
            while here is not None and here.id not in scopes.get(name, ()):
                here = here.parent
            if here is None:
                free.add(name)
    return free
