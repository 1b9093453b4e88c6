"""What may be done to a JavaScript program without changing what it computes; as guards.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from codestress.papers.codecrash.perturbations.edits import said
from codestress.papers.codecrash.perturbations.javascript_names import (
    FUNCTIONS,
    around,
    bound,
    declared,
    free_names,
    part,
    text_at,
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

    whole: str
    """Against everything but hints and comments."""
    reader: str
    renaming: str
    stdout: str
    directive: str
    globals: str
    """Globals of the templates that the program binds or changes."""
    unset: frozenset[str]
    """Names that may be looked at before they are set."""
    fixed: frozenset[str]
    """Parameters that stand for their argument, a value of JSON, all the time."""

    def whole_doubt(self, perturbation: str) -> str:
        """As of guards.Known."""
        if perturbation in ("REN", "PSC-ALL"):
            return self.reader or self.whole or self.renaming
        return self.reader or (self.stdout or self.directive if perturbation == "MPS" else "")

    def condition_doubt(self, _condition: str, template: str, para: str) -> str:
        """As of guards.Known."""
        if "{para}" in template and para not in ("true", "false") and para not in self.fixed:
            return "a parameter that may be NaN"
        return self.whole or self.globals

    def garbage_doubt(self, text: str, false: str, para: str) -> str:
        """As of guards.Known."""
        if why := self.whole or self.directive or self.globals:
            return why
        constant = para in ("true", "false")
        if "function" not in text and not constant and para in self.unset:
            return f"a name that may not be set yet: {para}"
        if "=== {para}" in false.replace("!==", "===") and not constant and para not in self.fixed:
            return "a parameter that may be NaN"
        return self.stdout if "console." in text else ""

    def global_doubt(self) -> str:
        """As of guards.Known."""
        return self.whole or self.directive


@lru_cache(maxsize=4096)
def known(problem: Problem) -> Known:
    """What is known about a problem's program."""
    root = parser("javascript").parse(problem.code.encode()).root_node
    every = list(nodes(root))
    used = {text_of(node) for node in every if node.type in ("identifier", "property_identifier")}
    properties = {text_of(node) for node in every if node.type == "property_identifier"}
    texts = {text_of(node) for node in every if node.type == "string_fragment"}
    names = [name for name, _, _ in declared(every)]
    free = free_names(every)
    functions = _functions(every)
    found_by_text = free & NAMESPACES | ({"with"} if any(node.type == "with_statement" for node in every) else set())
    found_by_text |= {"constructor"} & {_member(node) for node in every} if _made_from_text(every) else set()
    lexical = {"lexical_declaration", "class_declaration", "class"}
    return Known(
        whole=said("names are found by their texts", found_by_text | ({"this"} if _any_this(every) else set())),
        reader=said("the program reads its own text", (properties | texts) & READERS) or _read_texts(every, functions),
        renaming=_renaming(every, texts, functions)
        or said("a name that is a global's as well", free & {*names} - {problem.function}),
        stdout=said("stdout is looked at", used & {"console", "process", "stdout", "require", "Symbol"}),
        directive="a directive" if re.search(r"""["']use \w+["']""", problem.code) else "",
        globals=said("a global's name is bound", USED & {*names, *written(every)} | _changed_globals(every)),
        unset=frozenset(name for node in every if node.type in lexical for name in _names_in(node)),
        fixed=frozenset(_fixed(root, every, names, problem.function)),
    )


def _names_in(declaration: Node) -> list[str]:
    """Names of `let`, `const` and `class`, which cannot be looked at before the declaration."""
    declarators = declaration.named_children if declaration.type == "lexical_declaration" else [declaration]
    return [name for one in declarators for name in bound(part(one, "name"))]


def _member(node: Node | None) -> str:
    """The property that a member expression names."""
    return text_at(node, "property") if node is not None and node.type == "member_expression" else ""


def _made_from_text(every: Sequence[Node]) -> bool:
    """Whether a constructor that is looked up is called, as `Function` may be."""
    calls = (node for node in every if node.type in ("call_expression", "new_expression"))
    return any(_member(part(node, "function", "constructor")) == "constructor" for node in calls)


def _any_this(every: Sequence[Node]) -> bool:
    """Whether a `this` may be the global object: in no method, and in no function that is called with `new`."""
    made = {text_at(node, "constructor") for node in every if node.type == "new_expression"} - {""}
    owning = (*(one for one in FUNCTIONS if one != "arrow_function"), "class_body", "program")
    return any(
        owner.type not in ("method_definition", "class_body")
        and text_at(owner, "name") not in made
        and (owner.parent is None or owner.parent.type not in ("pair", "assignment_expression"))
        for node in every
        if node.type == "this" and (owner := around(node, owning))
    )


def _changed_globals(every: Sequence[Node]) -> set[str]:
    """Globals of the templates whose properties, or whose prototype's, something is assigned to."""
    targets = [text_at(node, "left") for node in every if node.type == "assignment_expression"]
    return {name for name in USED for target in targets if target.startswith((f"{name}.", f"{name}["))}


# --- names ----------------------------------------------------------------------------------------------------------


def _functions(every: Sequence[Node]) -> set[str]:
    """Names of functions, those that variables give them too."""
    found = {text_at(node, "name") for node in every if "function" in node.type}
    for node in every:
        if (value := part(node, "value", "right")) and value.type in FUNCTIONS:
            found.add(text_at(node, "name", "left"))
    return found - {""}


def _is_value(node: Node, functions: set[str]) -> bool:
    """Whether a function's name stands here for the function itself, not for calling it or for asking its length."""
    parent = node.parent
    if node.type not in ("identifier", "shorthand_property_identifier") or text_of(node) not in functions:
        return False
    if parent is None or node in (part(parent, "name"), part(parent, "function")):
        return False
    return _member(parent) not in ("length", *METHODS_OF_FUNCTIONS) and parent.type != "formal_parameters"


def _as_text(node: Node) -> str:
    """The name of what is made a text here: in a template, by `String`, `+` or `.toString()`."""
    called, given = part(node, "function"), part(node, "arguments")
    shown: Sequence[Node | None] = ()
    if node.type == "template_substitution":
        shown = node.named_children[:1]
    elif node.type == "call_expression" and given and _member(called) == "toString":
        shown = [] if given.named_children else [part(called, "object")]
    elif node.type == "call_expression" and given and text_of(called) == "String":
        shown = given.named_children[:1]
    elif node.type == "binary_expression" and text_at(node, "operator") == "+":
        shown = [part(node, "left"), part(node, "right")]
    return next((text_of(one) for one in shown if one is not None and one.type == "identifier"), "")


def _read_texts(every: Sequence[Node], functions: set[str]) -> str:
    """Where a function's text may be read."""
    values = any(_is_value(node, functions) for node in every)
    shown = ((node, name) for node in every if (name := _as_text(node)))
    read = any(name in functions or (values and node.type == "call_expression") for node, name in shown)
    return "a function's own name or text is read" if read else ""


def _renaming(every: Sequence[Node], texts: set[str], functions: set[str]) -> str:
    """Why renaming may be seen in ways that have nothing to do with namespaces."""
    values = any(_is_value(node, functions) for node in every)
    for node in every:
        name = _member(node)
        own = text_at(node, "object") in functions | {"constructor"}
        taken = node.type == "shorthand_property_identifier_pattern" and text_of(node) in OWN_NAMES
        if (name in OWN_NAMES and (own or (values and name != "toString"))) or (taken and values):
            return "a function's own name or text is read"
        if name == "message" or (node.type == "catch_clause" and _tells(node)):
            return "the message of an exception"
        if node.type == "identifier" and text_of(node) == "arguments" and around(node, FUNCTIONS) is None:
            return "arguments outside functions"
    return said("a function's own name or text is read", texts & {"name", "toString"})


def _tells(catch: Node) -> bool:
    """Whether a handler may look at the message of what it catches."""
    caught, body = part(catch, "parameter"), part(catch, "body")
    if caught is None or body is None:
        return False
    for node in nodes(body):
        if node.type == "identifier" and text_of(node) in bound(caught) and node.parent is not None:
            asked = text_at(node.parent, "operator") == "instanceof"
            kept = _member(node.parent) in ("name", "code", "constructor") or node.parent.type == "throw_statement"
            if not asked and not kept:
                return True
    return caught.type != "identifier"


def _fixed(root: Node, every: Sequence[Node], names: Sequence[str], function: str) -> set[str]:
    """Parameters of the called function that are plain names, bound once, never written, where nobody else calls it."""
    used = [text_of(node) for node in every if node.type == "identifier"]
    top = [node for node in root.named_children if node.type == "function_declaration"]
    given = [part(node, "parameters") for node in top if text_at(node, "name") == function]
    if used.count(function) != 1 or len(given) != 1 or any(text_of(node) == "arguments" for node in every):
        return set()
    plain = [text_of(one) for one in (given[0].named_children if given[0] else ()) if one.type == "identifier"]
    bindings = [*names, *written(every)]
    return {name for name in plain if bindings.count(name) == 1}
