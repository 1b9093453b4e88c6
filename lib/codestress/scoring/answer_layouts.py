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
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from codestress.errors import (
    DataError,
    NothingMatchedError,
    ParameterError,
)
from codestress.literals import parse_json
from codestress.problems.problem_files import LARGEST, decoded, unpacked
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
WANTED = "give an object of problem ids to lists of texts, or another format of docs/scoring.md, in UTF-8"
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
NO_SAMPLES = "no samples of inspect_ai in it; its run ended before the first answer"
NO_ROW = "no object, or have more cells than columns"


@dataclass(frozen=True)
class AnswerFile:
    """Answers in a file, and the way in which the file was read."""

    format: str
    """Name of the format, one of `FORMATS`."""
    answers: dict[str, list[str | None]]
    """Dict from problem id to texts, in the file's order; None marks a missing answer.
    """
    fields: str = "ids to texts"
    """Names of the fields that were read as id and answers; `ids to texts` for
    CRUXEval's format."""
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
        content = unpacked(path)
        if content.startswith(b"PK"):
            return _from_rows(_samples(content), form, "jsonl")
        if content.startswith(b"PAR1"):
            return _from_rows(_parquet(content), form, "parquet")
        return _from_text(decoded(content), form)
    except NothingMatchedError as error:
        raise NothingMatchedError(f"{path}: {error}") from None
    except Exception as error:
        # Readers of damaged files raise many kinds of errors.
        raise DataError(f"{path}: cannot be read: {error}; {WANTED}") from None


# --- Containers ---


def _samples(content: bytes) -> list[Any]:
    """Return the samples in an inspect_ai log (`.eval`) with its documented layout: a
    zip archive with a JSON file for each sample. A sample that is not a JSON object
    becomes None."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = dict.fromkeys(filter(SAMPLE.fullmatch, archive.namelist()))
        if not names:
            found = ", ".join(archive.namelist()[:9])
            raise NothingMatchedError(f"{NO_SAMPLES} (found: {found})")
        members = [archive.getinfo(name) for name in names]
        sizes = [info.file_size for info in members]
        whole = sum(sizes)
        if max(sizes) > LARGEST or whole > 16 * LARGEST:
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


def _from_text(text: str, form: str) -> AnswerFile:
    """Return the answers in the text of a file, like `read_answers`. Raises
    `ValueError` for a text that cannot be read."""
    if text.count("\n") > MOST_ROWS:
        raise ValueError(f"it has more than {MOST_ROWS:,} lines")
    if form != "csv":
        try:
            content = parse_json(text, unique=True)
        except ValueError as error:
            rows = [_object(line) for line in text.split("\n") if line.strip()]
            if any(rows):
                return _from_rows(rows, form, "jsonl")
            if text.lstrip().startswith(("{", "[")):
                raise ValueError(f"it is not JSON: {error}") from None
        else:
            return _from_json(content, form)
    return _from_rows(_csv(text), form, "csv")


def _from_json(content: Any, form: str) -> AnswerFile:
    """Return the answers in the JSON value `content`: rows, a harness's results, a
    single row, or CRUXEval's object of ids and lists. Raises `ValueError` for a value
    without rows."""
    rows = content
    if isinstance(content, dict):
        # inspect_ai's logs have a list of samples, EvalPlus's results an object of lists.
        rows = content.get("samples") or content.get("eval") or [content]
        if isinstance(rows, dict):
            lists = [part for part in rows.values() if isinstance(part, list)]
            if "samples" in content and len(lists) > 1:
                tasks = ", ".join(rows)
                raise ValueError(f"it has samples of {tasks}; give those of one task")
            if "status" in content:
                raise NothingMatchedError(NO_SAMPLES)
            rows = list(chain(*lists))
    if rows == [content]:
        with suppress(NothingMatchedError):
            return _from_rows(rows, form, "jsonl")
        if form in ("", "cruxeval"):
            return AnswerFile("cruxeval", _lists_of_texts(content))
    known = isinstance(rows, list) and any(map(_lowercase, rows))
    if rows != [] and not known:
        raise ValueError(f"it is a JSON {type(content).__name__}")
    return _from_rows(rows, form, "jsonl")


def _lists_of_texts(content: Row) -> dict[str, list[str | None]]:
    """Return the object `content` if it maps problem ids to lists of texts. Raises
    `ValueError` if not."""
    for name, texts in content.items():
        if not are_texts(texts):
            names = ", ".join([*content][:9])
            raise ValueError(f"{name}: is not a list of texts (found {names})")
    return content


def _csv(text: str) -> list[Any]:
    text = text.lstrip("\r\n")
    csv.field_size_limit(LARGEST)
    mark = max(",;\t", key=text.partition("\n")[0].count)
    lines = io.StringIO(text, newline="")
    # Strict: a quote that is not closed would take the rows behind it into its answer.
    reader = csv.DictReader(lines, delimiter=mark, strict=True, skipinitialspace=True)
    rows: list[Any] = []
    try:
        names = [name.strip().lower() for name in reader.fieldnames or ()]
        for name in names:
            if name and names.count(name) > 1:
                raise ValueError(f"column {name} appears twice")
        for row in reader:
            # More cells than columns: an answer with a comma that is not quoted.
            cells = {name: cell or None for name, cell in row.items()}
            rows.append(None if None in row else cells)
    except csv.Error as error:
        raise ValueError(f"row {len(rows) + 1}: {error}") from None
    return rows


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
    rows = [_lowercase(row) for row in table]
    name, id_field, answer_field = _fields(rows, form, container)
    values, answer_field = values_at(rows, answer_field)
    answers: dict[str, list[str | None]] = {}
    faults: dict[str, list[str]] = defaultdict(list)
    filters: dict[str, object] = {}
    for number, (row, value) in enumerate(zip(rows, values, strict=True), start=1):
        problem = id_text(field_at(row, id_field))
        if container == "csv" and problem[:-2].isdigit():
            # pandas writes whole numbers as floats in a column with gaps.
            problem = problem.removesuffix(".0")
        if not problem.strip():
            fault = f"without {id_field}" if row else f"that are {NO_ROW}"
            faults[f"rows {fault}, left out"].append(str(number))
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


def _lowercase(row: Any) -> Row:
    """Return the fields of `row` with their names in lower case; no fields if `row` is
    not an object. Raises `ValueError` if two fields get the same name."""
    fields: Row = {}
    for written, value in row.items() if isinstance(row, dict) else ():
        name = str(written).strip().lower()
        if name in fields:
            raise ValueError(f"field {name} appears twice, in another case")
        fields[name] = value
    return fields


def _fields(rows: Sequence[Row], form: str, container: str) -> tuple[str, str, str]:
    """Return the first format (or `form` if it is not empty) whose id and answer fields
    the rows have, with the names of these two fields. Raises `NothingMatchedError` if
    there is none."""
    names = dict.fromkeys(chain(*rows)).keys()
    layouts = {**LAYOUTS, container: TABLE}
    if form == "cruxeval":
        # CRUXEval's format is an object without rows.
        layouts.clear()
    elif form:
        if form not in layouts:
            raise ValueError(f"it is {container}, not {form}")
        layouts = {form: layouts[form]}
    elif "completion" not in names and names & {*TABLE["answers"]}:
        # A `solution` beside a model's answer is the expected one.
        del layouts["evalplus"]
    for name, layout in layouts.items():
        id_field = _preferred(layout["ids"], rows)
        # Rows of two kinds may lie in one file: an id of one, an answer of another is no layout.
        known = [row for row in rows if id_text(field_at(row, id_field))]
        answer_field = _preferred(layout["answers"], known)
        if id_field and answer_field:
            return name, id_field, answer_field
    id_names, wanted = map(", ".join, LAYOUTS.get(form, TABLE).values())
    remedy = WANTED
    if names:
        found = ", ".join([*names][:99])
        remedy = f"found {found}: rename them, or choose another --format"
    elif rows:
        remedy = f"they are {NO_ROW}"
    raise NothingMatchedError(
        f"no answers in it: none of its {len(rows):,} rows has an id ({id_names}) "
        f"and an answer ({wanted}); {remedy}"
    )


def _preferred(paths: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the first of `paths` that leads to a field of any of `rows`; empty if
    there is none.

    A top-level field other than `output` counts even without a value. A model's answer
    may be missing, and the expected answer, in a field further back, must not take its
    place.
    """
    for path in paths:
        named = path != "output" and any(path in row for row in rows)
        if named or any(field_at(row, path) is not None for row in rows):
            return path
    return ""
