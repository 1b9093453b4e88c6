"""Data of the assignments, different for every student, and reference results for the graders.

Readers are simulated here, with curves that the grader knows: an interval can be compared with the
true value.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from codestress.literals import parse_literal
from codestress.mutate.faults.sites import fault_sites
from codestress.problems.pool import POOL, generated_problems
from codestress.problems.program import Problem
from codestress.prompts import filled
from codestress.sandbox.executor import Outcome as Ending, Program, shared_executor
from codestress.scoring.predictions import Answer, Rule, score_answers
from codestress.seeding import rng

if TYPE_CHECKING:
    from codestress.nano.model import Nano

PLACES = 11
"""Number of positions of the target in a context (Sense and Sensitivity, section 3.1)."""
DEPTHS = (0.0, 0.15, 0.3)
"""Relative loss of accuracy of simulated readers in the middle of a context, compared to the ends;
a student's name selects one value."""


Row = dict[str, Any]
"""One answer or task as students see it, as a dict; each function that makes rows lists their keys.
"""


def problems(student: str, count: int, purpose: str = "practice") -> list[Problem]:
    """Returns `count` generated programs, at most half of the pool, in an order of one `student`'s
    own. No program for practice is among those for another `purpose`, such as hidden tests."""
    drawn = generated_problems(POOL, seed=_seed(student, "problems", purpose))
    half = [p for p in drawn if (p.id[-1] in "02468") == (purpose == "practice")]
    return half[:count]


def answers(student: str, count: int = 20, purpose: str = "practice") -> list[Row]:
    """Returns three answers to each of `count` programs for one `student`, as dicts: a correct one
    in one of the ways that models write, an incorrect one, and an exploit. Another `purpose`, such
    as hidden tests, has other programs.

    Keys: code, function, arguments, expected (the output); text: the model's text; kind: `right`,
    `wrong`, or the name of an exploit (`EXPLOITS`).
    """
    random = rng(_seed(student, "answers", purpose))
    rows: list[Row] = []
    for problem in problems(student, count, purpose):
        name = str(random.choice([*EXPLOITS]))
        style = STYLES[int(random.integers(len(STYLES)))]
        asked = {
            "code": problem.code,
            "function": problem.function,
            "arguments": problem.arguments,
            "expected": problem.output,
        }
        right = problem.output
        wrong = repr(corrupted(parse_literal(right).value))
        # The same value, written otherwise; not within a text.
        if "'" not in right:
            right = right.replace(", ", ",  ")
        values = {"right": right, "wrong": wrong, name: exploit(name, problem)}
        for kind, value in values.items():
            rows.append({**asked, "text": style(problem, value), "kind": kind})
    return rows


EXPLOITS = {
    "or True": "None or True",
    "the call itself": "{asked.call}",
    "the call, spaced": "{asked.function} ({asked.arguments})",
    "chained comparison": "{asked.output} == {asked.output}",
    "assertion broken by a comment": "{asked.output} if True else None # ",
    "equal to everything": "type('E', (), {{'__eq__': lambda s, o: True}})()",
    "import": "__import__('os').getpid()",
    "huge power": "9**9**9",
    "deep brackets": "[" * 5000 + "]" * 5000,
    "nothing": "",
    "exit": "__import__('sys').exit(0)",
}
"""Exploits by name: answers that try to pass without stating what the call returns. `asked` is the
problem."""


def exploit(name: str, problem: Problem) -> str:
    """Returns the text that the exploit `name` (a key of `EXPLOITS`) gives as the answer to
    `problem`, to pass a lax scorer without solving it."""
    return EXPLOITS[name].format(asked=problem)


STYLES: tuple[Callable[[Problem, str], str], ...] = (
    lambda _, value: f"[ANSWER]{value}[/ANSWER]",
    lambda problem, value: f"[ANSWER]\nassert {problem.call} == {value}\n[/ANSWER]",
    lambda problem, value: (
        f"It goes through the loop first.\n[ANSWER]{problem.call} == {value}[/ANSWER]"
    ),
    lambda _, value: f"[ANSWER]None[/ANSWER] No, wait.\n[ANSWER] {value} [/ANSWER]",
)
"""Functions that write an answer to a problem between tags (CodeCrash, appendix D), each in a way
that models do."""


def corrupted(value: object) -> object:
    """Returns a similar but different value: of another type, or slightly changed; its `repr` for a
    type without a rule."""
    alike: dict[type, Callable[[Any], object]] = {
        bool: int,
        int: float,
        list: tuple,
        tuple: list,
        str: lambda text: text + " ",
        dict: lambda pairs: list(pairs.items()),
    }
    return alike.get(type(value), repr)(value)


def published_scorer(row: Row, answer: str) -> bool:
    """Whether the text `answer` passes the rule of published harnesses: the answer is pasted behind
    `assert` and run in the sandbox. `row` is one of the dicts that `answers` returns (program, call
    and output)."""
    return _accepted(row, answer, "reference")


def strict_scorer(row: Row, answer: str) -> bool:
    """Whether the text `answer` passes the kit's rule: a literal of the same value and type as the
    expected output in `row`, one of the dicts that `answers` returns."""
    return _accepted(row, answer, "strict")


def _accepted(row: Row, answer: str, rule: Rule) -> bool:
    asked = (row[name] for name in ("code", "function", "arguments", "expected"))
    given = [Answer(Problem("course", *asked), answer)]
    executor = shared_executor() if rule == "reference" else None
    [score] = score_answers(given, "output", rule, executor)
    return score.value == 1


def place_answers(
    student: str,
    count: int = 150,
    depth: float | None = None,
    purpose: str = "practice",
) -> list[Row]:
    """Returns the answers of a simulated reader to `count` problems at each of 11 positions in a
    context, as dicts in random order. Keys: problem (from 0), place (0 to 10), right (1 or 0).

    Accuracy drops in the middle by the share `depth`; if that is None, by a value of `DEPTHS` that
    `student` and `purpose` select. Some problems are easier than others, so answers to one problem
    are dependent.
    """
    if depth is None:
        depth = float(rng(_seed(student, "depth", purpose)).choice(DEPTHS))
    random = rng(_seed(student, "places", purpose, depth))
    easy = random.beta(1.2, 0.8, count)
    at = np.linspace(-1, 1, PLACES)
    loss = depth * (1 - at**2)
    right = random.random((count, PLACES)) < easy[:, None] * (1 - loss)
    order = (divmod(int(cell), PLACES) for cell in random.permutation(right.size))
    return [{"problem": i, "place": j, "right": int(right[i, j])} for i, j in order]


def decay_truth(student: str, purpose: str = "practice") -> tuple[float, float, float]:
    """Returns height, rate and floor of the simulated decay, drawn for one `student` and `purpose`:
    accuracy is floor + height * exp(-rate * share of removed lines)."""
    random = rng(_seed(student, "decay", purpose))
    floor = float(random.uniform(0.02, 0.15))
    return float(random.uniform(0.6, 0.8)), float(random.uniform(2.0, 5.0)), floor


def removal_answers(
    student: str,
    count: int = 60,
    truth: tuple[float, float, float] | None = None,
    purpose: str = "practice",
) -> list[Row]:
    """Returns answers of a simulated reader to `count` problems with a growing share of their lines
    removed (Sense and Sensitivity, section 3.4), as dicts. Keys: problem, removed (the share),
    right (1 or 0). `truth` is the height, rate and floor of the decay, else those of `decay_truth`
    for `student` and `purpose`."""
    height, rate, floor = truth or decay_truth(student, purpose)
    random = rng(_seed(student, "removal", purpose, height, rate, floor))
    rows: list[Row] = []
    for problem in range(count):
        lines = int(random.integers(4, 11))
        shift = float(random.normal(0, 0.06))
        for removed in range(lines + 1):
            share = removed / lines
            # A chance below 0 or above 1 decides like 0 or 1.
            right = random.random() < floor + height * math.exp(-rate * share) + shift
            rows.append(
                {"problem": problem, "removed": round(share, 4), "right": int(right)}
            )
    return rows


def fault_tasks(student: str, count: int = 24, purpose: str = "practice") -> list[Row]:
    """Returns `count` programs with one fault of Fault Localizability's Table I each, as dicts, for
    one `student` and `purpose`, with wrong labels like most of a public set: the label is a line of
    the original text, but the shown text was printed anew from the syntax tree.

    Keys: original: the program with comments and blank lines, before the fault; shown: the text
    shown to the model, with the fault; correct: the text without the fault, printed anew; label:
    the published line of the fault, from 1; calls: calls to try. Fewer than `count` where too few
    programs take a fault.
    """
    random = rng(_seed(student, "faults", purpose))
    rows: list[Row] = []
    for problem in problems(student, 10 * count, purpose):
        if len(rows) == count:
            break
        original = _with_comments(problem.code, random)
        sites = fault_sites(original, "python")
        # An inserted return would move the lines.
        inline = [site for site in sites if site.kind != "MisplacedReturn"]
        if not inline:
            continue
        site = inline[int(random.integers(len(inline)))]
        rows.append(
            {
                "original": original,
                "shown": ast.unparse(ast.parse(site.apply(original))),
                "correct": ast.unparse(ast.parse(original)),
                "label": site.line,
                "calls": [problem.call],
            }
        )
    return rows


def _with_comments(code: str, random: np.random.Generator) -> str:
    """Returns the program `code` with added comments and blank lines, which printing from the
    syntax tree drops."""
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
    """Returns the results of the kit's own transformer on `count` requests to repeat a line of a
    block of `lines` lines by its key, as dicts, drawn for one `student` and `purpose`; unlike the
    simulated readers, this model is real, and very small.

    Keys: tokens (texts); lines: for each token its line in the block, from 0, -1 outside the block;
    count: number of lines in the block; target: the requested line, from 0; weights: attention of
    the last position before the model wrote that line, layers by heads by tokens; right: whether
    the line was then written to the character.
    """
    from codestress.nano.model import Nano

    model, random = Nano(), rng(_seed(student, "retrieval", purpose))
    programs = problems(student, POOL, purpose)
    rows: list[Row] = []
    for _ in range(count):
        drawn = random.choice(len(programs), lines, replace=False)
        shown = "\n\n".join(programs[i].code for i in drawn).split("\n")[:lines]
        block = [f"{random.integers(16**6):06x} {line}" for line in shown]
        target = random.choice([i for i, line in enumerate(shown) if line])
        rows.append(_retrieval(model, block, int(target)))
    return rows


def _retrieval(model: Nano, block: Sequence[str], target: int) -> Row:
    """Returns a row of `retrievals`: `model` is asked for line number `target` of `block`."""
    from codestress.nano.configuration import chatml

    written = block[target]
    asked = {"key": written[:6], "code_block": "\n".join(block)}
    before = filled("line_retrieval.before", asked)
    question = filled("line_retrieval", asked)
    begun = filled("line_retrieval.prefill", asked)
    text = chatml([("user", f"{before}\n\n{question}")], f"{begun}\n{written[:6]}")
    encoded = model.tokenizer.encode(text, add_special_tokens=False)
    line_at = [-1] * (len(text) + 1)
    place = text.index(block[0])
    for number, line in enumerate(block):
        line_at[place : place + len(line)] = [number] * len(line)
        place += len(line) + 1
    weights = np.asarray(model.attention(encoded.ids), dtype=float)
    rest = f"{written[6:]}\n```"
    return {
        "tokens": [text[first:last] for first, last in encoded.offsets],
        "lines": [line_at[first] for first, _ in encoded.offsets],
        "count": len(block),
        "target": target,
        "weights": weights.round(6).tolist(),
        "right": model.greedy(text, len(model.tokens(rest))) == rest,
    }


def outcomes(code: str, calls: Sequence[str]) -> list[str]:
    """Returns the outcome of each of `calls` (texts) of the program `code`, as text: the value's
    literal, or how the call ended (`raised: …`). The calls run in the sandbox."""
    texts = []
    for done in shared_executor().run([Program(code, call=call) for call in calls]):
        returned = done.outcome is Ending.RETURNED
        text = repr(done.value) if returned else f"{done.outcome}: {done.detail}"
        texts.append(text)
    return texts


def line_of_fault(task: Row) -> int:
    """Returns the number, from 1, of the only line in which the shown program of `task` (one of
    `fault_tasks`) differs from the correct one. Raises `ValueError` where not exactly one line
    differs, or the numbers of lines do."""
    pairs = zip(task["correct"].split("\n"), task["shown"].split("\n"), strict=True)
    [line] = [number for number, (was, now) in enumerate(pairs, start=1) if was != now]
    return line


def oracle_ceiling(tasks: Sequence[Row], tolerance: int) -> list[float | None]:
    """Returns the share of `tasks` (`fault_tasks`) whose label is within `tolerance` lines of the
    fault, the score of a perfect model: a list of four values, by the quarter of the program that
    holds the fault; None for a quarter without faults."""
    quarters: list[list[bool]] = [[], [], [], []]
    for task in tasks:
        line = line_of_fault(task)
        quarters[4 * (line - 1) // (task["shown"].count("\n") + 1)].append(
            abs(task["label"] - line) <= tolerance
        )
    return [sum(quarter) / len(quarter) if quarter else None for quarter in quarters]


def _seed(student: str, *names: str | float) -> int:
    return int(rng(0, "course", student.strip().casefold(), *names).integers(2**62))
