"""Faults in Java programs (Fault Localizability, Table I); `sites.py` describes the
kinds of fault."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from codestress.sandbox.runtimes import nodes, text_of

from ..edits import Lines
from .fault_site import (
    FaultSite,
    return_behind,
    swapped,
)
from .java_flow import LOOPS, SEQUENCES, JavaFlow, statements_of
from .kinds import Kind
from .trees import RULES, Node, around, field_text, java_root

BRANCHING = ("if_statement", *LOOPS[:3])
FIXED, DEFAULTS, CHAINED, TEXTS = RULES["java"]["faults"].values()
"""Types of nodes: an expression that contains one of `FIXED` keeps its `&&` and `||`,
since the program might not compile otherwise. A chain of operators goes through those
of `CHAINED`; those of `TEXTS` are texts and characters.

`DEFAULTS` is a dict from the return type of a method to the value that an inserted
return gives, with a space before it. Types that it lacks get null.
"""
NARROW = re.compile(RULES["java"]["narrow"])
"""Pattern of the types of numbers that take only some constants without a cast."""
NUMBERS, KNOWN, UNTYPED, LITERALS, SIGNS = map(
    frozenset, RULES["java"]["numbers"].values()
)
"""Types of numbers; methods and fields of Java's own classes that are numbers.

Then types of nodes: `UNTYPED` declare variables without a type, or with one that is not
read here; `LITERALS` are ends of the types of nodes that are numbers. `SIGNS` are
operators that always give a number.
"""


class Types:
    """Types of a program's variables, fields and methods, as texts by name, without the
    brackets of arrays.

    Each name has a set of types, since a name may be declared twice; `?` stands for an
    unknown type.
    """

    def __init__(self, parts: Iterable[Node]) -> None:
        self.kinds = defaultdict[str, set[str]](set)
        for node in parts:
            kind = field_text(node, "type")
            variables = node.children_by_field_name("declarator")
            for part in [node, *variables] if kind else []:
                self.kinds[field_text(part, "name")].add(kind.rstrip("[] "))
            for part in node.children if node.type in UNTYPED else []:
                if part.type == "identifier":
                    self.kinds[text_of(part)].add("?")

    def is_number(self, node: Node) -> bool:
        """Return whether an operand of an operator is certainly a number.

        An array counts as its elements, since it is no operand. Return False if
        the type is unknown.
        """
        match node.type:
            case "array_access":
                return self.is_number(node.child_by_field_name("array"))
            case "identifier" | "field_access" | "method_invocation":
                name = field_text(node, "field") or field_text(node, "name")
                name = name or text_of(node)
                known = name in KNOWN or field_text(node, "object") == "Math"
                return self.kinds.get(name, {"int"} if known else {"?"}) <= NUMBERS
            case "parenthesized_expression" | "unary_expression" | "ternary_expression":
                return all(map(self.is_number, node.named_children[-2:]))
            case "binary_expression":
                return field_text(node, "operator") in SIGNS or self.are_numbers(node)
        return bool(node.type.endswith(tuple(LITERALS)))

    def are_numbers(self, node: Node) -> bool:
        """Return whether both sides of an operator or an assignment are numbers."""
        sides = map(node.child_by_field_name, ("left", "right"))
        return all(map(self.is_number, sides))


def java_faults(code: str) -> Iterator[FaultSite]:
    """Yield all faults that can be made in a Java program, in no particular order, some
    twice.

    Raises `NotNeutral` if the program does not parse.
    """
    lines = Lines(code)
    parts: list[Node] = list(nodes(java_root(code)))
    types, flow = Types(parts), JavaFlow(parts)
    dead = flow.dead()
    for node in parts:
        if node.id in dead:
            continue
        if node.type in LOOPS:
            for part in nodes(node.child_by_field_name("condition")):
                if part.id not in dead:
                    yield from _operator("OffByOne", part, lines)
        elif node.type in ("binary_expression", "assignment_expression"):
            sites = list(_operator("IncorrectBooleanLogic", node, lines))
            if sites and not any(part.type in FIXED for part in nodes(node)):
                yield from sites
            yield from _arithmetic(node, types, flow, lines)
        elif node.type == "block" and node.parent.type in BRANCHING:
            yield from _return(node, flow, lines)


def _operator(kind: Kind, node: Node, lines: Lines) -> Iterator[FaultSite]:
    """Yield the faults of the kind `kind` that replace the operator of an expression,
    or of an assignment such as `+=`."""
    operator = node.child_by_field_name("operator")
    if operator is not None:
        at = lines.span(operator)[0]
        yield from swapped(kind, lines, at, text_of(operator))


def _arithmetic(
    node: Node, types: Types, flow: JavaFlow, lines: Lines
) -> Iterator[FaultSite]:
    """Yield the faults that replace an arithmetic operator, unless the compiler might
    reject the program.

    The compiler might, if `+` joins texts or if a constant no longer fits a narrow
    type.
    """
    fixed = NARROW.search(lines.text) and flow.decided(node)
    if fixed or _beside_text(node):
        return
    for site in _operator("OperatorSwap", node, lines):
        if site.before == "+" and not types.are_numbers(node):
            return
        glued = {lines.text[site.start - 1], lines.text[site.end : site.end + 1]}
        if not glued & set("+-*/"):
            yield site


def _beside_text(node: Node) -> bool:
    """Return whether the chain of operators around an expression contains a text or a
    character."""
    while node.parent.type in CHAINED:
        node = node.parent
    return any(
        part.type in TEXTS or field_text(part, "name") == "charAt"
        for part in nodes(node)
    )


def _return(block: Node, flow: JavaFlow, lines: Lines) -> Iterator[FaultSite]:
    """Yield the fault that inserts a return at the end of a block of a loop or
    condition, if the program still compiles.

    The return gives a default value of the method's type, or no value if the method is
    void.
    """
    method, statements = _method_of(block), statements_of(block)
    if method is None or not statements or not flow.passes(block):
        return
    if flow.leaves(block, method) or not _is_passed(block, flow):
        return
    if method.type == "constructor_body" and not _sets_fields(method, block):
        return
    last, closing = statements[-1], block.end_point[0]
    if block.start_point[0] < last.start_point[0] and last.end_point[0] < closing:
        kind = field_text(method, "type") + field_text(method, "dimensions")
        statement = f"return{DEFAULTS.get(kind, ' null')};"
        # The line of the closing brace counts from 0, so it is that of the line before from 1.
        yield return_behind(lines, closing, last.start_point[0] + 1, statement)


def _method_of(block: Node) -> Node | None:
    """Return the method, or the body of a constructor, that a return in `block` leaves.

    Return None inside a lambda, an initializer and a `switch` that gives a value.
    """
    for outer in around(block):
        if outer.type in ("method_declaration", "constructor_body"):
            return outer
        value = outer.type == "switch_expression" and outer.parent.type not in SEQUENCES
        if value or outer.type in ("lambda_expression", "class_body"):
            return None
    return None


def _is_passed(block: Node, flow: JavaFlow) -> bool:
    """Return whether code after a condition stays reachable for the compiler if
    `block`, one of its blocks, ends in a return.

    True for the block of a loop.
    """
    inner, condition = block, block.parent
    while condition.type == "if_statement":
        other = condition.child_by_field_name("alternative")
        if other == inner:
            other = condition.child_by_field_name("consequence")
        if flow.passes(other):
            return True
        inner, condition = condition, condition.parent
    return bool(inner == block)


def _sets_fields(constructor: Node, block: Node) -> bool:
    """Return whether the body of a constructor sets all final fields of its class
    before `block`."""
    filled = set[str]()
    for statement in constructor.named_children:
        if statement.end_byte <= block.start_byte:
            filled.update(re.findall(r"^(?:this\.)?(\w+)\s*=", text_of(statement)))
    for member in constructor.parent.parent.named_children:
        if re.match(r"[^=]*\bfinal\b", text_of(member)):
            for variable in member.children_by_field_name("declarator"):
                value = field_text(variable, "value")
                if not value and field_text(variable, "name") not in filled:
                    return False
    return True
