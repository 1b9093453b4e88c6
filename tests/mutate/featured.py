"""Programs drawn from features that have made trouble (features.yaml), in Python and JavaScript."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent

import yaml
from hypothesis import strategies as st

from codestress.problems.program import Problem
from codestress.types import Language, Source

FEATURES = yaml.safe_load(
    Path(__file__).with_name("features.yaml").read_text(encoding="utf-8")
)
"""For each language: definitions, conditions, statements, and the beginning of the function."""
ASKED = "4, [1, 2, 3], 'ab'"
UNSEEN = (
    "17, [4, 4, 9], 'needle'",
    "-6, [], ''",
    "58, [0, 71, 3, 71], 'aXbX'",
    "3, [51, 2], 'zz'",
)
"""Inputs that validation does not see; n, items and word."""
IMPORTS = {
    "@functools": "import functools",
    "io.": "import io",
    "seen": "from collections import defaultdict",
    "redirect_stdout": "from contextlib import redirect_stdout",
}
BLOCKS = {
    "python": (
        "if {test}:\n{one}\nelse:\n{two}",
        "while {test}:\n{one}\n    turns += 1\n    if turns > 4:\n        break",
        "    ",
    ),
    "javascript": (
        "if ({test}) {{\n{one}\n}} else {{\n{two}\n}}",
        "while ({test}) {{\n{one}\n  if (turns++ > 4) {{\n    break;\n  }}\n}}",
        "  ",
    ),
}
"""A branch, a loop that ends, an indent."""


def drawn(language: Language) -> st.SearchStrategy[Problem]:
    """Problems without their outputs; in some of them what is odd happens on few inputs."""
    branch, loop, margin = BLOCKS[language]
    found = FEATURES[language]

    def block(form: str, test: str, one: str, two: str) -> str:
        inner = {"one": indent(one, margin), "two": indent(two, margin)}
        return form.format(test=test, plain=one, second=two, **inner)

    def problem(text: str) -> Problem:
        code = _program(text, language)
        return Problem("drawn", code, "f", ASKED, "", language, Source.KIT)

    forms = st.sampled_from([branch, loop, "{plain}\n{second}"])
    conditions = st.sampled_from(found["conditions"])
    any_form = st.recursive(
        st.sampled_from(found["statements"]),
        lambda inner: st.builds(block, forms, conditions, inner, inner),
        max_leaves=6,
    )
    plain = st.sampled_from(found["statements"][:6])
    rarely = st.sampled_from(["n > 50", "n < 0"])
    rare = st.builds(block, st.just(branch), rarely, any_form, plain)
    return st.one_of(any_form, rare).map(problem)


def _program(statements: str, language: Language) -> str:
    """A whole program, with the definitions that it uses alone: most programs have few features."""
    words = {"total", *re.findall(r"\w+", statements)}
    used = [line for line in FEATURES[language]["beginning"] if _names(line) & words]
    text, helpers = "\n".join([*used, statements]), list[str]()
    for helper in reversed(FEATURES[language]["definitions"]):
        if _names(helper) & set(re.findall(r"\w+", text)):
            helpers.insert(0, helper)
            text += helper
    margin = BLOCKS[language][2]
    if language == "javascript":
        lines = ["let turns = 0;", *used, statements, "return [total, out, n];"]
        body = indent("\n".join(lines), margin)
        return "\n".join([*helpers, f"function f(n, items, word) {{\n{body}\n}}"])
    imports = [line for mark, line in IMPORTS.items() if mark in text]
    lines = [*used, "turns = 0", statements, "return total, out, n"]
    body = indent("\n".join(lines), margin)
    return "\n".join([*imports, "i = 5", *helpers, f"def f(n, items, word):\n{body}"])


def _names(text: str) -> set[str]:
    """What a definition defines."""
    head = re.search(
        r"(?:def|class|function\*?|const|let) (\w+)|^(\w+)(?:, \w+)* =", text
    )
    return {name for name in (head.groups() if head else ()) if name}
