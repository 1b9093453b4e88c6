"""One fault in a program, as an edit of the program's text with the fault's kind and
line."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..edits import Edit, Lines, edited
from .kinds import Kind
from .trees import RULES

SIGNS: dict[Kind, list[str]] = RULES["signs"]
"""Dict from a kind of fault to rows of operators; a fault replaces an operator with
another one of its row."""


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
        """Return the correct program from `code`, the text that `apply` returned."""
        return edited(
            code, [Edit(self.start, self.start + len(self.text), self.before)]
        )


def replaced(
    kind: Kind, lines: Lines, start: int, end: int, texts: Iterable[str]
) -> Iterator[FaultSite]:
    """Yield, for each of `texts`, the fault that replaces the characters from index
    `start` to before `end` with that text."""
    for text in texts:
        yield FaultSite(
            start, end, text, kind, lines.line_of(start), lines.text[start:end]
        )


def swapped(kind: Kind, lines: Lines, start: int, sign: str) -> Iterator[FaultSite]:
    """Yield the faults of the kind `kind` that replace the operator `sign` at the index
    `start` with another operator.

    For OperatorSwap, `sign` may also be an assignment such as `+=`, whose `+` is
    replaced. Yield nothing if the kind's rows of `SIGNS` lack the operator.
    """
    if kind == "OperatorSwap":
        sign = sign.removesuffix("=")
    for row in SIGNS[kind]:
        others = row.split()
        if sign in others:
            others.remove(sign)
            yield from replaced(kind, lines, start, start + len(sign), others)


def return_behind(lines: Lines, line: int, like: int, statement: str) -> FaultSite:
    """Return the fault that inserts the statement `statement`, a return, in a new line
    after `line`.

    The new line has the indentation of the line `like`. Lines count from 1.
    """
    end = lines.end(line)
    text = f"{lines.feed}{lines.indent(like)}{statement}"
    return FaultSite(end, end, text, "MisplacedReturn", line + 1)
