"""What perturbations make of a problem, and the places that they touch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from codestress.problems.program import Problem

Guard = Literal["refuse", "tag"]
"""What is done about doubts: the variant is refused, or made and counted as doubtful."""


@dataclass(frozen=True)
class Site:
    """A place that a perturbation touched."""

    line: int
    """Of the program as it was given, from 1 on."""
    kind: str
    text: str
    """What was put there, or `OLD → NEW`."""
    truth: bool | None = None
    """Of messages: whether it is true of the problem's call; None where that is not decided."""


@dataclass(frozen=True)
class Place:
    """Where a perturbation may put something."""

    line: int
    named: Sequence[str]
    """Parameters of the function around it."""
    put: Callable[[str], None]
    text: str = ""
    """What stands there, where that is replaced."""
    templates: Sequence[str] = ()
    """What may be made of it."""
    doubt: str = ""
    """Why nothing should be put here."""


@dataclass(frozen=True)
class MessageSite:
    """A place where a message may stand; lines count from 1 on, indents in spaces."""

    kind: str
    """A key of messages.yaml: function, return, …, or a method."""
    line: int
    """The line at whose end a comment stands; for loops, the first one inside, before which it stands."""
    print_line: int
    """The line before which a print statement stands."""
    print_indent: int
    ordinal: int = -1
    """Of returns, in the order of the text."""


@dataclass(frozen=True)
class Perturbed:
    """A problem after a perturbation. No sites: there was nothing to change."""

    problem: Problem
    sites: tuple[Site, ...] = ()
    doubts: tuple[str, ...] = ()
    """Why it may not mean the same everywhere; of a guarded perturbation, what was left out for that."""


class NotPerturbed(ValueError):
    """The perturbation cannot be made on this program; the message says why."""


class Refused(ValueError):
    """The program's text does not show that the perturbation keeps its meaning; the message says why."""


def said(why: str, found: Iterable[str]) -> str:
    """A doubt with the first of the names that raise it; empty where there is none."""
    return f"{why}: {first}" if (first := min(found, default="")) else ""


def numbered(prefix: str, names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """For each name PREFIX1, PREFIX2, …, without those that are taken."""
    free = (name for number in itertools.count(1) if (name := f"{prefix}{number}") not in taken)
    return dict(zip(names, free, strict=False))


def unused(name: str, used: set[str]) -> str:
    """The name, with as many lines behind it as it takes to be new; it is used from then on."""
    while name in used:
        name += "_"
    used.add(name)
    return name
