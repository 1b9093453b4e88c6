"""Answers of simulated readers to Sense and Sensitivity: lines and functions retrieved
by keys, predicted outputs and inputs. A `Reading` holds the segments of the prompt that
the reader kept."""

import re
from collections.abc import Iterable, Sequence
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
    """Return the kept lines of the context as a dict from key to line, in order and
    without the keys. Lines without a key are left out."""
    lines = {}
    for _, text in reading.kept:
        if KEYED.match(text):
            lines[text[:6]] = KEYED.sub("", text)
    return lines


def retrieve_line(reading: Reading, prefill: str) -> str | None:
    """Return the reader's answer to a question about one line: the line with the
    requested key. If this line was not kept, the answer is a random kept line, or an
    empty one without any. Return None if `prefill`, the beginning of the answer,
    belongs to another question."""
    asked = re.search(r"Here is the line with key ([0-9a-f]{6}):", prefill)
    if not asked:
        return None
    lines = _keyed_lines(reading)
    line = lines.get(asked[1], "")
    if asked[1] not in lines and lines:
        line = [*lines.values()][reading.random.integers(len(lines))]
    return f"\n{line}\n```"


def retrieve_function(reading: Reading, prefill: str) -> str | None:
    """Return the reader's answer to a question about the lines of a function: the kept
    lines from the first requested key to the last. If the last was not kept, the answer
    is the first line alone; if the first was not kept, no line. Return None if
    `prefill`, the beginning of the answer, belongs to another question."""
    asked = re.search(
        r"starting at key `([0-9a-f]{6})` and ending at key `([0-9a-f]{6})`:", prefill
    )
    if not asked:
        return None
    lines = _keyed_lines(reading)
    places = {key: place for place, key in enumerate(lines)}
    first, last = map(places.get, asked.groups())
    kept = []
    if first is not None:
        kept = [*lines.values()][first : (last or first) + 1]
    return "\n".join(["", *kept, "```"])


def predict_output(reading: Reading, prefill: str) -> str | None:
    """Return the reader's answer to a question about an output. The answer is worked
    out from the kept lines of the function, for the arguments in `prefill`, the
    beginning of the answer. Return None if `prefill` belongs to another question.

    A SemTrace list is computed without running the function: an element whose
    assignment was not kept stays 0, and a verbose reader sometimes leaves the sums
    uncomputed. Other functions are run. If nothing was kept or the run fails, the
    answer is the first argument.
    """
    asked = re.search(r"assert f\((.*)\) ==$", prefill, re.S)
    if not asked:
        return None
    arguments = asked[1]
    lines = kept_function(reading)
    code = "\n".join(lines)
    zeros = re.search(r"^ +arr = \[(0(?:, 0)*)\]$", code, re.M)
    if zeros:
        elements = zeros[1].split(", ")
        unresolved = reading.reader.style == "verbose" and reading.random.random() < 0.3
        sums = re.findall(r"^ +arr\[(\d+)\] = x ([+-]) (\d+)$", code, re.M)
        for index, sign, y in sums:
            place = int(index)
            if place < len(elements):
                elements[place] = str(int(arguments) + int(sign + y))
                if unresolved:
                    elements[place] = f"{arguments} {sign} {y}"
        return f" [{', '.join(elements)}]\n```"
    values = _value(f"({arguments},)")
    returned = arguments
    if values:
        returned = repr(values[0])
    if lines:
        run = run_piece(_call(lines, arguments, reading.source))
        if run is not None:
            returned = repr(run)
    return f" {returned}\n```"


def predict_input(reading: Reading, prefill: str) -> str | None:
    """Return the reader's answer to a question about an input: the first of
    `likely_inputs` for which the kept lines of the function return the output. The
    output stands in `prefill`, the beginning of the answer; it is the answer if no
    input returns it. Return None if `prefill` belongs to another question."""
    asked = re.search(r"assert (.*) == f\($", prefill, re.S)
    if not asked:
        return None
    written = asked[1]
    output = _value(written)
    lines = kept_function(reading)
    tries = likely_inputs(written, parameters(lines), thorough=reading.reader.thorough)
    programs = []
    if lines:
        programs = [_call(lines, arguments, reading.source) for arguments in tries]
    place = first_right(
        programs, lambda value: value is not None and same_value(value, output)
    )
    guess = written
    if place is not None:
        guess = tries[place]
    return f"{guess})\n```"


@lru_cache(maxsize=1000)
def likely_inputs(written: str, parameters: int, *, thorough: bool) -> list[str]:
    """Return at most `TRIES` (40) argument lists to try for an output, each as the text
    between a call's parentheses.

    `written` is the output as source text, `parameters` the number of arguments. If
    `thorough`, values made from the output are tried too, and the likeliest arguments
    come first.
    """
    output = _value(written)
    values = ("ab", "a b", [1, 2], ["a", "b"], 1, 3, 0, "", {"a": 1}, output)
    likely = [written, *map(repr, values)]
    if thorough:
        parameters = min(parameters, 3)
        parts = map(repr, made_of(output))
        likely = list(dict.fromkeys([*parts, *likely]))
    places: Iterable[tuple[int, ...]] = product(range(len(likely)), repeat=parameters)
    if thorough:
        places = sorted(places, key=sum)
    lists = []
    for numbers in islice(places, TRIES):
        lists.append(", ".join(likely[number] for number in numbers))
    return lists


def _value(written: str) -> Any:
    """Return the value of the literal `written`; None if it is not a literal."""
    try:
        return parse_literal(written).value
    except NotLiteral:
        return None


def made_of(output: Any) -> list[Any]:
    """Return values from which a program may have made the value `output`: the output
    reversed, in another case, split, joined, its keys or values, and strings related to
    its length."""
    size = 0
    if isinstance(output, int):
        size = output
    elif isinstance(output, str | list | tuple | dict):
        size = len(output)
    sizes = [n for n in (size, size + 1, 2 * size) if 0 < n <= 50]
    return _related(output) + [("abcdefghij" * 5)[:n] for n in sizes]


def _related(output: Any) -> list[Any]:
    """Return values of which `output` may be a rearrangement."""
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
            numbers = [int(part) for part in output if part.lstrip("-").isdigit()]
            values += [numbers, numbers[::-1]]
        return values
    if isinstance(output, dict):
        values = [list(output), list(output.values())]
        if all(isinstance(key, str) for key in output):
            text = ""
            for key, times in output.items():
                if isinstance(times, int):
                    key *= times
                text += key
            values.append(text)
        return values
    if isinstance(output, int):
        return [output, str(output)]
    return []


def _call(lines: Sequence[str], arguments: str, source: Source) -> Program:
    """Return the program of the function with these `lines` and a call of it with
    `arguments`."""
    return Program("\n".join(lines), call=f"f({arguments})", source=source)


def parameters(function: Sequence[str]) -> int:
    """Return the number of parameters in the head of a function, the first of its lines
    `function`: the number of commas + 1, so 1 for `f()`; 1 without lines."""
    _, _, written = "".join(function[:1]).partition("(")
    return written.count(",") + 1


def kept_function(reading: Reading) -> list[str]:
    """Return the kept lines of the function f in `reading`, each without the key before
    it (six hexadecimal digits); empty if the function's head was not kept.

    The lines run from the head up to the next line that is neither indented nor empty,
    which is left out. For a reader with the setting `thorough`, they end with the
    function's block at the latest.
    """
    function: list[str] = []
    last = 0
    for number, (_, text) in enumerate(reading.kept):
        if not function and "def f(" not in text:
            continue
        line = KEYED.sub("", text)
        block = 0
        if reading.blocks:
            block = reading.blocks[number]
        if not function:
            if line.startswith("def f("):
                function = [line]
                last = block
        elif block > last or (line.strip() and not line.startswith(" ")):
            break
        else:
            function.append(line)
    return function


TASKS = (retrieve_line, retrieve_function, predict_output, predict_input)
"""Functions that answer the paper's four questions; each returns None for the other
three."""
