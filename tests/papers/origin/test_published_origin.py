"""What the published outcomes say, computed another way from the same strings of outcomes."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm

from codestress.papers.origin import published
from codestress.papers.origin.results import outcome_cells
from codestress.paths import PUBLISHED

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "origin.json").read_text())
OUTCOMES = {
    figure: NUMBERS[figure]["outcomes"]
    for figure in ("fig01", "fig02", "fig03", "fig10")
}
MODELS = list(OUTCOMES["fig02"])
SIDES = {
    published.SHUFFLING: ("fig02", "fig10", 0),
    "up - down": ("fig02", "fig03", 0),
    published.APART: ("fig01", "fig02", 2),  # 20, 28, … lines beside 16, 24, …
}


@pytest.fixture(scope="module")
def pairs() -> pd.DataFrame:
    return published.paired_by_size(published.outcomes(), 0.95).set_index(
        ["comparison", "model"]
    )


def counts(comparison: str, model: str) -> tuple[int, int]:
    """Sizes that the second side has alone, and the first."""
    first, second, skipped = SIDES[comparison]
    sides = OUTCOMES[first][model][skipped:], OUTCOMES[second][model]
    both = list(zip(*sides, strict=True))
    return both.count(("0", "1")), both.count(("1", "0"))


@pytest.mark.parametrize("comparison", SIDES)
def test_each_model_is_judged_by_mcnemar_and_holm(
    pairs: pd.DataFrame, comparison: str
) -> None:
    p = {}
    for model in MODELS:
        won, lost = counts(comparison, model)
        row = pairs.loc[comparison, model]
        assert (row["only_second"], row["only_first"], row["sizes"]) == (won, lost, 117)
        p[model] = binomtest(won, won + lost).pvalue if won + lost else 1.0
        assert row["p"] == pytest.approx(p[model], rel=1e-9)
        mean = (won - lost) / 119
        half = norm.ppf(0.975) * math.sqrt(((won + lost + 2) / 119 - mean**2) / 119)
        ends = max(-1, mean - half), min(1, mean + half)
        assert (row["low"], row["high"]) == pytest.approx(ends)
    # Step down, as Holm wrote it.
    left = sorted(MODELS, key=p.__getitem__)
    while left and p[left[0]] <= 0.05 / len(left):
        assert pairs.loc[comparison, left.pop(0)]["p_holm"] < 0.05
    assert (pairs.loc[comparison].loc[left, "p_holm"] >= 0.05).all()


def test_shuffling_does_not_help_every_model(pairs: pd.DataFrame) -> None:
    expected = {
        "GPT4-turbo": (83, 0), "Sonnet-3.5": (96, 0), "Haiku-3": (26, 1), "GPT3.5": (0, 3), "Llama3.1-405b": (5, 4),
    }  # fmt: skip
    assert {model: counts(published.SHUFFLING, model) for model in expected} == expected
    found = pairs.loc[published.SHUFFLING]
    assert set(found.index[found["decided"] & (found["difference"] > 0)]) == {
        "Gemini-Pro", "GPT4-turbo", "Sonnet-3.5", "Opus-3", "Sonnet-3", "GPT4-1106", "Haiku-3",
    }  # fmt: skip
    assert not (found["decided"] & (found["difference"] < 0)).any()


@pytest.mark.parametrize("model", ["Opus-3", "Llama3.1-70b", "GPT4o-mini"])
def test_blocks_change_sides_together(pairs: pd.DataFrame, model: str) -> None:
    both = zip(OUTCOMES["fig02"][model], OUTCOMES["fig10"][model], strict=True)
    change = np.array([int(shuffled) - int(ordered) for ordered, shuffled in both])
    row = pairs.loc[(published.SHUFFLING, model)]
    for column, size in published.BLOCKS.items():
        blocks = np.add.reduceat(change, np.arange(0, len(change), size))
        signs = np.random.default_rng(0).choice([-1, 1], (200_000, len(blocks)))
        simulated = (np.abs(signs @ blocks) >= abs(blocks.sum())).mean()
        assert row[column] == pytest.approx(simulated, abs=0.004)


def test_counts_hold_for_neighbours_too(pairs: pd.DataFrame) -> None:
    """Of two models that find the origin more often upwards one is left with blocks of 3, none with blocks of 6."""
    tests = [f"{name}_holm" for name in published.BLOCKS]
    decided = {}
    for comparison in SIDES:
        part = pairs.loc[comparison]
        sign = -1 if comparison == published.APART else 1
        same = part[sign * part["difference"] > 0]
        decided[comparison] = (same[tests] < 0.05).sum().tolist()
    assert list(decided.values()) == [[7, 7, 7], [2, 1, 0], [11, 10, 9]]
    assert pairs.groupby("comparison", sort=False)["decided"].sum().to_list() == [
        7,
        0,
        9,
    ]


def test_published_cells_stand_above_as_far_as_lists_were_asked() -> None:
    answers = pd.DataFrame(
        [(shuffled, lines) for shuffled in (True, False) for lines in (16, 24, 32)],
        columns=["shuffled", "lines"],
    ).assign(model="sim-near", outcome_strict="correct")
    cells = outcome_cells("origin/fig10", answers, "strict")
    theirs = cells[cells["source"] == "published"]
    assert theirs.groupby("model")["lines"].agg(list).tolist() == [[16, 24, 32]] * 14
    assert list(cells["source"].unique()) == [
        "published", "regenerated, shuffled", "regenerated, in order",
    ]  # fmt: skip
    best = theirs.groupby("model", sort=False)["outcome"].agg(list).tolist()
    assert best[0] == ["correct"] * 3
    assert best[-1] == ["incorrect"] * 3
    whole = outcome_cells("origin/nano", answers.assign(lines=944), "strict")
    right = whole[(whole["model"] == "GPT4-turbo") & (whole["outcome"] == "correct")]
    assert len(right) == 32
