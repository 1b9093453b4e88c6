"""Which models answered how much right: for each paper on the questions of one artefact, the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from codestress.fitting.proportions import wilson
from codestress.types import Reason


@dataclass(frozen=True)
class Place:
    """A model's row."""

    model: str
    simulated: bool
    asked: int
    right: int
    low: float
    high: float
    """Wilson's interval of the share, 95 %; it takes questions as independent."""

    @property
    def share(self) -> float:
        return self.right / self.asked


@dataclass(frozen=True)
class Leaderboard:
    """The models of a paper, on the questions of one artefact."""

    paper: str
    artefact: str
    title: str
    places: list[Place]


def leaderboards(manifests: Mapping[str, Mapping[str, Any]]) -> list[Leaderboard]:
    """One for each artefact whose YAML says so, from manifests by artefact.

    Only answers that are right by the artefact's rule count. Whatever else became of a question counts as not right;
    those that were skipped do not count, because they were not asked.
    """
    found = []
    for name, manifest in sorted(manifests.items()):
        if not manifest["leaderboard"]:
            continue
        places = []
        for model, counts in manifest["counts"].items():
            asked = sum(counts.values()) - counts[Reason.SKIPPED.value]
            if asked:
                right = counts[Reason.RIGHT.value]
                low, high = wilson(right, asked)
                places.append(Place(model, model in manifest["simulated"], asked, right, low, high))
        places.sort(key=lambda place: (-place.share, place.model))
        found.append(Leaderboard(name.split("/")[0], name, manifest["title"], places))
    return found
