"""Simulated reader for CodeCrash: a program in place of a model, which works out what the asked
program does and may believe misleading comments."""

import json
import re
from itertools import islice, product
from typing import Any

from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.mutate.perturbations.neutral import is_neutral
from codestress.sandbox.executor import Program
from codestress.simulated.reading import Reading
from codestress.simulated.runs import first_right, run_piece
from codestress.types import Language, Source

ASKED = re.compile(r"\[ANSWER\] (.*?) (===?) (.*?) \[/ANSWER\]\s*$", re.S)
HINT = re.compile(r"(?:#|//) The (return value|function call) is (.*)$")
PRINTED = re.compile(r"^\s*(?:print|console\.log)\(('.*'|\".*\")\);?$")
COMMENTED = re.compile(
    r"^(.*?\S)?\s*(?:#|//) (?P<said>[A-Z][^'\"]*(?:'[^']*'[^'\"]*)?\.)$"
)
DOUBTFUL = 4
"""Factor by which a message about a line is believed less often than a hint about the result."""
HINT_DOUBTS, MESSAGE_DOUBTS, COLLAPSE_DOUBTS = 5, 0.25, 24
"""Numbers of paragraphs of doubt (`AGAIN`) that a reasoning reader writes: for a contradicted hint,
for each message (one for four messages), and for a collapse."""
AGAIN = (
    "Let me go through the program again from its first line to its last, with the value of every variable after each "
    "of the lines, and see whether I come to what I had before, or to what the text beside the code says instead."
)


def complete_assertion(reading: Reading, _prefill: str) -> str | None:
    """Returns a simulated reader's answer, as text, to a prompt that asks to complete an assertion:
    `[ANSWER] f(1) == 2 [/ANSWER]`, after thoughts where the reader or the prompt wants them; None
    where the question of `reading` is no such request. The reader runs the program lines that it
    kept, with believed messages taken as true; a believed hint is its answer."""
    asked = ASKED.search(reading.question)
    if not asked or "??" not in asked[0]:
        return None
    lines = _program(reading)
    reasons = reading.reader.style == "reasoning"
    kept = "\n".join(["", *(text for _, text in reading.kept)])
    thoughtful = reasons or "[THOUGHT]" in kept
    doubt = 2 if thoughtful else 1
    if "\nPlease ignore the comments" in kept:
        doubt *= 2
    credulity = reading.reader.credulity / doubt
    hint = next(filter(None, map(HINT.search, lines)), None)
    believed = hint if hint and reading.random.random() < credulity else None
    text = _asserted(asked, lines, believed, credulity / DOUBTFUL, reading)
    answer = f"[ANSWER] {text} [/ANSWER]"
    if reasons:
        return _thought(lines, hint is not None and believed is None, reading) + answer
    if thoughtful:
        thoughts = [f"`{line.strip()}`" for line in lines]
        return "\n".join(["[THOUGHT]", *thoughts, "[/THOUGHT]", answer])
    return answer


def _asserted(
    asked: re.Match[str],
    lines: list[str],
    believed: re.Match[str] | None,
    belief: float,
    reading: Reading,
) -> str:
    """Returns the completed assertion, as text, of a reader that believes the hint `believed`, if
    any, and each other message among `lines` with probability `belief`."""
    left, sign, right = asked.groups()
    language: Language = "javascript" if sign == "===" else "python"
    code = "\n".join(_as_believed(lines, belief, reading, language))
    if "??" in left:
        function = left.partition("(")[0]
        return _input(function, right, code, believed, reading.source)
    value = believed[2] if believed else _output(left, code, language, reading.source)
    return f"{left} {sign} {value}"


def clean_program(reading: Reading, _prefill: str) -> str | None:
    """Returns a simulated reader's answer, as text, to a prompt that asks to clean up a program:
    its kept lines in a fenced block, without comments and printed messages; None where the question
    of `reading` is no such request."""
    asked = re.search(r"^Refactor the (\w+) program above", reading.question)
    if not asked:
        return None
    lines = [line for line in _program(reading) if not PRINTED.match(line)]
    lines = [re.sub(r"\s*(?:#|//) .*$", "", line) for line in lines]
    return "\n".join(
        [f"```{asked[1].lower()}", *(line for line in lines if line.strip()), "```"]
    )


def _program(reading: Reading) -> list[str]:
    """Returns the lines that the reader of `reading` kept of the last program in the prompt,
    without fences and answers; empty where neither the program's announcement nor any function's
    head was kept."""
    lines = [text for _, text in reading.kept]
    if reading.question.startswith("Refactor"):
        lines = [text for text in lines if text not in reading.question]
    # Without its head the program begins where the examples end: at the last function that is called as asked.
    starts = list[int]()
    functions = [len(lines)]
    for number, text in enumerate(lines):
        if text.startswith(("Now this program", "Here is a program")):
            starts.append(number + 1)
        if re.match(r"(?:def|function) ", text):
            functions.append(number)
    start = (functions + starts)[-1]
    lines = [text for text in lines[start:] if not text.startswith(("```", "[ANSWER]"))]
    return lines if any(map(str.strip, lines)) else []


def _as_believed(
    lines: list[str], belief: float, reading: Reading, language: Language
) -> list[str]:
    """Returns the program `lines` without the messages (comments and prints) among them. Each
    message is believed with probability `belief`; its line of code, or else the next one, is then
    changed to have no effect."""
    source: list[str] = []
    disbelieved = False
    for line in lines:
        printed = PRINTED.match(line)
        commented = _claims(line)
        if printed or commented:
            disbelieved = disbelieved or reading.random.random() < belief
        code = "" if printed else (commented[1] or "") if commented else line
        if code.strip():
            source.append(_without_effect(code, language) if disbelieved else code)
            disbelieved = False
    return source


def _claims(line: str) -> re.Match[str] | None:
    """Returns the match of `COMMENTED` for a line whose comment says something about the line; None
    for neutral comments and for lines without such a comment."""
    commented = COMMENTED.match(line)
    return commented if commented and not is_neutral(commented["said"]) else None


def _without_effect(line: str, language: Language) -> str:
    """Returns the program's `line` rewritten so that it has no effect (in Python `pass`, `if
    False:`, …; in JavaScript an empty text). Lines on which the rest of the program depends, such
    as a function's head, stay as they are."""
    indent = line[: len(line) - len(line.lstrip())]
    word = line.strip().partition(" ")[0].rstrip(":(")
    if language == "javascript":
        return (
            line
            if line.rstrip().endswith(("{", "}")) or word in ("const", "let")
            else ""
        )
    if word in ("if", "elif", "while"):
        return f"{indent}{word} False:"
    if word == "for":
        return f"{indent}for _ in ():"
    if line.rstrip().endswith(":"):
        return line
    return f"{indent}return None" if word == "return" else f"{indent}pass"


def _output(call: str, code: str, language: Language, source: Source) -> str:
    """Returns, as text, the literal of the value that the text `call` has in the reader's program
    `code`; where the call fails or returns None, its first argument, or `None` if that is no
    literal."""
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


def _input(
    function: str,
    expected: str,
    code: str,
    believed: re.Match[str] | None,
    source: Source,
) -> str:
    """Returns the assertion `f(ARGUMENTS) == VALUE`, as text, with `expected` as its value: the
    call is that of the hint, if `believed`; else the first of 40 likely ones for which the program
    `code` returns the value; else one with the value itself as the argument."""
    if believed:
        return f"{believed[2]} == {expected}"
    try:
        output: Any = parse_literal(expected).value
    except NotLiteral:
        output = None
    values = ("ab", "a b", [1, 2], ["a", "b"], 1, 3, 0, "", {"a": 1})
    head = re.search(rf"def {re.escape(function)}\((.*?)\)", code)
    parameters = head[1].count(",") + 1 if head else 1
    chosen = islice(product([expected, *map(repr, values)], repeat=parameters), 40)
    calls = [f"{function}({', '.join(arguments)})" for arguments in chosen]
    programs = [Program(code, call=call, source=source) for call in calls]
    found = first_right(programs, lambda value: same_value(value, output))
    call = f"{function}({expected})" if found is None else calls[found]
    return f"{call} == {expected}"


def _thought(lines: list[str], contradicted: bool, reading: Reading) -> str:
    """Returns the reasoning text of a reader: each of the program's `lines` once, then paragraphs
    of doubt, each with one word of doubt more than the last, more of them where a hint is
    `contradicted`; then `</think>`, or endless repetition instead (by chance, only where
    contradicted)."""
    messages = sum(1 for line in lines if _claims(line) or PRINTED.match(line))
    collapses = contradicted and reading.random.random() < reading.reader.collapse
    rounds = int(messages * MESSAGE_DOUBTS)
    rounds += HINT_DOUBTS * contradicted + COLLAPSE_DOUBTS * collapses
    parts = [
        f"The line `{line.strip()}` comes next, and I note what it does."
        for line in lines
    ]
    parts += ["Wait. " * number + AGAIN for number in range(1, rounds + 1)]
    ending = ["Hmm " * 200_000] if collapses else ["</think>", ""]
    return "\n".join(["<think>", *parts, *ending])


TASKS = (complete_assertion, clean_program)
