"""CodeCrash: agreement of several answers to one question."""

from __future__ import annotations

from typing import Any, cast

import pandas as pd

from codestress.fitting.proportions import wilson
from codestress.papers.codecrash.results.conditions import CELL, MODES, NAMES, SETTING, panel_name


def stability(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each condition: the standard deviation of Pass@1 over candidates (in points, n - 1), and the share of
    problems whose candidates are all right or all wrong, with Wilson's interval.

    The paper does not say which standard deviation it takes (appendix C).
    """
    rows = []
    for group, part in answers.groupby(CELL, sort=False):
        cells = part.pivot_table(index="problem", columns="sample", values=f"value_{rule}").dropna()
        means = 100 * cells.mean()
        same = int((cells.nunique(axis=1) == 1).sum())
        low, high = wilson(same, len(cells), confidence)
        rows.append(
            dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
            | {
                "problems": len(cells),
                "candidates": cells.shape[1],
                "pass_at_1_pct": float(means.mean()),
                "deviation_points": float(means.std(ddof=1)) if cells.shape[1] > 1 else float("nan"),
                "same_verdict": same / len(cells) if len(cells) else float("nan"),
                "same_low": low,
                "same_high": high,
            }
        )
    return pd.DataFrame(rows)


def stability_bars(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Bars of the share of problems with one verdict: a panel for each data set and mode."""
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    panels: dict[str, pd.DataFrame] = {}
    named = table.assign(panel=[panel_name(row, varying) for row in table.to_dict("records")])
    for panel, part in named.groupby("panel", sort=False):
        panels[str(panel)] = part.rename(
            columns={
                "perturbation": "label",
                "model": "condition",
                "same_verdict": "share",
                "same_low": "low",
                "same_high": "high",
            }
        )[["label", "condition", "share", "low", "high"]]
    return panels


def describe_stability(table: pd.DataFrame) -> str:
    """The figure in words."""
    parts = [
        f"{row.model}, {NAMES[row.dataset]}, {MODES[row.mode]}, {row.perturbation}: {row.same_verdict:.1%}, standard "
        f"deviation {row.deviation_points:.2f} points"
        for row in table.itertuples()
    ]
    return "Problems whose candidates are all right or all wrong. " + "; ".join(parts) + "."
