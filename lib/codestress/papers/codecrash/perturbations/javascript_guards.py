"""What a JavaScript program tells about names: which it declares and where, which it uses, and what may be done to it
without changing what it computes (as guards.py)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from codestress.papers.codecrash.perturbations.edits import said
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node, QueryCursor

FUNCTIONS = (
    *("function_declaration", "function_expression", "generator_function_declaration", "generator_function"),
    *("method_definition", "arrow_function"),
)
IDENTIFIERS = ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern")
BLOCKS = ("statement_block", "for_statement", "for_in_statement", "switch_body", "class_static_block", "program")
NAMESPACES = frozenset("eval Function globalThis global window self".split())  # noqa: SIM905
READERS = frozenset("stack callee caller prepareStackTrace captureStackTrace __filename".split())  # noqa: SIM905
OWN_NAMES = frozenset("name toString displayName".split())  # noqa: SIM905
USED = frozenset("Boolean Number JSON String console undefined".split())  # noqa: SIM905
"""Globals that templates use."""
FUNCTION = f"[{' '.join(f'({one})' for one in FUNCTIONS)}]"
LOOKS = rf"""
(identifier) @identifier  (property_identifier) @property  (shorthand_property_identifier_pattern) @taken
[(identifier) (shorthand_property_identifier)] @value
(string_fragment) @text  (with_statement "with" @with)  (this) @this  (catch_clause) @catch  (member_expression) @member
(call_expression function: (member_expression property: (_) @called))
(new_expression constructor: (member_expression property: (_) @called))
(new_expression constructor: (_) @made)
(assignment_expression left: (_) @assigned @written)
(augmented_assignment_expression left: (_) @written)
(update_expression argument: (_) @written)
(for_in_statement !kind left: (_) @written)
(lexical_declaration (variable_declarator name: (_) @unset))
[(class_declaration name: (_) @unset) (class name: (_) @unset)]
(function_declaration name: (_) @function)
(function_expression name: (_) @function)
(generator_function_declaration name: (_) @function)
(generator_function name: (_) @function)
(_ name: (_) @function value: {FUNCTION})
(_ left: (_) @function right: {FUNCTION})
(_ name: (identifier) @plain)
(_ function: (identifier) @plain)
(formal_parameters (identifier) @plain)
((member_expression object: (identifier) @plain property: (_) @_p) (#match? @_p "^(length|call|apply|bind)$"))
(template_substitution . (identifier) @shown)
(binary_expression left: (identifier) @shown "+")
(binary_expression "+" right: (identifier) @shown)
((call_expression function: (_) @_f arguments: (arguments . (identifier) @shown @shown_by_call)) (#eq? @_f "String"))
((call_expression function: (member_expression object: (identifier) @shown @shown_by_call property: (_) @_p)
  arguments: (arguments) @_none) (#eq? @_p "toString") (#match? @_none "^[(]\s*[)]$"))
"""
"""What is looked for. `plain`: a function's name that stands for calling it, or for asking its length; `shown`: what is
made a text, `shown_by_call`: by `String` or `.toString()`; `unset`: what cannot be looked at before its declaration."""
DECLARATIONS = """
[(function_declaration name: (_) @function_hoisted) (generator_function_declaration name: (_) @function_hoisted)]
[(function_expression name: (_) @function) (generator_function name: (_) @expression) (class name: (_) @expression)]
(class_declaration name: (_) @class_block)
(variable_declaration (variable_declarator name: (_) @variable_hoisted))
(variable_declaration (variable_declarator name: (_) @function_hoisted value: [(arrow_function) (function_expression)]))
(lexical_declaration (variable_declarator name: (_) @variable_block))
(lexical_declaration (variable_declarator name: (_) @function_block value: [(arrow_function) (function_expression)]))
(for_in_statement kind: "var" left: (_) @variable_hoisted)
(for_in_statement kind: ["let" "const"] left: (_) @variable)
[(_ parameters: (_) @variable) (_ parameter: (_) @variable)]
"""
"""What a name is declared as (an expression's own name is known to that alone), and where it is known: in the function
or the block around, else in what declares it."""


@cache
def _cursor(query: str) -> QueryCursor:
    import tree_sitter
    import tree_sitter_javascript

    language = tree_sitter.Language(tree_sitter_javascript.language())
    return tree_sitter.QueryCursor(tree_sitter.Query(language, query))


def part(node: Node | None, *fields: str) -> Node | None:
    """The first part that a node has under one of these names of its grammar."""
    return next((found for one in fields if node is not None and (found := node.child_by_field_name(one))), None)


def text_at(node: Node | None, *fields: str) -> str:
    """The text of that part; empty where there is none."""
    return text_of(part(node, *fields))


def line_of(node: Node) -> int:
    """The line on which a node begins."""
    return node.start_point[0] + 1


def around(node: Node | None, types: Sequence[str]) -> Node | None:
    """The node itself, or the nearest above it, of one of these types."""
    while node is not None and node.type not in types:
        node = node.parent
    return node


def parameters(function: Node | None) -> list[str]:
    """Names that a function's parameters bind."""
    return bound(part(function, "parameter", "parameters"))


def bound(pattern: Node | None) -> list[str]:
    """Names that a pattern binds; defaults in it are no names."""
    if pattern is None:
        return []
    if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
        return [text_of(pattern)]
    if pattern.type in ("assignment_pattern", "object_assignment_pattern"):
        return bound(part(pattern, "left"))
    if pattern.type == "pair_pattern":
        return bound(part(pattern, "value"))
    return [name for one in pattern.named_children for name in bound(one)]


def declared(root: Node) -> Iterator[tuple[str, str, int]]:
    """Each name that is declared, as what, with the identity of the node inside which it is known. What is a function
    by its value is a variable as well."""
    within = {"hoisted": (*FUNCTIONS, "program"), "block": BLOCKS}
    for capture, found in _cursor(DECLARATIONS).captures(root).items():
        kind, _, where = capture.partition("_")
        for node in found:
            place = around(node.parent and node.parent.parent, within[where]) if where else node.parent
            yield from ((name, kind, place.id) for name in bound(node) if place is not None)


def free_names(root: Node) -> set[str]:
    """Names that stand somewhere for what is not declared around that place: globals, or nothing."""
    scopes: dict[str, set[int]] = {}
    for name, _, place in declared(root):
        scopes.setdefault(name, set()).add(place)
    found = set()
    for node in nodes(root):
        if node.type in IDENTIFIERS:
            here: Node | None = node
            while here is not None and here.id not in scopes.get(text_of(node), ()):
                here = here.parent
            found |= {text_of(node)} if here is None else set()
    return found


# --- what may be done -----------------------------------------------------------------------------------------------


class Known:
    """What a program's text tells about names and values in it. Each text is a doubt, or empty."""

    def __init__(self, problem: Problem) -> None:
        root = parser("javascript").parse(problem.code.encode()).root_node
        looked: dict[str, list[Node]] = defaultdict(list, _cursor(LOOKS).captures(root))
        texts = defaultdict[str, set[str]](set, {name: set(map(text_of, found)) for name, found in looked.items()})
        functions, used = texts["function"], texts["identifier"] | texts["property"]
        plain = {*looked["plain"]}
        values = any(text_of(node) in functions and node not in plain for node in looked["value"])
        names = [name for name, _, _ in declared(root)]
        free = free_names(root)
        written = [name for target in looked["written"] for name in bound(target)]
        # against everything but hints and comments
        by_text = free & NAMESPACES | texts["with"] | texts["called"] & {"constructor"}
        by_text |= {text_of(this) for this in looked["this"] if _may_be_global(this, texts["made"])}
        self.whole = said("names are found by their texts", by_text)
        own = "a function's own name or text is read"
        self.reader = said("the program reads its own text", (texts["property"] | texts["text"]) & READERS)
        if texts["shown"] & functions or (values and texts["shown_by_call"]):
            self.reader = self.reader or own
        members = [(text_at(node, "object"), text_at(node, "property")) for node in looked["member"]]
        named = {name for owner, name in members if owner in functions | {"constructor"}}
        named |= ({name for _, name in members} - {"toString"} | texts["taken"]) if values else set()
        told = any(name == "message" for _, name in members) or any(map(_tells, looked["catch"]))
        arguments = [node for node in looked["identifier"] if text_of(node) == "arguments"]
        self.renaming = (
            (own if named & OWN_NAMES else "the message of an exception" if told else "")
            or ("" if all(around(node, FUNCTIONS) for node in arguments) else "arguments outside functions")
            or said(own, texts["text"] & {"name", "toString"})
            or said("a name that is a global's as well", free & {*names} - {problem.function})
        )
        self.stdout = said("stdout is looked at", used & {"console", "process", "stdout", "require", "Symbol"})
        self.directive = "a directive" if re.search(r"""["']use \w+["']""", problem.code) else ""
        # globals of the templates that the program binds or changes
        changed = {name for name in USED for one in texts["assigned"] if one.startswith((f"{name}.", f"{name}["))}
        self.globals = said("a global's name is bound", USED & {*names, *written} | changed)
        # names that may be looked at before they are set
        self.unset = {name for node in looked["unset"] for name in bound(node)}
        # parameters that stand for their argument, a value of JSON, all the time: plain names of the called function,
        # bound once, never written, where nobody else calls it
        top = [node for node in root.named_children if node.type == "function_declaration"]
        given = [part(node, "parameters") for node in top if text_at(node, "name") == problem.function]
        alone = [text_of(node) for node in looked["identifier"]].count(problem.function) == len(given) == 1
        fixed = [one for one in given[0].named_children if one.type == "identifier"] if alone and given[0] else []
        self.fixed = {name for name in map(text_of, fixed) if [*names, *written].count(name) == 1 and not arguments}

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


known = lru_cache(maxsize=4096)(Known)


def _may_be_global(this: Node, made: set[str]) -> bool:
    """Whether a `this` may be the global object: in no method, and in no function that is called with `new`."""
    owner = around(this, (*(one for one in FUNCTIONS if one != "arrow_function"), "class_body", "program"))
    return (
        owner is not None
        and owner.type not in ("method_definition", "class_body")
        and text_at(owner, "name") not in made
        and (owner.parent is None or owner.parent.type not in ("pair", "assignment_expression"))
    )


def _tells(catch: Node) -> bool:
    """Whether a handler may look at the message of what it catches."""
    caught, body = part(catch, "parameter"), part(catch, "body")
    if caught is None or body is None:
        return False
    for node in nodes(body):
        if node.type == "identifier" and text_of(node) in bound(caught) and node.parent is not None:
            asked = text_at(node.parent, "operator") == "instanceof"
            kept = text_at(node.parent, "property") in ("name", "code", "constructor")
            if not asked and not kept and node.parent.type != "throw_statement":
                return True
    return caught.type != "identifier"
