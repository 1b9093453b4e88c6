"""Simulated readers' answers to Find the Origin. A reader follows links back, reviews
code, decrypts, or takes a hint. A `Reading` holds the segments of the prompt that the
reader kept."""

import re
from itertools import pairwise

from codestress.simulated.reading import Reading, follow_probability, summary, write

from .connections import LINK


def find_origin(reading: Reading, prefill: str) -> str | None:
    """Return the reader's answer to a question about a chain: the kept links, followed
    back from the word in the question, and the origin reached. Return None for any
    other question. `prefill` is the beginning of the answer, already written.

    A reader that loses the thread names the word reached so far. A reader that did not
    keep the first link to follow guesses one of the kept origins, or says that it finds
    no line.
    """
    asked = re.search(r'find the origin of "([^"]+)"', reading.question)
    if not asked:
        return None
    back: dict[str, tuple[int, str]] = {}
    for number, text in reading.kept:
        for link in LINK.finditer(text):
            back[link[2]] = number, link[1]
    word = asked[1]
    steps: list[str] = []
    here: int | None = None
    while word in back and len(steps) <= len(back):
        number, origin = back[word]
        if here is not None:
            follows = follow_probability(reading.reader, here - number)
            if reading.random.random() >= follows:
                break
        steps.append(f'"{origin}" is connected to "{word}".')
        word = origin
        here = number
    if not steps:
        origins = sorted(origin for _, origin in back.values())
        if not origins or reading.random.random() < 0.5:
            nothing = f'I cannot find a line that leads to "{asked[1]}".'
            return write([nothing], "", "", reading, prefill)
        word = origins[reading.random.integers(len(origins))]
    opening = [f'To find the origin of "{asked[1]}", I go back from it step by step.']
    return write(opening + steps, word, "FINAL ANSWER:", reading, prefill)


def review_code(reading: Reading, prefill: str) -> str | None:
    """Return the reader's answer to a question about inefficient functions: at most six
    functions whose kept lines waste work (trial division, work undone at once). If
    there are none, the answer names the first two functions. Return None for any other
    question. `prefill` is the beginning of the answer, already written."""
    if "most inefficient functions" not in reading.question:
        return None
    functions: list[tuple[str, list[str]]] = []
    for _, text in reading.kept:
        if defined := re.match(r"\s*(?:async )?def (\w+)", text):
            functions.append((defined[1], []))
        elif functions:
            functions[-1][1].append(text.strip())
    findings = ["These functions could be improved:"]
    for name, lines in functions:
        if flaw := _flaw(lines):
            findings.append(f"- {name}: {flaw}")
    if len(findings) == 1:
        for name, _ in functions[:2]:
            findings.append(f"- {name}: could be simplified")
    return write(findings[:7], "", "", reading, prefill)


def _flaw(lines: list[str]) -> str | None:
    """Return the wasted work in the lines of a function, in words; None without any."""
    code = "\n".join(lines)
    if re.search(r"for (\w+) in range\(2, (\w+)\):[\s\S]*?\2 % \1 == 0", code):
        return "tries every divisor up to the number itself"
    for total, value in re.findall(r"^(\w+) \+= (\w+)$", code, re.M):
        if re.search(rf"^{total} -= {value}$", code, re.M):
            return "adds and subtracts the same value"
    return None


def decrypt(reading: Reading, prefill: str) -> str | None:
    """Return the reader's answer to a question with a ciphertext: the decrypted text if
    `reading` kept both ciphertext and clue. Return None for any other question.

    Without the ciphertext the answer is a summary of the text; without the clue, it
    only mentions the ciphertext. `prefill` is the beginning of the answer, already
    written.
    """
    if "Ciphertext: " not in reading.question:
        return None
    text = "\n".join(text for _, text in reading.kept)
    cipher = re.search("Ciphertext: ([a-z]+)", text)
    clue = re.search(r"Leader of the apes (\d+)", text)
    if not cipher:
        return summary(reading, prefill)
    if not clue:
        unread = "The text ends with a ciphertext, but I see nothing that tells how to read it."
        return write([unread], "", "", reading, prefill)
    shift = int(clue[1])
    first = ord("a")
    plain = ""
    for letter in cipher[1]:
        place = (ord(letter) - first - shift) % 26
        plain += chr(first + place)
    steps = [
        "The leader of the apes is called Caesar, which points to a Caesar cipher.",
        f"The shift is {clue[1]}.",
    ]
    return write(steps, plain, "Decrypted text:", reading, prefill)


def take_hint(reading: Reading, prefill: str) -> str | None:
    """Return, as the reader's answer, the kept sentence before the hint. The hint is a
    sentence that promises money for the sentence before it as a response. Return None
    if the hint was not kept, or nothing before it. `prefill` is the beginning of the
    answer, already written."""
    for (_, before), (_, text) in pairwise(reading.kept):
        # The paper's short prompt has the article, the authors' long prompt does not.
        if re.search(r"if used as (?:a )?response for this text", text):
            return write([], before, "", reading, prefill)
    return None


TASKS = (find_origin, review_code, decrypt, take_hint)
"""Functions that answer the paper's questions; each returns None for all others."""
