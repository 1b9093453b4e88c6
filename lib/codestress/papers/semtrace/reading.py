"""Answers of simulated readers to Sense and Sensitivity: lines and functions retrieved by keys,
predicted outputs and inputs. A `Reading` holds the segments of the prompt that the reader kept."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Any

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.sandbox.executor import Program
from codestress.simulated.reading import KEYED, Reading
from codestress.simulated.runs import first_right, run_piece
from codestress.types import Source

TRIES = 40
"""Largest number of inputs that a reader tries for one output."""


def _keyed_lines(reading: Reading) -> dict[str, str]:
    """Kept lines of the context as a dict by their keys, in order and without the keys; lines
    without a key are left out."""
    return {
        text[:6]: KEYED.sub("", text) for _, text in reading.kept if KEYED.match(text)
    }


def retrieve_line(reading: Reading, prefill: str) -> str | None:
    """Returns the answer's text: the line behind the key that `prefill` (the answer's given
    beginning) asks for, if it is among the kept lines of `reading`, else a random kept line (an
    empty one if none was kept). None when `prefill` asks another question."""
    asked = re.search(r"Here is the line with key ([0-9a-f]{6}):", prefill)
    if not asked:
        return None
    lines = _keyed_lines(reading)
    line = lines.get(asked[1], "")
    if asked[1] not in lines and lines:
        line = [*lines.values()][reading.random.integers(len(lines))]
    return f"\n{line}\n```"


def retrieve_function(reading: Reading, prefill: str) -> str | None:
    """Returns the answer's text: the kept lines of `reading` from the first key that `prefill` (the
    answer's given beginning) asks for to the last key; the first line alone when the last was not
    kept, no line when the first was not kept. None when `prefill` asks another question."""
    asked = re.search(
        r"starting at key `([0-9a-f]{6})` and ending at key `([0-9a-f]{6})`:", prefill
    )
    if not asked:
        return None
    lines = _keyed_lines(reading)
    first, last = (
        list(lines).index(key) if key in lines else None for key in asked.groups()
    )
    kept = [] if first is None else [*lines.values()][first : (last or first) + 1]
    return "\n".join(["", *kept, "```"])


def predict_output(reading: Reading, prefill: str) -> str | None:
    """Returns the answer's text: the output worked out from the kept lines of the function in
    `reading`, for the arguments in `prefill` (the answer's given beginning). None when `prefill`
    asks another question.

    A SemTrace list is computed by hand: an element whose assignment was not kept stays 0, and a
    verbose reader sometimes leaves the sums uncomputed. Other functions are run; where nothing was
    kept or the run fails, the answer is the first argument.
    """
    asked = re.search(r"assert f\((.*)\) ==$", prefill, re.S)
    if not asked:
        return None
    lines = kept_function(reading)
    code = "\n".join(lines)
    zeros = re.search(r"^ +arr = \[(0(?:, 0)*)\]$", code, re.M)
    if zeros:
        elements = zeros[1].split(", ")
        unresolved = reading.reader.style == "verbose" and reading.random.random() < 0.3
        for index, sign, y in re.findall(
            r"^ +arr\[(\d+)\] = x ([+-]) (\d+)$", code, re.M
        ):
            if int(index) < len(elements):
                total = f"{asked[1]} {sign} {y}"
                value = int(asked[1]) + int(sign + y)
                elements[int(index)] = total if unresolved else str(value)
        return f" [{', '.join(elements)}]\n```"
    run = run_piece(_call(lines, asked[1], reading.source)) if lines else None
    returned = _first_argument(asked[1]) if run is None else repr(run)
    return f" {returned}\n```"


def predict_input(reading: Reading, prefill: str) -> str | None:
    """Returns the answer's text: the first of some inputs (`likely_inputs`) for which the kept
    lines of the function in `reading` return the output in `prefill` (the answer's given
    beginning); if none does, that output is the guess. None when `prefill` asks another
    question."""
    asked = re.search(r"assert (.*) == f\($", prefill, re.S)
    if not asked:
        return None
    lines = kept_function(reading)
    output = _value(asked[1])
    tries = likely_inputs(asked[1], parameters(lines), thorough=reading.reader.thorough)
    programs = []
    if lines:
        programs = [_call(lines, arguments, reading.source) for arguments in tries]
    found = first_right(
        programs, lambda value: value is not None and same_value(value, output)
    )
    return f"{asked[1] if found is None else tries[found]})\n```"


@lru_cache(maxsize=1000)
def likely_inputs(written: str, parameters: int, *, thorough: bool) -> list[str]:
    """List of at most `TRIES` (40) argument lists to try for an output, each as the text between a
    call's parentheses. `written` is the output as source text, `parameters` the number of
    arguments. With `thorough` True, values made from the output come in, and the likeliest
    arguments first."""
    output = _value(written)
    values = ("ab", "a b", [1, 2], ["a", "b"], 1, 3, 0, "", {"a": 1}, output)
    likely = [written, *map(repr, values)]
    if thorough:
        parameters = min(parameters, 3)
        likely = list(dict.fromkeys([*map(repr, made_of(output)), *likely]))
    numbers = product(range(len(likely)), repeat=parameters)
    places = sorted(numbers, key=sum)[:TRIES] if thorough else islice(numbers, TRIES)
    return [", ".join(likely[number] for number in chosen) for chosen in places]


def _value(written: str) -> Any:
    try:
        return parse_literal(written).value
    except NotLiteral:
        return None


def made_of(output: Any) -> list[Any]:
    """List of values from which a program may have made the value `output`: the output reversed, in
    another case, split, joined, its keys or values, and strings related to its length."""
    size = len(output) if isinstance(output, str | list | tuple | dict) else 0
    if isinstance(output, int):
        size = output
    sizes = [n for n in (size, size + 1, 2 * size) if 0 < n <= 50]
    return _related(output) + [("abcdefghij" * 5)[:n] for n in sizes]


def _related(output: Any) -> list[Any]:
    if isinstance(output, str):
        back = output[::-1]
        cases = [output.upper(), output.lower(), output.swapcase(), back.swapcase()]
        return [back, *cases, output.strip(), output.split(), list(output)]
    if isinstance(output, list | tuple):
        turned = output[::-1]
        values: list[Any] = [list(turned), list(output)]
        if output and all(isinstance(part, str) for part in output):
            values += ["".join(output), " ".join(output)]
            values += [" ".join(turned), "".join(turned)]
            for parts in (output, turned):
                values.append(
                    [int(part) for part in parts if part.lstrip("-").isdigit()]
                )
        return values
    if isinstance(output, dict):
        values = [list(output), list(output.values())]
        if all(isinstance(key, str) for key in output):
            pairs = output.items()
            parts = [key * n if isinstance(n, int) else key for key, n in pairs]
            values.append("".join(parts))
        return values
    return [output, str(output)] if isinstance(output, int) else []


def _call(lines: Sequence[str], arguments: str, source: Source) -> Program:
    return Program("\n".join(lines), call=f"f({arguments})", source=source)


def parameters(function: Sequence[str]) -> int:
    """Number of parameters in the head of a function, the first of its lines `function` (commas +
    1, so 1 for `f()`); 1 without lines."""
    return function[0].partition("(")[2].count(",") + 1 if function else 1


def kept_function(reading: Reading) -> list[str]:
    """List of the kept lines of the function f in `reading`, each without the key before it (six
    hexadecimal digits). They run from the function's head up to the next line that is neither
    indented nor empty, which is left out; for a reader with the setting `thorough`, they end with
    the function's block at the latest. Empty when the head was not kept."""
    function: list[str] = []
    last = 0
    for number, (_, text) in enumerate(reading.kept):
        if not function and "def f(" not in text:
            continue
        line = KEYED.sub("", text)
        block = reading.blocks[number] if reading.blocks else 0
        if not function:
            if line.startswith("def f("):
                function = [line]
                last = block
        elif block > last or not (line.startswith(" ") or not line.strip()):
            break
        else:
            function.append(line)
    return function


def _first_argument(arguments: str) -> str:
    try:
        values = parse_literal(f"({arguments},)").value
    except NotLiteral:
        return arguments
    return repr(values[0])


TASKS = (retrieve_line, retrieve_function, predict_output, predict_input)
