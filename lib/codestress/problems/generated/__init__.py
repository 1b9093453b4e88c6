"""Problems that no model has seen: CRUXEval-like functions from a seeded, type-directed generator.

The same families of methods on str, list, dict and int, 2 to 12 lines, and CRUXEval's filters: deterministic, no
imports, no floats, within the limit of steps. Beyond them: everything has a part in the result, the result depends on
the arguments, and no line could go without a difference.
"""

from __future__ import annotations

import ast
import copy
import itertools
import re
import sys
from collections.abc import Sequence, Sized
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from codestress.problems.generated.drawing import Draw
from codestress.problems.generated.statements import Writer
from codestress.problems.program import Problem
from codestress.seeding import rng
from codestress.types import Source

MOST_LINES = 12
MOST_STEPS = 2000
"""Lines executed; CRUXEval allows 100,000, and functions of this size need some dozens."""
MOST_ELEMENTS = 2000
"""Of a local at any line; what doubles in a loop is stopped before it has used up the memory."""
MOST_CHARACTERS = 110
"""Of the arguments, and of the output."""
TRIED = 5
"""Sets of arguments on which a function is tried."""
ATTEMPTS = 5000
IDLE = re.compile(r"\b([\w\[\]]+)\.\w+\(\1[,)]|replace\(('.*?'), \2\)")
"""A text looked for in itself, or replaced by itself."""
RAISED = "raised"
Outcome = tuple[str, str]
"""`returned` and the value's literal, or `raised` and the name of the exception."""


def generated_problems(count: int, *, seed: int = 0) -> list[Problem]:
    """Problems `generated_0`, `generated_1`, …: no two with the same code, and the first 40 of 800 are the same 40."""
    problems: dict[str, Problem] = {}
    for number in range(count):
        take = itertools.count()
        while (problem := _problem(seed, number, next(take))).code in problems:
            pass
        problems[problem.code] = problem
    return list(problems.values())


@lru_cache(maxsize=10_000)
def _problem(seed: int, number: int, take: int) -> Problem:
    draw = Draw(rng(seed, "generated", number, take))
    for _ in range(ATTEMPTS):
        code, kinds = Writer(draw).function()
        if not _well_formed(code):
            continue
        found = _example(code, [[draw.value(kind) for kind in kinds] for _ in range(TRIED)])
        if found is not None:
            arguments, output = found
            return Problem(f"generated_{number}", code, "f", arguments, output, source=Source.KIT)
    raise AssertionError(f"no function in {ATTEMPTS} attempts for problem {number} of seed {seed}")


def _well_formed(code: str) -> bool:
    """Short enough, and everything that is bound has a part in the result."""
    if not 2 <= code.count("\n") + 1 <= MOST_LINES or IDLE.search(code):
        return False
    [function] = ast.parse(code).body
    assert isinstance(function, ast.FunctionDef)
    needs: dict[str, set[str]] = {}
    _note(function.body, set(), needs)
    live, waiting = set[str](), {"return"}
    while waiting:
        name = waiting.pop()
        live.add(name)
        waiting |= needs.get(name, set()) - live
    return {argument.arg for argument in function.args.args} | needs.keys() <= live


def _note(body: Sequence[ast.stmt], around: set[str], needs: dict[str, set[str]]) -> None:
    """Notes for each name that statements bind or change, and for `return`, what it is made from.

    `around`: names in the conditions and loops that stand around the statements.
    """
    for statement in body:
        if isinstance(statement, ast.For | ast.While | ast.If):
            inside = around | _names(statement.iter if isinstance(statement, ast.For) else statement.test)
            _note([*statement.body, *statement.orelse], inside, needs)
            made = _names(statement.target) if isinstance(statement, ast.For) else set()
        else:  # what is bound, or changed in place, stands first: `nums.append(…)`, `total += …`, `d[k] = …`
            inside, made = around | _names(statement), {re.split(r"\W", ast.unparse(statement), maxsplit=1)[0]}
        for name in made:
            needs.setdefault(name, set()).update(inside)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _example(code: str, tried: Sequence[list[Any]]) -> tuple[str, str] | None:
    """Arguments and output as literals, from the first set that gives a fitting value; None when the function is dull.

    The kit runs its own programs here, in process: they import nothing, reach nothing, and are stopped by steps.
    """
    outcomes = [_run(compile(code, "<generated>", "exec"), arguments) for arguments in tried]
    if sum(kind != RAISED for kind, _ in outcomes) < 3 or len(set(outcomes)) < 2:
        return None
    if any(_without(code, line, tried) == outcomes for line in range(1, code.count("\n") + 1)):
        return None
    for arguments, (kind, output) in zip(tried, outcomes, strict=True):
        text = ", ".join(map(repr, arguments))
        fitting = kind != RAISED and max(len(text), len(output)) <= MOST_CHARACTERS
        if fitting and output not in map(repr, arguments) and output not in ("''", "[]", "{}"):
            return text, output
    return None


def _without(code: str, line: int, tried: Sequence[list[Any]]) -> list[Outcome]:
    """What the function does without one of its lines."""
    lines = code.split("\n")
    try:
        rest = compile("\n".join([*lines[:line], *lines[line + 1 :]]), "<generated>", "exec")
    except SyntaxError:
        return []
    return [_run(rest, arguments) for arguments in tried]


def _run(code: CodeType, arguments: list[Any]) -> Outcome:
    """What f returns for a copy of the arguments, as a literal, or the name of what it raises."""
    left = MOST_STEPS

    def steps(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != "<generated>":
            return None
        if event == "line":
            left -= 1
            # A comprehension has a frame of its own, with an iterator in it, before Python 3.12.
            if left < 0 or any(len(v) > MOST_ELEMENTS for v in frame.f_locals.values() if isinstance(v, Sized)):
                raise TimeoutError
        return steps

    names: dict[str, Any] = {}
    before = sys.gettrace()
    try:
        exec(code, names)
        sys.settrace(steps)
        value = names["f"](*copy.deepcopy(arguments))
    except Exception as error:  # whatever a function raises is its outcome
        return RAISED, type(error).__name__
    finally:
        sys.settrace(before)
    return ("returned", repr(value)) if _is_data(value) else (RAISED, "not data")


def _is_data(value: Any) -> bool:
    """Texts, integers, truth values, None, and lists, tuples and dictionaries of them; no floats."""
    if isinstance(value, list | tuple):
        return all(map(_is_data, value))
    if isinstance(value, dict):
        return all(map(_is_data, [*value, *value.values()]))
    return value is None or isinstance(value, str | int)
