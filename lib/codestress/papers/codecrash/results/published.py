"""CodeCrash: ranks of 17 models and differences between two data sets, from the published Pass@1
under seven perturbations (outputs, direct mode).

Pass@1 is published by model and perturbation, not by problem. Ranges of ranks are therefore
marginal: comparisons of models lose the pairing by problem. Averages take the 17 models as their
sample.
"""

from __future__ import annotations

import math

import pandas as pd

from codestress.fitting.significance import (
    LEVEL,
    mean_difference,
    open_ranks,
    with_holm,
)
from codestress.papers.codecrash.results.differences import (
    INDEPENDENT,
    published_differences,
)

DATASETS = {"cruxeval": "CRUXEval", "livecodebench": "LiveCodeBench"}


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


def between_datasets(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns, for each perturbation, the share that it costs on CRUXEval and on LiveCodeBench,
    paired by model. `table` comes from `scores`.

    Columns: perturbation, cruxeval, livecodebench (mean share lost), difference (LiveCodeBench -
    CRUXEval), low, high (Student, at `confidence`, over models), p (exact sign flips), models,
    p_holm (over perturbations), decided (p_holm below 0.05).
    """
    perturbed = table[table["perturbation"] != "VAN"]
    rows = []
    for perturbation, part in perturbed.groupby("perturbation", sort=False):
        lost = part.pivot(index="label", columns="dataset", values="lost")
        change = mean_difference(lost["livecodebench"] - lost["cruxeval"], confidence)
        row = {"perturbation": perturbation, **lost.mean()[list(DATASETS)]}
        row |= {"difference": change.value, **change.interval._asdict()}
        rows.append(row | {"p": change.p_value, "models": change.models})
    return with_holm(pd.DataFrame(rows))
