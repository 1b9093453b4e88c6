"""Reachable parts of a Java program: no fault is made in the others.

The walk is that of `reached.py`. Whatever it calls leading to a next statement also does so for the
compiler (Java Language Specification, 14.22), which evaluates no condition of `if` and knows no
call that never returns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from codestress.mutate.faults.dead import java_truth
from codestress.mutate.faults.hidden import DECLARING
from codestress.mutate.faults.reached import BREAK, CONTINUE, NEXT, RETURN, Flow, Ways
from codestress.mutate.faults.trees import field_text
from codestress.sandbox.runtimes import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

YIELD = "yield"
ENDING = ["System.exit", "Runtime.getRuntime().exit", "Runtime.getRuntime().halt"]
"""Calls that end the program."""
RAISING = [
    "method_invocation",
    "object_creation_expression",
    "array_creation_expression",
    "array_access",
    "field_access",
    "cast_expression",
    "throw_statement",
    "switch_expression",
    "enhanced_for_statement",
    "synchronized_statement",
    "explicit_constructor_invocation",
    "assert_statement",
    "method_reference",
]
"""Types of nodes that may throw an exception, besides divisions."""
LABEL = "switch_label"


def java_flow(root: Node) -> Flow:
    """Returns the parts of a Java program that can run, by tree-sitter's ids of its nodes."""
    constants = _constants(root)
    stopping = set[str]()
    while True:
        walk = _Walk(constants, stopping)
        walk.visit(root)
        more = walk.stopping - walk.returning
        if more <= stopping:
            return walk.flow
        stopping |= more


def leads_on(block: Node, flow: Flow) -> bool:
    """Whether the statement behind a block of a loop or a condition would still be reached if the
    block ended in a return; else the compiler may reject the program."""
    condition = block.parent
    if condition is None or condition.type != "if_statement":
        return True
    then = condition.child_by_field_name("consequence")
    other = condition.child_by_field_name("alternative")
    if other is None:
        return True
    if other == block:
        other = then
    if other is not None and other.id in flow.completing:
        return True
    outer = condition.parent
    chained = outer is not None and outer.type == "if_statement"
    return chained and leads_on(condition, flow)


def statements_of(block: Node) -> list[Node]:
    """Children of a Java block, of a row of a switch (their statements) or of a switch's body (its
    rows), without comments and labels."""
    parts = block.named_children
    return [part for part in parts if "comment" not in part.type and part.type != LABEL]


def _constants(root: Node) -> dict[str, str]:
    """Final variables whose written value is `true`, `false` or a whole number of up to nine
    digits, with that text; only names whose declarations all hold the same value."""
    values: dict[str, set[str]] = {}
    for node in nodes(root):
        if node.type not in ("variable_declarator", *DECLARING):
            continue
        value = field_text(node, "value")
        final = node.parent is not None and "final" in _modifiers(node.parent)
        if not final or not re.fullmatch(r"true|false|\d{1,9}", value):
            value = ""
        values.setdefault(field_text(node, "name"), set()).add(value)
    return {name: min(held) for name, held in values.items() if len(held) == 1}


def _modifiers(declaration: Node) -> list[str]:
    """Words such as `final` before a Java declaration."""
    first = declaration.children[0]
    return text_of(first).split() if first.type == "modifiers" else []


class _Walk:
    """One walk over a Java program. It is given the program's constants and the names of methods
    that never return, as far as they are known, and finds others in `stopping`."""

    def __init__(self, constants: dict[str, str], known: set[str]) -> None:
        self.flow = Flow()
        self.constants = constants
        self.known = known
        self.stopping = set[str]()
        """Names of methods that never return and cannot be overridden."""
        self.returning = set[str]()
        """Names of methods that may return."""

    def visit(self, node: Node) -> Ways:
        """Walks a part of a program, and returns its ways out; `next` for any but a statement."""
        self.flow.reached.add(node.id)
        ways = self.left(node)
        if NEXT in ways:
            self.flow.completing.add(node.id)
        return ways

    def part(self, node: Node, name: str) -> Ways:
        """Walks the child in the field `name` of a node, if there is one."""
        part = node.child_by_field_name(name)
        return self.visit(part) if part is not None else {NEXT}

    def block(self, statements: Iterable[Node]) -> Ways:
        """Walks statements up to one that does not lead to the next, and returns the ways out."""
        ways = {NEXT}
        for statement in statements:
            if NEXT not in ways:
                break
            ways = (ways - {NEXT}) | self.visit(statement)
        return ways

    def left(self, node: Node) -> Ways:
        """Walks the parts of a node and returns the ways out of the node."""
        match node.type:
            case "block" | "constructor_body" | "switch_block_statement_group":
                return self.block(statements_of(node))
            case "method_declaration":
                return self.method(node)
            case "if_statement":
                return self.condition(node)
            case (
                "while_statement"
                | "do_statement"
                | "for_statement"
                | "enhanced_for_statement"
            ):
                return self.loop(node)
            case "labeled_statement":
                return self.labeled(node)
            case "switch_expression":
                return self.switch(node)
            case "try_statement" | "try_with_resources_statement":
                return self.tried(node)
            case "synchronized_statement":
                self.visit(node.named_children[0])
                return self.part(node, "body")
        for part in self.evaluated(node):
            self.visit(part)
        match node.type:
            case "break_statement" | "continue_statement":
                return {" ".join(text_of(node).rstrip(";").split())}
            case "return_statement":
                return {RETURN}
            case "throw_statement":
                return set()
            case "yield_statement":
                return {YIELD}
            case "expression_statement" if self.ends(node.named_children[0]):
                return set()
        return {NEXT}

    def method(self, node: Node) -> Ways:
        ways = self.part(node, "body")
        fixed = set(_modifiers(node)) & {"private", "static", "final"}
        stops = fixed and not ways & {NEXT, RETURN}
        (self.stopping if stops else self.returning).add(field_text(node, "name"))
        return {NEXT}

    def ends(self, call: Node) -> bool:
        """Whether an expression is a call that never returns, also one by a class's name."""
        name, owner = field_text(call, "name"), field_text(call, "object")
        own = owner in ("", "this") or re.fullmatch(r"[A-Z]\w*", owner)
        ending = f"{owner}.{name}" in ENDING or (own and name in self.known)
        return call.type == "method_invocation" and bool(ending)

    def evaluated(self, node: Node) -> list[Node]:
        """Parts of an expression that may be evaluated; all parts of any other node."""
        sign = field_text(node, "operator")
        dead = None
        if node.type == "binary_expression" and sign in ("&&", "||"):
            known = self.decision(node.child_by_field_name("left"))
            if known is (sign == "||"):
                dead = node.child_by_field_name("right")
        if node.type == "ternary_expression":
            known = self.decision(node.child_by_field_name("condition"))
            if known is not None:
                dead = node.child_by_field_name(
                    "alternative" if known else "consequence"
                )
        return [child for child in node.children if child != dead]

    def condition(self, node: Node) -> Ways:
        self.part(node, "condition")
        known = self.decision(node.child_by_field_name("condition"))
        then = self.part(node, "consequence") if known is not False else set()
        return then | (self.part(node, "alternative") if known is not True else set())

    def labeled(self, node: Node) -> Ways:
        name = text_of(node.named_children[0])
        ways = self.visit(node.named_children[-1])
        stop = f"{BREAK} {name}"
        if stop in ways:
            ways.add(NEXT)
        return ways - {stop, f"{CONTINUE} {name}"}

    def loop(self, node: Node) -> Ways:
        condition = node.child_by_field_name("condition")
        known = self.decision(condition)
        if condition is None and node.type == "for_statement":
            known = True
        first = node.type == "do_statement"
        again = node.children_by_field_name("condition" if first else "update")
        body = node.child_by_field_name("body")
        for part in node.children:
            if part != body and part not in again:
                self.visit(part)
        inside = self.part(node, "body") if known is not False or first else set()
        continued = {NEXT, CONTINUE}
        if node.parent is not None and node.parent.type == "labeled_statement":
            continued.add(f"{CONTINUE} {text_of(node.parent.named_children[0])}")
        repeats = bool(inside & continued)
        for part in again if repeats else []:
            self.visit(part)
        ways = inside - {NEXT, BREAK, CONTINUE}
        ends = known is not True and (repeats or not first)
        return ways | {NEXT} if ends or BREAK in inside else ways

    def switch(self, node: Node) -> Ways:
        """Walks a switch. Any label may match; one always does where there is `default` or a
        pattern."""
        self.part(node, "condition")
        body = node.child_by_field_name("body")
        rows = statements_of(body) if body is not None else []
        complete = any(_is_complete(row) for row in rows)
        ways = set() if complete else {NEXT}
        for row in rows:
            self.flow.reached.add(row.id)
            left = self.block(statements_of(row))
            falls = row != rows[-1] and row.type != "switch_rule"
            ways |= left - {NEXT} if falls else left
        if BREAK in ways:
            ways.add(NEXT)
        return ways - {BREAK}

    def tried(self, node: Node) -> Ways:
        resources = node.child_by_field_name("resources")
        if resources is not None:
            self.visit(resources)
        ways = self.part(node, "body")
        body = node.child_by_field_name("body")
        raises = resources is not None or (body is not None and self.raises(body))
        for clause in node.named_children:
            if clause.type == "catch_clause" and raises:
                self.flow.reached.add(clause.id)
                ways |= self.part(clause, "body")
            if clause.type == "finally_clause":
                self.flow.reached.add(clause.id)
                last = self.visit(clause.named_children[-1])
                ways = ways | (last - {NEXT}) if NEXT in last else last
        return ways

    def raises(self, body: Node) -> bool:
        """Whether a block has a reached part that may throw an exception."""
        for node in nodes(body):
            divides = field_text(node, "operator") in ("/", "%", "/=", "%=")
            if node.id in self.flow.reached and (node.type in RAISING or divides):
                return True
        return False

    def decision(self, condition: Node | None) -> bool | None:
        """Truth value that a Java condition always has; None if it depends on more than literals
        and constants, or if there is no condition."""
        if condition is None:
            return None
        parts = condition.named_children
        sign = field_text(condition, "operator")
        if condition.type == "parenthesized_expression" and len(parts) == 1:
            return self.decision(parts[0])
        if condition.type == "binary_expression" and sign in ("&&", "||"):
            known = [self.decision(parts[0]), self.decision(parts[-1])]
            decides = sign == "||"
            if decides in known:
                return decides
            return None if None in known else not decides
        text = re.sub(
            r"\b[A-Za-z_]\w*\b",
            lambda name: self.constants.get(name[0]) or name[0],
            text_of(condition),
        )
        return java_truth(text)


def _is_complete(row: Node) -> bool:
    """Whether a row of a switch has the label `default` or a pattern."""
    for label in row.named_children:
        if label.type == LABEL:
            if re.search(r"\bdefault\b", text_of(label)):
                return True
            kinds = {part.type for part in nodes(label)}
            if kinds & {"type_pattern", "record_pattern"}:
                return True
    return False
