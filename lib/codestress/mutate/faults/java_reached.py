"""Reachability of a Java program's parts: in a run, and as the compiler sees it (Java Language
Specification, 14.22).

The compiler evaluates constant conditions of loops only, never the conditions of `if`. A run
evaluates constants anywhere, and some of its calls never return.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codestress.mutate.faults.dead import java_truth
from codestress.mutate.faults.hidden import DECLARING
from codestress.mutate.faults.reached import BREAK, CONTINUE, NEXT, RETURN, Flow, Ways
from codestress.mutate.faults.trees import field_text
from codestress.sandbox.runtimes import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

YIELD = "yield"
BLOCKS = ("block", "constructor_body", "switch_block_statement_group")
EXITS = {"System.exit", "Runtime.getRuntime().exit", "Runtime.getRuntime().halt"}
"""Calls that end the program."""
RAISING = {
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
}
"""Types of nodes that may throw an exception."""
PATTERNS = {"type_pattern", "record_pattern"}
LABEL = "switch_label"
NAME = re.compile(r"\b[A-Za-z_]\w*\b")


def java_flow(parts: Sequence[Node], constants: dict[str, str]) -> Flow:
    """Returns the parts of a Java program that can run, as a `Flow` of tree-sitter's ids of nodes.
    The argument `parts` holds all nodes of the tree, the root first, and `constants` the result of
    `written_constants`."""
    methods = [node for node in parts if node.type == "method_declaration"]
    endless = frozenset[str]()
    while True:
        walk = Walk(constants, endless)
        walk.visit(parts[0])
        more = endless | _never_return(methods, walk.ways)
        if more == endless:
            return walk.flow
        endless = more


def compiled(method: Node, constants: dict[str, str]) -> Walk:
    """Returns a finished `Walk` over a method by the compiler's rules of reachability, to be given
    to `unreachable_with` as `before`; `constants` is the result of `written_constants`."""
    walk = Walk(constants, compiler=True)
    walk.part(method, "body")
    return walk


def unreachable_with(before: Walk, method: Node, leaving: Node) -> bool:
    """Whether the compiler would reject `method` if its block `leaving` ended in a return: then a
    statement that it reached before is no longer reached. `before` is the method's walk by
    `compiled`."""
    after = Walk(before.constants, compiler=True, before=before, leaving=leaving)
    after.part(method, "body")
    return after.lost


def written_constants(parts: Iterable[Node]) -> dict[str, str]:
    """Final variables whose written value is `true`, `false` or a whole number of up to nine
    digits, as a dictionary from name to that text; only names whose declarations all hold the same
    value."""
    values: dict[str, set[str]] = {}
    for node in parts:
        value = ""
        if node.type == "variable_declarator" and node.parent is not None:
            if "final" in modifiers_of(node.parent):
                value = field_text(node, "value")
        elif node.type not in DECLARING:
            continue
        known = value if re.fullmatch(r"true|false|\d{1,9}", value) else ""
        values.setdefault(field_text(node, "name"), set()).add(known)
    return {
        name: min(held) for name, held in values.items() if len(held) == 1 and min(held)
    }


def modifiers_of(declaration: Node) -> set[str]:
    """Words such as `final` before a Java declaration, as a set."""
    modifiers = [child for child in declaration.children if child.type == "modifiers"]
    return {word for child in modifiers for word in text_of(child).split()}


def _never_return(methods: Sequence[Node], ways: dict[int, Ways]) -> set[str]:
    """Names of the methods that never return and cannot be overridden; `ways` holds the ways out of
    each method's body (`Ways`), by the id of the body."""
    endless, others = set[str](), set[str]()
    for method in methods:
        fixed = modifiers_of(method) & {"private", "static", "final"}
        body = method.child_by_field_name("body")
        left = ways.get(body.id, {NEXT}) if body is not None else {NEXT}
        name = field_text(method, "name")
        (endless if fixed and not left & {NEXT, RETURN} else others).add(name)
    return endless - others


@dataclass(eq=False)
class Walk:
    """One walk over a Java program or a method; its `flow` collects the parts that can run."""

    constants: dict[str, str]
    endless: frozenset[str] = frozenset()
    """Names of methods that are known never to return."""
    compiler: bool = False
    """Whether the walk follows the compiler's rules, else those of a run."""
    before: Walk | None = None
    leaving: Node | None = None
    """Earlier walk over the same method, and the block that ends in a return in this walk only;
    None without an earlier walk."""
    lost: bool = False
    """Whether this walk misses a statement that the walk `before` reached; False without an earlier
    walk."""
    flow: Flow = field(default_factory=Flow)
    ways: dict[int, Ways] = field(default_factory=dict)
    """Ways out of statements, by the ids of the statements."""

    def visit(self, node: Node) -> None:
        """Walks a part of a program that is no statement of a block (a type, a method, an
        expression) and everything inside it. By the compiler's rules, only a block or a switch is
        walked."""
        if node.type in BLOCKS or node.type == "switch_expression":
            self.statement(node)
        elif not self.compiler:  # which looks at statements alone
            self.flow.reached.add(node.id)
            for part in self.evaluated(node):
                self.visit(part)

    def evaluated(self, node: Node) -> Iterable[Node]:
        """Parts of an expression that may be evaluated; all parts of any other node."""
        sign = field_text(node, "operator")
        if node.type == "binary_expression" and sign in ("&&", "||"):
            known = self.decision(node.child_by_field_name("left"))
            return node.children[:-1] if known is (sign == "||") else node.children
        if node.type == "ternary_expression":
            known = self.decision(node.child_by_field_name("condition"))
            if known is not None:
                dead = node.child_by_field_name(
                    "alternative" if known else "consequence"
                )
                return [child for child in node.children if child != dead]
        return node.children

    def block(self, statements: Iterable[Node]) -> Ways:
        """Walks statements up to one that cannot lead to the next, and returns the block's ways out
        (`Ways`: `next`, `return`, …); sets the walk's `lost` where its earlier walk `before` went
        further."""
        ways = {NEXT}
        for statement in statements:
            if NEXT not in ways:
                if self.before and statement.id in self.before.ways:
                    self.lost = True
                break
            ways = (ways - {NEXT}) | self.statement(statement)
        return ways

    def part(self, node: Node, name: str) -> Ways:
        """Walks the statement in the field `name` of a node and returns its ways out (`Ways`); only
        `next`, the way to the next statement, where the field is empty."""
        part = node.child_by_field_name(name)
        return self.statement(part) if part is not None else {NEXT}

    def statement(self, node: Node, label: str = "") -> Ways:
        leaving = self.leaving
        if self.before and leaving:
            holds = (
                node.start_byte <= leaving.start_byte
                and leaving.end_byte <= node.end_byte
            )
            if not holds:
                return self.before.ways[node.id]
        self.flow.reached.add(node.id)
        ways = self.left(node, label)
        if node == leaving:
            ways = (ways - {NEXT}) | {RETURN}
        self.ways[node.id] = ways
        if NEXT in ways:
            self.flow.completing.add(node.id)
        return ways

    def left(self, node: Node, label: str) -> Ways:
        """Walks the parts of a statement, whose label is `label` (empty without one), and returns
        its ways out (`Ways`: `next`, `return`, …)."""
        match node.type:
            case "block" | "constructor_body" | "switch_block_statement_group":
                return self.block(statements_of(node))
            case "if_statement":
                return self.branches(node)
            case (
                "while_statement"
                | "do_statement"
                | "for_statement"
                | "enhanced_for_statement"
            ):
                return self.loop(node, label)
            case "labeled_statement":
                name, inner = text_of(node.named_children[0]), node.named_children[-1]
                ways = self.statement(inner, name)
                broken = {NEXT} if f"{BREAK} {name}" in ways else set()
                return broken | ways - {f"{BREAK} {name}", f"{CONTINUE} {name}"}
            case "switch_expression":
                return self.switch(node)
            case "try_statement" | "try_with_resources_statement":
                return self.tried(node)
        for part in node.children:
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
            case "synchronized_statement":
                return self.ways[node.child_by_field_name("body").id]  # type: ignore[union-attr]
        return set() if self.never_ends(node) else {NEXT}

    def branches(self, node: Node) -> Ways:
        condition = node.child_by_field_name("condition")
        if condition is not None:
            self.visit(condition)
        known = None if self.compiler else self.decision(condition)
        then = self.part(node, "consequence") if known is not False else set()
        return then | (self.part(node, "alternative") if known is not True else set())

    def loop(self, node: Node, label: str) -> Ways:
        condition, first = (
            node.child_by_field_name("condition"),
            node.type == "do_statement",
        )
        known = self.decision(condition)
        if condition is None and node.type == "for_statement":
            known = True
        again = node.children_by_field_name("condition" if first else "update")
        later = [*again, node.child_by_field_name("body")]
        for part in node.children:
            if part not in later:
                self.visit(part)
        inside = self.part(node, "body") if known is not False or first else set()
        repeats = bool(inside & {NEXT, CONTINUE, f"{CONTINUE} {label}"})
        for part in again if repeats else []:
            self.visit(part)
        ends = known is not True and (repeats or not first)
        left = inside - {NEXT, BREAK, CONTINUE}
        return left | ({NEXT} if ends or BREAK in inside else set())

    def switch(self, node: Node) -> Ways:
        """Walks a switch and returns its ways out (`Ways`: `next`, `return`, …). Any label may
        match. Without `default`, perhaps none matches, unless labels are patterns: then one always
        matches."""
        condition, body = (
            node.child_by_field_name("condition"),
            node.child_by_field_name("body"),
        )
        if condition is not None:
            self.visit(condition)
        rows = statements_of(body) if body is not None else []
        labels = [
            part for row in rows for part in row.named_children if part.type == LABEL
        ]
        complete = any(
            "default" in re.split(r"\W+", text_of(label)) for label in labels
        )
        complete |= any(
            part.type in PATTERNS for label in labels for part in nodes(label)
        )
        ways: Ways = set() if complete and rows else {NEXT}
        for row in rows:
            self.flow.reached.add(row.id)
            left = self.block(statements_of(row))
            last = row == rows[-1] or row.type == "switch_rule"
            ways |= left if last else left - {NEXT}
        return (ways - {BREAK}) | ({NEXT} if BREAK in ways else set())

    def tried(self, node: Node) -> Ways:
        body = node.child_by_field_name("body")
        if resources := node.child_by_field_name("resources"):
            self.visit(resources)
        ways = self.part(node, "body")
        if (
            self.compiler
            or resources is not None
            or (body is not None and self.raises(body))
        ):
            for clause in node.named_children:
                if clause.type == "catch_clause":
                    self.flow.reached.add(clause.id)
                    ways = ways | self.part(clause, "body")
        for clause in node.named_children:
            if clause.type == "finally_clause":
                self.flow.reached.add(clause.id)
                last = self.statement(clause.named_children[-1])
                ways = last if NEXT not in last else ways | (last - {NEXT})
        return ways

    def raises(self, body: Node) -> bool:
        """Whether a block has a part that this walk reached and that may throw an exception."""
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
        if (
            condition.type == "binary_expression"
            and sign in ("&&", "||")
            and not self.compiler
        ):
            known = {
                self.decision(condition.child_by_field_name(side))
                for side in ("left", "right")
            }
            decides = sign == "||"
            if decides in known:
                return decides
            return None if None in known else not decides
        constants, text = self.constants, text_of(condition)
        return java_truth(NAME.sub(lambda name: constants.get(name[0], name[0]), text))

    def never_ends(self, node: Node) -> bool:
        """Whether a statement is a call that never returns; False for a walk by the compiler's
        rules, which know no such calls."""
        if self.compiler or node.type != "expression_statement":
            return False
        call = node.named_children[0]
        if call.type != "method_invocation":
            return False
        name, owner = field_text(call, "name"), field_text(call, "object")
        return f"{owner}.{name}" in EXITS or (
            owner in ("", "this") and name in self.endless
        )


def statements_of(block: Node) -> list[Node]:
    """Children of a Java block, of a row of a switch (their statements) or of a switch's body (its
    rows), without comments and labels."""
    parts = block.named_children
    return [part for part in parts if "comment" not in part.type and part.type != LABEL]
