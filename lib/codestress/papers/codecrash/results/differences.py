"""CodeCrash: Pass@1 and its differences to the programs as they are (Tables 2, 3 and 5, Figure 3); with more and more
misleading messages, and how long answers become (Figure 4, Table 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from codestress.fitting.proportions import (
    UNKNOWN,
    clustered_mean,
    effective_number,
    paired_difference,
    ratio_of_shares,
)
from codestress.papers.codecrash.perturbations.variants import CONTROLS
from codestress.papers.codecrash.results.conditions import CELL, MERGE, SETTING, cells, named, scores_by_problem
from codestress.papers.codecrash.studies import MESSAGES
from codestress.report.findings import told
from codestress.types import Response

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
    rows = []
    for cell, part in cells(scores):
        vanilla = plain[(plain[keys] == [cell[key] for key in keys]).all(axis=1)]
        if vanilla.empty or (cell["perturbation"] == "VAN" and not cell["ignore"] and not cell["refactor"]):
            continue
        both = part.merge(vanilla[["problem", "score", "true"]], on="problem", suffixes=("", "_before"))
        before, after = both["score_before"].mean(), both["score"].mean()
        true_before, true_after = (both[name].mean(skipna=False) for name in ("true_before", "true"))
        lost = (both["score_before"] * (1 - both["score"])).mean()
        row = cell | {"problems": len(both), "questions": both["question"].nunique()}
        row |= {"vanilla_pct": 100 * before, "lost_pct": 100 * lost / before if before else math.nan}
        row |= {"pass_at_1_pct": 100 * after, TRUE[POINTS]: 100 * (true_after - true_before)}
        row |= {TRUE[RELATIVE]: 100 * (true_after / true_before - 1) if true_before else math.nan}
        for prefix, chosen in (("", both), ("applied_", both[both["status"] == "applied"])):
            found = relative_difference(chosen["score_before"], chosen["score"], confidence, chosen["question"])
            row |= {f"{prefix}{name}": number for name, number in found.items()}
        row |= {"applied_problems": len(chosen), f"pass_at_1_{other}_pct": 100 * others[tuple(cell.values())]}
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
    rows: list[tuple[object, ...]] = []
    for source, frame in (("regenerated", plain), ("published", published.assign(model=published["label"]))):
        shown = frame[frame["perturbation"].isin(["MCC", "MPS"]) & (frame["dataset"] != MERGE)]
        datasets = list(dict.fromkeys(shown["dataset"]))[:2]
        for mode, part in shown.groupby("mode", sort=False) if len(datasets) == 2 else ():
            losses = part.pivot_table("relative_pct", "model", ["perturbation", "dataset"], sort=False)
            losses = losses.reindex(columns=pd.MultiIndex.from_product([["MCC", "MPS"], datasets])).dropna()
            a, b, c, d = losses.to_numpy().T
            for pattern, holds in {"data sets": (a - b) * (c - d) > 0, "perturbations": (a - c) * (b - d) > 0}.items():
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
    form = "{model} {value:+.1f} " + ("%" if relative else "points")
    known = points.dropna(subset="value")
    return told("Difference of Pass@1 to the vanilla programs.", known, form, "{panel}, {condition}")


def by_density(answers: pd.DataFrame, texts: Mapping[str, Response], *, rule: str, confidence: float) -> pd.DataFrame:
    """For each model, setting, perturbation and density (0: vanilla): Pass@1, difference to vanilla and tokens.

    Columns of `differences`, and tokens, tokens_low, tokens_high: the mean length of the whole answer as its server
    counts it (with what was thought before it), over questions; true_tokens, as in `answers`.
    """
    table = differences(answers, rule=rule, confidence=confidence)
    vanilla = answers[answers["perturbation"] == "VAN"]
    starts = [vanilla.assign(perturbation=name) for name in MESSAGES if name in set(answers["perturbation"])]
    lengths = pd.concat([answers[answers["perturbation"] != "VAN"], *starts])
    written = [len(texts[key].text) / 4 if key in texts else math.nan for key in lengths["key"]]
    counted = lengths["completion_tokens"]
    lengths = lengths.assign(tokens=np.where(counted.notna(), counted, written).astype(float))
    rows = []
    for cell, part in cells(lengths):
        mean, (low, high), *_ = clustered_mean(part["tokens"], part["question"], confidence=confidence)
        tokens = {"tokens": mean, "tokens_low": low, "tokens_high": high}
        tokens |= {"true_tokens": part["true_tokens"].mean(skipna=False)}
        rows.append(cell | tokens | {"pass_at_1_pct": 100 * part.groupby("problem")[f"value_{rule}"].mean().mean()})
    merged = pd.DataFrame(rows).merge(table.drop(columns="pass_at_1_pct"), on=CELL, how="left")
    merged.loc[merged["density"] == 0, [*POINTS, *RELATIVE]] = 0.0
    return merged.sort_values(CELL, kind="stable", ignore_index=True)


def density_points(table: pd.DataFrame, *, show: str, relative: bool) -> pd.DataFrame:
    """The points to draw: model, panel, density, value, low, high, true (no difference without messages is)."""
    columns = ("tokens", "tokens_low", "tokens_high") if show == "tokens" else RELATIVE if relative else POINTS
    true = table["true_tokens"] if show == "tokens" else table[TRUE[columns]].where(table["density"] > 0)
    alone = not any(table[name].nunique() > 1 for name in ("dataset", *SETTING))
    panels = table["perturbation"] if alone else table["perturbation"] + ", " + named(table)["panel"]
    points = table.assign(panel=panels, true=true)[["model", "panel", "density", *columns, "true"]]
    return points.set_axis(["model", "panel", "density", "value", "low", "high", "true"], axis=1)


def describe_density(points: pd.DataFrame, unit: str) -> str:
    """The figure in words."""
    by_curve = points.sort_values("density", kind="stable").groupby(["panel", "model"], sort=False)
    ends = by_curve.agg(first=("value", "first"), last=("value", "last"), most=("density", "last"))
    form = "{panel}, {model}: {first:.1f} " + unit + " without messages, {last:.1f} at p = {most:g}"
    return told("Against the density of misleading messages.", ends.reset_index(), form)


def relative_difference(
    first: ArrayLike, second: ArrayLike, confidence: float, clusters: ArrayLike | None = None
) -> dict[str, float]:
    """By `POINTS` the mean of the second minus that of the first, by `RELATIVE` (second - first) / first (CodeCrash,
    section 3.1), both in % with their intervals; nan where the first is 0.

    `first` and `second` (n,) hold one score (0 to 1) an item; intervals by `paired_difference`, `ratio_of_shares`,
    items of one of `clusters` (n,) as if they were copies of each other. Both means are of the same items, so that
    what is common to them cancels.
    """
    one, two = (np.asarray(side, dtype=float) for side in (first, second))
    before, after = (float(side.mean()) if side.size else math.nan for side in (one, two))
    ratio = after / before - 1 if before else math.nan
    points = ratios = UNKNOWN
    names = np.arange(one.size) if clusters is None else np.asarray(clusters)
    if len(np.unique(names)) > 1:
        points = paired_difference(two - one, names, confidence)
        alike = one.std() * two.std()
        together = float(((one - before) * (two - after)).mean() / alike) if alike else 0.0
        ratios = ratio_of_shares(before, after, effective_number(names), together, confidence)
    numbers = (after - before, *points, ratio, *(end - 1 for end in ratios))
    return {name: 100 * number for name, number in zip((*POINTS, *RELATIVE), numbers, strict=True)}
