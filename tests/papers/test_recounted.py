"""What the papers' texts state of their own tables, worked out another way from the same files."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.papers.codecrash.results import recounted as crash
from codestress.papers.faultloc.results import recounted as faults
from codestress.paths import PUBLISHED

FAULTLOC: dict[str, Any] = json.loads((PUBLISHED / "faultloc.json").read_text())
CODECRASH: dict[str, Any] = json.loads((PUBLISHED / "codecrash.json").read_text())
SCORES = CODECRASH["pass_at_1"]["values"]
MODELS = [label for label, modes in SCORES.items() if "cot" in modes]
FOUR = ["PSC-ALL", "MCC", "MPS", "MHC"]
OPEN = ["Llama 3.1", "Phi-4", "Qwen QwQ", "Qwen 2.5 coder"]


def values(table: pd.DataFrame) -> dict[tuple[str, str], float]:
    return table.set_index(["number", "reading"])["value"].to_dict()


def scores(label: str, mode: str, dataset: str) -> np.ndarray:
    cells = SCORES[label][mode][dataset]
    return np.array([1 - cells[name] / cells["VAN"] for name in FOUR]) * 100


def check(found: dict[tuple[str, str], float], reading: str, **values: float) -> None:
    """Compares numbers of one reading; an underscore in a name is a blank."""
    own = {name.replace("_", " "): value for name, value in values.items()}
    assert {name: found[name, reading] for name in own} == pytest.approx(own)


def test_fault_localization_by_its_own_cells() -> None:
    found = values(faults.recounted())
    bars = pd.DataFrame(FAULTLOC["fig06"]["values"])
    for name in ("names", "comments", "dead_code"):
        mean = pytest.approx(bars.loc[name].mean())
        assert found[f"accuracy under {name}", ""] == mean
    six = [*bars.mean(axis=1), 17]
    check(found, "its five bars and function shuffling", lost=100 - np.mean(six))
    check(found, "its five bars", lost=100 - bars.mean(axis=1).mean())
    counts = {one: pd.DataFrame(bars).T for one, bars in BARS.items()}
    kept = {
        one: bars["pf_spm_localized"] / bars["pf_localized"]
        for one, bars in counts.items()
    }
    gap = 100 * (kept["python"] - kept["java"])
    reading = "third bars by the second"
    wider = gap.drop(OPEN).mean() - gap[OPEN].mean()
    check(found, reading, wider_gap_of_closed_models=wider, worse_in_Java=10)
    assert (gap > 0).sum() == 10
    assert found["lost, Java - Python", reading] == pytest.approx(gap.mean())


def test_table_two_by_its_own_cells() -> None:
    found = values(faults.recounted())
    table = FAULTLOC["tab02"]
    shares = {
        one: pd.DataFrame(cells, index=table["columns"])
        for one, cells in table["values"].items()
    }
    tasks = {one: pd.Series(cells) for one, cells in table["denominators"].items()}
    together = {one: shares[one] @ tasks[one] / tasks[one].sum() for one in shares}
    alike = {one: cells.mean(axis=1) for one, cells in shares.items()}
    readings = {"its tasks together": together, "its cells alike": alike}
    for reading, means in readings.items():
        more = means["java"] - means["python"]
        assert found["Java - Python", reading] == pytest.approx(more.mean())
        better = (more.filter(regex="^(?!Claude)") < 0).sum()
        assert found["better in Python, but Claude", reading] == better
    right = {one: (shares[one] / 100 * tasks[one]).sum(axis=1) for one in shares}
    every = 100 * sum(right.values()) / sum(one.sum() for one in tasks.values())
    rest = every.filter(regex="^(?!Claude|Gemini 1.5|GPT)")
    ahead = pytest.approx(every["GPT-4o"] - rest.max())
    assert found["GPT-4o next", "its tasks together"] == ahead
    # Claude's models are spelled in two ways.
    bars = pd.DataFrame(BARS["java"]).T["pf_localized"]
    bars = bars.rename(
        lambda name: name.replace(" ", "-") if "Claude" in name else name
    )
    apart = (bars - right["java"]).abs() > 1
    assert set(apart[apart].index) == {"Claude-3.7-Sonnet", "GPT-4o"}
    assert found["models alike in Table II and Figure 7, java", ""] == 8


def test_crash_orders_by_the_published_scores() -> None:
    found = values(crash.recounted())
    one, other = (
        np.array([scores(label, "direct", name) for label in MODELS])
        for name in CODECRASH["problems"]
    )
    means = {
        "relative losses, each problem alike": (800 * one + 479 * other) / 1279,
        "relative losses, both data sets alike": (one + other) / 2,
    }
    for reading, lost in means.items():
        mean = lost.mean(axis=0)
        check(found, reading, **{"PSC-ALL ahead": mean[0] - mean[1:].max()})
    gap = (other - one)[:, 3].mean()
    assert found["MHC, LiveCodeBench - CRUXEval", ""] == pytest.approx(gap)
    more = one > other
    same = (more[:, 1] == more[:, 2]).sum()
    assert found["same data set for both messages", ""] == same
    first, second = one[:, 1] > one[:, 2], other[:, 1] > other[:, 2]
    assert found["same message on both data sets", ""] == (first == second).sum()
    easier = 0.0
    for label in MODELS:
        for name, n in CODECRASH["problems"].items():
            direct, cot = (
                SCORES[label][mode][name]["VAN"] for mode in ("direct", "cot")
            )
            easier += n * (cot - direct) / 1279 / 17
    assert found["vanilla, step by step - direct", ""] == pytest.approx(easier)


def test_crash_sizes_and_averages_by_the_published_scores() -> None:
    sizes = crash.by_size()
    assert len(sizes) == 3 * len(CODECRASH["scaling"]["values"])

    def lost(label: str) -> float:
        sets = [scores(label, "direct", name) for name in CODECRASH["problems"]]
        return float(np.mean(sets))

    alike = sizes["reading"] == "relative losses, both data sets alike"
    for row in sizes[alike].itertuples():
        assert row.value == pytest.approx(lost(row.less) - lost(row.more))
    table = crash.averages()
    assert len(table) == 21 + 8
    printed = pytest.approx(table["published"].to_numpy(), abs=0.01)
    assert table["value"].to_numpy() == printed


def test_reasoning_models_by_the_published_scores() -> None:
    found = values(crash.recounted())
    cells = [
        cells
        for modes in SCORES.values()
        if "cot" not in modes
        for cells in modes["direct"].values()
    ]
    better = sum(one["MPS"] > one["MCC"] for one in cells)
    table = CODECRASH["tab04"]["values"]
    rows = np.array([row for sets in table.values() for row in sets.values()])
    longer = (rows[:, [7, 10]] > rows[:, [1]]).sum()
    check(
        found,
        "",
        prints_better_than_comments=better,
        longer_under_messages=longer,
        longer_under_hints_than_comments=(rows[:, 13] > rows[:, 7]).sum(),
        longest=rows[:, 2::3].max(),
        models=17,
    )
    assert better == len(cells)
    assert len(MODELS) == 17
    check(found, "settings of Table 4", reasoning_models=4)
    check(found, "models of Table 4", reasoning_models=3)
    assert len(table) == 4


BARS = FAULTLOC["fig07"]["values"]
