"""What the published numbers say, computed another way from the same file."""

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
} | {("java", "MisplacedReturn", "GPT-4o")}


@pytest.fixture(scope="module")
def cells() -> pd.DataFrame:
    return paper.published_localization(0.95)


def wilson(share: float, n: float) -> tuple[float, float]:
    """The shares that lie 1.96 standard errors from what was seen: the roots of a quadratic."""
    z2 = norm.ppf(0.975) ** 2
    low, high = sorted(np.roots([1 + z2 / n, -2 * share - z2 / n, share**2]).real)
    return low, high


def newcombe(
    first: float, first_n: float, second: float, second_n: float
) -> tuple[float, float]:
    (low, high), (below, above) = wilson(first, first_n), wilson(second, second_n)
    down = math.hypot(second - below, high - first)
    up = math.hypot(above - second, first - low)
    return second - first - down, second - first + up


def right(language: str, model: str) -> dict[str, float]:
    """Localized tasks of Table II by fault."""
    place = MODELS.index(model)
    tasks = TASKS[language]
    return {name: TABLE[language][name][place] / 100 * n for name, n in tasks.items()}


def difference(language: str, model: str) -> float:
    """Returns minus the others, from counts of tasks."""
    found, tasks = right(language, model), TASKS[language]
    one, n = found.pop("MisplacedReturn"), tasks["MisplacedReturn"]
    return one / n - sum(found.values()) / (sum(tasks.values()) - n)


def test_table_2_has_every_cell_with_its_interval(cells: pd.DataFrame) -> None:
    assert len(cells) == 2 * 4 * 10
    flagged = cells[cells["flag"] != ""][["language", "fault", "label"]]
    assert {*flagged.itertuples(index=False, name=None)} == FLAGGED
    for row in cells.itertuples():
        n = TASKS[row.language][row.fault]
        share = right(row.language, row.label)[row.fault] / n
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
        n = TASKS[row.language]["MisplacedReturn"]
        others = sum(TASKS[row.language].values()) - n
        ends = newcombe(row.others, others / 12, row.returns, n / 4)
        assert (row.low, row.high) == pytest.approx(ends, abs=1e-6)


def test_the_tests_are_paired_across_models(cells: pd.DataFrame) -> None:
    counts = published.localized(0.95)
    found = published.over_models(published.returns(cells, 0.95), counts, 0.95)
    differences, bars = [], {}
    for language in ("python", "java"):
        plain = [
            one for one in MODELS if (language, "MisplacedReturn", one) not in FLAGGED
        ]
        differences.append([difference(language, model) for model in plain])
        own = BARS[language].items()
        bars[language] = {one: bar["pf_localized"] / bar["total"] for one, bar in own}
    whole = [model for model in bars["python"] if model not in LACKS["java"]]
    assert len(whole) == 9
    differences.append([bars["python"][one] - bars["java"][one] for one in whole])
    p = []
    for row, values in zip(found.itertuples(), differences, strict=True):
        interval = ttest_1samp(values, 0).confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx((interval.low, interval.high))
        how = {"permutation_type": "samples", "n_resamples": np.inf}
        p.append(permutation_test((values,), np.mean, **how).pvalue)
    assert found["p"].tolist() == pytest.approx(p)
    # Holm: the smallest of three at a third of the level.
    assert min(p) == p[2] < 0.05 / 3
    assert min(p[:2]) > 0.05 / 2
    assert list(found["decided"]) == [False, False, True]


def test_counts_by_language_are_figure_7s() -> None:
    found = published.localized(0.95)
    assert len(found) == 20
    for row in found.itertuples():
        counts = row.total, row.pf_localized, row.pf_spm_localized
        assert counts == tuple(BARS[row.language][row.label].values())
        programs = sum(NUMBERS["fig05"]["values"][row.language])
        ends = wilson(row.pf_localized / row.total, programs)
        assert (row.low, row.high) == pytest.approx(ends, abs=1e-6)
    lacking = found.dropna(subset="lacks")[["language", "label", "lacks"]]
    assert lacking.to_numpy().tolist() == [["java", "GPT-4o", "MisplacedReturn"]]


def test_a_missing_bar_is_no_zero() -> None:
    """Figure 7's bars of GPT-4o in Java are Table II's of the other three faults, to the task."""
    found = right("java", "GPT-4o")
    # No number of tasks out of 1,471.
    assert 0.2 < found.pop("MisplacedReturn") % 1 < 0.8
    assert sum(map(round, found.values())) == BARS["java"]["GPT-4o"]["pf_localized"]
    cells = paper.published_localization().query("fault == 'MisplacedReturn'")
    flags = cells.set_index(["language", "label"])["flag"]
    told(flags["java", "GPT-4o"], "missing", "Figure 7")
    told(flags["java", "Claude-3.7-Sonnet"], "Figure 7", "42.22")
