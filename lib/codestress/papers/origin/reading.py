"""How a simulated reader answers Find the Origin (follows links back, reviews code, decrypts, takes a hint), and with
which probability it is right."""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from codestress.papers.origin.connections import TARGET
from codestress.papers.origin.scoring import most_others, names, other_functions, score_unlock
from codestress.simulated.reading import (
    COPIED,
    Prospect,
    Reading,
    Settings,
    follow_probability,
    prospect,
    segments,
    share_of_kept,
    summary,
    write,
)
from codestress.types import Outcome, Prompt, Response

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


@lru_cache(maxsize=4)
def _links(*texts: str) -> tuple[dict[str, str], dict[str, int]]:
    """Where each name comes from, and the number of the segment that says so; readers share prompts."""
    origins, places = dict[str, str](), dict[str, int]()
    for number, piece in enumerate(one for text in texts for one in segments(text)):
        for link in LINK.finditer(piece):
            origins[link[2]], places[link[2]] = link[1], number
    return origins, places


def chance(prompt: Prompt, settings: Mapping[str, Any], retries: int) -> float:
    """All links of the chain are kept and followed; or the last is not kept and the guess is right (half of those who
    have nothing to go back from guess an origin that was kept). A refusal is asked again `retries` times.
    """
    reader = Settings.model_validate(settings)
    seen = prospect(prompt, reader)
    origins, places = _links(*(message.content for message in prompt.messages))
    word, way = TARGET[-1], []
    while word in origins and word != TARGET[0] and places[word] not in way:
        way.append(places[word])
        word = origins[word]
    if word != TARGET[0]:
        return 0.0
    followed = [follow_probability(reader, below - above) for below, above in itertools.pairwise(way)]
    right = float(seen.kept[way].prod() * np.prod(followed))
    if len(way) > 1:
        others = [number for number in places.values() if number not in (way[0], way[-1])]
        right += 0.5 * float(seen.missed[way[0]]) * share_of_kept(float(seen.kept[way[-1]]), seen.kept[others])
    return right * (1 - reader.refusal ** (retries + 1))


NEEDED = {
    "inefficient_code": (
        (r"def is_prime\(", r"for i in range\(2, n\):", r"if n % i == 0:"),
        (r"def square_sum\(", r"my_sum \+= a$", r"my_sum -= a$"),
    ),
    "clue": ((r".*Leader of the apes \d",), (r".*Ciphertext: ",)),
}
"""What has to be kept of what is planted: a line of each kind, in each of several passages."""


def noticed(prompt: Prompt, settings: Mapping[str, Any], test: str) -> float:
    """Section 6: what is `NEEDED` is kept; of a sentence that asks to be said (6.3) the last one kept before it.

    Left out is who finds nothing in a listing, has kept no definitions before those two, and names them as the first.
    """
    reader = Settings.model_validate(settings)
    seen = prospect(prompt, reader)
    texts = [piece.strip() for piece in seen.pieces]
    right = 1.0
    if test == "unlock":
        hint = next(number for number, text in enumerate(texts) if "if used as a response for this text" in text)
        before = [score_unlock(Response(text, "stop")).outcome is Outcome.CORRECT for text in texts[:hint]]
        last = [seen.kept[number] * seen.missed[number + 1 : hint].prod() for number in np.flatnonzero(before)]
        right = float(seen.kept[hint] * sum(last)) if reader.style != "verbose" else 0.0
    elif test == "inefficient_code" and reader.style == "verbose":
        right = _copied_or_noticed(seen, texts, prompt)
    else:
        for passage in NEEDED[test]:
            start = next(number for number, text in enumerate(texts) if re.match(passage[0], text))
            right *= _kept_of_each(seen, texts, passage, start)
    return right * (1 - reader.refusal)


def _kept_of_each(seen: Prospect, texts: list[str], kinds: Sequence[str], start: int) -> float:
    """That a line of each kind is kept, from `start` on."""
    lines = ([number for number in range(start, len(texts)) if re.match(kind, texts[number])] for kind in kinds)
    return math.prod(1 - float(seen.missed[numbers].prod()) for numbers in lines)


UNLIKELY = 1e-8
"""Of what was kept so far: not followed further."""
MOST_NAMES = 12
"""Other functions of a listing of which it is followed which were copied. Where the lines that may be copied name more
of them and too many (from 64,000 characters on), those that are copied name on average fewer than half of that."""


def _copied_or_noticed(seen: Prospect, texts: list[str], prompt: Prompt) -> float:
    """Section 6.1, of who first copies what was kept, up to `COPIED` lines: a planted function is named where its
    definition is among them, or is kept and its flaw noticed; not right is who has copied the names of too many others.

    Line by line, with which probability so many were kept before it, and the names of these others among them.
    """
    others = other_functions(prompt.messages[-1].content)
    expected = np.cumsum(seen.kept)
    reach = int(np.searchsorted(expected, COPIED + 4 * math.sqrt(COPIED)))
    told = list[frozenset[str]]()
    if most_others(others) < MOST_NAMES:
        told = [frozenset(name for name in others if names(text, name)) for text in seen.pieces[:reach]]
    if not most_others(others) < len(frozenset().union(*told)) <= MOST_NAMES:
        told = []
    flaws = {}
    for head, *flaw in NEEDED["inefficient_code"]:
        start = next(number for number, text in enumerate(texts) if re.match(head, text))
        flaws[start] = _kept_of_each(seen, texts, flaw, start)
    states: dict[tuple[int, frozenset[str]], float] = {(0, frozenset()): 1.0}
    for number, kept in enumerate(map(float, seen.kept[: max(flaws) + 1])):
        after: dict[tuple[int, frozenset[str]], float] = defaultdict(float)
        here = told[number] if number < len(told) else frozenset()
        for (count, named), share in states.items():
            copied = count < COPIED
            if copied or number in flaws:
                noticed = 1.0 if copied else flaws[number]
                after[min(COPIED, count + 1), named | here if copied else named] += share * kept * noticed
            if number not in flaws:
                after[count, named] += share * ((1 - kept) if copied else 1.0)
        states = {state: share for state, share in after.items() if share > UNLIKELY}
    return sum(share for (_, named), share in states.items() if len(named) <= most_others(others))
