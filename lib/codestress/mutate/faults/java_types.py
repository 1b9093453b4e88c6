"""Types that a Java program declares: an operator is replaced only where they say that the compiler
accepts it."""

from collections.abc import Iterable

from codestress.sandbox.runtimes import text_of

from .trees import RULES, Node, field_text

NARROW, WIDE, KNOWN, UNTYPED, LITERALS, SIGNS = map(
    frozenset, RULES["java"]["numbers"].values()
)
"""Types of numbers that take only some constants without a cast, and the others; methods and fields
of Java's own classes that are numbers; types of nodes that declare variables without a type, or
with one that is not read here; ends of the types of nodes that are numbers; operators that always
give a number."""


class Types:
    """Types of a program's variables, fields and methods, as texts by name: a set, since a name may
    be declared twice; `?` stands for an unknown type."""

    def __init__(self, parts: Iterable[Node]) -> None:
        self.kinds: dict[str, set[str]] = {}
        self.has_narrow = False
        """Whether anything has a type of `NARROW`, or is an array of them."""
        for node in parts:
            kind = field_text(node, "type")
            variables = node.children_by_field_name("declarator")
            for part in [node, *variables] if kind else []:
                dimensions = field_text(part, "dimensions")
                self.declare(field_text(part, "name"), kind + dimensions)
            if node.type in UNTYPED:
                for part in node.children:
                    if part.type == "identifier":
                        self.declare(text_of(part), "?")

    def declare(self, name: str, kind: str) -> None:
        self.kinds.setdefault(name, set()).add(kind)
        self.has_narrow |= kind.rstrip("[] ") in NARROW

    def is_number(self, node: Node, indices: str = "") -> bool:
        """Whether an expression, with as many array indices behind it as `indices` has pairs of
        brackets, is certainly a number; False for None and where this is unknown."""
        if node is None:
            return False
        sign = field_text(node, "operator")
        match node.type:
            case "array_access":
                array = node.child_by_field_name("array")
                return self.is_number(array, f"{indices}[]")
            case "identifier" | "field_access" | "method_invocation":
                name = field_text(node, "field") or field_text(node, "name")
                name = name or text_of(node)
                known = name in KNOWN or field_text(node, "object") == "Math"
                kinds = self.kinds.get(name, {"int"} if known else {"?"})
                return kinds <= {kind + indices for kind in NARROW | WIDE}
            case "parenthesized_expression":
                return self.is_number(node.named_children[0], indices)
            case "ternary_expression":
                return all(map(self.is_number, node.named_children[1:]))
            case "cast_expression":
                return field_text(node, "type") in NARROW | WIDE
            case "binary_expression" if sign == "+":
                return self.are_numbers(node)
            case "binary_expression":
                return sign in SIGNS
            case "unary_expression":
                return sign != "!"
        return bool(node.type.endswith(tuple(LITERALS)))

    def are_numbers(self, node: Node) -> bool:
        """Whether both sides of an operator or an assignment are numbers."""
        sides = (node.child_by_field_name(name) for name in ("left", "right"))
        return all(map(self.is_number, sides))
