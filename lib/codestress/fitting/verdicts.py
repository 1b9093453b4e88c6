"""Verdicts on the difference, with its interval, between a regenerated number and a
published one.

Comparing one study's interval with the other study's point ignores half of the error.
Every interval here therefore includes the errors of both studies (Patil, Peng and Leek
2016; Spence and Stanley 2016). "Reproduced" is a test of equivalence within a margin,
by two one-sided tests (Lakens 2017; Micheloud and Held 2022). bench/bench_verdicts.py
shows that the verdicts keep their levels.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import NamedTuple

from .proportions import Interval, normal_quantile, student_quantile

FEWEST_CLUSTERS = 25
"""Smallest number of independent clusters with which a number can count as reproduced.
"""
LARGEST_MARGIN, USUAL_MARGIN = 0.10, 0.05
"""Margins for shares (0 to 1). The margin is half of the effect that a paper's
statement claims, at most `LARGEST_MARGIN`, and `USUAL_MARGIN` for a statement that
claims no effect."""


class Verdict(StrEnum):
    """Verdict on a paper's number that was measured again, or recomputed from data
    published for each item: reproduced, differs or inconclusive."""

    REPRODUCED = "reproduced"
    """The interval of the difference lies within the margin."""
    DIFFERS = "differs"
    """The interval of the difference excludes 0 and reaches beyond the margin."""
    INCONCLUSIVE = "inconclusive"
    """The interval leaves reproduced and differs open, or there are too few clusters.
    """


def margin_of(effect: float | None) -> float:
    """Return the largest distance from the published share at which a share counts as
    reproduced.

    The distance is half of `effect`, the effect that the paper's statement claims, at
    most `LARGEST_MARGIN`. `USUAL_MARGIN` if `effect` is None.
    """
    if effect is None:
        return USUAL_MARGIN
    return min(abs(effect) / 2, LARGEST_MARGIN)


def judge(interval: Interval, margin: float, clusters: float) -> Verdict:
    """Return the verdict for the `interval` of our number minus the published one.

    `margin` is in the same unit; `clusters` is the number of our independent clusters.
    Reproduced: the interval lies within the margin, with at least `FEWEST_CLUSTERS`
    clusters. Differs: the interval reaches beyond the margin and excludes 0. Any other
    interval, and nan, is inconclusive.
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
    """A number with its own interval and the number of independent items behind it (inf
    if unlimited)."""

    value: float
    """The number."""
    low: float
    """Lower end of the number's interval, at 95 %."""
    high: float
    """Upper end of the interval."""
    items: float
    """Number of independent items."""
    student: bool = False
    """Whether the interval was computed with Student's quantile."""

    @property
    def down(self) -> float:
        """Distance from the value down to the interval's lower end, with Student's
        quantile, because few items underestimate their spread. inf for a single item.
        """
        return self._wider(self.value - self.low)

    @property
    def up(self) -> float:
        """Distance from the value up to the interval's upper end, with Student's
        quantile; inf for a single item."""
        return self._wider(self.high - self.value)

    def at(self, value: float, items: float) -> Measured:
        """Return another study's `value` with the same protocol, as `Measured`, with
        this number's uncertainty scaled to `items` items (Spence and Stanley 2016)."""
        scale = math.sqrt(self.items / items)
        if self.student:
            scale *= _stretch(items) / _stretch(self.items)
        low = value - scale * (self.value - self.low)
        high = value + scale * (self.high - self.value)
        return Measured(value, low, high, items, self.student)

    def _wider(self, half: float) -> float:
        """Return the length `half` of one side of the interval, lengthened from a
        normal interval's to Student's; inf for a single item."""
        if self.items <= 1:
            return math.inf
        if self.student:
            return half
        return half * _stretch(self.items)


def _stretch(items: float) -> float:
    """Return the factor by which a normal interval must be lengthened for `items`
    items, two or more.

    The factor is Student's quantile over the normal one, and 1 for more than 1,000
    items.
    """
    if items > 1000:
        return 1.0
    return student_quantile(0.95, items) / normal_quantile(0.95)


def difference(ours: Measured, theirs: Measured) -> Interval:
    """Return the interval of `ours` - `theirs`, two independent numbers with intervals.

    The lengths of the sides are combined by squaring and adding (Zou and Donner 2008).
    For two shares of many items that is Newcombe's interval.
    """
    between = ours.value - theirs.value
    return Interval(
        between - math.hypot(ours.down, theirs.up),
        between + math.hypot(ours.up, theirs.down),
    )


def of_noise(
    value: float, deviation: float, without_effect: float, items: float, theirs: float
) -> tuple[Measured, Measured]:
    """Return our value and the paper's, each as `Measured`, of a number that noise
    alone increases, such as a largest drop over positions.

    `value` is ours, `deviation` its standard deviation, and `without_effect` its size
    under noise alone. `theirs` is the paper's value, to which our deviation is applied
    too. Both values come from `items` items. If `theirs` is less than twice
    `without_effect`, noise could hide a true number of that size, so each side of the
    paper's interval is lengthened by `without_effect`.
    """
    half = normal_quantile(0.95) * deviation
    ours = Measured(value, value - half, value + half, items)
    if theirs < 2 * without_effect:
        half += without_effect
    return ours, Measured(theirs, theirs - half, theirs + half, items)


def clusters_to_decide(
    difference: float, margin: float, ours: float, clusters: float, theirs: float
) -> float:
    """Return the smallest number of our clusters with which the verdict would be
    decided (reproduced or differs) if the difference stayed the same.

    The number is at least `FEWEST_CLUSTERS`. It is inf if no number would do, because
    the paper's interval alone is too wide.

    `difference` is our number minus the paper's, and `margin` the largest difference
    that counts as reproduced. `ours` and `theirs` are half-widths of the intervals of
    our number (with `clusters` clusters) and of the paper's.
    """
    away = abs(difference)
    wanted = max(away, margin - away)
    room = margin
    if wanted > theirs:
        room = wanted
    if theirs >= room:
        return math.inf
    return max(FEWEST_CLUSTERS, math.ceil(clusters * ours**2 / (room**2 - theirs**2)))


def p_value(interval: Interval) -> float:
    """Return the two-sided p-value of the hypothesis of no difference, from the 95 %
    `interval` of a difference, treated as normal. nan for an interval without width."""
    low, high = interval
    if not high > low:
        return math.nan
    z = abs(low + high) / (high - low)
    z *= normal_quantile(0.95)
    return math.erfc(z / math.sqrt(2))
