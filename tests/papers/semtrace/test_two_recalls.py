"""Lexical against semantic recall by model (section 3.3)."""

from __future__ import annotations

import json
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import mannwhitneyu

from codestress.errors import ParameterError
from codestress.fitting.significance import pair_signs
from codestress.papers.semtrace.charts import recall_panels
from codestress.papers.semtrace.results import two_recalls
from codestress.paths import PUBLISHED
from conftest import some
from told import names, refused

TASKS = (
    ("generated", "line_retrieval"),
    ("generated", "function_retrieval"),
    ("semtrace", "output_prediction"),
)


def answers(
    chances: dict[str, tuple[float, float, float]], problems: int = 60, places: int = 3
) -> pd.DataFrame:
    """By model, its chance of a line, a function and a SemTrace; partial matches are half of the way to 1."""
    draws = np.random.default_rng(0)
    rows = []
    for (model, own), number, place in product(
        chances.items(), range(problems), range(places)
    ):
        for (dataset, task), chance in zip(TASKS, own, strict=True):
            right = float(draws.random() < chance)
            place_of = {"problem": f"{dataset}-{number}", "depth": place / (places - 1)}
            rows.append(
                {
                    "model": model,
                    "dataset": dataset,
                    "task": task,
                    **place_of,
                    "value_strict": right,
                }
            )
    table = pd.DataFrame(rows)
    return table.assign(value_partial=(1 + table["value_strict"]) / 2)


APART = {
    "a": (0.9, 0.1, 0.9),
    "b": (0.7, 0.3, 0.7),
    "c": (0.5, 0.5, 0.5),
    "d": (0.3, 0.7, 0.3),
    "e": (0.1, 0.9, 0.1),
}


def test_models_in_one_order_and_in_opposite_ones() -> None:
    found = two_recalls.correlations(
        two_recalls.recall_scores(answers(APART), "all"), 0.95, 0
    )
    exact = found[found["other"] == "SemTrace"].set_index("lexical")
    assert list(exact["tau"]) == [1, -1]
    assert exact["p"].tolist() == pytest.approx([2 / 120] * 2)
    assert (exact["alike"] + exact["opposite"] + exact["open"] == exact["pairs"]).all()
    assert (
        exact.loc["line retrieval", "alike"]
        >= 8
        > exact.loc["line retrieval", "opposite"]
        == 0
    )
    assert (
        exact.loc["function retrieval", "opposite"]
        >= 8
        > exact.loc["function retrieval", "alike"]
        == 0
    )
    assert exact.loc["line retrieval", "among_high"] == 1
    assert {"SemTrace", "SemTrace, partial matches"} == set(found["other"])
    taus = (" 1.00 (line retrieval)", "-1.00 (function retrieval)")
    names(two_recalls.headline(found), "Too few models", "SemTrace", *taus)


@pytest.mark.slow
def test_models_that_are_all_alike_wrong_or_alone_say_nothing() -> None:
    for chances in ({"a": (0, 0, 0), "b": (0, 0, 0)}, {"a": (0.5, 0.5, 0.5)}):
        measures = two_recalls.recall_scores(answers(chances), "all")
        found = two_recalls.correlations(measures, 0.95, 0)
        assert found["tau"].isna().all()
        assert not found["decided"].any()
        assert (found["alike"] + found["opposite"] == 0).all()
        printed = two_recalls.published_recalls(0.95)
        told = two_recalls.published_correlations(printed, 0.95, 0)
        figure = recall_panels(
            two_recalls.recall_shares(measures, 0.95), found, printed, told
        )
        figure.draw_without_rendering()


def test_the_middle_is_asked_for_by_name() -> None:
    table = answers({"a": (0.5, 0.5, 0.5)}, problems=4, places=3)
    table["value_strict"] = (table["depth"] == 0.5).astype(float)
    whole, middle = (
        two_recalls.recall_scores(table, places) for places in ("all", "middle")
    )
    assert whole["SemTrace"].to_numpy() == pytest.approx(1 / 3)
    assert (middle["SemTrace"].to_numpy() == 1).all()
    with refused(ParameterError, "places", "'middle'"):
        two_recalls.recall_scores(table[table["depth"] == 0], "middle")
    with refused(ParameterError, "problems", "tasks"):
        two_recalls.recall_scores(table[table["dataset"] == "semtrace"], "all")


def test_pairs_that_are_told_apart_bound_the_order_of_the_models() -> None:
    draws, held, studies = np.random.default_rng(2), 0, some(range(100), 4)
    for _ in studies:
        chances = draws.uniform(0.1, 0.9, (2, 5))
        tables = [
            pd.DataFrame((draws.random((50, 5)) < side) * 1.0) for side in chances
        ]
        found = two_recalls.ordered_alike(tables[0], tables[1], 0.95)
        truth = float((pair_signs(chances[0]) * pair_signs(chances[1])).mean())
        held += found["among_low"] - 1e-9 <= truth <= found["among_high"] + 1e-9
    assert held >= 0.95 * len(studies)


def test_what_the_paper_prints_of_both_recalls() -> None:
    """Section 3.2's names beside Table 1, counted another way."""
    semtrace = {
        name: row[2]
        for name, row in json.loads((PUBLISHED / "semtrace.json").read_text())["tab01"][
            "values"
        ].items()
    }
    named = {
        "line retrieval": {"gpt-4.1-2025-04-14", "gemma-3-27b", "qwen2.5-coder-32b"}
    }
    named["function retrieval"] = set(semtrace) - {
        "llama-3.1-8b",
        "deepseek-coder-v2-lite",
        "qwen2.5-coder-7b",
    }
    printed = two_recalls.published_recalls(0.95)
    for row in two_recalls.published_correlations(printed, 0.95, 0).itertuples():
        stronger = named[row.measure]
        pairs = [
            (a, b)
            for a, b in combinations(semtrace, 2)
            if (a in stronger) != (b in stronger)
        ]
        higher = sum((semtrace[a] > semtrace[b]) == (a in stronger) for a, b in pairs)
        assert (row.stronger_higher, row.pairs) == (higher, len(pairs))
        sides = [
            [semtrace[name] for name in semtrace if (name in stronger) == side]
            for side in (True, False)
        ]
        assert row.p == pytest.approx(
            float(mannwhitneyu(*sides, method="exact").pvalue), abs=0.01
        )
        assert not row.decided
    groups = printed.groupby(["measure", "group"]).size().to_dict()
    assert (
        groups["line retrieval", "“stable”"]
        == groups["function retrieval", "“sensitivity”"]
        == 3
    )
