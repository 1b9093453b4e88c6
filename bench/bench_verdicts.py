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
from numpy.typing import NDArray

from codestress.fitting.proportions import Interval, newcombe, paired_difference
from codestress.fitting.verdicts import Verdict, drop_difference, judge, margin_of, repeated_difference

Array = NDArray[np.float64]
Study = Callable[[float, np.random.Generator], Interval]
"""One pair of studies that truly differ by so much: the interval of the difference."""

SHARES = {"flat": 0.5, "mild": 0.8, "strong": 0.95}
DESIGNS = ("fresh", "paired", "repeated", "largest drop")
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

    @property
    def sharp(self) -> bool:
        """Whether the interval is short enough that the words must be given."""
        return self.ours >= 25 and self.half_width <= self.margin / 2

    @property
    def faults(self) -> list[str]:
        """What the row breaks, with two standard errors of 1,000 simulations allowed."""
        checks = {
            "exact replications differ": self.differs_exact <= 0.064,
            "a difference of m is reproduced": self.reproduced_m <= 0.064,
            "a difference of 2 m is reproduced": self.reproduced_2m < 0.005,
            "exact replications are not reproduced": not self.sharp or self.reproduced_exact >= 0.8,
            "differences of 2 m do not differ": not self.sharp or self.differs_2m >= 0.8,
            "few answers reproduce": self.ours >= 25 or self.reproduced_exact == 0,
        }
        return [name for name, held in checks.items() if not held]


def items_of(share: float, items: int, random: np.random.Generator) -> Array:
    """Chances of items, most of them solved or failed always; on average `share`."""
    sure = random.random(items)
    return np.where(sure < 0.7 * share, 1.0, np.where(sure > 1 - 0.7 * (1 - share), 0.0, share))


def fresh(share: float, ours: int, theirs: int) -> Study:
    def study(shift: float, random: np.random.Generator) -> Interval:
        one, two = random.binomial(theirs, share) / theirs, random.binomial(ours, share - shift) / ours
        return newcombe(one, theirs, two, ours)

    return study


def paired(share: float, ours: int, _: int) -> Study:
    def study(shift: float, random: np.random.Generator) -> Interval:
        chance = items_of(share, ours, random)
        one, two = random.random(ours) < chance, random.random(ours) < chance * (1 - shift / share)
        return paired_difference(two * 1.0 - one)

    return study


def repeated(share: float, ours: int, _: int) -> Study:
    def study(shift: float, random: np.random.Generator) -> Interval:
        chance = items_of(share, ours, random)
        total = float((random.random(ours) < chance).mean())
        return repeated_difference(random.random((ours, 2)) < (chance * (1 - shift / share))[:, None], total)

    return study


def drops(drop: float, ours: int, theirs: int) -> Study:
    def scores(drop: float, items: int, random: np.random.Generator) -> Array:
        means = 0.9 - drop * (1 - (2 * POSITIONS - 1) ** 2)
        return (random.random((items, len(means))) < means) * 1.0

    def study(shift: float, random: np.random.Generator) -> Interval:
        one = float(np.ptp(scores(drop, theirs, random).mean(axis=0)))
        return drop_difference(scores(drop + shift, ours, random), one, theirs, resamples=200, rng=random)[1]

    return study


def scenarios() -> Iterator[tuple[str, str, int, int, float, Study]]:
    for effect, share in SHARES.items():
        for ours, theirs in ((800, 800), (100, 800), (5, 800), (6400, 6400)):
            yield "fresh", effect, ours, theirs, margin_of(None), fresh(share, ours, theirs)
        for name, design in (("paired", paired), ("repeated", repeated)):
            for items in (800, 100, 5):
                yield name, effect, items, items, margin_of(None), design(share, items, items)
    for effect, drop in DROPS.items():
        margin = margin_of(drop or None)
        for ours, theirs in ((800, 800), (100, 100), (800, 100), (100, 800)):
            yield "largest drop", effect, ours, theirs, margin, drops(drop, ours, theirs)


def rows(studies: int, seed: int = 0, designs: Sequence[str] = DESIGNS) -> Iterator[Row]:
    """The table; each number from so many simulated pairs of studies."""
    for design, effect, ours, theirs, margin, study in scenarios():
        if design not in designs:
            continue
        random = np.random.default_rng(seed)
        intervals = {times: [study(times * margin, random) for _ in range(studies)] for times in (0, 1, 2)}
        said = {times: [judge(one, margin, ours) for one in found] for times, found in intervals.items()}
        widths = [one.high - one.low for one in intervals[0]]

        def share(times: int, verdict: Verdict, said: dict[int, list[Verdict]] = said) -> float:
            return said[times].count(verdict) / studies

        yield Row(
            *(design, effect, ours, theirs, margin, float(np.mean(widths)) / 2),
            *(share(0, verdict) for verdict in (Verdict.DIFFERS, Verdict.REPRODUCED)),
            *(share(times, Verdict.REPRODUCED) for times in (1, 2)),
            share(2, Verdict.DIFFERS),
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
        shares = " | ".join(f"{100 * value:.1f}" for value in row[6:])
        points = f"{100 * row.margin:g} | {100 * row.half_width:.1f}"
        print(f"| {row.design} | {row.effect} | {row.ours} / {row.theirs} | {points} | {shares} |")
        faults += [f"{row.design}, {row.effect}, {row.ours} / {row.theirs}: {fault}" for fault in row.faults]
    print("\n".join(["", *faults]) if faults else "\nWithin all limits.")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
