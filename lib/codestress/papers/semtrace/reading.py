"""How a simulated reader retrieves lines and functions by keys, and predicts outputs and inputs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice, product, takewhile
from typing import Any

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.sandbox.executor import Program
from codestress.simulated.reading import KEYED, Reading
from codestress.simulated.runs import AT_ONCE, first_right, run_piece, run_pieces
from codestress.types import Source

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
