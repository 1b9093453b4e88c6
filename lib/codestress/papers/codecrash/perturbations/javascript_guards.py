"""What may be done to a JavaScript program without changing what it computes; as guards.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

NAMESPACES = frozenset("eval Function globalThis global window self with_statement".split())  # noqa: SIM905
READERS = frozenset("stack callee caller prepareStackTrace captureStackTrace __filename".split())  # noqa: SIM905
OWN_NAMES = frozenset("name toString displayName".split())  # noqa: SIM905
GLOBALS = frozenset(
    """
    Array Boolean BigInt Date Error Infinity JSON Map Math NaN Number Object Promise Proxy Reflect RegExp Set String
    Symbol WeakMap WeakSet console isFinite isNaN parseFloat parseInt process require undefined
    """.split()  # noqa: SIM905
)
WRITES = ("assignment_expression", "augmented_assignment_expression", "update_expression")


@dataclass(frozen=True)
class Known:
    """What a program's text tells about names and values in it. Each text is a doubt, or empty."""

    whole: str = ""
    """Against everything but hints and comments."""
    reader: str = ""
    renaming: str = ""
    stdout: str = ""
    directive: str = ""
    globals: str = ""
    """Globals that the program binds."""
    fixed: frozenset[str] = frozenset()
    """Parameters that stand for their argument, a value of JSON, all the time."""


@lru_cache(maxsize=4096)
def known(problem: Problem) -> Known:
    """What is known about a problem's program."""
    root = parser("javascript").parse(problem.code.encode()).root_node
    every = list(nodes(root))
    used = {text_of(node) for node in every if node.type in ("identifier", "property_identifier")}
    properties = {text_of(node) for node in every if node.type == "property_identifier"}
    texts = {text_of(node) for node in every if node.type == "string_fragment"}
    used |= {"with_statement"} if any(node.type == "with_statement" for node in every) else set()
    bound = {text_of(node) for node in every if node.type == "identifier" and _binds(node)}
    return Known(
        whole=_said("names are found by their texts", (used - bound) & NAMESPACES),
        reader=_said("the program reads its own text", (properties | texts) & READERS),
        renaming=_renaming(every, texts) or _said("a global's name is bound", bound & GLOBALS),
        stdout=_said("stdout is looked at", used & {"console", "process", "stdout", "require", "Symbol"}),
        directive="a directive" if re.search(r"""["']use \w+["']""", problem.code) else "",
        globals=_said("a global's name is bound", bound & GLOBALS),
        fixed=frozenset(_fixed(root, every, problem.function)),
    )


def _said(why: str, found: set[str]) -> str:
    return f"{why}: {min(found)}" if found else ""


def whole_doubt(facts: Known, perturbation: str) -> str:
    """Why a perturbation should not be made on the program at all."""
    if perturbation in ("REN", "PSC-ALL"):
        return facts.reader or facts.whole or facts.renaming
    return facts.reader or (facts.stdout or facts.directive if perturbation == "MPS" else "")


def condition_doubt(facts: Known, template: str, para: str) -> str:
    """Whether a condition rewritten by a template may be another."""
    if "{para}" in template and para not in ("true", "false") and para not in facts.fixed:
        return "a parameter that may be NaN"
    return facts.whole or facts.globals


def garbage_doubt(facts: Known, text: str, false: str, para: str) -> str:
    """Whether a snippet that uses a parameter may do something."""
    if why := facts.whole or facts.directive or facts.globals:
        return why
    if (
        false
        and "=== {para}" in false.replace("!==", "===")
        and para not in ("true", "false")
        and para not in facts.fixed
    ):
        return "a parameter that may be NaN"
    return facts.stdout if "console." in text else ""


def global_doubt(facts: Known) -> str:
    """Whether a global that nobody reads may be seen."""
    return facts.whole or facts.directive


def _binds(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type in (
        "formal_parameters",
        "array_pattern",
        "rest_pattern",
        "object_assignment_pattern",
        "catch_clause",
    ):
        return True
    return parent.child_by_field_name("name") == node or (
        parent.type in (*WRITES, "arrow_function", "for_in_statement", "assignment_pattern")
        and node in (parent.child_by_field_name("left"), parent.child_by_field_name("parameter"))
    )


def _renaming(every: list[Node], texts: set[str]) -> str:
    """Why renaming may be seen in ways that have nothing to do with namespaces."""
    functions = {text_of(node.child_by_field_name("name")) for node in every if "function" in node.type}
    for node in every:
        if node.type == "member_expression":
            owner = node.child_by_field_name("object")
            name = text_of(node.child_by_field_name("property"))
            plain = owner is not None and owner.type in ("identifier", "member_expression", "subscript_expression")
            if name in OWN_NAMES and plain and (name != "name" or text_of(owner) in functions | {"constructor"}):
                return "a function's own name or text is read"
            if name == "message":
                return "the message of an exception"
        called = node.parent.child_by_field_name("function") if node.parent is not None else None
        writes = node.type == "template_substitution" or (node.type == "arguments" and text_of(called) == "String")
        if writes and any(one.type == "identifier" and text_of(one) in functions for one in node.named_children):
            return "a function's own name or text is read"
    return _said("a function's own name or text is read", texts & {"name", "toString"})


def _fixed(root: Node, every: list[Node], function: str) -> set[str]:
    """Parameters of the called function that are plain names, bound once, never written, where nobody else calls it."""
    mentions = sum(node.type == "identifier" and text_of(node) == function for node in every)
    defined = [
        node
        for node in root.named_children
        if node.type == "function_declaration" and text_of(node.child_by_field_name("name")) == function
    ]
    if mentions != 1 or len(defined) != 1:
        return set()
    bound = [text_of(node) for node in every if node.type == "identifier" and _binds(node)]
    bound += [text_of(node) for node in every if node.type == "shorthand_property_identifier_pattern"]
    bound += [text_of(node.child_by_field_name("argument")) for node in every if node.type == "update_expression"]
    given = defined[0].child_by_field_name("parameters")
    plain = [text_of(one) for one in (given.named_children if given is not None else ()) if one.type == "identifier"]
    return {name for name in plain if bound.count(name) == 1 and not any(text_of(n) == "arguments" for n in every)}
