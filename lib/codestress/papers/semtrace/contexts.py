"""Programs and contexts of Sense and Sensitivity. The programs are SemTrace's functions
(section 2.3, Listing 1). A context is the target function among unrelated functions
(section 3.1), which is M(C1, C2, Pos) of section 2.

The unrelated functions (distractors) come from one of three sources. `codesearchnet` is
the paper's own data set, in CodeXGLUE's test split. `cosqa` is the part of that data
set in CoSQA, whose functions are a third as long. `installed` are functions of packages
that the lock file pins: the same on every machine, whatever its Python.
"""

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from codestress.errors import ParameterError
from codestress.literals import parse_program
from codestress.notes import noted
from codestress.problems.datasets import data_file
from codestress.problems.installed import PACKAGES, installed_modules
from codestress.problems.program import Problem
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Source

FEWEST, MOST = 4, 10
"""Smallest and largest number of assignments in a SemTrace function."""


Sized = Literal["both", "x", "y"]
"""Numbers of a SemTrace problem that have the requested digits: x (the input), y (the
added numbers) or both."""
USUAL_DIGITS = 2
"""Digits of a number that `Sized` does not select, as in section 2.3."""


def trace_problems(
    count: int, *, digits: int = 2, seed: int = 0, digits_of: Sized = "both"
) -> list[Problem]:
    """Return `count` SemTrace problems `semtrace_0`, …: a function that returns a list
    of sums x + y, an input x, and the output. Each problem depends only on `seed`,
    `digits`, `digits_of` and its number.

    The input x has `digits` digits; each assignment adds its own y, uniform in
    [-10^digits, 10^digits - 1]. The paper prints this range for two digits, and does
    not say which numbers have more digits (section 3.3). `digits_of` names the number
    with `digits` digits: "x" or "y" (the other number then has two), or "both".
    """
    x_beyond = y_beyond = 10**digits
    if digits_of == "x":
        y_beyond = 10**USUAL_DIGITS
    elif digits_of == "y":
        x_beyond = 10**USUAL_DIGITS
    problems = []
    for number in range(count):
        random = rng(seed, "semtrace", digits, number)
        size = random.integers(FEWEST, MOST + 1)
        x = int(random.integers(x_beyond // 10, x_beyond))
        added = random.integers(-y_beyond, y_beyond, size).tolist()
        zeros = ", ".join("0" * size)
        lines = ["def f(x):", f"    arr = [{zeros}]"]
        for index in random.permutation(size):
            y = f"{added[index]:+}"
            lines.append(f"    arr[{index}] = x {y[0]} {y[1:]}")
        code = "\n".join([*lines, "    return arr"])
        output = str([x + y for y in added])
        name = f"semtrace_{number}"
        problems.append(Problem(name, code, "f", str(x), output, source=Source.KIT))
    return problems


Distractors = Literal["installed", "cosqa", "codesearchnet"]
"""Sources of the unrelated functions."""

COSQA = "codesearchnet-python/cosqa_codesearchnet_python.jsonl.gz"
"""File of CodeSearchNet's functions in CoSQA."""
CODESEARCHNET = "codexglue-python/test-00000-of-00001.parquet"
"""File of CodeSearchNet's functions at full length, in CodeXGLUE."""
USES_F = re.compile(r"\bf\b(?!['\"])")
"""Pattern of the name `f`, which every target function has; the prefix of an f-string
does not match."""


@cache
@noted
def distractors(source: Distractors) -> tuple[str, ...]:
    """Return the source texts of the functions of `source` (`installed`, `cosqa` or
    `codesearchnet`) whose length in characters lies between the quartiles of all its
    functions. The order is fixed.

    Left out are functions that use the name `f`, which every target has, functions that
    do not parse, and duplicates. Raises `DataError` if the source's data set is
    missing.
    """
    codes = _written_alike(source)
    if source == "installed":
        codes = _installed()
    functions = [code for code in dict.fromkeys(codes) if not USES_F.search(code)]
    lengths = list(map(len, functions))
    # The paper treats shorter and longer functions as outliers.
    low, high = np.quantile(lengths, [0.25, 0.75], method="lower")
    return tuple(code for code in functions if low <= len(code) <= high)


def _written_alike(source: Distractors) -> Iterator[str]:
    """Yield the functions of the data set `source` without common indentation and with
    tabs as four spaces. A text that does not parse, or does not begin with a function,
    is left out."""
    import pandas as pd

    if source == "cosqa":
        path = data_file("codesearchnet-python", COSQA)
        rows = pd.read_json(path, lines=True, dtype=False)
    else:
        path = data_file("codexglue-python", CODESEARCHNET)
        rows = pd.read_parquet(path, columns=["code"])
    for text in rows["code"]:
        code = textwrap.dedent(text.expandtabs(4)).strip("\n")
        with suppress(SyntaxError, IndexError):
            if isinstance(parse_program(code).body[0], ast.FunctionDef):
                yield code


def _installed() -> Iterator[str]:
    """Yield the functions and methods of the packages that the lock file pins, except
    those with decorators."""
    for package in PACKAGES:
        for text in installed_modules(package).values():
            lines = text.split("\n")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                    own = lines[node.lineno - 1 : node.end_lineno]
                    yield textwrap.dedent("\n".join(own))


@lru_cache(maxsize=256)
def distractor_context(
    problem: str, count: int, source: Distractors, tokens: int | None, seed: int
) -> tuple[str, ...]:
    """Return the source texts of the first `count` distractors of the problem with the
    id `problem`; empty if `count` is 0. The distractors are drawn from `source` with
    `seed` and this id.

    If `tokens` is not None, the number of functions is chosen so that all together have
    about `count * tokens` tokens. Raises `ParameterError` if the source has too few
    functions.
    """
    if not count:
        return ()
    pool = distractors(source)
    order = rng(seed, "distractors", source, problem).permutation(len(pool))
    functions = [pool[i] for i in order]
    wanted = count
    if tokens is not None:
        characters = count * tokens * CHARACTERS_PER_TOKEN
        lengths = np.cumsum([len(code) + 2 for code in functions])
        wanted = 1 + int(np.searchsorted(lengths, characters))
    if wanted > len(pool):
        raise ParameterError(
            f"distractors = {count}: {source} has only {len(pool)} functions of a fitting length; "
            "ask for fewer, or take another distractor_source"
        )
    return tuple(functions[:wanted])


MOST_FRAGMENTS = 20
"""Largest number of parts into which a target is cut."""


def with_blanks(codes: Sequence[str]) -> list[list[str]]:
    """Return the lines of each function in `codes` (source texts, the target first),
    followed by the blank lines that may stand behind its parts: `MOST_FRAGMENTS` for
    the target, one for any other function. The paper prints no context."""
    functions = []
    behind = MOST_FRAGMENTS
    for code in codes:
        functions.append(code.split("\n") + [""] * behind)
        behind = 1
    return functions


class Mixture(NamedTuple):
    """Record of a context: its pieces (functions, the target's parts, lines between),
    and the places of the target's parts."""

    pieces: list[str]
    target: list[int]
    """Indices of the target's parts in `pieces`, in the target's order."""

    @property
    def text(self) -> str:
        """Source text of the whole context."""
        return "\n".join(self.pieces)

    @property
    def granularity(self) -> float:
        """Share (0 to 1) of the context that is not the target (Equation 2): n2 / (n1 +
        n2), with n1 characters in the target and n2 outside it."""
        return 1 - self._size(self.target) / self._size(range(len(self.pieces)))

    @property
    def concentration(self) -> float:
        """Target's share (0 to 1) of the characters from its first to its last, both
        included (Equation 2); 1 for a target in one block."""
        span = range(min(self.target), max(self.target) + 1)
        return self._size(self.target) / self._size(span)

    def _size(self, numbers: Iterable[int]) -> int:
        """Return the number of characters of the pieces with these indices `numbers`,
        each with its line break."""
        return sum(len(self.pieces[number]) + 1 for number in numbers)


def target_index(position: int, positions: int, distractors: int) -> int:
    """Return how many of the `distractors` (a count) stand before the target at one of
    `positions` equally spaced positions: round(i * n / 10) for index i of 11.
    `position` is the index of the position, from 0. The result is 0 if there is only
    one position."""
    return round(position * distractors / max(positions - 1, 1))


def mix(
    functions: Sequence[Sequence[str]],
    *,
    position: int,
    positions: int,
    fragments: int = 1,
    blank_between: bool = True,
) -> Mixture:
    """Return the `Mixture` of `functions`, lines as from `with_blanks`: the first of them, the target,
    is put among the other functions, whose order is kept. The target stands at the index `position`
    (from 0) of `positions` equally spaced positions.

    `fragments` is the number of parts of nearly equal length into which the target is cut, between
    lines, at most one for each line. Each part stands at the same relative position in its own
    stretch of the context, so one fragment is the paper's contiguous block. `blank_between` puts an
    empty line between functions; otherwise nothing stands there.
    """
    target, *others = functions
    lines = target[:-MOST_FRAGMENTS]
    behind = target[-MOST_FRAGMENTS:]
    parts = min(fragments, len(lines))
    stretches = [round(part * len(others) / parts) for part in range(parts + 1)]
    # Parts between the same functions are one piece.
    last_before = {}
    for part, (first, end) in enumerate(pairwise(stretches)):
        last_before[first + target_index(position, positions, end - first)] = part
    pieces: list[str] = []
    places: list[int] = []
    start = 0
    for index in range(len(others) + 1):
        if index in last_before:
            part = last_before[index]
            cut = round((part + 1) * len(lines) / parts)
            places.append(len(pieces))
            pieces += ["\n".join(lines[start:cut]), behind[part]][: 1 + blank_between]
            start = cut
        if index < len(others):
            *own, blank = others[index]
            pieces += ["\n".join(own), blank][: 1 + blank_between]
    return Mixture(pieces[: len(pieces) - blank_between], places)


@lru_cache(maxsize=64)
def line_keys(
    problem: str, codes: tuple[str, ...], seed: int, blank: bool = True
) -> list[list[str]]:
    """Return a unique key of six hexadecimal digits for every line of `with_blanks`;
    unless `blank`, the keys of blank lines are empty. `codes` are the program of the
    problem with the id `problem`, then its distractors.

    The keys are drawn with `seed`, id and program. A function's keys do not depend on
    later functions, so larger contexts begin with the same keys.
    """
    random = rng(seed, "keys", problem, codes[0])
    taken = {""}
    keys = []
    for lines in with_blanks(codes):
        own = []
        for line in lines:
            key = ""
            while key in taken:
                key = f"{random.integers(16**6):06x}"
            taken.add(key)
            if not blank and not line.strip():
                key = ""
            own.append(key)
        keys.append(own)
    return keys


Separator = Literal["space", "colon", "tab"]
"""Name of the text between a key and its line."""
SEPARATORS = {"space": " ", "colon": ": ", "tab": "\t"}
"""Dict from the name of a separator to the text between a key and its line."""


def with_keys(
    keys: Sequence[str], lines: Sequence[str], separator: Separator
) -> list[str]:
    """Return `lines`, each after its key of `keys` and the text named by `separator`; a
    line with an empty key stays as it is. Section 3.2 prints no line with a key."""
    keyed = []
    for key, line in zip(keys, lines, strict=True):
        if key:
            line = f"{key}{SEPARATORS[separator]}{line}"
        keyed.append(line)
    return keyed
