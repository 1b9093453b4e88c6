"""The leaderboard: same questions for all, ranked by right answers, with intervals."""

from __future__ import annotations

from typing import Any

import pytest

from codestress.fitting.proportions import wilson
from codestress.report.leaderboard import leaderboards


def manifest(counts: dict[str, tuple[int, int]], simulated: list[str] = []) -> dict[str, Any]:  # noqa: B006
    table = {model: {"right": right, "wrong": wrong, "refused": 1} for model, (right, wrong) in counts.items()}
    asked = sum(sum(row.values()) for row in table.values())
    return {"counts": table, "asked": asked, "title": "t", "simulated": simulated}


def test_the_artefact_with_most_models_then_most_answers_ranks_them() -> None:
    manifests = {
        "a/one": manifest({"m1": (90, 9), "m2": (10, 89)}),
        "a/two": manifest({"m1": (50, 49), "m2": (60, 39), "sim-x": (99, 0)}, ["sim-x"]),
        "a/few": manifest({"m1": (1, 0), "m2": (0, 1), "sim-x": (1, 0)}, ["sim-x"]),
        "b/facts": manifest({}),
    }
    [board] = leaderboards(manifests)
    assert (board.paper, board.artefact) == ("a", "a/two")
    assert [(place.model, place.right, place.asked) for place in board.places] == [
        ("sim-x", 99, 100),
        ("m2", 60, 100),
        ("m1", 50, 100),
    ]
    assert [place.simulated for place in board.places] == [True, False, False]
    low, high = wilson(60, 100)
    assert (board.places[1].low, board.places[1].high) == (low, high)
    assert board.places[1].share == pytest.approx(0.6)
