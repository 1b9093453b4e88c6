"""Probabilities of right answers of the simulated readers, and counts of the intervals that
contain the true value.

The readers' parameters are known, so that tests can hold the papers' estimators against the truth.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd

from codestress.literals import parse_literal
from codestress.papers.faultloc.reading import seen_as
from codestress.papers.origin.connections import TARGET
from codestress.papers.origin.reading import LINK
from codestress.problems.program import Problem
from codestress.simulated.reading import (
    Settings,
    follow_probability,
    prospect,
)
from codestress.types import Prompt

STEP = 0.5
TIMES = np.exp(np.arange(-20.0, 8.0, STEP))
"""Values of s at which the integral in `share_drawn` is evaluated, equally spaced in log s; the
trapezium rule is then accurate to 1e-6."""


class Prospect(NamedTuple):
    pieces: list[str]
    lines: list[int]
    missed: np.ndarray


def seen_by(prompt: Prompt, reader: Settings) -> Prospect:
    segments, missed = prospect(prompt, reader)
    return Prospect(segments.texts, segments.lines, missed)


def share_drawn(mine: int, kept: np.ndarray, weights: np.ndarray) -> float:
    """Probability that the piece with index `mine` is kept and then drawn, in proportion to weight,
    from the pieces that were kept.

    The arrays have one number for each piece: `kept` its probability to be kept, independently of
    others, `weights` its weight above 0. The share w / W of a weight w in the kept pieces' total W
    is the integral of w exp(-s W) over s from 0 on, whose expectation is a product over the pieces.
    """
    kept_at = kept[:, None] * np.exp(-TIMES * weights[:, None])
    factors = 1 - kept[:, None] + kept_at
    others = np.delete(factors, mine, axis=0).prod(axis=0)
    return float((TIMES * weights[mine] * kept_at[mine] * others).sum() * STEP)


def chain_chance(prompt: Prompt, reader: Settings) -> float:
    """Probability (0 to 1) that a simulated reader with the settings `reader` answers `prompt`, a
    question for the origin of the paper's own chain, correctly: it keeps and follows all links of
    the chain, or does not keep the last link and guesses right. Half of the readers without the
    last link guess one of the origins that they kept. A refusal is incorrect. `KeyError` if
    `prompt` lacks a link of the chain."""
    seen = seen_by(prompt, reader)
    origins, places = dict[str, str](), dict[str, int]()
    for number, piece in enumerate(seen.pieces):
        for link in LINK.finditer(piece):
            origins[link[2]], places[link[2]] = link[1], number
    word, way = TARGET[-1], list[int]()
    while word != TARGET[0]:
        way.append(places[word])
        word = origins[word]
    followed = [
        follow_probability(reader, below - above)
        for below, above in itertools.pairwise(way)
    ]
    right = float((1 - seen.missed[way]).prod() * np.prod(followed))
    guessed = [
        way[-1],
        *(number for number in places.values() if number not in (way[0], way[-1])),
    ]
    share = share_drawn(0, 1 - seen.missed[guessed], np.ones(len(guessed)))
    right += 0.5 * float(seen.missed[way[0]]) * share
    return right * (1 - reader.refusal)


def trace_chance(problem: Problem, prompt: Prompt, reader: Settings) -> float:
    """Probability (0 to 1) that a simulated reader answers correctly the SemTrace question in
    `prompt`.

    `problem` is the problem asked about (`StopIteration` if `prompt` lacks its program), `reader`
    the reader's settings. The reader must remember the function's head, the list of zeros, and each
    assignment of a value other than zero: an element without its assignment stays 0. Other
    functions do not mislead a reader that traces by hand; a refusal is incorrect.
    """
    seen = seen_by(prompt, reader)
    lines = problem.code.split("\n")
    start = next(
        n for n in range(len(seen.pieces)) if seen.pieces[n : n + len(lines)] == lines
    )
    values = parse_literal(problem.output).value
    needed = [0, 1]
    for number, line in enumerate(lines):
        assigned = re.match(r" +arr\[(\d+)\] = ", line)
        if assigned and values[int(assigned[1])] != 0:
            needed.append(number)
    return float((1 - seen.missed)[[start + number for number in needed]].prod()) * (
        1 - reader.refusal
    )


def line_chance(prompt: Prompt, reader: Settings, line: int) -> float:
    """Returns the probability (0 to 1) that the simulated reader `reader` answers `prompt` with
    line number `line` of its program. A reader keeps (does not miss) each line by chance, and draws
    a kept line in proportion to the suspicion that its text raises (`seen_as`). Lines without
    written numbers count from the first kept code fence, or from two lines below the first kept
    line.
    """
    assert not reader.credulity  # comments draw suspicion to other lines
    seen = seen_by(prompt, reader)
    question = prompt.messages[-1].content.rstrip().rsplit("\n\n", 1)[-1]
    fences = [
        number for number, text in enumerate(seen.pieces) if text.startswith("```")
    ]
    code = [
        n
        for n, text in enumerate(seen.pieces)
        if n not in fences and text not in question
    ]
    others = [number for number in range(len(seen.pieces)) if number not in fences]
    right, none_before = 0.0, 1.0
    for number in [*fences, *others]:
        start = seen.lines[number] + (0 if number in fences else 2)
        if none_before > 1e-5:
            right += (
                none_before
                * float(1 - seen.missed[number])
                * named(seen, code, start, line)
            )
        none_before *= float(seen.missed[number])
    return right * (1 - reader.refusal)


def named(seen: Prospect, code: list[int], start: int, line: int) -> float:
    """Probability that a reader names line `line` if line 0 is line `start` of the message; `seen`
    has the message's lines with the probability that each is kept, `code` the indices of the
    program's lines. A reader that keeps none of these names line 1."""
    after = [number for number in code if seen.lines[number] > start]
    kept = 1 - seen.missed[after]
    texts = [re.sub(r"^\d+: ", "", seen.pieces[number]) for number in after]
    weights = np.array([seen_as(text)[0] for text in texts])
    found = float((line == 1) * (1 - kept).prod())
    for place, number in enumerate(after):
        written = re.match(r"(\d+): ", seen.pieces[number])
        counted = int(written[1]) if written else seen.lines[number] - start
        if counted == line and weights[place] > 0:
            found += share_drawn(place, kept, weights)
    return found


def contained(
    answers: pd.DataFrame,
    estimate: Callable[[pd.DataFrame], pd.DataFrame],
    studies: int,
    random: np.random.Generator,
) -> pd.DataFrame:
    """Numbers of simulated `studies` with an interval, and of those whose interval contains the true
    value, for each row of the table (value, low, high) that `estimate` makes of answers.

    `answers` have a column `chance`, the probability of a correct answer: the true value is the
    estimate from answers that score exactly this probability. Each study draws as many problems with
    replacement and answers each question with its probability.
    """
    true = estimate(answers.assign(value_strict=answers["chance"]))["value"]
    rows_of = list(answers.groupby("problem").indices.values())
    counts = pd.DataFrame(0, true.index, ["contained", "studies"])
    for _ in range(studies):
        chosen = random.integers(0, len(rows_of), len(rows_of))
        rows = [rows_of[number] for number in chosen]
        study = answers.iloc[np.concatenate(rows)]
        right = random.random(len(study)) < study["chance"].to_numpy()
        copies = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
        study = study.assign(problem=copies, value_strict=right * 1.0)
        found = estimate(study).reindex(true.index)
        counts["studies"] += found["low"].notna()
        inside = found["low"].le(true + 1e-9) & found["high"].ge(true - 1e-9)
        counts["contained"] += inside
    return counts
