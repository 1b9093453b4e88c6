"""Long texts with a needle, a small planted part (Find the Origin, section 6): the paper's texts,
and the kit's own at any length.

The paper's short prompts are cut from the paper's text, a data set. The kit's own texts are prose
written for the kit and, for the listing, the source of an installed library (click, whose version
the lock file pins), read at run time.
"""

import ast
import re
import textwrap
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

import click.core
import numpy as np

from codestress.errors import DataError
from codestress.mutate.edits import first_line
from codestress.problems.datasets import data_file
from codestress.prompts import filled, prompt_text

PlantedText = Literal["printed", "authors", "own"]


class NeedleCell(NamedTuple):
    """Record that identifies one text of section 6 by its source, length, depth and variant (number
    of the own text of that length, 0 for a published text)."""

    text: PlantedText
    """Source of the text: `printed`, `authors` or `own`."""
    characters: int
    """Length of the text in characters; approximate for the kit's own texts."""
    depth: float
    """Depth at which the planted part begins, as a share of the text; approximate for the kit's own
    texts."""
    paired: bool
    """Whether length and depth are those of a cell of the paper."""
    variant: int

    def __str__(self) -> str:
        return f"{self.text}, {self.characters} characters, depth {self.depth}, variant {self.variant}"


LONG_PROMPTS = {
    "inefficient_code": "additionaltests/highlight-inefficient-code-long.txt",
    "clue": "additionaltests/decrypting-cryptography-long.txt",
    "unlock": "additionaltests/unlock-100-long.txt",
}
"""The authors' long prompt of each test, a file of the data set origin-long-prompts."""


def published_texts(test: str, sources: Sequence[PlantedText]) -> dict[NeedleCell, str]:
    """Published prompts of `test` (inefficient_code, clue or unlock) by cell, from those of
    `sources` that are published. Raises `DataError` if a data set is not at hand."""
    texts: list[tuple[PlantedText, str]] = []
    if "printed" in sources:
        paper = data_file("origin-paper", "origin-paper/paper.md").read_text("utf-8")
        texts += [("printed", text) for text in printed_prompts(paper, test)]
    if "authors" in sources:
        path = data_file("origin-long-prompts", LONG_PROMPTS[test])
        texts.append(("authors", path.read_text("utf-8")))
    found = {}
    for source, text in texts:
        depth = round(needle_depth(text, test), 3)
        found[NeedleCell(source, len(text), depth, True, 0)] = text
    return found


_SECTIONS = {"inefficient_code": "6.1 ", "clue": "6.2 ", "unlock": "6.3 "}
_HEADING = re.compile(r"^#{2,3} ", re.M)
_PRINTED = re.compile(r"^\*\*.* tokens\)?:\*\*\n\n```\w*\n((?s:.*?))\n```$", re.M)
"""Pattern of a prompt as the paper prints prompts: a fenced block below a line in bold that ends
with the prompt's number of tokens. Answers are fenced too, but no such line stands above them."""


def printed_prompts(paper: str, test: str) -> list[str]:
    """List of the short prompts that `paper`, the text of the paper, prints for a test of section
    6, word for word, in the paper's order (shortest first). `test`: inefficient_code, clue or
    unlock. `StopIteration` if `paper` lacks the test's section."""
    number = _SECTIONS[test]
    sections = _HEADING.split(paper)
    section = next(part for part in sections if part.startswith(number))
    return _PRINTED.findall(section)


def needle_depth(text: str, test: str) -> float:
    """Depth (0 to 1) at which the planted part of `test` begins in `text`, as a share of the text;
    for section 6.1, that of `is_prime`. `test`: inefficient_code, clue or unlock. `ValueError` for
    a text without the part."""
    planted = {"inefficient_code": "def is_prime", "unlock": "Microbes are small"}
    planted["clue"] = prompt_text("clue")
    return text.index(planted[test]) / len(text)


# --- The kit's own texts ---


@lru_cache(maxsize=512)
def own_text(test: str, cell: NeedleCell) -> str:
    """The kit's own prompt for `test` with the length, depth and variant of `cell`."""
    if test == "inefficient_code":
        return filled(test, {"code": listing(cell.characters, cell.variant)})
    text = chapter if test == "clue" else article
    return text(cell.characters, cell.depth, cell.variant)


LISTING_PLACES = (0.35, 0.73)
"""Places of the planted functions `is_prime` and `square_sum`, as shares of the listing: 34.7 % and
72.5 % in the authors' long prompt."""


@cache
def _library() -> tuple[list[str], list[int], list[int]]:
    """Three lists: the lines of the library's source, the line numbers after which it may be cut
    (0, before or after a function or class, the end), and the indices in these of the cuts at which
    a listing may begin."""
    lines = Path(click.core.__file__).read_text("utf-8").rstrip("\n").split("\n")
    tree = ast.parse("\n".join(lines))
    tops = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            tops.append(first_line(node) - 1)
    ends = [function.end_lineno or 0 for function in _functions(tree)]
    cuts = sorted({0, *tops, *ends, len(lines)})
    return lines, cuts, [0, *map(cuts.index, tops)]


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def paragraphs(name: str) -> list[str]:
    """List of the paragraphs of one of the kit's own texts, title first. `name` names the text:
    harbour_chapter or microbiology."""
    text = (files(__package__) / "texts" / f"{name}.txt").read_text("utf-8")
    return text.strip().split("\n\n")


def _run_of(
    lengths: Sequence[int], wanted: int, variant: int, begins: Sequence[int]
) -> tuple[int, int]:
    """Pair of the first piece and the number of pieces in a run of neighbouring pieces, with the
    sizes `lengths`, that is about `wanted` long. It begins at one of the indices `begins` and goes
    on with the first piece after the last.

    Number `variant` takes the begin that comes variant-th closest (0 first; round again after the
    last), so that every length is met as well as the pieces allow. Raises `DataError` if all pieces
    together are too short.
    """
    most = sum(lengths)
    if wanted > 1.1 * most:
        raise DataError(
            f"the kit's own text has {most} characters, {wanted} are needed; use a shorter length"
        )
    around = np.cumsum([0, *lengths, *lengths])
    runs = []
    for begin in begins:
        sizes = around[begin + 1 :][: len(lengths)] - around[begin]
        away = abs(sizes - wanted)
        count = int(away.argmin())
        runs.append((away[count], begin, count + 1))
    _, begin, count = sorted(runs)[variant % len(runs)]
    return begin, count


def listing(characters: int, variant: int = 0) -> str:
    """Text of real library code of about `characters` characters, cut after a function, with the
    two inefficient functions of section 6.1 planted.

    Each `variant` (0, 1, …) begins at another top-level function or class of the library's source.
    Raises `DataError` for a length that the library cannot give.
    """
    planted = prompt_text("inefficient_functions").split("\n\n")
    wanted = characters - sum(map(len, planted))
    source, cuts, begins = _library()
    pieces = [sum(len(line) + 1 for line in source[a:b]) for a, b in pairwise(cuts)]
    if not 1000 <= wanted <= sum(pieces):
        raise DataError(
            f"a listing can have 1500 to {sum(pieces)} characters, not {characters}"
        )
    first, count = _run_of(pieces, wanted, variant, begins)
    around = [*source, "", "", *source]
    begin = cuts[first]
    end = cuts[(first + count) % len(pieces)] or len(source)
    shown = around[begin : end if end > begin else len(source) + 2 + end]
    return "\n".join(_plant(shown, planted))


def _plant(shown: list[str], planted: Sequence[str]) -> list[str]:
    """Changed list `shown`, the lines of a listing, with each of the functions `planted` (source
    texts) near its place in `LISTING_PLACES`, before or after another function and indented like
    that function."""
    indents = {}
    for node in _functions(ast.parse("\n".join(shown))):
        indents[(node.end_lineno or 0) + 1] = node.col_offset
        indents[first_line(node)] = node.col_offset
    length = list(accumulate((len(line) + 1 for line in shown), initial=0))
    chosen = []
    for function, place in zip(planted, LISTING_PLACES, strict=True):
        wanted = place * length[-1]
        start = min(indents, key=lambda line: abs(length[line - 1] - wanted))
        lines = textwrap.indent(function, " " * indents.pop(start)).split("\n")
        chosen.append((start, [*lines, ""]))
    # From the end, so that places above stay what they are.
    for start, lines in sorted(chosen, reverse=True):
        shown[start - 1 : start - 1] = lines
    return shown


def chapter(characters: int, depth: float, variant: int = 0) -> str:
    """Chapter of prose of about `characters` characters, cut at a sentence, with the ciphertext of
    section 6.2 at its end. The clue is a paragraph of its own between two sentences, as near as
    possible to `depth`, a share of the whole (0 to 1). Each `variant` (0, 1, …) begins at another
    paragraph. Raises `DataError` if the kit's chapter is too short."""
    title, *rest = paragraphs("harbour_chapter")
    pieces = list[str]()
    begins = list[int]()
    for paragraph in rest:
        begins.append(len(pieces))
        pieces += re.split(r"(?<=[.!?] )(?=[A-Z])", f"{paragraph}\n\n")
    clue = f"{prompt_text('clue')}\n\n"
    ciphertext = prompt_text("ciphertext")
    wanted = characters - len(f"{title}\n\n{clue}{ciphertext}")
    first, count = _run_of(list(map(len, pieces)), wanted, variant, begins)
    chosen = [*pieces, *pieces][first : first + count]
    text = f"{title}\n\n{''.join(chosen).rstrip()} {ciphertext}"
    places = list(accumulate(map(len, chosen[:-1]), initial=len(title) + 2))
    begin = depth * (len(text) + len(clue))
    at = min(places, key=lambda place: abs(place - begin))
    before = text[:at].rstrip(" \n")
    return f"{before}\n\n{clue}{text[at:]}"


def article(characters: int, place: float, variant: int = 0) -> str:
    """Article of about `characters` characters, which begins at another paragraph for each
    `variant` (0, 1, …). The planted sentences of section 6.3 follow the first sentence of the
    paragraph at `place`, a share of all paragraphs (0 to 1). Raises `DataError` if the kit's text
    is too short."""
    title, *every = paragraphs("microbiology")
    lengths = [len(piece) + 2 for piece in every]
    begin, count = _run_of(lengths, characters - len(title), variant, range(len(every)))
    pieces = [title, *[*every, *every][begin : begin + max(2, count)]]
    at = min(max(1, int(place * len(pieces))), len(pieces) - 1)
    first, separator, rest = pieces[at].partition(". ")
    pieces[at] = f"{first}{separator}{prompt_text('unlock')} {rest}".rstrip()
    return "\n\n".join(pieces)
