"""Places for messages in JavaScript programs."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from codestress.mutate.perturbations.edits import MessageSite
from codestress.mutate.perturbations.javascript_names import (
    FUNCTIONS,
    line_of,
    part,
    text_at,
)
from codestress.sandbox.runtimes import nodes

METHODS = {
    "push": "append",
    "concat": "extend",
    "splice": "insert",
    "unshift": "insert",
    "delete": "remove",
    "set": "update",
    "replaceAll": "replace",
    "toLowerCase": "lower",
    "toUpperCase": "upper",
}
SAME_METHODS = ("pop", "sort", "reverse", "add", "split", "join", "replace")
"""JavaScript methods, with the Python methods whose messages they get; `SAME_METHODS` get those of
their own names."""
KINDS = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "method_definition": "function",
    "while_statement": "while",
    "for_statement": "for",
    "for_in_statement": "for",
    "if_statement": "condition",
    "augmented_assignment_expression": "operator",
}
"""Kind of the place for messages at a node, by the node's type, where that alone decides."""
ARITHMETIC = {"+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>", ">>>"}


def message_sites(root: Node, code: str) -> Iterator[MessageSite]:
    """Yields the places where a message may stand on a line of its own in the program `code` with
    the syntax tree `root`, in the order of the text."""
    inside = set[int]()
    for node in nodes(root):
        if node.type in ("template_string", "comment", "string"):
            inside.update(range(node.start_point[0] + 1, node.end_point[0] + 1))
    lines = code.split("\n")
    ordinal = -1
    for node in nodes(root):
        kind = _kind(node)
        ordinal += kind == "return"
        site = _site(node, kind, ordinal) if kind else None
        if site is None or inside & {site.line, site.print_line - 1}:
            continue
        if not lines[site.print_line - 1][: site.print_indent].strip():
            yield site


def _kind(node: Node) -> str:
    """Kind (a key of messages.yaml) of the place for messages at a node; empty where no message may
    stand."""
    match node.type:
        case "return_statement":
            return "return" if node.named_children else ""
        case "variable_declarator" | "assignment_expression":
            return _assignment(node)
        case "call_expression":
            name = text_at(part(node, "function"), "property")
            return name if name in SAME_METHODS else METHODS.get(name, "")
    return KINDS.get(node.type, "")


def _assignment(node: Node) -> str:
    """Kind of the place at a declaration or assignment; empty for functions, patterns and the
    counter of a loop."""
    target, value = part(node, "name", "left"), part(node, "value", "right")
    if target is None or target.type != "identifier":
        return ""
    if value is None or value.type in FUNCTIONS:
        return ""
    statement = node.parent and node.parent.parent
    if statement is not None and statement.type == "for_statement":
        return ""
    if value.type == "binary_expression" and text_at(value, "operator") in ARITHMETIC:
        return "operator"
    return "assignment"


def _site(node: Node, kind: str, ordinal: int) -> MessageSite | None:
    """Place for messages at a node; None where no line of its own can stand there."""
    if kind in ("function", "while", "for", "condition"):
        block = part(node, "body", "consequence")
        if block is None or (inside := _inside(block)) is None:
            return None
        line = inside[0] if kind in ("while", "for") else line_of(block)
        return MessageSite(kind, line, *inside)
    statement = _statement(node)
    if statement is None:
        return None
    above = line_of(statement), statement.start_point[1]
    if kind == "return":
        return MessageSite(kind, node.end_point[0] + 1, *above, ordinal=ordinal)
    return MessageSite(kind, _header(statement), *above)


def _statement(node: Node) -> Node | None:
    """Statement that holds a node and stands directly in a block or at the top level; None for a
    node in the head of a function (but an arrow function), before which no line can stand."""
    while node.parent is not None and node.parent.type not in (
        "statement_block",
        "program",
    ):
        if node.parent.type in FUNCTIONS and node.parent.type != "arrow_function":
            return None
        node = node.parent
    return node if node.parent is not None else None


def _header(statement: Node) -> int:
    """Number of the line on which a statement's head ends, before the block; of the statement's
    last line where it has no block."""
    below = (one for one in nodes(statement) if one.type == "statement_block")
    block = part(statement, "body", "consequence") or next(below, None)
    return (block.start_point[0] if block is not None else statement.end_point[0]) + 1


def _inside(block: Node) -> tuple[int, int] | None:
    """Line (from 1) and indent in spaces of a block's first statement; None where the block has no
    braces or no statement, or the statement begins on the block's own first line."""
    statements = [child for child in block.named_children if child.type != "comment"]
    if block.type != "statement_block" or not statements:
        return None
    row, indent = statements[0].start_point
    return (row + 1, indent) if row != block.start_point[0] else None
