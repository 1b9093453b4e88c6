"""Largest drops over positions by model and group, and gains of SemTrace over CRUXEval."""

import math

import pandas as pd
import pytest
from small_study import crossed, settings

from codestress.papers.semtrace.results import largest_drops
from codestress.report.published import read_published

LARGER = read_published("semtrace")["groups"]["larger"]


def test_drops_of_several_models_are_read_as_a_mean_or_a_maximum() -> None:
    """All that "a 16.05 % average accuracy decrease across models" and "up to 36.42 %"
    can mean, by hand."""
    tenths = dict(zip(LARGER, ((9, 3), (6, 9), (9, 9), (8, 4)), strict=True))
    answers = crossed(model=LARGER, position=(0, 1), problem=range(100))
    cells = zip(answers["model"], answers["position"], strict=True)
    limit = [tenths[model][position] for model, position in cells]
    answers["value_strict"] = (answers["problem"] % 10 < limit).astype(float)
    answers = answers.assign(dataset="semtrace", task="t", digits=2, qac=True)
    answers = answers.assign(keys=False, distractors=20)
    drops = largest_drops.largest_drops(answers, settings())
    group = drops.query("model == 'larger' and context == 'any'").set_index("reading")
    expected = {
        largest_drops.OWN: (130 / 4, 100 * (6 / 9 + 3 / 9 + 4 / 8) / 4),
        largest_drops.MEAN: (80 - 62.5, 100 * 17.5 / 80),
        largest_drops.MOST: (60, 100 * 6 / 9),
    }
    assert set(group.index) == set(expected)
    for reading, values in expected.items():
        row = group.loc[reading, ["points", "relative"]]
        assert tuple(row) == pytest.approx(values)


def gains_of(answers: pd.DataFrame) -> pd.DataFrame:
    table = largest_drops.task_gains(answers, confidence=0.95)
    return table[table["group"] == "larger"].set_index("reading")


def test_the_gain_of_semtrace_over_cruxeval_is_the_ratio_of_the_means() -> None:
    """90 % are right on SemTrace, 60 % on CRUXEval."""
    answers = crossed(model=LARGER, dataset=("semtrace", "cruxeval"), n=range(200))
    limit = answers["dataset"].map({"semtrace": 9, "cruxeval": 6})
    answers["value_strict"] = (answers["n"] % 10 < limit).astype(float)
    answers["problem"] = answers["dataset"] + answers["n"].astype(str)
    answers = answers.assign(task="output_prediction", distractors=20)
    table = gains_of(answers)
    assert table["gain"].to_dict() == {
        "gain of the models' mean": pytest.approx(50),
        "mean of the models' gains": pytest.approx(50),
        "gain of the models' mean, in points": pytest.approx(30),
    }
    row = table.loc["gain of the models' mean"]
    # Delta method: the ratio's relative variance is the sum of those of the two means.
    spread = 150 * math.sqrt(0.1 / 0.9 / 200 + 0.4 / 0.6 / 200)
    width = pytest.approx(2 * 1.96 * spread, rel=0.15)
    assert row["high"] - row["low"] == width
    # A model that was asked about half of the problems counts as much as the others.
    gpt = answers["model"] == LARGER[0]
    answers.loc[gpt, "value_strict"] = 1.0
    half = answers[~gpt | (answers["n"] < 100)]
    gain = 100 * ((1 + 3 * 0.9) / (1 + 3 * 0.6) - 1)
    assert gains_of(half).iloc[0]["gain"] == pytest.approx(gain)
    assert gains_of(answers[~gpt]).empty
