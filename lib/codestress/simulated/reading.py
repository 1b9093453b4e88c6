"""Simulated readers: instruments with known parameters, not stand-ins for any real model.

A reader gets the same messages as a model. The reader keeps each segment of the
messages (a line, or a sentence of a long line) with a probability that depends on the
segment's position and the messages' length. From the kept segments it works out an
answer, which it writes as a model would. Because the reader's parameters are known,
estimators can be checked against them.

    keep(x, T) = load(T) * shape(x)
    load(T)    = 1 / (1 + (T / capacity) ** slope)
    shape(x)   = floor + (1 - floor) * max(primacy * exp(-x / edge),
                                           recency * exp(-(1 - x) / edge))

x is the segment's position (0 first, 1 last), and T the length of the messages in
tokens of 4 characters. A reader that is asked to reason step by step ([THOUGHT]) reads
twice: a segment that is not kept the first time has a second chance. A reader follows a
link between two lines that are k lines apart with probability exp(-(k - 1) / reach).
"""

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Request, Source
from codestress.validation import Strict


class Settings(Strict):
    """Parameters of a simulated reader: how many segments of the messages it keeps,
    which links between lines it follows, and the style of its answers."""

    capacity: float = Field(gt=0)
    """Length of the messages, in tokens, at which half of the segments in the best
    position are kept."""
    slope: float = Field(default=2.0, gt=0)
    """Steepness of the fall of the kept share around the capacity."""
    floor: float = Field(default=1.0, ge=0, le=1)
    """Share kept in the middle, relative to the best position."""
    primacy: float = Field(default=1.0, ge=0, le=1)
    """Advantage of the first segments over the floor, from 0 (none) to 1 (kept like the
    best position)."""
    recency: float = Field(default=1.0, ge=0, le=1)
    """Advantage of the last segments over the floor, from 0 to 1 like `primacy`."""
    edge: float = Field(default=0.1, gt=0)
    """Distance over which the two advantages fall to 1/e, as a share of the messages'
    length."""
    reach_down: float = Field(default=1000.0, gt=0)
    """Number of lines over which the probability of following a link to a line further
    down falls to 1/e."""
    reach_up: float = Field(default=1000.0, gt=0)
    """Number of lines over which the probability of following a link to a line further
    up falls to 1/e."""
    refusal: float = Field(default=0.0, ge=0, lt=1)
    """Probability of an empty answer."""
    credulity: float = Field(default=0.0, ge=0, le=1)
    """Probability that the reader believes a comment that names the result.

    A comment that calls a line useless is believed a quarter as often. The
    probabilities are halved for a reader that reasons step by step, and halved again
    for a reader that was told to ignore comments.
    """
    collapse: float = Field(default=0.0, ge=0, le=1)
    """Probability of endless repetition (style `reasoning`) if a comment contradicts
    the reader's own result."""
    thorough: bool = False
    """Whether the reader is thorough. A thorough reader tries inputs that can be made
    from the output. It also notices the end of a function if it has lost the head of
    the next one. Any other reader then takes the next function's lines for lines of the
    first."""
    style: Literal["plain", "markdown", "verbose", "reasoning"] = "plain"
    """Style of the answer: `markdown` sets markers in bold, `verbose` first repeats
    kept segments. `reasoning` first thinks aloud, longer for more comments that
    contradict the code."""


def keep_probability(
    reader: Settings, place: np.ndarray | float, tokens: float
) -> np.ndarray:
    """Return the probability that a reader with these settings keeps the segments at
    `place` (0 first, 1 last), as an array with the shape of `place`.

    `tokens` is the length of the messages in tokens.
    """
    x = np.asarray(place, dtype=float)
    load = 1 / (1 + (tokens / reader.capacity) ** reader.slope)
    first = reader.primacy * np.exp(-x / reader.edge)
    last = reader.recency * np.exp(-(1 - x) / reader.edge)
    advantage = np.maximum(first, last)
    return np.asarray(load * (reader.floor + (1 - reader.floor) * advantage))


def follow_probability(reader: Settings, lines_down: int) -> float:
    """Return the probability that a reader with these settings follows a link to a line
    that is `lines_down` lines further down (negative: up)."""
    reach = reader.reach_down if lines_down > 0 else reader.reach_up
    return float(np.exp(-(abs(lines_down) - 1) / reach))


COPIED = 60
"""Largest number of kept segments that style `verbose` repeats before it answers."""
KEYED = re.compile(r"^[0-9a-f]{6}(?: |: |\t)")
"""Pattern of the key at the beginning of a line: six hexadecimal digits (Sense and
Sensitivity, section 3.2)."""


@dataclass(frozen=True)
class Reading:
    """The segments of the messages that a reader has kept, and the question that it
    answers from these segments."""

    kept: list[tuple[int, str]]
    """Pairs (segment's index in the prompt, from 0; text), in order."""
    question: str
    """Last paragraph of the last message, which is always read."""
    reader: Settings
    random: np.random.Generator
    lines: list[int]
    """Line number, from 0, of each kept segment in its message."""
    source: Source
    """Origin of the program in the question."""
    blocks: list[int] = field(default_factory=list)
    """Block number (`Segments.blocks`) of each kept segment, for thorough readers; else
    empty."""


class Segments(NamedTuple):
    """Segments of several messages, in order, each of which a reader keeps or misses as
    a whole."""

    texts: list[str]
    lines: list[int]
    """Line number, from 0, of each segment in its message."""
    blocks: list[int]
    """Block number of each segment in its message. A block, such as a function, begins
    at an unindented line after an empty line or at the start; keys before lines are
    ignored."""


@lru_cache(maxsize=64)
def placed(*messages: str) -> Segments:
    """Return the segments of `messages`: their non-blank lines. Lines over 200
    characters are split into sentences.

    The result is cached, because readers share prompts.
    """
    segments = Segments([], [], [])
    for message in messages:
        block, empty = 0, True
        for number, line in enumerate(message.split("\n")):
            content = KEYED.sub("", line)
            if empty and content[:1].strip():
                block += 1
            empty = not content.strip()
            parts = []
            if len(line) > 200:
                parts = re.split(r"(?<=[.!?]) +", line)
            elif line.strip():
                parts = [line]
            for part in parts:
                segments.texts.append(part)
                segments.lines.append(number)
                segments.blocks.append(block)
    return segments


def segments(text: str) -> list[str]:
    """Return the texts of the segments of one message (`placed`)."""
    return placed(text).texts


def prospect(prompt: Prompt, reader: Settings) -> tuple[Segments, np.ndarray]:
    """Return the segments of all messages of `prompt`, and the probability of each that
    a reader with these settings misses it.

    A reader that reasons step by step reads twice, which squares this probability.
    """
    messages = [message.content for message in prompt.messages]
    seen = placed(*messages)
    count = len(seen.texts)
    places = (np.arange(count) + 0.5) / max(1, count)
    tokens = prompt.characters / CHARACTERS_PER_TOKEN
    missed = 1 - keep_probability(reader, places, tokens)
    twice = any("[THOUGHT]" in text for text in (*messages, prompt.prefill))
    if reader.style == "reasoning" or twice:
        missed = missed**2
    return seen, missed


def read(request: Request, reader: Settings) -> Reading:
    """Draw the segments of the messages in `request` that a reader with these settings
    keeps, and return them with the question as a `Reading`.

    At temperature 0 the same messages are always read in the same way. At a higher
    temperature, each sample and attempt is read in a way of its own.
    """
    prompt = request.prompt
    turns = [[message.role, message.content] for message in prompt.messages]
    names: list[str | float] = [
        request.model,
        request.revision,
        json.dumps([*turns, prompt.prefill]),
    ]
    if prompt.sampling.temperature > 0:
        names += [request.sample, request.attempt, prompt.sampling.temperature]
    random = rng(0, "reader", *names)
    seen, missed = prospect(prompt, reader)
    kept = (random.random(len(missed)) >= missed).tolist()
    texts = list(compress(enumerate(seen.texts), kept))
    question = prompt.messages[-1].content.rstrip().rsplit("\n\n", 1)[-1]
    lines = list(compress(seen.lines, kept))
    blocks = list[int]()
    if reader.thorough:
        blocks += compress(seen.blocks, kept)
    return Reading(texts, question, reader, random, lines, prompt.source, blocks)


def write(
    steps: list[str], conclusion: str, marker: str, reading: Reading, prefill: str
) -> str:
    """Return the text of an answer in the reader's style: the lines `steps`, then a
    line with `marker` and `conclusion`. An empty conclusion adds no line.

    If `prefill` (the answer's beginning in the prompt) ends with the marker, the text
    is the conclusion alone.
    """
    style = reading.reader.style
    if marker and prefill.rstrip().endswith(marker):
        return f" {conclusion}"
    if style == "verbose":
        copied = [text for _, text in reading.kept[:COPIED]]
        steps = ["Let me first write down what I have read.", *copied, *steps]
    bold = f"**{marker}**" if style == "markdown" and marker else marker
    return "\n".join([*steps, f"{bold} {conclusion}".strip()] if conclusion else steps)


def summary(reading: Reading, prefill: str) -> str:
    """Return the answer of a reader that does not recognise the question: the first two
    kept segments of `reading`, in the reader's style. `prefill` is the beginning of the
    answer in the prompt."""
    topic = [text for _, text in reading.kept[:2]] or ["something I do not remember"]
    steps = ["This text is about the following.", *topic]
    return write(steps, "", "", reading, prefill)
