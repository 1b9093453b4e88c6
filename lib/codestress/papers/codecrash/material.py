"""Files of material that a model wrote for CodeCrash: JavaScript translations of programs, and wrong
values for MHC, the misleading hint. `writing.py` has a model write them."""

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
"""Row of a file of JSON Lines."""


def read_rows(path: Path, fields: tuple[str, ...]) -> list[Row]:
    """Returns the rows of the JSON Lines file `path` as dicts, in each of which all of `fields` are
    texts. Raises `DataError` with the number of the first line that is no such object, and where
    the file cannot be read."""
    rows = []
    for number, line in numbered_lines(path):
        try:
            row = parse_row(line)
            if not all(isinstance(row.get(field), str) for field in fields):
                raise ValueError
        except ValueError:
            raise DataError(
                f"{shown(path)}, line {number}: not an object with {', '.join(fields)}"
            ) from None
        rows.append(row)
    return rows


def translated(problems: list[Problem], path: str, source: str) -> list[Problem]:
    """Returns JavaScript versions of `problems`, which come from `source` (named in errors), by the
    file `path` that `codestress write translations` made.

    Problems without a row in the file are left out. Raises `ParameterError` where `path` is empty,
    and `DataError` where the file is faulty or a problem's arguments have no JSON form.
    """
    if not path:
        raise ParameterError(
            f"languages = ['javascript']: {source} has no JavaScript programs; make them with "
            "`codestress write translations` and name the file in translations, or take problems = ['contest']"
        )
    codes = {row["id"]: row["code"] for row in read_rows(ROOT / path, ("id", "code"))}
    versions = []
    for problem in problems:
        if problem.id not in codes:
            continue
        try:
            version = javascript_version(problem, codes[problem.id])
        except NotJson as error:
            raise DataError(
                f"{path}, {problem.id}: {error}; or take the row out: "
                "`codestress write translations` writes none of such a problem"
            ) from None
        versions.append(version)
    return versions


def javascript_version(problem: Problem, code: str) -> Problem:
    """Returns a Python `problem` with `code`, in JavaScript, as its program, and with its arguments
    as JSON values in the order of the parameters; raises `NotJson` where the arguments have no JSON
    form."""
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
    """Returns wrong values that a model wrote for MHC, the misleading hint, as a dict by problem
    id: from the rows of the file `path` about this `task` and the ids `problems`. Raises
    `DataError` where there are none or the file is missing (not where `problems` is empty);
    the message names the command that writes them for `source`."""
    file = ROOT / path
    values = {}
    for row in read_rows(file, ("id", "task", "value")) if file.is_file() else []:
        if row["task"] == task and row["id"] in problems:
            values[row["id"]] = row["value"]
    if problems and not values:
        ask = f"codestress write hints --problems {source} --task {task} --model gpt-4o-2024-05-13 -o {path}"
        raise DataError(
            f"hints = {path}: no {task} of {source}: `{ask}`, or hints = generated, which deviates"
        )
    return values
