"""Problems of your own: params/problems.yaml names files, which every study on CRUXEval's tasks then takes by name."""

from __future__ import annotations

from functools import cache
from typing import Any

from codestress.errors import DataError
from codestress.paths import PARAMS, ROOT, shown
from codestress.problems.problem_files import read_problems
from codestress.problems.program import Problem
from codestress.validation import Strict, one_of, read_rows

FILE = PARAMS / "problems.yaml"


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
