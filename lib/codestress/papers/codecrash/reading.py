"""How a simulated reader works out what a program does, and how it lets comments mislead it (CodeCrash)."""

from __future__ import annotations

import json
import re
from itertools import islice, product
from typing import Any

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.sandbox.executor import Program
from codestress.simulated.reading import Reading
from codestress.simulated.runs import first_right, run_piece
from codestress.types import Language, Source

ASKED = re.compile(r"\[ANSWER\] (.*?) (===?) (.*?) \[/ANSWER\]\s*$", re.S)
HINT = re.compile(r"(?:#|//) The (return value|function call) is (.*)$")
PRINTED = re.compile(r"^\s*(?:print|console\.log)\(('.*'|\".*\")\);?$")
COMMENTED = re.compile(r"^(.*?\S)?\s*(?:#|//) [A-Z][^'\"]*(?:'[^']*'[^'\"]*)?\.$")
DOUBTFUL = 4
"""A message about a line is believed this many times more seldom than a hint about the result."""
HINT_DOUBTS, MESSAGE_DOUBTS, COLLAPSE_DOUBTS = 5, 0.25, 24
"""Rounds of doubt that a contradicted hint, a message, and a collapse cost a reasoning reader."""
AGAIN = (
    " Let me go through the program again from its first line to its last, with the value of every variable after each "
    "of the lines, and see whether I come to what I had before, or to what the text beside the code says instead."
)


def complete_assertion(reading: Reading, _prefill: str) -> str | None:
    """Runs the lines that were kept, believed lies included, and completes the assertion."""
    asked = ASKED.search(reading.question)
    if not asked or "??" not in asked[0]:
        return None
    lines = _program(reading)
    if not any(line.strip() for line in lines):
        lines = []
    language: Language = "javascript" if asked[2] == "===" else "python"
    thoughtful = any("[THOUGHT]" in text for _, text in reading.kept) or reading.reader.style == "reasoning"
    told = any(text.startswith("Please ignore the comments") for _, text in reading.kept)
    credulity = reading.reader.credulity / (2 if thoughtful else 1) / (2 if told else 1)
    hint = next((m for line in lines if (m := HINT.search(line))), None)
    believed = hint if hint and reading.random.random() < credulity else None
    source = "\n".join(_as_believed(lines, credulity / DOUBTFUL, reading, language))
    if "??" in asked[1]:
        text = _input(asked[1].partition("(")[0], asked[3], source, believed, reading.source)
    else:
        value = believed[2] if believed else _output(asked[1], source, language, reading.source)
        text = f"{asked[1]} {asked[2]} {value}"
    answer = f"[ANSWER] {text} [/ANSWER]"
    if reading.reader.style == "reasoning":
        return _thought(lines, hint is not None and believed is None, reading) + answer
    if thoughtful:
        return "\n".join(["[THOUGHT]", *(f"`{line.strip()}`" for line in lines), "[/THOUGHT]", answer])
    return answer


def clean_program(reading: Reading, _prefill: str) -> str | None:
    """Writes the kept lines without comments and printed messages."""
    asked = re.search(r"^Refactor the (\w+) program above", reading.question)
    if not asked:
        return None
    lines = [re.sub(r"\s*(?:#|//) .*$", "", line) for line in _program(reading) if not PRINTED.match(line)]
    return "\n".join([f"```{asked[1].lower()}", *(line for line in lines if line.strip()), "```"])


def _program(reading: Reading) -> list[str]:
    """The kept lines of the last program that is shown."""
    lines = [
        text for _, text in reading.kept if text not in reading.question or not reading.question.startswith("Refactor")
    ]
    heads = [number for number, text in enumerate(lines) if text.startswith(("Now this program", "Here is a program"))]
    # Without its head the program begins where the examples end: at the last function that is called as asked.
    functions = [number for number, text in enumerate(lines) if re.match(r"(?:def|function) ", text)]
    start = heads[-1] + 1 if heads else [len(lines), *functions][-1]
    return [line for line in lines[start:] if not line.startswith(("```", "[ANSWER]"))]


def _as_believed(lines: list[str], belief: float, reading: Reading, language: Language) -> list[str]:
    """The program as it would be if the messages that are believed were true."""
    source: list[str] = []
    disbelieved = False
    for line in lines:
        printed, commented = PRINTED.match(line), COMMENTED.match(line)
        if printed or commented:
            disbelieved = disbelieved or reading.random.random() < belief
        code = "" if printed else (commented[1] or "") if commented else line
        if code.strip():
            source.append(_without_effect(code, language) if disbelieved else code)
            disbelieved = False
    return source


def _without_effect(line: str, language: Language) -> str:
    """A line that does nothing any more."""
    indent = line[: len(line) - len(line.lstrip())]
    word = line.strip().partition(" ")[0].rstrip(":(")
    if language == "javascript":
        return line if line.rstrip().endswith(("{", "}")) or word in ("const", "let") else ""
    if word in ("if", "elif", "while"):
        return f"{indent}{word} False:"
    if word == "for":
        return f"{indent}for _ in ():"
    if line.rstrip().endswith(":"):
        return line
    return f"{indent}return None" if word == "return" else f"{indent}pass"


def _output(call: str, code: str, language: Language, source: Source) -> str:
    """What the pieced-together program returns, else its first argument."""
    name, _, rest = call.partition("(")
    arguments = rest.rpartition(")")[0]
    try:
        if language == "javascript":
            values = tuple(json.loads(f"[{arguments}]"))
            value = run_piece(Program(code, name, values, source=source), language)
            return json.dumps(values[0] if value is None and values else value)
        value = run_piece(Program(code, call=call, source=source), language)
    except ValueError:
        value = None
    if value is not None:
        return repr(value)
    first = re.split(r",\s*(?=[^\]\)}]*$)", arguments)[0]
    try:
        return repr(parse_literal(re.sub(r"^\s*\w+\s*=\s*", "", first)).value)
    except NotLiteral:
        return "None"


def _input(function: str, expected: str, code: str, believed: re.Match[str] | None, source: Source) -> str:
    """Arguments for which the program gives the value, from some likely ones; else the value itself."""
    if believed:
        return f"{believed[2]} == {expected}"
    try:
        output: Any = parse_literal(expected).value
    except NotLiteral:
        output = None
    likely = [expected, *(repr(value) for value in ("ab", "a b", [1, 2], ["a", "b"], 1, 3, 0, "", {"a": 1}))]
    head = re.search(rf"def {re.escape(function)}\((.*?)\)", code)
    parameters = head[1].count(",") + 1 if head else 1
    tries = [", ".join(chosen) for chosen in islice(product(likely, repeat=parameters), 40)]
    programs = [Program(code, call=f"{function}({arguments})", source=source) for arguments in tries]
    found = first_right(programs, lambda value: same_value(value, output))
    return f"{function}({expected if found is None else tries[found]}) == {expected}"


def _thought(lines: list[str], contradicted: bool, reading: Reading) -> str:
    """Thinking aloud: each line once, then rounds of doubt, each with one word of doubt more than the last."""
    messages = sum(1 for line in lines if COMMENTED.match(line) or PRINTED.match(line))
    rounds = int(messages * MESSAGE_DOUBTS) + (HINT_DOUBTS if contradicted else 0)
    collapses = contradicted and reading.random.random() < reading.reader.collapse
    rounds += COLLAPSE_DOUBTS if collapses else 0
    parts = [f"The line `{line.strip()}` comes next, and I note what it does." for line in lines]
    for number in range(1, rounds + 1):
        parts.append(" ".join(["Wait."] * number) + AGAIN)
    if collapses:
        return "\n".join(["<think>", *parts, "Hmm " * 200_000])
    return "\n".join(["<think>", *parts, "</think>", ""])


TASKS = (complete_assertion, clean_program)
