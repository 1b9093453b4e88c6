"""Long texts with something planted in them (Find the Origin, section 6), at any length.

The long texts are the kit's own prose, and for the listing the source of an installed library (click, whose
version the lock file pins), read at run time.
"""

from __future__ import annotations

import ast
import importlib.util
from functools import cache
from importlib.resources import files
from pathlib import Path

from codestress.errors import DataError
from codestress.generation.prompts import prompt_text

LISTING_PLACES = (0.35, 0.73)
"""Where `is_prime` and `square_sum` stand, as shares of the listing: 34.7 % and 72.5 % in the authors' long prompt."""


@cache
def _library_source() -> str:
    found = importlib.util.find_spec("click.core")
    if found is None or found.origin is None:
        raise DataError("the listing is made of the source of the package click, which is not installed; run `make`")
    return Path(found.origin).read_text(encoding="utf-8")


def paragraphs(name: str) -> list[str]:
    """The paragraphs of one of the kit's own texts, title first."""
    text = (files("codestress.problems") / "texts" / f"{name}.txt").read_text(encoding="utf-8")
    return [paragraph for paragraph in text.strip().split("\n\n") if paragraph]


def listing(characters: int) -> str:
    """Real library code of about this length, cut after a function, with the two inefficient functions planted."""
    source = _library_source()
    lines = source.split("\n")
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.FunctionDef) and n.end_lineno is not None]
    ends = sorted({n.end_lineno for n in nodes if n.end_lineno is not None})
    length = [0]
    for line in lines:
        length.append(length[-1] + len(line) + 1)
    planted = prompt_text("inefficient_functions").split("\n\n")
    wanted = characters - sum(map(len, planted))
    if not length[ends[0]] <= wanted <= length[-1]:
        raise DataError(f"a listing can have about {length[ends[0]]} to {length[-1]} characters, not {characters}")
    last = min(ends, key=lambda end: abs(length[end] - wanted))
    starts = {min([n.lineno, *(d.lineno for d in n.decorator_list)]): n.col_offset for n in nodes if n.lineno <= last}
    shown = lines[:last]
    for function, place in sorted(zip(planted, LISTING_PLACES, strict=True), key=lambda pair: -pair[1]):
        start = min(starts, key=lambda line: abs(length[line - 1] - place * length[last]))
        indent = " " * starts.pop(start)
        shown[start - 1 : start - 1] = [*(indent + line if line else "" for line in function.split("\n")), ""]
    return "\n".join(shown)


def _within(pieces: list[str], characters: int) -> list[str]:
    """The first pieces that fit in this length (at least two)."""
    kept: list[str] = []
    total = 0
    for piece in pieces:
        total += len(piece) + 2
        if total > characters and len(kept) >= 2:
            return kept
        kept.append(piece)
    if characters > total * 1.1:
        raise DataError(f"the kit's own text has {total} characters, {characters} were asked for; use a shorter length")
    return kept


def chapter(characters: int, place: float) -> str:
    """A chapter of prose with the clue as a paragraph of its own at `place`, and the ciphertext at the end."""
    pieces = _within(paragraphs("harbour_chapter"), characters)
    at = min(max(2, round(place * len(pieces))), len(pieces))
    pieces = [*pieces[:at], prompt_text("clue"), *pieces[at:]]
    return "\n\n".join(pieces) + " " + prompt_text("ciphertext")


def article(characters: int, place: float) -> str:
    """An article with the planted sentences inside a paragraph at `place`."""
    pieces = _within(paragraphs("microbiology"), characters)
    at = min(max(1, int(place * len(pieces))), len(pieces) - 1)
    first, separator, rest = pieces[at].partition(". ")
    pieces[at] = f"{first}{separator}{prompt_text('unlock')} {rest}" if rest else f"{first} {prompt_text('unlock')}"
    return "\n\n".join(pieces)
