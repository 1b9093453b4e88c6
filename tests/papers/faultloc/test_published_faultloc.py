"""What the published numbers say, computed another way from the same file."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest, norm, permutation_test, ttest_1samp

from codestress.papers.faultloc.results import paper, published
from codestress.paths import PUBLISHED
from told import names as told

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "faultloc.json").read_text())
TABLE, TASKS = NUMBERS["tab02"]["values"], NUMBERS["tab02"]["denominators"]
MODELS = NUMBERS["tab02"]["columns"]
BARS = NUMBERS["fig07"]["values"]
LACKS = NUMBERS["fig07"]["lacks"]
FLAGGED = {
    (one["language"], one["fault"], one["model"]) for one in NUMBERS["tab02"]["flagged"]
}
FLAGGED |= {
    (language, fault, model)
    for language, lacks in LACKS.items()
    for model, fault in lacks.items()
}


@pytest.fixture(scope="module")
def cells() -> pd.DataFrame:
    return published.cells(0.95)


def wilson(share: float, n: float) -> tuple[float, float]:
    """The shares that lie 1.96 standard errors from what was seen: the roots of a quadratic."""
    z2 = norm.ppf(0.975) ** 2
    low, high = sorted(np.roots([1 + z2 / n, -2 * share - z2 / n, share**2]).real)
    return low, high


def newcombe(
    first: float, first_n: float, second: float, second_n: float
) -> tuple[float, float]:
    (low, high), (below, above) = wilson(first, first_n), wilson(second, second_n)
    ends = (
        math.hypot(second - below, high - first),
        math.hypot(above - second, first - low),
    )
    return second - first - ends[0], second - first + ends[1]


def difference(language: str, model: str) -> float:
    """Returns minus the others, from counts of tasks."""
    place = MODELS.index(model)
    correct = {
        fault: TABLE[language][fault][place] / 100 * n
        for fault, n in TASKS[language].items()
    }
    one, n = correct.pop("MisplacedReturn"), TASKS[language]["MisplacedReturn"]
    return float(one / n - sum(correct.values()) / (sum(TASKS[language].values()) - n))


def test_table_2_has_every_cell_with_its_interval(cells: pd.DataFrame) -> None:
    assert len(cells) == 2 * 4 * 10
    assert {
        tuple(one)
        for one in cells[cells["flag"] != ""][["language", "fault", "label"]].to_numpy()
    } == FLAGGED
    for row in cells.itertuples():
        share, n = (
            TABLE[row.language][row.fault][MODELS.index(row.label)] / 100,
            TASKS[row.language][row.fault],
        )
        assert (row.accuracy, row.of) == pytest.approx((share, n))
        assert (row.low, row.high) == pytest.approx(wilson(share, n / 4), abs=1e-6)
    interval = binomtest(42, 100).proportion_ci(method="wilson")
    assert wilson(0.42, 100) == pytest.approx((interval.low, interval.high))


def test_returns_against_the_others(cells: pd.DataFrame) -> None:
    found = published.returns(cells, 0.95)
    assert len(found) == 18
    for row in found.itertuples():
        assert (row.language, "MisplacedReturn", row.label) not in FLAGGED
        assert row.difference == pytest.approx(difference(row.language, row.label))
        tasks = TASKS[row.language]
        others = sum(tasks.values()) - tasks["MisplacedReturn"]
        ends = newcombe(
            row.others, others / 12, row.returns, tasks["MisplacedReturn"] / 4
        )
        assert (row.low, row.high) == pytest.approx(ends, abs=1e-6)


def test_the_tests_are_paired_across_models(cells: pd.DataFrame) -> None:
    counts = published.localized(0.95)
    found = published.over_models(published.returns(cells, 0.95), counts, 0.95)
    python, java = BARS["python"], BARS["java"]
    whole = [model for model in python if model not in LACKS["java"]]
    assert len(whole) == 9
    differences = [
        [difference("python", model) for model in MODELS],
        [
            difference("java", model)
            for model in MODELS
            if ("java", "MisplacedReturn", model) not in FLAGGED
        ],
        [
            python[model]["pf_localized"] / python[model]["total"]
            - java[model]["pf_localized"] / java[model]["total"]
            for model in whole
        ],
    ]
    p = []
    for row, values in zip(found.itertuples(), differences, strict=True):
        interval = ttest_1samp(values, 0).confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx((interval.low, interval.high))
        every = permutation_test(
            (values,), np.mean, permutation_type="samples", n_resamples=np.inf
        )
        assert row.p == pytest.approx(float(every.pvalue))
        p.append(float(every.pvalue))
    order = np.argsort(p)
    steps = [p[one] <= 0.05 / (3 - step) for step, one in enumerate(order)]
    assert [bool(found["decided"][one]) for one in order] == list(
        np.minimum.accumulate(steps)
    )
    assert list(found["decided"]) == [False, False, True]


def test_counts_by_language_are_figure_7s() -> None:
    found = published.localized(0.95)
    programs = {
        language: sum(bars) for language, bars in NUMBERS["fig05"]["values"].items()
    }
    assert len(found) == 20
    for row in found.itertuples():
        bar = BARS[row.language][row.label]
        assert (row.total, row.pf_localized, row.pf_spm_localized) == tuple(
            bar.values()
        )
        assert (row.low, row.high) == pytest.approx(
            wilson(row.pf_localized / row.total, programs[row.language]), abs=1e-6
        )
    lacking = found[found["lacks"].notna()]
    assert lacking[["language", "label", "lacks"]].to_numpy().tolist() == [
        ["java", "GPT-4o", "MisplacedReturn"]
    ]


def test_a_missing_bar_is_no_zero() -> None:
    """Figure 7's bars of GPT-4o in Java are Table II's of the other three faults, to the task."""
    place = MODELS.index("GPT-4o")
    found = {
        fault: TABLE["java"][fault][place] / 100 * n
        for fault, n in TASKS["java"].items()
    }
    assert (
        0.2 < found.pop("MisplacedReturn") % 1 < 0.8
    )  # no number of tasks out of 1,471
    assert sum(map(round, found.values())) == BARS["java"]["GPT-4o"]["pf_localized"]
    flags = paper.published_localization().set_index(["language", "fault", "label"])[
        "flag"
    ]
    told(flags["java", "MisplacedReturn", "GPT-4o"], "missing", "Figure 7")
    told(flags["java", "MisplacedReturn", "Claude-3.7-Sonnet"], "Figure 7", "42.22")
