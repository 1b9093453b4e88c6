"""Perturbations of the user's own programs, from a file: one row for each problem and condition
(`codestress perturb`)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
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
    written_out,
)
from codestress.mutate.perturbations.checking import check_problems, run_calls
from codestress.mutate.perturbations.edits import Site
from codestress.mutate.perturbations.inputs import json_values
from codestress.mutate.perturbations.messages import Truth
from codestress.mutate.perturbations.variants import (
    NEUTRAL,
    Perturbation,
    Status,
    make_variants,
)
from codestress.paths import shown
from codestress.problems.problem_files import numbered_lines, parse_row
from codestress.problems.program import Problem
from codestress.sandbox.executor import Execution, Executor, Outcome
from codestress.types import Language


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
    given, lines = _read(path, language)
    problems = [one for one in given.values() if isinstance(one, Problem)]
    faults = {name: one for name, one in given.items() if isinstance(one, str)}
    with Executor() as executor:
        executions = run_calls(
            [(problem, problem.arguments) for problem in problems], executor
        )
        returned = []
        for problem, execution in zip(problems, executions, strict=True):
            if execution.outcome is not Outcome.RETURNED:
                faults[problem.id] = _without_value(execution)
                continue
            try:
                returned.append(replace(problem, output=written_out(execution.value)))
            except NotLiteral as error:
                faults[problem.id] = (
                    f"what its call returns cannot be written out: {error}"
                )
        checked, unusable = check_problems(returned, executor, seed)
        made = {
            one: make_variants(checked, one, executor, seed=seed, truth=truth)
            for one in conditions
        }
    faults |= unusable
    rows = []
    for name, line in given.items():
        for condition in conditions:
            if name in faults:
                why = f"{lines[name]}: {faults[name]}"
                rows.append(_row(name, condition, line, "rejected", why))
            else:
                one = made[condition][name]
                rows.append(
                    _row(name, condition, one.problem, one.status, one.why, one.sites)
                )
    return rows


def _without_value(execution: Execution) -> str:
    """Sentence that says why an execution gave no value."""
    if execution.outcome is Outcome.SYNTAX_ERROR:
        return f"the program does not parse: {execution.detail}"
    if execution.outcome is Outcome.NOT_DATA:
        return f"what its call returns is not data: {execution.detail}"
    return f"its call does not return: {execution.outcome} {execution.detail}".strip()


def _read(
    path: Path, language: Language
) -> tuple[dict[str, Problem | str], dict[str, str]]:
    """Returns two dictionaries by id (without one, `line NUMBER`), from a JSON Lines file: its
    problems, with the output `None` as a placeholder, or as text the reason why a line is none; and
    each one's file and line in words."""
    found: dict[str, Problem | str] = {}
    lines: dict[str, str] = {}
    for number, line in numbered_lines(path):
        name = f"line {number}"
        try:
            row = parse_row(line)
            given = name if row.get("id") is None else str(row["id"])
            if given in found:
                raise ValueError(
                    f"a second row with the id {given!r}; ids must be unique"
                )
            name = given
            found[name] = _problem(row, name, language)
        except UNREADABLE as error:
            found[name] = reason_of(error)
        lines[name] = f"{shown(path)}, line {number} ({name})"
    if not found:
        raise DataError(
            f"{path}: has no rows; give JSON Lines with id, code, function and input"
        )
    return found, lines


def _problem(row: dict[str, Any], name: str, language: Language) -> Problem:
    row = {"function": row.get("function_name", "f"), **row}
    for field in ("code", "input", "function"):
        value = row.get(field)
        if not isinstance(value, str):
            raise ValueError(f"{field} is {value!r}, not a text")
    function = row["function"]
    if not function.isidentifier() or (language == "python" and iskeyword(function)):
        raise ValueError(f"function is {function!r}, not a name")
    arguments = row["input"].strip()
    if arguments.startswith(f"{function}(") and arguments.endswith(
        ")"
    ):  # as LiveCodeBench has it
        arguments = arguments[len(function) + 1 : -1]
    if language == "javascript":
        json_values(arguments)
        if odd := odd_character(row["code"]):
            raise ValueError(f"the program does not parse: {odd}")
    else:
        try:
            parse_program(row["code"])
        except SyntaxError as error:
            raise ValueError(f"the program does not parse: {error}") from None
        try:
            parse_expression(f"{function}({arguments}\n)")
        except NotLiteral as error:
            raise ValueError(f"input is {error}") from None
    return Problem(name, row["code"], function, arguments, "None", language)


def _row(
    name: str,
    condition: str,
    given: Problem | str,
    state: Status,
    why: str,
    sites: Sequence[Site] = (),
) -> dict[str, Any]:
    """Returns one row of the result. `given` is the problem, perturbed or not, or a text where the
    file's line is no problem: then code, function and input are None."""
    problem = given if isinstance(given, Problem) else None
    said = condition.startswith(("MCC", "MPS", "MHC", NEUTRAL))
    return {
        "id": name,
        "condition": condition,
        "state": state,
        "reason": why,
        "code": problem and problem.code,
        "function": problem and problem.function,
        "input": problem and problem.arguments,
        "messages": _messages(problem.code, sites) if problem and said else [],
    }


def _messages(code: str, sites: Sequence[Site]) -> list[dict[str, Any]]:
    """Returns the inserted messages as dictionaries in the order of the text: `line` in the
    perturbed program `code`, `text`, and `truth` (whether the call makes it true; None where not
    decided)."""
    lines: dict[str, list[int]] = defaultdict(list)
    for text in {site.text for site in sites}:
        written = {text, repr(text)[1:-1], json.dumps(text)[1:-1]}
        for number, line in enumerate(code.split("\n"), start=1):
            lines[text] += [number] * max(line.count(one) for one in written)
    found = [
        {"line": lines[site.text].pop(0), "text": site.text, "truth": site.truth}
        for site in sorted(sites, key=lambda site: site.line)
    ]
    return sorted(found, key=lambda message: message["line"])
