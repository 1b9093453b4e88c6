"""Influences of clusters on means and differences, beside a bootstrap of the clusters."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from codestress.fitting.influence import NOTHING, share
from codestress.seeding import rng


def test_influences_add_up_to_what_resampling_programs_gives() -> None:
    random = rng(0, "influence")
    level = random.random(80)
    programs = np.repeat(np.arange(80), 3)
    sides = []
    for shift in (0.0, 0.2):
        chance = np.clip(level + shift, 0, 1)[programs]
        sides.append(pd.Series((random.random(240) < chance) * 1.0, programs))
    difference = share(sides[1]) - share(sides[0])
    expected = sides[1].mean() - sides[0].mean()
    assert difference.value == pytest.approx(expected)
    changes = (sides[1] - sides[0]).groupby(level=0).sum().to_numpy()
    weights = random.multinomial(80, np.full(80, 1 / 80), size=4000)
    deviation = (weights @ changes / 240).std()
    low, high = difference.interval(80)
    assert (high - low) / 2 == pytest.approx(1.96 * deviation, rel=0.06)
    assert math.isnan((difference + NOTHING).value)
    assert np.isnan(difference.interval(1)).all()


def test_answers_that_are_all_alike_are_not_certain() -> None:
    assert share(pd.Series(1.0, range(80))).interval(80).low < 0.99
