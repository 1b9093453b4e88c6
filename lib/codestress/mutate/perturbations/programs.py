"""Programs for perturbations, behind one interface for all languages, and the
constructs for which rules refuse perturbations (guards.yaml)."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from tree_sitter import Node

from codestress.literals import parse_program
from codestress.problems.program import Problem
from codestress.sandbox.runtimes import text_of

from ..edits import written_out
from ..refusals import WORDS, python_constructs, refusal, together
from .edits import stimuli
from .javascript import JavaScriptProgram
from .javascript_syntax import (
    FUNCTIONS,
    SYNTAX,
    around,
    bound,
    free_names,
    part,
    query_cursor,
    text_at,
)
from .python import PythonProgram

FORMS, NAMING = SYNTAX["captures"].values()
"""Dict from a capture (of a tree-sitter query) to the form of the construct made from a
node's text; captures of nodes that bind or change names.

A capture's name counts as far as its underscore.
"""

Program = PythonProgram | JavaScriptProgram
"""Program that perturbations edit."""


def program_of(problem: Problem) -> Program:
    """Return the problem's program as an object that perturbations edit: a syntax tree
    (Python), or a text with edits (JavaScript).

    Raises `NotPerturbed` for JavaScript that does not parse.
    """
    if problem.language == "javascript":
        return JavaScriptProgram(problem)
    return PythonProgram(problem)


def vanilla(problem: Problem) -> Problem:
    """Return a Python problem with its program parsed and written out again, so that
    comments and layout give no hints (CodeCrash, section 2.1).

    A problem in another language is returned as it is. Raises `SyntaxError` for Python
    that does not parse.
    """
    if problem.language != "python":
        return problem
    return replace(problem, code=written_out(parse_program(problem.code)))


def why_refused(
    problem: Problem, rewriting: str, condition: str = "", para: str = ""
) -> str:
    """Return why the rules refuse a rewriting of the problem's program, as `REASON:
    CONSTRUCT`; empty if they allow it.

    `rewriting` is a perturbation's name, or a text that the perturbation inserts. If
    this text replaces a condition of the program, `condition` is the condition's code.
    If the text names a parameter, `para` is its name.
    """
    python = problem.language == "python"
    constructs = problem_constructs(problem) if python else script_constructs(problem)
    rules = stimuli("guards")
    why = refusal(rules[problem.language], rewriting, constructs, para)
    if python and condition and not why:
        parts = python_constructs(ast.parse(f"({condition})", mode="eval"))
        names = {f"function {part.lstrip('.')}" for part in parts}
        names |= {f"bind {part[:-2]}" for part in parts if "()" in part}
        if names & constructs:
            parts |= {"a function of the program"}
        why = refusal(rules["python conditions"], rewriting, parts)
    return why


@lru_cache(maxsize=4096)
def problem_constructs(problem: Problem) -> frozenset[str]:
    """Return the constructs of a Python problem's program and call, in the notation of
    `python_constructs`.

    They include `an unknown class` if values may be instances of classes other than
    those of Python and of plain modules (refusals.yaml).
    """
    constructs = python_constructs(PythonProgram(problem).tree)
    modules = {name.removeprefix("import ") for name in constructs if "import " in name}
    if modules - set(WORDS["plain_modules"].split()):
        return constructs | {"an unknown class"}
    return constructs


@lru_cache(maxsize=4096)
def script_constructs(problem: Problem) -> frozenset[str]:
    """Return the constructs of a JavaScript problem's program, in the notation of `python_constructs`, or `@` with
    the name of a capture of javascript.yaml. Two more are for names. `let n`: n is declared by `let`, `const` or a
    class, so code above the declaration cannot read it. `write n`: n need not hold an argument of the problem's call.
    That is so if n is not a parameter of the called function, if n gets a value twice, or if the function is named
    elsewhere too.
    """
    program = JavaScriptProgram(problem)
    queries = query_cursor("declarations", "constructs")
    captures = defaultdict(list, queries.captures(program.root))
    counts = Counter[str](f"@{capture}" for capture in captures)
    for capture, captured in captures.items():
        for node in captured:
            counts.update(_captured(capture, node))
    counts[f"function {problem.function}"] += 1
    identifiers = captures["name"]
    constructs = {*counts, *_uses(identifiers, captures["plain"], counts)}
    kept = Counter(map(text_of, captures["read"]))
    kept -= Counter(map(text_of, captures["run"]))
    if not kept.keys().isdisjoint(map(text_of, captures["method"])):
        constructs.add("@kept")
    for node in captures["this"]:
        owner = around(node, ("class_body", *FUNCTIONS[:-1]))
        if owner is None or owner.type not in ("method_definition", "class_body"):
            constructs.add("this outside of classes")
    free = map("bind {}".format, free_names(program.root) - {problem.function})
    if not constructs.isdisjoint(free):
        constructs.add("a global's name")
    fixed = set[str]()
    used = [*map(text_of, identifiers)]
    if "arguments" not in constructs and used.count(problem.function) == 1:
        given = part(program.called_function(), "parameters")
        plain = given.named_children if given else []
        fixed = {text_of(node) for node in plain if node.type == "identifier"}
    for construct, count in counts.items():
        kind, _, name = construct.partition(" ")
        if kind == "bind" and (count > 1 or name not in fixed):
            constructs.add(f"write {name}")
    return together(constructs, SYNTAX)


def _captured(capture: str, node: Node) -> Iterator[str]:
    """Yield the constructs that one node adds, found by one capture of the queries."""
    kind, _, where = capture.partition("_")
    if kind in FORMS:
        yield FORMS[kind].format(text_of(node))
    for name in bound(node) if kind in NAMING else ():
        yield f"bind {name}"
        if kind in ("function", "class"):
            yield f"{kind} {name}"
        if where == "block":
            yield f"let {name}"


def _uses(
    identifiers: list[Node], plain: list[Node], known: Counter[str]
) -> Iterator[str]:
    """Yield the constructs added by names of functions and classes that are used as
    values.

    Uses that declare, call or instantiate do not count. `known` has `function n` for
    each function n, and `class n` for each class. `plain` are uses of names that show
    nothing of a class.
    """
    for node in identifiers:
        parent, name = node.parent, text_of(node)
        declares = node == part(parent, "name", "function", "constructor")
        kept = f"class {name}" in known and node not in plain
        if declares or not (kept or f"function {name}" in known):
            continue
        if parent is None or parent.type != "arguments":
            yield "a function as a value"
            continue
        yield "a function passed on"
        method = text_at(part(parent.parent, "function"), "property")
        if method not in SYNTAX["takers"]:
            yield "@kept"
            if method:
                yield "@listed"
