"""The set of places where scores may be lowest covers the true one, and shrinks to it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from codestress.papers.semtrace.results.by_position import lowest_places
from conftest import some


@pytest.mark.slow
@pytest.mark.parametrize("items", some([12, 100], 2))
@pytest.mark.parametrize(
    "means",
    some([[0.5] * 5, [0.6, 0.5, 0.5, 0.45, 0.55], [0.99, 0.98, 0.97, 0.96, 0.98]], 2),
)
def test_the_set_covers(items: int, means: list[float]) -> None:
    """1,000 simulated studies each; where all places are alike, the first counts as the true one."""
    rng = np.random.default_rng(items)
    true = int(np.argmin(means))
    covered = 0
    for _ in range(1000):
        chance = np.clip(np.array(means) + rng.normal(0, 0.2, items)[:, None], 0, 1)
        covered += true in lowest_places(
            pd.DataFrame((rng.random(chance.shape) < chance).astype(float))
        )
    assert covered >= 940


def test_a_clear_trough_is_told_from_all_others() -> None:
    rng = np.random.default_rng(0)
    scores = pd.DataFrame(
        (rng.random((400, 5)) < [0.8, 0.6, 0.5, 0.2, 0.7]).astype(float)
    )
    assert lowest_places(scores) == [3]


def test_too_little_says_nothing() -> None:
    for little in (np.empty((0, 5)), [[1, 0, 1, 1, 1]], np.ones((50, 5))):
        assert lowest_places(pd.DataFrame(little)) == [0, 1, 2, 3, 4]
