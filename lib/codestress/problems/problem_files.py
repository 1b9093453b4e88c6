"""Problems from files: CRUXEval's JSON Lines, LiveCodeBench's code execution (which
names the function), and custom problems.

params/problems.yaml gives files of custom problems a name; every study on CRUXEval's
tasks accepts these names.
"""

import ast
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

from codestress.errors import DataError
from codestress.literals import (
    UNREADABLE,
    NotLiteral,
    parse_json,
    parse_literal,
    parse_program,
    reason_of,
)
from codestress.paths import PARAMS, ROOT, shown
from codestress.validation import Strict, one_of, read_rows

from .datasets import at_hand, data_file, folders
from .program import Problem

FILE = PARAMS / "problems.yaml"
ENCODING = "utf-8-sig"
"""UTF-8; a byte-order mark at the beginning is left out."""
GZIP = b"\x1f\x8b"
"""Bytes with which a gzip file begins."""
LARGEST = 2**30
"""Largest size of a file after unpacking, in bytes; a file that is larger on disk may
be read too."""


class ProblemFile(NamedTuple):
    """Content of a problem file: its `problems` in order, and the `faults` of its
    invalid rows. `faults` is a dict from a row's id (`line N` for a row without id) to
    a message."""

    problems: list[Problem]
    faults: dict[str, str]


@cache
def cruxeval() -> list[Problem]:
    """Return the 800 problems of CRUXEval (Gu et al., 2024). Raises `DataError` with
    the remedy if the file is missing or altered."""
    return read_problems(data_file("cruxeval", "cruxeval/cruxeval.jsonl")).problems


@cache
def livecodebench() -> list[Problem]:
    """Return the 479 problems of LiveCodeBench's code execution (data set
    `execution-v2`).

    The file's hash is not pinned, because no copy was available. Raises `DataError`
    with the place to put the file if it is missing.
    """
    name = "livecodebench/execution-v2.jsonl"
    path = at_hand(name)
    if path is None:
        raise DataError(
            f"{name}: not found in {' or '.join(map(str, folders()))}. Save the test split of "
            "livecodebench/execution-v2 there as JSON Lines, or take problems = ['contest'], the kit's own."
        )
    return read_problems(path).problems


def read_text(path: Path, errors: str = "strict") -> str:
    """Return the text of the file at `path` in UTF-8. A gzip file is unpacked.

    `errors` says what to do with bytes in another encoding, as in `bytes.decode`.
    Raises `DataError` if the file cannot be read.
    """
    try:
        return unpacked(path).decode(ENCODING, errors)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(
            f"{path}: cannot be read: {error}; give a UTF-8 text file, or one packed by gzip"
        ) from None


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader | gzip.GzipFile]:
    """Return a context manager with the file at `path`, open for reading bytes. A gzip
    file is unpacked.

    Gzip is recognised by content, because browsers unpack files but keep their names.
    Raises `OSError` if the file cannot be opened.
    """
    with path.open("rb") as packed:
        if packed.peek(2).startswith(GZIP):
            yield gzip.GzipFile(fileobj=packed)
        else:
            yield packed


def unpacked(path: Path) -> bytes:
    """Return the content of the file at `path`, unpacked if it is a gzip file.

    Raises `OSError`, `EOFError` or `zlib.error` if the file cannot be read, and
    `ValueError` if it unpacks to more than `LARGEST` bytes.
    """
    most = max(LARGEST, path.stat().st_size)
    with opened(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"it unpacks to more than {most:,} bytes")
    return content


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield each line of the JSON Lines file at `path` that is not blank, as a pair
    (number from 1, text).

    Bytes that are not UTF-8 become surrogates, which `parse_row` rejects. Raises
    `DataError` if the file cannot be read.
    """
    lines = read_text(path, "surrogateescape").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line


def parse_row(line: str) -> dict[str, Any]:
    """Return the JSON object in a `line` of JSON Lines. Raises `ValueError` if the line
    is not UTF-8 or not a JSON object."""
    if odd := re.search("[\0\udc80-\udcff]", line):
        byte = ord(odd[0]) & 0xFF
        raise ValueError(
            f"the byte 0x{byte:02x}, character {odd.start() + 1} of the line, is not UTF-8; save it as UTF-8"
        )
    row = parse_json(line, unique=True)
    if not isinstance(row, dict):
        raise ValueError(f"not a JSON object but {type(row).__name__}")
    return row


def read_problems(path: Path) -> ProblemFile:
    """Return the problems in the JSON Lines file at `path`, and the faults of its
    invalid rows. The fields of a row are `code`, `input`, `output` and `id`.

    `input` has the arguments of a call of `f`, or of the function named by `function`.
    In a row with `function_name`, as in LiveCodeBench, `input` is the whole call
    (`minimumCost(s = '0011')`), and rows with the same `question_id` belong to one
    question.

    A row is invalid if it lacks a field, its call cannot be parsed, its output is not a
    literal, or its program is not Python. Faults keep the row's id, so that answers to
    such rows are counted, never dropped. Raises `DataError` if two rows have one id, or
    the file has no problems.
    """
    problems = list[Problem]()
    faults = dict[str, str]()
    seen = set[str]()
    for number, line in numbered_lines(path):
        name = f"line {number}"
        try:
            row = parse_row(line)
            if row.get("id") is not None:
                name = str(row["id"])
            problem = _problem(row, name)
        except UNREADABLE as error:
            faults[name] = f"{path}, line {number}: {reason_of(error)}"
        else:
            problems.append(problem)
        if name in seen:
            raise DataError(
                f"{path}, line {number}: a second row with the id {name!r}; ids must be unique"
            )
        seen.add(name)
    if not problems:
        first = next(iter(faults.values()), "no rows")
        raise DataError(
            f"{path}: it has no problems ({first}); give JSON Lines with code, input, output and id"
        )
    return ProblemFile(problems, faults)


def _problem(row: dict[str, Any], name: str) -> Problem:
    for field in ("code", "input", "output", "id"):
        if not isinstance(row.get(field), (str, int) if field == "id" else str):
            raise ValueError(f"{field} is {row.get(field)!r}, not a text")
    code, output = row["code"], row["output"]
    try:
        parse_program(code)
    except SyntaxError as error:
        raise ValueError(f"{name}: the program is not Python: {error}") from None
    try:
        if parse_literal(output).unresolved:
            raise NotLiteral("arithmetic in place of a value")
    except NotLiteral as error:
        raise ValueError(
            f"{name}: output = {output[:60]!r} is not a literal: {error}"
        ) from None
    named = row.get("function_name")
    function = str(named or row.get("function", "f"))
    call = row["input"].strip()
    opening = f"{function}("
    whole = "function" in row and call.startswith(opening)
    if not (named or whole):
        call = f"{opening}{row['input']})"
    arguments = call[len(function) + 1 : -1]
    question = str(row.get("question_id", ""))
    with suppress(SyntaxError):
        match parse_program(call).body:
            case [ast.Expr(ast.Call(called))] if ast.unparse(called) == function:
                if call == f"{function}({arguments})":
                    return Problem(
                        name, code, function, arguments, output, question=question
                    )
    raise ValueError(f"{name}: input = {call[:60]!r} is not a call of {function}")


class OwnProblems(Strict):
    """A row of params/problems.yaml: path and description of a file of custom problems."""

    file: str
    """Path, relative to the project's root, of a JSON Lines file with `code`, `input`,
    `output` and `id` as in CRUXEval (or with `function_name` as in LiveCodeBench)."""
    description: str = ""


def own_sets() -> dict[str, OwnProblems]:
    """Return a dict from name to row (`OwnProblems`) of params/problems.yaml; empty if
    the file does not exist. Raises `ParameterError` for an unreadable file or an
    invalid row."""
    return read_rows(FILE, OwnProblems)


@cache
def own_problems(name: str) -> list[Problem]:
    """Return the problems of the custom set `name`, a row of params/problems.yaml.

    Raises `DataError` if the set's file cannot be read or has no problems, and, with
    the first five faults, if it has invalid rows.
    """
    path = ROOT / own_sets()[name].file
    file = read_problems(path)
    if file.faults:
        first = "\n".join(f"  {fault}" for fault in list(file.faults.values())[:5])
        raise DataError(
            f"{shown(path)} ({shown(FILE)}: {name}): {len(file.faults)} rows are no problems, "
            f"{len(file.problems)} are; correct or remove them:\n{first}"
        )
    return file.problems


def known_source(*kits: str) -> Any:
    """Return a validator (for `Annotated`) of a parameter that names a source of
    problems: one of `kits`, or a row of params/problems.yaml. The validator raises
    `ValueError` for other names."""
    return one_of("source", kits, lambda: FILE)
