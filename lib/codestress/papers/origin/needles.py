"""Long texts with something planted in them (Find the Origin, section 6), at any length.

The long texts are the kit's own prose, and for the listing the source of an installed library (click, whose
version the lock file pins), read at run time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate, pairwise
from pathlib import Path

import click.core

from codestress.errors import DataError
from codestress.generation.edits import first_line
from codestress.generation.prompts import prompt_text

LISTING_PLACES = (0.35, 0.73)
"""Where `is_prime` and `square_sum` stand, as shares of the listing: 34.7 % and 72.5 % in the authors' long prompt."""


@cache
def _library() -> tuple[list[str], list[int], list[int]]:
    """The library's lines; the lines after which it may be cut; the cuts, by index, at which a listing may begin."""
    lines = Path(click.core.__file__).read_text(encoding="utf-8").rstrip("\n").split("\n")
    tree = ast.parse("\n".join(lines))
    tops = [first_line(node) - 1 for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    ends = [node.end_lineno or node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    cuts = sorted({0, *tops, *ends, len(lines)})
    return lines, cuts, [0, *(cuts.index(line) for line in tops)]


def paragraphs(name: str) -> list[str]:
    """The paragraphs of one of the kit's own texts, title first."""
    text = (files(__package__) / "texts" / f"{name}.txt").read_text(encoding="utf-8")
    return [paragraph for paragraph in text.strip().split("\n\n") if paragraph]


def _run_of(lengths: Sequence[int], wanted: int, variant: int, begins: Sequence[int]) -> tuple[int, int]:
    """(first piece, number of pieces) of a run that begins at one of `begins`, wraps, and is about `wanted` long.

    Variant v takes the begin that comes v-th closest, so that every length is met as well as the pieces allow.
    """
    around = [0, *accumulate([*lengths, *lengths])]

    def best(begin: int) -> tuple[int, int, int]:
        counts = range(1, len(lengths) + 1)
        return min((abs(around[begin + n] - around[begin] - wanted), begin, n) for n in counts)

    _, begin, count = sorted(best(begin) for begin in begins)[variant % len(begins)]
    return begin, count


def listing(characters: int, variant: int = 0) -> str:
    """Real library code of about this length, cut after a function, with the two inefficient functions planted.

    Variants begin at other top-level functions and classes of the library's source.
    """
    planted = prompt_text("inefficient_functions").split("\n\n")
    wanted = characters - sum(map(len, planted))
    source, cuts, begins = _library()
    pieces = [sum(len(line) + 1 for line in source[a:b]) for a, b in pairwise(cuts)]
    if not 1000 <= wanted <= sum(pieces):
        raise DataError(f"a listing can have 1500 to {sum(pieces)} characters, not {characters}")
    first, count = _run_of(pieces, wanted, variant, begins)
    around = [*source, "", "", *source]
    begin, end = cuts[first], cuts[(first + count) % len(pieces)] or len(source)
    shown = around[begin : end if end > begin else len(source) + 2 + end]
    return "\n".join(_plant(shown, planted))


def _plant(shown: list[str], planted: Sequence[str]) -> list[str]:
    """The lines with each function planted near its place, before or after a function and indented like it."""
    nodes = [node for node in ast.walk(ast.parse("\n".join(shown))) if isinstance(node, ast.FunctionDef)]
    indents = {(node.end_lineno or 0) + 1: node.col_offset for node in nodes}
    indents |= {first_line(node): node.col_offset for node in nodes}
    length = list(accumulate((len(line) + 1 for line in shown), initial=0))
    chosen = []
    for function, place in zip(planted, LISTING_PLACES, strict=True):
        start = min(indents, key=lambda line: abs(length[line - 1] - place * length[-1]))
        indent = " " * indents.pop(start)
        chosen.append((start, [*(indent + line if line else "" for line in function.split("\n")), ""]))
    for start, lines in sorted(chosen, reverse=True):  # from the end, so that places above stay what they are
        shown[start - 1 : start - 1] = lines
    return shown


def chapter(characters: int, depth: float, variant: int = 0) -> str:
    """A chapter of prose of this length, to a sentence, with the ciphertext at its end. The clue is a paragraph of its
    own between the two sentences between which it stands nearest to `depth`, a share of the whole."""
    title, *rest = paragraphs("harbour_chapter")
    sentences = [re.split(r"(?<=[.!?]) (?=[A-Z])", paragraph) for paragraph in rest]
    pieces = [one + ("\n\n" if n == len(part) else " ") for part in sentences for n, one in enumerate(part, 1)]
    begins = [0, *accumulate(map(len, sentences[:-1]))]
    clue, ciphertext = f"{prompt_text('clue')}\n\n", prompt_text("ciphertext")
    lengths = list(map(len, pieces))
    wanted = characters - len(f"{title}\n\n{clue}{ciphertext}")
    if wanted > 1.1 * sum(lengths):
        raise DataError(f"the kit's own chapter has {sum(lengths)} characters, {characters} were asked for")
    first, count = _run_of(lengths, wanted, variant, begins)
    chosen = [*pieces, *pieces][first : first + count]
    text = f"{title}\n\n{''.join(chosen).rstrip()} {ciphertext}"
    places = list(accumulate(map(len, chosen[:-1]), initial=len(title) + 2))
    at = min(places, key=lambda place: abs(place - depth * (len(text) + len(clue))))
    before = text[:at].rstrip(" \n")
    return f"{before}\n\n{clue}{text[at:]}"


def article(characters: int, place: float, variant: int = 0) -> str:
    """An article of about this length, which begins at another paragraph in each variant, with the planted sentences
    after the first sentence of the paragraph at `place`."""
    title, *every = paragraphs("microbiology")
    lengths = [len(piece) + 2 for piece in every]
    if characters > 1.1 * sum(lengths):
        told = f"the kit's own text has {sum(lengths)} characters, {characters} were asked for; use a shorter length"
        raise DataError(told)
    begin, count = _run_of(lengths, characters - len(title), variant, range(len(every)))
    pieces = [title, *[*every, *every][begin : begin + max(2, count)]]
    at = min(max(1, int(place * len(pieces))), len(pieces) - 1)
    first, separator, rest = pieces[at].partition(". ")
    pieces[at] = f"{first}{separator}{prompt_text('unlock')} {rest}".rstrip()
    return "\n\n".join(pieces)
