"""Perturbations of the user's own programs, from a file: one row for each problem and condition
(`codestress perturb`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from keyword import iskeyword
from pathlib import Path
from typing import Any

from codestress.errors import DataError
from codestress.literals import (
    UNREADABLE,
    NotLiteral,
    odd_character,
    parse_expression,
    parse_program,
    reason_of,
)
from codestress.paths import shown
from codestress.problems.problem_files import numbered_lines, parse_row
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor
from codestress.types import Language

from .checking import check_problems
from .inputs import json_values
from .messages import Truth
from .variants import (
    NEUTRAL,
    Perturbation,
    Variant,
    make_variants,
)


@dataclass
class Line:
    """A line of the user's file: its problem, or the reason (`fault`) why it cannot be used."""

    id: str
    """The row's id; without one, `line NUMBER`."""
    place: str
    """File, line and id in words."""
    problem: Problem | None = None
    """Problem without an output; the run of its call gives one."""
    fault: str = ""


def perturbed_rows(
    path: Path,
    conditions: Sequence[Perturbation],
    language: Language,
    seed: int,
    truth: Truth = "false",
) -> list[dict[str, Any]]:
    """Returns one row for each problem in the JSON Lines file `path` and each of `conditions`
    (perturbations), in the file's order.

    Keys of a row: id, condition, state (`applied`, `unchanged`, `refused`, `rejected`), reason,
    code, function, input, messages (see `_messages`). A line that is no problem, or whose call does
    not return the same value twice, is rejected under all conditions; the reason begins with the
    number of the line. `truth` is the truth in the call that misleading messages must have. The
    programs are untrusted: `SandboxError` is raised where nothing isolates them, and `DataError`
    where the file cannot be read or has no rows.
    """
    lines = _read(path, language)
    with Executor() as executor:
        problems = [one.problem for one in lines if one.problem]
        checked, faults = check_problems(problems, executor, seed)
        made = {
            one: make_variants(checked, one, executor, seed=seed, truth=truth)
            for one in conditions
        }
    return [
        _row(line, condition, made[condition].get(line.id), faults)
        for line, condition in product(lines, conditions)
    ]


def _row(
    line: Line, condition: str, variant: Variant | None, faults: dict[str, str]
) -> dict[str, Any]:
    """Returns one row of the result, `rejected` where there is no `variant`. `faults` has reasons
    against problems by id."""
    problem = variant.problem if variant else line.problem
    reason = line.fault or faults.get(line.id, "")
    return {
        "id": line.id,
        "condition": condition,
        "state": variant.status if variant else "rejected",
        "reason": variant.why if variant else f"{line.place}: {reason}",
        "code": problem and problem.code,
        "function": problem and problem.function,
        "input": problem and problem.arguments,
        "messages": _messages(condition, variant) if variant else [],
    }


def _read(path: Path, language: Language) -> list[Line]:
    """Returns the lines of a JSON Lines file."""
    lines: dict[str, Line] = {}
    for number, text in numbered_lines(path):
        line = Line(f"line {number}", "")
        try:
            row = parse_row(text)
            name = line.id if row.get("id") is None else str(row["id"])
            if name in lines:
                raise ValueError(
                    f"a second row with the id {name!r}; ids must be unique"
                )
            line.id = name
            line.problem = _problem(row, name, language)
        except UNREADABLE as error:
            line.fault = reason_of(error)
        line.place = f"{shown(path)}, line {number} ({line.id})"
        lines[line.id] = line
    if not lines:
        raise DataError(
            f"{path}: has no rows; give JSON Lines with id, code, function and input"
        )
    return list(lines.values())


def _problem(row: dict[str, Any], name: str, language: Language) -> Problem:
    """Returns the problem that a row holds; raises `ValueError` with the reason where it holds
    none."""
    row = {"function": row.get("function_name", "f"), **row}
    for field in ("code", "input", "function"):
        if not isinstance(row.get(field), str):
            raise ValueError(f"{field} is {row.get(field)!r}, not a text")
    code, function, arguments = row["code"], row["function"], row["input"].strip()
    if not function.isidentifier() or (language == "python" and iskeyword(function)):
        raise ValueError(f"function is {function!r}, not a name")
    if arguments.startswith(f"{function}(") and arguments.endswith(")"):
        arguments = arguments[len(function) + 1 : -1]  # as LiveCodeBench has it
    fault = ""
    if language == "javascript":
        json_values(arguments)
        fault = odd_character(code)
    else:
        try:
            parse_program(code)
            parse_expression(f"{function}({arguments}\n)")
        except NotLiteral as error:
            raise ValueError(f"input is {error}") from None
        except SyntaxError as error:
            fault = str(error)
    if fault:
        raise ValueError(f"the program does not parse: {fault}")
    return Problem(name, code, function, arguments, "", language)


def _messages(condition: str, variant: Variant) -> list[dict[str, Any]]:
    """Returns the inserted messages as dictionaries in the order of the text: `text`, and `truth`
    (whether the call makes it true; None where not decided). Empty for conditions without
    messages."""
    if not condition.startswith(("MCC", "MPS", "MHC", NEUTRAL)):
        return []
    sites = sorted(variant.sites, key=lambda site: site.line)
    return [{"text": site.text, "truth": site.truth} for site in sites]
