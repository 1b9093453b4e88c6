"""With which probability a simulated reader answers Find the Origin right."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from codestress.papers.origin.connections import TARGET
from codestress.papers.origin.reading import LINK
from codestress.simulated.reading import Settings, follow_probability, prospect
from codestress.simulated.truth import share_of_kept
from codestress.types import Prompt


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
