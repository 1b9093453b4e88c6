"""Problems from files: CRUXEval's JSON Lines, LiveCodeBench's code execution, which names the function, and your own.

params/problems.yaml names files that every study on CRUXEval's tasks then takes by name.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from codestress.errors import DataError
from codestress.literals import NotLiteral, parse_json, parse_literal, parse_program
from codestress.paths import PARAMS, ROOT, shown
from codestress.problems.datasets import at_hand, data_file, folders
from codestress.problems.program import Problem
from codestress.validation import Strict, one_of, read_rows

FILE = PARAMS / "problems.yaml"


@dataclass(frozen=True)
class ProblemFile:
    """What a file holds: problems in its order, and rows that are none, by id, with what is wrong with them."""

    problems: list[Problem]
    faults: dict[str, str]


@cache
def cruxeval() -> list[Problem]:
    """The 800 problems of CRUXEval (Gu et al., 2024): `DataError` with the remedy when they are not here."""
    return read_problems(data_file("cruxeval", "cruxeval/cruxeval.jsonl")).problems


@cache
def livecodebench() -> list[Problem]:
    """The 479 problems of LiveCodeBench's code execution, as its data set `execution-v2` has them, in JSON Lines.

    No copy could be had to pin its hash: put the file where `DataError` says.
    """
    name = "livecodebench/execution-v2.jsonl"
    path = at_hand(name)
    if path is None:
        raise DataError(
            f"{name}: not found in {' or '.join(map(str, folders()))}. Save the test split of "
            "livecodebench/execution-v2 there as JSON Lines, or take problems = ['contest'], the kit's own."
        )
    return read_problems(path).problems


def read_text(path: Path) -> str:
    """A text file, with a byte-order mark or without, gzipped when its name ends in .gz; `DataError` when it cannot be
    read."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return content.decode("utf-16" if marked else "utf-8-sig")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{path}: cannot be read: {error}; give a UTF-8 text file, or one packed by gzip") from None


def read_problems(path: Path) -> ProblemFile:
    """Problems from JSON Lines with `code`, `input`, `output` and `id`.

    With `function_name`, as in LiveCodeBench, `input` is the whole call (`minimumCost(s = '0011')`), and `question_id`
    says which rows are of one question. A row without
    these fields, whose call cannot be taken apart, whose output is no literal or whose program is no Python is a
    fault: named, so that answers to it are counted, never dropped. Two rows with one id are an error.
    """
    problems: list[Problem] = []
    faults: dict[str, str] = {}
    seen: set[str] = set()
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        name = f"line {number}"
        try:
            row = parse_json(line, unique=True)
            name = str(row.get("id", name)) if isinstance(row, dict) else name
            problem = _problem(row, name)
        except (ValueError, RecursionError) as error:
            faults[name] = f"{path}, line {number}: {error}"
        else:
            problems.append(problem)
        if name in seen:
            raise DataError(f"{path}, line {number}: a second row with the id {name!r}; ids must be unique")
        seen.add(name)
    if not problems:
        first = next(iter(faults.values()), "no rows")
        raise DataError(f"{path}: no problem in it ({first}); give JSON Lines with code, input, output and id")
    return ProblemFile(problems, faults)


def _problem(row: Any, name: str) -> Problem:
    if not isinstance(row, dict):
        raise ValueError(f"not an object but {type(row).__name__}")
    for field in ("code", "input", "output", "id"):
        if not isinstance(row.get(field), str):
            raise ValueError(f"{field} is {row.get(field)!r}, not a text")
    try:
        parse_program(row["code"])
    except SyntaxError as error:
        raise ValueError(f"{name}: the program is not Python: {error}") from None
    try:
        unresolved = parse_literal(row["output"]).unresolved
    except NotLiteral:
        unresolved = True
    if unresolved:
        raise ValueError(f"{name}: output = {row['output'][:60]!r} is not a literal")
    function = row.get("function_name")
    if function is None:
        return Problem(name, row["code"], "f", row["input"], row["output"])
    call = row["input"].strip()
    if not (call.startswith(f"{function}(") and call.endswith(")")):
        raise ValueError(f"{name}: input = {call[:60]!r} is not a call of {function}")
    question = str(row.get("question_id", ""))
    return Problem(name, row["code"], function, call[len(function) + 1 : -1], row["output"], question=question)


class OwnProblems(Strict):
    """A row of params/problems.yaml."""

    file: str
    """JSON Lines with `code`, `input`, `output` and `id`, as CRUXEval's (or with `function_name`, as LiveCodeBench's);
    relative to the project's root."""
    description: str = ""


def own_sets() -> dict[str, OwnProblems]:
    """All rows, by name; none where there is no file."""
    return read_rows(FILE, OwnProblems)


@cache
def own_problems(name: str) -> list[Problem]:
    """The problems of a set; `DataError` with the first faulty rows where some are none."""
    path = ROOT / own_sets()[name].file
    found = read_problems(path)
    if found.faults or not found.problems:
        first = "\n".join(f"  {fault}" for fault in list(found.faults.values())[:5])
        raise DataError(
            f"{shown(path)} ({shown(FILE)}: {name}): {len(found.faults)} rows are no problems, "
            f"{len(found.problems)} are; mend them or take them out:\n{first}".rstrip()
        )
    return found.problems


def known_source(*kits: str) -> Any:
    """The validator of a parameter that names a source of problems."""
    return one_of("source", kits, lambda: FILE)
