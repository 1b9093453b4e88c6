"""Which models answered how much right, paper by paper, each ranked where most models got the same questions."""

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
    """One for each paper, from manifests by artefact: that artefact which most models answered, then with most answers.

    Only answers that are right by the artefact's rule count; whatever else became of a question counts as not right.
    """
    best: dict[str, str] = {}
    for name, manifest in sorted(manifests.items()):
        paper = name.split("/")[0]
        if manifest["asked"] and _size(manifest) > _size(manifests.get(best.get(paper, ""), {})):
            best[paper] = name
    found = []
    for paper, name in sorted(best.items()):
        manifest = manifests[name]
        places = []
        for model, counts in manifest["counts"].items():
            asked, right = sum(counts.values()), counts[Reason.RIGHT.value]
            low, high = wilson(right, asked)
            places.append(Place(model, model in manifest["simulated"], asked, right, low, high))
        places.sort(key=lambda place: (-place.share, place.model))
        found.append(Leaderboard(paper, name, manifest["title"], places))
    return found


def _size(manifest: Mapping[str, Any]) -> tuple[int, int]:
    return len(manifest.get("counts", ())), manifest.get("asked", 0)
