"""Rules by which perturbations refuse JavaScript programs: rewritings, reasons and constructs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from tree_sitter import Node

from codestress.problems.program import Problem
from codestress.sandbox.runtimes import parser, text_of

from ..refusals import rule
from .guards import EVERY, GARBAGE, NAMES
from .javascript_syntax import (
    DECLARATIONS,
    FUNCTIONS,
    around,
    bound,
    free_names,
    part,
    query_cursor,
    text_at,
)

CONSTRUCTS = """
[(identifier) (shorthand_property_identifier)] @name
(member_expression property: (_) @property)
(pair_pattern key: (_) @property)
[(shorthand_property_identifier_pattern) (string_fragment)] @property
(call_expression function: (identifier) @called)
(this) @this
(with_statement) @with
(catch_clause parameter: (_) @caught)
(expression_statement (string) @directive)
(_ left: (identifier) @function right: [(arrow_function) (function_expression) (generator_function) (class)])
(assignment_expression left: (_) @written)
(augmented_assignment_expression left: (_) @written)
(update_expression argument: (_) @written)
(for_in_statement !kind left: (_) @written)
"""
"""Tree-sitter query for the nodes that the rules are about, beside those of `DECLARATIONS`."""
FORMS = {"name": "{}", "property": ".{}", "called": "{}()"}
"""Forms of the constructs that are named after a node's text, by capture."""
NAMING = {"variable", "function", "class", "expression", "written"}
"""Captures, before an underscore, of nodes that bind or change names."""
TEXTS = {".name", ".toString", "String()"}
"""Constructs that make a function's name or text from a function that is passed on."""
REWRITTEN = ("REN", "RTF", "GBC", "PSC-ALL")
"""Perturbations that rewrite code."""
RULES = (
    rule(
        EVERY,
        "the program reads its own text",
        ".stack, .callee, .caller, .prepareStackTrace, .captureStackTrace, __filename, "
        "a function as a value",
    ),
    rule(
        REWRITTEN,
        "names are found by their texts",
        "eval, .eval, Function, .Function, globalThis, global, .constructor, @with, "
        "this outside of classes",
    ),
    rule(NAMES, "an exception names things", "@caught"),
    rule(NAMES, "values are found without parameters", "arguments"),
    rule(NAMES, "a name that is a global's as well", "a global's name"),
    rule(
        ["MPS", "console."],
        "stdout is looked at",
        "console, .console, process, .process, .stdout, require, Symbol",
    ),
    rule(["MPS", *GARBAGE], "a directive", "@directive"),
    rule(
        ["RTF", *GARBAGE],
        "a global's name is bound",
        "bind Boolean, bind Number, bind JSON, bind String, bind console, bind undefined",
    ),
    rule(["{para}"], "a name that may not be set yet", "let {para}"),
    rule(["{para} ===", "{para} !=="], "a parameter that may be NaN", "write {para}"),
)
"""Rules about whole programs."""


@lru_cache(maxsize=4096)
def script_constructs(problem: Problem) -> frozenset[str]:
    """Constructs of a JavaScript problem's program, in the notation of `python_constructs` or with
    `@` and the name of a capture of `CONSTRUCTS`, and two for names: `let n` where `let`, `const`
    or a class declares n, which code above cannot read; `write n` where n need not hold an argument
    of the problem's call, since it is no parameter of the called function or gets a value twice, or
    that function is named elsewhere too."""
    root = parser("javascript").parse(problem.code.encode()).root_node
    captures = query_cursor(DECLARATIONS + CONSTRUCTS).captures(root)
    counts = Counter[str](f"@{capture}" for capture in captures)
    for capture, captured in captures.items():
        for node in captured:
            counts.update(_captured(capture, node))
    counts[f"function {problem.function}"] += 1
    identifiers = captures.get("name", [])
    found = {*counts, *_uses(identifiers, counts)}
    if "a function passed on" in found and found & TEXTS:
        found.add("a function as a value")
    if any(map(_is_global, captures.get("this", []))):
        found.add("this outside of classes")
    for name in free_names(root) - {problem.function}:
        if f"bind {name}" in found:
            found.add("a global's name")
    fixed = set[str]()
    used = [text_of(node) for node in identifiers]
    if "arguments" not in found and used.count(problem.function) == 1:
        fixed = _arguments(root, problem.function)
    for construct, count in counts.items():
        kind, _, name = construct.partition(" ")
        if kind == "bind" and (count > 1 or name not in fixed):
            found.add(f"write {name}")
    return frozenset(found)


def _captured(capture: str, node: Node) -> Iterator[str]:
    """Yields the constructs that a node adds by one capture of the queries."""
    kind, _, where = capture.partition("_")
    if kind in FORMS:
        yield FORMS[kind].format(text_of(node))
    for name in bound(node) if kind in NAMING else ():
        yield f"bind {name}"
        if kind == "function":
            yield f"function {name}"
        if where == "block":
            yield f"let {name}"


def _uses(identifiers: list[Node], known: Counter[str]) -> Iterator[str]:
    """Yields the constructs that the names of functions add, where they neither declare nor call
    the function; `known` has `function n` for each function n."""
    for node in identifiers:
        parent = node.parent
        declares = node in (part(parent, "name"), part(parent, "function"))
        if f"function {text_of(node)}" in known and not declares:
            passed = parent is not None and parent.type == "arguments"
            yield "a function passed on" if passed else "a function as a value"


def _is_global(this: Node) -> bool:
    """Whether a `this` stands outside of classes and methods."""
    owner = around(this, ("class_body", *FUNCTIONS[:-1]))
    return owner is None or owner.type not in ("method_definition", "class_body")


def _arguments(root: Node, function: str) -> set[str]:
    """Names of the parameters of the function `function` that have a value of the problem's
    call."""
    called = [node for node in root.named_children if text_at(node, "name") == function]
    given = part(called[0], "parameters") if called else None
    plain = given.named_children if given is not None else []
    return {text_of(one) for one in plain if one.type == "identifier"}
