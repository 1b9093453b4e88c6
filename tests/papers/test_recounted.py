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


def test_fault_localization_by_its_own_cells() -> None:
    found = values(faults.recounted())
    bars = pd.DataFrame(FAULTLOC["fig06"]["values"])
    for name in ("names", "comments", "dead_code"):
        assert found[f"accuracy under {name}", ""] == pytest.approx(
            bars.loc[name].mean()
        )
    six = [*bars.mean(axis=1), 17]
    assert found["lost", "its five bars and function shuffling"] == pytest.approx(
        100 - np.mean(six)
    )
    assert found["lost", "its five bars"] == pytest.approx(76.749, abs=0.001)
    kept = {
        language: pd.Series(
            {
                name: one["pf_spm_localized"] / one["pf_localized"]
                for name, one in models.items()
            }
        )
        for language, models in FAULTLOC["fig07"]["values"].items()
    }
    gap = 100 * (kept["python"] - kept["java"])
    wider = gap.drop(OPEN).mean() - gap[OPEN].mean()
    assert found[
        "wider gap of closed models", "third bars by the second"
    ] == pytest.approx(wider)
    assert found["worse in Java", "third bars by the second"] == (gap > 0).sum() == 10
    assert found["lost, Java - Python", "third bars by the second"] == pytest.approx(
        gap.mean()
    )


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
    for reading, means in (
        ("its tasks together", together),
        ("its cells alike", alike),
    ):
        more = means["java"] - means["python"]
        assert found["Java - Python", reading] == pytest.approx(more.mean())
        assert (
            found["better in Python, but Claude", reading]
            == (more.filter(regex="^(?!Claude)") < 0).sum()
        )
    right = {one: (shares[one] / 100 * tasks[one]).sum(axis=1) for one in shares}
    every = 100 * sum(right.values()) / sum(one.sum() for one in tasks.values())
    rest = every.filter(regex="^(?!Claude|Gemini 1.5|GPT)")
    assert found["GPT-4o next", "its tasks together"] == pytest.approx(
        every["GPT-4o"] - rest.max()
    )
    bars = pd.Series(
        {
            name: one["pf_localized"]
            for name, one in FAULTLOC["fig07"]["values"]["java"].items()
        }
    )
    spelled = dict.fromkeys(bars.index, "") | {
        name: name.replace(" ", "-") for name in bars.filter(like="Sonnet").index
    }
    apart = [
        name
        for name in bars.index
        if spelled[name] and abs(bars[name] - right["java"][spelled[name]]) > 1
    ]
    assert apart == ["Claude 3.7 Sonnet"]
    assert abs(bars["GPT-4o"] - right["java"]["GPT-4o"]) > 1
    assert found["models alike in Table II and Figure 7, java", ""] == 8


def test_crash_orders_by_the_published_scores() -> None:
    found = values(crash.recounted())
    lost = {
        name: np.array([scores(label, "direct", name) for label in MODELS])
        for name in CODECRASH["problems"]
    }
    one, other = lost["cruxeval"], lost["livecodebench"]
    mean = (800 * one + 479 * other).mean(axis=0) / 1279
    assert found[
        "PSC-ALL ahead", "relative losses, each problem alike"
    ] == pytest.approx(mean[0] - mean[1:].max())
    alike = (one + other).mean(axis=0) / 2
    assert found[
        "PSC-ALL ahead", "relative losses, both data sets alike"
    ] == pytest.approx(alike[0] - alike[1:].max())
    assert found["MHC, LiveCodeBench - CRUXEval", ""] == pytest.approx(
        (other - one)[:, 3].mean()
    )
    more = one > other
    assert (
        found["same data set for both messages", ""] == (more[:, 1] == more[:, 2]).sum()
    )
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
    for row in sizes[
        sizes["reading"] == "relative losses, both data sets alike"
    ].itertuples():
        means = [
            np.mean(
                [
                    scores(label, "direct", dataset).mean()
                    for dataset in CODECRASH["problems"]
                ]
            )
            for label in (row.less, row.more)
        ]
        assert row.value == pytest.approx(means[0] - means[1])
    table = crash.averages()
    assert len(table) == 21 + 8
    assert table["value"].to_numpy() == pytest.approx(
        table["published"].to_numpy(), abs=0.01
    )


def test_reasoning_models_by_the_published_scores() -> None:
    found = values(crash.recounted())
    cells = [
        modes["direct"][name]
        for modes in SCORES.values()
        if "cot" not in modes
        for name in modes["direct"]
    ]
    assert (
        found["prints better than comments", ""]
        == sum(one["MPS"] > one["MCC"] for one in cells)
        == len(cells)
    )
    rows = [
        row for sets in CODECRASH["tab04"]["values"].values() for row in sets.values()
    ]
    assert found["longer under messages", ""] == sum(
        (row[7] > row[1]) + (row[10] > row[1]) for row in rows
    )
    assert found["longer under hints than comments", ""] == sum(
        row[13] > row[7] for row in rows
    )
    assert found["longest", ""] == max(
        max(row[2], row[5], row[8], row[11], row[14]) for row in rows
    )
    assert found["models", ""] == len(MODELS) == 17
    assert (
        found["reasoning models", "settings of Table 4"]
        == len(CODECRASH["tab04"]["values"])
        == 4
    )
    assert found["reasoning models", "models of Table 4"] == 3
