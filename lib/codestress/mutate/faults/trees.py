"""Syntax trees of Python and Java programs, and the aspects of a program's text that
mutations change.

The aspects are the program's lines, the names of its local variables and the order of
its methods. Usually a program cannot see them at run time. Rules (rules.yaml) list the
constructs through which a program can; a mutation of a visible aspect is rejected.
"""

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from codestress.literals import parse_program
from codestress.sandbox.runtimes import nodes, parser, syntax_fault, text_of
from codestress.types import Language
from codestress.validation import read_yaml

from ..refusals import python_constructs, refusal

Node = Any
"""Node of tree-sitter, whose parent and fields may be None."""
Aspect = Literal["lines", "names", "order"]
RULES = read_yaml(Path(__file__).with_name("rules.yaml"))
"""Words and constructs that decide which mutations are made (rules.yaml)."""
JAVA_METHODS, JAVA_CLASSES, JAVA_TYPES = map(tuple, RULES["java"]["members"].values())
"""Types of nodes: methods and constructors; bodies that hold the members of a class;
all nodes that enclose the members of a Java type (class, interface, enum, record,
annotation)."""
JAVA_WORDS = frozenset(RULES["java_words"].split())
"""Java's keywords, including those that may name a variable in some places only, and
names of Java's own classes."""
ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u+(?:00[0-7]|(?![0-9a-fA-F]{4}))")
"""Pattern of a unicode escape of an ASCII character, and of a broken escape.

javac reads such an escape as the character itself, wherever the escape stands.
"""


class NotNeutral(ValueError):
    """Raised if a mutation cannot be made on a program, or cannot be proved to keep the
    program's meaning; the message says why."""


def _lines_are_certain(code: str) -> None:
    """Raise `NotNeutral` if a program has a carriage return without a line feed.

    Only some parsers count such a carriage return as a line end.
    """
    if "\r" in code.replace("\r\n", "\n"):
        raise NotNeutral(
            "a carriage return without a line feed: lines are counted in two ways"
        )


def tree_of(code: str) -> ast.Module:
    _lines_are_certain(code)
    try:
        return parse_program(code)
    except SyntaxError as error:
        raise NotNeutral(f"does not parse: {error}") from None


@lru_cache(maxsize=64)
def java_root(code: str) -> Node:
    """Return the root of a Java program's syntax tree (tree-sitter), which is cached
    and must not be changed.

    Raises `NotNeutral` if the program does not parse, has a carriage return without a
    line feed, or spells an ASCII character as a unicode escape.
    """
    _lines_are_certain(code)
    if ESCAPE.search(code):
        raise NotNeutral("a unicode escape that may be part of the program's form")
    root: Node = parser("java").parse(code.encode("utf-8", "surrogatepass")).root_node
    if fault := syntax_fault(root):
        raise NotNeutral(f"does not parse: {fault}")
    return root


def field_text(node: Node, name: str) -> str:
    """Return the text of the child in a tree-sitter node's field `name`; empty if the
    field is empty."""
    return text_of(node.child_by_field_name(name))


def around(node: Node) -> Iterator[Node]:
    """Yield a tree-sitter node and the nodes that enclose it, from the inside out."""
    while node is not None:
        yield node
        node = node.parent


@lru_cache(maxsize=512)
def words_of(code: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", code))


@lru_cache(maxsize=256)
def named_in(code: str) -> frozenset[str]:
    """Return the names that a Java program declares (type parameters included), calls
    or imports."""
    node: Node
    named = set[str]()
    for node in nodes(java_root(code)):
        named.add(field_text(node, "name"))
        if node.type in ("type_parameter", "import_declaration"):
            named.update(words_of(text_of(node)))
    return frozenset(named)


def refuse_seen(aspect: Aspect, code: str, language: Language) -> None:
    """Raise `NotNeutral` if the program `code` may see the aspect `aspect` of its own
    text.

    The aspects are the program's `lines`, the `names` of its variables and the `order`
    of its methods. Raises `NotNeutral` too if the program does not parse.
    """
    if why := refusal(RULES["seen"], aspect, constructs(code, language)):
        raise NotNeutral(why)


@lru_cache(maxsize=2048)
def constructs(code: str, language: Language) -> frozenset[str]:
    """Return the constructs of a program, as a set of texts to compare with the rules.

    Python: those of `python_constructs`. Java: identifiers, contents of strings, and
    `NAME(…)` for each call with arguments. `printStackTrace` counts only with
    arguments: without arguments, it prints on the standard error. Raises `NotNeutral`
    if the program does not parse.
    """
    if language == "python":
        return python_constructs(tree_of(code))
    node: Node
    texts = set[str]()
    for node in nodes(java_root(code)):
        if node.type in ("identifier", "type_identifier", "string_fragment"):
            texts.add(text_of(node))
        elif node.type == "method_invocation":
            arguments = node.child_by_field_name("arguments")
            if arguments.named_children:
                texts.add(f"{field_text(node, 'name')}(…)")
    return frozenset(texts)
