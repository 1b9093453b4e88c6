"""How a simulated reader retrieves lines and functions by keys, and predicts outputs and inputs, and with which
probability it is right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.notes import noted
from codestress.papers.semtrace.recall import right_inputs, score_output_completion
from codestress.problems.program import Problem
from codestress.sandbox.executor import Program
from codestress.seeding import rng
from codestress.simulated.reading import KEYED, Reading, Settings, placed, prospect, share_of_kept
from codestress.simulated.runs import AT_ONCE, first_right, run_piece, run_pieces
from codestress.types import Outcome, Prompt, Response, Source

TRIES = 40
"""Inputs that a reader tries."""


def _keyed_lines(reading: Reading) -> dict[str, str]:
    """The lines that were kept, by their keys."""
    return {text[:6]: text[7:] for _, text in reading.kept if KEYED.match(text)}


def retrieve_line(reading: Reading, prefill: str) -> str | None:
    """Writes the line behind the key when it was kept, else one that was kept near by."""
    asked = re.search(r"Here is the line with key ([0-9a-f]{6}):", prefill)
    if not asked:
        return None
    lines = _keyed_lines(reading)
    found = lines.get(asked[1])
    if found is None and lines:
        found = list(lines.values())[int(reading.random.integers(len(lines)))]
    return f"\n{found or ''}\n```"


def retrieve_function(reading: Reading, prefill: str) -> str | None:
    """Writes the kept lines from the first key to the last; a line that was not kept is missing."""
    asked = re.search(r"starting at key `([0-9a-f]{6})` and ending at key `([0-9a-f]{6})`:", prefill)
    if not asked:
        return None
    lines = _keyed_lines(reading)
    first, last = (list(lines).index(key) if key in lines else None for key in asked.groups())
    found = list(lines.values())[first : (last or first) + 1] if first is not None else []
    return "".join(f"\n{text}" for text in found) + "\n```"


def predict_output(reading: Reading, prefill: str) -> str | None:
    """Works the function out from the lines that were kept; assignments that were not leave their element at 0.

    A trace is computed by hand, and by a wordy reader sometimes left uncomputed; other functions are run, and where
    that fails the answer is the first argument.
    """
    asked = re.search(r"assert f\((.*)\) ==$", prefill, re.S)
    if not asked:
        return None
    lines = kept_function(reading)
    zeros = next((m for line in lines if (m := re.match(r" +arr = \[(0(?:, 0)*)\]$", line))), None)
    if zeros:
        elements = ["0"] * (zeros[1].count(",") + 1)
        unresolved = reading.reader.style == "verbose" and reading.random.random() < 0.3
        for line in lines:
            if (m := re.match(r" +arr\[(\d+)\] = x ([+-]) (\d+)$", line)) and int(m[1]) < len(elements):
                value = int(asked[1]) + int(m[3]) * (1 if m[2] == "+" else -1)
                elements[int(m[1])] = f"{asked[1]} {m[2]} {m[3]}" if unresolved else str(value)
        return f" [{', '.join(elements)}]\n```"
    run = run_piece(_call(lines, asked[1], reading.source)) if lines else None
    return f" {run!r}\n```" if run is not None else f" {_first_argument(asked[1])}\n```"


def predict_input(reading: Reading, prefill: str) -> str | None:
    """Tries some inputs on the lines of the function that were kept; without success the output is the guess."""
    asked = re.search(r"assert (.*) == f\($", prefill, re.S)
    if not asked:
        return None
    lines = kept_function(reading)
    output = _value(asked[1])
    tries = likely_inputs(asked[1], parameters(lines), thorough=reading.reader.thorough)
    programs = [_call(lines, arguments, reading.source) for arguments in tries] if lines else []
    found = first_right(programs, lambda value: value is not None and same_value(value, output))
    return f"{asked[1] if found is None else tries[found]})\n```"


@lru_cache(maxsize=1000)
def likely_inputs(written: str, parameters: int, *, thorough: bool) -> list[str]:
    """At most `TRIES` arguments to try for an output, as they are written in a call; by who is thorough the likeliest
    ones first."""
    output = _value(written)
    likely = [written, *(repr(v) for v in ("ab", "a b", [1, 2], ["a", "b"], 1, 3, 0, "", {"a": 1}, output))]
    if thorough:
        likely = list(dict.fromkeys([*map(repr, made_of(output)), *likely]))
        numbers = product(range(len(likely)), repeat=min(parameters, 3))
        chosen = [[likely[number] for number in one] for one in sorted(numbers, key=sum)[:TRIES]]
    else:
        chosen = [[*one] for one in islice(product(likely, repeat=parameters), TRIES)]
    return [", ".join(one) for one in chosen]


def _value(written: str) -> Any:
    try:
        return parse_literal(written).value
    except NotLiteral:
        return None


def made_of(output: Any) -> list[Any]:
    """Values that a program may have made an output of: turned round, in other letters, taken apart, put together, of
    the same length."""
    made: list[Any] = []
    if isinstance(output, str):
        back = output[::-1]
        made += [back, output.upper(), output.lower(), output.swapcase(), back.swapcase(), output.strip()]
        made += [output.split(), list(output)]
    elif isinstance(output, list | tuple):
        made += [list(output)[::-1], list(output)]
        if output and all(isinstance(one, str) for one in output):
            made += ["".join(output), " ".join(output), " ".join(output[::-1]), "".join(output[::-1])]
            made += [[int(one) for one in order if one.lstrip("-").isdigit()] for order in (output, output[::-1])]
    elif isinstance(output, dict):
        made += [list(output), list(output.values())]
        if all(isinstance(one, str) for one in output):
            made += ["".join(one * count if isinstance(count, int) else one for one, count in output.items())]
    if isinstance(output, int):
        made += [output, str(output)]
    size = output if isinstance(output, int) else len(output) if isinstance(output, str | list | tuple | dict) else 0
    made += [("abcdefghij" * 5)[:n] for n in (size, size + 1, 2 * size) if 0 < n <= 50]
    return made


def _call(lines: Sequence[str], arguments: str, source: Source) -> Program:
    return Program("\n".join(lines), call=f"f({arguments})", source=source)


def parameters(function: Sequence[str]) -> int:
    """How many a function's head names; one where there is no head."""
    return function[0].partition("(")[2].count(",") + 1 if function else 1


def run_ahead(readings: Sequence[Reading], tries: Sequence[str]) -> None:
    """Runs all readings' functions with the first of some arguments together, which is faster than one by one."""
    functions = {"\n".join(kept_function(reading)): reading.source for reading in readings}
    calls = [_call([code], one, source) for code, source in functions.items() if code for one in tries[:AT_ONCE]]
    run_pieces(calls)


def kept_function(reading: Reading) -> list[str]:
    """The kept lines of the function f, without keys: from its head to the next line that is not indented, or to the
    end of its block for who notices it."""
    heads = (number for number, (_, text) in enumerate(reading.kept) if "def f(" in text)
    start = next((number for number in heads if _unkeyed(reading, number).startswith("def f(")), None)
    if start is None:
        return []
    after: Iterable[int] = range(start + 1, len(reading.kept))
    if reading.blocks:
        after = takewhile(lambda number: reading.blocks[number] <= reading.blocks[start], after)
    lines = (_unkeyed(reading, number) for number in after)
    return [_unkeyed(reading, start), *takewhile(lambda line: line.startswith(" ") or not line.strip(), lines)]


def _unkeyed(reading: Reading, number: int) -> str:
    """A kept segment without the key before it."""
    return KEYED.sub("", reading.kept[number][1])


def _first_argument(arguments: str) -> str:
    try:
        values = parse_literal(f"({arguments},)").value
    except NotLiteral:
        return arguments
    return repr(values[0])


TASKS = (retrieve_line, retrieve_function, predict_output, predict_input)


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
    called = problem.arguments, problem.output, problem.source
    told = _right_subsets("\n".join(lines), *called, task, reader.thorough)
    masks = [_mask(number, len(lines)) for number, digit in enumerate(told) if digit == "1"]
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


@noted
def _right_subsets(code: str, arguments: str, output: str, source: Source, task: str, thorough: bool) -> str:
    """A digit for each subset of a program's lines (bit i for line i): 1 where a reader works out a right answer."""
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
