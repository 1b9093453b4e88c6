"""Which faults leave a Java program one that compiles, by what the program declares: what is not known is refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING

from codestress.papers.faultloc.faults.trees import JAVA_METHODS, JAVA_TYPES, around
from codestress.sandbox.runtimes import nodes, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

NARROW = {"byte", "short", "char", "Byte", "Short", "Character"}
NUMBERS = NARROW | {"int", "long", "float", "double", "Integer", "Long", "Float", "Double"}
LITERALS = (
    *("decimal_integer_literal", "hex_integer_literal", "octal_integer_literal", "binary_integer_literal"),
    *("decimal_floating_point_literal", "hex_floating_point_literal", "character_literal"),
)
NUMBER_METHODS = {
    *("length", "size", "indexOf", "lastIndexOf", "intValue", "longValue", "doubleValue", "compareTo", "hashCode"),
    *("charAt", "parseInt", "parseLong", "parseDouble", "nextInt", "nextDouble", "ordinal", "getNumericValue"),
    *("nanoTime", "currentTimeMillis", "bitCount"),
}
"""Methods of Java's own classes that give numbers."""
TAKES_NUMBERS = ("-", "*", "/", "%", "<", ">", "<=", ">=", "<<", ">>", ">>>")


@dataclass(frozen=True)
class Declared:
    """The types that a program declares, by name; `?` where it leaves one out."""

    variables: dict[str, set[str]] = field(default_factory=dict)
    methods: dict[str, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: Node) -> Declared:
        found = cls()
        for node in nodes(root):
            kind, table = text_of(node.child_by_field_name("type")) or "?", found.variables
            match node.type:
                case "method_declaration":
                    named, table = [node], found.methods
                case "formal_parameter" | "enhanced_for_statement" | "resource" | "instanceof_expression":
                    named = [node]
                case "local_variable_declaration" | "field_declaration" | "spread_parameter":
                    named = [child for child in node.named_children if child.type == "variable_declarator"]
                case "inferred_parameters" | "lambda_expression" | "record_pattern_component" | "type_pattern":
                    for one in (child for child in node.children if child.type == "identifier"):
                        table.setdefault(text_of(one), set()).add("?")
                    continue
                case _:
                    continue
            for one in named:
                held = kind + text_of(one.child_by_field_name("dimensions"))
                table.setdefault(text_of(one.child_by_field_name("name")), set()).add(held)
        return found

    def is_number(self, node: Node | None, depth: int = 0) -> bool:
        """Whether an expression is certainly a number, once it is indexed `depth` times."""
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
                name = text_of(node.child_by_field_name("name"))
                known = name in NUMBER_METHODS or text_of(node.child_by_field_name("object")) == "Math"
                kinds = self.methods.get(name)
                return _are_numbers(kinds, depth) if kinds else known and not depth
            case "field_access":
                name = text_of(node.child_by_field_name("field"))
                known = name in ("length", "MAX_VALUE", "MIN_VALUE") and name not in self.variables
                return (known and not depth) or _are_numbers(self.variables.get(name, set()), depth)
            case _ if depth:
                return False
            case "unary_expression":
                return not text_of(node).startswith("!")
            case "update_expression":
                return True
            case "cast_expression":
                return text_of(node.child_by_field_name("type")) in NUMBERS
            case "binary_expression" | "assignment_expression":
                sign = text_of(node.child_by_field_name("operator"))
                if sign not in ("+", "+=", "=", "-=", "*=", "/=", "%="):
                    return sign in ("-", "*", "/", "%", "<<", ">>", ">>>")
                return all(self.is_number(node.child_by_field_name(side)) for side in ("left", "right"))
            case "ternary_expression":
                return all(self.is_number(node.child_by_field_name(side)) for side in ("consequence", "alternative"))
        return node.type in LITERALS

    def swaps(self, node: Node, sign: str, other: str) -> bool:
        """Whether an arithmetic operator, of an assignment too, may be another without a word from the compiler."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if other == "/" and text_of(right).strip("0.LlFfDd()") == "" and right is not None and right.type in LITERALS:
            return False
        if any(one.type in ("switch_label", "annotation", "element_value_pair") for one in around(node)):
            return False
        if node.type == "assignment_expression":
            return sign != "+" or (self.is_number(left) and self.is_number(right))
        wanted = self._wanted(node)
        added = wanted in NUMBERS or (self.is_number(left) and self.is_number(right))
        return wanted not in NARROW and (sign != "+" or added)

    def _wanted(self, node: Node) -> str:
        """The type that an expression's surroundings ask for; empty where they ask for none that is known."""
        parent = node.parent
        if parent is None:
            return ""
        sign = text_of(parent.child_by_field_name("operator"))
        match parent.type:
            case "parenthesized_expression":
                return self._wanted(parent)
            case "binary_expression" if sign in TAKES_NUMBERS:
                return self._wanted(parent) or "double"
            case "binary_expression" if sign == "+":
                return self._wanted(parent)
            case "unary_expression" if not text_of(parent).startswith("!"):
                return self._wanted(parent) or "double"
            case "array_access" if parent.child_by_field_name("index") == node:
                return "int"
            case "variable_declarator" if parent.parent is not None and len(parent.named_children) == 2:
                return text_of(parent.parent.child_by_field_name("type"))
            case "assignment_expression" if parent.child_by_field_name("right") == node and sign == "=":
                kinds = self.variables.get(text_of(parent.child_by_field_name("left")), set())
                return min(kinds & NARROW or kinds) if kinds and kinds <= NUMBERS else ""
            case "array_initializer":
                outer = next((one for one in around(parent) if one.type.endswith("_declaration")), None)
                return text_of(outer.child_by_field_name("type")).rstrip("[] ") if outer is not None else ""
            case "return_statement":
                owner = next(
                    one for one in around(parent) if one.type in (*JAVA_METHODS, "lambda_expression", *JAVA_TYPES)
                )
                return text_of(owner.child_by_field_name("type")) if owner.type == "method_declaration" else ""
        return ""


def _are_numbers(kinds: set[str], depth: int) -> bool:
    """Whether types, of arrays of so many dimensions, are all of numbers."""
    return bool(kinds) and kinds <= {kind + "[]" * depth for kind in NUMBERS}


def may_swap_logic(node: Node) -> bool:
    """Whether `&&` may be `||` and the other way round: no operand gives a variable a value or names one, and none is
    written out."""
    fixed = ("assignment_expression", "update_expression", "true", "false", "record_pattern", "type_pattern")
    return not any(
        part.type in fixed or (part.type == "instanceof_expression" and part.child_by_field_name("name") is not None)
        for part in nodes(node)
    )


LOOPS = ("while_statement", "for_statement", "enhanced_for_statement")
STATEMENTS_HOLD = ("block", "constructor_body", "switch_block_statement_group")


def may_return(block: Node, method: Node) -> bool:
    """Whether a return may stand at the end of a block of a method: it is reached, leaves that method and no
    expression, no field is left without its value, and what follows can be reached without it."""
    inside = list(takewhile(lambda one: one != method, around(block)))
    for one in inside:
        if one.type in ("lambda_expression", "static_initializer", *JAVA_METHODS, *JAVA_TYPES):
            return False
        if one.type == "switch_expression" and (one.parent is None or one.parent.type not in STATEMENTS_HOLD):
            return False
    if method.type == "constructor_declaration" and not _open_fields(method) <= _filled(method, block.start_byte):
        return False
    if not _statements(block) or not _completes(_statements(block)[-1]):
        return False
    for one in inside:  # from the inside out, until what follows one is reached though the block never ends
        if one.type in LOOPS or _completes(one, without=block):
            return True
        if one.parent is not None and one.parent.type in STATEMENTS_HOLD and _statements(one.parent)[-1] != one:
            return False
    return True


def _statements(block: Node) -> list[Node]:
    return [child for child in block.named_children if "comment" not in child.type]


def _open_fields(constructor: Node) -> set[str]:
    """The final fields of a class that its constructors must fill."""
    members = constructor.parent.named_children if constructor.parent is not None else []
    fields = [one for one in members if one.type == "field_declaration"]
    final = [one for one in fields if "final" in text_of(one.named_children[0]).split()]
    declarators = [one for member in final for one in member.children_by_field_name("declarator")]
    return {text_of(one.child_by_field_name("name")) for one in declarators if one.child_by_field_name("value") is None}


def _filled(constructor: Node, before: int) -> set[str]:
    """The fields that a constructor fills in any case before a byte of the text."""
    body = constructor.child_by_field_name("body")
    done = [one for one in body.named_children if one.end_byte <= before] if body is not None else []
    return {text_of(one).partition("=")[0].strip().removeprefix("this.") for one in done}


def _completes(node: Node | None, without: Node | None = None) -> bool:
    """Whether what follows a statement can certainly be reached, by no way through `without`; of none, it can."""
    if node is None or node == without:
        return node is None
    body, condition = node.child_by_field_name("body"), node.child_by_field_name("condition")
    open_end = condition is not None and any(part.type == "identifier" for part in nodes(condition))
    match node.type:
        case "expression_statement" | "local_variable_declaration" | "enhanced_for_statement" | "assert_statement":
            return True
        case "while_statement" | "for_statement":
            return open_end
        case "block":
            return not _statements(node) or _completes(_statements(node)[-1], without)
        case "if_statement":
            return any(_completes(node.child_by_field_name(one), without) for one in ("consequence", "alternative"))
        case "do_statement" | "synchronized_statement":
            return _completes(body, without) and (open_end or node.type != "do_statement")
        case "try_statement" | "try_with_resources_statement":
            caught = [one.child_by_field_name("body") for one in node.named_children if one.type == "catch_clause"]
            last = next((one.named_children[-1] for one in node.named_children if one.type == "finally_clause"), None)
            return any(_completes(one, without) for one in (body, *caught)) and _completes(last, without)
    return False
