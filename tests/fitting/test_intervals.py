"""Every statistic against an oracle: a closed form or a simulation."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

import bench_coverage
from codestress.fitting.influence import NOTHING, share
from codestress.fitting.proportions import clustered_mean, stretched, wilson
from codestress.fitting.summaries import compare
from codestress.papers.origin.curves import fit_decay, reach_of
from codestress.seeding import rng
from told import refused


@pytest.mark.parametrize(
    ("k", "n"), [(0, 10), (10, 10), (7, 10), (32, 117), (1, 1), (500, 1000)]
)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_wilson_is_what_scipy_computes(k: int, n: int, confidence: float) -> None:
    expected = binomtest(k, n).proportion_ci(confidence, method="wilson")
    ends = (expected.low, expected.high)
    assert wilson(k, n, confidence) == pytest.approx(ends, abs=1e-12)


def test_wilson_without_trials_says_nothing_and_nonsense_is_refused() -> None:
    assert all(math.isnan(end) for end in wilson(0, 0))
    for k, n in ((3, 2), (-1, 2)):
        with refused(ValueError, k, n):
            wilson(k, n)


def test_a_mean_of_many_single_answers_is_the_normal_interval() -> None:
    values = rng(0, "values").random(4000)
    mean, half = values.mean(), 1.96 * values.std() / math.sqrt(4000)
    found = clustered_mean(values, np.arange(4000)).interval
    assert found == pytest.approx((mean - half, mean + half), abs=0.0003)


@pytest.mark.parametrize(("spread", "items"), [(0.4, 25), (0.7, 25), (0.7, 100)])
def test_numbers_of_tokens_are_covered_by_few_items(spread: float, items: int) -> None:
    """2,000 studies: two standard errors of 95 % are one point."""
    study = next(iter(bench_coverage.means(spread, items).values()))
    random = rng(0, "tokens", items)
    assert 0.935 <= np.mean([study(random) for _ in range(2000)]) <= 0.98


def test_few_clusters_stretch_draws_and_many_do_not() -> None:
    draws, best = np.array([[0.5, 3.0], [0.7, math.nan]]), np.array([0.6, 2.0])
    few = [0.6 - 0.1075, 2 + 1.075]
    assert stretched(draws, best, 25, 0.95)[0] == pytest.approx(few, abs=1e-3)
    assert stretched(draws, best, 800, 0.95)[0] == pytest.approx([0.5, 3.0], rel=0.002)
    assert abs(stretched(draws, best, 2, 0.95)[0, 1]) > 5 * 2


def test_a_mean_says_when_it_cannot_say_and_is_never_certain() -> None:
    one = clustered_mean([0, 1], ["a", "a"])
    assert one.value == 0.5
    assert math.isnan(one.interval.low)
    assert math.isnan(clustered_mean([], []).value)
    same = clustered_mean([300] * 25, range(25))
    assert same.interval.low < 280
    assert same.interval.high > 320
    # Nothing says how far from 0 another is.
    assert math.isnan(clustered_mean([0, 0, 0], range(3)).interval.high)
    with refused(ValueError, "negative"):
        clustered_mean([1, -1], range(2))


def test_influences_add_up_to_what_resampling_programs_gives() -> None:
    random = rng(0, "influence")
    level = random.random(80)
    programs = np.repeat(np.arange(80), 3)
    frames = []
    for shift in (0.0, 0.2):
        chance = np.clip(level + shift, 0, 1)[programs]
        frames.append(pd.Series((random.random(240) < chance) * 1.0, programs))
    both = share(frames[1]) - share(frames[0])
    assert both.value == pytest.approx(frames[1].mean() - frames[0].mean())
    sums = [frame.groupby(level=0).sum().to_numpy() for frame in frames]
    weights = random.multinomial(80, np.full(80, 1 / 80), size=4000)
    drawn = (weights @ sums[1] - weights @ sums[0]) / 240
    low, high = both.interval(80)
    assert (high - low) / 2 == pytest.approx(1.96 * drawn.std(), rel=0.06)
    assert math.isnan((both + NOTHING).value)
    assert all(math.isnan(end) for end in both.interval(1))
    flat = share(frames[0] * 0 + 1).interval(80)
    assert flat.low < 0.99  # all alike, and yet not certain


def once(scores: list[int]) -> pd.Series:
    return pd.Series(scores, dtype=float)


def test_mcnemar_is_the_binomial_tail() -> None:
    first = once([1] * 9 + [0] * 2 + [1] * 20)
    second = once([0] * 9 + [1] * 2 + [1] * 20)
    found = compare(first, second, rng=rng(0))
    tail = sum(math.comb(11, k) for k in range(3)) / 2**11
    assert found.p_value == pytest.approx(2 * tail)
    assert found[4:] == (31, 9, 2, 0)
    assert found.difference == pytest.approx(-7 / 31)
    assert found.low < -7 / 31 < found.high < 0


def test_unpaired_items_are_counted_and_no_difference_is_certain() -> None:
    found = compare(once([1, 0, 1]), once([1, 0, 1, 1, 1]), rng=rng(0))
    told = (found.difference, found.p_value, found.items, found.unpaired)
    assert told == (0, 1, 3, 2)
    assert compare(once([]), once([1]), rng=rng(0)).unpaired == 1
    often = [pd.Series(scores, ["a"] * 3) for scores in ([1, 0, 1], [0, 0, 0])]
    assert compare(*often, rng=rng(0)).p_value == 1


@pytest.mark.slow
def test_a_test_of_items_asked_often_holds_its_level() -> None:
    random = rng(0, "paired")
    rejected = 0
    for _ in range(150):
        chances = np.repeat(random.random(30), 4)
        items = np.repeat(np.arange(30), 4)
        sides = [pd.Series((random.random(120) < chances) * 1.0, items) for _ in "12"]
        rejected += compare(*sides, resamples=300, rng=random).p_value < 0.05
    assert rejected / 150 <= 0.11


def test_decay_says_when_there_is_none() -> None:
    flat = fit_decay([1, 5, 15], np.ones((40, 3)), resamples=50, rng=rng(0))
    assert math.isinf(reach_of(flat)[0])
    assert flat.lack == 1, "a curve through points that are all right describes them"
    assert flat.height == pytest.approx(1)
    nothing = fit_decay([1, 5, 15], np.zeros((40, 3)), resamples=50, rng=rng(0))
    assert math.isnan(reach_of(nothing)[0])
    assert nothing.failed == 50
    rare = np.zeros((40, 3))
    rare[0, 0] = 1
    assert fit_decay([1, 5, 15], rare, resamples=200, rng=rng(0)).failed > 20


def test_an_item_without_a_cluster_is_compared_too() -> None:
    items = np.arange(30)
    first, second = pd.Series(items % 2), pd.Series((items % 3 == 0) * 1.0)
    clusters = pd.Series([None if item == 3 else str(item // 3) for item in items])
    result = compare(first, second, clusters=clusters, rng=rng(0))
    assert result.items == 30
    assert 0 < result.p_value <= 1
