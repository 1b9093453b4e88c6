"""Verdicts on the difference between a regenerated number and a published one, with its
interval.

Comparing one study's interval with the other study's point ignores half of the error
(Patil, Peng and Leek 2016; Spence and Stanley 2016), so every interval here counts both
sides. "Reproduced" is a test of equivalence within a margin, by two one-sided tests
(Lakens 2017; Micheloud and Held 2022). bench/bench_verdicts.py shows that the verdicts
keep their levels.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import NamedTuple

from .proportions import Interval, normal_quantile, student_quantile

FEWEST_CLUSTERS = 25
"""Fewest independent clusters with which a number can be reproduced."""
LARGEST_MARGIN, USUAL_MARGIN = 0.10, 0.05
"""Margins for shares. The margin is half of the effect that a statement claims, at most
`LARGEST_MARGIN`, and `USUAL_MARGIN` for a statement that claims no effect."""


class Verdict(StrEnum):
    """Verdict on a number of a paper that was measured again, or recomputed from data
    published for each item: reproduced (it lies within the margin), differs, or
    inconclusive (the interval leaves both open)."""

    REPRODUCED = "reproduced"
    """The number lies within the margin."""
    DIFFERS = "differs"
    """The number lies on one side of the published one, perhaps beyond the margin."""
    INCONCLUSIVE = "inconclusive"
    """The interval leaves both open, or has too few clusters behind it."""


def margin_of(effect: float | None) -> float:
    """Returns the largest distance from the published share at which a share counts as
    reproduced: half of `effect`, the effect that the paper's statement claims, at most
    `LARGEST_MARGIN`; `USUAL_MARGIN` when `effect` is None."""
    if effect is None:
        return USUAL_MARGIN
    return min(abs(effect) / 2, LARGEST_MARGIN)


def judge(interval: Interval, margin: float, clusters: float) -> Verdict:
    """Returns the verdict from the `interval` of our number minus the published one, in
    the unit of `margin`, and from `clusters`, the number of our independent clusters.

    Reproduced: the interval lies within the margin, with at least `FEWEST_CLUSTERS`
    clusters. Differs: the interval reaches beyond the margin and excludes 0. Else, and
    for nan, inconclusive.
    """
    low, high = interval
    if math.isnan(low + high):
        return Verdict.INCONCLUSIVE
    if -margin <= low and high <= margin:
        if clusters >= FEWEST_CLUSTERS:
            return Verdict.REPRODUCED
    elif low > 0 or high < 0:
        return Verdict.DIFFERS
    return Verdict.INCONCLUSIVE


class Measured(NamedTuple):
    """A number with its own interval and the number of independent items behind it
    (inf: unlimited)."""

    value: float
    """The number."""
    low: float
    """Lower end of its interval, at 95 %."""
    high: float
    """Upper end of the interval."""
    items: float
    """Number of independent items."""
    student: bool = False
    """Whether the interval already uses Student's quantile."""

    @property
    def down(self) -> float:
        """Distance from the value down to the interval's lower end, by Student's
        quantile, because few items tell little of their spread; inf for a single
        item."""
        return self._wider(self.value - self.low)

    @property
    def up(self) -> float:
        """Distance from the value up to the interval's upper end, by Student's
        quantile; inf for a single item."""
        return self._wider(self.high - self.value)

    def at(self, value: float, items: float) -> Measured:
        """Returns another study's `value` by the same protocol, as `Measured`, with
        this number's uncertainty scaled to `items` items (Spence and Stanley 2016)."""
        scale = math.sqrt(self.items / items)
        if self.student:
            scale *= _stretch(items) / _stretch(self.items)
        low = value - scale * (self.value - self.low)
        high = value + scale * (self.high - self.value)
        return Measured(value, low, high, items, self.student)

    def _wider(self, half: float) -> float:
        """Return the `half` of an interval, by Student's quantile."""
        if self.items <= 1:
            return math.inf
        if self.student:
            return half
        return half * _stretch(self.items)


def _stretch(items: float) -> float:
    """Returns the factor by which a normal interval must be lengthened for `items`
    items, two or more: Student's quantile over the normal one, 1 above 1,000 items."""
    if items > 1000:
        return 1.0
    return student_quantile(0.95, items) / normal_quantile(0.95)


def difference(ours: Measured, theirs: Measured) -> Interval:
    """Returns the interval of `ours` - `theirs`, two independent numbers with
    intervals: square and add (Zou and Donner 2008), which for two shares of many items
    is Newcombe's interval."""
    between = ours.value - theirs.value
    return Interval(
        between - math.hypot(ours.down, theirs.up),
        between + math.hypot(ours.up, theirs.down),
    )


def of_noise(
    value: float, deviation: float, without_effect: float, items: float, theirs: float
) -> tuple[Measured, Measured]:
    """Returns our and the paper's value, each as `Measured`, of a number that grows
    with noise, such as a largest drop over positions; both are from `items` items.

    `value` is ours and `deviation` its standard deviation, `without_effect` the value
    under noise alone, and `theirs` the paper's value, given our deviation too. When
    `theirs` is less than twice `without_effect`, a true number of that size could be
    hidden, so each side of the paper's interval is longer by `without_effect`.
    """
    half = normal_quantile(0.95) * deviation
    ours = Measured(value, value - half, value + half, items)
    hidden = 0.0
    if theirs < 2 * without_effect:
        hidden = without_effect
    return ours, Measured(theirs, theirs - half - hidden, theirs + half + hidden, items)


def clusters_to_decide(
    difference: float, margin: float, ours: float, clusters: float, theirs: float
) -> float:
    """Returns the number of our clusters that would give a verdict if the difference
    stays, at least `FEWEST_CLUSTERS`; inf when `theirs` is not below `margin`: then no
    number can.

    `difference` is our number minus the paper's, `margin` the largest that counts as
    reproduced. `ours` and `theirs` are the half-widths of both numbers' own intervals,
    ours with `clusters` clusters.
    """
    if theirs >= margin:
        return math.inf
    away = abs(difference)
    wanted = max(away, margin - away)
    room = margin
    if wanted > theirs:
        room = wanted
    return max(FEWEST_CLUSTERS, math.ceil(clusters * ours**2 / (room**2 - theirs**2)))


def p_value(interval: Interval, confidence: float = 0.95) -> float:
    """Returns the two-sided p-value of no difference, from the `interval` of a
    difference with its `confidence`, as if it were normal; nan for an interval without
    width."""
    half = (interval.high - interval.low) / 2
    if not half > 0:
        return math.nan
    z = abs(interval.low + interval.high) / 2 / half
    z *= normal_quantile(confidence)
    return math.erfc(z / math.sqrt(2))
