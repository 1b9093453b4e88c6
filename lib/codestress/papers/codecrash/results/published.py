"""CodeCrash: findings from the published Pass@1 of 17 models under seven perturbations on two data
sets (outputs, direct mode).

Pass@1 is published by model and perturbation, not by problem. Intervals of single cells are
therefore marginal, and comparisons of models lose the pairing by problem. Averages and correlations
take the 17 models as their sample.
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
from codestress.papers.codecrash.results.differences import (
    INDEPENDENT,
    published_differences,
)
from codestress.report.findings import Finding, listed, points, span
from codestress.report.published import published_numbers, read_published
from codestress.seeding import rng

DATASETS = {"cruxeval": "CRUXEval", "livecodebench": "LiveCodeBench"}
DRAWS = 10_000


def scores() -> pd.DataFrame:
    """Returns the published scores (outputs, direct mode), a row for each model, data set and
    perturbation.

    Columns: label (of the model), dataset, perturbation (including `VAN`), share (Pass@1, 0 to 1),
    independent (effective number of answers behind the share), lost (part of the vanilla score that
    is lost, 0 for `VAN`).
    """
    table = published_differences()
    table = table[(table["mode"] == "direct") & table["dataset"].isin(list(DATASETS))]
    vanilla = table.drop_duplicates(["label", "dataset"])
    shares = {"pass_at_1_pct": vanilla["vanilla_pct"], "relative_pct": 0.0}
    every = pd.concat(
        [vanilla.assign(perturbation="VAN", **shares), table], ignore_index=True
    )
    return every[["label", "dataset", "perturbation"]].assign(
        share=every["pass_at_1_pct"] / 100,
        independent=every["dataset"].map(INDEPENDENT),
        lost=-every["relative_pct"] / 100,
    )


def rankings(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the models' ranks, and the range of ranks that the tests leave open: a row for each
    data set, perturbation and model of `table`, the result of `scores`.

    A z test of two independent shares compares every pair of models (all models had the same
    problems, so the test is cautious), with Holm's correction over the pairs of a data set and
    perturbation. A model's rank lies between the ranks of the surely better and of the surely worse
    models (Mogstad et al. 2024). Columns: dataset, perturbation, label, share, rank (1: best), low,
    high (best and worst open rank), separated (number of pairs in the panel that the tests
    separate), pairs.
    """
    parts = []
    for _, part in table.groupby(["dataset", "perturbation"], sort=False):
        low, high, separated = open_ranks(part["share"], part["independent"], LEVEL)
        ranks = part[["dataset", "perturbation", "label", "share"]].assign(
            rank=part["share"].rank(ascending=False),
            low=low,
            high=high,
            separated=len(separated),
            pairs=math.comb(len(part), 2),
        )
        parts.append(ranks)
    return pd.concat(parts, ignore_index=True)


def _losses(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Returns, by data set, a table of the share lost by each model (index) to each perturbation
    (columns), from `table`, the result of `scores`."""
    perturbed = table[table["perturbation"] != "VAN"]
    return {
        dataset: perturbed[perturbed["dataset"] == dataset].pivot_table(
            "lost", "label", "perturbation", sort=False
        )
        for dataset in DATASETS
    }


def agreement(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Returns the rank correlation over models of each pair of perturbations, on each data set:
    whether both order the models alike by the share of the vanilla score that they cost. `table`
    comes from `scores`; `seed` draws permutations.

    Columns: dataset, first, second (perturbations), correlation (Spearman), low, high (interval at
    `confidence`), p (permutations of models), p_holm (over all), decided (p_holm below 0.05).
    """
    rows = []
    for dataset, lost in _losses(table).items():
        for first, second in combinations(lost.columns, 2):
            draws = rng(seed, "agreement", dataset, first, second)
            found = rank_correlation(lost[first], lost[second], confidence, draws)
            row = {"dataset": dataset, "first": first, "second": second}
            tested = {"correlation": found.value, **found.interval._asdict()}
            rows.append({**row, **tested, "p": found.p_value})
    return with_holm(pd.DataFrame(rows))


def by_vanilla(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Returns, for each data set and perturbation, the correlation over models between the share
    that the perturbation costs and the vanilla score. `table` comes from `scores`; `seed` makes the
    draws.

    Both contain the vanilla score with its sampling error. `alike` is the mean correlation in
    `DRAWS` drawn tables in which every model loses the same share; it is nearer to 0 with more
    independent answers. p is the larger of two shares: of draws at least as far from `alike`, and
    of permutations at least as far from 0. Columns: dataset, perturbation, correlation (Pearson),
    low, high (at `confidence`), explained (its square), alike, p, p_holm (over all), decided
    (p_holm below 0.05).
    """
    rows = []
    plain = table[table["perturbation"] == "VAN"]
    plain = plain.set_index(["dataset", "label"])["share"]
    for dataset, losses in _losses(table).items():
        vanilla = plain[dataset][losses.index].to_numpy()
        for perturbation, lost in losses.items():
            value = float(np.corrcoef(vanilla, lost)[0, 1])
            draws = rng(seed, "vanilla", dataset, perturbation)
            kept = vanilla * (1 - lost.mean())
            drawn, after = (
                _drawn_shares(shares, INDEPENDENT[dataset], draws)
                for shares in (vanilla, kept)
            )
            under = _correlations(drawn, 1 - after / drawn)
            alike = float(under.mean())
            far = np.abs(under - alike) >= abs(value - alike)
            shuffled = draws.permuted(np.tile(vanilla, (DRAWS, 1)), axis=1)
            apart = np.abs(_correlations(shuffled, lost.to_numpy()[None])) >= abs(value)
            row = {"dataset": dataset, "perturbation": perturbation}
            ends = fisher_interval(value, len(vanilla), 1.0, confidence)._asdict()
            shown = {"correlation": value, **ends, "explained": value**2}
            p_value = (1 + max(far.sum(), apart.sum())) / (1 + DRAWS)
            rows.append({**row, **shown, "alike": alike, "p": p_value})
    return with_holm(pd.DataFrame(rows))


def _drawn_shares(
    shares: np.ndarray, n: float, draws: np.random.Generator
) -> np.ndarray:
    """Returns `DRAWS` rows of `shares`, each drawn with its sampling error in `n` answers."""
    error = np.sqrt(shares * (1 - shares) / n)
    return draws.normal(shares, error, (DRAWS, len(shares)))


def _correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Returns the Pearson correlations, as an array, of each row of `x` with the row of `y` at its
    place, or with the only row of `y`."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    return np.asarray(
        (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    )


def between_datasets(table: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Returns, for each perturbation, the share that it costs on CRUXEval and on LiveCodeBench,
    paired by model. `table` comes from `scores`; `seed` draws permutations.

    Columns: perturbation, cruxeval, livecodebench (mean share lost), difference (LiveCodeBench -
    CRUXEval), low, high (Student, at `confidence`, over models), p (exact sign flips), p_holm (over
    perturbations), decided (p_holm below 0.05), more (number of models that lose more on
    LiveCodeBench), models, correlation (Spearman, of the shares lost), correlation_low,
    correlation_high.
    """
    cruxeval, livecodebench = _losses(table).values()
    rows = []
    for perturbation, first in cruxeval.items():
        second = livecodebench[perturbation].reindex(first.index)
        found = mean_difference(second - first, confidence)
        draws = rng(seed, "datasets", perturbation)
        same = rank_correlation(first, second, confidence, draws)
        row = {
            "perturbation": perturbation,
            "cruxeval": first.mean(),
            "livecodebench": second.mean(),
            "difference": found.value,
            **found.interval._asdict(),
            "p": found.p_value,
            "more": (second > first).sum(),
            "models": found.models,
            "correlation": same.value,
        }
        row["correlation_low"], row["correlation_high"] = same.interval
        rows.append(row)
    return with_holm(pd.DataFrame(rows))


def diluted(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns bounds of each perturbation's cost on the programs that it changes, as a share of the
    vanilla score, mean over models: a row for each data set and perturbation of `table`, the result
    of `scores`.

    Unchanged programs lose nothing, so the published loss is a lower bound. Where the share of
    unchanged programs is known, the loss on changed programs is lost / (1 - unchanged), if
    unchanged programs are as hard as the others. `most_unchanged`: with more unchanged programs,
    the others would have to lose more than their whole score. Columns: dataset, perturbation, lost,
    low, high (Student, over models), unchanged (share; nan: not known), applied (loss on changed
    programs), applied_low, applied_high, most_unchanged.
    """
    known = {}
    for statement in read_published("codecrash")["statements"]:
        if statement["artefacts"] == ["perturbations"]:
            where = statement["where"]
            known[where["dataset"], where["perturbation"]] = statement["value"] / 100
    rows = []
    for dataset, losses in _losses(table).items():
        for perturbation, lost in losses.items():
            found = mean_difference(lost, confidence)
            unchanged = known.get((dataset, perturbation), math.nan)
            row = {"dataset": dataset, "perturbation": perturbation}
            lost_share = {"lost": found.value, **found.interval._asdict()}
            row |= lost_share | {"unchanged": unchanged}
            for name, value in lost_share.items():
                column = f"applied_{name}".removesuffix("_lost")
                row[column] = value / (1 - unchanged)
            row["most_unchanged"] = 1 - lost.max()
            rows.append(row)
    return pd.DataFrame(rows)


# --- findings -----------------------------------------------------------------------------------------------------

FEW_MODELS = "17 models of a few families, several of one: no sample of models at large"


def findings(
    ranks: pd.DataFrame,
    alike: pd.DataFrame,
    vanilla: pd.DataFrame,
    datasets: pd.DataFrame,
    bounds: pd.DataFrame,
) -> list[Finding]:
    """Returns six findings in order of presentation, each a sentence with its test (`Finding`),
    from the results of `rankings` (`ranks`), `agreement` (`alike`), `by_vanilla` (`vanilla`),
    `between_datasets` (`datasets`, for two findings) and `diluted` (`bounds`)."""
    return [
        _ranks(ranks),
        _agreement(alike),
        _vanilla(vanilla),
        _datasets(datasets),
        _same_models(datasets),
        _diluted(bounds),
    ]


def _ranks(ranks: pd.DataFrame) -> Finding:
    told = []
    for dataset, name in DATASETS.items():
        part = ranks[ranks["dataset"] == dataset]
        plain = part[part["perturbation"] == "VAN"].sort_values("rank")
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
        f"samples of 92 questions count as {INDEPENDENT['livecodebench']:.1f} independent ones (Kish), three "
        "candidates for one sample as one.",
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
        told.append(
            f"{name}: {len(sure)} of {len(part)} pairs of perturbations ({listed(pairs)})"
        )
    rest = alike[~alike["decided"]]
    positive = (rest["low"] > 0).sum()
    return Finding(
        "Perturbations that order the models alike, by the share of the vanilla score that each loses (Spearman). "
        f"{'; '.join(told)}. The other {len(rest)} pairs are not decided; intervals of {positive} of them, not "
        f"corrected for {len(alike)} pairs, are above zero.",
        "Spearman's rank correlation over models, permutations",
        "Fisher's transformation with Bonett and Wright's error; models are the sample",
        f"Holm over {len(alike)} pairs, level {LEVEL}",
        f"{FEW_MODELS}. Sampling error of each loss pulls towards 0, the vanilla score that all losses share upwards.",
    )


def _vanilla(vanilla: pd.DataFrame) -> Finding:
    told = [
        f"{row.perturbation} on {DATASETS[row.dataset]} {100 * row.explained:.0f} % "
        f"(r = {row.correlation:+.2f} {span(row.low, row.high, 1, 2)}, p by Holm {row.p_holm:.2f})"
        for row in vanilla.sort_values("explained", ascending=False)
        .head(4)
        .itertuples()
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
    rest = [
        f"{row.perturbation} {points(row.difference)} {span(row.low, row.high)}"
        for row in datasets[~datasets["decided"]].itertuples()
    ]
    return Finding(
        f"LiveCodeBench against CRUXEval, mean share lost: {'; '.join(told)}. Not decided (points): "
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
    ends = [
        f"{100 * one.most_unchanged:.0f} % ({one.perturbation}, {DATASETS[one.dataset]})"
        for one in ordered
    ]
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
        "larger still. For other perturbations the share of unchanged programs was not counted.",
    )
