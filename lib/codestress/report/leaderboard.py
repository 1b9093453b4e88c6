"""Which models answered how much right: for each paper on the questions of one artefact, the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

from codestress.fitting.summaries import with_accuracy
from codestress.types import Outcome


class Leaderboard(NamedTuple):
    """The models of a paper, on the questions of one artefact."""

    paper: str
    artefact: str
    title: str
    places: list[dict[str, Any]]
    """Best first: model, simulated, correct, n, accuracy, low, high (Wilson, 95 %, as if independent)."""


def leaderboards(manifests: Mapping[str, Mapping[str, Any]]) -> list[Leaderboard]:
    """One for each artefact whose YAML says so, from manifests by artefact.

    Only answers that are right by the artefact's rule count. Whatever else became of a question counts as not right;
    those that were skipped do not count, because they were not asked.
    """
    found = []
    for name, manifest in sorted(manifests.items()):
        if manifest["leaderboard"]:
            rows = [
                (
                    model,
                    model in manifest["simulated"],
                    counts.get(Outcome.CORRECT, counts.get(Outcome.CORRECT.code)),
                    sum(counts.values()) - counts[Outcome.SKIPPED],
                )
                for model, counts in manifest["counts"].items()
            ]
            table = pd.DataFrame(rows, columns=["model", "simulated", "correct", "n"])
            shares = with_accuracy(table[table["n"] > 0], "correct", "n")
            ranked = shares.sort_values(["accuracy", "model"], ascending=[False, True])
            found.append(Leaderboard(name.split("/")[0], name, manifest["title"], ranked.to_dict("records")))
    return found
