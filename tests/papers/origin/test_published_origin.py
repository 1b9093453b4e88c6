"""What the published outcomes say, computed another way from the same strings of outcomes."""

from __future__ import annotations

import json
import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

from codestress.papers.origin import published
from codestress.papers.origin.results import outcome_cells
from codestress.paths import PUBLISHED

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "origin.json").read_text())
SIDES = {
    published.SHUFFLING: ("fig02", "fig10", 0),
    "up - down": ("fig02", "fig03", 0),
    published.APART: ("fig01", "fig02", 2),  # 20, 28, … lines beside 16, 24, …
}
"""Figures of both sides, and the number of sizes to skip in the first."""


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    table = published.paired_by_size(published.outcomes(), 0.95)
    return table.set_index(["comparison", "model"])


def changes(comparison: str, model: str) -> np.ndarray:
    """Return, by size, 1 where the second side alone is right, and -1 where the first."""
    first, second, skipped = SIDES[comparison]
    bits = []
    for figure in (first, second):
        bits.append(np.array([*map(int, NUMBERS[figure]["outcomes"][model])]))
    return bits[1] - bits[0][skipped:]


@pytest.mark.parametrize("comparison", SIDES)
def test_each_model_is_judged_by_mcnemar_and_holm(
    pairs: pd.DataFrame, comparison: str
) -> None:
    p = {}
    for model in NUMBERS["fig02"]["outcomes"]:
        change = changes(comparison, model)
        won, lost = (change > 0).sum(), (change < 0).sum()
        row = pairs.loc[comparison, model]
        assert (row["only_second"], row["only_first"], row["sizes"]) == (won, lost, 117)
        p[model] = binomtest(won, won + lost).pvalue if won + lost else 1.0
        assert row["p"] == pytest.approx(p[model], rel=1e-9)
        mean = (won - lost) / 119
        half = norm.ppf(0.975) * math.sqrt(((won + lost + 2) / 119 - mean**2) / 119)
        ends = max(-1, mean - half), min(1, mean + half)
        assert (row["low"], row["high"]) == pytest.approx(ends)
    rejected = True
    for step, model in enumerate(sorted(p, key=p.__getitem__)):
        rejected = rejected and p[model] <= 0.05 / (len(p) - step)
        assert (pairs.loc[comparison, model]["p_holm"] < 0.05) == rejected


def test_shuffling_does_not_help_every_model(pairs: pd.DataFrame) -> None:
    table = pairs.loc[published.SHUFFLING]
    counts = table.loc["GPT4-turbo", ["only_second", "only_first"]]
    assert counts.tolist() == [83, 0]
    assert set(table.index[table["decided"] & (table["difference"] > 0)]) == {
        "Gemini-Pro", "GPT4-turbo", "Sonnet-3.5", "Opus-3", "Sonnet-3", "GPT4-1106", "Haiku-3",
    }  # fmt: skip
    assert not (table["decided"] & (table["difference"] < 0)).any()
    decided = pairs.groupby("comparison", sort=False)["decided"].sum()
    assert decided.to_list() == [7, 0, 9]


@pytest.mark.parametrize("model", ["Opus-3", "GPT4o-mini"])
def test_blocks_of_sizes_change_sides_together(pairs: pd.DataFrame, model: str) -> None:
    change = changes(published.SHUFFLING, model)
    row = pairs.loc[(published.SHUFFLING, model)]
    for column, size in published.BLOCKS.items():
        blocks = np.add.reduceat(change, np.arange(0, len(change), size))
        signs = np.random.default_rng(0).choice([-1, 1], (200_000, len(blocks)))
        simulated = (np.abs(signs @ blocks) >= abs(blocks.sum())).mean()
        assert row[column] == pytest.approx(simulated, abs=0.004)


def test_published_cells_stand_above_as_far_as_lists_were_asked() -> None:
    rows = product((True, False), (16, 24, 32))
    answers = pd.DataFrame(rows, columns=["shuffled", "lines"])
    answers = answers.assign(model="sim-near", outcome_strict="correct")
    cells = outcome_cells("origin/fig10", answers, "strict")
    theirs = cells[cells["source"] == "published"].groupby("model", sort=False)
    assert theirs["lines"].agg(list).tolist() == [[16, 24, 32]] * 14
    sources = ["published", "regenerated, shuffled", "regenerated, in order"]
    assert list(cells["source"].unique()) == sources
    outcomes = theirs["outcome"].agg(list).tolist()
    assert outcomes[0] == ["correct"] * 3
    assert outcomes[-1] == ["incorrect"] * 3
    whole = outcome_cells("origin/nano", answers.assign(lines=944), "strict")
    right = whole[(whole["model"] == "GPT4-turbo") & (whole["outcome"] == "correct")]
    assert len(right) == 32
