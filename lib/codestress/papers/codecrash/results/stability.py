"""CodeCrash: agreement of several answers to one question."""

from __future__ import annotations

import math

import pandas as pd

from codestress.fitting.proportions import wilson
from codestress.papers.codecrash.results.conditions import cells, told


def stability(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """For each condition: the standard deviation of Pass@1 over candidates (in points, n - 1), and the share of
    problems whose candidates are all right or all wrong, with Wilson's interval (low, high), and what is true of it.

    The paper does not say which standard deviation it takes (appendix C).
    """
    rows = []
    for cell, part in cells(answers):
        verdicts = part.pivot_table(index="problem", columns="sample", values=f"value_{rule}").dropna()
        problems, candidates = verdicts.shape
        known = rule == "strict" and "chance" in part
        right = part.groupby("problem")["chance"].first()[verdicts.index] if known else pd.Series([math.nan])
        alike = right**candidates + (1 - right) ** candidates
        means = 100 * verdicts.mean()
        same = int((verdicts.nunique(axis=1) == 1).sum())
        low, high = wilson(same, problems, confidence)
        rows.append(
            cell
            | {"problems": problems, "candidates": candidates, "pass_at_1_pct": float(means.mean())}
            | {"deviation_points": float(means.std(ddof=1))}
            | {"same_verdict": same / problems if problems else math.nan, "low": low, "high": high}
            | {"true": alike.mean(skipna=False)}
        )
    return pd.DataFrame(rows)


def describe_stability(table: pd.DataFrame) -> str:
    """The figure in words."""
    spread = "standard deviation {deviation_points:.2f} points"
    form = "{model}, {dataset}, {mode}, {perturbation}: {same_verdict:.1%}, " + spread
    return told("Problems whose candidates are all right or all wrong.", table, form)
