"""A corpus of programs that once got a variant which computes something else, or that are made like those.

Each has the input that is asked about, inputs that validation need not see, and what makes it hard:
in the files, a line `=== what makes it hard | asked ; another input ; ...` stands above each program.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Hostile:
    """A program whose function is f."""

    why: str
    code: str
    asked: str
    others: tuple[str, ...]


def corpus(name: str) -> list[Hostile]:
    """Return the programs of NAME.txt."""
    text = Path(__file__).with_name(f"{name}.txt").read_text("utf-8")
    programs = []
    for part in f"\n{text}".split("\n=== ")[1:]:
        head, _, code = part.partition("\n")
        why, _, inputs = head.partition(" | ")
        asked, *others = inputs.split(" ; ")
        programs.append(Hostile(why, code.rstrip("\n"), asked, tuple(others)))
    return programs


PYTHON = corpus("hostile_python")
JAVASCRIPT = corpus("hostile_javascript")
