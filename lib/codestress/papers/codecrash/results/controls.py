"""CodeCrash: the cost of neutral comments (NCC, a control of the kit's that is not the paper's) and
the added cost of misleading ones (MCC)."""

from __future__ import annotations

import pandas as pd

from codestress.mutate.perturbations.variants import NEUTRAL
from codestress.papers.codecrash.results.conditions import (
    CELL,
    SETTING,
    cells,
    scores_by_problem,
    undefended,
)
from codestress.papers.codecrash.results.differences import (
    POINTS,
    RELATIVE,
    difference_points,
    relative_difference,
)

PAIRS = (("VAN", NEUTRAL), (NEUTRAL, "MCC"), ("VAN", "MCC"))
"""Pairs of compared perturbations (vanilla, neutral comments, misleading comments); the difference
is the second minus the first."""


def neutral_costs(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns the differences of Pass@1 in `answers` between vanilla programs, neutral comments
    (NCC) and misleading ones (MCC), by `PAIRS`, for each model and setting. They are paired on the
    problems that have all three conditions, so that the first two differences add up to the last
    (in points). `rule` is the scoring rule.

    Columns: `CELL` (the condition; its perturbation is the second of the pair), against (the
    first), problems, questions, before_pct and after_pct (Pass@1 of both, 0 to 100), points and
    relative_pct with their intervals over questions. Empty where NCC, MCC or vanilla was not asked.
    """
    scores = undefended(scores_by_problem(answers, rule))
    same = ["model", "dataset", *SETTING]
    rows = []
    for cell, neutral in cells(scores[scores["perturbation"] == NEUTRAL]):
        beside = scores[(scores[same] == [cell[name] for name in same]).all(axis=1)]
        beside = beside[beside["density"].isin([0.0, cell["density"]])]
        sides = {
            name: part.set_index("problem")
            for name, part in beside.groupby("perturbation")
        }
        if not {"VAN", "MCC"} <= set(sides):
            continue
        problems = sides["VAN"].index.intersection(sides["MCC"].index)
        problems = problems.intersection(neutral["problem"])
        for against, name in PAIRS:
            first, second = sides[against].loc[problems], sides[name].loc[problems]
            scored, questions = (first["score"], second["score"]), first["question"]
            row = cell | {
                "perturbation": name,
                "against": against,
                "problems": len(problems),
            }
            row["questions"] = questions.nunique()
            row["before_pct"], row["after_pct"] = (100 * side.mean() for side in scored)
            rows.append(row | relative_difference(*scored, confidence, questions))
    counts = ["problems", "questions", "before_pct", "after_pct"]
    return pd.DataFrame(rows, columns=[*CELL, "against", *counts, *POINTS, *RELATIVE])


def with_neutral_costs(
    points: pd.DataFrame, costs: pd.DataFrame, *, relative: bool
) -> pd.DataFrame:
    """Returns `points`, from `difference_points`, followed by those of MCC against NCC from
    `costs`, the result of `neutral_costs`, if any: the added cost of misleading content, in % of
    the score with NCC if `relative`, else in points."""
    added = costs[costs["against"] == NEUTRAL]
    if added.empty:
        return points
    more = difference_points(added, relative=relative).assign(
        condition=f"MCC, against {NEUTRAL}"
    )
    return pd.concat([points, more], ignore_index=True)
