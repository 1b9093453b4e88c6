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
from codestress.papers.faultloc.faults.hidden import looks_at, movable, variables
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
    making = _Making(program, language, draw, strength, quarter, content, Lines.of(program.code))
    mutated = making.reordered() if spm == "functions" else program.edited(making.edits(spm))
    why = equivalence_error(program.code, mutated.code, spm, language) if prove else ""
    if why:
        raise NotNeutral(f"{spm}: {why}")
    return mutated


def quarter_of(line: int, lines: int) -> int:
    """The quarter (0 to 3) in which a line of so many stands."""
    return min(QUARTERS - 1, QUARTERS * (line - 1) // max(1, lines))


TAKEN = {
    "java": frozenset((*JAVA_WORDS, "java", "javax", "System", "Math", "String", "StringBuilder", "Object")),
    "python": frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins))),
}
"""Words of each language, and what it has built in or treats apart."""


@dataclass(frozen=True)
class _Making:
    """A mutation that is being made, as `mutate` is asked for it."""

    program: FaultyProgram
    language: Language
    draw: Draw
    strength: int
    quarter: int
    content: Content
    lines: Lines

    def edits(self, spm: str) -> list[Edit]:
        """Those of a mutation of the text; of a composition, which is applied from the right, all of its parts."""
        if spm == "blank_line":
            return [self.line_before(at, "") for at in self.places(_statements(self.program.code, self.language), 1)]
        edits: list[Edit] = []
        for part in reversed(spm.split("+")):
            if part == "names":
                edits += self.renamed(edits)
            else:
                edits += self.dead() if part == "dead_code" else self.commented()
        return edits

    def taken(self, items: Sequence[T], count: int, what: str) -> list[T]:
        """So many different ones, drawn."""
        if len(items) < count:
            raise NotNeutral(f"only {len(items)} {what} for {count}")
        left = list(items)
        return [left.pop(self.draw.integer(0, len(left) - 1)) for _ in range(count)]

    def places(self, lines: Sequence[int], count: int, what: str = "places") -> list[int]:
        """So many lines of the quarter, drawn; where it has fewer, the nearest ones beside it."""
        of = self.program.lines
        middle = (self.quarter + 0.5) * of / QUARTERS
        ranked = sorted(lines, key=lambda line: (quarter_of(line, of) != self.quarter, abs(line - middle)))
        inside = [line for line in ranked if quarter_of(line, of) == self.quarter]
        return self.taken(inside if len(inside) >= count else ranked[:count], count, what)

    def line_before(self, line: int, text: str) -> Edit:
        """Lines of their own before a line, indented as it is."""
        indent = self.lines.indent(line) if text else ""
        block = "".join(f"{indent}{one}\n" for one in text.split("\n"))
        return Edit(self.lines.starts[line - 1], self.lines.starts[line - 1], block)

    def dead(self) -> list[Edit]:
        chosen = self.taken(self.content.dead_code, self.strength, "pieces of content")
        for snippet in chosen:
            check_snippet(snippet, self.program.code, self.language)
        places = self.places(_statements(self.program.code, self.language), self.strength)
        return [self.line_before(line, text) for line, text in zip(places, chosen, strict=True)]

    def commented(self) -> list[Edit]:
        """Comments in the place of others or, as many as still lack, put in. The faulty line keeps its own, and no
        comment accuses it or what stands around it."""
        accusing, faulty = self.content.said == "accuses elsewhere", self.program.line
        given = (text for text in self.content.comments if usable(text, self.language, accusing=accusing))
        texts = self.taken([" ".join(text.split()) for text in given], self.strength, "pieces of content")
        old: dict[int, Place] = {}
        if self.content.put == "replace":
            for place in comments_in(self.program.code, self.language):
                if not place.first <= faulty <= place.last and not (accusing and place.near(faulty)):
                    old[place.first] = place
        count = min(self.strength, len(old))
        replaced = [old[at] for at in self.places(list(old), count, "comments")]
        edits = [Edit(one.start, one.end, one.form.format(text)) for one, text in zip(replaced, texts, strict=False)]
        statements = _statements(self.program.code, self.language)
        far = [line for line in statements if not accusing or abs(line - faulty) > NEAR]
        sign = "#" if self.language == "python" else "//"
        put = zip(self.places(far, self.strength - count), texts[count:], strict=True)
        return edits + [self.line_before(at, f"{sign} {text}") for at, text in put]

    def renamed(self, edits: Sequence[Edit]) -> list[Edit]:
        """Variables that appear first in the quarter, else others too, with names that neither program nor edits
        have."""
        found = variables(self.program.code, self.language)
        taken = words_of(self.program.code).union(TAKEN[self.language], *(words_of(edit.text) for edit in edits))
        names = (one for one in self.content.names if one.isidentifier() and one.isascii() and one[:2] != "__")
        fresh = [name for name in names if name not in taken]
        first = {name: self.lines.line_of(spans[0][0]) for name, spans in found.items()}
        inside = [name for name in found if quarter_of(first[name], self.program.lines) == self.quarter]
        if len(inside) < self.strength:
            inside = [*inside, *(name for name in found if name not in inside)][: self.strength]
        chosen = self.taken(inside, self.strength, "variables")
        new = self.taken(fresh, self.strength, "pieces of content")
        return [Edit(*span, name) for old, name in zip(chosen, new, strict=True) for span in found[old]]

    def reordered(self) -> FaultyProgram:
        """Methods of one class (in Java, or in Python where their order cannot matter) in another order: `strength`
        exchanges of neighbours in a list that begins in the quarter."""
        groups = movable(self.program.code, self.language)
        inside = [group for group in groups if quarter_of(group[0][0], self.program.lines) == self.quarter]
        group = self.draw.choice(inside or groups)
        order = list(range(len(group)))
        for _ in range(self.strength):
            at = self.draw.integer(0, len(order) - 2)
            order[at], order[at + 1] = order[at + 1], order[at]
        if order == sorted(order):
            order = order[1:] + order[:1]
        lines = list(enumerate(self.program.code.split("\n"), start=1))
        new: list[tuple[int, str]] = []
        done = 0
        for (first, last), taken in zip(group, order, strict=True):
            start, end = group[taken]
            new += lines[done : first - 1] + lines[start - 1 : end]
            done = last
        numbers, texts = zip(*new, *lines[done:], strict=True)
        return FaultyProgram("\n".join(texts), numbers.index(self.program.line) + 1)


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
