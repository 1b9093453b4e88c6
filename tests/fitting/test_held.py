"""Every interval holds its own estimate, or is unknown: of few items, few places, and
answers that are all alike."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from codestress.fitting import influence, proportions, significance, summaries
from codestress.fitting.exponential import by_answers, equally, fit_exponential
from codestress.fitting.position_dip import (
    largest_drop,
    position_dip,
    relative_to_best,
)
from codestress.fitting.proportions import Interval
from codestress.papers.origin.curves import fit_decay, reach_of
from codestress.papers.semtrace.results import largest_drops
from conftest import SLOW

Case = tuple[str, float, Interval]
"""Name of a quantity, its estimate, and its interval."""
SEEDS = 300 if SLOW else 16


def simulated(random: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return places (k,), scores and numbers of answers (items, k): often one item, two
    places, or answers that are all alike."""
    items = int(random.choice([1, 1, 2, 3, 8, 30]))
    k = int(random.choice([1, 2, 2, 3, 4, 7]))
    x = np.linspace(0, 1, k)
    falling = np.exp(-random.uniform(0, 5) * x)
    tables = (
        np.zeros((items, k)),
        np.ones((items, k)),
        np.tile(random.integers(0, 2, (items, 1)), (1, k)),
        np.tile(random.integers(0, 2, (1, k)), (items, 1)),
        np.eye(items, k),
        random.random((items, k)) < falling,
        random.random((items, k)) < random.random(),
    )
    answered = random.random((items, k)) < random.choice([0.6, 1, 1])
    if random.random() < 0.5:
        x = np.sort(random.choice(20, k, replace=False)).astype(float)
    right = tables[random.integers(len(tables))] * answered
    return x, 1.0 * right, 1.0 * answered


def curves(
    random: np.random.Generator, x: np.ndarray, right: np.ndarray, answered: np.ndarray
) -> Iterator[Case]:
    for floor in (False, True):
        how = {"floor": floor, "weigh": (equally, by_answers)[random.integers(2)]}
        fit = fit_exponential(x, right, answered, **how, resamples=100, rng=random)
        for name in ("height", "rate", "floor", "half_life"):
            yield name, getattr(fit, name), fit.interval(name)
        yield "loss", *fit.loss_at(float(x[-1]))
        grid = np.linspace(0, x[-1], 7)
        for value, *ends in zip(fit.at(grid), *fit.band(grid), strict=True):
            yield "band", value, Interval(*ends)
    scores = np.where(answered > 0, right, np.nan)
    fit = fit_decay(x + 1, scores, resamples=100, rng=random)
    yield "top", fit.height, fit.interval("height")
    yield "reach", *reach_of(fit)


def positions(random: np.random.Generator, right: np.ndarray) -> Iterator[Case]:
    result = position_dip(right, resamples=100, rng=random)
    for name in ("dip", "drop", "relative_drop"):
        yield name, getattr(result, name), getattr(result, f"{name}_interval")
    means = right.mean(axis=0)
    weights = proportions.cluster_weights(len(right), 100, random) / len(right)
    yield "largest drop", float(np.ptp(means)), largest_drop(right, weights, 0.95)
    shares = means / (means.max() or math.nan)
    intervals = relative_to_best(right, weights, 0.95)
    for share, interval in zip(shares, intervals, strict=True):
        yield "relative to the best", share, interval
    if len(means) > 1:
        draws = np.vstack([means, weights @ right])[None, None]
        for unit in ("points", "relative"):
            row = largest_drops.numbers_of(draws, unit, largest_drops.OWN, 0.95)
            ends = Interval(row[f"{unit}_low"], row[f"{unit}_high"])
            yield f"drop in {unit}", row[unit], ends


def shares(
    random: np.random.Generator, right: np.ndarray, groups: np.ndarray
) -> Iterator[Case]:
    items, k = right.shape
    item = np.repeat(np.arange(items), k)
    scores = right.ravel()
    for clusters in (item, np.repeat(groups, k)):
        share = proportions.clustered_share(scores, clusters)
        yield "share", share.value, share.interval
        tokens = scores * random.integers(1, 1000)
        mean = proportions.clustered_mean(tokens, clusters)
        yield "mean", mean.value, mean.interval
    first, second = random.integers(0, items + 1, 2)
    yield "wilson", first / items, proportions.wilson(first, items)
    ends = proportions.newcombe(first / items, items, second / items, items)
    yield "difference of shares", (second - first) / items, ends
    correlation = random.uniform(-1, 1)
    ends = proportions.ratio_of_shares(
        first / items, second / items, items, correlation
    )
    yield "ratio", second / (first or math.nan), ends
    moved = influence.share(pd.Series(scores, index=item))
    yield "mean by influence", moved.value, moved.interval(items)


def pairs(
    random: np.random.Generator, right: np.ndarray, groups: np.ndarray
) -> Iterator[Case]:
    change = right[:, -1] - right[:, 0]
    for clusters in (None, groups):
        yield "paired", change.mean(), proportions.paired_difference(change, clusters)
    first, last = (pd.Series(right[:, column]) for column in (0, -1))
    how = {"clusters": pd.Series(groups), "resamples": 50, "rng": random}
    result = summaries.compare(first, last, **how)
    yield "compared", result.difference, Interval(result.low, result.high)
    if len(right) > 1:
        mean = significance.mean_difference(change, 0.95)
        yield "over models", mean.value, mean.interval
    if len(right) == 3:  # a larger number takes a second each
        ranks = random.integers(0, 4, (2, 3))
        kendall = significance.kendall(*ranks, 0.95, random)
        yield "Kendall", kendall.value, kendall.interval


def holds(value: float, interval: Interval) -> bool:
    return bool(np.isnan(interval).all() or interval.low <= value <= interval.high)


def test_every_interval_holds_its_estimate_or_is_unknown() -> None:
    known = dict[str, bool]()
    for seed in range(SEEDS):
        random = np.random.default_rng(seed)
        x, right, answered = simulated(random)
        groups = random.integers(0, 3, len(right))
        cases = [
            *curves(random, x, right, answered),
            *positions(random, right),
            *shares(random, right, groups),
            *pairs(random, right, groups),
        ]
        for name, value, interval in cases:
            assert holds(value, interval), (name, value, interval, seed)
            known[name] = known.get(name, False) or not math.isnan(interval.low)
    never = {name for name, has_interval in known.items() if not has_interval}
    assert never <= {"Kendall"}, "an interval that is always unknown tests nothing"
