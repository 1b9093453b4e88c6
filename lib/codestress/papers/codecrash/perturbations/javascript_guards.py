"""What may be done to a JavaScript program without changing what it computes; as guards.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from codestress.papers.codecrash.perturbations.javascript_names import (
    FUNCTIONS,
    around,
    bound,
    declared,
    free_names,
    written,
)
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

NAMESPACES = frozenset("eval Function globalThis global window self".split())  # noqa: SIM905
READERS = frozenset("stack callee caller prepareStackTrace captureStackTrace __filename".split())  # noqa: SIM905
OWN_NAMES = frozenset("name toString displayName".split())  # noqa: SIM905
USED = frozenset("Boolean Number JSON String console undefined".split())  # noqa: SIM905
"""Globals that templates use."""
METHODS_OF_FUNCTIONS = ("call", "apply", "bind")


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
    """Globals of the templates that the program binds or changes."""
    free: frozenset[str] = frozenset()
    """Names that stand somewhere for a global, or for nothing."""
    unset: frozenset[str] = frozenset()
    """Names that may be looked at before they are set."""
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
    names = [name for name, _ in declared(every)]
    free = free_names(every)
    functions = _functions(every)
    found_by_text = free & NAMESPACES | ({"with"} if any(node.type == "with_statement" for node in every) else set())
    found_by_text |= {"constructor"} & {_member(node) for node in every} if _made_from_text(every) else set()
    lexical = {"lexical_declaration", "class_declaration", "class"}
    return Known(
        whole=_said("names are found by their texts", found_by_text | ({"this"} if _any_this(every) else set())),
        reader=_said("the program reads its own text", (properties | texts) & READERS) or _read_texts(every, functions),
        renaming=_renaming(every, texts, functions)
        or _said("a name that is a global's as well", free & {*names} - {problem.function}),
        stdout=_said("stdout is looked at", used & {"console", "process", "stdout", "require", "Symbol"}),
        directive="a directive" if re.search(r"""["']use \w+["']""", problem.code) else "",
        globals=_said("a global's name is bound", USED & {*names, *written(every)} | _changed_globals(every)),
        free=frozenset(free),
        unset=frozenset(name for node in every if node.type in lexical for name in _names_in(node)),
        fixed=frozenset(_fixed(root, every, names, problem.function)),
    )


def _said(why: str, found: set[str] | frozenset[str]) -> str:
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
    constant = para in ("true", "false")
    if "function" not in text and not constant and para in facts.unset:
        return f"a name that may not be set yet: {para}"
    if "=== {para}" in false.replace("!==", "===") and not constant and para not in facts.fixed:
        return "a parameter that may be NaN"
    return facts.stdout if "console." in text else ""


def global_doubt(facts: Known) -> str:
    """Whether a global that nobody reads may be seen."""
    return facts.whole or facts.directive


def _names_in(declaration: Node) -> list[str]:
    """Names of `let`, `const` and `class`, which cannot be looked at before the declaration."""
    if declaration.type == "lexical_declaration":
        return [name for part in declaration.named_children for name in bound(part.child_by_field_name("name"))]
    return bound(declaration.child_by_field_name("name"))


def _member(node: Node | None) -> str:
    """The property that a member expression names."""
    if node is None or node.type != "member_expression":
        return ""
    return text_of(node.child_by_field_name("property"))


def _made_from_text(every: Sequence[Node]) -> bool:
    """Whether a constructor that is looked up is called, as `Function` may be."""
    return any(
        node.type in ("call_expression", "new_expression")
        and _member(node.child_by_field_name("function") or node.child_by_field_name("constructor")) == "constructor"
        for node in every
    )


def _any_this(every: Sequence[Node]) -> bool:
    """Whether a `this` may be the global object: in no method, and in no function that is called with `new`."""
    made = {text_of(node.child_by_field_name("constructor")) for node in every if node.type == "new_expression"}
    plain = tuple(one for one in FUNCTIONS if one != "arrow_function")
    for node in every:
        if node.type == "this":
            function = around(node, (*plain, "class_body", "program"))
            parent = function.parent if function is not None else None
            if function is None or (
                function.type not in ("method_definition", "class_body")
                and text_of(function.child_by_field_name("name")) not in made - {""}
                and (parent is None or parent.type not in ("pair", "assignment_expression"))
            ):
                return True
    return False


def _changed_globals(every: Sequence[Node]) -> set[str]:
    """Globals of the templates whose properties, or whose prototype's, something is assigned to."""
    targets = [text_of(node.child_by_field_name("left")) for node in every if node.type == "assignment_expression"]
    return {name for name in USED for target in targets if target.startswith((f"{name}.", f"{name}["))}


# --- names ----------------------------------------------------------------------------------------------------------


def _functions(every: Sequence[Node]) -> set[str]:
    """Names of functions, those that variables give them too."""
    found = {text_of(node.child_by_field_name("name")) for node in every if "function" in node.type}
    for node in every:
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if value is not None and value.type in FUNCTIONS:
            found.add(text_of(node.child_by_field_name("name") or node.child_by_field_name("left")))
    return found - {""}


def _is_value(node: Node, functions: set[str]) -> bool:
    """Whether a function's name stands here for the function itself, not for calling it or for asking its length."""
    parent = node.parent
    if node.type not in ("identifier", "shorthand_property_identifier") or text_of(node) not in functions:
        return False
    if parent is None or node in (parent.child_by_field_name("name"), parent.child_by_field_name("function")):
        return False
    return _member(parent) not in ("length", *METHODS_OF_FUNCTIONS) and parent.type != "formal_parameters"


def _as_text(node: Node) -> Node | None:
    """What is made a text here: in a template, by `String`, `+` or `.toString()`."""
    called = node.child_by_field_name("function")
    if node.type == "template_substitution":
        return node.named_children[0] if node.named_children else None
    if node.type == "call_expression" and _member(called) == "toString":
        given = node.child_by_field_name("arguments")
        return called.child_by_field_name("object") if called and given and not given.named_children else None
    if node.type == "call_expression" and text_of(called) == "String":
        given = node.child_by_field_name("arguments")
        return given.named_children[0] if given and given.named_children else None
    if node.type == "binary_expression" and text_of(node.child_by_field_name("operator")) == "+":
        sides = [node.child_by_field_name("left"), node.child_by_field_name("right")]
        return next((side for side in sides if side is not None and side.type == "identifier"), None)
    return None


def _read_texts(every: Sequence[Node], functions: set[str]) -> str:
    """Where a function's text may be read."""
    values = any(_is_value(node, functions) for node in every)
    for node in every:
        shown = _as_text(node)
        if shown is None or shown.type != "identifier":
            continue
        if text_of(shown) in functions or (values and node.type == "call_expression"):
            return "a function's own name or text is read"
    return ""


def _renaming(every: Sequence[Node], texts: set[str], functions: set[str]) -> str:
    """Why renaming may be seen in ways that have nothing to do with namespaces."""
    values = any(_is_value(node, functions) for node in every)
    for node in every:
        name = _member(node)
        owner = node.child_by_field_name("object")
        own = owner is not None and text_of(owner) in functions | {"constructor"}
        taken = node.type == "shorthand_property_identifier_pattern" and text_of(node) in OWN_NAMES
        if (name in OWN_NAMES and (own or (values and name != "toString"))) or (taken and values):
            return "a function's own name or text is read"
        if name == "message" or (node.type == "catch_clause" and _tells(node)):
            return "the message of an exception"
        if node.type == "identifier" and text_of(node) == "arguments" and around(node, FUNCTIONS) is None:
            return "arguments outside functions"
    return _said("a function's own name or text is read", texts & {"name", "toString"})


def _tells(catch: Node) -> bool:
    """Whether a handler may look at the message of what it catches."""
    caught, body = catch.child_by_field_name("parameter"), catch.child_by_field_name("body")
    if caught is None or body is None:
        return False
    for node in nodes(body):
        if node.type == "identifier" and text_of(node) in bound(caught) and node.parent is not None:
            asked = text_of(node.parent.child_by_field_name("operator")) == "instanceof"
            kept = _member(node.parent) in ("name", "code", "constructor") or node.parent.type == "throw_statement"
            if not asked and not kept:
                return True
    return caught.type != "identifier"


def _fixed(root: Node, every: Sequence[Node], names: Sequence[str], function: str) -> set[str]:
    """Parameters of the called function that are plain names, bound once, never written, where nobody else calls it."""
    mentions = sum(node.type == "identifier" and text_of(node) == function for node in every)
    defined = [
        node
        for node in root.named_children
        if node.type == "function_declaration" and text_of(node.child_by_field_name("name")) == function
    ]
    if mentions != 1 or len(defined) != 1 or any(text_of(node) == "arguments" for node in every):
        return set()
    given = defined[0].child_by_field_name("parameters")
    plain = [text_of(one) for one in (given.named_children if given is not None else ()) if one.type == "identifier"]
    return {name for name in plain if [*names, *written(every)].count(name) == 1}
