"""Places for misleading comments, and tests of the comments' texts (Fault
Localizability, section IV-C).

A misleading comment replaces an existing comment or is inserted.
"""

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from codestress.sandbox.runtimes import nodes, text_of
from codestress.types import Language

from ..edits import Lines
from .trees import RULES, NotNeutral, java_root

ACCUSES = re.compile(rf"\b({'|'.join(RULES['accusing'])})\b", re.I)
"""Pattern of the words by which a comment claims a fault."""
NEAR = 2
"""Distance from the faulty line, in lines, within which no comment may claim a fault:
the tolerance of the paper's artifact."""


@dataclass(frozen=True)
class Place:
    """Place of an existing comment in a program.

    Lines count from 1, indices of characters in the program's text from 0.
    """

    start: int
    end: int
    """Range of characters that a new comment replaces, from `start` to before `end`."""
    first: int
    last: int
    """First and last line of the comment."""
    form: str
    """Format of the comment: its comment signs, with `{}` for the text."""


def usable(text: str, language: Language, *, accusing: bool) -> bool:
    """Return whether a text can be a comment of one line, and speaks of a fault if and
    only if `accusing` is True."""
    odd = ["\n", "\r", "*/", "coding", *(["\\u"] if language == "java" else [])]
    if not text.strip() or any(part in text for part in odd):
        return False
    return bool(ACCUSES.search(text)) == accusing


@lru_cache(maxsize=512)
def comments_in(code: str, language: Language) -> list[Place]:
    """Return the places of a Python or Java program's comments, in the order of the
    text.

    Comments of whole lines with `#` or `//` that stand one below the other with the
    same indentation count as one. Python comments in the first two lines that name an
    interpreter or an encoding are left out. Raises `NotNeutral` if the program does not
    parse.
    """
    lines = Lines(code)
    places: list[Place] = []
    above = ""
    comments = _python_comments if language == "python" else _java_comments
    for start, end, form in comments(code, lines):
        first, last = lines.line_of(start), lines.line_of(end - 1)
        head = code[lines.starts[first - 1] : start]
        alone = not head.strip() and not code[end : lines.end(last)].strip()
        # A comment joins the one above if indentation and comment signs are the same.
        style = f"{head}{form}" if alone and not form.endswith("*/") else ""
        if style and style == above and places[-1].last == first - 1:
            place = places.pop()
            start, first = place.start, place.first
        places.append(Place(start, end, first, last, form))
        above = style
    return places


def _python_comments(code: str, lines: Lines) -> Iterator[tuple[int, int, str]]:
    """Yield, for each Python comment, the index of its first character, the index after
    its last, and its form `# {}`.

    Comments in the first two lines that name an interpreter or an encoding are left
    out. Raises `NotNeutral` if the program does not parse.
    """
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                if line > 2 or not re.match("#!|.*coding", token.string):
                    start = lines.starts[line - 1] + column
                    yield start, start + len(token.string), "# {}"
    except (tokenize.TokenError, SyntaxError) as error:
        raise NotNeutral(f"does not parse: {error}") from None


def _java_comments(code: str, lines: Lines) -> Iterator[tuple[int, int, str]]:
    for node in nodes(java_root(code)):
        if "comment" in node.type:
            text = text_of(node)
            sign = "/**" if text.startswith("/**") else text[:2]
            # The parser counts a carriage return at the line's end as comment.
            end = text.partition("\r")[1] if sign == "//" else " */"
            yield (*lines.span(node), f"{sign} {{}}{end}")
