"""Check that a Java program with a fault still compiles, by the types that the program declares; a
fault that needs an unknown type is rejected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from codestress.mutate.faults.trees import JAVA_METHODS, JAVA_TYPES, around, field_text
from codestress.sandbox.runtimes import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

NARROW = {"byte", "short", "char", "Byte", "Short", "Character"}
NUMBERS = NARROW | {
    "int",
    "long",
    "float",
    "double",
    "Integer",
    "Long",
    "Float",
    "Double",
}
LITERALS = (
    "decimal_integer_literal",
    "hex_integer_literal",
    "octal_integer_literal",
    "binary_integer_literal",
    "decimal_floating_point_literal",
    "hex_floating_point_literal",
    "character_literal",
)
NUMBER_METHODS = {
    "length",
    "size",
    "indexOf",
    "lastIndexOf",
    "intValue",
    "longValue",
    "doubleValue",
    "compareTo",
    "hashCode",
    "charAt",
    "parseInt",
    "parseLong",
    "parseDouble",
    "nextInt",
    "nextDouble",
    "ordinal",
    "getNumericValue",
    "nanoTime",
    "currentTimeMillis",
    "bitCount",
}
"""Methods of Java's own classes that return numbers."""


@dataclass(frozen=True)
class Declared:
    """Types that a Java program declares, as texts: `variables` and `methods` hold a set of types
    by name, since a name may be declared twice; `?` stands for an omitted type."""

    variables: dict[str, set[str]] = field(default_factory=dict)
    methods: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: Iterable[Node]) -> Declared:
        declared = cls()
        for node in parts:
            table = declared.variables
            match node.type:
                case "method_declaration":
                    named, table = [node], declared.methods
                case (
                    "formal_parameter"
                    | "enhanced_for_statement"
                    | "resource"
                    | "instanceof_expression"
                ):
                    named = [node]
                case (
                    "local_variable_declaration"
                    | "field_declaration"
                    | "spread_parameter"
                ):
                    named = [
                        child
                        for child in node.named_children
                        if child.type == "variable_declarator"
                    ]
                case (
                    "inferred_parameters"
                    | "lambda_expression"
                    | "record_pattern_component"
                    | "type_pattern"
                ):
                    for child in node.children:
                        if child.type == "identifier":
                            table.setdefault(text_of(child), set()).add("?")
                    continue
                case _:
                    continue
            kind = field_text(node, "type") or "?"
            for part in named:
                dimensions = field_text(part, "dimensions")
                table.setdefault(field_text(part, "name"), set()).add(kind + dimensions)
        return declared

    def is_number(self, node: Node | None, depth: int = 0) -> bool:
        """Whether an expression, with `depth` array indices behind it, is certainly a number, by
        the declared types and Java's own; False for None and where this is unknown."""
        if node is None:
            return False
        parts = node.named_children
        match node.type:
            case "identifier":
                return _are_numbers(self.variables.get(text_of(node), set()), depth)
            case "parenthesized_expression":
                return len(parts) == 1 and self.is_number(parts[0], depth)
            case "array_access":
                return self.is_number(node.child_by_field_name("array"), depth + 1)
            case "method_invocation":
                name = field_text(node, "name")
                known = name in NUMBER_METHODS or field_text(node, "object") == "Math"
                kinds = self.methods.get(name)
                return _are_numbers(kinds, depth) if kinds else known and not depth
            case "field_access":
                name = field_text(node, "field")
                known = (
                    name in ("length", "MAX_VALUE", "MIN_VALUE")
                    and name not in self.variables
                )
                return (known and not depth) or _are_numbers(
                    self.variables.get(name, set()), depth
                )
            case _ if depth:
                return False
            case "unary_expression":
                return not text_of(node).startswith("!")
            case "update_expression":
                return True
            case "cast_expression":
                return field_text(node, "type") in NUMBERS
            case "binary_expression" | "assignment_expression":
                sign = field_text(node, "operator")
                if sign not in ("+", "+=", "=", "-=", "*=", "/=", "%="):
                    return sign in ("-", "*", "/", "%", "<<", ">>", ">>>")
                return self.are_numbers(node, "left", "right")
            case "ternary_expression":
                return self.are_numbers(node, "consequence", "alternative")
        return node.type in LITERALS

    def are_numbers(self, node: Node, *fields: str) -> bool:
        """Whether the children in the given fields of an expression are all numbers (`is_number`);
        False where a child is missing."""
        return all(self.is_number(node.child_by_field_name(name)) for name in fields)

    def swaps(self, node: Node, sign: str, other: str) -> bool:
        """Whether the compiler accepts the operator `other` in place of the arithmetic operator
        `sign` (+ - * /) of `node`, an expression or an assignment."""
        right = node.child_by_field_name("right")
        zero = text_of(right).strip("0.LlFfDd()") == ""
        if other == "/" and right is not None and right.type in LITERALS and zero:
            return False
        constant = ("switch_label", "annotation", "element_value_pair")
        if any(outer.type in constant for outer in around(node)):
            return False
        numbers = sign != "+" or self.are_numbers(node, "left", "right")
        return numbers and not self._is_narrow(node)

    def _is_narrow(self, node: Node) -> bool:
        """Whether the declaration, the assignment or the return whose value an expression is part
        of wants a `NARROW` type, so that the compiler takes only some constants."""
        for outer in around(node):
            kinds = set[str]()
            match outer.type:
                case (
                    "local_variable_declaration"
                    | "field_declaration"
                    | "method_declaration"
                ):
                    kinds = {field_text(outer, "type")}
                case "assignment_expression" if outer != node:
                    name = field_text(outer, "left").partition("[")[0]
                    kinds = self.variables.get(name, kinds)
                case "return_statement":
                    continue
                case name if name in INSIDE or name.endswith("_statement"):
                    return False
            if kinds:
                return any(kind.rstrip("[] ") in NARROW for kind in kinds)
        return False


def _are_numbers(kinds: set[str], depth: int) -> bool:
    """Whether `kinds` has at least one type and all its types are numbers; with a `depth` above 0,
    arrays of numbers with that many dimensions."""
    return bool(kinds) and kinds <= {kind + "[]" * depth for kind in NUMBERS}


def may_swap_logic(node: Node) -> bool:
    """Whether `&&` in a Java expression may become `||`, or the reverse, and the program still
    compiles: no operand assigns or declares a variable, and none holds `true` or `false`."""
    fixed = (
        "assignment_expression",
        "update_expression",
        "true",
        "false",
        "record_pattern",
        "type_pattern",
    )
    return not any(
        part.type in fixed
        or (
            part.type == "instanceof_expression"
            and part.child_by_field_name("name") is not None
        )
        for part in nodes(node)
    )


STATEMENTS_HOLD = ("block", "constructor_body", "switch_block_statement_group")
CLOSED = ("lambda_expression", *JAVA_METHODS, *JAVA_TYPES)
"""Types of Java nodes inside which a return leaves the node itself, not a method around it."""
INSIDE = ("array_access", "argument_list", "lambda_expression", *JAVA_TYPES)
"""Types of Java nodes inside which a value is no part of the value around."""


def may_return(block: Node, method: Node) -> bool:
    """Whether a return may stand at the end of `block` in the Java method `method`: the return
    leaves that method (no lambda, class or `switch` expression lies between), and leaves no final
    field of a constructor unset."""
    for outer in takewhile(lambda outer: outer != method, around(block)):
        if outer.type in ("static_initializer", *CLOSED):
            return False
        statement = outer.parent is not None and outer.parent.type in STATEMENTS_HOLD
        if outer.type == "switch_expression" and not statement:
            return False
    if method.type != "constructor_declaration":
        return True
    return _open_fields(method) <= _filled(method, block.start_byte)


def _open_fields(constructor: Node) -> set[str]:
    """Names of the final fields that have no value where they are declared, so that the given
    constructor of their class must set them."""
    open_fields = set[str]()
    for member in (
        constructor.parent.named_children if constructor.parent is not None else []
    ):
        first = text_of(member.named_children[0]) if member.named_children else ""
        if member.type == "field_declaration" and "final" in first.split():
            for variable in member.children_by_field_name("declarator"):
                if variable.child_by_field_name("value") is None:
                    open_fields.add(field_text(variable, "name"))
    return open_fields


def _filled(constructor: Node, before: int) -> set[str]:
    """Names of the fields to which statements of a constructor's body assign, before the byte
    `before` of the program's text; blocks inside the body do not count."""
    body = constructor.child_by_field_name("body")
    statements = body.named_children if body is not None else []
    texts = [
        text_of(statement) for statement in statements if statement.end_byte <= before
    ]
    return {text.partition("=")[0].strip().removeprefix("this.") for text in texts}
