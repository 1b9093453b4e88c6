"""Rules that reject a rewriting of a program, and the search of a Python program for
the constructs that the rules name.

A construct is a name, an attribute, an import, a kind of statement or the like, as a
text. A rule names constructs and a reason: a program that has one of the constructs is
not rewritten. The search looks at a program's text, not at its behaviour, so the rules
reject more programs than necessary.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any

from codestress.validation import read_yaml

from .edits import written_out
from .scopes import names_of

WORDS = read_yaml(Path(__file__).with_name("refusals.yaml"))
"""Words and patterns that the search looks for (refusals.yaml)."""
Rule = Mapping[str, Any]
"""Reason to reject some rewritings of a program: a row of a YAML file.

`rewritings` are names of rewritings, or parts of the texts that rewritings insert.
`constructs` are in the notation of `python_constructs`, separated by commas; `{para}`
stands for the parameter that an inserted text names. `reason` is a text.
"""


def refusal(
    rules: Iterable[Rule], rewriting: str, constructs: Set[str], para: str = ""
) -> str:
    """Return why the first of `rules` that rejects a rewriting does so, as `REASON:
    CONSTRUCT`; empty if no rule does.

    A rule applies if the text `rewriting` (a perturbation's name, or code to insert)
    contains one of the rule's `rewritings`. `constructs` are those of the program; the
    parameter name `para` replaces `{para}` in the rule's constructs.
    """
    for rule in rules:
        if any(piece in rewriting for piece in rule["rewritings"]):
            refused = rule["constructs"].replace("{para}", para).split(", ")
            if matches := constructs & set(refused):
                return f"{rule['reason']}: {min(matches)}"
    return ""


def python_constructs(tree: ast.mod) -> frozenset[str]:
    """Return the constructs of a Python syntax tree as a set of texts, for comparison
    with rules.

    The notation: `eval` is a name that is read, `.pop` an attribute, `bind print` a
    name that is bound, `del n` a name that may be unbound again. `n=` is a keyword
    argument, `import math` a module, `__name__` such a word at any place. `message of
    E` is an exception E whose message may be read; `text of n` is a name n that is
    passed on (`_handed_on`). `function n` is a function of the program, `ClassDef` a
    kind of node. `a call` is a call that may change something (in programs without
    classes of their own). refusals.yaml names further constructs.
    """
    constructs = set[str]()
    for node in ast.walk(tree):
        constructs.add(type(node).__name__)
        constructs.update(_constructs(node))
    # Twice, since a loop runs its last lines before its first ones.
    source = 2 * f"{written_out(tree)}\n"
    constructs.update(_handed_on(tree))
    for construct, patterns in WORDS["patterns"].items():
        if any(re.search(pattern, source) for pattern in patterns):
            constructs.add(construct)
    for scope in names_of(tree).scopes:
        for name, kinds in scope.bound.items():
            constructs.add(f"bind {name}")
            if "function" in kinds:
                constructs.add(f"function {name}")
                if f"text of {name}" in constructs and scope.kind != "class":
                    constructs.add("a function kept")
            # A variable may hold any exceptions.
            if f"message of {name}" in constructs and not kinds <= {"class", "import"}:
                constructs.add("the message of an exception")
    if constructs.intersection(WORDS["finders"]):
        constructs.update(_spelled(tree))
    return together(constructs, WORDS)


def together(constructs: set[str], words: Mapping[str, Any]) -> frozenset[str]:
    """Return `constructs` and the combinations that they form.

    The list `together` of `words` names each combination with groups of constructs. A
    combination is added if `constructs` has at least one construct of each of its
    groups.
    """
    for construct, *groups in words["together"]:
        if not any(map(constructs.isdisjoint, groups)):
            constructs.add(construct)
    return frozenset(constructs)


def _spelled(tree: ast.mod) -> Iterator[str]:
    """Yield the words in strings such as "os.path", which are dotted words only, as
    constructs.

    Each word between dots is yielded as a name, an attribute and a module, since a
    function such as `getattr` can turn it into any of them.
    """
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str(text)) if re.fullmatch(r"[\w.]+", text):
                for word in text.split("."):
                    yield from (word, f".{word}", f"import {word}")


def _constructs(node: ast.AST) -> Iterator[str]:
    """Yield the constructs that one node adds, in the notation of `python_constructs`."""
    match node:
        case ast.Name(name, ast.Load()):
            yield name
        case ast.Name(name, ast.Del()):
            yield f"del {name}"
        case ast.Attribute(attr=name):
            yield name if name.startswith("__") else f".{name}"
        case ast.Global(names) | ast.Nonlocal(names):
            yield from names
        case ast.Import(names):
            yield from (f"import {alias.name.partition('.')[0]}" for alias in names)
        case ast.ImportFrom(module, names):
            yield f"import {module}".partition(".")[0]
            yield from (f".{alias.name}" for alias in names)
        case ast.keyword(name):
            yield f"{name}=" if name else "**"
        case _:
            yield from _described(node)


def _described(node: ast.AST) -> Iterator[str]:
    """Yield the constructs that one constant, `except` clause or call adds."""
    match node:
        case ast.Constant(str(text)):
            yield from re.findall(r"\b__\w+__\b|lineno", text)
        case ast.Constant(float() | complex()):
            yield "a fraction"
        case ast.ExceptHandler(kind, str(name)):
            yield f"del {name}"
            for part in ast.walk(kind) if kind and reads_message(node) else ():
                name = getattr(part, "id", type(part).__name__)
                yield f"message of {getattr(part, 'attr', name)}"
        case ast.Call(func):
            yield f"{ast.unparse(func)}()"
            if set(_constructs(func)).isdisjoint(WORDS["plain_calls"]):
                yield "a call"


def _handed_on(tree: ast.mod) -> Iterator[str]:
    """Yield `text of NAME`, or `text of KIND` for a node without a name, for each
    expression that is passed on.

    An expression counts as passed on unless it is called or has an attribute read
    (other than `__…`). It does not count either as a `key=` argument or
    as an argument of one of the `takers` of refusals.yaml. A function that is passed on
    may be shown as a text.
    """
    plain = set[int]()
    # Parents come first.
    for node in ast.walk(tree):
        match node:
            case ast.Call(func, given):
                plain.add(id(func))
                if not set(_constructs(func)).isdisjoint(WORDS["takers"]):
                    plain.update(map(id, given))
            case ast.keyword("key", value):
                plain.add(id(value))
            case ast.Attribute(owner, name) if not name.startswith("__"):
                plain.add(id(owner))
        if id(node) not in plain:
            yield f"text of {getattr(node, 'id', type(node).__name__)}"


def reads_message(handler: ast.ExceptHandler) -> bool:
    """Return whether an `except` clause may read the message of its exception `e`.

    It does not if it uses `e` only in `raise e`, `raise … from e`, `isinstance(e, …)`
    or `type(e)`.
    """
    allowed = set[int]()
    uses = set[int]()
    for node in ast.walk(handler):
        match node:
            case ast.Raise(raised, cause):
                allowed |= {id(raised), id(cause)}
            case ast.Call(ast.Name("isinstance" | "type"), given):
                allowed.update(map(id, given))
            case ast.Name(handler.name):
                uses.add(id(node))
    return not uses <= allowed
