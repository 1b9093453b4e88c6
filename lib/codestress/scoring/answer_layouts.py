"""Read files of answers: CRUXEval's format, other harnesses' files, and tables that no
harness wrote.

Container (zip, Parquet, JSON, JSON Lines, CSV) and layout (the fields with the
problem's id and the answers) are recognised by content, never by the file's name.
"""

import csv
import io
import re
import struct
import zipfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from typing import Any

from codestress.errors import DataError, NothingMatchedError, ParameterError
from codestress.literals import parse_json
from codestress.problems.problem_files import ENCODING, LARGEST, unpacked
from codestress.validation import read_yaml

from .answer_fields import (
    answer_texts,
    are_texts,
    field_at,
    id_text,
    values_at,
    warning,
)

Row = dict[str, Any]
LAYOUTS = read_yaml(Path(__file__).with_name("layouts.yaml"))
"""Dict from format to the fields of a row with the problem's id, and the fields with
the answers, the preferred first. A dot leads into an object."""
TABLE = LAYOUTS.pop("table")
"""Names of fields with ids, and of fields with answers, in a table that no harness
wrote, the preferred first."""
FORMATS = ("cruxeval", *LAYOUTS, "jsonl", "csv", "parquet")
"""Formats that `codestress score --format` accepts."""
WANTED = (
    "rename its fields, choose another --format, or give JSON of problem ids to lists of "
    "texts, or another format of docs/scoring.md, in UTF-8"
)
MOST_ROWS = 2_000_000
"""Largest number of rows in a file, a guard against small files that unpack to endless
ones."""
SAMPLE = re.compile(r"samples/.+_epoch_\d+(/sample)?\.json")
"""Pattern of the file names in an inspect_ai log that hold a sample, or a sample's
output if the sample is in chunks."""
LOG_LIKELIHOOD = re.compile(r"\[+'?-?(?:\d+\.|inf)[^,]*, '?(?:True|False)'?\]")
"""Responses of a task of lm-eval that compares probabilities of given texts: no model wrote them."""
ZSTANDARD = 93
"""Number of inspect_ai's compression method in the zip format; Python's zipfile
supports it from version 3.14 on."""


@dataclass(frozen=True)
class AnswerFile:
    """Answers in a file, and the way in which the file was read."""

    format: str
    """Name of the format, one of `FORMATS`."""
    answers: dict[str, list[str | None]]
    """Dict from problem id to texts, in the file's order; None marks a missing answer.
    """
    fields: str = ""
    """Names of the fields that were read as id and answers."""
    warnings: Sequence[str] = ()
    """Faults of rows, such as a missing id, each with the row numbers, from 1."""


def read_answers(path: Path, form: str = "") -> AnswerFile:
    """Return the answers in the file at `path`, with the way in which they were read. A
    gzip file is unpacked.

    The format is recognised by content unless `form`, one of `FORMATS`, is given.
    Raises `ParameterError` for another `form`, `DataError` with the fault for a file
    that cannot be read, and `NothingMatchedError` with the fields found for rows
    without ids or answers.
    """
    if form not in ("", *FORMATS):
        raise ParameterError(f"--format {form}: choose one of {', '.join(FORMATS)}")
    try:
        rows, container = _table(unpacked(path))
        return _from_rows(rows, form, container)
    except NothingMatchedError as error:
        raise NothingMatchedError(f"{path}: {error}") from None
    except Exception as error:
        # Readers of damaged files raise many kinds of errors.
        advice = "" if isinstance(error, OSError) else f"; {WANTED}"
        raise DataError(f"{path}: cannot be read: {error}{advice}") from None


# --- Containers ---


def _table(content: bytes) -> tuple[list[Any], str]:
    """Return the rows in the bytes of a file, and the name of the format if no harness
    wrote it. Raises `ValueError` for bytes that cannot be read."""
    if content.startswith(b"PK"):
        return _samples(content), "jsonl"
    if content.startswith(b"PAR1"):
        return _parquet(content), "parquet"
    text = content.decode(ENCODING)
    if text.count("\n") > MOST_ROWS:
        raise ValueError(f"it has more than {MOST_ROWS:,} lines")
    try:
        value = parse_json(text, unique=True)
    except ValueError as error:
        rows = [_object(line) for line in text.split("\n") if line.strip()]
        if any(rows):
            return rows, "jsonl"
        if text.lstrip().startswith(("{", "[")):
            raise ValueError(f"it is not JSON: {error}") from None
        return _csv(text), "csv"
    return _json(value)


def _json(value: Any) -> tuple[list[Any], str]:
    """Return the rows in the value of a JSON file, like `_table`: CRUXEval's object of
    ids and lists, rows, a harness's results, or a single row."""
    match value:
        case dict() if all(map(are_texts, value.values())):
            return [{"id": name, "answers": value[name]} for name in value], "cruxeval"
        case {"samples": rows}:
            pass
        case {"eval": dict() as parts}:
            # EvalPlus's results; inspect_ai's logs have samples beside `eval`.
            rows = []
            for part in parts.values():
                rows += part if isinstance(part, list) else []
        case rows:
            rows = [value] if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise ValueError("it is JSON without a list of rows")
    return rows, "jsonl"


def _samples(content: bytes) -> list[Any]:
    """Return the samples in an inspect_ai log (`.eval`) with its documented layout: a
    zip archive with a JSON file for each sample. A sample that is not a JSON object
    becomes None."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = dict.fromkeys(filter(SAMPLE.fullmatch, archive.namelist()))
        members = list(map(archive.getinfo, names))
        if not members:
            files = ", ".join(archive.namelist()[:9])
            raise NothingMatchedError(f"no samples of inspect_ai in it, but {files}")
        whole = sum(info.file_size for info in members)
        if whole > 16 * LARGEST:
            raise ValueError(f"it unpacks to {whole:,} bytes")
        return [_object(_member(archive, info, content)) for info in members]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, content: bytes) -> bytes:
    """Return the unpacked bytes of the member `info` of `archive`, whose whole file is
    `content`."""
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    import pyarrow

    names = struct.unpack_from("<HH", content, info.header_offset + 26)
    start = info.header_offset + 30 + sum(names)
    packed = content[start : start + info.compress_size]
    text: bytes = pyarrow.decompress(packed, info.file_size, "zstd", asbytes=True)
    return text


def _parquet(content: bytes) -> list[Any]:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(content))
    if file.metadata.num_rows > MOST_ROWS:
        raise ValueError(f"it has more than {MOST_ROWS:,} rows")
    return list(file.read().to_pylist())


def _csv(text: str) -> list[Any]:
    """Return the rows of a CSV text, the first line of which names the columns. A row
    with more cells than columns has a field without a name."""
    text = text.lstrip("\r\n")
    csv.field_size_limit(LARGEST)
    mark = max(",;\t", key=text.partition("\n")[0].count)
    lines = io.StringIO(text, newline="")
    # Strict: a quote that is not closed would take the rows behind it into its answer.
    reader = csv.DictReader(lines, delimiter=mark, strict=True, skipinitialspace=True)
    # Spreadsheets write empty columns at the end, without names.
    names = list(filter(None, reader.fieldnames or ()))
    if len({*names}) < len(names):
        raise ValueError(f"a column appears twice: {', '.join(names)}")
    try:
        return [{name: row[name] or None for name in row} for row in reader]
    except csv.Error as error:
        raise ValueError(f"after line {reader.line_num}: {error}") from None


def _object(text: str | bytes) -> Any:
    """Return the JSON object in `text`; None if `text` is not one."""
    try:
        content = parse_json(text, unique=True)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


# --- Layouts ---


def _from_rows(table: Sequence[Any], form: str, container: str) -> AnswerFile:
    """Return the answers in the rows of a table.

    `form` is the required format or empty; `container` is the format's name for a table
    that no harness wrote. Raises `NothingMatchedError` if the rows have no ids or no
    answers.
    """
    rows: list[Row] = []
    for row in table:
        # More cells than columns: an answer with a comma that is not quoted.
        rows.append(row if isinstance(row, dict) and None not in row else {})
    name, id_field, answer_field = _fields(rows, form, container)
    values = values_at(rows, answer_field)
    answers: dict[str, list[str | None]] = {}
    faults: dict[str, list[str]] = defaultdict(list)
    filters: dict[str, object] = {}
    for number, (row, value) in enumerate(zip(rows, values, strict=True), 1):
        problem = id_text(field_at(row, id_field))
        if not problem.strip():
            faults[f"rows without {id_field}, left out"].append(str(number))
            continue
        # lm-eval writes the same responses again for each of its filters.
        row_filter = name == "lm-eval" and row.get("filter")
        if filters.setdefault(problem, row_filter) != row_filter:
            continue
        if name == "lm-eval" and LOG_LIKELIHOOD.match(str(value)):
            value = None
        texts = answer_texts(value)
        if None in texts:
            faults[f"rows without a text in {answer_field}"].append(str(number))
        answers.setdefault(problem, []).extend(texts)
    return AnswerFile(
        name,
        answers,
        f"{id_field}, {answer_field}",
        list(map(warning, faults, faults.values())),
    )


def _fields(rows: Sequence[Row], form: str, container: str) -> tuple[str, str, str]:
    """Return the first format (or `form` if it is not empty) whose id and answer fields
    the rows have, with the names of these two fields. Raises `NothingMatchedError` if
    there is none."""
    names = dict.fromkeys(chain(*rows)).keys()
    layouts = {**LAYOUTS, container: TABLE}
    if form:
        if form not in layouts:
            raise ValueError(f"it is {container}, not {form}")
        layouts = {form: layouts[form]}
    elif "completion" not in names and names & TABLE["answers"]:
        # A `solution` beside a model's answer is the expected one.
        del layouts["evalplus"]
    for name, layout in layouts.items():
        for id_field, answer_field in product(layout["ids"], layout["answers"]):
            if any(_has(row, id_field, answer_field) for row in rows):
                return name, id_field, answer_field
    id_names, wanted = map(", ".join, LAYOUTS.get(form, TABLE).values())
    fields = ", ".join([*names][:99]) or "no fields"
    raise NothingMatchedError(
        f"no answers in it: none of its {len(rows):,} rows has an id ({id_names}) "
        f"and an answer ({wanted}), but {fields}; {WANTED}"
    )


def _has(row: Row, id_field: str, answer_field: str) -> bool:
    """Return whether a row has an id and an answer in these fields.

    A top-level field other than `output` counts even without a value: a model's answer
    may be missing, and the expected answer, in a field further back, must not take its
    place.
    """
    named = answer_field in row and answer_field != "output"
    if not named and field_at(row, answer_field) is None:
        return False
    return bool(id_text(field_at(row, id_field)))
