"""Parts of a Java program that cannot run. They are refused: no fault is made in them.

The compiler itself rejects unreachable statements (Java Language Specification, 14.22).
So the rules look only for code that the compiler accepts all the same: conditions that
literals decide, calls that never return, and private members that nothing names. A
method that contains such a condition or call is refused as a whole.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from codestress.sandbox.runtimes import nodes, text_of

from .trees import JAVA_CLASSES, RULES, Node, field_text

LOOPS, CHOOSING, SEQUENCES, RISKY, MEMBERS, FIXED, OTHERS = map(
    tuple, RULES["java"]["types"].values()
)
"""Types of nodes: loops; nodes in which a condition chooses; lists of statements; nodes
that may throw an exception (only the ends of their types' names); members of classes
that a program may leave unused; parts whose values the compiler must know; parts of
blocks that are not statements."""
LITERAL, EMPTY, DEFAULT = map(re.compile, RULES["java"]["patterns"].values())
"""Patterns: of the types of literal nodes; of the texts of arrays and collections
without elements; of a `break` and of a return of a default value.

An inserted return may give the same default value. Behind a `break` there may be such a
return.
"""

GIVING: dict[str, str] = RULES["java"]["giving"]
"""Dict from the type of a node that gives variables a value to the node's field with
these variables."""


class JavaFlow:
    """Flow of control in one program, by the module's rules; `parts` are all nodes of
    its tree in the order of the text."""

    def __init__(self, parts: Sequence[Node]) -> None:
        self.parts = parts
        self.constants = set[str]()
        """Names of variables that keep their first value, which is made of literals."""
        writes = Counter[str]()
        for node in parts:
            if node.type in GIVING:
                target = node.child_by_field_name(GIVING[node.type]) or node
                writes.update(map(text_of, nodes(target)))
        for node in parts:
            value = node.child_by_field_name("value")
            if node.type == "variable_declarator" and value is not None:
                name = field_text(node, "name")
                if writes[name] == 1 and self.decided(value):
                    self.constants.add(name)
        self.stopping = set[str]()
        """Names of methods that end the program, or may never return."""
        methods = [node for node in parts if node.type == "method_declaration"]
        never = {"exit", "halt"}
        while never - self.stopping:
            self.stopping |= never
            never = {
                field_text(method, "name") for method in methods if self.stops(method)
            }

    def stops(self, method: Node) -> bool:
        """Return whether a method may never return, by its body; False if it has no
        body."""
        body = method.child_by_field_name("body")
        inside = list(nodes(body))
        if any(node.type == "return_statement" for node in inside):
            return False
        return not self.passes(body) or any(map(self.is_doubtful, inside))

    def passes(self, node: Node) -> bool:
        """Return whether the compiler lets control pass the end of a statement or a
        block; True for None."""
        if node is None:
            return True
        match node.type:
            case name if name in SEQUENCES:
                return all(map(self.passes, statements_of(node)[-1:]))
            case "if_statement":
                fields = ("consequence", "alternative")
                return any(map(self.passes, map(node.child_by_field_name, fields)))
            case name if name in LOOPS[:3]:
                return not is_endless(node)
            case "expression_statement" | "local_variable_declaration":
                return True
            case "try_statement":
                kinds = ("block", "finally_clause")
                parts = [part for part in node.named_children if part.type in kinds]
                return all(map(self.passes, parts))
        return False

    def is_doubtful(self, node: Node) -> bool:
        """Return whether a node makes it doubtful that all code around the node can
        run.

        Such a node calls a method of `stopping`, is a choice that literals may decide,
        loops over nothing, or is a `try` that catches exceptions although its first
        statement may throw none.
        """
        match node.type:
            case "method_invocation":
                return called(node) in self.stopping
            case "enhanced_for_statement":
                return bool(EMPTY.fullmatch(field_text(node, "value")))
            case "for_statement" if EMPTY.match(text_of(node)):
                return True
            case "try_statement":
                body = statements_of(node.child_by_field_name("body"))
                first = nodes(body[0] if body else None)
                risky = any(part.type.endswith(RISKY) for part in first)
                caught = any(part.type == "catch_clause" for part in node.children)
                return caught and not risky
        if node.type not in CHOOSING or is_endless(node):
            return False
        logic = field_text(node, "operator") in ("&&", "||")
        test = node.child_by_field_name("left" if logic else "condition")
        return test is not None and self.decided(test)

    def decided(self, test: Node) -> bool:
        """Return whether literals and constants may decide a condition or a part of it."""
        logic = field_text(test, "operator") in ("&&", "||", "!")
        if logic or test.type == "parenthesized_expression":
            return any(map(self.decided, test.named_children))
        sides = {*map(text_of, test.named_children)}
        if field_text(test, "operator") in RULES["comparisons"] and len(sides) == 1:
            return True
        for part in nodes(test):
            known = LITERAL.fullmatch(part.type) or text_of(part) in self.constants
            if part.is_named and not part.named_children and not known:
                return False
        return True

    def dead(self) -> set[int]:
        """Return the ids, as tree-sitter numbers them, of the nodes that cannot run or
        in which a fault is refused."""
        dead = self.uncalled()
        for node in self.parts:
            for part in [] if node.id in dead else self.refused(node):
                dead.update(inner.id for inner in nodes(part))
        return dead

    def uncalled(self) -> set[int]:
        """Return the ids of the nodes in private methods and classes that no other code
        names.

        Code in other such unnamed members does not count. A name in a string does,
        since a program may look a method up by its name.
        """
        hidden = []
        for node in self.parts:
            if node.type in MEMBERS and "private" in text_of(node.children[0]):
                hidden.append(node)
        while True:
            dead = set[int]()
            for node in hidden:
                dead.update(inner.id for inner in nodes(node))
            named = {text_of(node) for node in self.parts if node.id not in dead}
            left = [node for node in hidden if field_text(node, "name") not in named]
            if left == hidden:
                return dead
            hidden = left

    def refused(self, node: Node) -> Iterator[Node]:
        """Yield the parts of a program that cannot run, or in which a fault is refused,
        because of `node`."""
        if node.type in FIXED:
            yield node
        name = {"for_statement": "update", "do_statement": "condition"}.get(node.type)
        if name and not self.passes(node.child_by_field_name("body")):
            yield from node.children_by_field_name(name)
        if self.is_doubtful(node):
            while node.parent is not None and node.parent.type not in JAVA_CLASSES:
                node = node.parent
            yield node

    def leaves(self, block: Node, method: Node) -> bool:
        """Return whether one more return at the end of `block` would change nothing.

        That is so if `method` returns a default value there anyway and does nothing
        before. Return True as well if a `break` follows.
        """
        node = block
        while node != method:
            parent = node.parent
            rest = statements_of(parent) if parent.type in SEQUENCES else []
            rest = [part for part in rest if part.start_byte >= node.end_byte]
            if rest:
                return bool(DEFAULT.fullmatch(text_of(rest[0])))
            if parent.type in LOOPS:
                return False
            node = parent
        return field_text(method, "type") in ("", "void")


def statements_of(block: Node) -> list[Node]:
    """Return the children of a Java block, or of a group in a `switch`, without
    comments and labels."""
    return [part for part in block.named_children if part.type not in OTHERS]


def is_endless(node: Node) -> bool:
    condition = field_text(node, "condition").strip("() ")
    literal = condition == "true" and node.type in LOOPS
    return literal or (not condition and node.type == "for_statement")


def called(call: Node) -> str:
    """Return the name of the method that an expression calls on its own class or by a
    class's name.

    Return the empty text for a call on another object.
    """
    owner = field_text(call, "object")
    own = re.fullmatch(r"(this|[A-Z]\w*|Runtime\.getRuntime\(\))?", owner)
    return field_text(call, "name") if own else ""
