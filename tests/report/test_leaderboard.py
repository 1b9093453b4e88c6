"""The leaderboard: same questions for all, ranked by right answers, with intervals."""

from __future__ import annotations

from typing import Any

import pytest

from codestress.fitting.proportions import wilson
from codestress.report.summary import leaderboards


def manifest(counts: dict[str, tuple[int, int]], leaderboard: bool, simulated: tuple[str, ...] = ()) -> dict[str, Any]:
    table = {
        model: {"correct": right, "incorrect": wrong, "refused": 1, "skipped": 7}
        for model, (right, wrong) in counts.items()
    }
    models = [{"name": name, "engine": "simulated" if name in simulated else "openai"} for name in counts]
    return {"counts": table, "title": "t", "models": models, "leaderboard": leaderboard}


def test_models_are_ranked_by_right_answers_of_those_asked_and_readers_are_not() -> None:
    manifests = {
        "a/one": manifest({"m1": (90, 9), "m2": (10, 89)}, False),
        "a/two": manifest({"m1": (50, 49), "m2": (60, 39), "sim-x": (99, 0)}, True, ("sim-x",)),
        "b/facts": manifest({}, True),
        "c/readers": manifest({"sim-x": (99, 0)}, True, ("sim-x",)),
    }
    (board,) = leaderboards(manifests)
    assert (board["paper"], board["artefact"]) == ("a", "a/two")
    assert [(place["model"], place["correct"], place["n"]) for place in board["places"]] == [
        ("m2", 60, 100),
        ("m1", 50, 100),
    ]
    low, high = wilson(60, 100)
    assert (board["places"][0]["low"], board["places"][0]["high"]) == (low, high)
    assert board["places"][0]["accuracy"] == pytest.approx(0.6)
