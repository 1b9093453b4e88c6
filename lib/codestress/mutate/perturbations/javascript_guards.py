"""Names in JavaScript programs, and the rules by which perturbations refuse such programs:
rewritings, reasons and constructs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from codestress.mutate.perturbations.guards import EVERY
from codestress.mutate.refusals import refusal, rule
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import nodes, parser, text_of

if TYPE_CHECKING:
    from tree_sitter import Node, QueryCursor

FUNCTIONS = (
    "function_declaration",
    "function_expression",
    "generator_function_declaration",
    "generator_function",
    "method_definition",
    "arrow_function",
)
IDENTIFIERS = (
    "identifier",
    "shorthand_property_identifier",
    "shorthand_property_identifier_pattern",
)
BLOCKS = (
    "statement_block",
    "for_statement",
    "for_in_statement",
    "switch_body",
    "class_static_block",
    "program",
)
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
"""Tree-sitter query for declared names. A capture says what a name is declared as (an expression's
own name is known to that expression alone), and where the name is known: in the function or block
around, else in the declaring node."""


@cache
def _cursor(query: str) -> QueryCursor:
    import tree_sitter
    import tree_sitter_javascript

    language = tree_sitter.Language(tree_sitter_javascript.language())
    return tree_sitter.QueryCursor(tree_sitter.Query(language, query))


def part(node: Node | None, *fields: str) -> Node | None:
    """First child of a syntax-tree node under one of the field names `fields`, tried in order; None
    if there is no such child or `node` is None."""
    children = [node.child_by_field_name(field) for field in fields] if node else []
    return next(filter(None, children), None)


def text_at(node: Node | None, *fields: str) -> str:
    """Text of the child of `node` that `part` finds under `fields`; empty without such a child."""
    return text_of(part(node, *fields))


def line_of(node: Node) -> int:
    """Line on which a node begins, from 1."""
    return node.start_point[0] + 1


def around(node: Node | None, types: Sequence[str]) -> Node | None:
    """Nearest node whose type is in `types`, from `node` itself upwards; None without such a
    node."""
    while node is not None and node.type not in types:
        node = node.parent
    return node


def parameters(function: Node | None) -> list[str]:
    """Names that the parameters of a function's node bind; empty where `function` is None."""
    return bound(part(function, "parameter", "parameters"))


def bound(pattern: Node | None) -> list[str]:
    """Names that the node of a pattern (a parameter, or the left side of an assignment) binds,
    without names in default values; empty where `pattern` is None."""
    if pattern is None:
        return []
    match pattern.type:
        case "identifier" | "shorthand_property_identifier_pattern":
            return [text_of(pattern)]
        case "assignment_pattern" | "object_assignment_pattern":
            return bound(part(pattern, "left"))
        case "pair_pattern":
            return bound(part(pattern, "value"))
    return [*chain.from_iterable(map(bound, pattern.named_children))]


def declared(root: Node) -> Iterator[tuple[str, str, int]]:
    """Yields each declared name, its kind of declaration (`function`, `variable`, `class`;
    `expression` for the own name of a class or generator expression), and the id of the node inside
    which the name is known. A variable whose value is a function is yielded twice, with both
    kinds."""
    within = {"hoisted": (*FUNCTIONS, "program"), "block": BLOCKS}
    for capture, found in _cursor(DECLARATIONS).captures(root).items():
        kind, _, where = capture.partition("_")
        # The order of one capture's nodes differs between processes.
        for node in sorted(found, key=lambda node: (node.start_byte, node.end_byte)):
            place = node.parent
            if where and place is not None:
                place = around(place.parent, within[where])
            if place is not None:
                yield from ((name, kind, place.id) for name in bound(node))


def free_names(root: Node) -> set[str]:
    """Names that are used where no declaration of the name holds: globals, or undefined names."""
    scopes: dict[str, set[int]] = {}
    for name, _, place in declared(root):
        scopes.setdefault(name, set()).add(place)
    free = set()
    for node in nodes(root):
        if node.type in IDENTIFIERS:
            name = text_of(node)
            here: Node | None = node
            while here is not None and here.id not in scopes.get(name, ()):
                here = here.parent
            if here is None:
                free.add(name)
    return free


# --- what is refused ---

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
(_ name: (identifier) @function value: [(arrow_function) (function_expression) (generator_function) (class)])
(assignment_expression left: (identifier) @function right: [(arrow_function) (function_expression) (class)])
[(function_declaration name: (_) @function) (generator_function_declaration name: (_) @function)]
[(function_expression name: (_) @function) (method_definition name: (_) @function)]
(lexical_declaration (variable_declarator name: (_) @let))
(class_declaration name: (_) @let)
(assignment_expression left: (_) @written)
(augmented_assignment_expression left: (_) @written)
(update_expression argument: (_) @written)
(for_in_statement !kind left: (_) @written)
"""
"""Tree-sitter query for the nodes that the rules are about."""
FORMS = {"name": "{}", "property": ".{}", "called": "{}()"}
"""Forms of the constructs that are named after a node's text, by capture."""
TEXTS = {".name", ".toString", "String()"}
"""Constructs that make a function's name or text from a function that is passed on."""
REWRITTEN = ("REN", "RTF", "GBC", "PSC-ALL")
NAMES = ("REN", "PSC-ALL")
GARBAGE = ("GBC", "PSC-ALL")
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
        "eval, .eval, Function, .Function, globalThis, global, .constructor, with, "
        "this outside of classes",
    ),
    rule(NAMES, "an exception names things", "caught"),
    rule(NAMES, "values are found without parameters", "arguments"),
    rule(NAMES, "a name that is a global's as well", "a global's name"),
    rule(
        ["MPS", "console."],
        "stdout is looked at",
        "console, .console, process, .process, .stdout, require, Symbol",
    ),
    rule(["MPS", *GARBAGE], "a directive", "directive"),
    rule(
        ["RTF", *GARBAGE],
        "a global's name is bound",
        "bind Boolean, bind Number, bind JSON, bind String, bind console, bind undefined",
    ),
    rule(["{para}"], "a name that may not be set yet", "let {para}"),
    rule(["{para} ===", "{para} !=="], "a parameter that may be NaN", "write {para}"),
)


def script_refusal(problem: Problem, rewriting: str, para: str = "") -> str:
    """Returns why the rules refuse a rewriting of a JavaScript problem's program, as `REASON:
    CONSTRUCT`; empty where they allow it. `rewriting` is a perturbation's name or a text that it
    inserts, `para` the parameter that the text names. No rule is about conditions: no JavaScript
    template evaluates a condition twice."""
    return refusal(RULES, rewriting, _constructs(problem), para)


@lru_cache(maxsize=4096)
def _constructs(problem: Problem) -> frozenset[str]:
    """Constructs of a JavaScript problem's program, in the notation of `python_constructs` or named
    as in `CONSTRUCTS`, and two for names: `let n` where `let`, `const` or a class declares n, which
    code above cannot read; `write n` where n need not hold an argument of the problem's call, since
    it is no parameter of the called function or gets a value twice, or that function is named
    elsewhere too."""
    root = parser("javascript").parse(problem.code.encode()).root_node
    captures = defaultdict(list, _cursor(CONSTRUCTS).captures(root))
    found = set(captures)
    for capture, form in FORMS.items():
        found |= {form.format(text_of(node)) for node in captures[capture]}
    names = [name for name, _, _ in declared(root)]
    for node in captures["written"]:
        names += bound(node)
    found |= {f"bind {name}" for name in names}
    for node in captures["let"]:
        found |= {f"let {name}" for name in bound(node)}
    functions = {problem.function, *map(text_of, captures["function"])}
    used = [text_of(node) for node in captures["name"]]
    for node, name in zip(captures["name"], used, strict=True):
        if name in functions:
            found.add(_use(node))
    if "a function passed on" in found and found & TEXTS:
        found.add("a function as a value")
    if any(map(_is_global, captures["this"])):
        found.add("this outside of classes")
    if (free_names(root) - {problem.function}) & set(names):
        found.add("a global's name")
    fixed = set[str]()
    if "arguments" not in found and used.count(problem.function) == 1:
        fixed = _arguments(root, problem.function)
    for name, count in Counter(names).items():
        if count > 1 or name not in fixed:
            found.add(f"write {name}")
    return frozenset(found)


def _use(node: Node) -> str:
    """Construct that a function's name adds at the identifier `node`: `called` where this declares
    or calls the function."""
    parent = node.parent
    if node in (part(parent, "name"), part(parent, "function")):
        return "called"
    passed = parent is not None and parent.type == "arguments"
    return "a function passed on" if passed else "a function as a value"


def _is_global(this: Node) -> bool:
    owner = around(this, ("class_body", *FUNCTIONS[:-1]))
    return owner is None or owner.type not in ("method_definition", "class_body")


def _arguments(root: Node, function: str) -> set[str]:
    """Names of the parameters of the function `function` that have a value of the problem's
    call."""
    called = [node for node in root.named_children if text_at(node, "name") == function]
    given = part(called[0], "parameters") if called else None
    plain = given.named_children if given is not None else []
    return {text_of(one) for one in plain if one.type == "identifier"}
