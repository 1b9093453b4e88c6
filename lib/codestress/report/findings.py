"""Findings in numbers that others published, each with its test, its interval and its caveat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd


class Finding(NamedTuple):
    """A sentence on published numbers with its test, interval and caveat: one row of the table that
    `findings_table` makes."""

    finding: str
    """A sentence with its numbers."""
    test: str
    interval: str
    """The kind of interval, and whether items are paired, sides are marginal, or models are
    paired."""
    multiplicity: str
    """The tests that are corrected together, and the correction."""
    caveat: str
    """Limits of the numbers: a conclusion that they do not support."""


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Returns a table with a row for each finding, with a column for each of its fields, and the
    column `evidence`, which is `recomputed` throughout."""
    return pd.DataFrame(findings, columns=Finding._fields).assign(evidence="recomputed")


def listed(names: Sequence[str]) -> str:
    """Returns names joined as `a, b and c`; `none` without names."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def points(value: float) -> str:
    """Returns the difference `value` of two shares (-1 to 1) as text in percentage points, with its
    sign and one decimal: `+2.5` for 0.025."""
    return f"{100 * value:+.1f}"


def span(low: float, high: float, scale: float = 100, digits: int = 1) -> str:
    """Returns the interval from `low` to `high`, both multiplied by `scale`, as text in brackets
    with `digits` decimals: `[1.0, 2.5]`; ∞ for an infinite `high`."""
    return f"[{scale * low:.{digits}f}, {'∞' if high == float('inf') else f'{scale * high:.{digits}f}'}]"
