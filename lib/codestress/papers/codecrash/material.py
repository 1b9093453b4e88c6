"""Files of material that a model wrote for CodeCrash: JavaScript translations of
programs, and wrong values for MHC, the misleading hint. `writing.py` has a model write
them."""

from collections.abc import Iterator
from pathlib import Path

from codestress.errors import DataError, ParameterError
from codestress.mutate.perturbations.inputs import NotJson, json_values
from codestress.mutate.perturbations.python import PythonProgram
from codestress.paths import ROOT, shown
from codestress.problems.problem_files import numbered_lines, parse_row
from codestress.problems.program import Problem, from_stranger
from codestress.types import Task

from .contest_programs import positional

Row = dict[str, str]
"""Row of a JSON Lines file."""


def read_rows(path: Path, *fields: str) -> Iterator[tuple[int, Row]]:
    """Yield each row of the JSON Lines file `path` with its line number, as a dict in
    which all `fields` are strings (`id` alone if the row has a `reason`, because it was
    rejected). Raises `DataError`, with the number of the first line that is not such an
    object, or if the file cannot be read."""
    for number, line in numbered_lines(path):
        try:
            row = parse_row(line)
            needed = ["id"] if "reason" in row else fields
            if not all(isinstance(row.get(field), str) for field in needed):
                raise ValueError
        except ValueError:
            raise DataError(
                f"{shown(path)}, line {number}: not an object with {', '.join(fields)}"
            ) from None
        yield number, row


def _by_id(path: Path, field: str, source: str, task: str = "") -> Row:
    """Return the texts in `field` of the rows of `path` about a `source` and `task`, by problem id;
    rows that name no data set are about any, and rejected rows are left out. Raises
    `DataError` for a second row with an id."""
    texts: Row = {}
    fields = ["id", "task", field] if task else ["id", field]
    for number, row in read_rows(path, *fields):
        name = row["id"]
        other = row.get("dataset", source) != source
        if other or "reason" in row or (task and row["task"] != task):
            continue
        if name in texts:
            place = f"{shown(path)}, line {number}"
            raise DataError(f"{place}: a second {field} for {name!r}; remove one")
        texts[name] = row[field]
    return texts


def translated(problems: list[Problem], path: str, source: str) -> list[Problem]:
    """Return JavaScript versions of `problems`, from the file `path` that `codestress
    write translations` made. `source` is the data set of the problems, for error
    messages.

    Problems without a row in the file are left out. Raises `ParameterError` if `path`
    is empty, and `DataError` if the file is faulty or a problem's arguments have no
    JSON form.
    """
    if not path:
        raise ParameterError(
            f"languages = ['javascript']: {source} has no JavaScript programs; make them with "
            "`codestress write translations` and name the file in translations, or take problems = ['contest']"
        )
    codes = _by_id(ROOT / path, "code", source)
    versions = []
    for problem in problems:
        if problem.id in codes:
            try:
                versions.append(javascript_version(problem, codes[problem.id]))
            except NotJson as error:
                place = f"{path}, {problem.id}"
                raise DataError(f"{place}: {error}; or take the row out") from None
    return versions


def javascript_version(problem: Problem, code: str) -> Problem:
    """Return the Python `problem` with the JavaScript `code` as its program, and its
    arguments as JSON values in the order of the parameters. Raises `NotJson` if the
    arguments have no JSON form."""
    try:
        parameters = PythonProgram(problem).parameters()
        arguments = positional(problem.arguments, parameters)
        json_values(arguments)
    except (TypeError, ValueError, KeyError, SyntaxError, RecursionError):
        raise NotJson(problem.arguments) from None
    return from_stranger(problem, code=code, arguments=arguments, language="javascript")


def written_hints(
    path: str, source: str, task: Task, problems: set[str]
) -> dict[str, str]:
    """Return wrong values that a model wrote for MHC, the misleading hint, as a dict
    from problem id to value. Only rows of the file `path` about this `task` and the ids
    `problems` count.

    Raises `DataError` if no row counts or the file is missing, unless `problems` is
    empty. The message names the command that writes hints for `source`.
    """
    file = ROOT / path
    written = _by_id(file, "value", source, task) if file.is_file() else {}
    values = {name: written[name] for name in written if name in problems}
    if problems and not values:
        ask = f"codestress write hints --problems {source} --task {task} --model gpt-4o-2024-05-13 -o {path}"
        raise DataError(
            f"hints = {path}: no {task} of {source}: `{ask}`, or hints = generated, which deviates"
        )
    return values
