"""Numbers that the paper's text states of its own figures and Table II, computed another
way from the same file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.papers.faultloc.results import recounted
from codestress.paths import PUBLISHED

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "faultloc.json").read_text())
OPEN = ["Llama 3.1", "Phi-4", "Qwen QwQ", "Qwen 2.5 coder"]
CLAUDE = "^Claude"


@pytest.fixture(scope="module")
def value() -> pd.Series:
    """The values by number and reading."""
    return recounted.recounted().set_index(["number", "reading"])["value"]


def test_accuracies_are_means_of_the_bars(value: pd.Series) -> None:
    means = pd.DataFrame(NUMBERS["fig06"]["values"]).mean(axis=1)
    for name in ("names", "comments", "dead_code"):
        assert value[f"accuracy under {name}", ""] == pytest.approx(means[name])
    assert value["lost", "its five bars"] == pytest.approx(100 - means.mean())
    with_shuffling = 100 - np.mean([*means, 17])
    reading = "its five bars and function shuffling"
    assert value["lost", reading] == pytest.approx(with_shuffling)


def test_java_and_closed_models_lose_more(value: pd.Series) -> None:
    shares = {}
    for language, bars in NUMBERS["fig07"]["values"].items():
        counts = pd.DataFrame(bars).T
        shares[language] = counts["pf_spm_localized"] / counts["pf_localized"]
    gap = 100 * (shares["python"] - shares["java"])
    numbers = value.xs("third bars by the second", level="reading")
    assert numbers["lost, Java - Python"] == pytest.approx(gap.mean())
    assert numbers["worse in Java"] == (gap > 0).sum() == 10
    wider = gap.drop(OPEN).mean() - gap[OPEN].mean()
    assert numbers["wider gap of closed models"] == pytest.approx(wider)


def test_table_two_is_read_by_tasks_and_by_cells(value: pd.Series) -> None:
    table = NUMBERS["tab02"]
    by_tasks, by_cells, right, tasks = {}, {}, 0.0, 0
    for language, cells in table["values"].items():
        shares = pd.DataFrame(cells, index=table["columns"])
        counts = pd.Series(table["denominators"][language])
        by_tasks[language] = shares @ counts / counts.sum()
        by_cells[language] = shares.mean(axis=1)
        right += shares @ counts
        tasks += counts.sum()
    readings = {"its tasks together": by_tasks, "its cells alike": by_cells}
    for reading, means in readings.items():
        more = means["java"] - means["python"]
        assert value["Java - Python", reading] == pytest.approx(more.mean())
        better = (more[~more.index.str.match(CLAUDE)] < 0).sum()
        assert value["better in Python, but Claude", reading] == better
    accuracy = right / tasks
    rest = accuracy[~accuracy.index.str.match(f"{CLAUDE}|Gemini 1.5|GPT")]
    ahead = accuracy["GPT-4o"] - rest.max()
    assert value["GPT-4o next", "its tasks together"] == pytest.approx(ahead)
    assert value["models alike in Table II and Figure 7, java", ""] == 8
