"""With which probability a simulated reader names a line of a program (Fault Localizability)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from codestress.notes import noted
from codestress.papers.faultloc.reading import ALARMED, seen_as
from codestress.simulated.reading import Prospect, Settings, prospect
from codestress.types import Prompt

STEP = 0.5
TIMES = np.exp(np.arange(-20.0, 8.0, STEP))
"""Nodes of the integral over the logarithm of s, on which the trapezium rule is right to 1e-6."""
UNLIKELY = 1e-5
"""What readings that are not looked at may have together."""


@noted
def named(prompt: Prompt, settings: Mapping[str, Any], line: int) -> float:
    """A line is drawn in proportion to its suspicion among those kept: E[w / W], which is the integral of
    w E[exp(-s W)] over s from 0 on. It is counted from the first fence that was kept, without one from the first line.
    """
    reader = Settings.model_validate(settings)
    seen = prospect(prompt, reader)
    lines = _Lines.of(seen, prompt.messages[-1].content.rstrip().rsplit("\n\n", 1)[-1])
    fences = [number for number, text in enumerate(seen.pieces) if text.startswith("```")]
    right, left = 0.0, 1.0
    for fence in fences:
        right += left * seen.kept[fence] * lines.named(seen.lines[fence], line, reader)
        left *= seen.missed[fence]
    for first in range(len(seen.pieces)):
        if first not in fences and left > UNLIKELY:
            right += left * seen.kept[first] * lines.named(seen.lines[first] + 2, line, reader)
            left *= seen.missed[first]
    return float(right * (1 - reader.refusal))


@dataclass(frozen=True)
class _Lines:
    """Segments that may be named, in order: each one's line in its message, the number before it (0: none), and with
    which probability it is missed."""

    places: np.ndarray
    written: np.ndarray
    missed: np.ndarray
    weights: np.ndarray
    alarms: np.ndarray

    @classmethod
    def of(cls, seen: Prospect, question: str) -> _Lines:
        chosen = [n for n, text in enumerate(seen.pieces) if not text.startswith("```") and text not in question]
        texts = [seen.pieces[number] for number in chosen]
        looks = [seen_as(text) for text in texts]
        return cls(
            np.array([seen.lines[number] for number in chosen]),
            np.array([int(found[1]) if (found := re.match(r"(\d+): ", text)) else 0 for text in texts]),
            seen.missed[chosen],
            np.array([weight for weight, _ in looks]),
            np.array([alarms for _, alarms in looks]),
        )

    def named(self, start: int, line: int, reader: Settings) -> float:
        """That a line is named by who counts lines from `start` on; who has kept none names the first."""
        after = self.places > start
        missed, weights, alarms = self.missed[after], self.weights[after], self.alarms[after]
        alarms = alarms & (reader.credulity > 0)
        numbers = np.where(self.written[after] > 0, self.written[after], self.places[after] - start)
        kept = (1 - missed)[:, None] * np.exp(-TIMES * weights[:, None])
        alarmed_kept = kept * np.exp(-TIMES * ALARMED * reader.credulity * (weights > 0)[:, None])
        mine = numbers == line
        stops = [*np.flatnonzero(alarms), len(missed)]
        # With nothing chosen yet (0) and the line chosen (1): calm, or alarmed by the comment that was kept last.
        calm, alarmed, at = np.array([np.ones(len(TIMES)), np.zeros(len(TIMES))]), np.zeros((2, len(TIMES))), 0
        while at < len(missed):
            stop = next(one for one in stops if one >= at)
            if stop > at and not alarmed.any():
                factors = missed[at:stop, None] + kept[at:stop]
                chosen = (mine[at:stop] * weights[at:stop])[:, None] * kept[at:stop] / factors
                calm = factors.prod(axis=0) * calm
                calm[1] += calm[0] * chosen.sum(axis=0)
                at = stop
                continue
            read = kept[at] * calm + alarmed_kept[at] * alarmed
            heavier = weights[at] + ALARMED * reader.credulity * (weights[at] > 0)
            read[1] += mine[at] * (weights[at] * kept[at] * calm[0] + heavier * alarmed_kept[at] * alarmed[0])
            calm, alarmed = missed[at] * calm, missed[at] * alarmed
            (alarmed if alarms[at] else calm)[:] += read
            alarmed[alarmed < UNLIKELY**2] = 0
            at += 1
        return float((TIMES * (calm + alarmed)[1]).sum() * STEP + (line == 1) * missed.prod())
