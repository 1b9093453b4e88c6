"""Chats to learn from, without end: the papers' prompts with seeded content and the answers that are right.

Several questions about one context follow each other as turns, so that one context is read once and learnt from many
times. Training and evaluation never share a seed, a word, a key or a distractor: each belongs to one split by its hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from string import Template
from typing import Literal, TypeVar

import numpy as np

from codestress.generation.connections import TARGET, Link
from codestress.generation.perturbations.conditions import reformat_conditions
from codestress.generation.perturbations.edits import NotPerturbed
from codestress.generation.perturbations.garbage import insert_garbage
from codestress.generation.perturbations.messages import insert_messages
from codestress.generation.perturbations.renaming import rename
from codestress.generation.prompts import prompt_text
from codestress.problems.distractors import distractors
from codestress.problems.generated import generated_problems
from codestress.problems.generated.drawing import Draw
from codestress.problems.program import Problem
from codestress.problems.traces import trace_problems
from codestress.problems.words import word_list
from codestress.seeding import rng
from codestress.training.steps import worked_out

T = TypeVar("T")
Split = Literal["train", "evaluate"]
Task = Literal["copy", "line_retrieval", "function_retrieval", "find_the_origin", "semtrace", "output_prediction"]
HELD_OUT = 5
"""One in so many words, keys and distractors is for evaluation only."""
SYSTEM = "You are a helpful assistant."
"""The system message of Find the Origin's study."""
PERTURBED = 0.3
"""Share of programs that are perturbed."""
LONGEST_LINE = 60
"""Characters of a line in a block to retrieve from; longer lines are cut out, with their functions."""


@dataclass(frozen=True)
class Turn:
    """A question, what the answer is made to begin with, and the rest of a right answer."""

    question: str
    begun: str
    answer: str


@dataclass(frozen=True)
class Chat:
    """Turns on one context; the first question shows it."""

    task: Task
    turns: tuple[Turn, ...]
    system: str = ""


@dataclass(frozen=True)
class Size:
    """How much a chat holds."""

    lines: int = 16
    """Of a block of code, of a list of connections; of assignments at most."""
    turns: int = 6
    """At most."""
    d: int = 0
    """Distance in a list of connections; 0: drawn."""
    places: tuple[float, float] = (0.0, 1.0)
    """From where to where in a block the lines and functions stand that are asked for; 0 is its first line.

    A block without a line there is asked about at any place.
    """


def split_of(text: str) -> Split:
    """The split that a word, a key or a distractor belongs to, by its hash; the paper's own chain is held out."""
    if text in TARGET:
        return "evaluate"
    return "evaluate" if hashlib.blake2b(text.encode()).digest()[0] % HELD_OUT == 0 else "train"


@cache
def words_of(split: Split) -> tuple[str, ...]:
    """The word list's part."""
    return tuple(word for word in word_list() if split_of(word) == split)


@cache
def functions_of(split: Split) -> tuple[str, ...]:
    """The distractors' part, those without long lines."""
    return tuple(
        code
        for code in distractors("installed")
        if split_of(code) == split and max(map(len, code.split("\n"))) <= LONGEST_LINE
    )


def chat(task: Task, size: Size, split: Split, seed: int, number: int) -> Chat:
    """Chat `number` of an endless sequence."""
    random = rng(seed, "nano", split, task, size.lines, number)
    return _WRITERS[task](random, size, split)


def _retrieval(random: np.random.Generator, size: Size, split: Split, first: Task) -> Chat:
    functions: list[list[str]] = []
    while (missing := size.lines - sum(len(code) + 1 for code in functions)) > 0:
        functions.append(_function(random, split).split("\n")[:missing])
    lines = [line for code in functions for line in [*code, ""]][: size.lines]
    keys = _keys(random, len(lines), split)
    block = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    starts = np.cumsum([0, *(len(code) + 1 for code in functions)])
    placed = {i for i in range(len(lines)) if size.places[0] <= i / max(1, len(lines) - 1) <= size.places[1]}
    whole = [
        (int(start), len(code))
        for start, code in zip(starts, functions, strict=False)
        if len(code) > 1 and int(start) in placed
    ]
    shuffled = [int(i) for i in random.permutation(len(lines)) if lines[int(i)].strip()]
    asked = [i for i in shuffled if i in placed] or shuffled
    turns: list[Turn] = []
    for line in asked[: size.turns]:
        task = first if not turns else _pick(random, ("line_retrieval", "line_retrieval", "function_retrieval"))
        start, length = (line, 1)
        if task == "function_retrieval" and whole:
            start, length = whole[int(random.integers(len(whole)))]
        task = "function_retrieval" if length > 1 else "line_retrieval"
        part = range(start, start + length)
        shown = {"key": keys[start], "start": keys[start], "end": keys[part[-1]], "code_block": block}
        answer = "\n" + "\n".join(f"{keys[i]} {lines[i]}" for i in part) + "\n```"
        turns.append(_turn(task, shown, answer, followed=bool(turns), before=random.random() < 0.7))
    return Chat(first, tuple(turns))


def _copy(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Lines behind keys, to be written once more: what retrieval is learnt from soonest."""
    lines = [line for _ in range(size.lines) for line in _invented(random, split).split("\n")][: size.lines]
    keys = _keys(random, len(lines), split)
    block = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    question = f"```python\n{block}\n```\n\nWrite the code block above once more."
    return Chat("copy", (Turn(question, "```python", f"\n{block}\n```"),))


def _turn(task: str, shown: dict[str, str], answer: str, *, followed: bool, before: bool, other: bool = False) -> Turn:
    """A question of appendix J of Sense and Sensitivity; after the first only what is asked for is said.

    With `other`, that is about a program of its own, which is shown.
    """
    text = Template(prompt_text(task)).substitute(shown)
    if followed and "retrieval" in task:
        text = text.rsplit("starts with a random key. ", 1)[1]
    elif followed:
        text = text.split("[FUNCTIONS]" if other else "[/FUNCTIONS]\n\n", 1)[1].split("\n\nYou are given", 1)[0]
        text = f"[FUNCTIONS]{text}" if other else text
    elif before:
        text = f"{Template(prompt_text(f'{task}.before')).substitute(shown)}\n\n{text}"
    return Turn(text, Template(prompt_text(f"{task}.prefill")).substitute(shown), answer)


def _function(random: np.random.Generator, split: Split) -> str:
    """A distractor, or an invented one."""
    return _pick(random, functions_of(split)) if random.random() < 0.4 else _invented(random, split)


def _invented(random: np.random.Generator, split: Split) -> str:
    """Lines of random words in the form of a function."""
    words = words_of(split)

    def word() -> str:
        return _pick(random, words)

    forms: tuple[Callable[[], str], ...] = (
        lambda: f"{word()} = {word()}.{word()}({word()})",
        lambda: f"{word()}.{word()}({word()}, {int(random.integers(100))})",
        lambda: f"{word()} = [{int(random.integers(100))}, {int(random.integers(100))}]",
        lambda: f"if {word()} == '{word()}':",
        lambda: f"return {word()}[{int(random.integers(10))}]",
        lambda: f"for {word()} in {word()}:",
        lambda: f"# {word()} {word()} {word()}",
        lambda: f"{word()}_{word()} += {int(random.integers(1000))}",
    )
    body = [" " * 4 * int(random.integers(1, 4)) + _pick(random, forms)() for _ in range(int(random.integers(1, 8)))]
    return "\n".join([f"def {word()}_{word()}({word()}, {word()}):", *body])


def _keys(random: np.random.Generator, count: int, split: Split) -> list[str]:
    keys: dict[str, None] = {}
    while len(keys) < count:
        key = f"{int(random.integers(16**6)):06x}"
        if split_of(key) == split:
            keys[key] = None
    return list(keys)


def _find_the_origin(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Chains of two links at one distance, as in the paper; some lists are shuffled."""
    lines = max(2, size.lines)  # a chain's
    d = size.d or _pick(random, (1, 1, 1, -1, 1, 2, 3, -2, 4, 5, 6, 8, -4, 10, 15))
    d = max(-lines + 1, min(d, lines - 1))
    count = lines + 2 * abs(d)
    words = words_of(split)
    drawn = [words[int(i)] for i in random.permutation(len(words))[: 3 * count]]
    chains = [drawn[i : i + 3] for i in range(0, len(drawn) - 2, 3)]
    ranks = [[Link(a, b) for a, b, _ in chains], [Link(b, c) for _, b, c in chains]]
    if d < 0:
        ranks.reverse()
    block = abs(d)
    laid = [link for at in range(0, len(chains), block) for rank in ranks for link in rank[at : at + block]]
    top = int(random.integers(block))
    shown = laid[top : top + lines]
    if not size.d and random.random() < 0.2:
        shown = [shown[int(i)] for i in random.permutation(len(shown))]
    inside = set(shown)
    whole = [chain for chain in chains if Link(*chain[:2]) in inside and Link(*chain[1:]) in inside]
    template = prompt_text("find_the_origin.as_run")
    listed = "\n".join(map(str, shown))
    turns: list[Turn] = []
    for chosen in random.permutation(len(whole))[: size.turns]:
        first, second, third = whole[int(chosen)]
        text = Template(template).substitute(connections=listed, destination=third)
        question = text.rsplit("\n", 1)[1].split(" Work")[0] if turns else text
        found = (Link(second, third), Link(first, second))
        steps = [f'To "{link.destination}":\n' + "\n".join(map(str, shown[: shown.index(link) + 1])) for link in found]
        turns.append(Turn(question, "", "\n".join([*steps, f'FINAL ANSWER: "{first}"'])))
    return Chat("find_the_origin", tuple(turns), SYSTEM)


def _semtrace(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """One function, of as many assignments as there are lines to have, and several inputs, each asked about."""
    [problem] = trace_problems(1, seed=_seed(random, split))
    if size.lines < problem.code.count("] = x"):
        problem = _shortened(problem, size.lines)
    assigned = dict(re.findall(r"arr\[(\d+)\] = x (. \d+)", problem.code))
    turns: list[Turn] = []
    for x in [int(problem.arguments), *(int(x) for x in random.integers(10, 100, size.turns - 1))]:
        shown = {"input": str(x), "code_block": problem.code}
        lines = [worked(x, f"arr[{i}]", assigned[str(i)]) for i in range(len(assigned))]
        answer = "\n".join([" [", *lines, "]", "```"])
        turns.append(_turn("output_prediction", shown, answer, followed=bool(turns), before=random.random() < 0.7))
    return Chat("semtrace", tuple(turns))


def worked(x: int, name: str, change: str) -> str:
    """An element of a SemTrace list, under a comment with the assignment and the sum digit by digit, ones first.

    A Python literal may hold comments; without them a model of this size does not learn the sums.
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
        steps = f"{f'{first}-{second}' if x == first else f'-({first}-{second})'}, {steps}"
    return f"# {name} = x {change}: {steps}\n{x + added},"


def _shortened(problem: Problem, assignments: int) -> Problem:
    """A SemTrace problem with its list's first elements alone."""
    first = {f"    arr[{i}] " for i in range(assignments)}
    head, _, *lines, end = problem.code.split("\n")
    zeros = f"    arr = [{', '.join('0' * assignments)}]"
    kept = [line for line in lines if line[: line.index("=")] in first]
    return replace(problem, code="\n".join([head, zeros, *kept, end]))


def _output_prediction(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Programs with an input each; some are rewritten or commented on as CodeCrash does it."""
    turns: list[Turn] = []
    for _ in range(size.turns):
        [problem] = generated_problems(1, seed=_seed(random, split))
        if random.random() < PERTURBED:
            problem = _perturbed(random, problem)
        turns.append(_output_turn(problem, followed=bool(turns), before=random.random() < 0.7))
    return Chat("output_prediction", tuple(turns))


def _perturbed(random: np.random.Generator, problem: Problem) -> Problem:
    """By one of CodeCrash's perturbations, which keep what the program returns; the same where none can be made."""
    draw = Draw(random)
    try:
        match _pick(random, ("REN", "RTF", "GBC", "MCC")):
            case "REN":
                return rename(problem).problem
            case "RTF":
                return reformat_conditions(problem, draw).problem
            case "GBC":
                return insert_garbage(problem, draw).problem
            case _:
                return insert_messages(problem, draw, style="comment", density=0.5, returned={}).problem
    except NotPerturbed:
        return problem


def _output_turn(problem: Problem, *, followed: bool, before: bool) -> Turn:
    shown = {"input": problem.arguments, "code_block": problem.code}
    answer = f"{worked_out(problem)}\n```"
    return _turn("output_prediction", shown, answer, followed=followed, before=before, other=True)


def _seed(random: np.random.Generator, split: Split) -> int:
    """Of a problem: even ones are for training, odd ones for evaluation; the studies' own are small."""
    return 2 * int(random.integers(2**40, 2**60)) + (split == "evaluate")


def _pick(random: np.random.Generator, items: Sequence[T]) -> T:
    return items[int(random.integers(len(items)))]


_WRITERS: dict[Task, Callable[[np.random.Generator, Size, Split], Chat]] = {
    "copy": _copy,
    "line_retrieval": lambda random, size, split: _retrieval(random, size, split, "line_retrieval"),
    "function_retrieval": lambda random, size, split: _retrieval(random, size, split, "function_retrieval"),
    "find_the_origin": _find_the_origin,
    "semtrace": _semtrace,
    "output_prediction": _output_prediction,
}
