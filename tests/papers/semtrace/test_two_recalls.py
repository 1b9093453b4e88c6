"""Lexical against semantic recall by model (section 3.3)."""

import numpy as np
import pandas as pd
import pytest
from small_study import crossed

from codestress.errors import ParameterError
from codestress.papers.semtrace.charts import recall_panels
from codestress.papers.semtrace.results.two_recalls import (
    correlations,
    headline,
    recall_shares,
)
from told import names, refused

QUESTIONS = (
    ("generated", "line_retrieval"),
    ("generated", "function_retrieval"),
    ("semtrace", "output_prediction"),
)
APART = {f"m{n}": (n / 10, 1 - n / 10, n / 10) for n in (9, 7, 5, 3, 1)}


def answers(chances: dict[str, tuple[float, float, float]]) -> pd.DataFrame:
    """Return answers by models with the given chances of a line, a function and a
    SemTrace; a partial match is half of the way to 1."""
    parts = []
    for number, (dataset, task) in enumerate(QUESTIONS):
        part = crossed(model=chances, problem=range(60), depth=(0, 0.5, 1))
        part = part.assign(dataset=dataset, task=task)
        part["problem"] = dataset + part["problem"].astype(str)
        part["chance"] = [chances[model][number] for model in part["model"]]
        parts.append(part)
    table = pd.concat(parts)
    draws = np.random.default_rng(0).random(len(table))
    table["value_strict"] = (draws < table["chance"]).astype(float)
    table["value_partial"] = (1 + table["value_strict"]) / 2
    return table.assign(outcome_strict="correct", outcome_partial="correct")


def test_models_in_one_order_and_in_opposite_ones() -> None:
    table = correlations(recall_shares(answers(APART), "all", 0.95), 0.95, 0)
    exact = table[table["other"] == "SemTrace"].set_index("lexical")
    assert list(exact["tau"]) == [1, -1]
    assert exact["p"].tolist() == pytest.approx([2 / 120] * 2)
    assert {"SemTrace", "SemTrace, partial matches"} == set(table["other"])
    taus = (" 1.00 (line retrieval)", "-1.00 (function retrieval)")
    names(headline(table), "too few models", "SemTrace", *taus)


@pytest.mark.slow
@pytest.mark.parametrize(
    "chances", [{"a": (0, 0, 0), "b": (0, 0, 0)}, {"a": (0.5, 0.5, 0.5)}]
)
def test_models_that_are_all_wrong_or_alone_say_nothing(
    chances: dict[str, tuple[float, float, float]],
) -> None:
    shares = recall_shares(answers(chances), "all", 0.95)
    table = correlations(shares, 0.95, 0)
    assert table["tau"].isna().all()
    assert not table["decided"].any()
    recall_panels(shares, table).draw_without_rendering()


def test_the_middle_is_chosen_by_name() -> None:
    table = answers({"a": (0.5, 0.5, 0.5)})
    table["value_strict"] = (table["depth"] == 0.5).astype(float)
    for places, share in (("all", 1 / 3), ("middle", 1)):
        shares = recall_shares(table, places, 0.95).set_index("measure")["accuracy"]
        assert shares["SemTrace"] == pytest.approx(share)
    with refused(ParameterError, "places", "'middle'"):
        recall_shares(table[table["depth"] == 0], "middle", 0.95)
    with refused(ParameterError, "problems", "tasks"):
        recall_shares(table[table["dataset"] == "semtrace"], "all", 0.95)
