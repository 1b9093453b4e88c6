"""What the published Pass@1 of CodeCrash says: 17 models, seven perturbations, two data sets, outputs directly.

Pass@1 is published by model and perturbation, not by problem: intervals of single cells are marginal, and where models
are compared what pairs them is lost. Averages and correlations take the 17 models as their sample.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pandas as pd

from codestress.fitting.significance import (
    LEVEL,
    fisher_interval,
    mean_difference,
    open_ranks,
    rank_correlation,
    with_holm,
)
from codestress.papers.codecrash.results.differences import QUESTIONS, published_differences
from codestress.report.findings import Finding, listed, span
from codestress.report.published import published_numbers, read_published
from codestress.seeding import rng

DATASETS = {"cruxeval": "CRUXEval", "livecodebench": "LiveCodeBench"}
VANILLA = "VAN"
DRAWS = 10_000


def scores() -> pd.DataFrame:
    """Columns label, dataset, perturbation (`VAN` too), share, questions (independent ones, by which shares are
    uncertain), lost (of the vanilla share; 0 for `VAN`)."""
    table = published_differences()
    table = table[(table["mode"] == "direct") & table["dataset"].isin(list(DATASETS))]
    vanilla = table.drop_duplicates(["label", "dataset"]).assign(perturbation=VANILLA, relative_pct=0.0)
    vanilla = vanilla.assign(pass_at_1_pct=vanilla["vanilla_pct"])
    every = pd.concat([vanilla, table], ignore_index=True)
    numbers = {"share": every["pass_at_1_pct"] / 100, "questions": every["dataset"].map(QUESTIONS)}
    return every[["label", "dataset", "perturbation"]].assign(**numbers, lost=-every["relative_pct"] / 100)


def rankings(table: pd.DataFrame) -> pd.DataFrame:
    """Ranks of the models with what the tests leave open, from `scores()`.

    Every pair of models is compared by a z test of two independent shares (the same problems: cautious), Holm over the
    pairs of a data set and perturbation; a model's rank lies between those of the models that are surely better and
    those that are surely worse (Mogstad et al. 2024). Columns: dataset, perturbation, label, share, rank, low, high,
    separated (pairs of the panel that are told apart), pairs.
    """
    parts = []
    for _, part in table.groupby(["dataset", "perturbation"], sort=False):
        low, high, told = open_ranks(part["share"], part["questions"], LEVEL)
        ranks = part[["dataset", "perturbation", "label", "share"]].assign(rank=part["share"].rank(ascending=False))
        parts.append(ranks.assign(low=low, high=high, separated=len(told), pairs=math.comb(len(part), 2)))
    return pd.concat(parts, ignore_index=True)


def _losses(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """For each data set what each model (index) loses by each perturbation (columns)."""
    by = {"index": "label", "columns": "perturbation", "values": "lost", "sort": False}
    perturbed = table[table["perturbation"] != VANILLA]
    return {dataset: perturbed[perturbed["dataset"] == dataset].pivot_table(**by) for dataset in DATASETS}


def agreement(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Whether two perturbations order the models alike by the share of the vanilla score that they cost.

    Columns: dataset, first, second, correlation (Spearman), low, high, p (permutations of models), p_holm (over all),
    decided.
    """
    rows = []
    for dataset, lost in _losses(table).items():
        for one, other in combinations(lost.columns, 2):
            draws = rng(seed, "agreement", dataset, one, other)
            found = rank_correlation(lost[one], lost[other], confidence, draws)
            rows.append((dataset, one, other, found.value, *found.interval, found.p_value))
    frame = pd.DataFrame(rows, columns=["dataset", "first", "second", "correlation", "low", "high", "p"])
    return with_holm(frame)


def by_vanilla(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """How much of what a perturbation costs (the share lost) goes with the vanilla score, over models.

    The vanilla score is in both, with its sampling error: `alike` is the mean correlation in `DRAWS` drawn tables in
    which every model loses the same share; with less error than its questions make independent it lies nearer to 0. So
    p is the larger of two: how many draws lie as far from `alike`, and how many permutations as far from 0. Columns:
    dataset, perturbation, correlation (Pearson), low, high, explained (its square), alike, p, p_holm (over all),
    decided.
    """
    rows = []
    plain = table[table["perturbation"] == VANILLA].set_index(["dataset", "label"])["share"]
    for dataset, lost in _losses(table).items():
        vanilla, n = plain[dataset][lost.index].to_numpy(), QUESTIONS[dataset]
        for perturbation in lost.columns:
            value = float(np.corrcoef(vanilla, lost[perturbation])[0, 1])
            draws = rng(seed, "vanilla", dataset, perturbation)
            kept = vanilla * (1 - lost[perturbation].mean())
            drawn, after = (
                draws.normal(mean, np.sqrt(mean * (1 - mean) / n), (DRAWS, len(mean))) for mean in (vanilla, kept)
            )
            under = _correlations(drawn, 1 - after / drawn)
            far = np.abs(under - under.mean()) >= abs(value - under.mean())
            shuffled = draws.permuted(np.tile(vanilla, (DRAWS, 1)), axis=1)
            apart = np.abs(_correlations(shuffled, lost[[perturbation]].to_numpy().T)) >= abs(value)
            interval = fisher_interval(value, len(vanilla), 1.0, confidence)
            p_value = (1 + max(int(far.sum()), int(apart.sum()))) / (1 + DRAWS)
            rows.append((dataset, perturbation, value, *interval, value**2, float(under.mean()), p_value))
    columns = ["dataset", "perturbation", "correlation", "low", "high", "explained", "alike", "p"]
    return with_holm(pd.DataFrame(rows, columns=columns))


def _correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the rows of two tables."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    return np.asarray((x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def between_datasets(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """What a perturbation costs on LiveCodeBench and on CRUXEval, paired by model.

    Columns: perturbation, cruxeval, livecodebench (mean share lost), difference, low, high (Student, over models), p
    (exact sign flips), p_holm (over perturbations), decided, more (models that lose more on LiveCodeBench), models,
    correlation (Spearman, of the shares lost), correlation_low, correlation_high.
    """
    one, other = _losses(table).values()
    rows = []
    for perturbation in one.columns:
        first, second = one[perturbation], other[perturbation].reindex(one.index)
        found = mean_difference(second - first, confidence)
        same = rank_correlation(first, second, confidence, rng(seed, "datasets", perturbation))
        told = (found.value, *found.interval, found.p_value, int((second > first).sum()), found.models)
        rows.append((perturbation, first.mean(), second.mean(), *told, same.value, *same.interval))
    columns = [
        *("perturbation", *DATASETS, "difference", "low", "high", "p", "more", "models"),
        *("correlation", "correlation_low", "correlation_high"),
    ]
    return with_holm(pd.DataFrame(rows, columns=columns))


def diluted(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Bounds of what each perturbation costs where it changes the program at all, mean over models, share of vanilla.

    Unchanged programs lose nothing, so that what is published is the least; where the share of unchanged programs is
    known, what is lost where it applies is lost / (1 - unchanged), if unchanged programs are
    as hard as the others. `most_unchanged`: with more of them, the rest would have to lose more than all it has.
    Columns: dataset, perturbation, lost, low, high (Student, over models), unchanged (nan: not known), applied,
    applied_low, applied_high, most_unchanged.
    """
    stated = [one for one in read_published("codecrash")["statements"] if one["artefacts"] == ["perturbations"]]
    known = {(one["where"]["dataset"], one["where"]["perturbation"]): one["value"] / 100 for one in stated}
    rows = []
    for dataset, lost in _losses(table).items():
        for perturbation in lost.columns:
            found = mean_difference(lost[perturbation], confidence)
            unchanged = known.get((dataset, perturbation), math.nan)
            applied = [one / (1 - unchanged) for one in (found.value, *found.interval)]
            most = 1 - float(lost[perturbation].max())
            rows.append((dataset, perturbation, found.value, *found.interval, unchanged, *applied, most))
    columns = [
        *("dataset", "perturbation", "lost", "low", "high", "unchanged"),
        *("applied", "applied_low", "applied_high", "most_unchanged"),
    ]
    return pd.DataFrame(rows, columns=columns)


# --- findings -----------------------------------------------------------------------------------------------------

FEW_MODELS = "17 models of a few families, several of one: no sample of models at large"


def findings(
    ranks: pd.DataFrame, alike: pd.DataFrame, vanilla: pd.DataFrame, datasets: pd.DataFrame, bounds: pd.DataFrame
) -> list[Finding]:
    """What stands first, from the tables of this module."""
    first = [_ranks(ranks), _agreement(alike), _vanilla(vanilla)]
    return [*first, _datasets(datasets), _same_models(datasets), _diluted(bounds)]


def _ranks(ranks: pd.DataFrame) -> Finding:
    told = []
    for dataset, name in DATASETS.items():
        part = ranks[ranks["dataset"] == dataset]
        plain = part[part["perturbation"] == VANILLA].sort_values("rank")
        first = list(plain["label"][plain["low"] == 1])
        panels = part.drop_duplicates("perturbation")
        told.append(
            f"{name}: {plain['separated'].iloc[0]} of {plain['pairs'].iloc[0]} pairs of models are told apart on "
            f"unperturbed programs ({panels['separated'].min()} to {panels['separated'].max()} with perturbed ones), "
            f"and {len(first)} models may be the best: {listed(first)}"
        )
    return Finding(
        f"Rankings are coarse. {'; '.join(told)}.",
        "z test of two shares for each pair of models",
        "ranks that the tests leave open, marginal: Pass@1 is not published by problem, what pairs the models is lost",
        f"Holm over {ranks['pairs'].max()} pairs within each data set and perturbation, level {LEVEL}",
        "The same problems for all models: tests of paired outcomes would tell more pairs apart. LiveCodeBench's 479 "
        "samples count as the 92 questions behind them, three samples of one problem as one.",
    )


def _agreement(alike: pd.DataFrame) -> Finding:
    told = []
    for dataset, name in DATASETS.items():
        part = alike[alike["dataset"] == dataset]
        sure = part[part["decided"]].sort_values("correlation", ascending=False)
        pairs = [
            f"{row.first} and {row.second} {row.correlation:.2f} {span(row.low, row.high, 1, 2)}"
            for row in sure.itertuples()
        ]
        told.append(f"{name}: {len(sure)} of {len(part)} pairs of perturbations ({listed(pairs)})")
    return Finding(
        "Perturbations that order the models alike, by the share of the vanilla score that each loses (Spearman). "
        f"{'; '.join(told)}. Of the other pairs no agreement is shown.",
        "Spearman's rank correlation over models, permutations",
        "Fisher's transformation with Bonett and Wright's error; models are the sample",
        f"Holm over {len(alike)} pairs, level {LEVEL}",
        f"{FEW_MODELS}. Sampling error of each loss pulls towards 0, the vanilla score that all losses share upwards.",
    )


def _vanilla(vanilla: pd.DataFrame) -> Finding:
    told = [
        f"{row.perturbation} on {DATASETS[row.dataset]} {100 * row.explained:.0f} % "
        f"(r = {row.correlation:+.2f} {span(row.low, row.high, 1, 2)}, p by Holm {row.p_holm:.2f})"
        for row in vanilla.sort_values("explained", ascending=False).head(4).itertuples()
    ]
    return Finding(
        f"How much of the share lost goes with the vanilla score: {100 * vanilla['explained'].median():.0f} % of its "
        f"variance over models for the median of {len(vanilla)} perturbations and data sets, most for {listed(told)}; "
        f"{int(vanilla['decided'].sum())} of these correlations are decided.",
        f"Pearson's correlation over models: permutations, and {DRAWS:,} drawn tables in which all lose the same share",
        "Fisher's transformation; models are the sample",
        f"Holm over {len(vanilla)} correlations, level {LEVEL}",
        f"The vanilla score's own error is in both sides: it alone could give r = {vanilla['alike'].max():+.2f}, which "
        f"the test allows for and the interval does not. {FEW_MODELS}.",
    )


def _datasets(datasets: pd.DataFrame) -> Finding:
    sure = datasets[datasets["decided"]].sort_values("difference", ascending=False)
    told = [
        f"{row.perturbation} {100 * row.livecodebench:.1f} % against {100 * row.cruxeval:.1f} % "
        f"(difference {100 * row.difference:+.1f} {span(row.low, row.high)}, {row.more} of {row.models} models more)"
        for row in sure.itertuples()
    ]
    rest = list(datasets["perturbation"][~datasets["decided"]])
    return Finding(
        f"LiveCodeBench against CRUXEval, mean share lost: {'; '.join(told)}. No difference is shown of "
        f"{listed(rest)}.",
        "exact sign flips of each model's difference",
        "Student, paired across models",
        f"Holm over {len(datasets)} perturbations, level {LEVEL}",
        f"{FEW_MODELS}. The data sets differ in length, style and how many programs a perturbation leaves unchanged: "
        "the numbers do not tell which of these it is.",
    )


def _same_models(datasets: pd.DataFrame) -> Finding:
    told = [
        f"{row.perturbation} {row.correlation:.2f} {span(row.correlation_low, row.correlation_high, 1, 2)}"
        for row in datasets.sort_values("correlation", ascending=False).itertuples()
    ]
    return Finding(
        f"Whether the same models lose on both data sets (Spearman): {', '.join(told)}.",
        "none: estimates",
        "Fisher's transformation with Bonett and Wright's error; models are the sample",
        f"none: {len(datasets)} intervals, each by itself",
        f"{FEW_MODELS}; sampling error of each loss pulls towards 0.",
    )


def _diluted(bounds: pd.DataFrame) -> Finding:
    row = bounds[bounds["unchanged"].notna()].iloc[0]
    ordered = bounds.sort_values("most_unchanged").iloc[[0, -1]].itertuples()
    ends = [f"{100 * one.most_unchanged:.0f} % ({one.perturbation}, {DATASETS[one.dataset]})" for one in ordered]
    problems = published_numbers("codecrash/problems") or {}
    return Finding(
        f"Unchanged programs dilute what is published: {row['perturbation']} leaves {100 * row['unchanged']:.0f} % of "
        f"CRUXEval's {problems['cruxeval']} programs as they are, so that its {100 * row['lost']:.1f} % "
        f"{span(row['low'], row['high'])} of the vanilla score are {100 * row['applied']:.1f} % "
        f"{span(row['applied_low'], row['applied_high'])} where it applies. For the others the published "
        f"loss is the least; the numbers exclude no more than that over {' to '.join(ends)} are unchanged.",
        "none: bounds",
        "Student over models, divided by the share of changed programs",
        "none: nothing is tested",
        "It takes unchanged programs for as hard as the others; if they are easier, the effect where it applies is "
        "larger still. For other perturbations the share of unchanged programs is not published.",
    )
