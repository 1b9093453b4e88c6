"""Misleading comments (Fault Localizability, section IV-C): put in the place of those that are there, or put in."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from codestress.generation.edits import Lines
from codestress.papers.faultloc.faults.trees import NotNeutral, java_root
from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

ACCUSES = re.compile(
    r"\b(wrong|fault|faulty|bugs?|buggy|errors?|incorrect|incorrectly|fails?|fragile|broken|breaks|missing|mistakes?|"
    r"accident|swapped|careful|should(n't)?|ought|must not|not \w+ correctly|too (far|short|long|early|late|strict|"
    r"small|large|many|few)|off by|fixme|fix(ed)?|hides|loses|masked)\b",
    re.I,
)
"""Words of a comment that speaks of a fault."""
NEAR = 2
"""Lines around the faulty one of which no comment may say that they are at fault: those that the artifact counts."""


@dataclass(frozen=True)
class Place:
    """Where a comment stands or can be put."""

    start: int
    end: int
    """The characters that a comment takes the place of."""
    first: int
    last: int
    """The lines that it stands on."""
    about: int
    """The line that it speaks of: its own, where there is code, else the next one with code."""
    form: str
    """The comment with its signs and `{}` for the text."""

    def near(self, line: int) -> bool:
        return min(abs(one - line) for one in (self.first, self.last, self.about)) <= NEAR


def usable(text: str, language: Language, *, accusing: bool) -> bool:
    """Whether a text can be a comment of one line that says what it is to say, and is nothing but a comment."""
    odd = "\n" in text or "\r" in text or "*/" in text or (language == "java" and "\\u" in text) or "coding" in text
    return bool(text.strip()) and not odd and bool(ACCUSES.search(text)) == accusing


@lru_cache(maxsize=512)
def comments_in(code: str, language: Language) -> list[Place]:
    """The comments of a program; those of whole lines, one below the other, are one."""
    lines = Lines.of(code)
    places: list[Place] = []
    whole: set[int] = set()
    for start, end, form in (_python_comments if language == "python" else _java_comments)(code, lines):
        first, last = lines.line_of(start), lines.line_of(end - 1)
        head = code[lines.starts[first - 1] : start]
        place = Place(start, end, first, last, last, form)
        if not head.strip() and not code[end : lines.end(last)].strip():
            above = places[-1] if places and first - 1 in whole and not form.endswith("*/") else None
            if above and above.form == form and code[lines.starts[above.first - 1] : above.start] == head:
                place = Place(places.pop().start, end, above.first, last, last, form)
            whole |= set(range(first, last + 1))
        places.append(place)
    return [replace(one, about=_below(one, whole, lines)) if one.last in whole else one for one in places]


def _below(place: Place, whole: set[int], lines: Lines) -> int:
    """The next line with code."""
    rest = (line for line in range(place.last + 1, len(lines.starts) + 1) if line not in whole)
    return next((line for line in rest if lines.text[lines.starts[line - 1] : lines.end(line)].strip()), place.last)


def _python_comments(code: str, lines: Lines) -> Iterator[tuple[int, int, str]]:
    """All but the first lines that say by what the program is run, or how it is written down."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                if line > 2 or not (token.string.startswith("#!") or "coding" in token.string):
                    start = lines.starts[line - 1] + column
                    yield start, start + len(token.string), "# {}"
    except (tokenize.TokenError, SyntaxError, IndentationError) as error:
        raise NotNeutral(f"does not parse: {error}") from None


def _java_comments(code: str, lines: Lines) -> Iterator[tuple[int, int, str]]:
    for node in nodes(java_root(code)):
        if node.type in ("line_comment", "block_comment"):
            text = text_of(node)
            sign = "// {}" if node.type == "line_comment" else "/** {} */" if text.startswith("/**") else "/* {} */"
            yield (*lines.span(node), sign)
