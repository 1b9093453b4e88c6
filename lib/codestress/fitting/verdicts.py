"""What the difference between a regenerated number and a published one supports, and which interval it has.

Comparing one study's interval with the other's point ignores half of the error (Patil, Peng and Leek 2016; Spence and
Stanley 2016), so that every interval here counts both sides. "Reproduced" is a test of equivalence within a margin, two
one-sided tests (Lakens 2017; Micheloud and Held 2022). bench/bench_verdicts.py shows that the words keep their levels.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from codestress.fitting.proportions import Interval, normal_quantile, student_quantile

FEWEST_CLUSTERS = 25
"""With fewer independent clusters nothing is ever reproduced."""
LARGEST_MARGIN, USUAL_MARGIN = 0.10, 0.05
"""Of shares: half of the effect that a statement claims, at most the first; the second where it claims none."""


class Verdict(StrEnum):
    """What may be said of a number that was asked, or computed from what was published for each item, again."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"


def margin_of(effect: float | None) -> float:
    """How far a reproduced share may be from the published one, by the effect that the statement claims."""
    return USUAL_MARGIN if effect is None else min(abs(effect) / 2, LARGEST_MARGIN)


def judge(interval: Interval, margin: float, clusters: float) -> Verdict:
    """By the interval of the difference, ours - theirs, in the margin's unit, and our independent clusters."""
    low, high = interval
    if math.isnan(low) or math.isnan(high):
        return Verdict.INCONCLUSIVE
    if -margin <= low and high <= margin:
        return Verdict.REPRODUCED if clusters >= FEWEST_CLUSTERS else Verdict.INCONCLUSIVE
    return Verdict.DIFFERS if low > 0 or high < 0 else Verdict.INCONCLUSIVE


class Measured(NamedTuple):
    """A number with the interval that it has alone, and the independent items behind it (inf: as good as all)."""

    value: float
    low: float
    high: float
    items: float
    student: bool = False
    """Whether its interval is by Student's quantile already."""

    @property
    def down(self) -> float:
        """How far below it the truth may be, by Student's quantile, because few items know little of their spread."""
        return self._wider(self.value - self.low)

    @property
    def up(self) -> float:
        """How far above it the truth may be."""
        return self._wider(self.high - self.value)

    def at(self, value: float, items: float) -> Measured:
        """Another study's value by the same protocol, as uncertain as this one with so many items (Spence and Stanley
        2016)."""
        scale = math.sqrt(self.items / items)
        if self.student:
            scale *= _stretch(items) / _stretch(self.items)
        low, high = value - scale * (self.value - self.low), value + scale * (self.high - self.value)
        return Measured(value, low, high, items, self.student)

    def _wider(self, half: float) -> float:
        if self.items <= 1:
            return math.inf
        return half if self.student else half * _stretch(self.items)


def _stretch(items: float) -> float:
    """By how much an interval that takes its error for known is too short with so many items, two or more."""
    return 1.0 if items > 1000 else student_quantile(0.95, items) / normal_quantile(0.95)


def difference(ours: Measured, theirs: Measured) -> Interval:
    """Interval of ours - theirs, independent of each other: square and add (Zou and Donner 2008), which for two shares
    of many items is Newcombe's."""
    between = ours.value - theirs.value
    return Interval(between - math.hypot(ours.down, theirs.up), between + math.hypot(ours.up, theirs.down))


def repeated_difference(ours: ArrayLike, theirs: float, confidence: float = 0.95) -> Interval:
    """Ours - theirs where both asked the same items and theirs are a total: ours (items, repeats), two or more.

    Repeats must redraw all that the paper leaves open; how often two of ours disagree on an item (pseudo-counts as of
    two items that do) estimates the noise of both, assuming that their noise is ours. Items themselves do not vary.
    """
    table = np.asarray(ours, dtype=float)
    items, repeats = table.shape
    if repeats < 2:
        raise ValueError("one answer to each item tells nothing of noise: ask twice or more")
    # The share of pairs of repeats that disagree, on average over items.
    totals = table.sum(axis=1)
    flips = float((2 * totals * (repeats - totals) / (repeats * (repeats - 1))).sum())
    rate = (flips + 2) / (items + 4)
    half = normal_quantile(confidence) * math.sqrt(rate * (1 + 1 / repeats) / (2 * items))
    difference = float(table.mean()) - theirs
    return Interval(difference - half, difference + half)


def of_noise(
    value: float, deviation: float, without_effect: float, items: float, theirs: float
) -> tuple[Measured, Measured]:
    """Ours and theirs of a number that grows with noise, such as a largest drop over positions, both of as many items:
    our value, its standard deviation, what noise alone makes of it, and their value.

    Where theirs is about as large as noise alone makes it, a true number of that size could hide behind either, and
    its interval is longer by it.
    """
    half = normal_quantile(0.95) * deviation
    hidden = without_effect if theirs < 2 * without_effect else 0.0
    ours = Measured(value, value - half, value + half, items)
    return ours, Measured(theirs, theirs - half - hidden, theirs + half + hidden, items)


def clusters_to_decide(difference: float, margin: float, ours: float, clusters: float, theirs: float) -> float:
    """How many clusters of ours would decide it if the difference stays; inf where no run of ours can.

    `ours` and `theirs` are the half-widths that both numbers have alone, ours with so many clusters.
    """
    if theirs >= margin:
        return math.inf
    wanted = max(abs(difference), margin - abs(difference))
    room = wanted if wanted > theirs else margin
    return max(FEWEST_CLUSTERS, math.ceil(clusters * ours**2 / (room**2 - theirs**2)))


def p_value(interval: Interval, confidence: float = 0.95) -> float:
    """Two-sided, of no difference, from an interval about it: as if it were normal."""
    half = (interval.high - interval.low) / 2
    if not half > 0:
        return math.nan
    z = abs(interval.low + interval.high) / 2 / half * normal_quantile(confidence)
    return math.erfc(z / math.sqrt(2))
