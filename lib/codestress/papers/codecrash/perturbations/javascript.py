"""A JavaScript program while it is rewritten (CodeCrash, section 4.2): edits of its text at what tree-sitter finds.

The paper prints templates for Python alone; these are their counterparts. A program keeps its layout: what is vanilla
is as its author wrote it. Problems hold their arguments as JSON texts, in the order of the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from codestress.generation.edits import Edit, Lines, edited
from codestress.papers.codecrash.perturbations import javascript_guards
from codestress.papers.codecrash.perturbations.edits import MessageSite, NotPerturbed, Place
from codestress.papers.codecrash.perturbations.javascript_guards import (
    FUNCTIONS,
    around,
    declared,
    free_names,
    line_of,
    parameters,
    part,
    text_at,
)
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

BOTH = (
    "[{cond}][0]",
    "(() => {cond})()",
    "({cond}) === ({para} === {para})",
    "({cond}) !== ({para} !== {para})",
)
COMPARISON = (*BOTH, "Boolean(Number({cond}))")
CONSTANT = (*BOTH, "JSON.parse(String({cond}))")
GENERAL = ("!!({cond})", "({cond}) || false", "({cond}) && true", "[{cond}][0]")
NOT_MOVED = ("yield_expression", "await_expression", "if_statement", "while_statement")
"""What a condition that is rewritten may not hold."""
COMPARING = {"<", "<=", ">", ">=", "==", "===", "!=", "!==", "in", "instanceof"}
METHODS = {
    **{"push": "append", "concat": "extend", "splice": "insert", "unshift": "insert", "delete": "remove", "pop": "pop"},
    **{"sort": "sort", "reverse": "reverse", "set": "update", "add": "add", "split": "split", "join": "join"},
    **{"replace": "replace", "replaceAll": "replace", "toLowerCase": "lower", "toUpperCase": "upper"},
}
"""Methods of JavaScript, and whose messages they get."""
KINDS = {
    **dict.fromkeys(("function_declaration", "generator_function_declaration", "method_definition"), "function"),
    **{"while_statement": "while", "for_statement": "for", "for_in_statement": "for", "if_statement": "condition"},
    "augmented_assignment_expression": "operator",
}
"""Kinds of messages by the type of node alone."""
ARITHMETIC = {"+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>", ">>>"}
ODD = r"async\b|((static|function)\s*)?\*"
"""How generators and coroutines begin."""
NOTING = """const notedReturns = {}, notedRan = new Set();
function noteReturn(k, v) { const t = JSON.stringify(v) ?? "null"; (notedReturns[k] ??= new Set()).add(t); return v; }
function noteRan(k) { notedRan.add(k); }
function traced_returns(...a) {
  FUNCTION(...a);
  const returns = Object.fromEntries(Object.entries(notedReturns).map(([k, s]) => [k, [...s]]));
  return { returns, ran: [...notedRan], kept: {} };
}
"""


class JavaScriptProgram:
    """A problem's program, and edits of it, which do not overlap."""

    truths = ("true", "false")
    comment, printed, noted, declared = "// {}", "console.log({!r});", "noteRan({});", "var {name} = {value};"
    index = "i"
    false_conditions = (
        *("false", "null", "0", '""', "{para} !== {para}"),
        *("!({para} === {para})", "console.log({para})"),
    )
    control_flow = (
        "if ({false}) {{\n  let {new} = {para};\n}}",
        "while ({false}) {{\n  let {new} = {para};\n}}",
        "for (let i = 0; i < 0; i++) {{\n  let {new} = {para};\n}}",
        "let {new} = {false} ? {para} : {para};",
    )
    dead_loops = (
        "function {name}() {{\n  while (true) {{\n    let {new} = 1;\n  }}\n}}",
        "function {name}() {{\n  return {name}();\n}}",
        "function {name}() {{\n  let {new} = 1;\n  while ({new} > 0) {{\n    {new} += 1;\n  }}\n}}",
        "function {name}() {{\n  for (let {new} = 0; ; {new}++) {{\n    {new} -= 1;\n  }}\n}}",
        "function {name}({new} = 0) {{\n  while ({new} === {new}) {{\n    {new} -= 1;\n  }}\n  return {new};\n}}",
        "function {name}({new} = 1) {{\n  if ({new}) {{\n    return {name}({new} + 1);\n  }}\n  return {new};\n}}",
        "function {name}() {{\n  let {new} = [0];\n  for (const item of {new}) {{\n    {new}.push(item);\n  }}\n}}",
    )

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.root = parser("javascript").parse(problem.code.encode()).root_node
        if self.root.has_error:
            raise NotPerturbed("the program does not parse as JavaScript")
        self.lines = Lines.of(problem.code)
        self.edits: list[Edit] = []

    def edit(self, start: int, end: int, text: str) -> None:
        """The characters from `start` to `end` become `text`."""
        self.edits.append(Edit(start, end, text))

    def rename(self, node: Node, name: str) -> None:
        """Another name for what a node names."""
        self.edit(*self.lines.span(node), name if node.type == "identifier" else f"{text_of(node)}: {name}")

    def changed(self) -> Problem:
        """The problem with the edits made; those at one place in their order."""
        return replace(self.problem, code=edited(self.problem.code, self.edits))

    # --- what may be done

    @cached_property
    def facts(self) -> javascript_guards.Known:
        """What the program tells about itself."""
        return javascript_guards.known(self.problem)

    def called_function(self) -> Node:
        """The definition of the function that the problem calls; `NotPerturbed` when there is none."""
        for node in self.root.named_children:
            if node.type == "function_declaration" and text_at(node, "name") == self.problem.function:
                return node
        raise NotPerturbed(f"no function {self.problem.function} at the program's top level")

    # --- REN, RTF, GBC

    def used_names(self) -> set[str]:
        return {text_of(node) for node in nodes(self.root) if node.type == "identifier"}

    def conditions(self) -> Iterator[Place]:
        """The conditions of if and while in the order of the text, with the templates that keep their meaning."""
        for node in nodes(self.root):
            if node.type not in ("if_statement", "while_statement"):
                continue
            condition = part(node, "condition")
            inner = condition.named_children[0] if condition is not None and condition.named_children else None
            if inner is None or any(one.type in NOT_MOVED for one in nodes(inner)):
                continue
            compared = inner.type == "binary_expression" and text_at(inner, "operator") in COMPARING
            templates = COMPARISON if compared else CONSTANT if inner.type in ("true", "false") else GENERAL
            put = partial(self.edit, *self.lines.span(inner))
            yield Place(line_of(inner), parameters(around(node, FUNCTIONS)), put, text_of(inner), templates)

    def places(self) -> list[Place]:
        """Before each statement inside functions."""
        blocks = [one for one in nodes(self.root) if one.type == "statement_block" and around(one, FUNCTIONS)]
        places = []
        for statement in (one for block in blocks for one in block.named_children if one.type != "comment"):
            function = around(statement, FUNCTIONS)
            doubt = "a generator or coroutine" if re.match(ODD, text_of(function)) else ""
            put = partial(self._put_before, statement)
            places.append(Place(line_of(statement), parameters(function), put, doubt=doubt))
        return places

    def _put_before(self, statement: Node, text: str) -> None:
        start = self.lines.span(statement)[0]
        self.edit(start, start, f"{text}\n".replace("\n", "\n" + " " * statement.start_point[1]))

    def hidden_names(self, _used: set[str]) -> list[str]:
        """Parameters whose names are nothing else's at the top level, no function's, no class's and no global's."""
        found = list(declared(self.root))
        kept = {name for name, kind, place in found if kind in ("function", "class") or place == self.root.id}
        named = dict.fromkeys(name for node in nodes(self.root) if node.type in FUNCTIONS for name in parameters(node))
        return [name for name in named if name not in kept | free_names(self.root)]

    def put_first(self, text: str) -> None:
        self.edit(0, 0, f"{text}\n")

    # --- MCC, MPS, MHC

    def message_sites(self) -> Iterator[MessageSite]:
        """All sites at which a line of its own may stand, in the order of the text."""
        texts = [node for node in nodes(self.root) if node.type in ("template_string", "comment", "string")]
        inside = {row for node in texts for row in range(node.start_point[0] + 1, node.end_point[0] + 1)}
        lines = self.problem.code.split("\n")
        ordinal = -1
        for node in nodes(self.root):
            kind, site = _kind(node), None
            ordinal += kind == "return"
            if kind in ("function", "while", "for", "condition"):
                block = part(node, "body", "consequence")
                if block is not None and (start := _inside(block)):
                    site = MessageSite(kind, start[0] if kind in ("while", "for") else line_of(block), *start)
            elif kind and (statement := _statement(node)) is not None:
                line = node.end_point[0] + 1 if kind == "return" else _header(statement)
                start = line_of(statement), statement.start_point[1]
                site = MessageSite(kind, line, *start, ordinal=ordinal if kind == "return" else -1)
            begins = site is not None and not lines[site.print_line - 1][: site.print_indent].strip()
            if site is not None and begins and not inside & {site.line, site.print_line - 1}:
                yield site

    def returns(self) -> list[int]:
        """The lines on which the called function's own returns end, not those of functions inside it."""
        block = self._block()
        found = [node for node in nodes(block) if node.type == "return_statement"]
        return [node.end_point[0] + 1 for node in found if around(node, FUNCTIONS) == block.parent]

    def body(self) -> tuple[int, int, int]:
        """First line, last line and indent of the called function's body."""
        first, last = self._block().named_children[0], self._block().named_children[-1]
        return line_of(first), last.end_point[0] + 1, first.start_point[1]

    def _block(self) -> Node:
        block = part(self.called_function(), "body")
        if block is None or not block.named_children:
            raise NotPerturbed(f"{self.problem.function} has no body")
        return block

    # --- running it

    def traced(self) -> Problem:
        """Its call gives what `NOTING` notes: of returns, as JSON texts, and which sites were reached."""
        returns = [node for node in nodes(self.root) if node.type == "return_statement" and node.named_children]
        for ordinal, node in enumerate(returns):
            start, end = self.lines.span(node.named_children[0])
            self.edit(start, start, f"noteReturn({ordinal}, (")
            self.edit(end, end, "))")
        code = NOTING.replace("FUNCTION", self.problem.function) + self.changed().code
        return replace(self.problem, code=code, function="traced_returns")


def _kind(node: Node) -> str:
    """The kind of message that a node gets; empty where none."""
    if node.type in KINDS:
        return KINDS[node.type]
    if node.type == "return_statement":
        return "return" if node.named_children else ""
    if node.type in ("variable_declarator", "assignment_expression"):
        target, value = part(node, "name", "left"), part(node, "value", "right")
        if target is None or value is None or target.type != "identifier" or value.type in FUNCTIONS:
            return ""
        if node.parent is not None and node.parent.parent is not None and node.parent.parent.type == "for_statement":
            return ""  # the loop's own counter
        arithmetic = value.type == "binary_expression" and text_at(value, "operator") in ARITHMETIC
        return "operator" if arithmetic else "assignment"
    called = part(node, "function") if node.type == "call_expression" else None
    return METHODS.get(text_at(called, "property"), "") if called is not None else ""


def _statement(node: Node) -> Node | None:
    """The statement around a node that stands in a block; None where a line of its own before it is impossible."""
    while node.parent is not None and node.parent.type not in ("statement_block", "program"):
        if node.parent.type in FUNCTIONS and node.parent.type != "arrow_function":
            return None
        node = node.parent
    return node if node.parent is not None else None


def _header(statement: Node) -> int:
    """The line on which what belongs to the statement itself ends."""
    below = (one for one in nodes(statement) if one.type == "statement_block")
    block = part(statement, "body", "consequence") or next(below, None)
    return (block.start_point[0] if block is not None else statement.end_point[0]) + 1


def _inside(block: Node) -> tuple[int, int] | None:
    """Line and indent of the first statement in a block that has a line of its own."""
    statements = [child for child in block.named_children if child.type != "comment"]
    if block.type != "statement_block" or not statements or statements[0].start_point[0] == block.start_point[0]:
        return None
    return line_of(statements[0]), statements[0].start_point[1]
