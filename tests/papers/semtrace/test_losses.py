"""Losses without half of the lines, by group of models."""

import numpy as np
import pandas as pd
import pytest
from small_study import crossed, settings

from codestress.fitting.exponential import fit_exponential
from codestress.papers.semtrace.results import losses, removal
from codestress.report.published import read_published

GROUPS = read_published("semtrace")["groups"]
LARGER = GROUPS["larger"]


def losses_at_half(answers: pd.DataFrame) -> dict[str, float]:
    """Return the loss of the larger models under each reading of "average"."""
    fits = removal.fit_removal(answers, settings(resamples=20))
    table = losses.group_losses(fits, answers, 0.95).query("model == 'larger'")
    return table.set_index("reading")["loss_at_half"].to_dict()


@pytest.mark.slow
def test_losses_of_several_models_are_read_in_five_ways() -> None:
    """Curves are exponentials, two of 0.8 · 0.5^x and two of 0.4 · 0.25^x."""
    curves = dict(zip(LARGER, [(0.8, 0.5), (0.4, 0.25)] * 2, strict=True))
    answers = crossed(model=LARGER, removed=(0, 1, 2), problem=range(0, 10_000, 20))
    heights, bases = np.transpose([curves[model] for model in answers["model"]])
    chances = heights * bases ** answers["removed"]
    answers["value_strict"] = (answers["problem"] / 10_000 < chances).astype(float)
    answers["share_removed"] = answers["removed"] / 2
    answers["task"] = "output_prediction"
    mean, points = 1 - (0.5 + 0.25) / 2, (0.4 + 0.3) / 2
    expected = {
        losses.FITTED: mean,
        losses.OBSERVED: mean,
        losses.OF_MEAN: 1 - (0.4 + 0.1) / (0.8 + 0.4),
        f"{losses.OF_MEAN}, in points": points,
        f"{losses.OBSERVED}, in points": points,
    }
    assert losses_at_half(answers) == pytest.approx(expected, abs=0.01)
    no_half = answers[answers["removed"] != 1]
    assert losses.OBSERVED not in losses_at_half(no_half)


def test_larger_models_are_compared_with_smaller_ones_by_their_curves() -> None:
    x = np.linspace(0, 1, 6)
    fits = {}
    for model in GROUPS["all"]:
        output = 3.0 if model in LARGER else 1.5
        draws = np.random.default_rng(len(model))
        for task, rate in (("input_prediction", 1.0), ("output_prediction", output)):
            right = draws.binomial(40, 0.8 * np.exp(-rate * x), (60, 6))
            counts = np.full((60, 6), 40.0)
            how = {"resamples": 100, "rng": np.random.default_rng(0)}
            fits[model, task] = fit_exponential(x, right, counts, **how)
    table = losses.removal_orders(fits, 0.95).set_index("number")
    truth = (1 - np.exp(-1.5)) - (1 - np.exp(-0.75))
    difference = table.loc["larger - smaller, output", "value"]
    assert difference == pytest.approx(truth, abs=0.03)
    assert (table["low"] > 0).all()
    curve = (LARGER[0], "input_prediction")
    assert losses.removal_orders({curve: fits[curve]}, 0.95).empty
