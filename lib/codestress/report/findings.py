"""Findings in numbers that others published, each with its test, its interval and its caveat."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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


def extremes(
    values: pd.Series,
    unit: str = " %",
    digits: int = 0,
    spoken: Mapping[str, Mapping[Any, str]] | None = None,
) -> str:
    """Returns the smallest and the largest of `values` as text, each with the levels of its index
    that vary: `4 % (sim-near) to 85 % (sim-wide)`. Where several values are as small or as large,
    their number stands instead (`2 of 5`). `(not known)` without values.

    `unit` and `digits` are those of the numbers. `spoken` gives words for the values of a level, by
    level; a number without words stands before a level's name in the plural (80 distractors), else
    behind it (d 15).
    """
    known = values.dropna().astype(float).round(digits) + 0.0  # no -0
    if known.empty:
        return "(not known)"
    labels = known.index.to_frame(index=False)
    varying = [level for level in labels if labels[level].nunique() > 1] or list(
        labels
    )[:1]
    ends = []
    for value in sorted({known.min(), known.max()}):
        places = labels.loc[(known == value).to_numpy(), varying].to_dict("records")
        where = f"{len(places)} of {len(known)}"
        if len(places) == 1:
            words = [
                _spoken(level, own, spoken or {}) for level, own in places[0].items()
            ]
            where = ", ".join(words).replace("_", " ")
        ends.append(f"{value:,.{digits}f}{unit} ({where})")
    return " to ".join(ends)


def _spoken(level: str, value: Any, spoken: Mapping[str, Mapping[Any, str]]) -> str:
    words = spoken.get(level, {})
    if value in words or isinstance(value, str):
        return words.get(value, str(value))
    return f"{value} {level}" if level.endswith("s") else f"{level} {value}"


def describe_findings(table: pd.DataFrame) -> str:
    """Returns the sentences in the column `finding` of `table` as one text, for a picture's
    alternative text."""
    return " ".join(table["finding"])


def told(
    head: str, rows: pd.DataFrame, form: str, group: str = "", between: str = "; "
) -> str:
    """Returns a figure's description: `head`, then each row filled into the template `form`, such
    as `{model}: {share}`, whose fields are columns; `between` joins them. With a template `group`,
    rows with equal text by that template follow the text together."""
    records = rows.to_dict("records")
    words = [form.format(**row) for row in records]
    if group:
        parts: dict[str, list[str]] = {}
        for row, text in zip(records, words, strict=True):
            parts.setdefault(group.format(**row), []).append(text)
        words = [f"{name}: {', '.join(texts)}" for name, texts in parts.items()]
    return f"{head} {between.join(words)}."
