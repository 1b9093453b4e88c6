"""Long texts with a needle, a small planted part (Find the Origin, section 6): the
paper's texts, and the kit's own at any length.

The paper's short prompts are cut from the paper's text, a data set. The kit's own texts
are prose written for the kit. For the listing, they are the source of an installed
library (click, whose version the lock file pins), read at run time.
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
"""Source of a text: printed in the paper, the authors' data set, or the kit."""


class NeedleCell(NamedTuple):
    """Record that identifies one text of section 6 by its source, length, depth and
    variant."""

    text: PlantedText
    """Source of the text: `printed`, `authors` or `own`."""
    characters: int
    """Length of the text in characters; approximate for the kit's own texts."""
    depth: float
    """Depth at which the planted part begins, as a share of the text (0 to 1);
    approximate for the kit's own texts."""
    paired: bool
    """Whether length and depth belong together as in a cell of the paper."""
    variant: int
    """Number, from 0, among the kit's own texts of that length; 0 for a published text.
    """

    def __str__(self) -> str:
        return f"{self.text}, {self.characters} characters, depth {self.depth}, variant {self.variant}"


class Needle(NamedTuple):
    """Section and long prompt of a published test, and the part planted in its texts."""

    section: str
    """Number of the paper's section on the test, with the space after the number."""
    long_prompt: str
    """The authors' long prompt, a file of the data set origin-long-prompts."""
    planted: str
    """Beginning of the planted part."""


NEEDLES = {
    "inefficient_code": Needle(
        "6.1 ", "additionaltests/highlight-inefficient-code-long.txt", "def is_prime"
    ),
    "clue": Needle(
        "6.2 ", "additionaltests/decrypting-cryptography-long.txt", prompt_text("clue")
    ),
    "unlock": Needle(
        "6.3 ", "additionaltests/unlock-100-long.txt", "Microbes are small"
    ),
}
"""Dict from test of section 6 to its `Needle`."""


def published_texts(test: str, sources: Sequence[PlantedText]) -> dict[NeedleCell, str]:
    """Return the published prompts of `test` (inefficient_code, clue or unlock) from
    `sources`, as a dict from cell to prompt. The source `own` has none. Raises
    `DataError` if a data set is missing."""
    prompts: list[tuple[PlantedText, str]] = []
    if "printed" in sources:
        paper = data_file("origin-paper", "origin-paper/paper.md").read_text("utf-8")
        prompts += [("printed", text) for text in printed_prompts(paper, test)]
    if "authors" in sources:
        path = data_file("origin-long-prompts", NEEDLES[test].long_prompt)
        prompts.append(("authors", path.read_text("utf-8")))
    texts = {}
    for source, text in prompts:
        depth = round(needle_depth(text, test), 3)
        texts[NeedleCell(source, len(text), depth, True, 0)] = text
    return texts


_PRINTED = re.compile(r"^\*\*.* tokens\)?:\*\*\n\n```\w*\n((?s:.*?))\n```$", re.M)
"""Pattern of a prompt as the paper prints prompts: a fenced block below a line in bold
that ends with the prompt's number of tokens. Answers are fenced too, but have no such
line above them."""


def printed_prompts(paper: str, test: str) -> list[str]:
    """Return the short prompts of `test` that `paper`, the text of the paper, prints in
    section 6, word for word, in the paper's order (shortest first). `test` is
    inefficient_code, clue or unlock. Raises `StopIteration` if `paper` lacks the test's
    section."""
    number = NEEDLES[test].section
    sections = re.split(r"^#{2,3} ", paper, flags=re.M)
    section = next(part for part in sections if part.startswith(number))
    return _PRINTED.findall(section)


def needle_depth(text: str, test: str) -> float:
    """Return the depth at which the planted part of `test` begins in `text`, as a share
    of the text (0 to 1). In section 6.1 the planted part is `is_prime`. `test` is
    inefficient_code, clue or unlock. Raises `ValueError` if `text` lacks the part."""
    return text.index(NEEDLES[test].planted) / len(text)


# --- The kit's own texts ---


@lru_cache(maxsize=512)
def own_text(test: str, cell: NeedleCell) -> str:
    """Return the kit's own prompt for `test` (inefficient_code, clue or unlock), with
    the length, depth and variant of `cell`."""
    if test == "inefficient_code":
        code = listing(cell.characters, cell.variant)
        return filled(test, {"code": code})
    prose = article
    if test == "clue":
        prose = chapter
    return prose(cell.characters, cell.depth, cell.variant)


LISTING_PLACES = (0.35, 0.73)
"""Places of the planted functions `is_prime` and `square_sum`, as shares of the
listing: 34.7 % and 72.5 % in the authors' long prompt."""


@cache
def _library() -> tuple[list[str], list[int]]:
    """Return the pieces of the library's source, whole lines each, and the indices of
    the pieces with which a listing may begin. The source is cut before each top-level
    function or class and after each function. A listing may begin with the file, or
    with a top-level function or class."""
    source = Path(click.core.__file__).read_text("utf-8").rstrip("\n")
    lines = source.split("\n")
    tree = ast.parse(source)
    tops = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            tops.append(first_line(node) - 1)
    ends = [function.end_lineno or 0 for function in _functions(tree)]
    cuts = sorted({0, *tops, *ends, len(lines)})
    pieces = ["\n".join(lines[start:end]) for start, end in pairwise(cuts)]
    return pieces, [0, *map(cuts.index, tops)]


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Return all functions in `tree`, including methods and inner functions."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def paragraphs(name: str) -> list[str]:
    """Return the paragraphs of the kit's own text `name` (harbour_chapter or
    microbiology), title first."""
    path = files(__package__) / "texts" / f"{name}.txt"
    text = path.read_text("utf-8").strip()
    return text.split("\n\n")


def _run_of(
    lengths: Sequence[int], wanted: int, variant: int, begins: Sequence[int]
) -> tuple[int, int]:
    """Return the index of the first piece and the number of pieces of a run of
    neighbouring pieces whose length is about `wanted`. `lengths` are the pieces'
    lengths. A run begins at one of the indices `begins`, and after the last piece it
    goes on with the first.

    Variant 0 takes the begin whose run is closest to `wanted`, variant 1 the second
    closest, and so on, cyclically. The length is thus met as well as the pieces allow.
    Raises `DataError` if `wanted` exceeds all pieces together by more than 10 %.
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
    runs.sort()
    _, first, pieces = runs[variant % len(runs)]
    return first, pieces


def listing(characters: int, variant: int = 0) -> str:
    """Return real library code of about `characters` characters, cut after a function,
    with the two inefficient functions of section 6.1 planted.

    Each `variant` (0, 1, …) begins at another top-level function or class of the
    library's source. Raises `DataError` for a length that the library cannot give.
    """
    planted = prompt_text("inefficient_functions").split("\n\n")
    wanted = characters - sum(map(len, planted))
    pieces, begins = _library()
    lengths = [len(piece) + 1 for piece in pieces]
    if wanted < 1000:
        raise DataError(f"a listing has at least 1500 characters, not {characters}")
    first, count = _run_of(lengths, wanted, variant, begins)
    around = [*pieces, f"\n\n{pieces[0]}", *pieces[1:]]
    return _plant("\n".join(around[first : first + count]), planted)


def _plant(code: str, planted: Sequence[str]) -> str:
    """Return the listing `code` with the functions `planted` (source texts) inserted
    near their places in `LISTING_PLACES`. A planted function stands before or after
    another function and is indented like that function."""
    shown = code.split("\n")
    indents = {}
    for node in _functions(ast.parse(code)):
        indents[(node.end_lineno or 0) + 1] = node.col_offset
        indents[first_line(node)] = node.col_offset
    length = list(accumulate((len(line) + 1 for line in shown), initial=0))
    insertions = {}
    for function, place in zip(planted, LISTING_PLACES, strict=True):
        wanted = place * length[-1]
        start = min(indents, key=lambda line: abs(length[line - 1] - wanted))
        indent = " " * indents.pop(start)
        insertions[start] = textwrap.indent(f"{function}\n", indent).split("\n")
    # From the end, so that the line numbers above an insertion stay valid.
    for start in sorted(insertions, reverse=True):
        shown[start - 1 : start - 1] = insertions[start]
    return "\n".join(shown)


def chapter(characters: int, depth: float, variant: int = 0) -> str:
    """Return a chapter of prose of about `characters` characters, cut at a sentence,
    with the ciphertext of section 6.2 at its end.

    The clue is a paragraph of its own between two sentences, as near as possible to
    `depth`, a share of the whole (0 to 1). Each `variant` (0, 1, …) begins at another
    paragraph. Raises `DataError` if the kit's chapter is too short.
    """
    title, *rest = paragraphs("harbour_chapter")
    pieces = list[str]()
    begins = list[int]()
    for paragraph in rest:
        begins.append(len(pieces))
        pieces += re.split(r"(?<=[.!?] )(?=[A-Z])", f"{paragraph}\n\n")
    heading = f"{title}\n\n"
    clue = prompt_text("clue") + "\n\n"
    ciphertext = prompt_text("ciphertext")
    wanted = characters - len(heading + clue + ciphertext)
    lengths = list(map(len, pieces))
    first, count = _run_of(lengths, wanted, variant, begins)
    chosen = [*pieces, *pieces][first : first + count]
    sentences = "".join(chosen).rstrip()
    text = f"{heading}{sentences} {ciphertext}"
    places = accumulate(map(len, chosen[:-1]), initial=len(heading))
    begin = depth * (len(text) + len(clue))
    at = min(places, key=lambda place: abs(place - begin))
    before = text[:at].rstrip(" \n")
    return f"{before}\n\n{clue}{text[at:]}"


def article(characters: int, depth: float, variant: int = 0) -> str:
    """Return an article of about `characters` characters, which begins at another
    paragraph for each `variant` (0, 1, …).

    The planted sentences of section 6.3 follow the first sentence of the paragraph at
    `depth`, a share of all paragraphs (0 to 1). Raises `DataError` if the kit's text is
    too short.
    """
    title, *every = paragraphs("microbiology")
    lengths = [len(piece) + 2 for piece in every]
    wanted = characters - len(title)
    begin, count = _run_of(lengths, wanted, variant, range(len(every)))
    end = begin + max(2, count)
    pieces = [title, *[*every, *every][begin:end]]
    at = int(np.clip(depth * len(pieces), 1, len(pieces) - 1))
    first, separator, rest = pieces[at].partition(". ")
    unlock = prompt_text("unlock")
    pieces[at] = f"{first}{separator}{unlock} {rest}".rstrip()
    return "\n\n".join(pieces)
