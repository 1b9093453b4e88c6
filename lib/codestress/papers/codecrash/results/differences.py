"""CodeCrash: Pass@1 and its differences to the programs as they are (Tables 2, 3 and 5, Figure 3); with more and more
misleading messages, and how long answers become (Figure 4, Table 6); the paper's own, and what is claimed of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from codestress.fitting.influence import combined, share
from codestress.fitting.proportions import (
    UNKNOWN,
    clustered_mean,
    effective_number,
    paired_difference,
    ratio_of_shares,
)
from codestress.papers.codecrash.perturbations.variants import CONTROLS
from codestress.papers.codecrash.results.conditions import (
    CELL,
    MERGE,
    MODES,
    NAMES,
    SETTING,
    cells,
    named,
    own_panel,
    panel_name,
    scores_by_problem,
)
from codestress.papers.codecrash.studies import MESSAGES
from codestress.report.findings import told
from codestress.report.published import published_cells, published_models, published_numbers
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


QUESTIONS = {"cruxeval": 800, "livecodebench": 92, MERGE: 892}
"""Independent problems behind the paper's shares: LiveCodeBench's 479 samples come from 92 questions."""
HEADLINE = ("PSC-ALL", "MCC", "MPS", "MHC")
"""The perturbations behind the abstract's averages."""
PROVENANCES = {"leaderboard": "from the leaderboard alone", "read": "read from a picture"}
"""Where numbers stand that the paper's text does not have (`about` in the file of what it publishes says more)."""


def published_differences(task: str = "output") -> pd.DataFrame:
    """The paper's tables of 17 models, from its published Pass@1 (outputs) or as read from its picture (inputs).

    Columns: label, model (the registry's name), dataset, mode, perturbation, vanilla_pct, pass_at_1_pct, points,
    relative_pct, task, provenance (in words; the tables of the paper's text have lost their numbers).
    The Merge score weighs 800 problems of CRUXEval and 479 of LiveCodeBench.
    """
    artefact = f"codecrash/{'input' if task == 'input' else 'pass_at_1'}"
    if task == "input":
        cells = published_cells(artefact, "label", "column").assign(dataset="cruxeval")
        cells[["perturbation", "mode"]] = cells["column"].str.rsplit(" ", n=1, expand=True)
    else:
        cells = published_cells(artefact, "label", "mode", "dataset", "perturbation")
        counts = cells["dataset"].map(published_numbers("codecrash/problems") or {})
        weighted = cells.assign(value=counts * cells["value"], count=counts, dataset=MERGE)
        merged = weighted.groupby(["label", "mode", "dataset", "perturbation"], sort=False, as_index=False).sum()
        cells = pd.concat([cells, merged.assign(value=merged["value"] / merged["count"])], ignore_index=True)
        cells = cells.iloc[np.argsort(cells.groupby(["label", "mode"], sort=False).ngroup(), kind="stable")]
    key = ["label", "dataset", "mode"]
    vanilla = cells[cells["perturbation"] == "VAN"].set_index(key)["value"].rename("vanilla_pct")
    frame = cells[cells["perturbation"] != "VAN"].join(vanilla, on=key)
    # Who was asked in one mode alone is a reasoning model.
    frame = frame[frame.groupby("label")["mode"].transform("nunique") > 1].reset_index(drop=True)
    before = frame["vanilla_pct"]
    after = before * (1 + frame["value"] / 100) if task == "input" else frame["value"]
    return frame[[*key, "perturbation", "vanilla_pct"]].assign(
        pass_at_1_pct=after,
        provenance=PROVENANCES.get((published_numbers(artefact) or {}).get("provenance", ""), ""),
        model=frame["label"].map(published_models("codecrash")),
        task=task,
        points=after - before,
        relative_pct=100 * (after / before - 1),
    )


def as_the_paper_asked(rows: pd.DataFrame) -> pd.DataFrame:
    """Those about Python programs, without a defence."""
    return rows[~rows["ignore"].astype(bool) & ~rows["refactor"].astype(bool) & (rows["language"] == "python")]


def headlines(published: pd.DataFrame) -> pd.DataFrame:
    """The abstract's average degradation, in %: over 17 models and four perturbations, data sets weighted by their
    numbers of problems (version 3; version 2 weighted the perturbations). Columns: mode, degradation."""
    weights = published["dataset"].map(published_numbers("codecrash/problems") or {})
    chosen = published.assign(weight=weights).dropna(subset="weight")
    chosen = chosen[chosen["perturbation"].isin(HEADLINE)]
    rows = [(mode, -np.average(part["relative_pct"], weights=part["weight"])) for mode, part in chosen.groupby("mode")]
    return pd.DataFrame(rows, columns=["mode", "degradation"])


def compared_tables(table: pd.DataFrame, published: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """For the ledger: the published cells of what was asked for, and the regenerated ones that may stand beside them,
    those of the paper's data sets in its setting."""
    asked = as_the_paper_asked(table)
    if set(asked["dataset"]) - {MERGE} != set(published_numbers("codecrash/problems") or {}):
        asked = asked[asked["dataset"] != MERGE]  # of other problems, or of one data set alone
    wanted = published[published["mode"].isin(table["mode"]) & published["perturbation"].isin(table["perturbation"])]
    cells = wanted.assign(
        dataset_name=wanted["dataset"].map(NAMES),
        mode_name=wanted["mode"].map(MODES),
        **{name: [round(value, 2) for value in wanted[name]] for name in ("points", "relative_pct")},
        questions=wanted["dataset"].map(QUESTIONS),
    )
    return {"published": cells, "differences": asked, "headline": headlines(published)}


def own_headlines(answers: pd.DataFrame, published: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """The abstract's average degradation from answers asked here, for each mode in which all of the paper's models were
    asked about both data sets: mode, degradation, low, high (%), questions; over questions, the same for all models.
    """
    columns = ["mode", "degradation", "low", "high", "questions"]
    counts = published_numbers("codecrash/problems") or {}
    asked = as_the_paper_asked(answers)
    asked = asked[asked["model"].isin(published["model"]) & asked["perturbation"].isin(["VAN", *HEADLINE])]
    wanted = set(itertools.product(published["model"], counts, ["VAN", *HEADLINE]))
    rows = []
    for mode, part in asked.groupby("mode"):
        scores = part.groupby(["model", "dataset", "perturbation", "question"])[f"value_{rule}"].agg(["sum", "size"])
        cells = {key: one.droplevel([0, 1, 2]) for key, one in scores.groupby(level=[0, 1, 2])}
        if not wanted <= set(cells):
            continue
        ratios = [
            (counts[dataset] / sum(counts.values()), share(cells[model, dataset, name]["sum"], base["sum"]))
            for model, dataset, name in sorted(wanted)
            if name != "VAN" and (base := cells[model, dataset, "VAN"])["sum"].sum()
        ]
        terms = len(ratios) / len(counts)
        loss = combined([(-100 * weight / terms, one) for weight, one in ratios])
        count = part["question"].nunique()
        rows.append((mode, 100 + loss.value, *(100 + end for end in loss.interval(count, confidence)), count))
    return pd.DataFrame(rows, columns=columns)


def published_points(published: pd.DataFrame, table: pd.DataFrame, *, relative: bool) -> pd.DataFrame:
    """The paper's models for the grey dots: panel, condition, value, of each panel's own mode.

    They stand in the panel of their own data set; where none of that mode is the paper's, in a panel of their own. What
    the paper's numbers are not known for has none.
    """
    datasets = set(published["dataset"])
    whole = set(table["dataset"]) - {MERGE} == datasets - {MERGE}
    shown = as_the_paper_asked(compared(table))
    varying = [name for name in SETTING if table[name].nunique() > 1]
    parts = []
    for _, rows in shown.drop_duplicates(["dataset", *SETTING]).groupby(SETTING, sort=False):
        own = rows[rows["dataset"].isin(datasets) & (whole | (rows["dataset"] != MERGE))]
        places = dict(zip(own["dataset"], own["panel"], strict=True))
        row = rows.iloc[0].to_dict()
        if not places:
            dataset = MERGE if MERGE in datasets else "cruxeval"
            setting = [panel_name(row, varying)] if varying else []
            places = {dataset: ", ".join([own_panel(dataset), *setting])}
        chosen = published[(published["mode"] == row["mode"]) & published["dataset"].isin(places)]
        values = {"condition": chosen["perturbation"], "value": chosen["relative_pct" if relative else "points"]}
        parts.append(pd.DataFrame({"panel": chosen["dataset"].map(places), **values}))
    return pd.concat(parts) if parts else pd.DataFrame(columns=["panel", "condition", "value"])
