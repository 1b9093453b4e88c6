"""What Tables 1 and 2 say, computed another way from the same file."""

import json
from itertools import product
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest, chi2_contingency, kendalltau, ttest_1samp, wilcoxon

from codestress.papers.semtrace.results import published
from codestress.paths import PUBLISHED

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "semtrace.json").read_text())
PLAIN, KEYED = NUMBERS["tab01"]["values"], NUMBERS["tab02"]["values"]
BENCHMARKS = NUMBERS["tab01"]["columns"]


def asked(model: str) -> int:
    return 100 if model.startswith("gpt") else 800


def correct(model: str, column: int, table: dict[str, list[float]]) -> int:
    return round(table[model][column] / 100 * asked(model))


def p_value(one: int, other: int) -> float:
    """The chi-squared test of two counts, each of 800; its root is the pooled z."""
    cells = [[right, 800 - right] for right in (one, other)]
    return float(chi2_contingency(cells, correction=False).pvalue)


def rejected(p: dict[Any, float]) -> set[Any]:
    """Holm's step-down."""
    ordered = sorted(p, key=p.__getitem__)
    steps = [p[one] <= 0.05 / (len(ordered) - step) for step, one in enumerate(ordered)]
    return set(ordered[: steps.index(False)] if False in steps else ordered)


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return published.scores(0.95)


def test_counts_are_whole_numbers_and_intervals_wilsons(scores: pd.DataFrame) -> None:
    assert len(scores) == 10 * 3 + 9 * 2
    for row in scores.itertuples():
        table, column = KEYED if row.keys else PLAIN, BENCHMARKS.index(row.task)
        count = correct(row.model, column, table)
        assert abs(100 * count / row.n - table[row.model][column]) <= 0.0051
        assert row.n == asked(row.model)
        low, high = binomtest(count, row.n).proportion_ci(method="wilson")
        found = (row.share, row.low, row.high)
        assert found == pytest.approx((count / row.n, low, high))


def test_what_keys_do(scores: pd.DataFrame) -> None:
    found = published.with_keys(scores, 0.95)
    p = {}
    for model, (column, task) in product(KEYED, enumerate(BENCHMARKS[:2])):
        counts = (correct(model, column, table) for table in (PLAIN, KEYED))
        p[model, task] = p_value(*counts)
    assert len(found) == len(p) == 18
    assert rejected(p) == {("deepseek-coder-v2", "CRUXEval-I")}
    for row in found.itertuples():
        assert row.p == pytest.approx(p[row.model, row.task])
        assert row.decided == ((row.model, row.task) in rejected(p))
        assert row.low < row.difference < row.high
    for row in published.over_models(found, 0.95).itertuples():
        column = BENCHMARKS.index(row.task)
        change = [(KEYED[one][column] - PLAIN[one][column]) / 100 for one in KEYED]
        low, high = ttest_1samp(change, 0).confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx((low, high), abs=2e-4)
        signed = wilcoxon(change, method="approx").pvalue
        assert row.p == pytest.approx(float(signed), abs=0.07)
        assert not row.decided


def test_how_benchmarks_order_the_models(scores: pd.DataFrame) -> None:
    found = published.orders(scores, 0.95, 0)
    values = pd.DataFrame(PLAIN, BENCHMARKS).T
    for row in found.itertuples():
        plain = kendalltau(values[row.first], values[row.second])
        assert row.correlation == pytest.approx(plain.statistic)
        assert row.p == pytest.approx(plain.pvalue, abs=0.02)
    assert list(found["decided"]) == [False, False, True]
