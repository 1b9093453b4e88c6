"""CodeCrash: Pass@1 and its differences to the programs as they are (Tables 2, 3 and 5, Figure 3)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from codestress.fitting.proportions import UNKNOWN, effective_number, paired_difference, ratio_of_shares
from codestress.papers.codecrash.perturbations.variants import CONTROLS
from codestress.papers.codecrash.results.conditions import CELL, MERGE, SETTING, cells, named, scores_by_problem

POINTS = ("points", "points_low", "points_high")
RELATIVE = ("relative_pct", "relative_low", "relative_high")
TRUE = {POINTS: "true_points", RELATIVE: "true_relative_pct"}


def differences(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """One row for each condition but the plain vanilla one, paired with it on the problems that both have.

    Columns: `CELL`, problems, questions (that they are of), vanilla_pct and pass_at_1_pct (0 to 100), points,
    points_low, points_high, relative_pct, relative_low, relative_high; the same three of each for the problems that the
    perturbation was `applied` to, with how many; pass_at_1_other_rule_pct. Intervals are over questions, paired. Of
    instruments true_points and true_relative_pct (nan where nobody knows). And lost_pct: of what was right of the
    vanilla programs, the share that is not any more; where there are controls (AGAIN, BLANK), which lose for no reason,
    net_points and net_lost_pct: without their mean.
    """
    other = "reference" if rule == "strict" else "strict"
    scores = scores_by_problem(answers, rule)
    others = scores_by_problem(answers, other).groupby(CELL, sort=False)["score"].mean()
    keys = ["model", "dataset", "language", "task", "mode"]
    plain = scores[(scores["perturbation"] == "VAN") & ~scores["ignore"] & ~scores["refactor"]]
    plains = {group: part.set_index("problem") for group, part in plain.groupby(keys, sort=False)}
    rows = []
    for cell, part in cells(scores):
        vanilla = plains.get(tuple(cell[key] for key in keys))
        if vanilla is None or (cell["perturbation"] == "VAN" and not cell["ignore"] and not cell["refactor"]):
            continue
        baseline = vanilla["score"]
        mine = part.set_index("problem")
        common = mine.index.intersection(baseline.index)
        applied = common[(mine.loc[common, "status"] == "applied").to_numpy()]
        row: dict[str, Any] = cell | {"problems": len(common), "questions": mine.loc[common, "question"].nunique()}
        for prefix, chosen in (("", common), ("applied_", applied)):
            questions = mine.loc[chosen, "question"]
            found = relative_difference(baseline[chosen], mine.loc[chosen, "score"], confidence, questions)
            if not prefix:
                row |= {"vanilla_pct": 100 * baseline[common].mean()}
                lost = (baseline[common] * (1 - mine.loc[common, "score"])).mean()
                row |= {"lost_pct": 100 * lost / baseline[common].mean() if baseline[common].any() else math.nan}
                row |= {"pass_at_1_pct": 100 * mine.loc[common, "score"].mean()}
                before, after = (one.loc[common, "true"].mean(skipna=False) for one in (vanilla, mine))
                row |= {TRUE[POINTS]: 100 * (after - before)}
                row |= {TRUE[RELATIVE]: 100 * (after / before - 1) if before else math.nan}
            for columns, numbers in ((POINTS, found.absolute), (RELATIVE, found.relative)):
                row |= {f"{prefix}{name}": 100 * number for name, number in zip(columns, numbers, strict=True)}
        row |= {"applied_problems": len(applied), f"pass_at_1_{other}_pct": 100 * others[tuple(cell.values())]}
        rows.append(row)
    return _net_of_controls(pd.DataFrame(rows))


def _net_of_controls(table: pd.DataFrame) -> pd.DataFrame:
    """The table with what conditions lose beyond the controls of the same model and setting; as it is without them."""
    controls = table[table["perturbation"].isin(CONTROLS)]
    if controls.empty:
        return table
    by = ["model", "dataset", *SETTING]
    noise = table[by].merge(controls.groupby(by, as_index=False)[["points", "lost_pct"]].mean(), on=by, how="left")
    return table.assign(
        net_points=table["points"] - noise["points"], net_lost_pct=table["lost_pct"] - noise["lost_pct"]
    )


def difference_points(table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """The points to draw: model, panel, condition, value, low, high, true (in % of vanilla or in points)."""
    kind = RELATIVE if relative else POINTS
    columns = ["model", "panel", "condition", *kind, TRUE[kind]]
    return compared(table)[columns].set_axis(["model", "panel", "condition", "value", "low", "high", "true"], axis=1)


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that are drawn, data set by data set, with panels and conditions."""
    placed = named(table).assign(place=pd.factorize(table["dataset"])[0])
    return placed.sort_values(["place", "ignore", "refactor"], kind="stable")


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """Means over models for each data set, setting and perturbation, as the last row of the paper's tables."""
    by = ["dataset", *SETTING, "perturbation", "density"]
    columns = ["points", "relative_pct", "applied_points", "applied_relative_pct", "lost_pct"]
    columns += [name for name in ("net_points", "net_lost_pct") if name in table]
    return table.groupby(by, sort=False, as_index=False).agg(
        models=("model", "nunique"), **{column: (column, "mean") for column in columns}
    )


def consistency(table: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Section 3.2's two patterns, of models that have MCC and MPS on two data sets: `data sets`: the one on which MCC
    costs more is the one on which MPS does; `perturbations`: the one of the two that costs more on one data set costs
    more on the other (the paper's second footnote repeats the words of its first; its text says what is meant).

    Columns: source (regenerated, published), mode, pattern, datasets, models, consistent (of them), which (they are).
    Differences of 0 are consistent with nothing.
    """
    plain = table[~table["ignore"].astype(bool) & ~table["refactor"].astype(bool) & (table["density"] == 1)]
    theirs = published.assign(model=published["label"])
    rows: list[tuple[object, ...]] = []
    for source, frame in (("regenerated", plain), ("published", theirs)):
        shown = frame[frame["perturbation"].isin(["MCC", "MPS"]) & (frame["dataset"] != MERGE)]
        datasets = list(dict.fromkeys(shown["dataset"]))[:2]
        for mode, part in shown.groupby("mode", sort=False) if len(datasets) == 2 else ():
            losses = part.pivot_table(
                index="model", columns=["perturbation", "dataset"], values="relative_pct", sort=False
            )
            wanted = pd.MultiIndex.from_product([["MCC", "MPS"], datasets])
            losses = losses.reindex(columns=wanted).dropna()
            (first, second), (third, fourth) = ([losses[one, name] for name in datasets] for one in ("MCC", "MPS"))
            patterns = {
                "data sets": (first - second) * (third - fourth) > 0,
                "perturbations": (first - third) * (second - fourth) > 0,
            }
            for pattern, holds in patterns.items():
                which = ", ".join(losses.index[holds])
                rows.append((source, mode, pattern, " ".join(datasets), len(losses), int(holds.sum()), which))
    return pd.DataFrame(rows, columns=["source", "mode", "pattern", "datasets", "models", "consistent", "which"])


def with_and_without(table: pd.DataFrame) -> pd.DataFrame:
    """Tables 8 and 9 as they are laid out: Pass@1 (0 to 100) and its difference to vanilla, without a defence and with
    it. Columns: model, dataset, mode, perturbation, without_pct, with_pct, without_relative_pct, with_relative_pct.

    A row of vanilla programs first, which need no difference, and of which Table 8 has none with. Empty where there is
    no defence.
    """
    keys = ["model", "dataset", "mode"]
    names = {"pass_at_1_pct": "pct", "relative_pct": "relative_pct"}
    columns = [f"{way}_{name}" for name in names.values() for way in ("without", "with")]
    defence = next((name for name in ("ignore", "refactor") if table[name].nunique() > 1), "")
    if not defence:
        return pd.DataFrame(columns=[*keys, "perturbation", *columns])
    vanilla = table.sort_values("problems", ascending=False, kind="stable").drop_duplicates(keys)
    plain = {"perturbation": "VAN", defence: False, "pass_at_1_pct": vanilla["vanilla_pct"], "relative_pct": math.nan}
    rows = pd.concat([vanilla.assign(**plain), table]).rename(columns=names)
    indexed = rows.set_index([*keys, "perturbation"])
    ways = {"without": indexed[~indexed[defence].astype(bool)], "with": indexed[indexed[defence].astype(bool)]}
    laid = pd.concat([part[list(names.values())].add_prefix(f"{way}_") for way, part in ways.items()], axis=1)
    return laid[columns].reset_index().sort_values(keys, kind="stable", ignore_index=True)


def describe_differences(points: pd.DataFrame, *, relative: bool) -> str:
    """The figure in words."""
    unit = "%" if relative else "points"
    parts = [
        f"{panel}, {condition}: "
        + ", ".join(f"{row.model} {row.value:+.1f} {unit}" for row in part.itertuples() if row.value == row.value)
        for (panel, condition), part in points.groupby(["panel", "condition"], sort=False)
    ]
    return "Difference of Pass@1 to the vanilla programs. " + "; ".join(parts) + "."


class RelativeDifference(NamedTuple):
    """The second condition against the first, on paired items."""

    absolute: tuple[float, float, float]
    """Mean of the second minus mean of the first, and both ends of its interval."""
    relative: tuple[float, float, float]
    """second / first - 1, and both ends; nan where the first is 0."""
    items: int


def relative_difference(
    first: ArrayLike, second: ArrayLike, confidence: float, clusters: ArrayLike | None = None
) -> RelativeDifference:
    """`first` and `second` (n,) hold one score (0 to 1) an item; intervals by `paired_difference`, `ratio_of_shares`,
    items of one of `clusters` (n,) as if they were copies of each other.

    CodeCrash, section 3.1: (pass@1 - VAN) / VAN. Both means are of the same items, so that what is common to them
    cancels.
    """
    one, two = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if one.shape != two.shape or one.ndim != 1:
        raise ValueError(f"paired scores must have one shape (n,), not {one.shape} and {two.shape}")
    if one.size == 0:
        return RelativeDifference((math.nan, *UNKNOWN), (math.nan, *UNKNOWN), 0)
    before, after = float(one.mean()), float(two.mean())
    ratio = after / before - 1 if before else math.nan
    points = ratios = UNKNOWN
    names = np.arange(one.size) if clusters is None else np.asarray(clusters)
    if len(np.unique(names)) > 1:
        points = paired_difference(two - one, names, confidence)
        alike = one.std() * two.std()
        together = float(((one - before) * (two - after)).mean() / alike) if alike else 0.0
        ratios = ratio_of_shares(before, after, effective_number(names), together, confidence)
    return RelativeDifference((after - before, *points), (ratio, ratios.low - 1, ratios.high - 1), one.size)
