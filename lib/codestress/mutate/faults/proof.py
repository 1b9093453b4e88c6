"""Proof that a mutation is neutral (keeps the program's meaning), and the check of dead
code (statements that never run).

The proof compares syntax trees alone, as far as the language allows a proof (Fault
Localizability, section IV-C). Dead code is checked against a closed grammar. A snippet
of dead code is one statement: a condition on literal values that is false, or, in
Python, a loop over nothing. The statements inside name only variables of their own and
the language's built-ins. In Java a table gives the shapes of these statements, so that
an accepted snippet compiles. Code outside the grammar is rejected.
"""

import ast
import builtins
import operator
import re
from functools import lru_cache
from typing import Any

from codestress.notes import noted
from codestress.sandbox.runtimes import text_of
from codestress.types import Language

from ..scopes import blocks, names_of
from .trees import (
    JAVA_CLASSES,
    JAVA_WORDS,
    RULES,
    Node,
    NotNeutral,
    constructs,
    field_text,
    java_root,
    named_in,
    tree_of,
    words_of,
)

FALSE = frozenset(RULES["false_conditions"])
"""Texts of conditions that are false, in Python or in Java."""
ALLOWED = frozenset(RULES["python_nodes"].split())
"""Names of the types of nodes of which a Python snippet may consist, beside the types
of `SIGNS`."""
SIGNS = ast.expr_context | ast.operator | ast.unaryop | ast.boolop | ast.cmpop
BUILTINS = frozenset(dir(builtins)) - {"super", "locals", "vars", "dir", "eval", "exec"}
NUMBER = RULES["java"]["number"]
SHAPES: dict[str, list[str]] = RULES["java"]["shapes"]
"""Dict from the type of a Java variable to the patterns of two kinds of statement in
dead code.

The first pattern is of the variable's first value; the second is of statements that
change the variable, with @ for its name. A variable of any type may also be printed.
"""
CLASSES = {"String", "StringBuilder", "Math", "System"}


@noted
def equivalence_error(before: str, after: str, spm: str, language: Language) -> str:
    """Return why the mutation from the program `before` to `after` is not proved
    neutral; empty if it is proved.

    `spm` is the mutation's name (of `SPMS` or `CONTROLS`). Nothing is run. Apart from
    its own change, each mutation must leave the syntax tree the same. Comments: no
    change. Names: old names map to new ones one to one. Dead code: added statements
    stand under a condition that is always false (`is_false`). Functions: methods change
    places. Compositions: the changes of all their parts together.
    """
    parts = tuple(spm.split("+"))
    try:
        form = _java_form if language == "java" else _python_form
        same = form(before, parts) == form(after, parts)
    except NotNeutral as error:
        return str(error)
    return "" if same else "the syntax tree differs"


@lru_cache(maxsize=256)
def _python_form(code: str, parts: tuple[str, ...]) -> str:
    """Return a form of a Python program, as text, that no mutation of the kinds `parts`
    changes.

    The form is the syntax tree. If `parts` has `dead_code`, statements that never run
    are left out. If `parts` has `names`, each name is replaced with a number, the same
    for all its occurrences.
    """
    tree = tree_of(code)
    if "dead_code" in parts:
        for block, _ in blocks(tree.body):
            block[:] = [node for node in block if not never_runs(node)]
    numbers: dict[str, str] = {}
    for occurrence in names_of(tree).occurrences if "names" in parts else []:
        name = occurrence.name
        occurrence.rename(numbers.setdefault(name, f"name {len(numbers)}"))
    return ast.dump(tree, annotate_fields=False)


@lru_cache(maxsize=256)
def _java_form(code: str, parts: tuple[str, ...]) -> object:
    """Return a form of a Java program that no mutation of the kinds `parts` changes.

    The form is the tree of node types and texts, without comments. If `parts` has
    `names`, identifiers are numbered as they appear. With `dead_code`, blocks under a
    condition that is always false are left out. With `functions`, the members of
    classes are sorted.
    """
    numbers: dict[str, int] = {}

    def shape(node: Node) -> tuple[Any, ...]:
        if not node.children:
            text = text_of(node)
            if "names" in parts and node.type == "identifier":
                text = str(numbers.setdefault(text, len(numbers)))
            return node.type, text
        shapes = []
        for child in node.children:
            dead = "dead_code" in parts and _never_runs(child)
            if "comment" not in child.type and not dead:
                shapes.append(shape(child))
        if "functions" in parts and node.type in JAVA_CLASSES:
            shapes.sort(key=repr)
        return node.type, *shapes

    return shape(java_root(code))


def _never_runs(node: Node) -> bool:
    """Return whether a Java node is an `if` without `else` whose condition is false."""
    if node.type != "if_statement" or node.child_by_field_name("alternative"):
        return False
    return is_false(field_text(node, "condition")[1:-1])


# --- dead code ---


def check_snippet(snippet: str, program: str, language: Language) -> None:
    """Raise `NotNeutral` if the dead code `snippet` is outside this module's grammar
    for `language`.

    Raises `NotNeutral` too if the presence of the snippet could change what `program`
    does.
    """
    (_check_java if language == "java" else _check_python)(snippet, program)


def is_false(condition: str) -> bool:
    """Return whether the text of a condition, in Python or Java, is certainly false.

    Certainly false are the texts of `FALSE`, a comparison of two whole numbers that
    does not hold, and `'a' == 'b'` with two different words.
    """
    if re.fullmatch(r"'\w*' == '\w*'", condition):
        return len(set(condition.split(" == "))) == 2
    compared = re.fullmatch(rf"({NUMBER}) (==|[<>]=?) ({NUMBER})", condition)
    if compared is None:
        return condition in FALSE
    left, sign, right = compared.groups()
    holds = getattr(operator, RULES["comparisons"][sign])
    return not holds(int(left), int(right))


def never_runs(node: ast.stmt) -> bool:
    """Return whether the body of a Python statement never runs, and the statement has
    no `else`.

    That holds for `if` and `while` with a condition that `is_false`, and for `for` over
    one of the iterables without elements of rules.yaml.
    """
    match node:
        case ast.If(test, orelse=[]) | ast.While(test, orelse=[]):
            return is_false(ast.unparse(test))
        case ast.For(iter=items, orelse=[]):
            return ast.unparse(items) in RULES["nothing"]
    return False


def _check_python(snippet: str, program: str) -> None:
    body = tree_of(snippet).body
    if len(body) != 1 or not never_runs(body[0]) or re.search("#|__", snippet):
        raise NotNeutral("dead code is not one statement that never runs")
    bound, read = set[str](), set[str]()
    for part in ast.walk(body[0]):
        kind = type(part).__name__
        if kind not in ALLOWED and not isinstance(part, SIGNS):
            raise NotNeutral(
                f"dead code has {kind.lower()}, which the grammar does not allow"
            )
        if isinstance(part, ast.Name):
            (read if isinstance(part.ctx, ast.Load) else bound).add(part.id)
    features = constructs(program, "python")
    if shared := sorted(bound & features):
        raise NotNeutral(f"dead code binds {shared[0]!r}, which the program reads")
    for name in sorted(read - bound):
        if name not in BUILTINS:
            raise NotNeutral(f"dead code reads {name!r}, which is not its own")
        if not features.isdisjoint((f"bind {name}", "bind *")):
            raise NotNeutral(f"dead code relies on {name!r}, which the program binds")


def _check_java(snippet: str, program: str) -> None:
    whole = re.fullmatch(r"if \((.+)\) \{\s*(.*;)\s*\}", snippet, re.DOTALL)
    if whole is None or not is_false(whole[1]):
        raise NotNeutral("dead code is not one statement that never runs")
    kinds: dict[str, str] = {}
    for statement in re.split(r";\s*", whole[2])[:-1]:
        declared = re.fullmatch(r"(\S+) ([A-Za-z]\w*) = (.+)", statement)
        if declared and declared[1] in SHAPES and declared[2] not in kinds:
            kinds[declared[2]] = declared[1]
            fits = bool(re.fullmatch(SHAPES[declared[1]][0], declared[3]))
        else:
            fits = any(_uses(statement, *variable) for variable in kinds.items())
        if not fits:
            raise NotNeutral(
                f"dead code has {statement[:40]!r}, which the grammar does not allow"
            )
    if shared := sorted((words_of(program) | JAVA_WORDS) & kinds.keys()):
        raise NotNeutral(f"dead code declares {shared[0]!r}, which the program has")
    if names := sorted(words_of(snippet) & CLASSES & named_in(program)):
        raise NotNeutral(
            f"dead code relies on {names[0]!r}, which the program declares"
        )


def _uses(statement: str, name: str, kind: str) -> bool:
    """Return whether a Java statement prints the variable `name` of the type `kind`, or
    changes it in a way that `SHAPES` allows."""
    shape = rf"{SHAPES[kind][1]}|System\.out\.println\(@\)"
    return bool(re.fullmatch(shape, re.sub(rf"\b{name}\b", "@", statement)))
