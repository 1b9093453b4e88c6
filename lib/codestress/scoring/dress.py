"""The dress of an answer, which is the formatting around it: hidden thoughts, tokens of
a chat template, fences, bold type, tags, LaTeX, labels.

`DRESS` is the table (dress.yaml) that all readers of answers use; docs/scoring.md
prints it.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from codestress.validation import read_yaml

FENCE = "```"


TABLE = read_yaml(Path(__file__).with_suffix(".yaml"))


def _pattern(parts: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(parts), re.DOTALL | re.IGNORECASE)


DRESS = {name: _pattern(row["patterns"]) for name, row in TABLE.items()}
"""Patterns of formatting that is removed from an answer, by name. A pattern matches a
single mark or, if it has a group `answer`, a whole text."""
CLOSING_TAG = _pattern(TABLE["hidden thoughts"]["closing"])
"""Pattern of the tags that close hidden thoughts."""
WRAPPINGS = [pattern for pattern in DRESS.values() if "answer" in pattern.groupindex]
DEEPEST_WRAPPING = 20


def unwrapped(text: str) -> str:
    """Return an answer without the formatting of `DRESS` that surrounds the whole of
    it: a label, fence, bold type, backticks, tags, a semicolon."""
    for _ in range(DEEPEST_WRAPPING):
        text = text.strip()
        latex = COMMAND.match(text) or DRESS["LaTeX"].fullmatch(text)
        if latex and not BOX.search(text):
            text = unescaped(text)
        for pattern in WRAPPINGS:
            whole = pattern.fullmatch(text)
            if whole:
                text = whole["answer"]
                break
        else:
            break
    return text.strip()


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
"""Pattern of strings, comments, and tokens that may end an answer. A string that is
never closed ends with its line."""
BRACKETS = {"(": ")", "[": "]", "{": "}"}
DEEPEST_BRACKETS = 200
"""Largest number of nested brackets; Python's parser accepts no more."""


def outside_brackets(text: str, mark: str, start: int = 0) -> int:
    """Return the index, from `start`, of the first `mark` (`==` or a closing bracket) in `text`
    outside strings and brackets; -1 without one, or where a closing bracket without its opening one
    comes first, or a fence (three backticks), unless a box's closing brace is sought."""
    expected: list[str] = []
    for piece in PIECES.finditer(text, start):
        token = piece[0]
        if token == mark and not expected:
            return piece.start()
        if (token == FENCE and mark != "}") or len(expected) > DEEPEST_BRACKETS:
            return -1
        if token in BRACKETS:
            expected.append(BRACKETS[token])
        elif token in BRACKETS.values() and (not expected or expected.pop() != token):
            return -1
    return -1


class Ending(NamedTuple):
    """The text of an answer that a model wrote, and whether a fence or tag of the
    model's closed it."""

    text: str
    closed: bool


def before_fence(text: str) -> Ending:
    """Return the text before the first fence (three backticks) outside strings, and
    whether there is a fence. Without a fence, the whole text."""
    for piece in PIECES.finditer(text):
        if piece[0] == FENCE:
            return Ending(text[: piece.start()], True)
    return Ending(text, False)


# --- Tags around an answer ---


def _tag(name: str) -> re.Pattern[str]:
    """Return the pattern of the tag `name` (a regular expression), plain, in bold type
    or as code, with a colon after it or without."""
    marked = rf"(\*{{1,3}}|_{{1,3}}|`{{1,3}})(?:{name}):?\1"
    return re.compile(rf"(?:{marked}|(?:{name})):?", re.IGNORECASE)


ANSWER_TAGS = [
    (_tag(row["opening"]), _tag(row["closing"])) for row in TABLE["tags"]["answers"]
]
"""Pairs of patterns: an opening and a closing tag around an answer, first the tags that
CodeCrash asks for, then the tags that models write instead."""

# --- LaTeX ---

LATEX = TABLE["LaTeX"]
BOX = re.compile(LATEX["box"])
COMMAND = re.compile(LATEX["command"])
MOST_COMMANDS = 50


def boxes(text: str) -> Iterator[str]:
    r"""Yield the content of each `\boxed{…}` in a text, as it would be written in
    Python (`unescaped`). For a box that is never closed, yield the rest of the text."""
    box = BOX.search(text)
    while box:
        end = outside_brackets(text, "}", box.end())
        if end < 0:
            yield text[box.start() :]
            return
        yield unescaped(text[box.end() : end])
        box = BOX.search(text, end)


def unescaped(text: str) -> str:
    r"""Return a piece of LaTeX as the answer would be written in Python: without font
    commands (`\text{…}`, `\texttt{…}`) and without the backslashes of escapes (`\_`,
    `\{`)."""
    for _ in range(MOST_COMMANDS):
        command = COMMAND.search(text)
        end = outside_brackets(text, "}", command.end()) if command else -1
        if not command or end < 0:
            break
        text = text[: command.start()] + text[command.end() : end] + text[end + 1 :]
    for pattern, sign in LATEX["signs"]:
        text = re.sub(pattern, sign, text)
    return text
