"""Simulated readers: instruments with known parameters, not stand-ins for any real model.

A reader gets the same messages as a model. It keeps each segment of them (a line, or a sentence of a long line)
with a probability that depends on where the segment stands and how long the whole is, works out an answer from
the segments it kept, and writes it as a model would. Because the parameters are known, the estimators can be
checked against them.

    keep(x, T) = load(T) * shape(x)
    load(T)    = 1 / (1 + (T / capacity) ** slope)
    shape(x)   = floor + (1 - floor) * max(primacy * exp(-x / edge), recency * exp(-(1 - x) / edge))

x is the segment's place (0 first, 1 last), T the length of the messages in tokens (4 characters each).
Who is asked to reason step by step ([THOUGHT]) reads twice: what is not kept the first time has a second chance.
A link between two lines that stand k lines apart is followed with probability exp(-(k - 1) / reach).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from typing import Literal

import numpy as np
from pydantic import Field

from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Request, Source
from codestress.validation import Strict


class Settings(Strict):
    """The parameters of a reader."""

    capacity: float = Field(gt=0)
    """Length of the messages, in tokens, at which half of the best placed segments are kept."""
    slope: float = Field(default=2.0, gt=0)
    """How sharply keeping falls around the capacity."""
    floor: float = Field(default=1.0, ge=0, le=1)
    """Share kept in the middle, relative to a perfect place."""
    primacy: float = Field(default=1.0, ge=0, le=1)
    """Advantage of the first segments over the floor: 1 is all of it, 0 none."""
    recency: float = Field(default=1.0, ge=0, le=1)
    """Advantage of the last segments over the floor."""
    edge: float = Field(default=0.1, gt=0)
    """Width of both advantages, as a share of the messages."""
    reach_down: float = Field(default=1000.0, gt=0)
    """Lines over which a link to a line further down is still followed (1/e)."""
    reach_up: float = Field(default=1000.0, gt=0)
    """Lines over which a link to a line further up is still followed (1/e)."""
    refusal: float = Field(default=0.0, ge=0, lt=1)
    """Probability of an empty answer."""
    credulity: float = Field(default=0.0, ge=0, le=1)
    """Probability to believe a comment that names the result; one that says that a line does nothing is believed a
    quarter as often. Both half as often by who reasons step by step, and again by who was told to ignore comments."""
    collapse: float = Field(default=0.0, ge=0, le=1)
    """Probability to end in endless repetition (style `reasoning`) when a comment contradicts what was worked out."""
    thorough: bool = False
    """Whether it notices where a function ends, also when it has lost the head of the next one (else it takes lines of
    that for more of the function), and looks for inputs among what can be made of the output."""
    style: Literal["plain", "markdown", "verbose", "reasoning"] = "plain"
    """How the answer is written: `markdown` sets markers in bold, `verbose` first repeats what was kept, `reasoning`
    thinks aloud first, the longer the more comments contradict the code."""


def keep_probability(reader: Settings, place: np.ndarray | float, tokens: float) -> np.ndarray:
    """Probability that segments at `place` (0 to 1) of messages of `tokens` tokens are kept; the shape of `place`."""
    x = np.asarray(place, dtype=float)
    load = 1 / (1 + (tokens / reader.capacity) ** reader.slope)
    advantage = np.maximum(reader.primacy * np.exp(-x / reader.edge), reader.recency * np.exp(-(1 - x) / reader.edge))
    return np.asarray(load * (reader.floor + (1 - reader.floor) * advantage))


def follow_probability(reader: Settings, lines_down: int) -> float:
    """Probability that a link to a line `lines_down` further down (negative: up) is followed."""
    reach = reader.reach_down if lines_down > 0 else reader.reach_up
    return float(np.exp(-(abs(lines_down) - 1) / reach))


COPIED = 60
"""Of what was kept, the segments that style `verbose` repeats before it answers."""
KEYED = re.compile(r"^[0-9a-f]{6} ")
"""The key before a line (Sense and Sensitivity, section 3.2)."""


@dataclass(frozen=True)
class Reading:
    """What a reader has in mind when it answers: the kept segments, in order, and the question."""

    kept: list[tuple[int, str]]
    """(number of the segment, its text)."""
    question: str
    """The last paragraph, which is always read."""
    reader: Settings
    random: np.random.Generator
    lines: list[int]
    """The line of its message in which each kept segment stands, from 0 on."""
    source: Source
    """Of the program that the question is about."""
    blocks: list[int] = field(default_factory=list)
    """The block (`block_numbers`) of each kept segment, for who notices where functions end."""


def segments(text: str) -> list[str]:
    """The non-empty lines of a text; a line of over 200 characters counts as its sentences."""
    return [piece for _, piece in numbered_segments(text)]


@lru_cache(maxsize=64)
def numbered_segments(text: str) -> list[tuple[int, str]]:
    """The segments of a text, each with the number of its line, from 0 on; readers share prompts."""
    lines = text.split("\n")
    if max(map(len, lines)) <= 200:
        return [(number, line) for number, line in enumerate(lines) if line and not line.isspace()]
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        if len(line) > 200:
            found += [(number, piece) for piece in re.split(r"(?<=[.!?]) +", line)]
        elif line.strip():
            found.append((number, line))
    return found


def block_numbers(text: str) -> list[int]:
    """For each line of a text the number of its block: one begins at a line without indentation after an empty one."""
    numbers, block, empty = [], 0, True
    for line in text.split("\n"):
        content = line[7:] if line[6:7] == " " and KEYED.match(line) else line
        block += bool(empty and content and not content[0].isspace())
        empty = not content or content.isspace()
        numbers.append(block)
    return numbers


@lru_cache(maxsize=64)
def placed(*texts: str) -> tuple[list[str], list[int]]:
    """The segments of messages, and of each the number of its line."""
    found = [segment for text in texts for segment in numbered_segments(text)]
    return [piece for _, piece in found], [line for line, _ in found]


@lru_cache(maxsize=64)
def _blocks(*texts: str) -> list[int]:
    """Of each segment of messages the number of its block, counted in its message."""
    found = list[int]()
    for text in texts:
        block_of = block_numbers(text)
        found += [block_of[line] for line, _ in numbered_segments(text)]
    return found


@dataclass(frozen=True)
class Prospect:
    """What a reader may keep of a prompt: its segments, and with which probability each is missed (the same length)."""

    pieces: list[str]
    lines: list[int]
    """The line of its message in which each segment stands, from 0 on."""
    missed: np.ndarray

    @property
    def kept(self) -> np.ndarray:
        """The probability that each segment is kept."""
        return 1 - self.missed


def prospect(prompt: Prompt, reader: Settings) -> Prospect:
    """The segments of all messages, and the probability that each is kept."""
    pieces, lines = placed(*(message.content for message in prompt.messages))
    places = (np.arange(len(pieces)) + 0.5) / max(1, len(pieces))
    missed = 1 - keep_probability(reader, places, prompt.characters / CHARACTERS_PER_TOKEN)
    shown = [*(message.content for message in prompt.messages), prompt.prefill]
    if reader.style == "reasoning" or any("[THOUGHT]" in text for text in shown):
        missed = missed**2  # who works step by step reads twice
    return Prospect(pieces, lines, missed)


@lru_cache(maxsize=1)
def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """Of the rule of Gauss and Legendre from 0 to 1, and their weights; not worked out before they are needed."""
    nodes, weights = np.polynomial.legendre.leggauss(200)
    return (nodes + 1) / 2, weights / 2


def share_of_kept(mine: float, others: np.ndarray) -> float:
    """E[K / (K + sum of K_i)]: how often a draw from what was kept falls on one piece.

    It is kept with probability `mine`, the others each with theirs, all independently. As an integral: `mine` times
    that of the product of (1 - p_i + p_i t) over t from 0 to 1, by Gauss and Legendre.
    """
    nodes, weights = _nodes()
    return float(mine * (weights * (1 - others + others * nodes[:, None]).prod(axis=1)).sum())


def read(request: Request, reader: Settings) -> Reading:
    """Draws what is kept. At temperature 0 the same messages are always read the same way."""
    prompt = request.prompt
    shown = json.dumps([[message.role, message.content] for message in prompt.messages] + [prompt.prefill])
    draw = [request.sample, request.attempt, prompt.sampling.temperature] if prompt.sampling.temperature > 0 else []
    random = rng(0, "reader", request.model, request.revision, shown, *draw)
    seen = prospect(prompt, reader)
    kept = (random.random(len(seen.pieces)) >= seen.missed).tolist()
    question = prompt.messages[-1].content.rstrip().rsplit("\n\n", 1)[-1]
    pieces, lines = [*compress(enumerate(seen.pieces), kept)], [*compress(seen.lines, kept)]
    block_of = _blocks(*(message.content for message in prompt.messages)) if reader.thorough else []
    return Reading(pieces, question, reader, random, lines, prompt.source, [*compress(block_of, kept)])


def write(steps: list[str], conclusion: str, marker: str, reading: Reading, prefill: str) -> str:
    """The answer's text; after a prefill only what is still to be said."""
    style = reading.reader.style
    if marker and prefill.rstrip().endswith(marker):
        return f" {conclusion}"
    if style == "verbose":
        steps = ["Let me first write down what I have read.", *(text for _, text in reading.kept[:COPIED]), *steps]
    bold = f"**{marker}**" if style == "markdown" and marker else marker
    return "\n".join([*steps, f"{bold} {conclusion}".strip()] if conclusion else steps)


def summary(reading: Reading, prefill: str) -> str:
    """What a reader says that has not found what it was asked for."""
    told = [text for _, text in reading.kept[:2]] or ["something I do not remember"]
    return write(["This text is about the following.", *told], "", "", reading, prefill)
