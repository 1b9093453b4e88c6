"""Numbers that the paper's text states of its own tables, computed another way from the
same file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.papers.codecrash.results import recounted
from codestress.paths import PUBLISHED

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "codecrash.json").read_text())
SCORES = NUMBERS["pass_at_1"]["values"]
MODELS = [label for label, modes in SCORES.items() if "cot" in modes]
REASONING = [label for label in SCORES if label not in MODELS]
FOUR = ["PSC-ALL", "MCC", "MPS", "MHC"]
ALIKE = "relative losses, both data sets alike"


@pytest.fixture(scope="module")
def value() -> pd.Series:
    """The values by number and reading."""
    return recounted.recounted().set_index(["number", "reading"])["value"]


def losses(label: str) -> np.ndarray:
    """Return the relative losses in per cent, a row for each data set."""
    rows = []
    for dataset in NUMBERS["problems"]:
        cells = SCORES[label]["direct"][dataset]
        rows.append([100 - 100 * cells[name] / cells["VAN"] for name in FOUR])
    return np.array(rows)


def test_orders_of_perturbations_are_those_of_the_scores(value: pd.Series) -> None:
    cruxeval, livecodebench = np.swapaxes([*map(losses, MODELS)], 0, 1)
    means = {
        "relative losses, each problem alike": (800 * cruxeval + 479 * livecodebench)
        / 1279,
        ALIKE: (cruxeval + livecodebench) / 2,
    }
    for reading, table in means.items():
        mean = table.mean(axis=0)
        ahead = mean[0] - mean[1:].max()
        assert value["PSC-ALL ahead", reading] == pytest.approx(ahead)
    gap = (livecodebench - cruxeval)[:, 3].mean()
    assert value["MHC, LiveCodeBench - CRUXEval", ""] == pytest.approx(gap)
    more = cruxeval > livecodebench
    same_set = (more[:, 1] == more[:, 2]).sum()
    assert value["same data set for both messages", ""] == same_set
    first, second = (table[:, 1] > table[:, 2] for table in (cruxeval, livecodebench))
    assert value["same message on both data sets", ""] == (first == second).sum()


def test_steps_gain_what_the_scores_gain(value: pd.Series) -> None:
    gained = 0.0
    for label in MODELS:
        for name, n in NUMBERS["problems"].items():
            direct = SCORES[label]["direct"][name]["VAN"]
            gained += n / 1279 * (SCORES[label]["cot"][name]["VAN"] - direct)
    mean = pytest.approx(gained / len(MODELS))
    assert value["vanilla, step by step - direct", ""] == mean


def test_sizes_are_compared_by_their_losses() -> None:
    table = recounted.by_size()
    assert len(table) == 3 * len(NUMBERS["scaling"]["values"])
    for row in table[table["reading"] == ALIKE].itertuples():
        difference = losses(row.less).mean() - losses(row.more).mean()
        assert row.value == pytest.approx(difference)


def test_printed_averages_are_those_of_the_scores() -> None:
    table = recounted.averages()
    assert len(table) == 21 + 8
    printed = table["published"].to_numpy()
    assert table["value"].to_numpy() == pytest.approx(printed, abs=0.01)


def test_numbers_of_reasoning_models_are_counted_in_the_tables(
    value: pd.Series,
) -> None:
    cells = []
    for label in REASONING:
        cells += SCORES[label]["direct"].values()
    better = sum(cell["MPS"] > cell["MCC"] for cell in cells)
    assert value["prints better than comments", ""] == better == len(cells)
    rows = []
    for sets in NUMBERS["tab04"]["values"].values():
        rows += sets.values()
    lengths = np.array(rows)
    longer = (lengths[:, [7, 10]] > lengths[:, [1]]).sum()
    assert value["longer under messages", ""] == longer
    hints = (lengths[:, 13] > lengths[:, 7]).sum()
    assert value["longer under hints than comments", ""] == hints
    assert value["longest", ""] == lengths[:, 2::3].max()
    assert value["models", ""] == len(MODELS) == 17
    settings = value["reasoning models", "settings of Table 4"]
    assert settings == len(REASONING) == 4
    assert value["reasoning models", "models of Table 4"] == 3
