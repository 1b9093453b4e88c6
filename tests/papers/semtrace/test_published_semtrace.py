"""What Tables 1 and 2 say, computed another way from the same file."""

import json
from itertools import product
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binomtest, chi2_contingency, kendalltau

from codestress.papers.semtrace.results import published
from codestress.paths import PUBLISHED

NUMBERS: dict[str, Any] = json.loads((PUBLISHED / "semtrace.json").read_text())
PLAIN, KEYED = NUMBERS["tab01"]["values"], NUMBERS["tab02"]["values"]
BENCHMARKS = NUMBERS["tab01"]["columns"]


def n_problems(model: str) -> int:
    return 100 if model.startswith("gpt") else 800


def correct(model: str, column: int, table: dict[str, list[float]]) -> int:
    return round(table[model][column] / 100 * n_problems(model))


def p_value(first: int, second: int) -> float:
    """The chi-squared test of two counts, each of 800; its root is the pooled z."""
    cells = [[right, 800 - right] for right in (first, second)]
    return float(chi2_contingency(cells, correction=False).pvalue)


def rejected(p: dict[Any, float]) -> set[Any]:
    """Holm's step-down."""
    ordered = sorted(p, key=p.__getitem__)
    for step, cell in enumerate(ordered):
        if p[cell] > 0.05 / (len(ordered) - step):
            return set(ordered[:step])
    return set(ordered)


@pytest.fixture(scope="module")
def scores() -> pd.DataFrame:
    return published.scores(0.95)


def test_counts_are_whole_numbers_and_intervals_wilsons(scores: pd.DataFrame) -> None:
    assert len(scores) == 10 * 3 + 9 * 2
    for row in scores.itertuples():
        printed, column = KEYED if row.keys else PLAIN, BENCHMARKS.index(row.task)
        count = correct(row.model, column, printed)
        assert abs(100 * count / row.n - printed[row.model][column]) <= 0.0051
        assert row.n == n_problems(row.model)
        low, high = binomtest(count, row.n).proportion_ci(method="wilson")
        expected = pytest.approx((count / row.n, low, high))
        assert (row.share, row.low, row.high) == expected


def test_what_keys_do(scores: pd.DataFrame) -> None:
    result = published.with_keys(scores, 0.95)
    p = {}
    for model, (column, task) in product(KEYED, enumerate(BENCHMARKS[:2])):
        counts = (correct(model, column, table) for table in (PLAIN, KEYED))
        p[model, task] = p_value(*counts)
    assert len(result) == len(p) == 18
    assert rejected(p) == {("deepseek-coder-v2", "CRUXEval-I")}
    for row in result.itertuples():
        assert row.p == pytest.approx(p[row.model, row.task])
        assert row.decided == ((row.model, row.task) in rejected(p))
        assert row.low < row.difference < row.high


def test_how_benchmarks_order_the_models(scores: pd.DataFrame) -> None:
    table = published.orders(scores, 0.95, 0)
    values = pd.DataFrame(PLAIN, BENCHMARKS).T
    for row in table.itertuples():
        expected = kendalltau(values[row.first], values[row.second])
        assert row.correlation == pytest.approx(expected.statistic)
        assert row.p == pytest.approx(expected.pvalue, abs=0.02)
    assert list(table["decided"]) == [False, False, True]
