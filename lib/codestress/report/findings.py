"""What numbers that others published say: findings, each with its test, its interval and its caveat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd


class Finding(NamedTuple):
    """A row of the table that stands first."""

    finding: str
    """A sentence with its numbers."""
    test: str
    interval: str
    """Which, and whether items are paired, sides are marginal, or models are paired."""
    multiplicity: str
    """Which tests are corrected together, and how."""
    caveat: str
    """What the numbers cannot carry."""


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """A row each, of the evidence class `recomputed`."""
    return pd.DataFrame(findings, columns=Finding._fields).assign(evidence="recomputed")


def listed(names: Sequence[str]) -> str:
    """`a, b and c`; `none` without any."""
    if not names:
        return "none"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def points(value: float) -> str:
    """A difference of shares (-1 to 1) in points, with its sign."""
    return f"{100 * value:+.1f}"


def span(low: float, high: float, scale: float = 100, digits: int = 1) -> str:
    """An interval in brackets, times `scale`; open where it has no end."""
    return f"[{scale * low:.{digits}f}, {'∞' if high == float('inf') else f'{scale * high:.{digits}f}'}]"


def extremes(
    values: pd.Series, unit: str = " %", digits: int = 0, spoken: Mapping[str, Mapping[Any, str]] | None = None
) -> str:
    """The smallest and the largest of some numbers, with what tells their index apart: `4 % (sim-near) to 85 %
    (sim-wide)`; how many where several are as small or as large. `spoken` says what values of a level are called;
    other numbers stand before the name of what they count (80 distractors), else behind it (d 15)."""
    known = values.dropna().astype(float).round(digits) + 0.0  # no -0
    if known.empty:
        return "(not known)"
    labels = known.index.to_frame(index=False)
    labels = labels[[column for column in labels if labels[column].nunique() > 1] or list(labels)[:1]]
    told = []
    for value in sorted({known.min(), known.max()}):
        found = labels[(known == value).to_numpy()].to_dict("records")
        words = [_spoken(name, one, (spoken or {}).get(name, {})) for name, one in found[0].items()]
        where = ", ".join(words).replace("_", " ") if len(found) == 1 else f"{len(found)} of {len(known)}"
        told.append(f"{value:,.{digits}f}{unit} ({where})")
    return " to ".join(told)


def _spoken(level: str, value: Any, words: Mapping[Any, str]) -> str:
    if value in words or isinstance(value, str):
        return words.get(value, str(value))
    return f"{value} {level}" if level.endswith("s") else f"{level} {value}"


def describe_findings(table: pd.DataFrame) -> str:
    """The findings in words, for the picture's description."""
    return " ".join(table["finding"])


def told(head: str, rows: pd.DataFrame, form: str, group: str = "", between: str = "; ") -> str:
    """A figure in words: its rows in a form that names columns; those that a form of a `group` names alike follow it
    together."""
    parts: dict[str, list[str]] = {}
    for number, row in enumerate(rows.to_dict("records")):
        parts.setdefault(group.format(**row) if group else str(number), []).append(form.format(**row))
    words = [f"{name}: {', '.join(some)}" if group else some[0] for name, some in parts.items()]
    return f"{head} {between.join(words)}."
