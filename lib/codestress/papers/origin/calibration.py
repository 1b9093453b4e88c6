"""Calibration of Find the Origin's estimators against simulated readers with known parameters."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from codestress.papers.origin.connections import TARGET
from codestress.papers.origin.reading import LINK
from codestress.papers.origin.results import fit_sides
from codestress.simulated.calibration import estimates, share_drawn
from codestress.simulated.reading import Settings, follow_probability, prospect
from codestress.types import Prompt


def chance(prompt: Prompt, reader: Settings) -> float:
    """Probability (0 to 1) that a simulated reader with the settings `reader` answers `prompt`, a
    question for the origin of the paper's own chain, correctly: it keeps and follows all links of
    the chain, or does not keep the last link and guesses right. Half of the readers without the
    last link guess one of the origins that they kept. A refusal is incorrect. `KeyError` if
    `prompt` lacks a link of the chain."""
    seen = prospect(prompt, reader)
    origins, places = dict[str, str](), dict[str, int]()
    for number, piece in enumerate(seen.pieces):
        for link in LINK.finditer(piece):
            origins[link[2]], places[link[2]] = link[1], number
    word, way = TARGET[-1], list[int]()
    while word != TARGET[0]:
        way.append(places[word])
        word = origins[word]
    followed = [
        follow_probability(reader, below - above)
        for below, above in itertools.pairwise(way)
    ]
    right = float(seen.kept[way].prod() * np.prod(followed))
    guessed = [
        way[-1],
        *(number for number in places.values() if number not in (way[0], way[-1])),
    ]
    share = share_drawn(0, seen.kept[guessed], np.ones(len(guessed)))
    right += 0.5 * float(seen.missed[way[0]]) * share
    return right * (1 - reader.refusal)


def reaches(
    answers: pd.DataFrame, confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """Table of the reach of the decay in `answers` (lines over which accuracy falls to 1/e) on each
    side of d = 0, a row named `MODEL, SIDE`: value, low, high, in lines, with bootstrap intervals
    (`fit_sides`). A side with fewer than three distances has no row."""
    _, table = fit_sides(
        answers, rule="strict", confidence=confidence, resamples=resamples, seed=seed
    )
    names = table["model"] + ", " + table["side"]
    return estimates(table, ("reach_lines", "reach_low", "reach_high"), names)
