"""Simulated reader for CodeCrash: a program that answers in place of a model. The
reader works out what the program in the question does, and may believe misleading
comments."""

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
"""Pattern of the assertion to complete, with its left side, sign (`==` or `===`) and
right side."""
HINT = re.compile(r"(?:#|//) The (return value|function call) is (.*)$")
"""Pattern of a hint about the result (MHC), with the value or call that the hint names.
"""
PRINTED = re.compile(r"^\s*(?:print|console\.log)\(('.*'|\".*\")\);?$")
"""Pattern of a line that prints a message."""
COMMENTED = re.compile(
    r"^(.*?\S)?\s*(?:#|//) (?P<said>[A-Z][^'\"]*(?:'[^']*'[^'\"]*)?\.)$"
)
"""Pattern of a line of code with a comment that is a sentence (the group `said`)."""
DOUBTFUL = 4
"""Divisor of credulity: a reader believes a message about a line this many times less
often than a hint about the result."""
HINT_DOUBTS = 5
MESSAGE_DOUBTS = 0.25
COLLAPSE_DOUBTS = 24
"""Numbers of paragraphs of doubt (`AGAIN`) that a reasoning reader writes: for a
contradicted hint, for each message (one for four messages), and before a collapse."""
AGAIN = (
    "Let me go through the program again from its first line to its last, with the value of every variable after each "
    "of the lines, and see whether I come to what I had before, or to what the text beside the code says instead."
)


def complete_assertion(reading: Reading, _prefill: str) -> str | None:
    """Return a simulated reader's answer to a prompt that asks to complete an
    assertion, such as `[ANSWER] f(1) == 2 [/ANSWER]`. Return None if the question of
    `reading` is not such a request.

    The reader runs the program lines that it kept, and takes the messages that it
    believes as true; if it believes a hint, this hint is its answer. Thoughts come
    before the answer if the reader's style or the prompt wants them.
    """
    asked = ASKED.search(reading.question)
    if not asked or "??" not in asked[0]:
        return None
    lines = _program(reading)
    reasons = reading.reader.style == "reasoning"
    kept = "\n".join(["", *(text for _, text in reading.kept)])
    thoughtful = reasons or "[THOUGHT]" in kept
    credulity = reading.reader.credulity
    if thoughtful:
        credulity /= 2
    if "\nPlease ignore the comments" in kept:
        credulity /= 2
    hint = next(filter(None, map(HINT.search, lines)), None)
    contradicted = hint is not None and reading.random.random() >= credulity
    believed = None if contradicted else hint
    text = _asserted(asked, lines, believed, credulity / DOUBTFUL, reading)
    answer = f"[ANSWER] {text} [/ANSWER]"
    if reasons:
        return _thought(lines, contradicted, reading) + answer
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
    """Return the completed assertion of a reader that believes the hint `believed`
    (None: no hint), and each other message among `lines` with probability `belief`.
    `asked` is the match of `ASKED`."""
    left, sign, right = asked.groups()
    language: Language = "javascript" if sign == "===" else "python"
    code = "\n".join(_as_believed(lines, belief, reading, language))
    said = believed[2] if believed else ""
    if "??" in left:
        function, _, _ = left.partition("(")
        call = said or _input(function, right, code, reading.source)
        return f"{call} == {right}"
    value = said or _output(left, code, language, reading.source)
    return f"{left} {sign} {value}"


def clean_program(reading: Reading, _prefill: str) -> str | None:
    """Return a simulated reader's answer to a prompt that asks to clean up a program:
    the kept lines in a fenced block, without comments and printed messages. Return None
    if the question of `reading` is not such a request."""
    asked = re.search(r"^Refactor the (\w+) program above", reading.question)
    if not asked:
        return None
    lines = [f"```{asked[1].lower()}"]
    for line in _program(reading):
        code = re.sub(r"\s*(?:#|//) .*$", "", line)
        if code.strip() and not PRINTED.match(line):
            lines.append(code)
    return "\n".join([*lines, "```"])


def _program(reading: Reading) -> list[str]:
    """Return the lines that the reader of `reading` kept of the last program in the
    prompt, without fences and answers. The result is empty if the reader kept neither
    the program's announcement nor the head of any function."""
    lines = [text for _, text in reading.kept]
    if reading.question.startswith("Refactor"):
        lines = [text for text in lines if text not in reading.question]
    # The program follows its announcement. If the announcement was not kept, the program
    # is taken to begin at the last function head, behind the examples.
    announced = 0
    function = len(lines)
    for number, text in enumerate(lines):
        if text.startswith(("Now this program", "Here is a program")):
            announced = number + 1
        if re.match(r"(?:def|function) ", text):
            function = number
    start = announced or function
    lines = [text for text in lines[start:] if not text.startswith(("```", "[ANSWER]"))]
    return lines if any(map(str.strip, lines)) else []


def _as_believed(
    lines: list[str], belief: float, reading: Reading, language: Language
) -> list[str]:
    """Return the program `lines` as the reader understands them, without messages
    (comments and prints) and blank lines.

    Each message is believed with probability `belief`. A believed message changes the
    code on its own line, or else the next line of code, to have no effect.
    """
    source: list[str] = []
    disbelieved = False
    for line in lines:
        printed = PRINTED.match(line)
        commented = _claims(line)
        if printed or commented:
            disbelieved = disbelieved or reading.random.random() < belief
        if commented:
            line = commented[1] or ""
        if printed or not line.strip():
            continue
        if disbelieved:
            line = _without_effect(line, language)
            disbelieved = False
        source.append(line)
    return source


def _claims(line: str) -> re.Match[str] | None:
    """Return the match of `COMMENTED` for a line whose comment says something about the
    line. Return None for neutral comments and for lines without such a comment."""
    commented = COMMENTED.match(line)
    if commented and is_neutral(commented["said"]):
        return None
    return commented


def _without_effect(line: str, language: Language) -> str:
    """Return the program's `line` rewritten to have no effect (in Python `pass`, `if
    False:`, …; in JavaScript an empty text). Lines on which the rest of the program
    depends, such as a function's head, are returned unchanged."""
    indent = line[: len(line) - len(line.lstrip())]
    word = line.strip().partition(" ")[0].rstrip(":(")
    ending = line.rstrip()[-1:]
    if language == "javascript":
        if ending in ("{", "}") or word in ("const", "let"):
            return line
        return ""
    if word in ("if", "elif", "while"):
        return f"{indent}{word} False:"
    if word == "for":
        return f"{indent}for _ in ():"
    if ending == ":":
        return line
    if word == "return":
        return f"{indent}return None"
    return f"{indent}pass"


def _output(call: str, code: str, language: Language, source: Source) -> str:
    """Return the literal of the value that `call` has in the reader's program `code`.
    If the call fails or returns None, return the call's first argument, or `None` if
    this argument is not a literal."""
    name, _, rest = call.partition("(")
    arguments = rest.rpartition(")")[0]
    try:
        if language == "javascript":
            values = json.loads(f"[{arguments}]")
            program = Program(code, name, tuple(values), source=source)
            value = run_piece(program, language)
            if value is None and values:
                value = values[0]
            return json.dumps(value)
        value = run_piece(Program(code, call=call, source=source), language)
    except ValueError:
        value = None
    if value is not None:
        return repr(value)
    first = re.split(r",\s*(?=[^\]\)}]*$)", arguments)[0]
    first = re.sub(r"^\s*\w+\s*=\s*", "", first)
    try:
        return repr(parse_literal(first).value)
    except NotLiteral:
        return "None"


def _input(function: str, expected: str, code: str, source: Source) -> str:
    """Return the call of `function` for which the program `code` is thought to return
    the value `expected`. The program is run with up to 40 likely lists of arguments,
    and the first for which it returns the value is taken. If there is none, the value
    itself is the argument."""
    try:
        output: Any = parse_literal(expected).value
    except NotLiteral:
        output = None
    head = re.search(rf"def {re.escape(function)}\((.*?)\)", code)
    parameters = 1 + head[1].count(",") if head else 1
    texts = [expected, "'ab'", "'a b'", "[1, 2]", "['a', 'b']"]
    texts += ["1", "3", "0", "''", "{'a': 1}"]
    calls = []
    for arguments in islice(product(texts, repeat=parameters), 40):
        calls.append(f"{function}({', '.join(arguments)})")
    programs = [Program(code, call=call, source=source) for call in calls]
    place = first_right(programs, lambda value: same_value(value, output))
    return f"{function}({expected})" if place is None else calls[place]


def _thought(lines: list[str], contradicted: bool, reading: Reading) -> str:
    """Return the reasoning text of a reader: each of the program's `lines` once, then
    paragraphs of doubt, each with one word of doubt more than the last.

    Messages, a `contradicted` hint and a collapse add paragraphs. The text ends in
    `</think>`, or in a collapse: long repetition of one word, by chance and only after
    a contradicted hint.
    """
    messages = sum(1 for line in lines if _claims(line) or PRINTED.match(line))
    collapses = contradicted and reading.random.random() < reading.reader.collapse
    rounds = int(messages * MESSAGE_DOUBTS)
    if contradicted:
        rounds += HINT_DOUBTS
    if collapses:
        rounds += COLLAPSE_DOUBTS
    parts = ["<think>"]
    for line in lines:
        parts.append(f"The line `{line.strip()}` comes next, and I note what it does.")
    for number in range(1, rounds + 1):
        parts.append("Wait. " * number + AGAIN)
    parts.append("Hmm " * 200_000 if collapses else "</think>\n")
    return "\n".join(parts)


TASKS = (complete_assertion, clean_program)
