"""CodeCrash: Pass@1 and its differences to the programs as they are (Tables 2, 3 and 5, Figure 3)."""

from __future__ import annotations

from typing import Any, cast

import pandas as pd

from codestress.papers.codecrash.relative import relative_difference
from codestress.papers.codecrash.results.conditions import CELL, SETTING, condition_name, panel_name, scores_by_problem
from codestress.seeding import rng


def differences(answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """One row for each condition but the plain vanilla one, paired with it on the problems that both have.

    Columns: `CELL`, problems, vanilla_pct and pass_at_1_pct (0 to 100), points, points_low, points_high, relative_pct,
    relative_low, relative_high; the same three of each for the problems that the perturbation was `applied` to, with
    how many; pass_at_1_other_rule_pct. Bootstrap over problems, the same resamples for both conditions.
    """
    other = "reference" if rule == "strict" else "strict"
    scores = scores_by_problem(answers, rule)
    others = scores_by_problem(answers, other).groupby(CELL, sort=False)["score"].mean()
    keys = ["model", "dataset", "language", "task", "mode"]
    plain = scores[(scores["perturbation"] == "VAN") & ~scores["ignore"] & ~scores["refactor"]]
    baselines = {group: part.set_index("problem")["score"] for group, part in plain.groupby(keys, sort=False)}
    rows = []
    for group, part in scores.groupby(CELL, sort=False):
        cell = dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
        baseline = baselines.get(tuple(cell[key] for key in keys))
        if baseline is None or (cell["perturbation"] == "VAN" and not cell["ignore"] and not cell["refactor"]):
            continue
        mine = part.set_index("problem")
        common = mine.index.intersection(baseline.index)
        applied = common[(mine.loc[common, "status"] == "applied").to_numpy()]
        row: dict[str, Any] = cell | {"problems": len(common)}
        for prefix, chosen in (("", common), ("applied_", applied)):
            found = relative_difference(
                baseline[chosen],
                mine.loc[chosen, "score"],
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "relative", prefix, *map(str, cell.values())),
            )
            if not prefix:
                row |= {
                    "vanilla_pct": 100 * baseline[common].mean(),
                    "pass_at_1_pct": 100 * mine.loc[common, "score"].mean(),
                }
            row |= {
                f"{prefix}points": 100 * found.absolute,
                f"{prefix}points_low": 100 * found.absolute_interval.low,
                f"{prefix}points_high": 100 * found.absolute_interval.high,
                f"{prefix}relative_pct": 100 * found.relative,
                f"{prefix}relative_low": 100 * found.relative_interval.low,
                f"{prefix}relative_high": 100 * found.relative_interval.high,
            }
        rows.append(row | {"applied_problems": len(applied), f"pass_at_1_{other}_pct": 100 * others[group]})
    return pd.DataFrame(rows)


def difference_points(table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """The points to draw: model, panel, condition, value, low, high (in % of vanilla or in points)."""
    columns = ["relative_pct", "relative_low", "relative_high"] if relative else ["points", "points_low", "points_high"]
    shown, varying = compared(table)
    panels = [panel_name(row, varying) for row in shown.to_dict("records")]
    drawn = shown.assign(panel=panels, condition=[condition_name(row) for row in shown.to_dict("records")])
    return drawn[["model", "panel", "condition", *columns]].set_axis(
        ["model", "panel", "condition", "value", "low", "high"], axis=1
    )


def compared(table: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """The rows that are drawn, data set by data set, and what differs between their panels."""
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    order = {name: place for place, name in enumerate(dict.fromkeys(table["dataset"]))}
    placed = table.assign(place=table["dataset"].map(order))
    return placed.sort_values(["place", "ignore", "refactor"], kind="stable").drop(columns="place"), varying


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Means over models for each data set, setting and perturbation, as the last row of the paper's tables."""
    by = ["dataset", *SETTING, "perturbation", "density"]
    columns = ["points", "relative_pct", "applied_points", "applied_relative_pct"]
    return table.groupby(by, sort=False, as_index=False).agg(
        models=("model", "nunique"), **{column: (column, "mean") for column in columns}
    )


def describe_differences(points: pd.DataFrame, *, relative: bool) -> str:
    """The figure in words."""
    unit = "%" if relative else "points"
    parts = [
        f"{panel}, {condition}: "
        + ", ".join(f"{row.model} {row.value:+.1f} {unit}" for row in part.itertuples() if row.value == row.value)
        for (panel, condition), part in points.groupby(["panel", "condition"], sort=False)
    ]
    return "Difference of Pass@1 to the vanilla programs. " + "; ".join(parts) + "."
