"""How often the ledger's words are right: `python bench/bench_verdicts.py` (part of `make bench`; docs/intervals.md).

Simulated replications, ours and theirs, that are exact, or truly differ by the margin m or by 2 m. Wanted: exact ones
"differs" in at most 5 %, a difference of m "reproduced" in at most 5 %, of 2 m never (here: below 0.5 %), five answers
never, and where the interval's half-width is at most m / 2, exact ones "reproduced" and differences of 2 m "differs" in
at least 80 %.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from codestress.fitting.exponential import fit_exponential
from codestress.fitting.influence import mean, share
from codestress.fitting.proportions import (
    UNKNOWN,
    Interval,
    cluster_weights,
    clustered_mean,
    paired_difference,
    ratio_of_shares,
    wilson,
)
from codestress.fitting.verdicts import (
    Measured,
    Verdict,
    difference,
    judge,
    margin_of,
    of_noise,
)
from codestress.papers.semtrace.results.largest_drops import OWN, numbers_of

Array = NDArray[np.float64]
Study = Callable[[float, np.random.Generator], Interval]
"""One pair of studies that truly differ by so much: the interval of the difference."""

SHARES = {"flat": 0.5, "mild": 0.8, "strong": 0.95}
DESIGNS = (
    *(
        "fresh",
        "own error",
        "paired",
        "ratio",
        "mean of models",
        "tokens",
        "fitted loss",
    ),
    *("largest drop", "relative drop", "drops of models"),
)
SLOW = (
    "mean of models",
    "fitted loss",
    "largest drop",
    "relative drop",
    "drops of models",
)
DROPS = {"flat": 0.0, "mild": 0.15, "strong": 0.6}
POSITIONS = np.linspace(0, 1, 11)


class Row(NamedTuple):
    """What became of the pairs of studies of one scenario, as shares."""

    design: str
    effect: str
    ours: int
    theirs: int
    margin: float
    half_width: float
    differs_exact: float
    reproduced_exact: float
    reproduced_m: float
    reproduced_2m: float
    differs_2m: float
    studies: int
    """Of which each share is."""

    @property
    def sharp(self) -> bool:
        """Whether the interval is short enough that the words must be given."""
        return self.ours >= 25 and self.half_width <= self.margin / 2

    @property
    def faults(self) -> list[str]:
        """What the row breaks, with two standard errors of its simulations allowed where a share is to be 5 %."""
        most = 0.05 + 2 * (0.05 * 0.95 / self.studies) ** 0.5
        checks = {
            "exact replications differ": self.differs_exact <= most,
            "a difference of m is reproduced": self.reproduced_m <= most,
            "a difference of 2 m is reproduced": self.reproduced_2m < 0.005,
            "exact replications are not reproduced": not self.sharp
            or self.reproduced_exact >= 0.8,
            "differences of 2 m do not differ": not self.sharp
            or self.differs_2m >= 0.8,
            "few answers reproduce": self.ours >= 25 or self.reproduced_exact == 0,
        }
        return [name for name, held in checks.items() if not held]


def items_of(share: float, items: int, random: np.random.Generator) -> Array:
    """Chances of items, most of them solved or failed always; on average `share`."""
    sure = random.random(items)
    return np.where(
        sure < 0.7 * share, 1.0, np.where(sure > 1 - 0.7 * (1 - share), 0.0, share)
    )


def measured(successes: float, items: int) -> Measured:
    return Measured(successes / items, *wilson(successes, items), items)


def fresh(share: float, ours: int, theirs: int) -> Study:
    """Two shares with the intervals that both have."""

    def study(shift: float, random: np.random.Generator) -> Interval:
        one, two = random.binomial(theirs, share), random.binomial(ours, share - shift)
        return difference(measured(two, ours), measured(one, theirs))

    return study


def own_error(share: float, ours: int, theirs: int) -> Study:
    """Two shares, theirs as uncertain as ours would be with their items, and printed to whole per cent."""

    def study(shift: float, random: np.random.Generator) -> Interval:
        one = round(random.binomial(theirs, share) / theirs, 2)
        two = measured(random.binomial(ours, share - shift), ours)
        low, high = difference(two, two.at(one, theirs))
        return Interval(low - 0.005, high + 0.005)

    return study


def shared(
    share: float,
    items: int,
    conditions: int,
    random: np.random.Generator,
    shift: float = 0.0,
) -> Array:
    """Answers (items, conditions) that hang together: easy items are easy in all conditions."""
    chance = items_of(share, items, random) * (1 - shift / share)
    return (random.random((items, conditions)) < chance[:, None]) * 1.0


def ratio(share: float, ours: int, theirs: int) -> Study:
    """A relative difference of two conditions on the same items, of which four are of one question."""

    def found(
        items: int, shift: float, random: np.random.Generator
    ) -> tuple[float, Interval]:
        chance = np.repeat(items_of(share, items // 4, random), 4)
        one = (random.random(len(chance)) < chance) * 1.0
        two = (random.random(len(chance)) < chance * (0.8 - shift)) * 1.0
        alike = one.std() * two.std()
        together = (
            float(((one - one.mean()) * (two - two.mean())).mean() / alike)
            if alike
            else 0.0
        )
        first = float(one.mean())
        return two.mean() / first if first else np.nan, ratio_of_shares(
            first, two.mean(), items // 4, together
        )

    def study(shift: float, random: np.random.Generator) -> Interval:
        two, interval = found(ours, shift, random)
        one, _ = found(theirs, 0.0, random)
        number = Measured(two, *interval, ours // 4)
        return (
            difference(number, number.at(one, theirs // 4)) if one == one else UNKNOWN
        )

    return study


def of_models(share_: float, ours: int, theirs: int) -> Study:
    """A mean over ten models that were asked the same."""

    def found(
        items: int, shift: float, random: np.random.Generator
    ) -> tuple[float, Interval]:
        table = shared(share_, items, 10, random, shift)
        one = mean([share(pd.Series(table[:, n])) for n in range(10)])
        return one.value, one.interval(items)

    def study(shift: float, random: np.random.Generator) -> Interval:
        two, interval = found(ours, shift, random)
        number = Measured(two, *interval, ours)
        return difference(number, number.at(found(theirs, 0.0, random)[0], theirs))

    return study


def tokens(spread: float, ours: int, theirs: int) -> Study:
    """Mean numbers of tokens, relative to the true one; numbers are log-normal."""

    def study(shift: float, random: np.random.Generator) -> Interval:
        one, two = (
            random.lognormal(-(spread**2) / 2, spread, items)
            for items in (theirs, ours)
        )
        two *= 1 - shift
        number = Measured(
            float(two.mean()),
            *clustered_mean(two, np.arange(ours)).interval,
            ours,
            student=True,
        )
        return difference(number, number.at(float(one.mean()), theirs))

    return study


def losses(loss: float, ours: int, theirs: int) -> Study:
    """What a fitted exponential loses at the middle."""
    x = np.linspace(0, 1, 11)

    def found(
        items: int, loss: float, random: np.random.Generator
    ) -> tuple[float, float, float]:
        means = 0.8 * np.exp(2 * np.log(1 - loss) * x)
        right = (random.random((items, 11)) < means) * 1.0
        fit = fit_exponential(x, right, np.ones_like(right), resamples=100, rng=random)
        value, ends = fit.loss_at(0.5)
        return value, *ends

    def study(shift: float, random: np.random.Generator) -> Interval:
        number = Measured(*found(ours, loss + shift, random), ours, student=True)
        return difference(number, number.at(found(theirs, loss, random)[0], theirs))

    return study


def paired(share: float, ours: int, _: int) -> Study:
    def study(shift: float, random: np.random.Generator) -> Interval:
        chance = items_of(share, ours, random)
        one, two = (
            random.random(ours) < chance,
            random.random(ours) < chance * (1 - shift / share),
        )
        return paired_difference(two * 1.0 - one)

    return study


def drops(
    drop: float, ours: int, theirs: int, unit: str = "points", models: int = 1
) -> Study:
    """Best minus worst position, as the ledger's tables have it (in points of 100, or in % of the best)."""

    def found(drop: float, items: int, random: np.random.Generator) -> dict[str, float]:
        means = 0.9 - drop * (1 - (2 * POSITIONS - 1) ** 2)
        scores = (random.random((models, items, len(means))) < means) * 1.0
        drawn = cluster_weights(items, 200, random) / items @ scores
        drawn += random.normal(0, 1 / np.sqrt(items * (items + 2)), drawn.shape)
        means = scores.mean(axis=1, keepdims=True)
        curves = np.concatenate([means, np.clip(drawn, 0, 1)], axis=1)
        return numbers_of(curves[:, None], unit, OWN, 0.95)

    def study(shift: float, random: np.random.Generator) -> Interval:
        if ours != theirs:
            return UNKNOWN  # it grows with noise, so that both must be of one n
        scale = 0.9 if unit == "relative" else 1.0
        one, two = (
            found(drop * scale, theirs, random),
            found((drop + shift) * scale, ours, random),
        )
        noise = [
            two[unit + name] / 100 for name in ("", "_deviation", "_without_effect")
        ]
        low, high = difference(*of_noise(*noise, ours, one[unit] / 100))
        return Interval(low, high)

    return study


def scenarios() -> Iterator[tuple[str, str, int, int, float, Study]]:
    for effect, chance in SHARES.items():
        for name, shares in (("fresh", fresh), ("own error", own_error)):
            for ours, theirs in (
                (800, 800),
                (100, 800),
                (20, 800),
                (5, 800),
                (1, 800),
                (6400, 6400),
            ):
                yield (
                    name,
                    effect,
                    ours,
                    theirs,
                    margin_of(None),
                    shares(chance, ours, theirs),
                )
        for items in (800, 100, 5):
            yield (
                "paired",
                effect,
                items,
                items,
                margin_of(None),
                paired(chance, items, items),
            )
        for ours, theirs in ((1280, 1280), (100, 1280)):
            yield (
                "ratio",
                effect,
                ours,
                theirs,
                margin_of(0.2),
                ratio(chance, ours, theirs),
            )
            yield (
                "mean of models",
                effect,
                ours,
                theirs,
                margin_of(None),
                of_models(chance, ours, theirs),
            )
    for effect, spread in {"mild": 0.5, "strong": 1.0}.items():
        for ours, theirs in ((800, 800), (100, 800), (25, 800)):
            yield (
                "tokens",
                effect,
                ours,
                theirs,
                margin_of(None),
                tokens(spread, ours, theirs),
            )
    for effect, drop in DROPS.items():
        for ours, theirs in ((800, 800), (100, 100), (25, 25)):
            if drop:
                yield (
                    "fitted loss",
                    effect,
                    ours,
                    theirs,
                    margin_of(drop),
                    losses(drop, ours, theirs),
                )
        margin = margin_of(drop or None)
        for ours, theirs in ((800, 800), (100, 100), (100, 800), (800, 100), (5, 800)):
            yield (
                "largest drop",
                effect,
                ours,
                theirs,
                margin,
                drops(drop, ours, theirs),
            )
            yield (
                "relative drop",
                effect,
                ours,
                theirs,
                margin,
                drops(drop, ours, theirs, "relative"),
            )
            yield (
                "drops of models",
                effect,
                ours,
                theirs,
                margin,
                drops(drop, ours, theirs, models=4),
            )


def rows(
    studies: int, seed: int = 0, designs: Sequence[str] = DESIGNS
) -> Iterator[Row]:
    """The table; each number from so many simulated pairs of studies, a twentieth of them of `SLOW` designs."""
    for design, effect, ours, theirs, margin, study in scenarios():
        if design not in designs:
            continue
        random = np.random.default_rng(seed)
        count = min(studies, max(studies // 20, 40)) if design in SLOW else studies
        intervals = {
            times: [study(times * margin, random) for _ in range(count)]
            for times in (0, 1, 2)
        }
        said = {
            times: [judge(one, margin, ours) for one in found]
            for times, found in intervals.items()
        }
        widths = [one.high - one.low for one in intervals[0]]

        def share(
            times: int, verdict: Verdict, said: dict[int, list[Verdict]] = said
        ) -> float:
            return said[times].count(verdict) / len(said[times])

        yield Row(
            *(design, effect, ours, theirs, margin, float(np.mean(widths)) / 2),
            *(share(0, verdict) for verdict in (Verdict.DIFFERS, Verdict.REPRODUCED)),
            *(share(times, Verdict.REPRODUCED) for times in (1, 2)),
            share(2, Verdict.DIFFERS),
            count,
        )


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(
        "| design | effect | n, ours / theirs | m | half-width | exact: differs | exact: reproduced | m: reproduced "
        "| 2 m: reproduced | 2 m: differs |"
    )
    print("| --- " * 10 + "|")
    faults = []
    for row in rows(studies):
        shares = " | ".join(f"{100 * value:.1f}" for value in row[6:-1])
        points = f"{100 * row.margin:g} | {100 * row.half_width:.1f}"
        print(
            f"| {row.design} | {row.effect} | {row.ours} / {row.theirs} | {points} | {shares} |"
        )
        faults += [
            f"{row.design}, {row.effect}, {row.ours} / {row.theirs}: {fault}"
            for fault in row.faults
        ]
    print("\n".join(["", *faults]) if faults else "\nWithin all limits.")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
