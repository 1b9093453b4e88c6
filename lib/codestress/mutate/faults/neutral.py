"""Semantic-preserving mutations of a faulty program: comments, names, dead code, the
order of methods (Fault Localizability, Table I).

Mutations edit the text. So layout and other lines stay unchanged, and the number of the
faulty line follows each edit. Each mutation is proved neutral as far as the language
allows: if `equivalence_error` gives a reason against a mutation, `mutate` rejects the
mutation for that reason.
"""

from __future__ import annotations

import builtins
import keyword
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from codestress.types import Language
from codestress.validation import read_yaml

from ..draw import Draw
from ..edits import Edit, Lines, edited
from .comments import NEAR, Place, comments_in, usable
from .kinds import CONTROLS, SPMS, Control, Spm
from .places import movable, statement_lines, variables
from .proof import check_snippet, equivalence_error
from .trees import (
    JAVA_WORDS,
    NotNeutral,
    refuse_seen,
    words_of,
)

QUARTERS = 4
T = TypeVar("T")


Said = Literal["describes", "accuses elsewhere"]
"""Content of misleading comments: a description of something that the program does not
do, or a claim that code far from the fault is wrong."""
Put = Literal["replace", "insert"]
"""Placement of misleading comments: in place of existing comments as far as there are
any, or all on new lines, with existing comments kept."""


@dataclass(frozen=True)
class Content:
    """Comments, names and dead code from which mutations draw, written by the kit
    (`bank`) or by the model under test."""

    comments: tuple[str, ...]
    """Comments of one line each, without comment signs."""
    names: tuple[str, ...]
    dead_code: tuple[str, ...]
    """Statements without effect, not yet indented."""
    said: Said = "describes"
    put: Put = "replace"


@dataclass(frozen=True)
class FaultyProgram:
    """Program with the number of its faulty line (the label), from 1."""

    code: str
    line: int

    @property
    def lines(self) -> int:
        return self.code.count("\n") + 1

    @property
    def quarter(self) -> int:
        """Quarter of the program in which the faulty line stands, 0 to 3."""
        return quarter_of(self.line, self.lines)

    def edited(self, edits: Sequence[Edit]) -> FaultyProgram:
        """Return the program after the replacements `edits`, with the new number of the
        faulty line.

        No edit may split the faulty line. If two edits insert at the same index, the
        text of the later one stands first.
        """
        start, line = Lines(self.code).starts[self.line - 1], self.line
        for edit in edits:
            if edit.start <= start:
                line += edit.text.count("\n")
                line -= self.code.count("\n", edit.start, edit.end)
        return FaultyProgram(edited(self.code, reversed(edits)), line)


@cache
def bank(language: Language, said: Said = "describes", put: Put = "replace") -> Content:
    """Return the kit's own comments, names and dead code for `language` (from
    bank.yaml).

    `said` chooses comments that describe something else (`describes`) or accuse other
    lines (`accuses elsewhere`). `put` says whether the comments `replace` existing
    ones, or are an `insert` of new lines that keeps existing comments.
    """
    content = read_yaml(Path(__file__).with_name("bank.yaml"))
    names = content["names"]
    if language == "java":
        names = [re.sub("_(.)", lambda part: part[1].upper(), name) for name in names]
    comments, dead_code = content["comments"][said], content[f"dead_code_{language}"]
    return Content(tuple(comments), tuple(names), tuple(dead_code), said, put)


def mutate(
    program: FaultyProgram,
    spm: Spm | Control,
    language: Language,
    draw: Draw,
    *,
    strength: int,
    quarter: int,
    content: Content,
) -> FaultyProgram:
    """Return a faulty program after the mutation `spm`, with the new number of the
    faulty line.

    `spm` is a semantic-preserving mutation of `SPMS` or a control of `CONTROLS`. The
    mutation is applied `strength` times in the quarter `quarter` (0 to 3) of the
    program's lines, and in other quarters if this one has too few places. `content`,
    such as `bank(language)`, has the comments, names and dead code to draw from.

    Raises `ValueError` for an unknown `spm`. Raises `NotNeutral` if the program has too
    few places, or if the result is not proved to mean the same.
    """
    if spm not in (*SPMS, *CONTROLS):
        raise ValueError(
            f"no mutation {spm!r}; valid names: {', '.join((*SPMS, *CONTROLS))}"
        )
    if spm == "unchanged":
        return program
    if program.line > program.lines:
        raise NotNeutral("the label is no line of the program")
    if spm != "names":
        refuse_seen("lines", program.code, language)
    change = _Change(
        program, language, draw, strength, quarter, content, Lines(program.code)
    )
    mutated = (
        change.reordered() if spm == "functions" else program.edited(change.edits(spm))
    )
    if why := equivalence_error(program.code, mutated.code, spm, language):
        raise NotNeutral(f"{spm}: {why}")
    return mutated


def quarter_of(line: int, lines: int) -> int:
    """Return the quarter (0 to 3) in which `line` (from 1) stands, in a program of
    `lines` lines."""
    return min(QUARTERS - 1, QUARTERS * (line - 1) // max(1, lines))


TAKEN = {
    "java": JAVA_WORDS,
    "python": frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins))),
}
"""Dict from a language to the names that no variable may be renamed to: keywords and
names of built-ins."""


@dataclass(frozen=True)
class _Change:
    """Arguments of one call of `mutate`, with the program's lines; the methods make the
    edits."""

    program: FaultyProgram
    language: Language
    draw: Draw
    strength: int
    quarter: int
    content: Content
    lines: Lines

    def edits(self, spm: str) -> list[Edit]:
        """Return the edits of the mutation `spm`, which is `blank_line` or any mutation
        but `functions`.

        A composition is applied from the right; the list has the edits of all its
        parts.
        """
        edits: list[Edit] = []
        for part in reversed(spm.split("+")):
            match part:
                case "names":
                    edits += self.renamed(edits)
                case "dead_code":
                    edits += self.dead()
                case "comments":
                    edits += self.commented()
                case _:
                    [line] = self.places(self.statements(), 1)
                    edits.append(self.line_before(line, ""))
        return edits

    def statements(self) -> list[int]:
        return statement_lines(self.program.code, self.language)

    def in_quarter(self, line: int) -> bool:
        return quarter_of(line, self.program.lines) == self.quarter

    def drawn(self, items: Sequence[T], count: int, what: str) -> list[T]:
        """Return `count` different items of `items`, drawn at random.

        Raises `NotNeutral` if there are fewer items; `what` names the items in the
        message.
        """
        if len(items) < count:
            raise NotNeutral(f"only {len(items)} {what}, {count} needed")
        return self.draw.sample(items, count)

    def places(self, lines: Sequence[int], count: int) -> list[int]:
        """Return `count` of the line numbers `lines`, drawn at random from those in the
        quarter.

        If the quarter has too few, the lines nearest to its middle are added. Raises
        `NotNeutral` if `lines` has fewer than `count` numbers.
        """
        middle = (self.quarter + 0.5) * self.program.lines / QUARTERS
        near = sorted(lines, key=lambda line: abs(line - middle))
        return self.nearest({line: line for line in near}, count, "places")

    def nearest(self, lines: Mapping[T, int], count: int, what: str) -> list[T]:
        """Return `count` of the keys of `lines`, drawn at random from those whose line
        is in the quarter.

        If the quarter has too few, the first keys from other quarters are added.
        `lines` is a dict from an item to its line; `what` names the items in messages.
        Raises `NotNeutral` if `lines` has fewer than `count` keys.
        """
        near = sorted(lines, key=lambda item: not self.in_quarter(lines[item]))
        inside = sum(map(self.in_quarter, lines.values()))
        return self.drawn(near[: max(count, inside)], count, what)

    def line_before(self, line: int, text: str) -> Edit:
        """Return the edit that inserts `text` in new lines before `line`, with the
        indentation of `line`.

        If `text` is empty, the edit inserts one empty line.
        """
        start = self.lines.starts[line - 1]
        indented = textwrap.indent(text, self.lines.indent(line))
        return Edit(start, start, f"{indented}\n".replace("\n", self.lines.feed))

    def dead(self) -> list[Edit]:
        chosen = self.drawn(self.content.dead_code, self.strength, "snippets")
        for snippet in chosen:
            check_snippet(snippet, self.program.code, self.language)
        places = self.places(self.statements(), self.strength)
        return list(map(self.line_before, places, chosen))

    def commented(self) -> list[Edit]:
        """Return the edits that put `strength` misleading comments into the program.

        With `put` = `replace`, the comments replace existing ones as far as there are
        any; the rest is inserted. Comments on the faulty line are not replaced. No
        comment that accuses stands at the faulty line or within `NEAR` lines of it.
        """
        accusing, faulty = self.content.said == "accuses elsewhere", self.program.line
        comments = []
        for text in self.content.comments:
            if usable(text, self.language, accusing=accusing):
                comments.append(" ".join(text.split()))
        texts = self.drawn(comments, self.strength, "usable comments")
        above, below = (NEAR, NEAR + 1) if accusing else (0, 0)
        old: dict[int, Place] = {}
        if self.content.put == "replace":
            for place in comments_in(self.program.code, self.language):
                if not place.first - above <= faulty <= place.last + below:
                    old[place.first] = place
        count = min(self.strength, len(old))
        replaced = [old[line] for line in self.places([*old], count)]
        far = self.statements()
        if accusing:
            far = [line for line in far if abs(line - faulty) > NEAR]
        inserted = self.places(far, self.strength - count)
        edits = []
        for place, text in zip(replaced, texts, strict=False):
            edits.append(Edit(place.start, place.end, place.form.format(text)))
        sign = "#" if self.language == "python" else "//"
        for line, text in zip(inserted, texts[count:], strict=True):
            edits.append(self.line_before(line, f"{sign} {text}"))
        return edits

    def renamed(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return the edits that rename `strength` variables.

        They are variables that first appear in the quarter, and further ones if the
        quarter has too few. New names occur neither in the program nor in the texts of
        `edits`. Raises `NotNeutral` if there are too few variables or too few new
        names.
        """
        spans = variables(self.program.code, self.language)
        text = "\n".join([self.program.code, *(edit.text for edit in edits)])
        taken = words_of(text) | TAKEN[self.language]
        usable_name = re.compile(r"(?!__)[A-Za-z_]\w*", re.ASCII)
        names = filter(usable_name.fullmatch, self.content.names)
        fresh = [name for name in names if name not in taken]
        firsts = {name: self.lines.line_of(spans[name][0][0]) for name in spans}
        chosen = self.nearest(firsts, self.strength, "variables")
        new = self.drawn(fresh, self.strength, "new names")
        changes = list[Edit]()
        for old, name in zip(chosen, new, strict=True):
            changes += [Edit(*span, name) for span in spans[old]]
        return changes

    def reordered(self) -> FaultyProgram:
        """Return the program after `strength` exchanges of neighbouring methods in one
        class, with the new number of the faulty line.

        The class is one whose first movable method begins in the quarter, if there is
        one. Raises `NotNeutral` if no class has methods that may change places.
        """
        groups = movable(self.program.code, self.language)
        inside = [group for group in groups if self.in_quarter(group[0][0])]
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
        for (first, last), index in zip(group, order, strict=True):
            start, end = group[index]
            new += lines[done : first - 1] + lines[start - 1 : end]
            done = last
        numbers, texts = zip(*new, *lines[done:], strict=True)
        return FaultyProgram("\n".join(texts), numbers.index(self.program.line) + 1)
