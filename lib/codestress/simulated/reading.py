"""Simulated readers: instruments with known parameters, not stand-ins for any real model.

A reader gets the same messages as a model. It keeps each segment of them (a line, or a sentence of
a long line) with a probability that depends on the segment's position and the messages' length,
works out an answer from the kept segments, and writes it as a model would. Because the parameters
are known, estimators can be checked against them.

    keep(x, T) = load(T) * shape(x)
    load(T)    = 1 / (1 + (T / capacity) ** slope)
    shape(x)   = floor + (1 - floor) * max(primacy * exp(-x / edge),
                                           recency * exp(-(1 - x) / edge))

x is the segment's position (0 first, 1 last), T the length of the messages in tokens (4 characters
each). A reader that is asked to reason step by step ([THOUGHT]) reads twice: a segment that is not
kept the first time has a second chance. A link between two lines that are k lines apart is followed
with probability exp(-(k - 1) / reach).
"""

import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, compress
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Prompt, Request, Source
from codestress.validation import Strict


class Settings(Strict):
    """Parameters of a simulated reader: how much it keeps of messages, which links it follows, and
    the style of its answers."""

    capacity: float = Field(gt=0)
    """Length of the messages, in tokens, at which half of the best placed segments are kept."""
    slope: float = Field(default=2.0, gt=0)
    """Steepness with which the kept share falls around the capacity."""
    floor: float = Field(default=1.0, ge=0, le=1)
    """Share kept in the middle, relative to a perfect position."""
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
    """Probability that the reader believes a comment that names the result. A comment that calls a
    line useless is believed a quarter as often. Both are halved for a reader that reasons step by
    step, and again for one that was told to ignore comments."""
    collapse: float = Field(default=0.0, ge=0, le=1)
    """Probability of endless repetition (style `reasoning`) when a comment contradicts the reader's
    own result."""
    thorough: bool = False
    """Whether the reader notices the end of a function even when it has lost the next function's
    head (else it takes lines of the next function for more of the first), and tries inputs that can
    be made from the output."""
    style: Literal["plain", "markdown", "verbose", "reasoning"] = "plain"
    """Style of the answer: `markdown` sets markers in bold, `verbose` first repeats kept segments,
    `reasoning` thinks aloud first, longer for more comments that contradict the code."""


def keep_probability(
    reader: Settings, place: np.ndarray | float, tokens: float
) -> np.ndarray:
    """Probability that `reader` (a simulated reader's settings) keeps the segments at `place` (0
    first, 1 last) of messages of `tokens` tokens, as an array with the shape of `place`."""
    x = np.asarray(place, dtype=float)
    load = 1 / (1 + (tokens / reader.capacity) ** reader.slope)
    advantage = np.maximum(
        reader.primacy * np.exp(-x / reader.edge),
        reader.recency * np.exp(-(1 - x) / reader.edge),
    )
    return np.asarray(load * (reader.floor + (1 - reader.floor) * advantage))


def follow_probability(reader: Settings, lines_down: int) -> float:
    """Probability that `reader` (a simulated reader's settings) follows a link to a line
    `lines_down` further down (negative: up)."""
    reach = reader.reach_down if lines_down > 0 else reader.reach_up
    return float(np.exp(-(abs(lines_down) - 1) / reach))


COPIED = 60
"""Largest number of kept segments that style `verbose` repeats before it answers."""
KEYED = re.compile(r"^[0-9a-f]{6}(?: |: |\t)")
"""Pattern of the key before a line (Sense and Sensitivity, section 3.2)."""


@dataclass(frozen=True)
class Reading:
    """Segments of the messages that a reader has kept, and the question that it answers from
    them."""

    kept: list[tuple[int, str]]
    """Pairs of a kept segment's number and text, in order."""
    question: str
    """Last paragraph of the prompt, which is always read."""
    reader: Settings
    random: np.random.Generator
    lines: list[int]
    """Line number, from 0, of each kept segment in its message."""
    source: Source
    """Origin of the program in the question."""
    blocks: list[int] = field(default_factory=list)
    """Block number (`block_numbers`) of each kept segment, for readers that notice where functions
    end; else empty."""


def segments(text: str) -> list[str]:
    """Segments of `text`, which readers keep or miss as a whole: its non-empty lines, with lines
    over 200 characters split into sentences."""
    return [piece for _, piece in numbered_segments(text)]


@lru_cache(maxsize=64)
def numbered_segments(text: str) -> list[tuple[int, str]]:
    """Pairs of line number (from 0) and text, one for each segment (`segments`) of `text`; cached,
    because readers share prompts."""
    pieces: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n")):
        if len(line) > 200:
            pieces += [(number, piece) for piece in re.split(r"(?<=[.!?]) +", line)]
        elif line and not line.isspace():
            pieces.append((number, line))
    return pieces


def block_numbers(text: str) -> list[int]:
    """Block number for each line of `text`, in order; a block begins at a line without indentation
    after an empty line or at the start. Keys before lines (six hexadecimal digits) are ignored."""
    numbers, block, empty = [], 0, True
    for line in text.split("\n"):
        content = KEYED.sub("", line) if line[6:7] in (" ", ":", "\t") else line
        block += bool(empty and content and not content[0].isspace())
        empty = not content or content.isspace()
        numbers.append(block)
    return numbers


@lru_cache(maxsize=64)
def placed(*texts: str) -> tuple[list[str], list[int]]:
    """Pair of lists: the segments of several messages (`texts`), and the line number of each
    segment in its message."""
    numbered = [*chain(*map(numbered_segments, texts))]
    return [piece for _, piece in numbered], [line for line, _ in numbered]


@lru_cache(maxsize=64)
def _blocks(*texts: str) -> list[int]:
    """Block number (`block_numbers`) of each segment of several messages (`texts`), counted within
    its message."""
    blocks = list[int]()
    for text in texts:
        block_of = block_numbers(text)
        blocks += [block_of[line] for line, _ in numbered_segments(text)]
    return blocks


class Prospect(NamedTuple):
    """Segments of a prompt (its `pieces`), with the probability that a reader misses each (its
    `missed`, of the same length)."""

    pieces: list[str]
    lines: list[int]
    """Line number, from 0, of each segment in its message."""
    missed: np.ndarray


def prospect(prompt: Prompt, reader: Settings) -> Prospect:
    """Returns the segments of all messages of `prompt`, with the probability that `reader`
    (settings) misses each, as a `Prospect`. A reader that reasons step by step reads twice, which
    squares this probability."""
    texts = [message.content for message in prompt.messages]
    pieces, lines = placed(*texts)
    places = (np.arange(len(pieces)) + 0.5) / max(1, len(pieces))
    tokens = prompt.characters / CHARACTERS_PER_TOKEN
    missed = 1 - keep_probability(reader, places, tokens)
    texts.append(prompt.prefill)
    if reader.style == "reasoning" or any("[THOUGHT]" in text for text in texts):
        missed = missed**2  # the reader reads twice
    return Prospect(pieces, lines, missed)


def read(request: Request, reader: Settings) -> Reading:
    """Draws the segments that `reader` (settings) keeps of the messages in `request`, and returns
    them as a `Reading`. The same messages are always read in the same way at temperature 0, else
    for the same sample and attempt."""
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
    pieces, lines, missed = prospect(prompt, reader)
    kept = (random.random(len(pieces)) >= missed).tolist()
    question = prompt.messages[-1].content.rstrip().rsplit("\n\n", 1)[-1]
    numbered = list(compress(enumerate(pieces), kept))
    lines = list(compress(lines, kept))
    blocks = list[int]()
    if reader.thorough:
        texts = [message.content for message in prompt.messages]
        blocks = list(compress(_blocks(*texts), kept))
    return Reading(numbered, question, reader, random, lines, prompt.source, blocks)


def write(
    steps: list[str], conclusion: str, marker: str, reading: Reading, prefill: str
) -> str:
    """Text of an answer in the style of the reader in `reading`: the lines `steps`, then a line
    with `marker` and `conclusion` (none without a conclusion). After a `prefill` (the answer's
    beginning in the prompt) that ends with the marker, the conclusion alone."""
    style = reading.reader.style
    if marker and prefill.rstrip().endswith(marker):
        return f" {conclusion}"
    if style == "verbose":
        copied = [text for _, text in reading.kept[:COPIED]]
        steps = ["Let me first write down what I have read.", *copied, *steps]
    bold = f"**{marker}**" if style == "markdown" and marker else marker
    return "\n".join([*steps, f"{bold} {conclusion}".strip()] if conclusion else steps)


def summary(reading: Reading, prefill: str) -> str:
    """Text of the answer of a reader that does not recognise the question: the first two kept
    segments of `reading`, in its style. `prefill` is the beginning of the answer in the prompt."""
    topic = [text for _, text in reading.kept[:2]] or ["something I do not remember"]
    steps = ["This text is about the following.", *topic]
    return write(steps, "", "", reading, prefill)
