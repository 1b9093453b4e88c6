"""Every interval holds its own estimate, or there is none: of few items, few places, and answers that are all alike."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from codestress.fitting import (
    influence,
    position_dip,
    proportions,
    significance,
    summaries,
)
from codestress.fitting.exponential import by_answers, equally, fit_exponential
from codestress.fitting.proportions import Interval
from codestress.papers.origin.curves import fit_decay, reach_of
from codestress.papers.semtrace.results import largest_drops, removal
from conftest import SLOW

Case = tuple[str, float, Interval]
"""Name of a quantity, its estimate, and its interval."""
DRAWN = 300 if SLOW else 16


def drawn(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places (k,), scores and numbers of answers (items, k): often one item, two places, or all alike."""
    items = int(random.choice([1, 1, 2, 3, 8, 30]))
    k = int(random.choice([1, 2, 2, 3, 4, 7]))
    x = np.sort(random.choice(20, k, replace=False)).astype(float)
    if random.random() < 0.5:
        x = np.linspace(0, 1, k)
    shapes = (
        np.zeros((items, k)),
        np.ones((items, k)),
        np.full((items, k), 0.5),
        np.tile(random.integers(0, 2, (items, 1)), (1, k)),
        np.tile(random.integers(0, 2, (1, k)), (items, 1)),
        np.eye(items, k),
        random.random((items, k))
        < np.exp(-random.uniform(0, 5) * np.linspace(0, 1, k)),
        random.random((items, k)) < random.random(),
    )
    asked = random.random((items, k)) < (0.6 if random.random() < 0.3 else 1)
    return x, 1.0 * shapes[random.integers(len(shapes))] * asked, 1.0 * asked


def curves(
    random: np.random.Generator, x: np.ndarray, right: np.ndarray, asked: np.ndarray
) -> Iterator[Case]:
    for floor in (False, True):
        weigh = by_answers if random.integers(2) else equally
        fit = fit_exponential(
            x, right, asked, floor=floor, weigh=weigh, resamples=100, rng=random
        )
        for name in ("height", "rate", "floor"):
            yield name, getattr(fit, name), fit.interval(name)
        yield "half life", fit.half_life, fit.interval("half_life")
        for place in (0.5, float(x[-1])):
            loss, ends = fit.loss_at(place)
            yield "loss", loss, ends
        grid = np.linspace(0, x[-1], 7)
        low, high = fit.band(grid)
        for value, *ends in zip(fit.at(grid), low, high, strict=True):
            yield "band", value, Interval(*ends)
        table = removal.fit_table({("m", "t"): fit}).iloc[0]
        ends = Interval(table["loss_low"], table["loss_high"])
        yield "loss in the table", table["loss_at_half"], ends
    side = fit_decay(
        x + 1, np.where(asked > 0, right, np.nan), resamples=100, rng=random
    )
    yield "top", side.height, side.interval("height")
    yield "reach", *reach_of(side)


def positions(random: np.random.Generator, right: np.ndarray) -> Iterator[Case]:
    found = position_dip.position_dip(right, resamples=100, rng=random)
    yield "dip", found.dip, found.dip_interval
    yield "drop", found.drop, found.drop_interval
    yield "relative drop", found.relative_drop, found.relative_drop_interval
    means = right.mean(axis=0)
    weights = proportions.cluster_weights(len(right), 100, random) / len(right)
    shares = means / means.max() if means.any() else np.full(len(means), math.nan)
    relative = position_dip.relative_to_best(right, weights, 0.95)
    for share, interval in zip(shares, relative, strict=True):
        yield "relative to the best", share, interval
    if len(means) > 1:
        curves = np.vstack([means, weights @ right])[None, None]
        for unit in ("points", "relative"):
            of = largest_drops.numbers_of(curves, unit, largest_drops.OWN, 0.95)
            ends = Interval(of[f"{unit}_low"], of[f"{unit}_high"])
            yield f"drop in {unit}", of[unit], ends
    largest = position_dip.largest_drop(right, weights, 0.95)
    yield "largest drop", float(np.ptp(means)), largest


def shares(
    random: np.random.Generator, right: np.ndarray, groups: np.ndarray
) -> Iterator[Case]:
    items, k = right.shape
    each = np.repeat(np.arange(items), k)
    for of in (each, np.repeat(groups, k)):
        share = proportions.clustered_share(right.ravel(), of)
        yield "share", share.value, share.interval
        mean = proportions.clustered_mean(right.ravel() * random.integers(1, 1000), of)
        yield "mean", mean.value, mean.interval
    one, other = random.integers(0, items + 1, 2)
    yield "wilson", one / items, proportions.wilson(one, items)
    between = proportions.newcombe(one / items, items, other / items, items)
    yield "difference of shares", (other - one) / items, between
    ratio = proportions.ratio_of_shares(
        one / items, other / items, items, random.uniform(-1, 1)
    )
    yield "ratio", other / one if one else math.nan, ratio
    scores = pd.Series(right.ravel(), index=each)
    moved = influence.share(scores)
    yield "mean by influence", moved.value, moved.interval(items)


def pairs(
    random: np.random.Generator, right: np.ndarray, groups: np.ndarray
) -> Iterator[Case]:
    change = right[:, -1] - right[:, 0]
    for of in (None, groups):
        yield "paired", change.mean(), proportions.paired_difference(change, of)
    sides = [pd.Series(right[:, at]) for at in (0, -1)]
    found = summaries.compare(
        *sides, clusters=pd.Series(groups), resamples=50, rng=random
    )
    yield "compared", found.difference, Interval(found.low, found.high)
    if len(right) > 1:
        over = significance.mean_difference(change, 0.95)
        yield "over models", over.value, over.interval
    if len(right) == 3:  # of more, a second each
        kendall = significance.kendall(*random.integers(0, 4, (2, 3)), 0.95, random)
        yield "Kendall", kendall.value, kendall.interval


def held(value: float, interval: Interval) -> bool:
    if math.isnan(interval.low) and math.isnan(interval.high):
        return True
    return bool(interval.low <= value <= interval.high)


def cases(seed: int) -> Iterator[Case]:
    random = np.random.default_rng(seed)
    x, right, asked = drawn(random)
    groups = random.integers(0, 3, len(right))
    yield from curves(random, x, right, asked)
    yield from positions(random, right)
    yield from shares(random, right, groups)
    yield from pairs(random, right, groups)


def test_every_interval_holds_its_estimate_or_there_is_none() -> None:
    seen, known = set[str](), set[str]()
    for seed in range(DRAWN):
        for name, value, interval in cases(seed):
            assert held(value, interval), (name, value, interval, seed)
            seen.add(name)
            if not math.isnan(interval.low):
                known.add(name)
    assert seen - known <= {"Kendall"}, (
        "nothing is held where there never is an interval"
    )


@pytest.mark.parametrize("items", [1, 3, 30])
@pytest.mark.parametrize("shares_of", [(1, 0), (0, 1), (1, 1), (0, 0)])
def test_two_places_and_answers_that_are_all_alike(
    items: int, shares_of: tuple[int, int]
) -> None:
    """Where every resample falls on one side of the estimate, as with a rate at its end, the interval reaches to it."""
    right = np.tile(np.array(shares_of, dtype=float), (items, 1))
    random = np.random.default_rng(items)
    x = np.array([0.0, 1.0])
    fit = fit_exponential(x, right, np.ones_like(right), resamples=200, rng=random)
    for name, value, interval in curves(random, x, right, np.ones_like(right)):
        assert held(value, interval), (name, value, interval)
    known = [not math.isnan(end) for end in (fit.rate, fit.interval("rate").low)]
    assert known == [any(shares_of)] * 2
