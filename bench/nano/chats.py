"""Endless training chats for `nano`: the papers' prompts with seeded content and correct answers.

Several questions on one context follow each other as turns, so that one context is read once and
used many times. Training and evaluation never share a seed, a word, a key or a distractor: each
belongs to one split by its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeVar

import numpy as np

from codestress.papers.origin.connections import TARGET
from codestress.problems.words import word_list
from codestress.seeding import rng

T = TypeVar("T")
Split = Literal["train", "evaluate"]
Task = Literal[
    "copy",
    "line_retrieval",
    "function_retrieval",
    "find_the_origin",
    "semtrace",
    "output_prediction",
]
HELD_OUT = 5
"""One in `HELD_OUT` words, keys and distractors is for evaluation only."""


@dataclass(frozen=True)
class Turn:
    """A question of a chat, the prefill of its answer (its `begun`), and the rest of a correct
    answer (its `answer`)."""

    question: str
    begun: str
    answer: str


@dataclass(frozen=True)
class Chat:
    """A chat of a task: its turns are questions about one context, such as a block of code, which
    the first question shows, after the prompt `system` (empty: none)."""

    task: Task
    turns: tuple[Turn, ...]
    system: str = ""


@dataclass(frozen=True)
class Size:
    """Size limits of a chat: lines, turns, distance, and the place of what is asked for."""

    lines: int = 16
    """Number of lines in a block of code or in a list of connections; upper limit of the number of
    assignments."""
    turns: int = 6
    """Largest number of turns."""
    d: int = 0
    """Distance d in a list of connections (Find the Origin); 0: drawn at random."""
    places: tuple[float, float] = (0.0, 1.0)
    """Range in a block, 0 (first line) to 1, of the lines and functions that are asked for.

    Any line may be asked for in a block without lines in this range.
    """


def block_of(question: str) -> list[str]:
    """Returns the lines of the first Python block (fenced ```python) in a question; `IndexError`
    without one."""
    return question.split("```python\n", 1)[1].split("\n```", 1)[0].split("\n")


def split_of(text: str) -> Split:
    """Returns the split, `train` or `evaluate`, of `text`, a word, key or distractor, by its hash;
    the words of Find the Origin's own chain are for evaluation."""
    if text in TARGET:
        return "evaluate"
    return (
        "evaluate"
        if hashlib.blake2b(text.encode()).digest()[0] % HELD_OUT == 0
        else "train"
    )


@cache
def words_of(split: Split) -> tuple[str, ...]:
    """Returns the words of the kit's list of English words (`word_list`) that belong to the split
    (`split_of`)."""
    return tuple(word for word in word_list() if split_of(word) == split)


def chat(task: Task, size: Size, split: Split, seed: int, number: int) -> Chat:
    """Returns chat `number` of the endless sequence that `seed` gives for a task, a size and a
    split; equal arguments give equal chats."""
    random = rng(seed, "nano", split, task, size.lines, number)
    return _writers()[task](random, size, split)


def _copy(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Returns a chat with one question: to write a block once more, `size.lines` invented lines of
    code, each behind a key of the split. Retrieval is learnt soonest from it."""
    lines = [
        line for _ in range(size.lines) for line in invented(random, split).split("\n")
    ][: size.lines]
    keys = keys_of(random, len(lines), split)
    block = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    question = f"```python\n{block}\n```\n\nWrite the code block above once more."
    return Chat("copy", (Turn(question, "```python", f"\n{block}\n```"),))


def invented(random: np.random.Generator, split: Split) -> str:
    """Returns the text of a function in Python with random words of the split; it need not run."""
    words = words_of(split)

    def word() -> str:
        return pick(random, words)

    forms: tuple[Callable[[], str], ...] = (
        lambda: f"{word()} = {word()}.{word()}({word()})",
        lambda: f"{word()}.{word()}({word()}, {int(random.integers(100))})",
        lambda: (
            f"{word()} = [{int(random.integers(100))}, {int(random.integers(100))}]"
        ),
        lambda: f"if {word()} == '{word()}':",
        lambda: f"return {word()}[{int(random.integers(10))}]",
        lambda: f"for {word()} in {word()}:",
        lambda: f"# {word()} {word()} {word()}",
        lambda: f"{word()}_{word()} += {int(random.integers(1000))}",
    )
    body = [
        " " * 4 * int(random.integers(1, 4)) + pick(random, forms)()
        for _ in range(int(random.integers(1, 8)))
    ]
    return "\n".join([f"def {word()}_{word()}({word()}, {word()}):", *body])


def keys_of(random: np.random.Generator, count: int, split: Split) -> list[str]:
    """Returns `count` different random keys, each of six hexadecimal digits, all of one split
    (`split_of`); they name lines."""
    keys: dict[str, None] = {}
    while len(keys) < count:
        key = f"{int(random.integers(16**6)):06x}"
        if split_of(key) == split:
            keys[key] = None
    return list(keys)


def seed_of(random: np.random.Generator, split: Split) -> int:
    """Returns a random seed for the making of a problem: even for training, odd for evaluation. The
    seed is large (2^41 or more), because the studies' own are small."""
    return 2 * int(random.integers(2**40, 2**60)) + (split == "evaluate")


def pick(random: np.random.Generator, items: Sequence[T]) -> T:
    """Returns one of `items`, a sequence, at random; all are equally likely."""
    return items[int(random.integers(len(items)))]


Writer = Callable[[np.random.Generator, Size, Split], Chat]


@cache
def _writers() -> dict[Task, Writer]:
    """Returns, by task, the functions that write a chat of the task: for copying a block (`_copy`),
    and for the tasks of two papers."""
    import chats_origin  # which import this module
    import chats_semtrace

    return {"copy": _copy, **chats_origin.WRITERS, **chats_semtrace.WRITERS}
