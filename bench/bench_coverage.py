"""How often intervals contain the truth: `python bench/bench_coverage.py` (part of `make bench`; docs/intervals.md).

Estimator by scenario: a share is flat (0.5), mild (0.8), strong (0.97) or all alike (1); drops and curves have 11
positions that are flat, mildly or strongly worse in the middle. n items; problems differ in how hard they are. Wanted:
93 to 97 %, or more where an interval is named conservative.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from codestress.fitting.bootstrap import cluster_bootstrap_mean, cluster_weights
from codestress.fitting.largest import largest_drop, largest_relative_drop, relative_to_best
from codestress.fitting.position_dip import position_dip
from codestress.fitting.proportions import (
    Interval,
    clustered_share,
    newcombe,
    paired_difference,
    ratio_of_shares,
    wilson,
)

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
    return np.where(place < SURE * means, 1.0, np.where(place > 1 - SURE * (1 - means), 0.0, means))


def contains(interval: Interval, truth: float) -> bool:
    return bool(interval.low - 1e-12 <= truth <= interval.high + 1e-12)


def shares(share: float, items: int, candidates: int) -> dict[str, Check]:
    """Of one share: Wilson at the effective number, and two that this kit no longer uses."""

    def study(random: np.random.Generator) -> tuple[Array, Array]:
        skill = random.beta(share, 1 - share, items) if candidates > 1 and share < 1 else np.full(items, share)
        return (random.random((items, candidates)) < skill[:, None]).ravel() * 1.0, np.repeat(
            np.arange(items), candidates
        )

    def bootstrap(random: np.random.Generator) -> bool:
        return contains(cluster_bootstrap_mean(*study(random), resamples=300, rng=random).interval, share)

    def naive(random: np.random.Generator) -> bool:
        scores, _ = study(random)
        return contains(wilson(scores.sum(), scores.size), share)

    return {
        "share: Wilson, effective n": lambda random: contains(clustered_share(*study(random)).interval, share),
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
        together = float(((one - one.mean()) * (two - two.mean())).mean() / alike) if alike else 0.0
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
            largest_relative_drop(table(random), weights(random), 0.95), drop / float(means.max())
        ),
        "middle of a relative curve: max-t (conservative)": relative,
        "(not used) largest drop: bootstrap": plain,
    }


def scenarios() -> Iterator[tuple[str, int, dict[str, Check]]]:
    """Name, number of items, and the checks that belong to it."""
    for items in SIZES:
        for name, share in SHARES.items():
            yield name, items, shares(share, items, 1)
            yield f"{name}, 3 candidates", items, shares(share, items, 3)
            yield name, items, differences(share, items)
        for name, means in SHAPES.items():
            yield name, items, shapes(means, items)


def coverages(studies: int, seed: int = 0) -> Iterator[tuple[str, str, int, float]]:
    """Estimator, scenario, items, share of studies whose interval contains the truth."""
    for name, items, checks in scenarios():
        for estimator, check in checks.items():
            random = np.random.default_rng(seed)
            yield estimator, name, items, sum(check(random) for _ in range(studies)) / studies


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    found: dict[tuple[str, str], dict[int, float]] = {}
    for estimator, name, items, coverage in coverages(studies):
        found.setdefault((estimator, name), {})[items] = coverage
    print(f"| estimator | scenario | {' | '.join(f'n = {items}' for items in SIZES)} |")
    print("| --- | --- " + "| --- " * len(SIZES) + "|")
    for (estimator, name), row in sorted(found.items()):
        print(f"| {estimator} | {name} | {' | '.join(f'{100 * row[items]:.1f}' for items in SIZES)} |")


if __name__ == "__main__":
    main()
