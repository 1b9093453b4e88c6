"""Rules that reject programs for rewritings, and the search of a Python program for what the rules
name.

A rule names constructs (names, attributes, imports, kinds of statement) and a reason. It looks at a
program's text, not at its behaviour, so it rejects more programs than necessary.
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
"""Words of programs that the search looks for (refusals.yaml)."""
Rule = Mapping[str, Any]
"""Reason to reject some rewritings of a program, a row of a YAML file: its `rewritings` are names of
rewritings, or parts of the texts that they insert; its `constructs` stand in the notation of
`python_constructs`, separated by commas, in which `{para}` is the parameter that an inserted text
names."""


def refusal(
    rules: Iterable[Rule], rewriting: str, constructs: Set[str], para: str = ""
) -> str:
    """Returns why the first of `rules` that rejects a rewriting does so, as `REASON: CONSTRUCT`;
    empty when none does.

    A rule applies where the text `rewriting` (a perturbation's name, or code to insert) contains
    one of the rule's `rewritings`. `constructs` are the program's; the parameter name `para`
    replaces `{para}` in the rule's constructs.
    """
    for rule in rules:
        if any(piece in rewriting for piece in rule["rewritings"]):
            refused = rule["constructs"].replace("{para}", para).split(", ")
            if matches := constructs & set(refused):
                return f"{rule['reason']}: {min(matches)}"
    return ""


def python_constructs(tree: ast.mod) -> frozenset[str]:
    """Returns the constructs of a Python syntax tree as a set of texts, for comparison with rules.

    The text `eval` is a name that is read, `.pop` an attribute, `bind print` a name that is bound,
    `del n` a name that may be unbound again, `n=` a keyword argument, `import math` a module,
    `__name__` a word at any place, `message of E` an exception E whose message may be read,
    `text of n` a name n that is handed on (`_handed_on`), `function n` a function of the program,
    `ClassDef` a kind of node, `a call` a call that may change something (in programs without own
    classes); others are named by refusals.yaml.
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
    if not constructs.isdisjoint(WORDS["finders"]):
        constructs.update(_spelled(tree))
    return together(constructs, WORDS)


def together(constructs: set[str], words: Mapping[str, Any]) -> frozenset[str]:
    """Returns `constructs` with further ones that mean combinations: a YAML file lists them under
    `together`, and each is added where the program has a construct of each of its lists."""
    for construct, *groups in words["together"]:
        if not any(map(constructs.isdisjoint, groups)):
            constructs.add(construct)
    return frozenset(constructs)


def _spelled(tree: ast.mod) -> Iterator[str]:
    """Yields each part between dots of the strings made of dotted words, in three notations of
    `python_constructs`: as a name, an attribute and a module."""
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str(text)) if re.fullmatch(r"[\w.]+", text):
                for word in text.split("."):
                    yield from (word, f".{word}", f"import {word}")


def _constructs(node: ast.AST) -> Iterator[str]:
    """Yields the constructs that one node adds, in the notation of `python_constructs`."""
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
            yield f"import {(module or '').partition('.')[0]}"
            yield from (f".{alias.name}" for alias in names)
        case ast.keyword(name):
            yield f"{name}=" if name else "**"
        case _:
            yield from _described(node)


def _described(node: ast.AST) -> Iterator[str]:
    """Yields the constructs that one constant, `except` clause or call adds."""
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
            if set(_constructs(func)).isdisjoint(WORDS["plain_calls"]):
                yield "a call"


def _handed_on(tree: ast.mod) -> Iterator[str]:
    """Yields `text of NAME`, or `text of KIND` for a node without a name, for each expression that
    the program reads anywhere but where it is called, decorates, has an attribute read, or is given
    to one of the `takers` of refusals.yaml. A function handed on may be shown."""
    plain = set[int]()
    # Parents come first.
    for node in ast.walk(tree):
        plain.update(map(id, getattr(node, "decorator_list", ())))
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
    """Whether an `except` clause uses its exception `e` anywhere but in `raise e`,
    `raise … from e`, `isinstance(e, …)` or `type(e)`."""
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
