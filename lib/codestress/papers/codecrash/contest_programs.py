"""Contest programs of the kit's own, each in Python and in JavaScript: several functions, classes, imports, called by
keyword, as LiveCodeBench's are. They stand in contest/, with calls and their outputs in contest/calls.json."""

from __future__ import annotations

import ast
import json
from functools import cache
from importlib.resources import files
from typing import Any

from codestress.problems.program import Problem, literal_text
from codestress.types import Language, Source

SUFFIXES: dict[Language, str] = {"python": "py", "javascript": "js"}


@cache
def contest_problems(language: Language = "python") -> list[Problem]:
    """Every call of every program, by name; the same ids in both languages.

    Neighbours are different programs: the first n problems have as many programs as possible.
    """
    folder = files(__package__) / "contest"
    calls: dict[str, Any] = json.loads((folder / "calls.json").read_text(encoding="utf-8"))
    problems = []
    for number in range(max(len(program["calls"]) for program in calls.values())):
        for name, program in calls.items():
            if number < len(program["calls"]):
                code = (folder / f"{name}.{SUFFIXES[language]}").read_text(encoding="utf-8").rstrip("\n")
                arguments, output = program["calls"][number]
                if language != "python":
                    arguments = positional(arguments, program["parameters"], language)
                problems.append(
                    Problem(
                        f"{name}_{number}", code, program["function"], arguments, output, language, source=Source.KIT
                    )
                )
    return problems


def positional(arguments: str, parameters: list[str], language: Language) -> str:
    """Keyword arguments of Python as the arguments of a language that has none, in the order of the parameters."""
    call = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(call, ast.Call)
    values = dict(zip(parameters, (ast.literal_eval(node) for node in call.args), strict=False))
    values |= {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    return ", ".join(literal_text(values[name], language) for name in parameters)
