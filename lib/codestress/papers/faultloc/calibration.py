"""Calibration of Fault Localizability: the probability that a simulated reader with known
parameters names a line, against which measured accuracies are checked."""

from __future__ import annotations

import re

import numpy as np

from codestress.errors import ParameterError
from codestress.papers.faultloc.reading import seen_as
from codestress.simulated.calibration import share_drawn
from codestress.simulated.reading import Prospect, Settings, prospect
from codestress.types import Prompt


def chance(prompt: Prompt, reader: Settings, line: int) -> float:
    """Returns the probability (0 to 1) that the simulated reader `reader` answers `prompt` with
    line number `line` of its program. A reader keeps (does not miss) each line by chance, and draws
    a kept line in proportion to the suspicion that its text raises (`seen_as`). Lines without
    written numbers count from the first kept code fence, or from two lines below the first kept
    line.

    Raises `ParameterError` for a reader that believes comments, since comments draw suspicion to
    other lines.
    """
    if reader.credulity:
        raise ParameterError(
            "models: calibration needs readers that believe no comment (credulity 0)"
        )
    seen = prospect(prompt, reader)
    question = prompt.messages[-1].content.rstrip().rsplit("\n\n", 1)[-1]
    fences = [
        number for number, text in enumerate(seen.pieces) if text.startswith("```")
    ]
    code = [
        n
        for n, text in enumerate(seen.pieces)
        if n not in fences and text not in question
    ]
    others = [number for number in range(len(seen.pieces)) if number not in fences]
    right, none_before = 0.0, 1.0
    for number in [*fences, *others]:
        start = seen.lines[number] + (0 if number in fences else 2)
        if none_before > 1e-5:
            right += (
                none_before * float(seen.kept[number]) * _named(seen, code, start, line)
            )
        none_before *= float(seen.missed[number])
    return right * (1 - reader.refusal)


def _named(seen: Prospect, code: list[int], start: int, line: int) -> float:
    """Probability that a reader names line `line` if line 0 is line `start` of the message; `seen`
    has the message's lines with the probability that each is kept, `code` the indices of the
    program's lines. A reader that keeps none of these names line 1."""
    after = [number for number in code if seen.lines[number] > start]
    kept = seen.kept[after]
    weights = np.array([seen_as(seen.pieces[number])[0] for number in after])
    found = float((line == 1) * (1 - kept).prod())
    for place, number in enumerate(after):
        written = re.match(r"(\d+): ", seen.pieces[number])
        counted = int(written[1]) if written else seen.lines[number] - start
        if counted == line and weights[place] > 0:
            found += share_drawn(place, kept, weights)
    return found
