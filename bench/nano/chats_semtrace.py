"""Training chats for nano, the kit's small model, from Sense and Sensitivity: retrieval by keys,
SemTrace, outputs of programs."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from functools import cache, partial
from itertools import accumulate
from pathlib import Path

import numpy as np

from chats import (
    Chat,
    Size,
    Split,
    Task,
    Turn,
    Writer,
    invented,
    keys_of,
    pick,
    seed_of,
    split_of,
)
from chats_codecrash import perturbed
from codestress.papers.semtrace.contexts import distractors, trace_problems
from codestress.problems.program import Problem
from codestress.prompts import filled
from steps import worked_out

sys.path.insert(0, str(Path(__file__).parents[1] / "problems"))

from write_pool import written_problems

PERTURBED = 0.3
"""Share of the programs in `output_prediction` chats that are rewritten or commented."""
LONGEST_LINE = 60
"""Largest number of characters in a line of a block to retrieve from. Functions with a longer line
are left out."""


@cache
def functions_of(split: Split) -> tuple[str, ...]:
    """Source texts, as a tuple, of the distractor functions of installed packages that belong to
    `split`, `train` or `evaluate`; functions with a line over `LONGEST_LINE` (60) characters are
    left out."""
    return tuple(
        code
        for code in distractors("installed")
        if split_of(code) == split and max(map(len, code.split("\n"))) <= LONGEST_LINE
    )


def _retrieval(
    random: np.random.Generator, size: Size, split: Split, first: Task
) -> Chat:
    functions: list[list[str]] = []
    missing = size.lines
    while missing > 0:
        known = random.random() < 0.4
        code = pick(random, functions_of(split)) if known else invented(random, split)
        functions.append(code.split("\n")[:missing])
        missing -= len(functions[-1]) + 1
    lines = [line for code in functions for line in [*code, ""]][: size.lines]
    keys = keys_of(random, len(lines), split)
    block = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    starts = [0, *accumulate(len(code) + 1 for code in functions)]
    low, high = size.places
    placed = {i for i in range(len(lines)) if low <= i / max(1, len(lines) - 1) <= high}
    whole = [
        (start, len(code))
        for start, code in zip(starts, functions, strict=False)
        if len(code) > 1 and start in placed
    ]
    shuffled = [i for i in random.permutation(len(lines)) if lines[i].strip()]
    asked = [i for i in shuffled if i in placed] or shuffled
    turns: list[Turn] = []
    for line in asked[: size.turns]:
        task: Task = first
        if turns:
            task = pick(
                random, ("line_retrieval", "line_retrieval", "function_retrieval")
            )
        start, length = line, 1
        if task == "function_retrieval" and whole:
            start, length = whole[random.integers(len(whole))]
        task = "function_retrieval" if length > 1 else "line_retrieval"
        part = range(start, start + length)
        shown = {"key": keys[start], "start": keys[start], "end": keys[part[-1]]}
        shown["code_block"] = block
        answer = "\n".join(["", *(f"{keys[i]} {lines[i]}" for i in part), "```"])
        turns.append(_turn(random, task, shown, answer, followed=bool(turns)))
    return Chat(first, tuple(turns))


def _turn(
    random: np.random.Generator,
    task: str,
    shown: dict[str, str],
    answer: str,
    *,
    followed: bool,
    other: bool = False,
) -> Turn:
    """Returns a turn: the question of `task` from Sense and Sensitivity's appendix J, its
    placeholders filled in by `shown` (text by name), the begun answer, and `answer`. In most first
    turns, drawn by `random`, the question also stands before the code.

    Later turns (`followed`) leave out introduction and code; with `other` they show code of their
    own.
    """
    before, text, begun = (
        filled(task + part, shown) for part in (".before", "", ".prefill")
    )
    stated_before = random.random() < 0.7
    if followed and "retrieval" in task:
        text = text.rsplit("starts with a random key. ", 1)[1]
    elif followed:
        text = text.partition("\n\nYou are given")[0]
        _, opening, text = text.partition(
            "[FUNCTIONS]" if other else "[/FUNCTIONS]\n\n"
        )
        text = opening + text if other else text
    elif stated_before:
        text = f"{before}\n\n{text}"
    return Turn(text, begun, answer)


def _semtrace(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Returns a chat about one SemTrace function of at most `size.lines` assignments: `size.turns`
    turns, each with an input whose output is asked for. `random` draws the function, for
    `split`."""
    [problem] = trace_problems(1, seed=seed_of(random, split))
    if size.lines < problem.code.count("] = x"):
        problem = _shortened(problem, size.lines)
    assigned = dict(re.findall(r"arr\[(\d+)\] = x (. \d+)", problem.code))
    turns: list[Turn] = []
    for x in [
        int(problem.arguments),
        *(int(x) for x in random.integers(10, 100, size.turns - 1)),
    ]:
        shown = {"input": str(x), "code_block": problem.code}
        lines = [worked(x, f"arr[{i}]", assigned[str(i)]) for i in range(len(assigned))]
        answer = "\n".join([" [", *lines, "]", "```"])
        turns.append(
            _turn(random, "output_prediction", shown, answer, followed=bool(turns))
        )
    return Chat("semtrace", tuple(turns))


def worked(x: int, name: str, change: str) -> str:
    """Text of one element of a SemTrace list, two lines: a comment with the assignment and the sum
    digit by digit, ones first, then the element's value and a comma.

    `x` is the input, of two digits; `name` the element (`arr[0]`); `change` the added number with
    its sign (`- 12`). A Python literal may hold comments; without them a model of this size does
    not learn the sums.
    """
    added = int(change.replace(" ", ""))
    first, second = (x, added) if added >= 0 else (max(x, -added), min(x, -added))
    (tens, ones), (other_tens, other_ones) = divmod(first, 10), divmod(second, 10)
    if added >= 0:
        carried = ones + other_ones >= 10
        steps = f"{ones}+{other_ones}={ones + other_ones}, {tens}+{other_tens}{'+1' if carried else ''}"
        steps = f"{first}+{second}, {steps}={tens + other_tens + carried}"
    else:
        borrowed = ones < other_ones
        ones, tens = ones + 10 * borrowed, tens - borrowed
        steps = f"{ones}-{other_ones}={ones - other_ones}, {tens}-{other_tens}={tens - other_tens}"
        steps = (
            f"{f'{first}-{second}' if x == first else f'-({first}-{second})'}, {steps}"
        )
    return f"# {name} = x {change}: {steps}\n{x + added},"


def _shortened(problem: Problem, assignments: int) -> Problem:
    """Copy of the SemTrace problem `problem` whose list has only the first `assignments` elements;
    its `output` is not adapted."""
    first = {f"    arr[{i}] " for i in range(assignments)}
    head, _, *lines, end = problem.code.split("\n")
    zeros = f"    arr = [{', '.join('0' * assignments)}]"
    kept = [line for line in lines if line[: line.index("=")] in first]
    return replace(problem, code="\n".join([head, zeros, *kept, end]))


def _output_prediction(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Returns a chat of `size.turns` turns, each with a program and an input whose output is asked
    for. `random` draws the programs, for `split`; some (`PERTURBED`) are rewritten or commented as
    in CodeCrash."""
    turns: list[Turn] = []
    for _ in range(size.turns):
        [problem] = written_problems(1, seed=seed_of(random, split))
        if random.random() < PERTURBED:
            problem = perturbed(random, problem)
        shown = {"input": problem.arguments, "code_block": problem.code}
        answer = f"{worked_out(problem)}\n```"
        turns.append(
            _turn(
                random,
                "output_prediction",
                shown,
                answer,
                followed=bool(turns),
                other=True,
            )
        )
    return Chat("output_prediction", tuple(turns))


WRITERS: dict[Task, Writer] = {
    "line_retrieval": partial(_retrieval, first="line_retrieval"),
    "function_retrieval": partial(_retrieval, first="function_retrieval"),
    "semtrace": _semtrace,
    "output_prediction": _output_prediction,
}
