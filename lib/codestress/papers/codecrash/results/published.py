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

from .differences import (
    INDEPENDENT,
    not_reasoning,
    pass_at_1,
)

DATASETS = {"cruxeval": "CRUXEval", "livecodebench": "LiveCodeBench"}


def scores() -> pd.DataFrame:
    """Returns the published scores (outputs, direct mode), a row for each model, data set and
    perturbation.

    Columns: label (of the model), dataset, perturbation (including `VAN`), share (Pass@1, 0 to 1),
    independent (effective number of answers behind the share), lost (part of the vanilla score that
    is lost, 0 for `VAN`).
    """
    cells = not_reasoning(pass_at_1()).query("mode == 'direct'")
    cells = cells.sort_values(
        "perturbation", key=lambda names: names != "VAN", kind="stable"
    )
    vanilla = cells.groupby(["label", "dataset"])["value"].transform("first")
    return cells[["label", "dataset", "perturbation"]].assign(
        share=cells["value"] / 100,
        independent=cells["dataset"].map(INDEPENDENT),
        lost=1 - cells["value"] / vanilla,
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
        part = part.drop(columns=["independent", "lost"])
        part["rank"] = part["share"].rank(ascending=False)
        part["low"], part["high"] = low, high
        part["separated"] = len(separated)
        part["pairs"] = math.comb(len(part), 2)
        parts.append(part)
    ranks = pd.concat(parts, ignore_index=True)
    return ranks[["dataset", "perturbation", "label", *ranks.columns[3:]]]


def between_datasets(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns, for each perturbation, the share that it costs on CRUXEval and on LiveCodeBench,
    paired by model. `table` comes from `scores`.

    Columns: perturbation, cruxeval, livecodebench (mean share lost), difference (LiveCodeBench -
    CRUXEval), low, high (Student, at `confidence`, over models), p (exact sign flips), models,
    p_holm (over perturbations), decided (p_holm below 0.05).
    """
    lost = table.pivot(
        index="label", columns=["dataset", "perturbation"], values="lost"
    )
    rows = []
    for name in table["perturbation"].unique()[1:]:
        crux, contest = (lost[dataset][name] for dataset in DATASETS)
        change = mean_difference(contest - crux, confidence)
        row = {"perturbation": name}
        row["cruxeval"], row["livecodebench"] = crux.mean(), contest.mean()
        row["difference"] = change.value
        row["low"], row["high"] = change.interval
        row["p"], row["models"] = change.p_value, change.models
        rows.append(row)
    return with_holm(pd.DataFrame(rows))
