"""Aspects of a program's text that the program itself usually cannot see: its lines, the names of
local variables, the order of methods.

Rules look for constructs by which a program sees an aspect; a mutation of a visible aspect is
rejected.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from codestress.mutate.edits import Lines
from codestress.mutate.faults.trees import (
    JAVA_CLASSES,
    JAVA_TYPES,
    NotNeutral,
    around,
    java_root,
    tree_of,
)
from codestress.mutate.refusals import python_constructs, refusal, rule
from codestress.mutate.scopes import names_of
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

if TYPE_CHECKING:
    from tree_sitter import Node

Aspect = Literal["lines", "names", "order"]
RULES = (
    rule(
        ["lines", "names"],
        "the program sees the stack or the source",
        "import inspect, import builtins, __builtins__, __code__, .f_code, .exc_info, .format_exc, .print_exc, "
        ".format_exception, .print_exception, .TracebackException, .format_exception_only, .currentframe, ._getframe, "
        ".getsource, .getsourcelines, .getframeinfo, .settrace, .setprofile",
    ),
    rule(
        ["names"],
        "the program sees names of variables",
        "locals, vars, eval, exec, dir, .f_locals, __annotations__, .signature, .getfullargspec, .getcallargs, "
        ".getargvalues, .get_type_hints, .dis, import dis, .co_varnames, the message of an exception, getParameters",
    ),
    rule(
        ["lines"],
        "the program sees the numbers of its lines",
        "lineno, .f_lineno, .tb_lineno, .f_lasti, .extract_stack, .extract_tb, .format_tb, .format_stack, .walk_tb, "
        ".print_stack, .print_tb, .walk_stack, .getline, .getlines, .stack_info, stack_info=, __file__, getStackTrace, "
        "StackWalker, getLineNumber, dumpStack, printStackTrace(…)",
    ),
    rule(
        ["order"],
        "the program sees the order of methods",
        "getMethods, getDeclaredMethods, getStackTrace, StackWalker, getLineNumber",
    ),
)


def seen(aspect: Aspect, code: str, language: Language) -> str:
    """Returns why the program `code` may see an aspect of its own text, as `REASON: CONSTRUCT`;
    empty if it cannot. `aspect` is `lines`, `names` (of variables) or `order` (of methods). Raises
    `NotNeutral` if the program does not parse."""
    return refusal(RULES, aspect, _constructs(code, language))


def refuse_seen(aspect: Aspect, code: str, language: Language) -> None:
    """Raises `NotNeutral` if the program `code` does not parse, or may see an aspect of its own
    text (`lines`, `names` of variables or `order` of methods); else returns nothing."""
    if why := seen(aspect, code, language):
        raise NotNeutral(why)


@lru_cache(maxsize=2048)
def _constructs(code: str, language: Language) -> frozenset[str]:
    """Constructs of a program for `RULES`, as a set of texts. Python: those of `python_constructs`.
    Java: identifiers, contents of strings, and `NAME(…)` for each call with arguments.

    In Java `printStackTrace` counts only with arguments: else it prints on the standard error.
    Raises `NotNeutral` if the program does not parse.
    """
    if language == "python":
        return python_constructs(tree_of(code))
    found = set[str]()
    for node in nodes(java_root(code)):
        if node.type in ("identifier", "type_identifier", "string_fragment"):
            found.add(text_of(node))
        elif node.type == "method_invocation":
            given = node.child_by_field_name("arguments")
            if given is not None and given.named_children:
                found.add(f"{text_of(node.child_by_field_name('name'))}(…)")
    return frozenset(found)


# --- Names of variables -----------------------------------------------------------------------------------------------

Spans = dict[str, list[tuple[int, int]]]
"""Occurrences by name, in the order of the text: index of the first character, and of the character
behind the last."""


@lru_cache(maxsize=512)
def variables(code: str, language: Language) -> Spans:
    """Returns the occurrences of each variable that may be renamed, by name: pairs of the first
    character's index and the index behind the last. Raises `NotNeutral` if the program may see
    names, or does not parse."""
    refuse_seen("names", code, language)
    return _python_variables(code) if language == "python" else _java_variables(code)


def _python_variables(code: str) -> Spans:
    """Occurrences of the Python variables that may be renamed, by name. Left out are parameters,
    which a caller may give by their names; names that occur as keywords, as whole texts, in
    f-strings (whose positions are unreliable before Python 3.12), in `global`, `except … as` or
    patterns; names that stand for a function, class, module or global somewhere."""
    tree = tree_of(code)
    names = names_of(tree)
    lines = Lines.of(code)
    barred = set[str]()
    for node in ast.walk(tree):
        match node:
            case ast.arg(str(name)) | ast.keyword(str(name)) | ast.Constant(str(name)):
                barred.add(name)
            case ast.JoinedStr():
                barred |= {
                    part.id for part in ast.walk(node) if isinstance(part, ast.Name)
                }
    spans: Spans = {}
    for occurrence in names.occurrences:
        name, node, scope = occurrence.name, occurrence.node, names.binding(occurrence)
        special = name.startswith("__")  # tools look for some: `__tracebackhide__`
        if special or scope is None or scope.kind not in ("function", "comprehension"):
            barred.add(name)
        elif scope.bound[name] == {"variable"} and isinstance(node, ast.Name):
            start = lines.at(node.lineno, node.col_offset)
            spans.setdefault(name, []).append((start, start + len(name)))
        else:
            barred.add(name)
    return {name: sorted(found) for name, found in spans.items() if name not in barred}


DECLARING = (
    "formal_parameter",
    "enhanced_for_statement",
    "resource",
    "catch_formal_parameter",
)
"""Types of nodes that declare a Java variable, besides declarators."""
OTHERWISE = (
    "lambda_expression",
    "inferred_parameters",
    "labeled_statement",
    "break_statement",
    "continue_statement",
    "method_reference",
    "element_value_pair",
    "switch_label",
    "annotation",
    "marker_annotation",
)
"""Types of nodes in which an identifier may be something else than a variable."""
SCOPES = (
    "block",
    "constructor_body",
    "for_statement",
    "enhanced_for_statement",
    "switch_block",
    "catch_clause",
    "try_with_resources_statement",
    "method_declaration",
    "constructor_declaration",
    "lambda_expression",
)
"""Types of nodes that are the scope of a Java variable declared inside."""


def _java_variables(code: str) -> Spans:
    """Occurrences of the Java variables that may be renamed, by name. Left out are names that stand
    for anything else in the file (fields, methods, types, labels, components of records, elements
    of annotations), that occur as whole texts, or that are used outside the scope of their
    declarations: perhaps an inherited field, as in every class inside the scope."""
    lines = Lines.of(code)
    known: dict[str, list[tuple[Node, int]]] = {}
    others = set[str]()
    uses: dict[str, list[Node]] = {}
    for node in nodes(java_root(code)):
        if node.type == "string_literal":
            others.add(text_of(node)[1:-1])
        if node.type not in ("identifier", "type_identifier"):
            continue
        name = text_of(node)
        uses.setdefault(name, []).append(node)
        scope = _declared_in(node)
        if scope is not None:
            known.setdefault(name, []).append((scope, node.start_byte))
        elif _is_other(node):
            others.add(name)
    return {
        name: [lines.span(node) for node in uses[name]]
        for name, places in known.items()
        if name not in others
        and all(any(_sees(node, *place) for place in places) for node in uses[name])
    }


def _declared_in(node: Node) -> Node | None:
    """Node that is the scope of the local variable that the identifier `node` declares; None if it
    declares none."""
    parent = node.parent
    if parent is None or parent.child_by_field_name("name") != node:
        return None
    declaration = parent.parent if parent.type == "variable_declarator" else parent
    if declaration is None or declaration.type not in (
        *DECLARING,
        "local_variable_declaration",
    ):
        return None
    scope = next(
        (one for one in around(declaration) if one.type in (*SCOPES, *JAVA_TYPES)), None
    )
    return None if scope is None or scope.type in JAVA_TYPES else scope


def _is_other(node: Node) -> bool:
    parent = node.parent
    if parent is None or node.type == "type_identifier" or parent.type in OTHERWISE:
        return True
    return node in (
        parent.child_by_field_name("name"),
        parent.child_by_field_name("field"),
    )


def _sees(node: Node, scope: Node, declared: int) -> bool:
    """Whether the identifier `node` stands in `scope` (a node) of a variable, not before the byte
    `declared` where the variable is declared, and in no class inside the scope."""
    for one in around(node):
        if one == scope:
            return node.start_byte >= declared
        if one.type in JAVA_TYPES:
            return False
    return False


# --- The order of methods ---------------------------------------------------------------------------------------------

Methods = list[tuple[int, int]]
"""First and last line of each method, from 1."""


def movable(code: str, language: Language) -> list[Methods]:
    """Returns, for each Java class with at least two methods that may change places, a list with
    the first and last line of each such method, from 1. Raises `NotNeutral` if there is no such
    class, if the program may see the order, and for Python, whose methods the paper leaves in
    place (Table I)."""
    if language == "python":
        raise NotNeutral("functions are shuffled in Java alone")
    refuse_seen("order", code, language)
    groups = [group for group in _java_groups(code) if len(group) > 1]
    if not groups:
        raise NotNeutral("no class with two methods whose order does not matter")
    return groups


@lru_cache(maxsize=256)
def _java_groups(code: str) -> list[Methods]:
    """For each Java class, a list of the first and last lines of its methods, without methods that
    share a line with other code."""
    lines = Lines.of(code)
    groups = []
    for node in nodes(java_root(code)):
        if node.type not in JAVA_CLASSES:
            continue
        group = []
        for child in node.named_children:
            if child.type != "method_declaration":
                continue
            first, last = child.start_point[0] + 1, child.end_point[0] + 1
            whole = lines.text[lines.starts[first - 1] : lines.end(last)]
            if whole.strip() == lines.text[slice(*lines.span(child))]:
                group.append((first, last))
        groups.append(group)
    return groups
