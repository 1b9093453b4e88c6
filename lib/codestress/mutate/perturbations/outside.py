"""Perturbations of the user's own programs, from a file: one result row for each
problem and condition (`codestress perturb`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any

from codestress.errors import DataError
from codestress.literals import (
    UNREADABLE,
    NotLiteral,
    odd_character,
    parse_expression,
    reason_of,
)
from codestress.paths import shown
from codestress.problems.problem_files import numbered_lines, parse_row
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Language

from .checking import check_problems
from .inputs import json_values
from .kinds import NEUTRAL, Truth
from .variants import (
    Perturbation,
    Variant,
    make_variants,
)


@dataclass(frozen=True)
class Line:
    """Line of the user's file: its problem, or the reason (`fault`) why the line cannot
    be used."""

    place: str
    """File, line and id, in words."""
    problem: Problem
    """Problem without an output; the run of its call gives one."""
    fault: str


def perturbed_rows(
    path: Path,
    conditions: Sequence[Perturbation],
    language: Language,
    seed: int,
    truth: Truth = "false",
) -> list[dict[str, Any]]:
    """Return one row for each problem in the JSON Lines file `path` and each
    perturbation of `conditions`, in the file's order.

    Keys of a row: id, condition, state (`applied`, `unchanged`, `refused`, `rejected`),
    reason, code, function, input, messages (see `_row`). A line is rejected under all
    conditions if it holds no problem (its code is then empty), or if its call does not
    return the same value twice. The reason then begins with the file and the line's
    number. `truth` is the truth that misleading messages must have in the call.

    The programs are untrusted: raises `SandboxError` if nothing isolates them. Raises
    `DataError` if the file cannot be read or has no rows.
    """
    lines = _read(path, language)
    with Executor() as executor:
        problems = [line.problem for line in lines.values() if not line.fault]
        checked, faults = check_problems(problems, executor, seed)
        variants = {}
        for condition in conditions:
            variants[condition] = make_variants(
                checked, condition, executor, seed=seed, truth=truth
            )
    rows = []
    for name, line in lines.items():
        why = f"{line.place}: {line.fault or faults.get(name)}"
        rejected = Variant(line.problem, "rejected", why=why)
        for condition in conditions:
            variant = variants[condition].get(name, rejected)
            rows.append(_row(name, condition, variant))
    return rows


def _row(name: str, condition: str, variant: Variant) -> dict[str, Any]:
    """Return one row of the result.

    `messages` are the inserted messages in the order of the text, as dicts: `text`, and
    `truth` (whether the call makes it true; None if not decided). The list is empty for
    conditions without messages.
    """
    messages = []
    if condition.startswith(("MCC", "MPS", "MHC", NEUTRAL)):
        for site in sorted(variant.sites, key=lambda site: site.line):
            messages.append({"text": site.text, "truth": site.truth})
    return {
        "id": name,
        "condition": condition,
        "state": variant.status,
        "reason": variant.why,
        "code": variant.problem.code,
        "function": variant.problem.function,
        "input": variant.problem.arguments,
        "messages": messages,
    }


def _read(path: Path, language: Language) -> dict[str, Line]:
    """Return a dict from id to line for a JSON Lines file; a row without an id gets
    `line NUMBER`."""
    lines: dict[str, Line] = {}
    for number, text in numbered_lines(path):
        name, problem, fault = f"line {number}", Problem("", "", "", "", ""), ""
        try:
            row = parse_row(text)
            row_id = name if row.get("id") is None else str(row["id"])
            if row_id in lines:
                raise ValueError(
                    f"a second row with the id {row_id!r}; ids must be unique"
                )
            name = row_id
            problem = _problem(row, name, language)
        except UNREADABLE as error:
            fault = reason_of(error)
        lines[name] = Line(f"{shown(path)}, line {number} ({name})", problem, fault)
    if not lines:
        raise DataError(
            f"{path}: has no rows; give JSON Lines with id, code, function and input"
        )
    return lines


def _problem(row: dict[str, Any], name: str, language: Language) -> Problem:
    """Return the problem that a row holds; raises `ValueError` with the reason if it
    holds none."""
    row = {"function": row.get("function_name", "f"), **row}
    for field in ("code", "input", "function"):
        if not isinstance(row.get(field), str):
            raise ValueError(f"{field} is {row.get(field)!r}, not a text")
    code, function, arguments = row["code"], row["function"], row["input"].strip()
    if not function.isidentifier() or (language == "python" and iskeyword(function)):
        raise ValueError(f"function is {function!r}, not a name")
    if arguments.startswith(f"{function}(") and arguments.endswith(")"):
        # As LiveCodeBench has it.
        arguments = arguments[len(function) + 1 : -1]
    if fault := odd_character(code):
        raise ValueError(f"the program does not parse: {fault}")
    if language == "javascript":
        json_values(arguments)
    else:
        try:
            parse_expression(f"{function}({arguments}\n)")
        except NotLiteral as error:
            raise ValueError(f"input is {error}") from None
    return Problem(name, code, function, arguments, "", language)
