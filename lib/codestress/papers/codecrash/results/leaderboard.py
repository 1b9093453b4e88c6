"""CodeCrash: the published Pass@1 and its differences to vanilla programs, averages of them, and the
tables with which the ledger compares the paper's statements; ranks of 17 models and differences
between two data sets (outputs, direct mode).

Pass@1 is published by model and perturbation, not by problem. Ranges of ranks are therefore
marginal: comparisons of models lose the pairing by problem. Averages take the 17 models as their
sample.
"""

import math

import pandas as pd

from codestress.fitting.influence import Moved, share, total
from codestress.fitting.significance import (
    mean_difference,
    open_ranks,
    with_holm,
)
from codestress.report.published import (
    published_cells,
    published_models,
    published_numbers,
)

from .conditions import (
    MERGE,
    MODES,
    NAMES,
    named,
)
from .differences import (
    NUMBERS,
    as_the_paper_asked,
    estimate_row,
    paired_scores,
)

INDEPENDENT = {
    "cruxeval": 800.0,
    "livecodebench": 479**2 / 2729,
    MERGE: (800 + 479) ** 2 / (800 + 2729),
}
"""Least number of independent answers behind the paper's shares, by `effective_number`: 84.1 for
LiveCodeBench, whose 479 samples come from 92 questions (the squared numbers of samples sum to
2,729), and 463.5 for both data sets."""
HEADLINE = ["PSC-ALL", "MCC", "MPS", "MHC"]
"""Perturbations behind the abstract's averages."""


def published_differences(task: str = "output") -> pd.DataFrame:
    """Returns the paper's differences to vanilla of 17 models, a row for each model, data set, mode
    and perturbation: from its published Pass@1 (`task` is `output`), or as read from its picture
    (`input`, CRUXEval alone).

    Columns: label, model (the registry's name), dataset, mode, perturbation, vanilla_pct,
    pass_at_1_pct, points, relative_pct, task, provenance (in words; the tables of the paper's text
    have lost their numbers). The Merge score weighs 800 problems of CRUXEval and 479 of
    LiveCodeBench.
    """
    if task == "input":
        provenance = "read from a picture"
        cells = published_cells("codecrash/input", "label", "column")
        cells["dataset"] = "cruxeval"
        condition = cells["column"].str.rsplit(" ", n=1, expand=True)
        cells[["perturbation", "mode"]] = condition
    else:
        provenance = "from the leaderboard alone"
        cells = _with_merged(pass_at_1())
    key = ["label", "dataset", "mode"]
    vanilla = cells["value"].where(cells["perturbation"] == "VAN")
    before = vanilla.groupby([cells[name] for name in key]).transform("first")
    after = cells["value"]
    if task == "input":
        after = before * (1 + after / 100)
    table = cells[[*key, "perturbation"]]
    table["vanilla_pct"] = before
    table["pass_at_1_pct"] = after
    table["provenance"] = provenance
    table["model"] = registry_names(table["label"])
    table["task"] = task
    table["points"] = after - before
    table["relative_pct"] = 100 * (after / before - 1)
    others = not_reasoning(table.query("perturbation != 'VAN'"))
    return others.reset_index(drop=True)


def registry_names(labels: pd.Series) -> pd.Series:
    """Returns the names in the registry of the paper's models, by their `labels` in the paper."""
    return labels.map(published_models("codecrash"))


def pass_at_1() -> pd.DataFrame:
    """Returns the published Pass@1 (outputs): label, mode, dataset, perturbation, value (in %)."""
    axes = ("label", "mode", "dataset", "perturbation")
    return published_cells("codecrash/pass_at_1", *axes)


def not_reasoning(cells: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of models without those of reasoning models, which the paper asked in one
    mode alone."""
    return cells[cells.groupby("label")["mode"].transform("nunique") > 1]


def _with_merged(cells: pd.DataFrame) -> pd.DataFrame:
    """Returns the published Pass@1, with a row of `MERGE` for each model, mode and perturbation,
    after the other rows of the model and mode."""
    counts = pd.Series(problem_counts())
    parts = []
    for _, part in cells.groupby(["label", "mode"], sort=False):
        weighted = part["value"] * part["dataset"].map(counts / counts.sum())
        sums = weighted.groupby(part["perturbation"], sort=False).sum()
        first = part.drop_duplicates("perturbation")
        parts += [part, first.assign(dataset=MERGE, value=sums.to_numpy())]
    return pd.concat(parts, ignore_index=True)


def problem_counts() -> dict[str, int]:
    """Returns the number of problems that the paper asks about in each data set, as a dict by data
    set."""
    return published_numbers("codecrash/problems")


def average_losses(published: pd.DataFrame) -> pd.DataFrame:
    """Returns each model's loss to each perturbation over both data sets, by each reading of an
    average (weighted by problems, of all problems together, both data sets alike): label, mode,
    perturbation, reading, lost (in % of vanilla; nan where a data set is missing). `published`
    comes from `published_differences`. The paper prints no formula (version 2 weighted the
    perturbations)."""
    key = ["label", "mode", "perturbation"]
    lost = -published.pivot(index=key, columns="dataset", values="relative_pct")
    lost = lost.reindex(
        columns=[*problem_counts(), MERGE]
    )  # inputs are of one data set
    readings = {}
    for reading, weights in reading_weights().items():
        readings[reading] = lost[weights.index] @ weights
    wide = pd.DataFrame(readings).reset_index()
    return wide.melt(key, var_name="reading", value_name="lost")


def reading_weights() -> dict[str, pd.Series]:
    """Returns the weight of each data set's loss in an average, by the reading of this word."""
    counts = pd.Series(problem_counts())
    return {
        "relative losses, each problem alike": counts / counts.sum(),
        "relative loss of the Merge score": pd.Series({MERGE: 1.0}),
        "relative losses, both data sets alike": pd.Series(
            1 / len(counts), counts.index
        ),
    }


def headlines(published: pd.DataFrame) -> pd.DataFrame:
    """Returns the abstract's average degradation, in %, over 17 models and four perturbations, by
    each reading of an average (`average_losses`): mode, reading, degradation. `published` comes
    from `published_differences`."""
    means = mean_losses(average_losses(published), ["mode", "reading"])
    return means.rename("degradation").reset_index()


def mean_losses(losses: pd.DataFrame, by: list[str]) -> pd.Series:
    """Returns the mean of `losses`, the result of `average_losses`, over the perturbations of
    `HEADLINE`, for each value of the columns `by`."""
    four = losses[losses["perturbation"].isin(HEADLINE)]
    return four.groupby(by, sort=False)["lost"].mean()


def compared_tables(
    table: pd.DataFrame, published: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Returns, as a dict by name, the tables with which the ledger compares the paper's statements:
    `published` (published cells of the modes and perturbations asked here), `differences`
    (regenerated cells in the paper's setting) and `headline` (of `headlines`). Regenerated rows of
    `MERGE` are kept only with the paper's data sets. `table` comes from `differences`, `published`
    from `published_differences`."""
    asked = as_the_paper_asked(table)
    if set(asked["dataset"]) - {MERGE} != set(problem_counts()):
        # Of other problems, or of one data set alone.
        asked = asked[asked["dataset"] != MERGE]
    cells = published[published["mode"].isin(table["mode"])]
    cells = cells[cells["perturbation"].isin(table["perturbation"])]
    cells = cells.round({"points": 2, "relative_pct": 2})
    cells["mode_name"] = cells["mode"].map(MODES)
    return {
        "published": with_claims(cells, "modes"),
        "differences": asked,
        "headline": headlines(published),
    }


def with_claims(cells: pd.DataFrame, *free: str) -> pd.DataFrame:
    """Returns the published `cells` with the columns by which the ledger compares them:
    dataset_name, n (independent answers) and free, the names of the parameters in which a study may
    deviate from the paper's without effect on the cost of the perturbation: those in `free`,
    problems, perturbations and, except for MHC, hints."""
    free = (*free, "problems", "perturbations")
    own = {"MHC": free}
    return cells.assign(
        dataset_name=cells["dataset"].map(NAMES),
        n=cells["dataset"].map(INDEPENDENT),
        free=[own.get(name, (*free, "hints")) for name in cells["perturbation"]],
    )


def own_headlines(
    answers: pd.DataFrame, published: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns the abstract's average degradation from `answers` collected here, by each reading of
    an average (`average_losses`), for each mode in which all of the paper's models answered on both
    data sets: mode, reading, degradation, low, high (%), questions, independent. Empty without such
    a mode.

    Intervals at `confidence` are over questions, which all models share. `published` comes from
    `published_differences`, `rule` is the scoring rule.
    """
    counts = problem_counts()
    paper = answers["model"].isin(published["model"]) & answers["dataset"].isin(counts)
    pairs = paired_scores(as_the_paper_asked(answers[paper]), rule)
    pairs = pairs[pairs["perturbation"].isin(HEADLINE) & (pairs["dataset"] != MERGE)]
    pairs["question"] = pairs["dataset"] + "/" + pairs["question"]
    models = published["model"].nunique()
    rows = []
    for mode, part in pairs.groupby("mode"):
        asked = part.groupby(["model", "dataset", "perturbation"]).ngroups
        if asked < models * len(counts) * len(HEADLINE):
            continue
        for reading, weights in reading_weights().items():
            row = {"mode": mode, "reading": reading}
            lost = 100 - _mean_kept(part, weights)
            rows.append(row | estimate_row(lost, part, confidence))
    table = pd.DataFrame(rows, columns=["mode", "reading", *NUMBERS])
    return table.rename(columns={"value": "degradation"})


def _mean_kept(pairs: pd.DataFrame, weights: pd.Series) -> Moved:
    """Returns the mean part of the vanilla score, in %, that models keep under perturbations: over
    the models and perturbations in `pairs`, data sets with `weights`, of `reading_weights`."""
    kept = []
    scores = pairs.set_index("question")
    for _, own in scores.groupby(["model", "perturbation"]):
        for dataset, weight in weights.items():
            cell = own
            if dataset != MERGE:
                cell = own[own["dataset"] == dataset]
            part = share(cell["score"], cell["score_before"])
            kept.append(part * weight)
    return total(kept) * (len(weights) * 100 / len(kept))


LIKE = {"generated": "cruxeval", "contest": "livecodebench"}
"""Data set of the paper beside which the kit's own problems stand in figures."""


def in_panels(
    published: pd.DataFrame, drawn: pd.DataFrame, on: list[str]
) -> pd.DataFrame:
    """Returns the rows of `published` in the panels of `drawn` (its column `panel`) that agree with
    them in the columns `on`, with the panel and `beside`, the data set's name; the column
    `perturbation` is then `condition`.

    Each data set of `drawn` stands beside the published one, its own or that of the same kind
    (`LIKE`); all problems together beside all published ones, if both data sets do.
    """
    own = set(drawn["dataset"])
    theirs = set(published["dataset"]) - {MERGE}
    beside = {name: LIKE.get(name, name) for name in own - {MERGE}}
    if len(theirs) > 1 and theirs <= {*beside.values()}:
        beside[MERGE] = MERGE
    panels = drawn.assign(dataset=drawn["dataset"].map(beside))
    panels = panels[[*on, "panel"]].drop_duplicates()
    cells = published.merge(panels.dropna(), on=on)
    names = NAMES | {MERGE: "both data sets"}
    cells["beside"] = cells["dataset"].map(names)
    return cells.rename(columns={"perturbation": "condition"})


def published_points(
    published: pd.DataFrame, table: pd.DataFrame, *, relative: bool
) -> pd.DataFrame:
    """Returns the paper's models for the grey dots, in the panels of their mode and of the data set
    (`in_panels`): panel, condition, value (in % of vanilla if `relative`, else in points), beside
    (name of the published data set). `published` comes from `published_differences`, `table` from
    `differences`."""
    drawn = as_the_paper_asked(named(table))
    cells = in_panels(published, drawn, ["dataset", "mode"])
    value = "relative_pct" if relative else "points"
    return cells.rename(columns={value: "value"})


def scores() -> pd.DataFrame:
    """Returns the published scores (outputs, direct mode), a row for each model, data set and
    perturbation.

    Columns: label (of the model), dataset, perturbation (first `VAN`), share (Pass@1, 0 to 1),
    independent (effective number of answers behind the share), lost (part of the vanilla score that
    is lost, 0 for `VAN`).
    """
    cells = not_reasoning(pass_at_1()).query("mode == 'direct'")
    vanilla = cells.groupby(["label", "dataset"])["value"].transform("first")
    table = cells.drop(columns=["mode", "value"])
    table["share"] = cells["value"] / 100
    table["independent"] = cells["dataset"].map(INDEPENDENT)
    table["lost"] = 1 - cells["value"] / vanilla
    return table


def rankings(table: pd.DataFrame) -> pd.DataFrame:
    """Returns the models' ranks, and the range of ranks that the tests leave open: a row for each
    data set, perturbation and model of `table`, the result of `scores`.

    A z test of two independent shares compares every pair of models (all models had the same
    problems, so the test is cautious), with Holm's correction over the pairs of a data set and
    perturbation. A model's rank lies between the ranks of the surely better and of the surely worse
    models (Mogstad et al. 2024). Columns: those of `table`, rank (1: best), low,
    high (best and worst open rank), separated (number of pairs in the panel that the tests
    separate), pairs.
    """
    parts = []
    for _, part in table.groupby(["dataset", "perturbation"], sort=False):
        low, high, separated = open_ranks(part["share"], part["independent"])
        part["rank"] = part["share"].rank(ascending=False)
        part["low"] = low
        part["high"] = high
        part["separated"] = len(separated)
        part["pairs"] = math.comb(len(part), 2)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def between_datasets(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns, for each perturbation, the share that it costs on CRUXEval and on LiveCodeBench,
    paired by model. `table` comes from `scores`.

    Columns: perturbation, cruxeval, livecodebench (mean share lost), difference (LiveCodeBench -
    CRUXEval), low, high (Student, at `confidence`, over models), p (exact sign flips),
    p_holm (over perturbations), decided (p_holm below 0.05).
    """
    lost = table.pivot(
        index="label", columns=["dataset", "perturbation"], values="lost"
    )
    rows = []
    for name in table["perturbation"].unique()[1:]:
        sides = lost.xs(name, axis=1, level="perturbation")
        gains = sides["livecodebench"] - sides["cruxeval"]
        change = mean_difference(gains, confidence)
        row = {"perturbation": name, **sides.mean()}
        row["difference"] = change.value
        row["low"], row["high"] = change.interval
        row["p"] = change.p_value
        rows.append(row)
    return with_holm(pd.DataFrame(rows))
