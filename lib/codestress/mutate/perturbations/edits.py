"""Types that all perturbations share: the perturbed problem, and the places in a
program that a perturbation may change or has changed."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from codestress.problems.program import Problem
from codestress.validation import read_yaml

GlobalNames = Literal["parameters", "both"]
"""Names that GBC (garbage code) may declare as globals: those of parameters, or of
parameters and local variables."""
Guard = Literal["refuse", "tag"]
"""Treatment of a program that the rules of guards.yaml refuse: make no variant
(`refuse`), or make a variant that counts as doubtful (`tag`)."""


@dataclass(frozen=True)
class Site:
    """One change that a perturbation made in a program, with its line, kind and text."""

    line: int
    """Line, from 1, in the program before the perturbation."""
    kind: str
    text: str
    """Inserted text, or `OLD → NEW` for a replacement."""
    truth: bool | None = None
    """Whether the inserted message is true of the problem's call.

    None if a run does not decide that, and for changes that are not messages.
    """


@dataclass(frozen=True)
class Place:
    """Place at which a perturbation may insert or replace code.

    A call of `put` with a text makes the change.
    """

    line: int
    named: Sequence[str]
    """Names of the enclosing function's parameters."""
    put: Callable[[str], None]
    text: str = ""
    """Code that is replaced; empty for an insertion."""
    templates: Sequence[str] = ()
    """Templates of the code that may replace `text`; empty for an insertion."""


@dataclass(frozen=True)
class MessageSite:
    """Place in a program at which a misleading message may stand, as a comment or a
    print statement.

    Lines count from 1, indentation in spaces.
    """

    kind: str
    """Key of messages.yaml: `function`, `return`, `while`, `for`, `condition`,
    `assignment`, `operator`, or a method's name."""
    line: int
    """Line at whose end a comment stands; for loops, the first line of the body, above
    which the comment stands."""
    print_line: int
    """Line above which a print statement stands."""
    print_indent: int
    ordinal: int = -1
    """Index of a return statement in the program, from 0, in the order of the text; -1
    for other kinds."""


@dataclass(frozen=True)
class Perturbed:
    """Problem after a perturbation, with the changes made (`sites`).

    If `sites` is empty, nothing was changed.
    """

    problem: Problem
    sites: tuple[Site, ...] = ()


class NotPerturbed(ValueError):
    """Raised if a perturbation cannot be made on a program; the message gives the
    reason."""


@cache
def stimuli(name: str) -> dict[str, Any]:
    """Return the content of the YAML file called `name` (without .yaml) in this folder.

    Such a file has, for example, the texts that perturbations insert.
    """
    return read_yaml(Path(__file__).with_name(f"{name}.yaml"))


def numbered(prefix: str, names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """Return a dict from each of `names` to `prefix` with a number: 1, 2, … in the
    order of the names.

    Numbers whose result is in `taken` are skipped.
    """
    candidates = (f"{prefix}{number}" for number in itertools.count(1))
    free = (name for name in candidates if name not in taken)
    return dict(zip(names, free, strict=False))


def without(names: list[str], excluded: set[str]) -> list[str]:
    """Return the different ones of `names` that are not in `excluded`, in their order."""
    return [name for name in dict.fromkeys(names) if name not in excluded]


def unused(name: str, used: set[str]) -> str:
    """Return `name` with as few underscores appended as make it differ from all names
    in `used`.

    The result is added to `used`.
    """
    while name in used:
        name += "_"
    used.add(name)
    return name
