"""What the assignments are set on: data of the kit's own, another set for every student, and what graders hold answers
against.

Readers are simulated here, with curves that the grader knows: an interval can be held against the truth.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from codestress.literals import parse_literal
from codestress.problems.generated import generated_problems
from codestress.problems.program import Problem
from codestress.sandbox.executor import Executor, Program
from codestress.sandbox.executor import Outcome as Ending
from codestress.scoring.exploits import OUTPUTS, written
from codestress.scoring.judging import shared_executor
from codestress.scoring.predictions import Answer, Rule, score_answers
from codestress.seeding import rng

PLACES = 11
"""Of the target in a context, first to last (Sense and Sensitivity, section 3.1)."""
DEPTHS = (0.0, 0.15, 0.3)
"""How much worse a simulated reader is in the middle than at the ends."""


Row = dict[str, Any]
"""What students see of one answer or task; the functions that make them say what is in them."""


def problems(student: str, count: int, purpose: str = "practice") -> list[Problem]:
    """Generated programs of one student."""
    return generated_problems(count, seed=_seed(student, "problems", purpose))


def answers(student: str, count: int = 20, purpose: str = "practice") -> list[Row]:
    """For each program a right answer in one of the ways that models write, a wrong one, and one that cheats.

    code, function, arguments, expected; text: what the model wrote; kind: `right`, `wrong`, or the name of an exploit.
    """
    random = rng(_seed(student, "answers", purpose))
    rows: list[Row] = []
    names = list(OUTPUTS)
    for problem in problems(student, count, purpose):
        exploit = names[int(random.integers(len(names)))]
        style = STYLES[int(random.integers(len(STYLES)))]
        spaced = random.random() >= 0.5 and "'" not in problem.output  # the same value, written otherwise
        asked = {"code": problem.code, "function": problem.function, "arguments": problem.arguments}
        for kind, value in (
            ("right", problem.output.replace(", ", ",  ") if spaced else problem.output),
            ("wrong", repr(corrupted(parse_literal(problem.output).value))),
            (exploit, written(OUTPUTS[exploit], problem)),
        ):
            rows.append({**asked, "expected": problem.output, "text": style(problem, value), "kind": kind})
    return rows


STYLES: tuple[Callable[[Problem, str], str], ...] = (
    lambda _, value: f"[ANSWER]{value}[/ANSWER]",
    lambda problem, value: f"[ANSWER]\nassert {problem.call} == {value}\n[/ANSWER]",
    lambda problem, value: f"It goes through the loop first.\n[ANSWER]{problem.call} == {value}[/ANSWER]",
    lambda _, value: f"[ANSWER]None[/ANSWER] No, wait.\n[ANSWER] {value} [/ANSWER]",
)
"""Ways to write an answer between tags (CodeCrash, appendix D)."""


def corrupted(value: object) -> object:
    """Another value that looks alike: of another type, or off by a little."""
    return _ALIKE.get(type(value), repr)(value)


_ALIKE: dict[type, Callable[[Any], object]] = {
    **{bool: int, int: float, list: tuple, tuple: list},
    **{str: lambda text: text + " ", dict: lambda pairs: [list(pair) for pair in pairs.items()]},
}


def published_scorer(row: Row, answer: str) -> bool:
    """The rule of published harnesses: the answer is pasted behind `assert`; run in the sandbox."""
    return _accepted(row, answer, "reference", shared_executor())


def strict_scorer(row: Row, answer: str) -> bool:
    """The kit's rule: a literal of the same value and type."""
    return _accepted(row, answer, "strict")


def _accepted(row: Row, answer: str, rule: Rule, executor: Executor | None = None) -> bool:
    problem = Problem("course", row["code"], row["function"], row["arguments"], row["expected"])
    [score] = score_answers([Answer(problem, answer)], "output", rule, executor)
    return score.value == 1


def place_answers(
    student: str, count: int = 150, depth: float | None = None, purpose: str = "practice"
) -> list[dict[str, int]]:
    """A simulated reader's answers to `count` problems at each of 11 places, in no order: problem, place, right.

    It is worse in the middle by `depth`, or by what the student's name decides. Some problems are easier than others,
    so that answers to one problem go together.
    """
    if depth is None:
        depth = DEPTHS[int(rng(_seed(student, "depth", purpose)).integers(len(DEPTHS)))]
    random = rng(_seed(student, "places", purpose, depth))
    easy = random.beta(1.2, 0.8, count)
    at = np.linspace(-1, 1, PLACES)
    loss = depth * (1 - at**2)
    right = random.random((count, PLACES)) < easy[:, None] * (1 - loss)
    order = (divmod(int(cell), PLACES) for cell in random.permutation(right.size))
    return [{"problem": i, "place": j, "right": int(right[i, j])} for i, j in order]


def decay_truth(student: str, purpose: str = "practice") -> tuple[float, float, float]:
    """Height, rate and floor of this student's simulated decay."""
    random = rng(_seed(student, "decay", purpose))
    floor = float(random.uniform(0.02, 0.15))
    return float(random.uniform(0.6, 0.8)), float(random.uniform(2.0, 5.0)), floor


def removal_answers(
    student: str, count: int = 60, truth: tuple[float, float, float] | None = None, purpose: str = "practice"
) -> list[dict[str, float]]:
    """A simulated reader's answers to problems with a growing share of their lines removed (section 3.4): problem,
    removed, right."""
    height, rate, floor = truth or decay_truth(student, purpose)
    random = rng(_seed(student, "removal", purpose, height, rate, floor))
    rows: list[dict[str, float]] = []
    for problem in range(count):
        lines = int(random.integers(4, 11))
        shift = float(random.normal(0, 0.06))
        for removed in range(lines + 1):
            share = removed / lines
            chance = min(1.0, max(0.0, floor + height * math.exp(-rate * share) + shift))
            rows.append({"problem": problem, "removed": round(share, 4), "right": int(random.random() < chance)})
    return rows


def fault_tasks(student: str, count: int = 24, purpose: str = "practice") -> list[Row]:
    """Programs with a fault each, published the way three of four faults of a public set are: the label is a line of
    the original text, what is shown was printed anew.

    original: the program as it was written, with its comments and blank lines, before the fault; shown: what the model
    was shown, with the fault; correct: without it, printed anew; label: the published line of the fault, from 1;
    calls: calls to try.
    """
    random = rng(_seed(student, "faults", purpose))
    rows: list[Row] = []
    for problem in generated_problems(10 * count, seed=_seed(student, "faulty", purpose)):
        if len(rows) == count:
            break
        original = _with_comments(problem.code, random)
        if placed := _fault(original, random):
            label, faulty = placed
            shown, correct = (ast.unparse(ast.parse(text)) for text in (faulty, original))
            printed = {"original": original, "shown": shown, "correct": correct}
            rows.append({**printed, "label": label, "calls": [problem.call]})
    return rows


def _with_comments(code: str, random: np.random.Generator) -> str:
    """The same program with comments and blank lines, which a printer drops."""
    lines: list[str] = []
    for number, line in enumerate(code.split("\n")):
        if number and random.random() < 0.6:
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(_REMARKS[int(random.integers(len(_REMARKS)))].format(indent=indent))
        lines.append(line)
    return "\n".join(lines)


_REMARKS = ("", "{indent}# see the notes of the last review", "{indent}# as before")
_TURNED = {" == ": " != ", " < ": " <= ", " > ": " >= ", " in ": " not in ", " + ": " - ", "[0]": "[-1]"}


def _fault(code: str, random: np.random.Generator) -> tuple[int, str] | None:
    """A line of the text, and the text with one comparison turned round or one number off by one there."""
    lines = code.split("\n")
    sites = [
        (number, old, new)
        for number, line in enumerate(lines)
        if not line.lstrip().startswith(("#", "def ", "for "))
        for old, new in _TURNED.items()
        if old in line
    ]
    if not sites:
        return None
    number, old, new = sites[int(random.integers(len(sites)))]
    lines[number] = lines[number].replace(old, new, 1)
    try:
        ast.parse("\n".join(lines))
    except SyntaxError:
        return None
    return number + 1, "\n".join(lines)


def retrievals(student: str, count: int = 12, lines: int = 16, purpose: str = "practice") -> list[Row]:
    """The kit's own transformer on questions for a line by its key; this reader is real, and very small.

    tokens; lines: for each token the line of the block that it belongs to, from 0, -1 outside the block; count: lines
    of the block; target: the line that was asked for; weights: attention of the last position before it wrote that
    line, layers by heads by tokens; right: whether it then wrote the line to the character.
    """
    from codestress.nano.chats import Size, block_of, chat
    from codestress.nano.configuration import START, chatml
    from codestress.nano.model import Nano

    model = Nano()
    rows: list[Row] = []
    for number in range(count):
        one = chat("line_retrieval", Size(lines, 1), "evaluate", _seed(student, "retrieval", purpose), number).turns[0]
        written = one.answer.split("\n")[1]
        before, block = one.question.split("```python\n", 1)[0] + "```python\n", block_of(one.question)
        text = chatml([("user", one.question)], f"{one.begun}\n{written[:6]}")
        encoded = model.tokenizer.encode(text, add_special_tokens=False)
        line_at = [-1] * len(f"{START}user\n{before}")
        for number_of_line, line in enumerate(block):
            line_at += [number_of_line] * len(line) + [-1]
        line_at += [-1] * (len(text) + 1 - len(line_at))
        weights = model.attention(encoded.ids)
        answer = model.greedy(text, len(model.tokens(one.answer)))
        rows.append(
            {
                "tokens": [text[first:last] for first, last in encoded.offsets],
                "lines": [line_at[first] for first, _ in encoded.offsets],
                "count": len(block),
                "target": block.index(written),
                "weights": [[[round(float(w), 6) for w in head] for head in layer] for layer in weights],
                "right": f"\n{written[:6]}{answer}" == one.answer,
            }
        )
    return rows


def outcomes(code: str, calls: Sequence[str], executor: Executor | None = None) -> list[str]:
    """What calls of a program come to, in the sandbox: the value's literal, or how it ended."""
    done = (executor or shared_executor()).run([Program(code, call=call) for call in calls])
    return [repr(one.value) if one.outcome is Ending.RETURNED else f"{one.outcome}: {one.detail}" for one in done]


def renamed(code: str) -> str:
    """A program with each local name replaced by one of its own, `local_0` and so on."""
    tree = ast.parse(code)
    kinds = {ast.arg: "arg", ast.Name: "id"}
    named = [(node, kinds[type(node)]) for node in ast.walk(tree) if type(node) in kinds]
    bound = [getattr(node, at) for node, at in named if not isinstance(getattr(node, "ctx", None), ast.Load | ast.Del)]
    new = {name: f"local_{number}" for number, name in enumerate(dict.fromkeys(bound))}
    for node, at in named:
        setattr(node, at, new.get(getattr(node, at), getattr(node, at)))
    return ast.unparse(tree)


def line_of_fault(task: Row) -> int:
    """The only line in which what is shown differs from the correct program, from 1."""
    pairs = zip(task["correct"].split("\n"), task["shown"].split("\n"), strict=True)
    [line] = [number for number, (before, after) in enumerate(pairs, start=1) if before != after]
    return line


def oracle_ceiling(tasks: Sequence[Row], tolerance: int) -> list[float | None]:
    """Share of tasks with a label within `tolerance` lines of the fault, by the quarter in which the fault stands."""
    quarters: list[list[bool]] = [[], [], [], []]
    for task in tasks:
        line = line_of_fault(task)
        quarters[4 * (line - 1) // (task["shown"].count("\n") + 1)].append(abs(task["label"] - line) <= tolerance)
    return [sum(quarter) / len(quarter) if quarter else None for quarter in quarters]


def _seed(student: str, *names: str | float) -> int:
    return int(rng(0, "course", student.strip().casefold(), *names).integers(2**62))
