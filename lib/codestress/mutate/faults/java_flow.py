"""Parts of a Java program that cannot run: no fault is made in them.

The compiler rejects statements that nothing can reach (Java Language Specification, 14.22), so only
what it does not see is left: conditions that literals decide, and calls that never return. What
stands behind these is refused, unless it can certainly run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from codestress.mutate.faults.trees import around, field_text
from codestress.sandbox.runtimes import nodes, text_of

Node = Any
"""Node of tree-sitter; its parent and its fields may be None."""

JUMPS = (
    *("return_statement", "throw_statement", "yield_statement"),
    *("break_statement", "continue_statement"),
)
LOOPS = ("while_statement", "for_statement", "enhanced_for_statement", "do_statement")
CHOOSING = ("if_statement", *LOOPS, "ternary_expression", "binary_expression")
SEQUENCES = ("block", "constructor_body", "switch_block_statement_group")
"""Types of nodes with a list of statements."""
LITERAL = re.compile(r"true|false|null|.*_literal")
"""Types of nodes that write out a value."""
RISKY = ("_invocation", "_access", "creation_expression", "throw_statement")
"""Ends of the types of nodes that may throw an exception."""
DEFAULT = re.compile(r"return(\s*\(*[-+]?[0.]+[LlFfDd]?\)*|\s+(false|null))?\s*;")
"""Pattern of a return of a value that an inserted return may give."""


class JavaFlow:
    """Flow of control in one program, by the rules, given all nodes of its tree in the order of the
    text."""

    def __init__(self, parts: Sequence[Node]) -> None:
        self.parts = parts
        self.constants = set[str]()
        """Names of final variables whose written value is made of literals."""
        self.stopping = {"exit", "halt"}
        """Names of methods that end the program, or may never return."""
        for node in parts:
            value = node.child_by_field_name("value")
            if node.type == "variable_declarator" and value is not None:
                words = text_of(node.parent).partition("=")[0].split()
                if "final" in words and self.decided(value):
                    self.constants.add(field_text(node, "name"))
        self.calls = {
            node.end_byte - 1: _called(node) for node in parts if _called(node)
        }
        """Names of called methods, by the index of the last byte of the call."""
        self.jumps = [node.start_byte for node in parts if self.is_jump(node)]
        """Indices of the first bytes of statements that literals may make leave or never end."""
        methods = [node for node in parts if node.type == "method_declaration"]
        while never := [one for one in methods if not self.returns(one)]:
            self.stopping.update(field_text(one, "name") for one in never)
            methods = [one for one in methods if one not in never]

    def returns(self, method: Node) -> bool:
        """Whether a method can return, by its body; True without a body."""
        body = method.child_by_field_name("body")
        if body is None or any(one.type == "return_statement" for one in nodes(body)):
            return True
        return self.passes(body) and not any(map(self.stops, statements_of(body)))

    def passes(self, node: Node | None) -> bool:
        """Whether the compiler lets control pass the end of a statement or a block; True for
        None."""
        if node is None:
            return True
        match node.type:
            case name if name in SEQUENCES:
                return all(map(self.passes, statements_of(node)[-1:]))
            case "if_statement":
                names = ("consequence", "alternative")
                return any(self.passes(node.child_by_field_name(one)) for one in names)
            case "while_statement" | "for_statement" | "enhanced_for_statement":
                return not self.is_endless(node)
            case "expression_statement":
                return (
                    self.calls.get(node.children[0].end_byte - 1) not in self.stopping
                )
            case "local_variable_declaration":
                return True
            case "try_statement":
                kinds = ("block", "finally_clause")
                parts = [one for one in node.named_children if one.type in kinds]
                return all(map(self.passes, parts))
        return False

    def stops(self, node: Node) -> bool:
        """Whether control may never pass a statement although the compiler lets it."""
        name = "consequence" if node.type == "if_statement" else "body"
        body = node.child_by_field_name(name)
        loops = node.type in LOOPS[:3] and not self.is_endless(node)
        condition = name == "consequence" and not node.child_by_field_name(
            "alternative"
        )
        # The body of these may be left out.
        optional = (loops or condition) and not self.is_chosen(node)
        end = body.start_byte if optional else node.end_byte
        inside = range(node.start_byte, end)
        called = {name for place, name in self.calls.items() if place in inside}
        jumps = any(place in inside for place in self.jumps)
        return jumps or node.type in JUMPS or bool(called & self.stopping)

    def is_jump(self, node: Node) -> bool:
        """Whether literals may decide about a jump, or a loop without an end, in a statement."""
        if not self.is_chosen(node) or self.is_endless(node):
            return False
        ends = (part.type in JUMPS or self.is_endless(part) for part in nodes(node))
        return node.type in LOOPS or any(ends)

    def is_endless(self, node: Node) -> bool:
        condition = field_text(node, "condition").strip("() ")
        literal = condition == "true" and node.type in LOOPS
        return literal or (not condition and node.type == "for_statement")

    def is_chosen(self, node: Node) -> bool:
        """Whether literals may decide which part of a statement or an expression is evaluated; or
        nothing in a `try` may throw an exception."""
        if node.type == "try_statement":
            return not _throws(node)
        if node.type not in CHOOSING:
            return False
        logic = field_text(node, "operator") in ("&&", "||")
        test = node.child_by_field_name("left" if logic else "condition")
        return test is not None and self.decided(test)

    def decided(self, test: Node) -> bool:
        """Whether literals and constants may decide a condition, or a part of it."""
        logic = field_text(test, "operator") in ("&&", "||", "!")
        if logic or test.type == "parenthesized_expression":
            return any(map(self.decided, test.named_children))
        for part in nodes(test):
            known = LITERAL.fullmatch(part.type) or text_of(part) in self.constants
            if part.is_named and not part.named_children and not known:
                return False
        return True

    def dead(self) -> set[int]:
        """Ids, as tree-sitter numbers them, of the nodes that cannot run, or where a fault is
        refused."""
        dead = set[int]()
        for node in self.parts:
            for part in [] if node.id in dead else self.refused(node):
                dead.update(one.id for one in nodes(part))
        return dead

    def refused(self, node: Node) -> Iterator[Node]:
        """Yields the parts of a node that cannot run, or where a fault is refused."""
        chosen = self.is_chosen(node) and not self.is_endless(node)
        if chosen or node.type in ("annotation", "switch_label"):
            yield node
        if node.type in SEQUENCES:
            statements = statements_of(node)
            while statements and not self.stops(statements[0]):
                statements = statements[1:]
            yield from statements[1:]
        if node.type in ("for_statement", "do_statement"):
            name = "update" if node.type == "for_statement" else "condition"
            if not self.passes(node.child_by_field_name("body")):
                yield from node.children_by_field_name(name)

    def leaves(self, block: Node, method: Node) -> bool:
        """Whether a method returns a default value at the end of a block and does nothing before,
        so that one more return there would change nothing."""
        node = block
        while node != method:
            parent = node.parent
            rest = statements_of(parent) if parent.type in SEQUENCES else []
            rest = [one for one in rest if one.start_byte >= node.end_byte]
            if rest and rest[0].type == "break_statement":
                if rest[0].named_children:  # out of a statement with a label
                    return True
                left = (*LOOPS, "switch_expression")
                node = next(one for one in around(parent) if one.type in left)
            elif rest:
                return bool(DEFAULT.fullmatch(text_of(rest[0])))
            elif parent.type in LOOPS:
                return False
            else:
                node = parent
        return field_text(method, "type") in ("", "void")


def statements_of(block: Node) -> list[Node]:
    """Children of a Java block or of a row of a switch, without comments and labels."""
    others = ("line_comment", "block_comment", "switch_label")
    return [part for part in block.named_children if part.type not in others]


def _throws(node: Node) -> bool:
    """Whether the first statement of a `try` may throw an exception."""
    for statement in statements_of(node.child_by_field_name("body"))[:1]:
        return any(part.type.endswith(RISKY) for part in nodes(statement))
    return False


def _called(call: Node) -> str:
    """Name of the method that an expression calls, of its own class or by a class's name; empty
    for any other node."""
    if call.type != "method_invocation":
        return ""
    owner = field_text(call, "object")
    own = re.fullmatch(r"(this|[A-Z]\w*|Runtime\.getRuntime\(\))?", owner)
    return field_text(call, "name") if own else ""
