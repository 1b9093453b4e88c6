"""Data of the assignments, different for every student, and reference results for the
graders.

Readers (stand-ins for a model) are simulated here with curves that the grader knows, so
an interval can be compared with the true value.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from codestress.literals import parse_literal
from codestress.mutate.faults.sites import fault_sites
from codestress.problems.pool import POOL, generated_problems
from codestress.problems.program import Problem
from codestress.prompts import filled
from codestress.sandbox.executor import Outcome as Ending, Program, shared_executor
from codestress.scoring.predictions import Answer, Rule, score_answers
from codestress.seeding import rng
from codestress.validation import read_yaml

PLACES = 11
"""Number of positions of the target in a context (Sense and Sensitivity, section 3.1)."""
DEPTHS = (0.0, 0.15, 0.3)
"""Shares of the accuracy that simulated readers lose in the middle of a context,
compared to the ends. A student's name selects one value."""


Row = dict[str, Any]
"""One answer or task as students see it: a dict whose keys the function that makes it
lists."""


def problems(student: str, count: int, purpose: str = "practice") -> list[Problem]:
    """Return `count` generated programs, at most half of the pool, in an order of the
    `student`'s own.

    One half of the pool is for practice, the other half for any other `purpose`, such
    as hidden tests.
    """
    drawn = generated_problems(POOL, seed=_seed(student, "problems", purpose))
    practice = purpose == "practice"
    half = [problem for problem in drawn if (problem.id[-1] in "02468") == practice]
    return half[:count]


def answers(student: str, count: int = 20, purpose: str = "practice") -> list[Row]:
    """Return three answers to each of `count` programs for one `student`: a correct
    one, written as models write, an incorrect one, and an exploit. Another `purpose`
    than practice, such as hidden tests, has other programs.

    Keys: code, function, arguments, expected (the output); text: the model's text;
    kind: `right`, `wrong`, or the name of an exploit (`EXPLOITS`).
    """
    random = rng(_seed(student, "answers", purpose))
    rows: list[Row] = []
    for problem in problems(student, count, purpose):
        name = str(random.choice([*EXPLOITS]))
        style = STYLES[int(random.integers(len(STYLES)))]
        asked = {"code": problem.code, "function": problem.function}
        asked["arguments"] = problem.arguments
        right = asked["expected"] = problem.output
        output = parse_literal(right).value
        # Write the same value differently, unless a text in it would change.
        if "'" not in right:
            right = right.replace(", ", ",  ")
        values = {"right": right, "wrong": repr(corrupted(output))}
        values[name] = exploit(name, problem)
        for kind, value in values.items():
            text = style.format(asked=problem, value=value)
            rows.append({**asked, "text": text, "kind": kind})
    return rows


CONTENT = read_yaml(Path(__file__).with_name("answers.yaml"))
EXPLOITS: dict[str, str] = CONTENT["exploits"]
"""Exploits by name: templates of answers that try to pass without stating the value of
the call. In a template, `asked` is the problem, and `deep` 5,000 nested brackets."""


def exploit(name: str, problem: Problem) -> str:
    """Return the answer to `problem` that the exploit `name` (a key of `EXPLOITS`)
    makes. The answer would pass a lax scorer without solving the problem."""
    return EXPLOITS[name].format(asked=problem, deep="[" * 5000 + "]" * 5000)


STYLES: list[str] = CONTENT["styles"]
"""Templates of an answer between tags (CodeCrash, appendix D), each in a way that
models write. In a template, `asked` is the problem, and `value` the answer's value."""


def corrupted(value: object) -> object:
    """Return a similar but different value: of another type, or slightly changed. The
    result is the `repr` for a type without a rule of its own."""
    alike: dict[type, Any] = {
        bool: int,
        int: float,
        list: tuple,
        tuple: list,
        str: lambda text: text + " ",
        dict: lambda pairs: list(pairs.items()),
    }
    return alike.get(type(value), repr)(value)


def accepts(row: Row, answer: str, rule: Rule) -> bool:
    """Return whether the text `answer` passes a scoring rule as the output of the call
    in `row`, one of the dicts that `answers` returns.

    The rule `reference` is that of published harnesses: the answer is pasted after
    `assert` and run in the sandbox. The rule `strict` is the kit's: a literal with the
    same value and type as the expected output.
    """
    asked = (row[name] for name in ("code", "function", "arguments", "expected"))
    given = Answer(Problem("course", *asked), answer)
    executor = shared_executor() if rule == "reference" else None
    [score] = score_answers([given], "output", rule, executor)
    return score.value == 1


def place_answers(
    student: str,
    count: int = 150,
    depth: float | None = None,
    purpose: str = "practice",
) -> list[Row]:
    """Return the answers of a simulated reader to `count` problems at each of 11
    positions in a context, as dicts in random order. Keys: problem (from 0), place (0
    to 10), right (1 or 0).

    The accuracy drops in the middle by the share `depth`. If `depth` is None, `student`
    and `purpose` select a value of `DEPTHS`. Some problems are easier than others, so
    answers to one problem are dependent.
    """
    if depth is None:
        depth = float(rng(_seed(student, "depth", purpose)).choice(DEPTHS))
    random = rng(_seed(student, "places", purpose, depth))
    easy = random.beta(1.2, 0.8, count)
    at = np.linspace(-1, 1, PLACES)
    loss = depth * (1 - at**2)
    right = random.random((count, PLACES)) < easy[:, None] * (1 - loss)
    rows = []
    for cell in random.permutation(right.size):
        problem, place = divmod(int(cell), PLACES)
        correct = int(right[problem, place])
        rows.append({"problem": problem, "place": place, "right": correct})
    return rows


def decay_truth(student: str, purpose: str = "practice") -> tuple[float, float, float]:
    """Return height, rate and floor of the simulated decay, drawn for one `student` and
    `purpose`. The accuracy is floor + height * exp(-rate * share of removed lines)."""
    random = rng(_seed(student, "decay", purpose))
    floor = random.uniform(0.02, 0.15)
    height = random.uniform(0.6, 0.8)
    rate = random.uniform(2.0, 5.0)
    return height, rate, floor


def removal_answers(
    student: str,
    count: int = 60,
    truth: tuple[float, float, float] | None = None,
    purpose: str = "practice",
) -> list[Row]:
    """Return answers of a simulated reader to `count` problems with a growing share of
    their lines removed (Sense and Sensitivity, section 3.4). Keys of each dict:
    problem, removed (the share, 0 to 1), right (1 or 0).

    `truth` is the height, rate and floor of the decay; by default the result of
    `decay_truth` for `student` and `purpose`.
    """
    height, rate, floor = truth or decay_truth(student, purpose)
    random = rng(_seed(student, "removal", purpose, height, rate, floor))
    rows = []
    for problem in range(count):
        lines = int(random.integers(4, 11))
        shift = random.normal(0, 0.06)
        for removed in range(lines + 1):
            share = removed / lines
            # A chance below 0 or above 1 has the effect of 0 or 1.
            chance = floor + height * math.exp(-rate * share) + shift
            row: Row = {"problem": problem, "removed": round(share, 4)}
            row["right"] = int(random.random() < chance)
            rows.append(row)
    return rows


def fault_tasks(student: str, count: int = 24, purpose: str = "practice") -> list[Row]:
    """Return up to `count` programs, each with one fault of Fault Localizability's
    Table I, with labels that are wrong like most in a public data set.

    A label is a line of the original text, but the shown text was printed again from
    the syntax tree. The programs are drawn for one `student` and `purpose`. There are
    fewer than `count` if too few programs can take a fault.

    Keys: original: the program with comments and blank lines, before the fault; shown:
    the text shown to the model, with the fault; correct: the text without the fault,
    printed again; label: the published line of the fault, from 1; calls: calls to try.
    """
    random = rng(_seed(student, "faults", purpose))
    rows: list[Row] = []
    for problem in problems(student, 10 * count, purpose):
        if len(rows) == count:
            break
        original = _with_comments(problem.code, random)
        sites = fault_sites(original, "python")
        # A misplaced return is an added line, which would move the lines after it.
        inline = [site for site in sites if site.kind != "MisplacedReturn"]
        if not inline:
            continue
        site = inline[int(random.integers(len(inline)))]
        row: Row = {"original": original}
        row["shown"] = ast.unparse(ast.parse(site.apply(original)))
        row["correct"] = ast.unparse(ast.parse(original))
        row["label"] = site.line
        row["calls"] = [problem.call]
        rows.append(row)
    return rows


def _with_comments(code: str, random: np.random.Generator) -> str:
    """Return the program `code` with added comments and blank lines, which printing
    from the syntax tree removes."""
    lines: list[str] = []
    for number, line in enumerate(code.split("\n")):
        if number and random.random() < 0.6:
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(str(random.choice(_REMARKS)).format(indent=indent))
        lines.append(line)
    return "\n".join(lines)


_REMARKS = ("", "{indent}# see the notes of the last review", "{indent}# as before")


def retrievals(
    student: str, count: int = 12, lines: int = 16, purpose: str = "practice"
) -> list[Row]:
    """Return the results of the kit's own transformer on `count` requests to repeat a line of a
    block by its key. The block has at most `lines` lines.

    The requests are drawn for one `student` and `purpose`. Unlike the simulated readers, this model
    is real, and very small.

    Keys: tokens (texts); lines: for each token the line of the block that contains it, from 0, or
    -1 outside the block; count: number of lines in the block; target: the requested line, from 0;
    weights: attention weights of the last position before the model wrote that line, layers by
    heads by tokens; right: whether the model then wrote the line to the character.
    """
    from codestress.nano.model import Nano

    model = Nano()
    random = rng(_seed(student, "retrieval", purpose))
    programs = problems(student, POOL, purpose)
    rows = []
    for _ in range(count):
        drawn = random.choice(len(programs), lines, replace=False)
        code = "\n\n".join(programs[number].code for number in drawn)
        shown = code.split("\n")[:lines]
        block = [f"{random.integers(16**6):06x} {line}" for line in shown]
        target = int(random.choice([i for i, line in enumerate(shown) if line]))
        key = block[target][:6]
        text = _request(block, key)
        line_at = _line_numbers(block, text)
        encoded = model.tokenizer.encode(text, add_special_tokens=False)
        row: Row = {"tokens": [text[first:last] for first, last in encoded.offsets]}
        row["lines"] = [line_at[first] for first, _ in encoded.offsets]
        row["count"] = len(block)
        row["target"] = target
        weights = np.asarray(model.attention(encoded.ids), dtype=float)
        row["weights"] = weights.round(6).tolist()
        rest = block[target].removeprefix(key) + "\n```"
        row["right"] = model.greedy(text, len(model.tokens(rest))) == rest
        rows.append(row)
    return rows


def _request(block: Sequence[str], key: str) -> str:
    """Return the text that asks the model for the line of `block` with `key`, up to and
    including this key in the model's answer."""
    from codestress.nano.configuration import chatml

    asked = {"key": key, "code_block": "\n".join(block)}
    before = filled("line_retrieval.before", asked)
    question = filled("line_retrieval", asked)
    begun = filled("line_retrieval.prefill", asked)
    return chatml([("user", f"{before}\n\n{question}")], f"{begun}\n{key}")


def _line_numbers(block: Sequence[str], text: str) -> list[int]:
    """Return, for each character of `text`, the index of the line of `block` that
    contains it, or -1. The list is longer than the text."""
    numbers = [-1] * text.index(block[0])
    for number, line in enumerate(block):
        numbers += [*[number] * len(line), -1]
    return numbers + [-1] * len(text)


def outcomes(code: str, calls: Sequence[str]) -> list[str]:
    """Return the outcome of each of `calls` (texts) of the program `code`, as text: the
    value's literal, or how the call ended (`raised: …`). The calls run in the sandbox.
    """
    texts = []
    programs = [Program(code, call=call) for call in calls]
    for done in shared_executor().run(programs):
        text = f"{done.outcome}: {done.detail}"
        if done.outcome is Ending.RETURNED:
            text = repr(done.value)
        texts.append(text)
    return texts


def line_of_fault(task: Row) -> int:
    """Return the number, from 1, of the only line in which the shown program of `task`
    differs from the correct one. `task` is one of `fault_tasks`.

    Raises `ValueError` if not exactly one line differs, or the programs have different
    numbers of lines.
    """
    pairs = zip(task["correct"].split("\n"), task["shown"].split("\n"), strict=True)
    [line] = [number for number, (was, now) in enumerate(pairs, start=1) if was != now]
    return line


def _seed(student: str, *names: str | float) -> int:
    """Return the seed for one `student`'s draws of the purpose that `names` state.
    Capitals and surrounding spaces of the student's name do not matter."""
    return int(rng(0, "course", student.strip().casefold(), *names).integers(2**62))
