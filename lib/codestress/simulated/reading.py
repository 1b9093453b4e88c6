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
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import Field

from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Request, Source
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


def segments(text: str) -> list[str]:
    """The non-empty lines of a text; a line of over 200 characters counts as its sentences."""
    return [piece for _, piece in numbered_segments(text)]


def numbered_segments(text: str) -> list[tuple[int, str]]:
    """The segments of a text, each with the number of its line, from 0 on."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.split("\n")):
        if len(line) > 200:
            found += [(number, piece) for piece in re.split(r"(?<=[.!?]) +", line)]
        elif line.strip():
            found.append((number, line))
    return found


def read(request: Request, reader: Settings) -> Reading:
    """Draws what is kept. At temperature 0 the same messages are always read the same way."""
    prompt = request.prompt
    shown = json.dumps([[message.role, message.content] for message in prompt.messages] + [prompt.prefill])
    draw = [request.sample, request.attempt, prompt.sampling.temperature] if prompt.sampling.temperature > 0 else []
    random = rng(0, "reader", request.model, request.revision, shown, *draw)
    placed = [piece for message in prompt.messages for piece in numbered_segments(message.content)]
    pieces = [piece for _, piece in placed]
    tokens = prompt.characters / CHARACTERS_PER_TOKEN
    places = (np.arange(len(pieces)) + 0.5) / max(1, len(pieces))
    missed = 1 - keep_probability(reader, places, tokens)
    if "[THOUGHT]" in shown or reader.style == "reasoning":
        missed = missed**2  # who works step by step reads twice
    kept = random.random(len(pieces)) >= missed
    question = prompt.messages[-1].content.rstrip().rsplit("\n\n", 1)[-1]
    indices = [int(i) for i in np.flatnonzero(kept)]
    return Reading(
        [(i, pieces[i]) for i in indices], question, reader, random, [placed[i][0] for i in indices], prompt.source
    )


def write(steps: list[str], conclusion: str, marker: str, reading: Reading, prefill: str) -> str:
    """The answer's text; after a prefill only what is still to be said."""
    style = reading.reader.style
    if marker and prefill.rstrip().endswith(marker):
        return f" {conclusion}"
    if style == "verbose":
        steps = ["Let me first write down what I have read.", *(text for _, text in reading.kept[:60]), *steps]
    bold = f"**{marker}**" if style == "markdown" and marker else marker
    return "\n".join([*steps, f"{bold} {conclusion}".strip()] if conclusion else steps)


def summary(reading: Reading, prefill: str) -> str:
    """What a reader says that has not found what it was asked for."""
    told = [text for _, text in reading.kept[:2]] or ["something I do not remember"]
    return write(["This text is about the following.", *told], "", "", reading, prefill)
