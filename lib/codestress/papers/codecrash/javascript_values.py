"""Values that a JavaScript text writes out: parsed by tree-sitter, never evaluated."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from codestress.literals import LONGEST_TEXT
from codestress.sandbox.runtimes import parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 200


def assertion_sides(text: str, function: str) -> tuple[str, str]:
    """The call, and the value as a Python literal, of `f(…) === VALUE`; of a value alone the value twice.

    `SyntaxError` where the text is no expression, `ValueError` where the left side is no call of `function` or the
    right side no value.
    """
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"longer than {LONGEST_TEXT:,} characters")
    root = parser("javascript").parse(f"({text.strip().rstrip(';')}\n)".encode("utf-8", "replace")).root_node
    statement = root.named_children[0] if len(root.named_children) == 1 else None
    if root.has_error or statement is None or statement.type != "expression_statement":
        raise SyntaxError("not an expression")
    node = _inner(statement.named_children[0])
    if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) in ("==", "==="):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        called = left.child_by_field_name("function") if left is not None else None
        if left is None or right is None or left.type != "call_expression" or text_of(called) != function:
            raise ValueError(f"the left side is no call of {function}")
        return text_of(left), repr(value_of(_inner(right)))
    value = repr(value_of(node))
    return value, value


def _inner(node: Node) -> Node:
    while node.type == "parenthesized_expression" and len(node.named_children) == 1:
        node = node.named_children[0]
    return node


def value_of(node: Node, depth: int = 0) -> Any:
    """The value of a literal as Python data; `ValueError` for anything else. undefined counts as null."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    text = text_of(node)
    match node.type:
        case "true" | "false":
            return node.type == "true"
        case "null" | "undefined":
            return None
        case "number":
            return _number(text)
        case "string":
            return _string(text)
        case "array":
            return [value_of(child, depth + 1) for child in node.named_children]
        case "object":
            return dict(_pair(child, depth) for child in node.named_children)
        case "unary_expression" if text.startswith("-"):
            value = value_of(node.named_children[0], depth + 1)
            if isinstance(value, int | float) and not isinstance(value, bool):
                return -value
    raise ValueError(f"not a value: {node.type}")


def _pair(node: Node, depth: int) -> tuple[str, Any]:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if node.type != "pair" or key is None or value is None:
        raise ValueError(f"not a value: {node.type}")
    name = text_of(key)
    return (_string(name) if key.type == "string" else name), value_of(value, depth + 1)


def _number(text: str) -> int | float:
    if re.fullmatch(r"[0-9]+", text) and len(text) < 400:
        return int(text)
    if re.fullmatch(r"[0-9]*\.?[0-9]*(e[+-]?[0-9]{1,3})?", text, re.I):
        value = float(text)
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    raise ValueError(f"not a number: {text[:40]}")


def _string(text: str) -> str:
    """The content of a quoted text, its quotes made those of JSON."""
    content = re.sub(r"\\'", "'", text[1:-1])
    if text[0] == "'":
        content = re.sub(r'(?<!\\)"', '\\"', content)
    try:
        return str(json.loads(f'"{content}"', strict=False))
    except ValueError:
        raise ValueError(f"not a text: {text[:40]}") from None
