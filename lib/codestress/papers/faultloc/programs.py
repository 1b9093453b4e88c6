"""Programs with a specification, in which faults are made (Fault Localizability,
section IV-A).

Two sources are available offline: functions, classes and modules of the packages that
the lock file pins, with their docstrings, and the kit's own Java programs. The paper's
two data sets are read if they are at hand.
"""

import ast
import itertools
import json
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from typing import Any, Literal

from codestress.literals import UNREADABLE, odd_character, program_fault
from codestress.mutate.edits import first_line
from codestress.mutate.faults.fault_site import FaultSite
from codestress.problems.datasets import data_rows
from codestress.problems.installed import PACKAGES, installed_modules
from codestress.sandbox.runtimes import parser, syntax_fault
from codestress.types import Language

Source = Literal["installed", "java", "alpaca", "codesearchnet"]

Selection = Literal["kit", "artifact", "drifted"]
"""Selection of programs.

`kit`: the programs that pass the kit's filters. `artifact`: all programs of the paper's
public artifact, unchanged. `drifted`: the kit's programs, with labels (numbers of
faulty lines) from before the programs were formatted anew, as in the artifact.
"""
ARTIFACT: tuple[Source, ...] = ("alpaca", "codesearchnet")
"""Sources in the paper's public artifact."""


@dataclass(frozen=True)
class CorrectProgram:
    """A program without a fault, with its specification."""

    id: str
    code: str
    """Text of the program; lines end in a line feed, except the last line, which has no
    line end."""
    specification: str
    language: Language
    runs: tuple[tuple[str, ...], ...] = ()
    """Arguments of `main` for test runs, a tuple for each run."""
    relevance: int | None = None
    """Human rating of how well specification and program fit, 0 to 3 (CodeSearchNet);
    None without a rating."""
    refused: str = ""
    """Reason why the kit's filters reject the program; empty if they keep it."""

    @property
    def lines(self) -> int:
        return self.code.count("\n") + 1


def takes_all(source: Source, selection: Selection) -> bool:
    """Return whether `selection` keeps the programs of `source` that fail the kit's
    filters too."""
    return selection == "artifact" and source in ARTIFACT


def first_programs(
    source: Source,
    min_lines: int,
    max_lines: int,
    count: int,
    selection: Selection = "kit",
) -> list[CorrectProgram]:
    """Return the first `count` programs (0: all) of `source` that `selection` keeps.

    They pass the kit's filters (see `judged_programs`), unless `selection` is
    `artifact`, which keeps all of the artifact's programs. No further program is read.
    Raises `DataError` with the remedy if a data set is not at hand.
    """
    whole = takes_all(source, selection)
    judged = judged_programs(source, min_lines, max_lines)
    kept = (program for program in judged if whole or not program.refused)
    return list(itertools.islice(kept, count or None))


def judged_programs(
    source: Source, min_lines: int, max_lines: int
) -> Iterator[CorrectProgram]:
    """Yield all programs of `source` (a key of `READERS`), each with the reason in its
    `refused` why the kit's filters reject it; empty if they keep it.

    The filters: a specification, `min_lines` to `max_lines` lines (0: no limit), no
    parse error, each text once. Raises `DataError` if a data set is not at hand.
    """
    codes = set[str]()
    for program in READERS[source]():
        why = ""
        if not program.specification.strip():
            why = "no specification"
        elif program.lines < min_lines:
            why = f"fewer than {min_lines} lines"
        elif program.lines > max_lines > 0:
            why = f"more than {max_lines} lines"
        elif not parses(program.code, program.language):
            why = "does not parse"
        elif program.code in codes:
            why = "a program that is there already"
        else:
            codes.add(program.code)
        yield replace(program, refused=why)


def parses(code: str, language: Language) -> bool:
    """Return whether the program `code` parses: with Python's own compiler or, in
    another `language`, with tree-sitter."""
    return not parse_fault(code, language)


def parse_fault(code: str, language: Language) -> str:
    """Return the reason why the program `code` does not parse, with the line if it is
    known; empty if the program parses (see `parses`)."""
    if language != "python":
        tree = parser(language).parse(code.encode("utf-8", "surrogatepass"))
        fault = syntax_fault(tree.root_node)
        return fault and (odd_character(code) or fault)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(code, "<seed>", "exec", dont_inherit=True)
        except UNREADABLE as error:
            return program_fault(code, error)
    return ""


@cache
def _silent() -> dict[str, list[list[str | int]]]:
    """Return the faults that no test run of the kit's Java programs shows, in a dict by
    program id.

    Each fault has its kind, the offset of the edit and the inserted text.
    bench/silent.py, which runs all faults, writes the file that is read.
    """
    return dict(json.loads((files(__package__) / "silent.json").read_text("utf-8")))


def is_silent(program: CorrectProgram, site: FaultSite) -> bool:
    """Return whether `program` is one of the kit's own Java programs and none of its
    test runs shows the fault that the edit `site` makes.

    Such a fault may change nothing and is not asked about: section IV-B of Fault
    Localizability asks for faults, not for changes.
    """
    silent = _silent().get(program.id, [])
    return [site.kind, site.start, site.text] in silent


def normalised(code: str) -> str:
    """Return the program `code` in a form in which every tool counts the same lines.

    Line ends are line feeds, form feeds become spaces, and a byte-order mark and line
    ends at the end are removed.
    """
    code = re.sub(r"\r\n?", "\n", code.removeprefix("\ufeff"))
    return code.replace("\f", " ").rstrip("\n")


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _installed() -> Iterator[CorrectProgram]:
    """Yield the programs of the source `installed`, with their docstrings as
    specifications.

    They are top-level functions and classes of the modules of Python packages, and
    whole modules. In each round every package gives one module.
    """
    packages = [installed_modules(package).items() for package in PACKAGES]
    for turn in itertools.zip_longest(*packages):
        for name, text in filter(None, turn):
            tree = ast.parse(text)
            text = normalised(text)
            lines = text.split("\n")
            for node in tree.body:
                if isinstance(node, Definition):
                    own = lines[first_line(node) - 1 : node.end_lineno]
                    code = textwrap.dedent("\n".join(own))
                    title = f"{name}.{node.name}"
                    yield CorrectProgram(title, code, _purpose(node), "python")
            yield CorrectProgram(name, text, _purpose(tree), "python")


def _purpose(node: Definition | ast.Module) -> str:
    """Return the beginning of the docstring of `node` in one line; empty without a
    docstring.

    The beginning has as many whole paragraphs as fit in 600 characters, and at least
    the first, which is cut at 900 characters.
    """
    parts: list[str] = []
    for paragraph in (ast.get_docstring(node) or "").split("\n\n"):
        if parts and sum(map(len, parts)) + len(paragraph) > 600:
            break
        parts.append(" ".join(paragraph.split()))
    return " ".join(parts)[:900]


@cache
def _java() -> list[CorrectProgram]:
    """Return the kit's own Java programs."""
    folder = files(__package__) / "java"
    entries = json.loads((folder / "specs.json").read_text("utf-8"))
    programs = []
    for name, entry in entries.items():
        code = normalised((folder / f"{name}.java").read_text("utf-8"))
        runs = tuple(map(tuple, entry["runs"]))
        specification = entry["specification"]
        programs.append(CorrectProgram(name, code, specification, "java", runs))
    return programs


def packed_rows(name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of the file `name`, a gzipped JSON Lines file of the paper's
    public artifact, as dicts.

    Raises `DataError` if the data set is not at hand.
    """
    yield from data_rows("llmcodeimpact", f"llmcodeimpact/{name}")


def _published(language: Language) -> Iterator[CorrectProgram]:
    """Yield the programs in `language` of the paper's public artifact."""
    for row in packed_rows(f"{language}_seed_programs.jsonl.gz"):
        relevance = max(row.get("csn_relevance") or [], default=None)
        code = normalised(row["code"])
        about = row["instruction"]
        name = str(row["id"])
        yield CorrectProgram(name, code, about, language, relevance=relevance)


READERS: dict[Source, Callable[[], Iterable[CorrectProgram]]] = {
    "installed": _installed,
    "java": _java,
    "alpaca": partial(_published, "python"),
    "codesearchnet": partial(_published, "java"),
}
"""Dict from a source to the reader of all its programs."""
