"""Programs with a specification, into which faults are put (Fault Localizability, section IV-A).

Offline: functions, classes and modules of the packages that the lock file pins, with their docstrings, Java programs of
the kit's own, and N-Queens in both languages. The paper's two data sets are read where they are at hand.
"""

from __future__ import annotations

import ast
import gzip
import inspect
import itertools
import json
import re
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from codestress.generation.edits import first_line
from codestress.problems.datasets import data_file
from codestress.problems.installed import PACKAGES, installed_modules
from codestress.sandbox.runtimes import parser
from codestress.types import Language

Source = Literal["installed", "java", "queens", "alpaca", "codesearchnet"]

Selection = Literal["kit", "artifact"]
"""Programs that pass the kit's filters, or all of the public artifact's, as they are."""
ARTIFACT: tuple[Source, ...] = ("alpaca", "codesearchnet")


@dataclass(frozen=True)
class CorrectProgram:
    """A program without a fault."""

    id: str
    code: str
    """Lines end in a line feed; the text ends without one."""
    specification: str
    language: Language
    runs: tuple[tuple[str, ...], ...] = ()
    """Arguments of `main` on which it can be tried."""
    relevance: int | None = None
    """How well people judged specification and program to fit, 0 to 3, where they were asked (CodeSearchNet)."""
    refused: str = ""
    """Why the kit's filters would not have kept it, where all programs of a source are wanted."""
    faulty: str = ""
    """The faulty line that is to be made of it, without its indentation, in the place of others of its kind."""

    @property
    def lines(self) -> int:
        return self.code.count("\n") + 1


@dataclass(frozen=True)
class ProgramSet:
    """The programs that are kept, and how many were dropped (or, in a whole source, refused) for which reason."""

    programs: list[CorrectProgram]
    dropped: Counter[str]
    published: int
    """How many the source has."""


@cache
def program_set(source: Source, min_lines: int, max_lines: int, selection: Selection = "kit") -> ProgramSet:
    """The programs of a source with as many lines as that, each program once; all of the artifact's, where they are
    selected.

    `DataError` with the remedy where a data set is not at hand.
    """
    dropped = Counter[str]()
    programs = list(_kept(source, min_lines, max_lines, dropped, selection))
    refused = sum(1 for program in programs if program.refused)
    return ProgramSet(programs, dropped, len(programs) + dropped.total() - refused)


def first_programs(
    source: Source, min_lines: int, max_lines: int, count: int, ids: Collection[str] = (), selection: Selection = "kit"
) -> list[CorrectProgram]:
    """The first programs of the same, no further one is read; 0: all. Where there are ids, those that have them."""
    kept = _kept(source, min_lines, max_lines, Counter(), selection)
    return [one for one in kept if one.id in ids] if ids else list(itertools.islice(kept, count or None))


def _kept(
    source: Source, min_lines: int, max_lines: int, dropped: Counter[str], selection: Selection
) -> Iterator[CorrectProgram]:
    """The programs one after the other; what is dropped, or refused and kept all the same, is counted."""
    kept: set[str] = set()
    for program in READERS[source]():
        why = rejection(program, min_lines, max_lines)
        if why or program.code in kept:
            why = why or "a program that is there already"
            dropped[why] += 1
        else:
            kept.add(program.code)
        if not why or (selection == "artifact" and source in ARTIFACT):
            yield replace(program, refused=why)


def rejection(program: CorrectProgram, min_lines: int, max_lines: int) -> str:
    """Why a program cannot be a seed; empty where it can."""
    if not program.specification.strip():
        return "no specification"
    if program.lines < min_lines:
        return f"fewer than {min_lines} lines"
    if max_lines and program.lines > max_lines:
        return f"more than {max_lines} lines"
    return "" if parses(program.code, program.language) else "does not parse"


def parses(code: str, language: Language) -> bool:
    """Whether the program is syntactically right: by Python's own parser, or tree-sitter's."""
    if language != "python":
        return not parser(language).parse(code.encode("utf-8", "surrogatepass")).root_node.has_error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<seed>", "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def normalised(code: str) -> str:
    """Line ends as line feeds, without a byte-order mark and without form feeds: so that every tool counts the same
    lines."""
    return re.sub(r"\r\n?", "\n", code.removeprefix("\ufeff")).replace("\f", " ").rstrip("\n")


def _installed() -> Iterator[CorrectProgram]:
    """Functions and classes at the top level of modules, and whole modules; a module of each package in turn."""
    packages = [installed_modules(package).items() for package in PACKAGES]
    for turn in itertools.zip_longest(*packages):
        for name, text in filter(None, turn):
            tree = ast.parse(text)
            lines = normalised(text).split("\n")
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    code = textwrap.dedent("\n".join(lines[first_line(node) - 1 : node.end_lineno]))
                    yield CorrectProgram(f"{name}.{node.name}", code, _purpose(ast.get_docstring(node)), "python")
            yield CorrectProgram(name, "\n".join(lines), _purpose(ast.get_docstring(tree)), "python")


def _purpose(docstring: str | None) -> str:
    """The first paragraphs of a docstring, up to 600 characters."""
    told = inspect.cleandoc(docstring or "")
    parts: list[str] = []
    for paragraph in told.split("\n\n"):
        if parts and sum(map(len, parts)) + len(paragraph) > 600:
            break
        parts.append(" ".join(paragraph.split()))
    return " ".join(parts)[:900]


@cache
def _java() -> list[CorrectProgram]:
    folder = files(__package__) / "java"
    specifications = json.loads((folder / "specs.json").read_text(encoding="utf-8"))
    return [
        CorrectProgram(
            name,
            normalised((folder / f"{name}.java").read_text(encoding="utf-8")),
            entry["specification"],
            "java",
            tuple(tuple(run) for run in entry["runs"]),
        )
        for name, entry in specifications.items()
    ]


QUEENS = (
    "Finds all arrangements of N queens on a board of N times N fields in which no queen attacks another: no two stand "
    "in one row, in one column or on one diagonal."
)


def _queens() -> Iterator[CorrectProgram]:
    """N-Queens in both languages, with section II's fault: the lower diagonal is looked at for one row too few."""
    folder = files(__package__) / "queens"
    python, java = "for below in range(row + 1, size - 1):", "for (int below = row + 1; below < size - 1; below++) {"
    rows: list[tuple[Language, str, str, str]] = [
        ("python", "python.txt", "Each is a list of rows, one for each column.", python),
        ("java", "NQueens.java", "N is the argument; each is printed as its rows, one for each column.", java),
    ]
    for language, name, told, faulty in rows:
        code = normalised((folder / name).read_text(encoding="utf-8"))
        yield CorrectProgram(f"NQueens.{language}", code, f"{QUEENS} {told}", language, faulty=faulty)


def _alpaca() -> Iterator[CorrectProgram]:
    for row in packed_rows("python_seed_programs.jsonl.gz"):
        yield CorrectProgram(str(row["id"]), normalised(row["code"]), row["instruction"], "python")


def _codesearchnet() -> Iterator[CorrectProgram]:
    for row in packed_rows("java_seed_programs.jsonl.gz"):
        judged = row.get("csn_relevance") or []
        best = max(judged) if isinstance(judged, list) and judged else None
        yield CorrectProgram(str(row["id"]), normalised(row["code"]), row["instruction"], "java", (), best)


READERS: dict[Source, Callable[[], Iterable[CorrectProgram]]] = {
    **{"installed": _installed, "java": _java, "queens": _queens, "alpaca": _alpaca, "codesearchnet": _codesearchnet}
}


def packed_rows(name: str) -> Iterator[dict[str, Any]]:
    """Rows of a file of the public artifact (data set `llmcodeimpact`)."""
    with gzip.open(data_file("llmcodeimpact", f"llmcodeimpact/{name}"), "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
