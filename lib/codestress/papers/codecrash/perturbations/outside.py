"""Anybody's programs under the paper's perturbations: one row for each problem and condition (`codestress perturb`)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from codestress.literals import parse_expression, parse_json
from codestress.papers.codecrash.perturbations.edits import Site
from codestress.papers.codecrash.perturbations.messages import Truth
from codestress.papers.codecrash.perturbations.variants import (
    Perturbation,
    Status,
    check_problems,
    make_variants,
    run_calls,
)
from codestress.problems.problem_files import read_text
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor, Outcome
from codestress.types import Language


def perturbed_rows(
    path: Path, conditions: Sequence[Perturbation], language: Language, seed: int, truth: Truth = "false"
) -> list[dict[str, Any]]:
    """What becomes of each problem of a JSON Lines file under each condition, in the file's order.

    The programs are strangers': `SandboxError` where nothing isolates them. A row that is no problem, or whose call
    does not return the same value twice, is rejected under all conditions, with the reason.
    """
    given = _read(path, language)
    problems = [one for one in given.values() if isinstance(one, Problem)]
    faults = {name: one for name, one in given.items() if isinstance(one, str)}
    with Executor() as executor:
        executions = run_calls([(problem, problem.arguments) for problem in problems], executor)
        returned = []
        for problem, execution in zip(problems, executions, strict=True):
            if execution.outcome is Outcome.RETURNED:
                returned.append(replace(problem, output=repr(execution.value)))
            else:
                faults[problem.id] = f"its call does not return: {execution.outcome} {execution.detail}".strip()
        checked, unusable = check_problems(returned, executor, seed)
        made = {one: make_variants(checked, one, executor, seed=seed, truth=truth) for one in conditions}
    faults |= unusable
    return [
        _row(name, condition, problem, "rejected", faults[name])
        if name in faults
        else _row(name, condition, (one := made[condition][name]).problem, one.status, one.why, one.sites)
        for name, problem in given.items()
        for condition in conditions
    ]


def _read(path: Path, language: Language) -> dict[str, Problem | str]:
    """The problems of a file by id, without what they return; of a row that is none, what is wrong with it."""
    found: dict[str, Problem | str] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        name = f"line {number}"
        try:
            row = parse_json(line, unique=True)
            if not isinstance(row, dict):
                raise ValueError(f"not an object but {type(row).__name__}")
            if (given := str(row.get("id", name))) in found:
                raise ValueError(f"a second row with the id {given!r}; ids must be unique")
            name = given
            found[name] = _problem(row, name, language)
        except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
            found[name] = str(error) or type(error).__name__
    return found


def _problem(row: dict[str, Any], name: str, language: Language) -> Problem:
    function = row.get("function", row.get("function_name", "f"))
    for field, value in {"code": row.get("code"), "input": row.get("input"), "function": function}.items():
        if not isinstance(value, str):
            raise ValueError(f"{field} is {value!r}, not a text")
    if not function.isidentifier():
        raise ValueError(f"function is {function!r}, not a name")
    row["code"].encode()  # halves of surrogate pairs are in no program
    arguments = row["input"].strip()
    if arguments.startswith(f"{function}(") and arguments.endswith(")"):  # as LiveCodeBench has it
        arguments = arguments[len(function) + 1 : -1]
    if language == "javascript":
        parse_json(f"[{arguments}]")
    else:
        parse_expression(f"{function}({arguments}\n)")
    return Problem(name, row["code"], function, arguments, "None", language)


def _row(
    name: str, condition: str, given: Problem | str, state: Status, why: str, sites: Sequence[Site] = ()
) -> dict[str, Any]:
    """A row of the answer; `given` is no problem where a file's row was none."""
    problem = given if isinstance(given, Problem) else None
    said = condition.startswith(("MCC", "MPS", "MHC"))
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
    """Each message with its line in the perturbed program, and whether it is true of the call (null: not decided)."""
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
