"""How often intervals contain the truth: `python bench/bench_coverage.py` (part of `make bench`; docs/intervals.md).

Estimator by scenario: a share is flat (0.5), mild (0.8), strong (0.97) or all alike (1); drops and curves have 11
positions that are flat, mildly or strongly worse in the middle. n items; problems differ in how hard they are. Wanted:
93 to 97 %, or more where an interval is named conservative.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from codestress.fitting.exponential import fit_exponential
from codestress.fitting.influence import share as share_of
from codestress.fitting.position_dip import (
    largest_drop,
    largest_relative_drop,
    position_dip,
    relative_to_best,
)
from codestress.fitting.proportions import (
    Interval,
    cluster_weights,
    clustered_mean,
    clustered_share,
    newcombe,
    paired_difference,
    ratio,
    ratio_of_shares,
    wilson,
)
from codestress.papers.origin.curves import fit_decay, reach_of
from codestress.papers.semtrace.results.largest_drops import OWN, numbers_of

Array = NDArray[np.float64]
Check = Callable[[np.random.Generator], bool]
"""One simulated study: whether the interval contains the truth."""

SIZES = (25, 100, 800)
SHARES = {"flat": 0.5, "mild": 0.8, "strong": 0.97, "all alike": 1.0}
POSITIONS = np.linspace(0, 1, 11)
SHAPES = {
    "flat": np.full(11, 0.6),
    "mild": 0.6 + 0.15 * (2 * POSITIONS - 1) ** 2,
    "strong": 0.3 + 0.6 * (2 * POSITIONS - 1) ** 2,
}
SURE = 0.3
"""Share of the items that are always solved, or always failed, in all conditions."""


def hard(means: Array, items: int, random: np.random.Generator) -> Array:
    """Chances (items, conditions) with these means: answers to one item hang together."""
    place = random.random((items, 1))
    return np.where(
        place < SURE * means, 1.0, np.where(place > 1 - SURE * (1 - means), 0.0, means)
    )


def contains(interval: Interval, truth: float) -> bool:
    return bool(interval.low - 1e-12 <= truth <= interval.high + 1e-12)


def shares(share: float, items: int, candidates: int) -> dict[str, Check]:
    """Of one share: Wilson at the effective number, and two that this kit no longer uses."""

    def study(random: np.random.Generator) -> tuple[Array, Array]:
        skill = (
            random.beta(share, 1 - share, items)
            if candidates > 1 and share < 1
            else np.full(items, share)
        )
        return (
            random.random((items, candidates)) < skill[:, None]
        ).ravel() * 1.0, np.repeat(np.arange(items), candidates)

    def bootstrap(random: np.random.Generator) -> bool:
        scores, _ = study(random)
        drawn = (
            cluster_weights(items, 300, random)
            @ scores.reshape(items, candidates).mean(axis=1)
            / items
        )
        return contains(Interval(*np.quantile(drawn, [0.025, 0.975])), share)

    def naive(random: np.random.Generator) -> bool:
        scores, _ = study(random)
        return contains(wilson(scores.sum(), scores.size), share)

    return {
        "share: Wilson, effective n": lambda random: contains(
            clustered_share(*study(random)).interval, share
        ),
        "(not used) share: bootstrap": bootstrap,
        "(not used) share: every answer counted": naive,
    }


def differences(share: float, items: int) -> dict[str, Check]:
    """Of two shares, the second 0.8 of the first: independent, on the same items, and their ratio."""
    other = 0.8 * share

    def both(random: np.random.Generator) -> tuple[Array, Array]:
        chance = hard(np.array([share, other]), items, random)
        one, two = ((random.random(chance.shape) < chance) * 1.0).T
        return one, two

    def independent(random: np.random.Generator) -> bool:
        first, second = random.binomial(items, [share, other]) / items
        return contains(newcombe(first, items, second, items), other - share)

    def paired(random: np.random.Generator) -> bool:
        one, two = both(random)
        return contains(paired_difference(two - one), other - share)

    def ratio(random: np.random.Generator) -> bool:
        one, two = both(random)
        alike = one.std() * two.std()
        together = (
            float(((one - one.mean()) * (two - two.mean())).mean() / alike)
            if alike
            else 0.0
        )
        return contains(ratio_of_shares(one.mean(), two.mean(), items, together), 0.8)

    return {
        "difference: Newcombe": independent,
        "difference: paired, two items added": paired,
        "ratio: MOVER on the same items": ratio,
    }


def shapes(means: Array, items: int) -> dict[str, Check]:
    """Of scores at positions: the fixed dip, the largest drop, the relative curve."""
    drop = float(np.ptp(means))
    middle = (POSITIONS >= 1 / 3) & (POSITIONS <= 2 / 3)
    dip = float(means[[0, -1]].mean() - means[middle].mean())

    def table(random: np.random.Generator) -> Array:
        chance = hard(means, items, random)
        return (random.random(chance.shape) < chance) * 1.0

    def weights(random: np.random.Generator) -> Array:
        return cluster_weights(items, 300, random) / items

    def plain(random: np.random.Generator) -> bool:
        drops = np.ptp(weights(random) @ table(random), axis=1)
        return contains(Interval(*np.quantile(drops, [0.025, 0.975])), drop)

    def stated(random: np.random.Generator) -> bool:
        scores = table(random)
        drawn = weights(random) @ scores
        drawn = np.clip(
            drawn + random.normal(0, 1 / np.sqrt(items * (items + 2)), drawn.shape),
            0,
            1,
        )
        curves = np.vstack([scores.mean(axis=0), drawn])
        found = numbers_of(curves[None, None], "points", OWN, 0.95)
        return contains(
            Interval(found["points_low"] / 100, found["points_high"] / 100), drop
        )

    def relative(random: np.random.Generator) -> bool:
        intervals = relative_to_best(table(random), weights(random), 0.95)
        return contains(intervals[5], float(means[5] / means.max()))

    return {
        "dip: paired, two items added": lambda random: contains(
            position_dip(table(random), resamples=100, rng=random).dip_interval, dip
        ),
        "largest drop: max-t (conservative)": lambda random: contains(
            largest_drop(table(random), weights(random), 0.95), drop
        ),
        "largest relative drop: max-t (conservative)": lambda random: contains(
            largest_relative_drop(table(random), weights(random), 0.95),
            drop / float(means.max()),
        ),
        "middle of a relative curve: max-t (conservative)": relative,
        "largest drop of the ledger: deviation, noise below (conservative)": stated,
        "(not used) largest drop: bootstrap": plain,
    }


TOKENS = {"mild": 0.4, "strong": 0.7, "all alike": 0.0}
"""Spread of the logarithm of numbers of tokens."""
STRENGTHS = np.array([1.0, 2.0, 4.0, 6.0, 8.0])
FALLS = {
    "flat": (0.5, 0.0),
    "mild": (0.5, 0.02),
    "strong": (0.9, 0.1),
    "all alike": (1.0, 0.0),
}
"""Share at the first strength, and what each step loses."""
DECAYS = {"mild": (0.9, 0.5), "strong": (0.9, 3.0), "all alike": (1.0, 0.0)}
"""Share at 0, and rate over the unit interval."""


def means(spread: float, items: int) -> dict[str, Check]:
    """Of numbers of tokens, three answers to each item, which share half of the spread."""

    def study(random: np.random.Generator) -> bool:
        logs = random.normal(0, spread, (items, 1)) + random.normal(
            0, spread, (items, 3)
        )
        values = np.exp(logs - spread**2).ravel()
        return contains(
            clustered_mean(values, np.repeat(np.arange(items), 3)).interval, 1.0
        )

    return {"mean of tokens: clusters, two added": study}


def falls(first: float, step: float, items: int) -> dict[str, Check]:
    """Over strengths: the last share relative to the first, and less the first."""
    chances = first - step * (STRENGTHS - 1)

    def study(random: np.random.Generator) -> Array:
        chance = hard(chances, items, random)
        return (random.random(chance.shape) < chance) * 1.0

    def quotient(random: np.random.Generator) -> bool:
        table = study(random)
        ends = [clustered_share(table[:, n], np.arange(items)) for n in (0, -1)]
        if not ends[0].value:
            return True
        first, last = ((one.value, one.interval) for one in ends)
        return contains(ratio(first, last), float(chances[-1] / chances[0]))

    def difference(random: np.random.Generator) -> bool:
        table = study(random)
        last, first = (share_of(pd.Series(table[:, at])) for at in (-1, 0))
        one = last - first
        return contains(one.interval(items), float(chances[-1] - chances[0]))

    return {
        "ratio of two shares, as if of others (conservative)": quotient,
        "fall over strengths: programs counted": difference,
    }


def decays(height: float, rate: float, items: int) -> dict[str, Check]:
    """Of fitted exponentials: what is lost at the middle; how far the share reaches."""
    x = np.linspace(0, 1, 11)

    def study(random: np.random.Generator) -> Array:
        chance = hard(height * np.exp(-rate * x), items, random)
        return (random.random(chance.shape) < chance) * 1.0

    def loss(random: np.random.Generator) -> bool:
        table = study(random)
        fit = fit_exponential(x, table, np.ones_like(table), resamples=400, rng=random)
        return contains(fit.loss_at(0.5)[1], 1 - float(np.exp(-rate / 2)))

    def reach(random: np.random.Generator) -> bool:
        fit = fit_decay(
            1 + 10 * x[::2], study(random)[:, ::2], resamples=400, rng=random
        )
        return contains(reach_of(fit)[1], 10 / rate if rate else np.inf)

    return {
        "loss of a fitted exponential: smoothed bootstrap": loss,
        "reach of a fitted decay: smoothed bootstrap": reach,
    }


def scenarios() -> Iterator[tuple[str, int, dict[str, Check]]]:
    """Name, number of items, and the checks that belong to it."""
    for items in SIZES:
        for name, share in SHARES.items():
            yield name, items, shares(share, items, 1)
            yield f"{name}, 3 candidates", items, shares(share, items, 3)
            yield name, items, differences(share, items)
        for name, means_ in SHAPES.items():
            yield name, items, shapes(means_, items)
        for name, spread in TOKENS.items():
            yield name, items, means(spread, items)
        for name, (first, step) in FALLS.items():
            yield name, items, falls(first, step, items)
        for name, (height, rate) in DECAYS.items():
            yield name, items, decays(height, rate, items)


def coverages(studies: int, seed: int = 0) -> Iterator[tuple[str, str, int, float]]:
    """Estimator, scenario, items, share of studies whose interval contains the truth."""
    for name, items, checks in scenarios():
        for estimator, check in checks.items():
            random = np.random.default_rng(seed)
            number = (
                studies // 5
                if "bootstrap" in estimator and "fitted" in estimator
                else studies
            )
            yield (
                estimator,
                name,
                items,
                sum(check(random) for _ in range(number)) / number,
            )


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    found: dict[tuple[str, str], dict[int, float]] = {}
    for estimator, name, items, coverage in coverages(studies):
        found.setdefault((estimator, name), {})[items] = coverage
    print(f"| estimator | scenario | {' | '.join(f'n = {items}' for items in SIZES)} |")
    print("| --- | --- " + "| --- " * len(SIZES) + "|")
    for (estimator, name), row in sorted(found.items()):
        print(
            f"| {estimator} | {name} | {' | '.join(f'{100 * row[items]:.1f}' for items in SIZES)} |"
        )


if __name__ == "__main__":
    main()
