"""Which models answered how much right: for each paper on the questions of one artefact, the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.types import Outcome

INSTRUMENTS = {
    "simulated": "simulated reader (not a model)",
    "nano": "the kit's own small transformer",
    "interpreter": "the Python interpreter",
}
"""Engines of what stands for no large language model, in words."""


class Leaderboard(NamedTuple):
    """The models of a paper, on the questions of one artefact."""

    paper: str
    artefact: str
    title: str
    places: list[dict[str, Any]]
    """Best first: model, correct, n, accuracy, low, high (Wilson, 95 %, as if independent)."""


def leaderboards(manifests: Mapping[str, Mapping[str, Any]]) -> list[Leaderboard]:
    """One for each artefact whose YAML says so and that a model answered, from manifests by artefact; simulated readers
    and the others of `INSTRUMENTS` have no rank.

    Only answers that are right by the artefact's rule count. Whatever else became of a question counts as not right;
    those that were skipped do not count, because they were not asked.
    """
    found = []
    for name, manifest in sorted(manifests.items()):
        if manifest["leaderboard"]:
            rows = [
                (
                    model,
                    counts.get(Outcome.CORRECT, counts.get(Outcome.CORRECT.code)),
                    sum(counts.values()) - counts[Outcome.SKIPPED],
                )
                for model, counts in manifest["counts"].items()
            ]
            engines = {model["name"]: model["engine"] for model in manifest["models"]}
            rows = [row for row in rows if engines.get(row[0]) not in INSTRUMENTS]
            if not rows:
                continue
            table = pd.DataFrame(rows, columns=["model", "correct", "n"])
            shares = with_accuracy(table[table["n"] > 0], "correct", "n")
            ranked = shares.sort_values(["accuracy", "model"], ascending=[False, True])
            found.append(Leaderboard(name.split("/")[0], name, manifest["title"], ranked.to_dict("records")))
    return found
