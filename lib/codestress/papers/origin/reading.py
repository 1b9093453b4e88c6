"""How a simulated reader answers Find the Origin: follows links back, reviews code, decrypts, takes a hint."""

from __future__ import annotations

import re

from codestress.simulated.reading import Reading, follow_probability, summary, write

LINK = re.compile(r'"([^"]+)" is connected to "([^"]+)"')
_ASKED = re.compile(r'find the origin of "([^"]+)"')


def find_origin(reading: Reading, prefill: str) -> str | None:
    """Follows kept links back from the word that the question names.

    Who loses the thread names the word reached so far; who has not even the first link guesses an origin that was
    kept, or says that there is none.
    """
    asked = _ASKED.search(reading.question)
    if not asked:
        return None
    back = {m[2]: (number, m[1]) for number, text in reading.kept for m in LINK.finditer(text)}
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
        return summary(reading, prefill)
    if clue is None:
        said = "The text ends with a ciphertext, but I see nothing that tells how to read it."
        return write([said], "", "", reading, prefill)
    plain = "".join(chr((ord(letter) - ord("a") - int(clue)) % 26 + ord("a")) for letter in cipher)
    steps = ["The leader of the apes is called Caesar, which points to a Caesar cipher.", f"The shift is {clue}."]
    return write(steps, plain, "Decrypted text:", reading, prefill)


def take_hint(reading: Reading, prefill: str) -> str | None:
    """Gives the sentence that the text asks for as its response, when both sentences were kept."""
    kept = [text for _, text in reading.kept]
    hint = next((number for number, text in enumerate(kept) if "if used as a response for this text" in text), 0)
    return write([], kept[hint - 1], "", reading, prefill) if hint else None


TASKS = (find_origin, review_code, decrypt, take_hint)
