"""One fault in a program: an edit of its text, with its kind and line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from ..edits import Edit, Lines, edited
from .trees import RULES

Kind = Literal["OffByOne", "MisplacedReturn", "IncorrectBooleanLogic", "OperatorSwap"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SIGNS: dict[Kind, list[str]] = RULES["signs"]
"""Operators that a fault exchanges for one another, by the kind of fault."""


@dataclass(frozen=True)
class FaultSite(Edit):
    """Edit of a correct program that makes one fault of the kind `kind`."""

    kind: Kind
    line: int
    """Number of the faulty line in the resulting program, from 1."""
    before: str = ""
    """Text that the edit replaces; empty for an insertion."""

    def apply(self, code: str) -> str:
        return edited(code, [self])

    def undo(self, code: str) -> str:
        """Returns the correct program from `code`, the text that `apply` returned."""
        return edited(
            code, [Edit(self.start, self.start + len(self.text), self.before)]
        )


def replaced(
    kind: Kind, lines: Lines, start: int, end: int, texts: Iterable[str]
) -> Iterator[FaultSite]:
    """Yields the faults that put each of `texts` for the characters from `start` to `end`."""
    for text in texts:
        yield FaultSite(
            start, end, text, kind, lines.line_of(start), lines.text[start:end]
        )


def swapped(kind: Kind, lines: Lines, start: int, sign: str) -> Iterator[FaultSite]:
    """Yields the faults of a kind that replace the operator `sign` at the index `start`, or that of
    an assignment such as `+=`; none where the kind has no such operator (`SIGNS`)."""
    if kind == "OperatorSwap":
        sign = sign.removesuffix("=")
    for row in SIGNS[kind]:
        others = row.split()
        if sign in others:
            others.remove(sign)
            yield from replaced(kind, lines, start, start + len(sign), others)


def return_behind(lines: Lines, line: int, like: int, statement: str) -> FaultSite:
    """Returns the fault that inserts the return `statement` in a new line behind the line `line`,
    indented like the line `like` (numbers from 1)."""
    end = lines.end(line)
    text = f"{lines.feed}{lines.indent(like)}{statement}"
    return FaultSite(end, end, text, "MisplacedReturn", line + 1)
