"""CodeCrash: the added cost of misleading comments (MCC), beside neutral ones (NCC, a control of the
kit's that is not the paper's)."""

from __future__ import annotations

import pandas as pd

from codestress.mutate.perturbations.variants import NEUTRAL
from codestress.papers.codecrash.results.conditions import (
    scores_by_problem,
    undefended,
)
from codestress.papers.codecrash.results.differences import (
    beside,
    difference_points,
    paired_differences,
)


def added_costs(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Returns the differences of Pass@1 in `answers` between misleading comments and neutral ones at
    the same places, by model, setting and density, paired on the problems of both. `rule` is the
    scoring rule.

    Columns: those of `paired_differences`, with neutral_pct in place of vanilla_pct. Empty where
    MCC or NCC was not asked.
    """
    scores = undefended(scores_by_problem(answers, rule))
    parts = []
    for _, part in scores.groupby("density", sort=False):
        neutral = part[part["perturbation"] == NEUTRAL]
        parts.append(beside(neutral, part[part["perturbation"] == "MCC"]))
    table = paired_differences(pd.concat(parts), confidence)
    return table.rename(columns={"vanilla_pct": "neutral_pct"})


def with_added_costs(
    points: pd.DataFrame, costs: pd.DataFrame, *, relative: bool
) -> pd.DataFrame:
    """Returns `points`, from `difference_points`, followed by those of `costs`, the result of
    `added_costs`, if any: the added cost of misleading content, in % of the score with NCC if
    `relative`, else in points."""
    if costs.empty:
        return points
    more = difference_points(costs, relative=relative)
    more = more.assign(condition=f"MCC, against {NEUTRAL}")
    return pd.concat([points, more], ignore_index=True)
