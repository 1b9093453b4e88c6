"""How long a build still takes: by what its parts took before, and how fast this build is."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

from tqdm.auto import tqdm

from codestress.errors import DataError
from codestress.inference.progress import Progress
from codestress.paths import ROOT
from codestress.pipeline.artefacts import Artefact
from codestress.report.checked import read_manifest

TIMES = ROOT / "docs" / "artefacts.md"
"""The measured seconds of all notebooks of the demo, for what was not built here before."""
UNKNOWN_S = 10.0
"""Of a notebook of which nothing is known."""
TRUSTED_S = 30.0
"""Seconds of notebooks after which this build's own speed counts as much as that of before."""


@dataclass(frozen=True)
class Part:
    """An artefact of a build."""

    answers: int
    notebook_s: float
    """What its notebook took before."""
    asking_s: float | None
    """What its questions took before; None where nobody knows."""
    served: bool
    """Whether a server answers: then answers tell how long it takes, else what its notebook took."""

    @property
    def weight(self) -> float:
        return self.answers if self.served else self.notebook_s


def part_of(artefact: Artefact, answers: int) -> Part:
    """By the artefact's last build, the unchanged one's, or the list of measured times."""
    served = any(not model.local for model in artefact.models)
    for folder in (artefact.folder, artefact.unchanged):
        try:
            manifest = read_manifest(folder)
        except DataError:
            continue
        asking = manifest["ask_seconds"] if folder == artefact.folder else None
        return Part(answers, manifest["build_seconds"] or UNKNOWN_S, asking, served)
    times = measured()
    return Part(answers, times.get(artefact.name, fmean(times.values()) if times else UNKNOWN_S), None, served)


@cache
def measured() -> dict[str, float]:
    """Seconds by artefact, of the list of all artefacts."""
    rows = re.findall(r"`make (\S+/\S+)` \|.*\| (\d+) \|$", TIMES.read_text("utf-8") if TIMES.is_file() else "", re.M)
    return {name: float(seconds) for name, seconds in rows}


class Estimate:
    """What is left of a build whose parts are asked one after the other, while `workers` notebooks run."""

    def __init__(self, parts: Mapping[str, Part], workers: int) -> None:
        self.parts = dict(parts)
        self.workers = workers
        self.asked = dict.fromkeys(parts, 0.0)
        """Which share of its questions."""
        self.asking_s = dict.fromkeys(parts, 0.0)
        self.notebook_s: dict[str, float] = {}
        """Of those that have ended."""

    def left(self) -> tuple[float, bool]:
        """Seconds, and whether something that nobody has measured comes on top."""
        parts, open_ones = self.parts, [name for name in self.parts if name not in self.notebook_s]
        before = sum(parts[name].notebook_s for name in self.notebook_s)
        slower = (TRUSTED_S + sum(self.notebook_s.values())) / (TRUSTED_S + before)
        running = slower * sum(parts[name].notebook_s for name in open_ones) / max(1, self.workers)
        asking, more = 0.0, False
        for name in open_ones:
            part, rest = parts[name], 1 - self.asked[name]
            if part.asking_s is not None:
                asking += slower * part.asking_s * rest
            elif rest and part.answers:
                rate = self._rate(part.served)
                asking, more = asking + (rate or 0.0) * part.weight * rest, more or rate is None
        last = slower * min((parts[name].notebook_s for name in open_ones if self.asked[name] < 1), default=0.0)
        return max(running, asking + last), more

    def _rate(self, served: bool) -> float | None:
        """Seconds of asking by weight, of the parts of this kind; None before the first answer."""
        alike = [name for name, part in self.parts.items() if part.served == served]
        weight = sum(self.asked[name] * self.parts[name].weight for name in alike)
        return sum(self.asking_s[name] for name in alike) / weight if weight else None


def in_minutes(seconds: float, more: bool) -> str:
    """`about 4 min left`; `at least` where something unmeasured comes on top."""
    minutes = round(seconds / 60)
    return f"{'at least' if more else 'about'} {minutes} min left" if minutes else "less than a minute left"


class BuildProgress(Progress):
    """One line for a whole build: answers, notebooks, minutes left."""

    def __init__(self, parts: Mapping[str, Part], workers: int) -> None:
        self.estimate = Estimate(parts, workers)
        self._lock = threading.Lock()
        self._current = ""
        self._began = time.monotonic()
        self._answered = 0
        super().__init__(sum(part.answers for part in parts.values()), "build", self._bar_of)

    def _bar_of(self, **how: Any) -> tqdm[Any]:
        progress = self

        class Line(tqdm):  # type: ignore[type-arg]
            @property
            def format_dict(self) -> dict[str, Any]:
                return {**super().format_dict, "told": progress.told()}

        return Line(**how, bar_format="{desc}: {n_fmt} of {total_fmt} answers |{bar}| {told}{postfix}")

    def told(self) -> str:
        """Notebooks and minutes."""
        with self._lock:
            self._note()
            seconds, more = self.estimate.left()
            done, total = len(self.estimate.notebook_s), len(self.estimate.parts)
        left = f", {in_minutes(seconds, more)}" if done < total else ""
        return f"{done} of {total} notebooks{left}"

    def asks(self, name: str) -> None:
        """The questions of an artefact begin."""
        with self._lock:
            self._current, self._began, self._answered = name, time.monotonic(), 0

    def answered(self) -> None:
        self._answered += 1
        super().answered()

    def asked(self) -> float:
        """They end; the seconds that they took."""
        with self._lock:
            self._note()
            name, self._current = self._current, ""
            self.estimate.asked[name] = 1.0
            return self.estimate.asking_s[name]

    def ended(self, name: str, seconds: float) -> None:
        """A notebook has been executed; without a second, it never will be."""
        with self._lock:
            self._current = "" if name == self._current else self._current
            if seconds:
                self.estimate.notebook_s[name] = seconds
            else:
                del self.estimate.parts[name]

    def _note(self) -> None:
        if self._current:
            part = self.estimate.parts[self._current]
            self.estimate.asked[self._current] = min(1.0, self._answered / part.answers) if part.answers else 1.0
            self.estimate.asking_s[self._current] = time.monotonic() - self._began
