"""How a simulated reader works out answers from the segments it kept, one function for each kind of question."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice, pairwise, product, takewhile

from codestress.inference.reading import Reading, follow_probability, write
from codestress.inference.reading_faults import localize_fault
from codestress.inference.reading_programs import clean_program, complete_assertion
from codestress.inference.reading_runs import run_pieces
from codestress.literals import NotLiteral, parse_literal, same_value
from codestress.sandbox.executor import Program


def answer_text(reading: Reading, prefill: str) -> str:
    """The reader's answer: by the first task that recognises the question, else a word on what was read."""
    for task in TASKS:
        answer = task(reading, prefill)
        if answer is not None:
            return answer
    return _summary(reading, prefill)


_LINK = re.compile(r'"([^"]+)" is connected to "([^"]+)"')
_ASKED = re.compile(r'find the origin of "([^"]+)"')


def find_origin(reading: Reading, prefill: str) -> str | None:
    """Follows kept links back from the word that the question names.

    Who loses the thread names the word reached so far; who has not even the first link guesses an origin that was
    kept, or says that there is none.
    """
    asked = _ASKED.search(reading.question)
    if not asked:
        return None
    back = {m[2]: (number, m[1]) for number, text in reading.kept for m in _LINK.finditer(text)}
    word = asked[1]
    steps: list[str] = []
    here: int | None = None
    while word in back and len(steps) <= len(back):
        number, origin = back[word]
        if here is not None and reading.random.random() >= follow_probability(reading.reader, here - number):
            break
        steps.append(f'"{origin}" is connected to "{word}".')
        word, here = origin, number
    if not steps:
        origins = sorted(origin for _, origin in back.values())
        if not origins or reading.random.random() < 0.5:
            return write([f'I cannot find a line that leads to "{asked[1]}".'], "", "", reading, prefill)
        word = origins[int(reading.random.integers(len(origins)))]
    opening = [f'To find the origin of "{asked[1]}", I go back from it step by step.']
    return write(opening + steps, word, "FINAL ANSWER:", reading, prefill)


def review_code(reading: Reading, prefill: str) -> str | None:
    """Names the functions whose kept lines waste work: trial division, work undone at once."""
    if "most inefficient functions" not in reading.question:
        return None
    functions: list[tuple[str, list[str]]] = []
    for _, text in reading.kept:
        if defined := re.match(r"\s*(?:async )?def (\w+)", text):
            functions.append((defined[1], []))
        elif functions:
            functions[-1][1].append(text.strip())
    found = [f"- {name}: {flaw}" for name, lines in functions if (flaw := _flaw(lines))]
    found = found or [f"- {name}: could be simplified" for name, _ in functions[:2]]
    return write(["These functions could be improved:", *found[:6]], "", "", reading, prefill)


def _flaw(lines: list[str]) -> str | None:
    code = "\n".join(lines)
    if re.search(r"for (\w+) in range\(2, (\w+)\):[\s\S]*?\2 % \1 == 0", code):
        return "tries every divisor up to the number itself"
    if any(re.search(rf"^{m[1]} -= {m[2]}$", code, re.M) for m in re.finditer(r"^(\w+) \+= (\w+)$", code, re.M)):
        return "adds and subtracts the same value"
    return None


def decrypt(reading: Reading, prefill: str) -> str | None:
    """Decrypts the text's end when both it and the clue were kept; who kept one of them says what was seen."""
    if "Ciphertext: " not in reading.question:
        return None
    cipher = next((m[1] for _, text in reading.kept if (m := re.search(r"Ciphertext: ([a-z]+)", text))), None)
    clue = next((m[1] for _, text in reading.kept if (m := re.search(r"Leader of the apes (\d+)", text))), None)
    if cipher is None:
        return _summary(reading, prefill)
    if clue is None:
        said = "The text ends with a ciphertext, but I see nothing that tells how to read it."
        return write([said], "", "", reading, prefill)
    plain = "".join(chr((ord(letter) - ord("a") - int(clue)) % 26 + ord("a")) for letter in cipher)
    steps = ["The leader of the apes is called Caesar, which points to a Caesar cipher.", f"The shift is {clue}."]
    return write(steps, plain, "Decrypted text:", reading, prefill)


def take_hint(reading: Reading, prefill: str) -> str | None:
    """Gives the sentence that the text asks for as its response, when both sentences were kept."""
    kept = [text for _, text in reading.kept]
    for before, hint in pairwise(kept):
        if "if used as a response for this text" in hint:
            return write([], before, "", reading, prefill)
    return None


_KEYED = re.compile(r"^[0-9a-f]{6} ")


def retrieve_line(reading: Reading, prefill: str) -> str | None:
    """Writes the line behind the key when it was kept, else one that was kept near by."""
    asked = re.search(r"Here is the line with key ([0-9a-f]{6}):", prefill)
    if not asked:
        return None
    lines = [text for _, text in reading.kept if _KEYED.match(text)]
    found = next((text for text in lines if text.startswith(asked[1])), None)
    if found is None and lines:
        found = lines[int(reading.random.integers(len(lines)))]
    return f"\n{(found or '')[7:]}\n```"


def retrieve_function(reading: Reading, prefill: str) -> str | None:
    """Writes the kept lines from the first key to the last; a line that was not kept is missing."""
    asked = re.search(r"starting at key `([0-9a-f]{6})` and ending at key `([0-9a-f]{6})`:", prefill)
    if not asked:
        return None
    lines = [text for _, text in reading.kept if _KEYED.match(text)]
    first = next((i for i, text in enumerate(lines) if text.startswith(asked[1])), None)
    last = next((i for i, text in enumerate(lines) if text.startswith(asked[2])), None)
    found = lines[first : (last or first) + 1] if first is not None else []
    return "".join(f"\n{text[7:]}" for text in found) + "\n```"


def predict_output(reading: Reading, prefill: str) -> str | None:
    """Works the function out from the lines that were kept; assignments that were not leave their element at 0.

    A trace is computed by hand, and by a wordy reader sometimes left uncomputed; other functions are run, and where
    that fails the answer is the first argument.
    """
    asked = re.search(r"assert f\((.*)\) ==$", prefill, re.S)
    if not asked:
        return None
    lines = _function(reading)
    zeros = next((m for line in lines if (m := re.match(r" +arr = \[(0(?:, 0)*)\]$", line))), None)
    if zeros:
        elements = ["0"] * (zeros[1].count(",") + 1)
        unresolved = reading.reader.style == "verbose" and reading.random.random() < 0.3
        for line in lines:
            if (m := re.match(r" +arr\[(\d+)\] = x ([+-]) (\d+)$", line)) and int(m[1]) < len(elements):
                value = int(asked[1]) + int(m[3]) * (1 if m[2] == "+" else -1)
                elements[int(m[1])] = f"{asked[1]} {m[2]} {m[3]}" if unresolved else str(value)
        return f" [{', '.join(elements)}]\n```"
    run = run_pieces([Program("\n".join(lines), call=f"f({asked[1]})", source=reading.source)])[0] if lines else None
    return f" {run!r}\n```" if run is not None else f" {_first_argument(asked[1])}\n```"


def predict_input(reading: Reading, prefill: str) -> str | None:
    """Tries some inputs on the lines of the function that were kept; without success the output is the guess."""
    asked = re.search(r"assert (.*) == f\($", prefill, re.S)
    if not asked:
        return None
    lines = _function(reading)
    try:
        output = parse_literal(asked[1]).value
    except NotLiteral:
        output = None
    likely = [asked[1], *(repr(v) for v in ("ab", "a b", [1, 2], ["a", "b"], 1, 3, 0, "", {"a": 1}, output))]
    parameters = lines[0].partition("(")[2].count(",") + 1 if lines else 1
    tries = [", ".join(chosen) for chosen in islice(product(likely, repeat=parameters), 40)]
    source = "\n".join(lines)
    programs = [Program(source, call=f"f({arguments})", source=reading.source) for arguments in tries]
    results = run_pieces(programs) if lines else []
    for arguments, value in zip(tries, results, strict=False):
        if value is not None and same_value(value, output):
            return f"{arguments})\n```"
    return f"{asked[1]})\n```"


def _function(reading: Reading) -> list[str]:
    """The kept lines of the function f, without keys: from its head to the next line that is not indented."""
    lines = [_KEYED.sub("", text) for _, text in reading.kept]
    start = next((i for i, line in enumerate(lines) if line.startswith("def f(")), None)
    if start is None:
        return []
    body = takewhile(lambda line: line.startswith(" ") or not line.strip(), lines[start + 1 :])
    return [lines[start], *body]


def _first_argument(arguments: str) -> str:
    try:
        values = parse_literal(f"({arguments},)").value
    except NotLiteral:
        return arguments
    return repr(values[0])


def _summary(reading: Reading, prefill: str) -> str:
    told = [text for _, text in reading.kept[:2]] or ["something I do not remember"]
    return write(["This text is about the following.", *told], "", "", reading, prefill)


TASKS: list[Callable[[Reading, str], str | None]] = [
    *(localize_fault, complete_assertion, clean_program),
    *(retrieve_line, retrieve_function, predict_output, predict_input),
    *(find_origin, review_code, decrypt, take_hint),
]
"""In the order in which they are tried."""
