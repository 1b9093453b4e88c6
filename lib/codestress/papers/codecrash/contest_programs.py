"""The kit's contest programs, each in Python and in JavaScript. Like LiveCodeBench's
programs, they have several functions, classes, imports and keyword arguments.
`params/codecrash/contest` holds the programs, and `calls.json` there has their calls
and outputs."""

import ast
import json
from functools import cache
from pathlib import Path
from typing import Any

from codestress.errors import DataError
from codestress.paths import PARAMS, shown, visible
from codestress.problems.problem_files import read_text
from codestress.problems.program import Problem, literal_text
from codestress.types import Language, Source

FOLDER = PARAMS / "codecrash" / "contest"
SUFFIXES: dict[Language, str] = {"python": "py", "javascript": "js"}
"""Dict from language to suffix of file names."""


def contest_files() -> list[Path]:
    """Return the paths of all files of the contest programs (programs and
    `calls.json`), sorted by name."""
    return visible(FOLDER, "*.*")


@cache
def contest_problems(language: Language = "python") -> list[Problem]:
    """Return one problem for each call of each contest program, in `language`. An id is
    made of the program's name and the call's number, from 0; ids are the same in all
    languages.

    The first calls of all programs come first, then all second calls and so on, so the
    first n problems cover as many programs as possible. Raises `DataError` if a file is
    missing.
    """
    calls: dict[str, Any] = json.loads(_content("calls.json"))
    problems = []
    for name, program in calls.items():
        code = _content(f"{name}.{SUFFIXES[language]}").rstrip("\n")
        for number, (arguments, output) in enumerate(program["calls"]):
            if language != "python":
                arguments = positional(arguments, program["parameters"])
            problem = Problem(
                f"{name}_{number}",
                code,
                program["function"],
                arguments,
                output,
                language,
                Source.KIT,
            )
            problems.append(problem)
    return sorted(problems, key=lambda problem: int(problem.id.rpartition("_")[2]))


def _content(name: str) -> str:
    """Return the text of the file `name` in the folder of the contest programs. Raises
    `DataError`, with the remedy, if the file is missing."""
    path = FOLDER / name
    if not path.is_file():
        raise DataError(
            f"{shown(path)}: is missing; restore it: git checkout -- {shown(FOLDER)}"
        )
    return read_text(path)


def positional(arguments: str, parameters: list[str]) -> str:
    """Return `arguments`, the text of a Python call's arguments, as positional
    arguments in JSON, in the order of the names `parameters`. JavaScript has no keyword
    arguments.

    Raises `ValueError` for an argument that is not a literal, `SyntaxError` for a text
    that is not a list of arguments, and `KeyError` for a parameter without an argument.
    """
    call = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(call, ast.Call)
    nodes: dict[str | None, ast.expr] = dict(zip(parameters, call.args, strict=False))
    for keyword in call.keywords:
        nodes[keyword.arg] = keyword.value
    texts = []
    for name in parameters:
        value = ast.literal_eval(nodes[name])
        texts.append(literal_text(value, "javascript"))
    return ", ".join(texts)
