"""What Tables 1 and 2 say, computed another way from the same file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
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


def p_value(one: tuple[int, int], other: tuple[int, int]) -> float:
    """Of two counts, each correct of asked: the chi-squared test, whose root is the pooled z."""
    cells = [[right, n - right] for right, n in (one, other)]
    return (
        float(chi2_contingency(cells, correction=False).pvalue)
        if one[0] * other[1] != other[0] * one[1]
        else 1.0
    )


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
        table = KEYED if row.keys else PLAIN
        count = correct(row.model, BENCHMARKS.index(row.task), table)
        assert (
            abs(100 * count / row.n - table[row.model][BENCHMARKS.index(row.task)])
            <= 0.0051
        )
        assert row.n == asked(row.model)
        interval = binomtest(count, row.n).proportion_ci(method="wilson")
        assert (row.share, row.low, row.high) == pytest.approx(
            (count / row.n, interval.low, interval.high)
        )


def test_what_keys_do(scores: pd.DataFrame) -> None:
    found = published.with_keys(scores, 0.95)
    p = {
        (model, task): p_value(
            (correct(model, task, PLAIN), 800), (correct(model, task, KEYED), 800)
        )
        for model in KEYED
        for task in (0, 1)
    }
    assert len(found) == len(p) == 18
    for row in found.itertuples():
        key = (row.model, BENCHMARKS.index(row.task))
        assert row.p == pytest.approx(p[key])
        assert row.decided == (key in rejected(p))
        assert row.low < row.difference < row.high
    assert rejected(p) == {("deepseek-coder-v2", 0)}
    for row in published.over_models(found, 0.95).itertuples():
        column = BENCHMARKS.index(row.task)
        change = [
            (KEYED[model][column] - PLAIN[model][column]) / 100 for model in KEYED
        ]
        interval = ttest_1samp(change, 0).confidence_interval(0.95)
        assert (row.low, row.high) == pytest.approx(
            (interval.low, interval.high), abs=2e-4
        )
        assert row.p == pytest.approx(
            float(wilcoxon(change, method="approx").pvalue), abs=0.07
        )
        assert not row.decided


def test_newcombes_interval_covers() -> None:
    draws = np.random.default_rng(2)
    first, second = draws.binomial(800, [0.37, 0.29], (400, 2)).T / 800
    ends = [
        published.newcombe(a, 800, b, 800) for a, b in zip(first, second, strict=True)
    ]
    assert 0.92 <= np.mean([low <= -0.08 <= high for low, high in ends]) <= 0.98


def test_how_benchmarks_order_the_models(scores: pd.DataFrame) -> None:
    found = published.orders(scores, 0.95, 0)
    for row in found.itertuples():
        one, other = BENCHMARKS.index(row.first), BENCHMARKS.index(row.second)
        plain = kendalltau(
            *([PLAIN[model][column] for model in PLAIN] for column in (one, other))
        )
        assert row.correlation == pytest.approx(plain.statistic)
        assert row.p == pytest.approx(plain.pvalue, abs=0.02)
    assert list(found["decided"]) == [False, False, True]
