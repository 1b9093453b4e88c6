"""With which probability a simulated reader answers Sense and Sensitivity right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codestress.literals import NotLiteral, parse_literal
from codestress.notes import noted
from codestress.papers.semtrace.reading import likely_inputs, parameters, predict_input, predict_output, run_ahead
from codestress.papers.semtrace.recall import right_inputs, score_output_completion
from codestress.problems.program import Problem
from codestress.seeding import rng
from codestress.simulated.reading import KEYED, Reading, Settings, placed, prospect, share_of_kept
from codestress.types import Outcome, Prompt, Response, Source

PLAIN, THOROUGH = Settings(capacity=1), Settings(capacity=1, thorough=True)
"""Readers that have kept what they have kept: how they answer depends on nothing else of their settings."""
MOST_LINES = 12
"""Of a program whose subsets of lines are all tried."""


def _find(pieces: Sequence[str], lines: Sequence[str]) -> int | None:
    """Where a program's lines stand among the segments of a prompt, with keys or without."""
    heads = (number for number, text in enumerate(pieces) if text.endswith(lines[0]))
    those = ((number, pieces[number : number + len(lines)]) for number in heads)
    return next((number for number, one in those if [KEYED.sub("", text) for text in one] == [*lines]), None)


@lru_cache(maxsize=4)
def _keyed(*texts: str) -> tuple[list[int], dict[str, int]]:
    """The segments of messages that are lines with keys, and the last one of each key."""
    found = [(number, text) for number, text in enumerate(placed(*texts)[0]) if KEYED.match(text)]
    return [number for number, _ in found], {text[:6]: number for number, text in found}


def predicted(
    problem: Problem, prompt: Prompt, settings: Mapping[str, Any], task: str, removed: int = 0
) -> float | None:
    """A prediction from a program without the lines of a bit mask (`without_lines`): the sum over all subsets of its
    lines that give the right answer, each with the probability that these and no others of them are kept.

    None for programs of more than `MOST_LINES` lines that are no traces, for targets in fragments, and for those that
    another function follows, where a reader takes lines of it for the target's.
    """
    reader = Settings.model_validate(settings)
    seen = prospect(prompt, reader)
    every = [(text, number and removed >> (number - 1) & 1) for number, text in enumerate(problem.code.split("\n"))]
    lines = [text for text, _ in every if text.strip()]
    there = np.array([not gone for text, gone in every if text.strip()])
    shown = [text for text, here in zip(lines, there, strict=True) if here]
    start = _find(seen.pieces, shown)
    if start is None:
        return None
    if not prompt.prefill:
        return 0.0
    followed = any(KEYED.sub("", text)[:1].isspace() for text in seen.pieces[start + len(shown) :])
    kept = np.zeros(len(lines))
    kept[there] = seen.kept[start : start + len(shown)]
    needed = _needed_of_trace(problem, lines)
    if needed is not None:
        return float(kept[needed].prod()) * (1 - reader.refusal)
    if len(lines) > MOST_LINES or (followed and not reader.thorough):
        return None
    masks = [_mask(number, len(lines)) for number in right_subsets(problem, lines, task, reader.thorough)]
    chance = sum(float(np.where(mask, kept, 1 - kept).prod()) for mask in masks)
    return chance * (1 - reader.refusal)


def retrieved(prompt: Prompt, settings: Mapping[str, Any], lines: Sequence[str], keys: Sequence[str]) -> float:
    """All lines that are asked for are kept; a single one may be given by chance too, by who did not keep it and gives
    another that reads the same."""
    reader = Settings.model_validate(settings)
    seen = prospect(prompt, reader)
    keyed, places = _keyed(*(message.content for message in prompt.messages))
    asked = [places[key] for key in keys if key in places]
    if [seen.pieces[number][7:] for number in asked] != [*lines]:
        return 0.0  # a line so long that it is read in pieces
    right = float(seen.kept[asked].prod())
    if len(lines) == 1:
        others = [number for number in keyed if number != asked[0]]
        guess = sum(
            share_of_kept(float(seen.kept[number]), seen.kept[[other for other in others if other != number]])
            for number in others
            if seen.pieces[number][7:].rstrip("\n") == lines[0].rstrip("\n")
        )
        right += float(seen.missed[asked[0]]) * guess
    else:
        between = [number for number in keyed if asked[0] < number < asked[-1] and number not in asked]
        right *= float(seen.missed[between].prod())
    return right * (1 - reader.refusal)


def _mask(number: int, lines: int) -> NDArray[np.bool_]:
    """Which lines a subset keeps; bit i stands for line i."""
    return np.array([number >> line & 1 == 1 for line in range(lines)])


def _needed_of_trace(problem: Problem, lines: Sequence[str]) -> list[int] | None:
    """The lines of a trace that a right answer needs: its head, the zeros, and assignments of what is not zero."""
    zeros = [number for number, line in enumerate(lines) if re.match(r" +arr = \[0(?:, 0)*\]$", line)]
    if not zeros:
        return None
    try:
        values = parse_literal(problem.output).value
    except NotLiteral:
        return None
    assigned = {number: re.match(r" +arr\[(\d+)\] = ", line) for number, line in enumerate(lines)}
    return [0, zeros[0], *(number for number, match in assigned.items() if match and values[int(match[1])] != 0)]


def right_subsets(problem: Problem, lines: Sequence[str], task: str, thorough: bool) -> list[int]:
    """The subsets of a program's lines (bit i for line i) from which a reader works out a right answer."""
    told = _tried_subsets("\n".join(lines), problem.arguments, problem.output, problem.source, task, thorough)
    return [number for number, digit in enumerate(told) if digit == "1"]


@noted
def _tried_subsets(code: str, arguments: str, output: str, source: Source, task: str, thorough: bool) -> str:
    """A digit for each subset: 1 where what a reader makes of it is right."""
    problem = Problem(id="", code=code, function="f", arguments=arguments, output=output, source=source)
    lines = code.split("\n")
    reader = THOROUGH if thorough else PLAIN
    readings = []
    for number in range(1 << len(lines)):
        kept = [(int(i), lines[i]) for i in np.flatnonzero(_mask(number, len(lines)))]
        readings.append(Reading(kept, "", reader, rng(0, "subsets"), [i for i, _ in kept], source))
    if task == "input_prediction":
        tries = likely_inputs(output, parameters(lines), thorough=thorough)
        right = {f"{one})\n```" for one in right_inputs(problem, [output, *tries])}
        if not right:
            return "0" * len(readings)
        run_ahead(readings, tries)
        found = [predict_input(one, f"assert {output} == f(") in right for one in readings]
    else:
        run_ahead(readings, [arguments])
        texts = [predict_output(one, f"assert f({arguments}) ==") or "" for one in readings]
        scores = [score_output_completion(problem, Response(text, "stop")) for text in texts]
        found = [score.outcome is Outcome.CORRECT for score in scores]
    return "".join("01"[one] for one in found)
