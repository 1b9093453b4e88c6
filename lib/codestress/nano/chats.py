"""Chats to learn from, without end: the papers' prompts with seeded content and the answers that are right.

Several questions about one context follow each other as turns, so that one context is read once and learnt from many
times. Training and evaluation never share a seed, a word, a key or a distractor: each belongs to one split by its hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeVar

import numpy as np

from codestress.problems.program import Problem
from codestress.problems.words import word_list
from codestress.rooms import offered
from codestress.seeding import rng

T = TypeVar("T")
Split = Literal["train", "evaluate"]
Task = Literal["copy", "line_retrieval", "function_retrieval", "find_the_origin", "semtrace", "output_prediction"]
HELD_OUT = 5
"""One in so many words, keys and distractors is for evaluation only."""


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


def block_of(question: str) -> list[str]:
    """The lines of the block of code that a question shows."""
    return question.split("```python\n", 1)[1].split("\n```", 1)[0].split("\n")


def split_of(text: str) -> Split:
    """The split of a word, a key or a distractor, by its hash; what a paper holds out is for evaluation."""
    if text in _held_out():
        return "evaluate"
    return "evaluate" if hashlib.blake2b(text.encode()).digest()[0] % HELD_OUT == 0 else "train"


@cache
def _held_out() -> frozenset[str]:
    return frozenset(text for texts in offered("chats", "HELD_OUT") for text in texts)


@cache
def words_of(split: Split) -> tuple[str, ...]:
    """The word list's part."""
    return tuple(word for word in word_list() if split_of(word) == split)


def chat(task: Task, size: Size, split: Split, seed: int, number: int) -> Chat:
    """Chat `number` of an endless sequence."""
    random = rng(seed, "nano", split, task, size.lines, number)
    return _writers()[task](random, size, split)


def _copy(random: np.random.Generator, size: Size, split: Split) -> Chat:
    """Lines behind keys, to be written once more: what retrieval is learnt from soonest."""
    lines = [line for _ in range(size.lines) for line in invented(random, split).split("\n")][: size.lines]
    keys = keys_of(random, len(lines), split)
    block = "\n".join(f"{key} {line}" for key, line in zip(keys, lines, strict=True))
    question = f"```python\n{block}\n```\n\nWrite the code block above once more."
    return Chat("copy", (Turn(question, "```python", f"\n{block}\n```"),))


def invented(random: np.random.Generator, split: Split) -> str:
    """Lines of random words in the form of a function."""
    words = words_of(split)

    def word() -> str:
        return pick(random, words)

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
    body = [" " * 4 * int(random.integers(1, 4)) + pick(random, forms)() for _ in range(int(random.integers(1, 8)))]
    return "\n".join([f"def {word()}_{word()}({word()}, {word()}):", *body])


def keys_of(random: np.random.Generator, count: int, split: Split) -> list[str]:
    """Keys of lines, none twice, all of one split."""
    keys: dict[str, None] = {}
    while len(keys) < count:
        key = f"{int(random.integers(16**6)):06x}"
        if split_of(key) == split:
            keys[key] = None
    return list(keys)


def seed_of(random: np.random.Generator, split: Split) -> int:
    """Of a problem: even ones are for training, odd ones for evaluation; the studies' own are small."""
    return 2 * int(random.integers(2**40, 2**60)) + (split == "evaluate")


def pick(random: np.random.Generator, items: Sequence[T]) -> T:
    """One of some items."""
    return items[int(random.integers(len(items)))]


def rewritten(random: np.random.Generator, problem: Problem) -> Problem:
    """A program as a paper rewrites it, keeping what it returns; the same where no paper does."""
    for rewrite in offered("chats", "REWRITE"):
        problem = rewrite(random, problem)
    return problem


Writer = Callable[[np.random.Generator, Size, Split], Chat]


@cache
def _writers() -> dict[Task, Writer]:
    """What writes each task: a block to copy, and what the papers ask."""
    written: dict[Task, Writer] = {"copy": _copy}
    for writers in offered("chats", "WRITERS"):
        written |= writers
    return written
