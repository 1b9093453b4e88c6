"""With which probability a simulated reader answers Find the Origin right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from codestress.papers.origin.connections import TARGET
from codestress.papers.origin.reading import LINK
from codestress.papers.origin.scoring import score_unlock
from codestress.simulated.reading import Settings, follow_probability, prospect
from codestress.simulated.truth import share_of_kept
from codestress.types import Outcome, Prompt, Response


def chance(prompt: Prompt, settings: Mapping[str, Any], retries: int) -> float:
    """All links of the chain are kept and followed; or the last is not kept and the guess is right (half of those who
    have nothing to go back from guess an origin that was kept). A refusal is asked again `retries` times.
    """
    reader = Settings.model_validate(settings)
    seen = prospect(prompt, reader)
    origins, places = {}, {}
    for number, text in enumerate(seen.pieces):
        for link in LINK.finditer(text):
            origins[link[2]], places[link[2]] = link[1], number
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


def noticed(prompt: Prompt, settings: Mapping[str, Any], test: str) -> float | None:
    """Section 6: what is `NEEDED` is kept; of a sentence that asks to be said (6.3) the last one kept before it.

    None for who copies a listing before it names functions of it. Left out is who finds nothing in a listing, has kept
    no definitions before those two, and names them as the first.
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
        return None
    else:
        for passage in NEEDED[test]:
            start = next(number for number, text in enumerate(texts) if re.match(passage[0], text))
            for kind in passage:
                lines = [number for number in range(start, len(texts)) if re.match(kind, texts[number])]
                right *= 1 - float(seen.missed[lines].prod())
    return right * (1 - reader.refusal)
