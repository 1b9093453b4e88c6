"""Semantic-preserving mutations of a faulty program (Table I): comments, names, dead code, the order of functions.

Made on the text, so that layout and the other lines stay as they are, and the faulty line's number follows each edit.
Each mutation is proved as far as the language allows: `equivalence_error` says what is wrong, and `mutate` refuses it.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal, TypeVar

import yaml

from codestress.generation.edits import Edit, Lines, edited, first_line
from codestress.generation.scopes import FunctionNode
from codestress.papers.faultloc.faults.comments import NEAR, Place, comments_in, usable
from codestress.papers.faultloc.faults.dead import check_snippet
from codestress.papers.faultloc.faults.itself import looks_at
from codestress.papers.faultloc.faults.names import variables
from codestress.papers.faultloc.faults.order import movable
from codestress.papers.faultloc.faults.proof import equivalence_error
from codestress.papers.faultloc.faults.trees import (
    JAVA_METHODS,
    JAVA_WORDS,
    NotNeutral,
    around,
    blocks,
    java_root,
    tree_of,
    words_of,
)
from codestress.problems.generated.drawing import Draw
from codestress.sandbox.runtimes import nodes
from codestress.types import Language

Spm = Literal["comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code"]
SPMS: tuple[Spm, ...] = ("comments", "names", "dead_code", "functions", "comments+names", "comments+names+dead_code")
"""The four mutations and the two compositions, which are applied from the right: dead code, then names, comments."""
Control = Literal["unchanged", "blank_line"]
CONTROLS: tuple[Control, ...] = ("unchanged", "blank_line")
"""What does nothing, asked again like the mutations: what is lost under it is noise, which the paper counts in."""
QUARTERS = 4
T = TypeVar("T")


Said = Literal["describes", "accuses elsewhere"]
"""What misleading comments say: what the program does not do, or that code far from the fault is at fault."""
Put = Literal["replace", "insert"]
"""Whether they take the place of comments, as far as there are any, or are put in beside them."""


@dataclass(frozen=True)
class Content:
    """What mutations put in: from the kit's bank, or written by the model under test; and what becomes of comments."""

    comments: tuple[str, ...]
    """One line each, without comment signs."""
    names: tuple[str, ...]
    dead_code: tuple[str, ...]
    """Statements without effect, to be indented."""
    said: Said = "describes"
    put: Put = "replace"


@dataclass(frozen=True)
class FaultyProgram:
    """A program and its faulty line, from 1 on."""

    code: str
    line: int

    @property
    def lines(self) -> int:
        return self.code.count("\n") + 1

    @property
    def quarter(self) -> int:
        """Of the faulty line, 0 to 3."""
        return quarter_of(self.line, self.lines)

    def edited(self, edits: Sequence[Edit]) -> FaultyProgram:
        """With edits that keep the faulty line in one piece, of two at one place the later one first; the label
        follows its line."""
        start = Lines.of(self.code).starts[self.line - 1]
        above = [edit for edit in edits if edit.start <= start]
        moved = sum(edit.text.count("\n") - self.code.count("\n", edit.start, edit.end) for edit in above)
        return FaultyProgram(edited(self.code, reversed(edits)), self.line + moved)


@cache
def bank(language: Language, said: Said = "describes", put: Put = "replace") -> Content:
    """The kit's own content."""
    content: dict[str, Any] = yaml.safe_load((files(__package__) / "bank.yaml").read_text(encoding="utf-8"))
    names = [_camel(name) for name in content["names"]] if language == "java" else content["names"]
    comments = content["comments"][said]
    return Content(tuple(comments), tuple(names), tuple(content[f"dead_code_{language}"]), said, put)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)


def mutate(
    program: FaultyProgram,
    spm: Spm | Control,
    language: Language,
    draw: Draw,
    *,
    strength: int,
    quarter: int,
    content: Content,
    prove: bool = True,
) -> FaultyProgram:
    """The program with `strength` applications of a mutation in a quarter (0 to 3) of its lines.

    `NotNeutral` where there are fewer places than that, or where the result is not proved to mean the same. Without
    `prove` it is only made: for who proves it later.
    """
    if spm == "unchanged":
        return program
    if program.line > program.lines:
        raise NotNeutral("the label is no line of the program")
    if spm != "names" and (seen := looks_at("lines", program.code, language)):
        raise NotNeutral(f"the program sees the numbers of its lines ({seen})")
    if spm == "functions":
        mutated = _reordered(program, language, draw, strength, quarter)
    elif spm == "blank_line":
        [line] = _taken(_nearest(_statements(program.code, language), program, quarter, 1), 1, draw, "places")
        start = Lines.of(program.code).starts[line - 1]
        mutated = program.edited([Edit(start, start, "\n")])
    else:
        edits: list[Edit] = []
        for part in reversed(spm.split("+")):
            if part == "names":
                edits += _renamed(program, language, draw, strength, quarter, content.names, edits)
            elif part == "dead_code":
                edits += _dead(program, language, draw, strength, quarter, content.dead_code)
            else:
                edits += _commented(program, language, draw, strength, quarter, content)
        mutated = program.edited(edits)
    why = equivalence_error(program.code, mutated.code, spm, language) if prove else ""
    if why:
        raise NotNeutral(f"{spm}: {why}")
    return mutated


def quarter_of(line: int, lines: int) -> int:
    """The quarter (0 to 3) in which a line of so many stands."""
    return min(QUARTERS - 1, QUARTERS * (line - 1) // max(1, lines))


def _taken(items: Sequence[T], count: int, draw: Draw, what: str) -> list[T]:
    """So many different ones, drawn."""
    if len(items) < count:
        raise NotNeutral(f"only {len(items)} {what} for {count}")
    left = list(items)
    return [left.pop(draw.integer(0, len(left) - 1)) for _ in range(count)]


# --- comments and dead code -----------------------------------------------------------------------------------------


def _dead(
    program: FaultyProgram, language: Language, draw: Draw, strength: int, quarter: int, snippets: Sequence[str]
) -> list[Edit]:
    """Snippets at different places of a quarter; where it has fewer, at the nearest ones beside it."""
    chosen = _taken(list(snippets), strength, draw, "pieces of content")
    for snippet in chosen:
        check_snippet(snippet, program.code, language)
    lines = Lines.of(program.code)
    places = _taken(_nearest(_statements(program.code, language), program, quarter, strength), strength, draw, "places")
    return [_line_before(line, text, lines) for line, text in zip(places, chosen, strict=True)]


def _commented(
    program: FaultyProgram, language: Language, draw: Draw, strength: int, quarter: int, content: Content
) -> list[Edit]:
    """Comments in the place of those of a quarter or, where it has fewer, of the nearest ones; as many as still lack
    are put in. The faulty line keeps its own, and no comment accuses it or what stands around it."""
    accusing = content.said == "accuses elsewhere"
    texts = [" ".join(text.split()) for text in content.comments if usable(text, language, accusing=accusing)]
    texts = _taken(texts, strength, draw, "pieces of content")
    lines = Lines.of(program.code)
    old: dict[int, Place] = {}
    if content.put == "replace":
        for place in comments_in(program.code, language):
            if not place.first <= program.line <= place.last and not (accusing and place.near(program.line)):
                old[place.first] = place
    count = min(strength, len(old))
    replaced = _taken(_nearest(list(old), program, quarter, count), count, draw, "comments")
    edits = [
        Edit(old[at].start, old[at].end, old[at].form.format(text)) for at, text in zip(replaced, texts, strict=False)
    ]
    places = [line for line in _statements(program.code, language) if not accusing or abs(line - program.line) > NEAR]
    left = strength - count
    put = _taken(_nearest(places, program, quarter, left), left, draw, "places")
    sign = "#" if language == "python" else "//"
    return edits + [_line_before(at, f"{sign} {text}", lines) for at, text in zip(put, texts[count:], strict=True)]


def _nearest(places: Sequence[int], program: FaultyProgram, quarter: int, count: int) -> list[int]:
    """The lines of a quarter; where they are fewer, as many of the nearest ones as are asked for."""
    lines = program.lines
    middle = (quarter + 0.5) * lines / QUARTERS
    ranked = sorted(places, key=lambda line: (quarter_of(line, lines) != quarter, abs(line - middle)))
    inside = [line for line in ranked if quarter_of(line, lines) == quarter]
    return inside if len(inside) >= count else ranked[:count]


def _line_before(line: int, text: str, lines: Lines) -> Edit:
    """Lines of their own before a line, indented as it is."""
    block = "".join(f"{lines.indent(line)}{one}\n" for one in text.split("\n"))
    return Edit(lines.starts[line - 1], lines.starts[line - 1], block)


def _statements(code: str, language: Language) -> list[int]:
    """Lines before which a statement may stand inside a function, in the order of the text."""
    return (_python_places if language == "python" else _java_places)(code)


NO_PLACE = ("global ", "nonlocal ", "elif ", "elif(")


@lru_cache(maxsize=512)
def _python_places(code: str) -> list[int]:
    lines = Lines.of(code)
    found: set[int] = set()
    for function in ast.walk(tree_of(code)):
        if not isinstance(function, FunctionNode):
            continue
        docstring = ast.get_docstring(function, clean=False) is not None
        for _, block in blocks(function):
            for statement in block[1:] if docstring and block is function.body else block:
                first = first_line(statement)
                indent = lines.indent(first)
                own = lines.text[lines.starts[first - 1] + len(indent) : lines.end(first)]
                alone = first < statement.lineno or statement.col_offset == len(indent.encode())
                if alone and not lines.continued(first) and not own.startswith(NO_PLACE):
                    found.add(first)
    return sorted(found)


@lru_cache(maxsize=512)
def _java_places(code: str) -> list[int]:
    """As `_python_places`, before statements that begin a line."""
    lines = Lines.of(code)
    found: set[int] = set()
    for node in nodes(java_root(code)):
        if node.type not in ("block", "constructor_body") or all(one.type not in JAVA_METHODS for one in around(node)):
            continue
        last_row = node.start_point[0]
        for child in node.named_children:
            row, column = child.start_point
            fixed = child.type == "explicit_constructor_invocation" or "comment" in child.type
            if row > last_row and not fixed and len(lines.indent(row + 1).encode()) == column:
                found.add(row + 1)
            last_row = child.end_point[0]
    return sorted(found)


# --- names ----------------------------------------------------------------------------------------------------------


def _renamed(
    program: FaultyProgram,
    language: Language,
    draw: Draw,
    strength: int,
    quarter: int,
    names: Sequence[str],
    edits: Sequence[Edit],
) -> list[Edit]:
    """Variables that appear first in a quarter, else others too, with names that neither program nor edits have."""
    found = variables(program.code, language)
    used = words_of(program.code).union(*(words_of(edit.text) for edit in edits))
    fresh = [name for name in names if name not in used and _can_be_name(name, language)]
    lines = Lines.of(program.code)
    first = {name: quarter_of(lines.line_of(spans[0][0]), program.lines) for name, spans in found.items()}
    inside = [name for name in found if first[name] == quarter]
    pool = inside if len(inside) >= strength else [*inside, *(name for name in found if name not in inside)][:strength]
    chosen = _taken(pool, strength, draw, "variables")
    return [
        Edit(*span, new)
        for old, new in zip(chosen, _taken(fresh, strength, draw, "pieces of content"), strict=True)
        for span in found[old]
    ]


TAKEN = {
    "java": frozenset((*JAVA_WORDS, "java", "javax", "System", "Math", "String", "StringBuilder", "Object")),
    "python": frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins))),
}
"""Words of each language, and what it has built in or treats apart."""


def _can_be_name(name: str, language: Language) -> bool:
    """Whether a variable may have this name."""
    return name.isidentifier() and name.isascii() and not name.startswith("__") and name not in TAKEN[language]


# --- functions ------------------------------------------------------------------------------------------------------


def _reordered(program: FaultyProgram, language: Language, draw: Draw, strength: int, quarter: int) -> FaultyProgram:
    """Methods of one class (in Java, or in Python where their order cannot matter) in another order: `strength`
    exchanges of neighbours in a list that begins in the quarter."""
    groups = movable(program.code, language)
    inside = [group for group in groups if quarter_of(group[0][0], program.lines) == quarter]
    group = draw.choice(inside or groups)
    order = list(range(len(group)))
    for _ in range(strength):
        at = draw.integer(0, len(order) - 2)
        order[at], order[at + 1] = order[at + 1], order[at]
    if order == sorted(order):
        order = order[1:] + order[:1]
    lines = list(enumerate(program.code.split("\n"), start=1))
    new: list[tuple[int, str]] = []
    done = 0
    for (first, last), taken in zip(group, order, strict=True):
        start, end = group[taken]
        new += lines[done : first - 1] + lines[start - 1 : end]
        done = last
    numbers, texts = zip(*new, *lines[done:], strict=True)
    return FaultyProgram("\n".join(texts), numbers.index(program.line) + 1)
