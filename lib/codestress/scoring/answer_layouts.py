"""Reads files of answers: CRUXEval's format, other harnesses' files, and tables of one's own.

Container (zip, Parquet, JSON, JSON Lines, CSV) and layout (the fields with the problem's id and the
answers) are recognised by content, never by the file's name.
"""

from __future__ import annotations

import csv
import io
import struct
import zipfile
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from codestress.errors import (
    CodestressError,
    DataError,
    NothingMatchedError,
    ParameterError,
)
from codestress.literals import parse_json
from codestress.problems.problem_files import LARGEST, decoded, unpacked

Layout = tuple[Sequence[str], Sequence[str]]
"""Fields of a row with the problem's id, and fields with the answers, the preferred first; a dot
leads into an object."""
LAYOUTS: dict[str, Layout] = {
    "openai-batch": (["custom_id"], ["response", "result"]),
    "lm-eval": (["doc.id", "doc.task_id", "doc.question_id", "doc_id"], ["resps"]),
    "inspect": (["id"], ["output.choices"]),
    "livecodebench": (["id", "question_id"], ["pred_list", "code_list", "output_list"]),
    "evalplus": (["task_id"], ["completion", "solution"]),
}
"""Layouts by format. `result` is the answer in Anthropic's batches."""
IDS = "problem_id id task_id question_id sample_id problem custom_id key"
ANSWERS = (
    "completions completion generations generation generated_text model_output model_response "
    "model_answer raw_output raw_response predictions prediction preds pred responses response "
    "outputs output_text output answers answer text"
)
"""Names in a table of one's own. `answer` comes late: beside a prediction it is the expected one."""
TABLE: Layout = (IDS.split(), ANSWERS.split())
FORMATS = ("cruxeval", *LAYOUTS, "jsonl", "csv", "parquet")
"""Formats that `codestress score --format` names."""
WANTED = "give an object of problem ids to lists of texts, or another format of docs/scoring.md, in UTF-8"
MOST_ROWS = 2_000_000
"""Largest number of rows in a file, against files that unpack to endless ones."""
ZSTANDARD = 93
"""Number of inspect_ai's compression in the zip format; zipfile reads it from Python 3.14 on."""


@dataclass(frozen=True)
class AnswerFile:
    """Answers in a file, and how the file was read."""

    format: str
    """Name of the format, one of `FORMATS`."""
    answers: dict[str, list[str | None]]
    """Texts by problem id, in the file's order; None marks a missing answer."""
    fields: str = "ids to texts"
    """Names of the fields that were read as id and answers."""
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Numbers of rows without id or answer, by fault."""


def read_answers(path: Path, form: str = "") -> AnswerFile:
    """Returns the answers in the file at `path` by problem id; gzip is unpacked.

    The format is recognised by content unless `form`, one of `FORMATS`, forces one. `DataError`,
    which names the fault, for a file that cannot be read; `NothingMatchedError`, which names the
    fields that were found, for rows without ids or answers; `ParameterError` for another `form`.
    """
    if form not in ("", *FORMATS):
        raise ParameterError(
            f"--format {form}: unknown; choose one of {', '.join(FORMATS)}"
        )
    try:
        content = unpacked(path)
        if content.startswith(b"PK"):
            return _mapped(path, _samples(content), form or "inspect", "zip")
        if content.startswith(b"PAR1"):
            return _mapped(path, _parquet(content), form, "parquet")
        return _of_text(path, decoded(content), form)
    except CodestressError:
        raise
    except Exception as error:  # readers of damaged files raise many kinds
        raise DataError(f"{path}: cannot be read: {error}; {WANTED}") from None


def _samples(content: bytes) -> list[Any]:
    """Returns the samples in an inspect_ai log (`.eval`), read by that package where it is
    installed, else by the log's documented layout: a zip with a JSON file for each sample."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {info.filename: info for info in archive.infolist()}
        sizes = [info.file_size for info in members.values()]
        if max(sizes, default=0) > LARGEST or sum(sizes) > 16 * LARGEST:
            raise ValueError(f"it unpacks to {sum(sizes):,} bytes")
        try:
            log = import_module("inspect_ai.log").read_eval_log(
                io.BytesIO(content), format="eval"
            )
            return [
                sample.model_dump(include={"id", "output"}) for sample in log.samples
            ]
        except Exception:  # not installed, or a version that does not read this
            return [
                _parsed(_member(archive, info, content))
                for name, info in members.items()
                if name.startswith("samples/")
            ]


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, content: bytes) -> bytes:
    """Returns the unpacked bytes of the member `info` of `archive`, whose file is `content`."""
    if info.compress_type != ZSTANDARD:
        return archive.read(info)
    import pyarrow

    names = struct.unpack_from("<HH", content, info.header_offset + 26)
    start = info.header_offset + 30 + sum(names)
    packed = content[start : start + info.compress_size]
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as stream:
        return bytes(stream.read(info.file_size))


def _parquet(content: bytes) -> list[Any]:
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(io.BytesIO(content))
    if file.metadata.num_rows > MOST_ROWS:
        raise ValueError(f"it has more than {MOST_ROWS:,} rows")
    return list(file.read().to_pylist())


def _of_text(path: Path, text: str, form: str) -> AnswerFile:
    """Returns the answers in `text`, the content of the file at `path`, like `read_answers`."""
    if text.count("\n") > MOST_ROWS:
        raise ValueError(f"it has more than {MOST_ROWS:,} lines")
    if form == "csv":
        return _mapped(path, _csv(text), form, "csv")
    try:
        content = rows = parse_json(text, unique=True)
    except ValueError as error:
        rows = [_parsed(line) for line in text.split("\n") if line.strip()]
        if any(rows):
            return _mapped(path, rows, form, "jsonl")
        if text.lstrip()[:1] in ("{", "["):
            raise DataError(f"{path}: is not JSON: {error}; {WANTED}") from None
        return _mapped(path, _csv(text), form, "csv")
    if isinstance(content, dict):
        # inspect_ai's logs have a list of samples, EvalPlus's results an object of lists.
        rows = content.get("samples") or content.get("eval") or [content]
        if isinstance(rows, dict):
            rows = [
                row for part in rows.values() if isinstance(part, list) for row in part
            ]
        if rows == [content] and not _recognised(_small(rows), form, "jsonl"):
            tables = [part for part in content.values() if _has_objects(part)]
            if len(tables) == 1 and _recognised(_small(tables[0]), form, "jsonl"):
                return _mapped(path, tables[0], form, "jsonl")
            if form in ("", "cruxeval"):
                return AnswerFile("cruxeval", _of_object(path, content))
    if rows != [] and not _has_objects(rows):
        raise DataError(f"{path}: is a JSON {type(content).__name__}; {WANTED}")
    return _mapped(path, rows, form, "jsonl")


def _has_objects(rows: Any) -> bool:
    return isinstance(rows, list) and any(isinstance(row, dict) for row in rows)


def _of_object(path: Path, content: dict[str, Any]) -> dict[str, list[str | None]]:
    for name, texts in content.items():
        if not isinstance(texts, list) or not all(
            isinstance(text, str | None) for text in texts
        ):
            found = ", ".join([*content][:9])
            raise DataError(
                f"{path}: {name}: is not a list of texts (found {found}); {WANTED}"
            )
    return content


def _csv(text: str) -> list[Any]:
    text = text.lstrip("\r\n")
    heading = text.partition("\n")[0]
    csv.field_size_limit(LARGEST)
    reader = csv.DictReader(
        io.StringIO(text, newline=""), delimiter=max(",;\t", key=heading.count)
    )
    # More cells than columns: an answer with a comma that is not quoted.
    return [None if None in row else row for row in reader]


def _parsed(text: str | bytes) -> Any:
    """Returns the JSON object in `text`; None where there is none."""
    try:
        content = parse_json(text, unique=True)
    except ValueError:
        return None
    return content if isinstance(content, dict) else None


def _mapped(path: Path, rows: Sequence[Any], form: str, container: str) -> AnswerFile:
    """Returns the answers in `rows` of the file at `path`; `form` is the forced format or empty,
    `container` the format of a table of one's own. `NothingMatchedError` without ids or answers."""
    rows = _small(rows)
    recognised = _recognised(rows, form, container)
    if not recognised:
        ids, fields = map(", ".join, LAYOUTS.get(form, TABLE))
        found = dict.fromkeys(str(name) for row in rows[:99] for name in row)
        raise NothingMatchedError(
            f"{path}: none of its {len(rows):,} rows has an id ({ids}) and an answer ({fields}); "
            f"found {', '.join(found) or 'no fields'}: rename them, or choose another --format"
        )
    name, id_field, answer_field = recognised
    answers: dict[str, list[str | None]] = {}
    faults: dict[str, list[str]] = defaultdict(list)
    filters: dict[str, object] = {}
    for number, row in enumerate(rows, start=1):
        problem = _at(row, id_field)
        if (
            isinstance(problem, float) and problem.is_integer()
        ):  # as pandas writes beside gaps
            problem = int(problem)
        if type(problem) not in (str, int) or problem == "":
            faults[f"rows without {id_field}, not scored"].append(str(number))
            continue
        # lm-eval writes the same responses again for each of its filters.
        row_filter = _at(row, "filter")
        if filters.setdefault(str(problem), row_filter) != row_filter:
            continue
        texts = _answers(_at(row, answer_field))
        if None in texts:
            faults[f"rows without a text in {answer_field}"].append(str(number))
        answers.setdefault(str(problem), []).extend(texts)
    return AnswerFile(name, answers, f"{id_field}, {answer_field}", faults)


def _small(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns `rows` with the names of their fields in small letters; no fields for other rows."""
    return [
        {str(name).strip().lower(): value for name, value in row.items()}
        if isinstance(row, dict)
        else {}
        for row in rows
    ]


def _recognised(rows: Sequence[Any], form: str, container: str) -> Sequence[str]:
    """Returns the format of the first row that has an id and answers (`form`, where it is not
    empty), and the fields that have them; nothing where no row has both.

    A field that is preferred and empty in that row is taken where any row names it: the model's
    answer may be missing in the first row, and the expected one beside it is none.
    """
    form = form if form in ("", *LAYOUTS) else container
    found = {name for row in rows for name in row}
    for row in rows:
        for name, layout in {**LAYOUTS, container: TABLE}.items():
            if form not in ("", name) or (not form and _beside(row, name)):
                continue
            if all(
                any(_at(row, path) is not None for path in paths) for paths in layout
            ):
                return name, *(_preferred(paths, rows, found) for paths in layout)
    return ()


def _preferred(paths: Sequence[str], rows: Sequence[Any], found: Set[str]) -> str:
    """Returns the first of `paths` that any of `rows`, whose fields are `found`, names."""
    known = (path for path in paths if path.partition(".")[0] in found)
    return next((path for path in known if any(_names(row, path) for row in rows)), "")


def _beside(row: Any, name: str) -> bool:
    """Whether a `solution`, EvalPlus's answer, stands beside a model's answer: the expected one."""
    given = row.keys()
    return (
        name == "evalplus"
        and "completion" not in given
        and not given.isdisjoint(TABLE[1])
    )


def _names(row: Any, path: str) -> bool:
    """Whether `row` has the field at `path`, or names it without a value."""
    return _at(row, path) is not None or (path in row and path != "output")


def _at(row: Any, path: str) -> Any:
    """Returns the field of `row` at `path`; None without it, and for the `output` of a problem."""
    if path == "output" and ("input" in row or "code" in row):
        return None
    for name in path.split("."):
        row = row.get(name) if isinstance(row, dict) else None
    return row


def _answers(value: Any) -> list[str | None]:
    """Returns the answers in a field: a text, a list of texts, or an API's response with one for
    each choice; None marks a missing one and one that is no text."""
    while isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if str(_at(value, "status_code") or "").startswith(("4", "5")):
        return [None]  # what the server says of its failure is no model's text
    value = _at(value, "body") or value
    value = _at(value, "choices") or _at(value, "candidates") or value
    return (
        [_text(part) for part in value] if isinstance(value, list) else [_text(value)]
    )


def _text(message: Any) -> str | None:
    """Returns the text of an API's message, its text parts without reasoning; None without any."""
    if isinstance(message, list) and len(message) == 1 and isinstance(message[0], str):
        return message[0]
    if isinstance(message, list) and all(isinstance(part, dict) for part in message):
        return "".join(_text(part) or "" for part in message) or None
    if isinstance(message, dict):
        if message.get("thought") or message.get("type") in ("reasoning", "thinking"):
            return None
        fields = ("message", "content", "parts", "text", "output", "completion")
        return _text(next(filter(None, map(message.get, fields)), None))
    return message if isinstance(message, str) else None
