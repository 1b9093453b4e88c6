"""What models are shown: SemTrace's functions (section 2.3, Listing 1), and how a target function is shown: among
unrelated ones (section 3.1), M(C1, C2, Pos) of section 2, or without some of its lines.

Of the unrelated ones `codesearchnet` is the data set that the paper draws from (here its part in CoSQA, whose functions
are shorter); `installed` are functions of packages that the lock file pins: the same on every machine, whatever its
Python.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from codestress.literals import parse_program
from codestress.notes import noted
from codestress.problems.datasets import data_file
from codestress.problems.installed import PACKAGES, installed_modules
from codestress.problems.program import Problem
from codestress.seeding import rng
from codestress.types import Source

FEWEST, MOST = 4, 10
"""Assignments in a function, both ends included."""


def trace_problems(count: int, *, digits: int = 2, seed: int = 0) -> list[Problem]:
    """Problems `semtrace_0`, …, each from the seed, the digits and its number alone.

    `x` is a number of `digits` digits; an assignment adds y, uniform in [-10^digits, 10^digits - 1]. The paper prints
    the range for two digits and leaves both open for more (section 3.3).
    """
    return [_problem(number, digits, seed) for number in range(count)]


def _problem(number: int, digits: int, seed: int) -> Problem:
    random = rng(seed, "semtrace", digits, number)
    size = int(random.integers(FEWEST, MOST + 1))
    x = int(random.integers(10 ** (digits - 1), 10**digits))
    added = [int(y) for y in random.integers(-(10**digits), 10**digits, size)]
    order = [int(i) for i in random.permutation(size)]
    lines = [f"    arr[{i}] = x {'-' if added[i] < 0 else '+'} {abs(added[i])}" for i in order]
    zeros = ", ".join("0" * size)
    code = "\n".join(["def f(x):", f"    arr = [{zeros}]", *lines, "    return arr"])
    return Problem(f"semtrace_{number}", code, "f", str(x), str([x + y for y in added]), source=Source.KIT)


Distractors = Literal["installed", "codesearchnet"]

CODESEARCHNET = "codesearchnet-python/cosqa_codesearchnet_python.jsonl.gz"
USES_F = re.compile(r"\bf\b(?!['\"])")
"""The name of every target; `f"…"` is none."""
QUARTILES = (0.25, 0.75)
"""Shorter and longer functions are outliers to the paper."""


@cache
@noted
def distractors(source: Distractors) -> tuple[str, ...]:
    """All functions of a source whose length in characters lies between its quartiles, in a fixed order.

    None that uses the name `f`, which every target has; none that does not parse; none twice.
    """
    found = filter(_parses, _codesearchnet()) if source == "codesearchnet" else _installed()
    functions = [code for code in dict.fromkeys(found) if not USES_F.search(code)]
    lengths = sorted(map(len, functions))
    low, high = (lengths[int(share * (len(lengths) - 1))] for share in QUARTILES)
    return tuple(code for code in functions if low <= len(code) <= high)


def _parses(code: str) -> bool:
    try:
        return isinstance(parse_program(code).body[0], ast.FunctionDef)
    except (SyntaxError, IndexError):
        return False


def _codesearchnet() -> Iterator[str]:
    text = gzip.decompress(data_file("codesearchnet-python", CODESEARCHNET).read_bytes()).decode("utf-8")
    for line in text.splitlines():
        yield textwrap.dedent(json.loads(line)["code"].expandtabs(4)).strip("\n")


def _installed() -> Iterator[str]:
    for package in PACKAGES:
        for text in installed_modules(package).values():
            lines = text.split("\n")
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                    yield textwrap.dedent("\n".join(lines[node.lineno - 1 : node.end_lineno]))


BLANK = ""
"""Between functions stands one empty line; the paper prints no context."""

MOST_FRAGMENTS = 20


class Mixture(NamedTuple):
    """A context, and where the target's lines stand in it."""

    lines: list[str]
    target: list[int]
    """Indices of the target's lines, in its own order."""
    origins: list[tuple[int, int]]
    """For each line its function (-1 the target, else the distractor's number) and its number in it."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def granularity(self) -> float:
        """n2 / (n1 + n2), in characters (Equation 2): how small a part of the context the target is."""
        total = sum(len(line) + 1 for line in self.lines)
        return 1 - self._size() / total

    @property
    def concentration(self) -> float:
        """n1 over the span from the target's first to last character (Equation 2), both included: 1 in one block."""
        first, last = min(self.target), max(self.target)
        return self._size() / sum(len(self.lines[i]) + 1 for i in range(first, last + 1))

    @property
    def depth(self) -> int:
        """Characters before the target begins."""
        return sum(len(line) + 1 for line in self.lines[: min(self.target)])

    def _size(self) -> int:
        return sum(len(self.lines[i]) + 1 for i in self.target)


def target_index(position: int, positions: int, distractors: int) -> int:
    """How many of the distractors stand before the target: round(i * n / 10) for position i of 11."""
    return round(position * distractors / (positions - 1)) if positions > 1 else 0


def mix(target: str, others: Sequence[str], *, position: int, positions: int, fragments: int = 1) -> Mixture:
    """The target at one of `positions` equally spaced places among the other functions.

    With `fragments` it is cut between lines into that many parts of nearly equal length; each stands at the same
    place within its own stretch of the context, so that one fragment is the paper's contiguous block.
    """
    lines = target.split("\n")
    functions = [*(other.split("\n") for other in others), lines]  # the target is the last one, number -1
    parts = min(fragments, len(lines))
    cuts, stretches = ([round(part * size / parts) for part in range(parts + 1)] for size in (len(lines), len(others)))
    before = [first + target_index(position, positions, last - first) for first, last in pairwise(stretches)]
    origins: list[tuple[int, int]] = []
    for index in range(len(functions)):
        here = [part for part in range(parts) if before[part] == index]
        if here:
            origins += [(-1, number) for number in range(cuts[here[0]], cuts[here[-1] + 1])]
            origins.append((-1, len(lines) + here[-1]))
        if index < len(others):
            origins += [(index, number) for number in range(len(functions[index]) + 1)]
    del origins[-1]
    mixed = [functions[f][number] if number < len(functions[f]) else BLANK for f, number in origins]
    places = {origin: place for place, origin in enumerate(origins)}
    return Mixture(mixed, [places[-1, number] for number in range(len(lines))], origins)


def line_keys(random: np.random.Generator, functions: Sequence[str]) -> dict[tuple[int, int], str]:
    """A unique key of six hexadecimal digits for every line that `mix` can put out, by origin; the target comes first.

    A function's keys do not depend on the functions after it, so that larger contexts begin with the same keys.
    """
    used: set[str] = set()

    def new() -> str:
        while (key := f"{int(random.integers(16**6)):06x}") in used:
            pass
        used.add(key)
        return key

    target, *others = functions
    size = target.count("\n") + 1
    keys = {(-1, number): new() for number in range(size + MOST_FRAGMENTS)}
    for function, code in enumerate(others):
        keys |= {(function, number): new() for number in range(code.count("\n") + 2)}
    return keys


def with_keys(mixture: Mixture, keys: Mapping[tuple[int, int], str]) -> Mixture:
    """Every line behind its key and one space (section 3.2 leaves the separator open)."""
    keyed = [f"{keys[origin]} {line}" for origin, line in zip(mixture.origins, mixture.lines, strict=True)]
    return mixture._replace(lines=keyed)


def removable(code: str) -> int:
    """Lines that may be removed: all but the first (section 3.4), blank ones included.

    CRUXEval's 800 programs have 71,994 versions; in three the first line is not the `def`, and stays all the same.
    """
    return code.count("\n")


def without_lines(code: str, removed: int) -> str:
    """The program without the lines of a bit mask (there are `2 ** removable`): bit i is line i + 2."""
    first, *others = code.split("\n")
    return "\n".join([first, *(line for i, line in enumerate(others) if not removed >> i & 1)])
