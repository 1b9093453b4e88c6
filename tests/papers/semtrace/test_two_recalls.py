"""Lexical against semantic recall by model (section 3.3)."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from codestress.errors import ParameterError
from codestress.papers.semtrace.charts import recall_panels
from codestress.papers.semtrace.results import two_recalls
from told import names, refused

TASKS = (
    ("generated", "line_retrieval"),
    ("generated", "function_retrieval"),
    ("semtrace", "output_prediction"),
)


def answers(
    chances: dict[str, tuple[float, float, float]], problems: int = 60
) -> pd.DataFrame:
    """By model, its chance of a line, a function and a SemTrace; partial matches are half of the way to 1."""
    draws = np.random.default_rng(0)
    rows = []
    for model, number, depth in product(chances, range(problems), (0, 0.5, 1)):
        for (dataset, task), chance in zip(TASKS, chances[model], strict=True):
            right = float(draws.random() < chance)
            rows.append((model, dataset, task, f"{dataset}-{number}", depth, right))
    columns = ["model", "dataset", "task", "problem", "depth", "value_strict"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(
        value_partial=(1 + table["value_strict"]) / 2,
        outcome_strict="correct",
        outcome_partial="correct",
    )


def shares_of(table: pd.DataFrame, places: str = "all") -> pd.DataFrame:
    return two_recalls.recall_shares(table, places, 0.95)


APART = {
    name: (share, 1 - share, share)
    for name, share in zip("abcde", (0.9, 0.7, 0.5, 0.3, 0.1), strict=True)
}


def test_models_in_one_order_and_in_opposite_ones() -> None:
    found = two_recalls.correlations(shares_of(answers(APART)), 0.95, 0)
    exact = found[found["other"] == "SemTrace"].set_index("lexical")
    assert list(exact["tau"]) == [1, -1]
    assert exact["p"].tolist() == pytest.approx([2 / 120] * 2)
    assert {"SemTrace", "SemTrace, partial matches"} == set(found["other"])
    taus = (" 1.00 (line retrieval)", "-1.00 (function retrieval)")
    names(two_recalls.headline(found), "too few models", "SemTrace", *taus)


@pytest.mark.slow
def test_models_that_are_all_alike_wrong_or_alone_say_nothing() -> None:
    for chances in ({"a": (0, 0, 0), "b": (0, 0, 0)}, {"a": (0.5, 0.5, 0.5)}):
        shares = shares_of(answers(chances))
        found = two_recalls.correlations(shares, 0.95, 0)
        assert found["tau"].isna().all()
        assert not found["decided"].any()
        figure = recall_panels(shares, found)
        figure.draw_without_rendering()


def test_the_middle_is_asked_for_by_name() -> None:
    table = answers({"a": (0.5, 0.5, 0.5)}, problems=4)
    table["value_strict"] = (table["depth"] == 0.5).astype(float)
    for places, share in (("all", 1 / 3), ("middle", 1)):
        found = shares_of(table, places).set_index("measure")["accuracy"]
        assert found["SemTrace"] == pytest.approx(share)
    with refused(ParameterError, "places", "'middle'"):
        shares_of(table[table["depth"] == 0], "middle")
    with refused(ParameterError, "problems", "tasks"):
        shares_of(table[table["dataset"] == "semtrace"])
