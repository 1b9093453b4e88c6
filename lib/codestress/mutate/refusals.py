"""Rules that reject programs for rewritings, and the search of a Python program for what the rules
name.

A rule names constructs (names, attributes, imports, kinds of statement) and a reason. It looks at a
program's text, not at its behaviour, so it rejects more programs than necessary.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Set

from .scopes import names_of

FINDERS = {
    "getattr",
    "setattr",
    ".attrgetter",
    ".methodcaller",
    ".import_module",
    "__import__",
}
"""Constructs that can turn any word of a string into a name of the program."""
PLAIN_CALLS = ("len", "abs", "ord", "isinstance")
PLAIN_METHODS = (
    "startswith",
    "endswith",
    "isdigit",
    "isalpha",
    "lower",
    "upper",
    "replace",
    "split",
)
"""Functions (`PLAIN_CALLS`) and methods whose calls change nothing and return the same for the same
arguments."""
SAYS_NAMES = {
    "NameError",
    "UnboundLocalError",
    "TypeError",
    "AttributeError",
    "Exception",
    "BaseException",
}
"""Exceptions whose messages may contain names of variables, parameters or functions."""
Rule = tuple[Iterable[str], str, frozenset[str]]
"""Reason to reject some rewritings of a program: names of rewritings, or parts of the texts that
they insert; the reason; constructs in the notation of `python_constructs`, in which `{para}` stands
for the parameter that an inserted text names."""


def rule(rewritings: Iterable[str], reason: str, constructs: str) -> Rule:
    """Returns a `Rule` from names of rewritings, a reason, and constructs written in one text,
    separated by a comma and a space."""
    return rewritings, reason, frozenset(constructs.split(", "))


def refusal(
    rules: Iterable[Rule], rewriting: str, found: Set[str], para: str = ""
) -> str:
    """Returns why the first of `rules` that rejects a rewriting does so, as `REASON: CONSTRUCT`;
    empty when none does.

    A rule is asked where the text `rewriting` (a perturbation's name, or code to insert) contains
    one of the rule's `rewritings`. `found` are the program's constructs; the parameter name `para`
    replaces `{para}` in the rule's constructs.
    """
    for rewritings, reason, constructs in rules:
        if any(piece in rewriting for piece in rewritings):
            named = {construct.replace("{para}", para) for construct in constructs}
            if seen := found & named:
                return f"{reason}: {min(seen)}"
    return ""


def python_constructs(tree: ast.mod) -> frozenset[str]:
    """Returns the constructs of a Python syntax tree as a set of texts, for comparison with rules.

    The text `eval` is a name that is read, `.pop` an attribute, `bind print` a name that is bound,
    `del n` a name that may be unbound again, `n=` a keyword argument, `import math` a module,
    `__name__` a word at any place, `text of n` a variable that `str` and the like turn into text,
    `ClassDef` a kind of node, `a call` a call that may change something (in programs without own
    classes).
    """
    found = set[str]()
    for node in ast.walk(tree):
        found.add(type(node).__name__)
        found.update(_constructs(node))
    for scope in names_of(tree).scopes:
        for name, kinds in scope.bound.items():
            found.add(f"bind {name}")
            if re.match("_[^_].*__.", name):
                found.add("a mangled name")
            if "function" in kinds and f"text of {name}" in found:
                found.add("a function as a text")
    if found & FINDERS:
        found.update(_spelled(tree))
    return frozenset(found)


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
            yield from re.findall(r"\b__\w+__\b", text)
            if "lineno" in text:
                yield "lineno"
            if re.search("[\ud800-\udfff]", text):
                yield "half a character"
        case ast.Constant(float() | complex()):
            yield "a fraction"
        case ast.ExceptHandler(kind, str(name)):
            yield f"del {name}"
            kinds = ast.walk(kind) if kind else ()
            says = any(getattr(part, "id", "") in SAYS_NAMES for part in kinds)
            if says and reads_message(node):
                yield "the message of an exception"
        case ast.FormattedValue(ast.Name(name)):
            yield f"text of {name}"
        case ast.Call():
            yield from _of_call(node)


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


def _of_call(call: ast.Call) -> Iterator[str]:
    """Yields the constructs that one call adds."""
    name, method = getattr(call.func, "id", ""), getattr(call.func, "attr", "")
    if name in ("str", "repr", "ascii", "format", "print"):
        for value in call.args:
            yield f"text of {getattr(value, 'id', '')}"
    if name not in PLAIN_CALLS and method not in PLAIN_METHODS:
        yield "a call"
