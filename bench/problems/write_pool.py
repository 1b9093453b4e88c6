"""Writes the pool of problems that no model has seen: `python bench/problems/write_pool.py`.

A seeded, type-directed generator makes functions with CRUXEval's families of methods on str, list,
dict and int, 2 to 12 lines. They pass CRUXEval's filters: deterministic, no imports, no floats,
within the limit of steps. In addition, every variable affects the result, the result depends on the
arguments, and no line could be left out without a difference.
"""

from __future__ import annotations

import ast
import copy
import gzip
import itertools
import json
import re
import sys
from collections.abc import Iterator, Sequence, Sized
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any

from codestress.paths import PACKAGE
from codestress.problems.pool import POOL
from codestress.problems.program import Problem
from codestress.seeding import rng
from codestress.types import Source
from statements import Writer
from values import Values

FILE = PACKAGE / "problems" / "pool.jsonl.gz"
MOST_LINES = 12
MOST_STEPS = 2000
"""Largest number of lines executed; CRUXEval allows 100,000, and functions of this size need some
dozens."""
MOST_ELEMENTS = 2000
"""Largest number of elements of a local variable at any line; a value that doubles in a loop is
stopped before it uses up the memory."""
MOST_CHARACTERS = 110
"""Largest number of characters of the arguments, and of the output."""
TRIED = 5
"""Number of argument sets on which a function is tried."""
ATTEMPTS = 5000
IDLE = re.compile(r"\b([\w\[\]]+)\.\w+\(\1[,)]|replace\(('.*?'), \2\)")
"""Pattern of calls without use: a text sought in itself, or replaced by itself."""
RAISED = "raised"
Outcome = tuple[str, str]
"""Outcome of a run: `returned` and the value's literal, or `raised` and the name of the
exception."""


def written_problems(count: int, *, seed: int = 0) -> list[Problem]:
    """Returns `count` problems `generated_0`, `generated_1`, …, all with different code. The same
    `seed` gives the same problems; the first 40 of 800 are the same as 40 alone."""
    return list(itertools.islice(drawn_problems(seed), count))


def drawn_problems(seed: int) -> Iterator[Problem]:
    """Yields the problems of `written_problems` one by one, without end."""
    codes: set[str] = set()
    for number in itertools.count():
        take = itertools.count()
        while (problem := _problem(seed, number, next(take))).code in codes:
            pass
        codes.add(problem.code)
        yield problem


@lru_cache(maxsize=10_000)
def _problem(seed: int, number: int, take: int) -> Problem:
    draw = Values(rng(seed, "generated", number, take))
    for _ in range(ATTEMPTS):
        code, kinds = Writer(draw).function()
        if not _well_formed(code):
            continue
        found = _example(
            code, [[draw.value(kind) for kind in kinds] for _ in range(TRIED)]
        )
        if found is not None:
            arguments, output = found
            return Problem(
                f"generated_{number}", code, "f", arguments, output, source=Source.KIT
            )
    raise AssertionError(
        f"generated problem {number} of seed {seed}: no usable function in {ATTEMPTS} attempts; "
        "choose another seed"
    )


def _well_formed(code: str) -> bool:
    """Whether the function with the source text `code` has 2 to `MOST_LINES` lines, no idle call
    (`IDLE`), and no parameter or variable without effect on the result."""
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


def _note(
    body: Sequence[ast.stmt], around: set[str], needs: dict[str, set[str]]
) -> None:
    """Adds to `needs`, under each name that the statements in `body` bind or change, and under
    `return`, the set of names from which it is made.

    `around`: names in the conditions and loops around the statements.
    """
    for statement in body:
        if isinstance(statement, ast.For | ast.While | ast.If):
            names = set[str]()
            tested = (
                statement.iter if isinstance(statement, ast.For) else statement.test
            )
            inside = around | _names(tested)
            _note([*statement.body, *statement.orelse], inside, needs)
            if isinstance(statement, ast.For):
                names = _names(statement.target)
        else:  # what is bound, or changed in place, stands first: `nums.append(…)`, `total += …`, `d[k] = …`
            inside = around | _names(statement)
            names = {re.split(r"\W", ast.unparse(statement), maxsplit=1)[0]}
        for name in names:
            needs.setdefault(name, set()).update(inside)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _example(code: str, tried: Sequence[list[Any]]) -> tuple[str, str] | None:
    """Pair of arguments and output, as literals, for the function with the source text `code`: the
    first of the argument sets `tried` whose value is short, not empty and no argument. None when
    there is none, or the function mostly fails, always returns the same, or has a line without
    effect.

    The kit runs its own programs in this process: they import nothing, have no access to anything
    outside, and are stopped by a limit of steps.
    """
    outcomes = [
        _run(compile(code, "<generated>", "exec"), arguments) for arguments in tried
    ]
    if sum(kind != RAISED for kind, _ in outcomes) < 3 or len(set(outcomes)) < 2:
        return None
    if any(
        _without(code, line, tried) == outcomes
        for line in range(1, code.count("\n") + 1)
    ):
        return None
    for arguments, (kind, output) in zip(tried, outcomes, strict=True):
        text = ", ".join(map(repr, arguments))
        fitting = kind != RAISED and max(len(text), len(output)) <= MOST_CHARACTERS
        if (
            fitting
            and output not in map(repr, arguments)
            and output not in ("''", "[]", "{}")
        ):
            return text, output
    return None


def _without(code: str, line: int, tried: Sequence[list[Any]]) -> list[Outcome]:
    """Outcomes of the function with the source text `code` without its line at index `line`, one
    for each argument set in `tried`; empty when the rest does not parse."""
    lines = code.split("\n")
    try:
        rest = compile(
            "\n".join([*lines[:line], *lines[line + 1 :]]), "<generated>", "exec"
        )
    except SyntaxError:
        return []
    return [_run(rest, arguments) for arguments in tried]


def _run(code: CodeType, arguments: list[Any]) -> Outcome:
    """Outcome of the function f in the compiled `code` for a copy of `arguments`: `returned` and
    the value's literal, or `raised` and the name of the exception (`not data` for a value that is
    no plain data). Too many steps or elements count as raised."""
    left = MOST_STEPS

    def steps(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != "<generated>":
            return None
        if event == "line":
            left -= 1
            # A comprehension has a frame of its own, with an iterator in it, before Python 3.12.
            if left < 0 or any(
                len(v) > MOST_ELEMENTS
                for v in frame.f_locals.values()
                if isinstance(v, Sized)
            ):
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
    """Whether `value` consists of texts, integers, booleans, None, and lists, tuples and
    dictionaries of them; no floats."""
    if isinstance(value, list | tuple):
        return all(map(_is_data, value))
    if isinstance(value, dict):
        return all(map(_is_data, [*value, *value.values()]))
    return value is None or isinstance(value, str | int)


def packed(problems: Sequence[Problem]) -> bytes:
    """Returns the bytes of the pool's file: a line of JSON for each of `problems`, gzipped without a
    date."""
    names = ("code", "arguments", "output")
    lines = [
        json.dumps({name: getattr(one, name) for name in names}) for one in problems
    ]
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


if __name__ == "__main__":
    FILE.write_bytes(packed(written_problems(POOL)))
