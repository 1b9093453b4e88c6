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
    source = Path(click.core.__file__).read_text("utf-8")
    lines = source.splitlines(keepends=True)
    tree = ast.parse(source)
    tops = {0}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            tops.add(first_line(node) - 1)
    ends = [function.end_lineno or 0 for function in _functions(tree)]
    cuts = sorted({*tops, *ends, len(lines)})
    pieces = ["".join(lines[start:end]) for start, end in pairwise(cuts)]
    # A listing that passes the file's end goes on with its beginning.
    pieces[0] = f"\n\n{pieces[0]}"
    return pieces, [cuts.index(top) for top in sorted(tops)]


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    """Return all functions in `tree`, including methods and inner functions."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def paragraphs(name: str) -> list[str]:
    """Return the paragraphs of the kit's own text `name` (harbour_chapter or
    microbiology), title first, each with the blank line below it."""
    path = files(__package__) / "texts" / f"{name}.txt"
    text = path.read_text("utf-8").strip()
    return [f"{paragraph}\n\n" for paragraph in text.split("\n\n")]


def _run_of(
    pieces: Sequence[str], wanted: int, variant: int, begins: Sequence[int]
) -> list[str]:
    """Return neighbouring `pieces` of about `wanted` characters together. They begin at
    one of the indices `begins`, and after the last piece go on with the first.

    Variant 0 takes the begin whose run is closest to `wanted`, variant 1 the second
    closest, and so on, cyclically. The length is thus met as well as the pieces allow.
    Raises `DataError` if `wanted` exceeds all pieces together by more than 10 %.
    """
    twice = [*pieces, *pieces]
    around = np.cumsum([0, *map(len, twice)])
    most = around[len(pieces)]
    if wanted > 1.1 * most:
        raise DataError(
            f"the kit's own text has {most} characters, {wanted} are needed; use a shorter length"
        )
    runs = []
    for begin in begins:
        sizes = around[begin + 1 :][: len(pieces)] - around[begin]
        away = abs(sizes - wanted)
        end = begin + int(away.argmin()) + 1
        runs.append((away.min(), begin, end))
    runs.sort()
    _, begin, end = runs[variant % len(runs)]
    return twice[begin:end]


def listing(characters: int, variant: int = 0) -> str:
    """Return real library code of about `characters` characters, cut after a function,
    with the two inefficient functions of section 6.1 planted near their places
    (`LISTING_PLACES`). A planted function stands before or after another function and
    is indented like that function.

    Each `variant` (0, 1, …) begins at another top-level function or class of the
    library's source. Raises `DataError` for a length that the library cannot give.
    """
    if characters < 1500:
        raise DataError(f"a listing has at least 1500 characters, not {characters}")
    planted = prompt_text("inefficient_functions").split("\n\n")
    pieces, begins = _library()
    wanted = characters - sum(map(len, planted))
    code = "".join(_run_of(pieces, wanted, variant, begins)).lstrip("\n")
    shown = [*code.splitlines(keepends=True), ""]
    indents = {}
    for node in _functions(ast.parse(code)):
        indents[node.end_lineno or 0] = node.col_offset
        indents[first_line(node) - 1] = node.col_offset
    length = list(accumulate(map(len, shown), initial=0))
    for function, place in zip(planted, LISTING_PLACES, strict=True):
        begin = place * len(code)
        line = min(indents, key=lambda line: abs(length[line] - begin))
        indent = " " * indents.pop(line)
        shown[line] = textwrap.indent(f"{function}\n\n", indent) + shown[line]
    return "".join(shown).removesuffix("\n")


def chapter(characters: int, depth: float, variant: int = 0) -> str:
    """Return a chapter of prose of about `characters` characters, cut at a sentence,
    with the ciphertext of section 6.2 at its end.

    The clue is a paragraph of its own between two sentences, as near as possible to
    `depth`, a share of the whole (0 to 1). Each `variant` (0, 1, …) begins at another
    paragraph. Raises `DataError` if the kit's chapter is too short.
    """
    heading, *rest = paragraphs("harbour_chapter")
    pieces = list[str]()
    begins = list[int]()
    for paragraph in rest:
        begins.append(len(pieces))
        pieces += re.split(r"(?<=[.!?] )(?=[A-Z])", paragraph)
    clue = prompt_text("clue") + "\n\n"
    ciphertext = prompt_text("ciphertext")
    wanted = characters - len(heading + clue + ciphertext)
    chosen = _run_of(pieces, wanted, variant, begins)
    sentences = "".join(chosen).rstrip()
    text = f"{heading}{sentences} {ciphertext}"
    places = accumulate(map(len, chosen[:-1]), initial=len(heading))
    begin = depth * (len(text) + len(clue))
    at = min(places, key=lambda place: abs(place - begin))
    before = text[:at].rstrip()
    return f"{before}\n\n{clue}{text[at:]}"


def article(characters: int, depth: float, variant: int = 0) -> str:
    """Return an article of about `characters` characters, which begins at another
    paragraph for each `variant` (0, 1, …).

    The planted sentences of section 6.3 follow the first sentence of the paragraph at
    `depth`, a share of all paragraphs (0 to 1). Raises `DataError` if the kit's text is
    too short.
    """
    title, *every = paragraphs("microbiology")
    wanted = characters - len(title) + 2
    run = _run_of(every, wanted, variant, range(len(every)))
    pieces = [title, *run]
    at = int(np.clip(depth * len(pieces), 1, len(run)))
    first, separator, rest = pieces[at].partition(". ")
    pieces[at] = f"{first}{separator}{prompt_text('unlock')} {rest}"
    return "".join(pieces).rstrip()
