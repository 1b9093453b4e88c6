"""The dress of an answer, which stands around it and is no part of it: hidden thoughts, tokens of a
chat template, fences, bold type, tags, LaTeX, labels.

`DRESS` is the table (dress.yaml) that every reader in `scoring/forms.py` reads by; docs/scoring.md
prints it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import yaml

FENCE = "```"


def _patterns() -> dict[str, re.Pattern[str]]:
    table = yaml.safe_load(
        (files(__package__) / "dress.yaml").read_text(encoding="utf-8")
    )
    flags = re.DOTALL | re.IGNORECASE
    return {
        name: re.compile("|".join(row["patterns"]), flags)
        for name, row in table.items()
    }


DRESS = _patterns()
"""Patterns of what is taken off an answer, by name: of single marks, or, with a group `answer`, of
a whole text."""
WRAPPINGS = [pattern for pattern in DRESS.values() if "answer" in pattern.groupindex]
DEEPEST_WRAPPING = 20


def unwrapped(text: str) -> str:
    """Returns an answer without what may surround the whole of it by `DRESS`: a label, fence, bold
    type, backticks, tags, a semicolon."""
    text = text.strip()
    for _ in range(DEEPEST_WRAPPING):
        whole = next(
            (found for one in WRAPPINGS if (found := one.fullmatch(text))), None
        )
        if whole is None:
            break
        text = whole["answer"].strip()
    return text


# --- Where a piece of Python ends: strings, comments and brackets are passed over ---

PIECES = re.compile(
    r"'''(?:\\.|[^\\])*?(?:'''|\Z)"
    r'|"""(?:\\.|[^\\])*?(?:"""|\Z)'
    r"|'(?:\\.|[^'\\\n])*'?"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|#(?:(?!```)[^\n])*"
    r"|```|==|[()\[\]{}]",
    re.DOTALL,
)
"""Pattern of strings, comments, and tokens that may end an answer. A string that is never closed
ends with its line."""
BRACKETS = {"(": ")", "[": "]", "{": "}"}
DEEPEST_BRACKETS = 200
"""Largest number of brackets in each other; Python's parser takes no more."""


def outside_brackets(text: str, mark: str, start: int = 0) -> int:
    """Returns the index, from `start`, of the first `mark` (`==` or a closing bracket) in `text`
    outside strings and brackets; -1 without one, or where a fence (three backticks) or a closing
    bracket without its opening one comes first."""
    expected: list[str] = []
    for piece in PIECES.finditer(text, start):
        token = piece[0]
        if token == mark and not expected:
            return piece.start()
        if len(expected) > DEEPEST_BRACKETS:
            return -1
        if token in BRACKETS:
            expected.append(BRACKETS[token])
        elif token in BRACKETS.values():
            if not expected or expected.pop() != token:
                return -1
        elif token == FENCE:
            return -1
    return -1


# --- LaTeX ---

BOX = re.compile(r"\\f?boxed\s*\{|\\fbox\s*\{")
COMMAND = re.compile(r"\\(?:text|math|mbox|operatorname|boxed|fbox)[a-z]*\s*\{")
SIGNS = (
    (r"\\(?:left|right)(?=[\[\](){}\\])", ""),
    (r"(?<!\\)\\([_%#&${}])", r"\1"),
    (r"(?<!\\)\\(?:[,;:! ]|q?quad\b)", " "),
    (r"``((?:(?!``).)*?)''", r'"\1"'),
)
"""Patterns of LaTeX that stands for other signs, and these signs."""
MOST_COMMANDS = 50


def boxes(text: str) -> Iterator[str]:
    r"""Yields the content of each `\boxed{…}` in a text, as Python would be written (`unescaped`);
    the rest of the text for a box that is never closed."""
    box = BOX.search(text)
    while box:
        end = outside_brackets(text, "}", box.end())
        if end < 0:
            yield text[box.start() :]
            return
        yield unescaped(text[box.end() : end])
        box = BOX.search(text, end)


def unescaped(text: str) -> str:
    r"""Returns a piece of LaTeX without commands of type (`\text{…}`, `\texttt{…}`) and without the
    backslashes of its signs (`\_`, `\{`): the answer as it would be written in Python."""
    for _ in range(MOST_COMMANDS):
        command = COMMAND.search(text)
        end = outside_brackets(text, "}", command.end()) if command else -1
        if not command or end < 0:
            break
        text = text[: command.start()] + text[command.end() : end] + text[end + 1 :]
    for pattern, sign in SIGNS:
        text = re.sub(pattern, sign, text)
    return text
