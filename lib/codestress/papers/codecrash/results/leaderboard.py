"""CodeCrash: the published Pass@1, its differences to vanilla (unperturbed) programs,
and the average losses. Also the tables that the ledger (docs/ledger.md) compares with
the paper's statements, the ranks of 17 models, and differences between two data sets.

The paper publishes Pass@1 for each model and perturbation, not for each problem. Ranges
of ranks are therefore marginal: comparisons of models lose the pairing of answers to
the same problem. Averages treat the 17 models as a sample.
"""

import math

import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.fitting.significance import mean_difference, open_ranks, with_holm
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
"""Smallest number of independent answers behind a published share, for each data set,
computed like `effective_number`. The number is 84.1 for LiveCodeBench, whose 479
samples come from 92 questions (the squared numbers of samples sum to 2,729), and 463.5
for both data sets together."""
CELLS = ["label", "mode", "dataset", "perturbation"]
"""Columns whose values identify a published number, outermost level of the file first.
"""
HEADLINE = ["PSC-ALL", "MCC", "MPS", "MHC"]
"""Perturbations behind the abstract's averages."""


def published_scores(task: str = "output") -> pd.DataFrame:
    """Return the paper's Pass@1 and its differences to vanilla programs, a row for each
    model, data set, mode and perturbation (first VAN).

    For the `task` `output` the differences are computed from the published Pass@1. For
    `input` they are read from the paper's picture (CRUXEval alone). Columns: label (the
    model's name in the paper), dataset, mode, perturbation, vanilla_pct and
    pass_at_1_pct (0 to 100), provenance (in words; the tables of the paper's text have
    lost their numbers), model (its name in the registry), task, points (percentage
    points), relative_pct (in % of vanilla), reasoning (whether the paper asked the
    model in one mode only, as it did with reasoning models).

    Outputs also have rows of `MERGE`, both data sets together: 800 problems of CRUXEval
    and 479 of LiveCodeBench, all weighted alike.
    """
    if task == "input":
        provenance = "read from a picture"
        cells = published_cells("codecrash/input", "label", "column")
        cells["dataset"] = "cruxeval"
        condition = cells["column"].str.rsplit(" ", n=1, expand=True)
        cells[["perturbation", "mode"]] = condition
    else:
        provenance = "from the leaderboard alone"
        cells = _with_merged(published_cells("codecrash/pass_at_1", *CELLS))
    key = ["label", "dataset", "mode"]
    # Each group begins with its vanilla row.
    before = cells.groupby(key)["value"].transform("first")
    after = cells["value"]
    if task == "input":
        after = before * (1 + after / 100)
    table = cells[[*key, "perturbation"]]
    table["vanilla_pct"] = before
    table["pass_at_1_pct"] = after
    table["provenance"] = provenance
    table["model"] = registry_names(cells["label"])
    table["task"] = task
    table["points"] = after - before
    table["relative_pct"] = 100 * (after / before - 1)
    table["reasoning"] = cells.groupby("label")["mode"].transform("nunique") == 1
    return table


def published_differences(task: str = "output") -> pd.DataFrame:
    """Return the rows of `published_scores` about perturbed programs and the 17 models
    that are not reasoning models."""
    table = published_scores(task)
    perturbed = table.query("perturbation != 'VAN' and not reasoning")
    return perturbed.drop(columns="reasoning").reset_index(drop=True)


def registry_names(labels: pd.Series) -> pd.Series:
    """Return the registry names of the paper's models, for their `labels` in the paper;
    nan for an unknown label."""
    return labels.map(published_models("codecrash"))


def _with_merged(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the published Pass@1 `cells` with rows of `MERGE` added: one for each
    model, mode and perturbation, after the other rows of this model and mode. A `MERGE`
    value is the mean over data sets, weighted with their numbers of problems."""
    counts = pd.Series(problem_counts())
    weights = cells["dataset"].map(counts / counts.sum())
    merged = cells.assign(value=cells["value"] * weights, dataset=MERGE)
    merged = merged.groupby(CELLS, sort=False, as_index=False).sum()
    both = pd.concat([cells, merged], ignore_index=True)
    place = both.groupby(CELLS[:2], sort=False).ngroup()
    return both.loc[place.sort_values(kind="stable").index]


def problem_counts() -> dict[str, int]:
    """Return a dict from each data set of the paper to the number of its problems that
    the paper asks about."""
    return published_numbers("codecrash/problems")


def average_losses(published: pd.DataFrame) -> pd.DataFrame:
    """Return each model's average loss under each perturbation over both data sets, in
    % of vanilla; nan if a data set is missing. There is a column for each reading, an
    interpretation of the paper's word "average": the paper prints no formula (version 2
    weighted the perturbations).

    The rows are indexed by label, mode and perturbation. `published` comes from
    `published_differences`.
    """
    key = ["label", "mode", "perturbation"]
    loss = -published.pivot(index=key, columns="dataset", values="relative_pct")
    weights = pd.DataFrame(reading_weights()).fillna(0)
    # Input prediction has CRUXEval alone: the missing columns are nan.
    return loss.reindex(columns=weights.index) @ weights


def reading_weights() -> dict[str, pd.Series]:
    """Return a dict from each reading of "average" to the weights of the data sets'
    losses, a series indexed by data set. The readings: each problem counts alike, all
    problems are one data set (`MERGE`), or both data sets count alike."""
    counts = pd.Series(problem_counts())
    return {
        "relative losses, each problem alike": counts / counts.sum(),
        "relative loss of the Merge score": pd.Series({MERGE: 1.0}),
        "relative losses, both data sets alike": pd.Series(
            1 / len(counts), counts.index
        ),
    }


def headlines(published: pd.DataFrame) -> pd.DataFrame:
    """Return the average degradation that the abstract states, recomputed over 17
    models and four perturbations. Columns: mode, reading (of "average", as in
    `average_losses`), degradation (in % of vanilla). `published` comes from
    `published_differences`."""
    means = mean_losses(published, "mode").reset_index()
    return means.melt("mode", var_name="reading", value_name="degradation")


def mean_losses(published: pd.DataFrame, *by: str) -> pd.DataFrame:
    """Return the mean loss (in % of vanilla) over the perturbations of `HEADLINE`, with
    a row for each combination of values of `by` (label, mode) and a column for each
    reading.
    `published` comes from `published_differences`."""
    losses = average_losses(published)
    return losses.query("perturbation in @HEADLINE").groupby([*by]).mean()


def compared_tables(
    table: pd.DataFrame, published: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return the tables that the ledger compares with the paper's statements, as a dict
    from name to table. `table` comes from `differences`, `published` from
    `published_differences`.

    `published`: the published cells with the modes and perturbations of `table`.
    `differences`: the rows of `table` in the paper's setting, including `MERGE` only if
    its data sets are exactly the paper's. `headline`: the result of `headlines`.
    """
    asked = as_the_paper_asked(table)
    if set(asked["dataset"]) - {MERGE} != set(problem_counts()):
        # Other problems, or one data set alone, are not the paper's Merge.
        asked = asked.query("dataset != @MERGE")
    cells = published.query(
        "mode in @table['mode'] and perturbation in @table['perturbation']"
    )
    cells = cells.round({"points": 2, "relative_pct": 2})
    cells["mode_name"] = cells["mode"].map(MODES)
    return {
        "published": with_claims(cells, "modes"),
        "differences": asked,
        "headline": headlines(published),
    }


def with_claims(cells: pd.DataFrame, *free: str) -> pd.DataFrame:
    """Return the published `cells` with the columns by which the ledger compares them:
    dataset_name, n (independent answers) and free.

    The column `free` lists the parameters in which a study may deviate from the paper's
    without effect on the cost of the perturbation. The list has the parameters in the
    argument `free`, problems, perturbations and, except for MHC, hints.
    """
    free = (*free, "problems", "perturbations")
    own = {"MHC": free}
    cells = cells.copy()
    cells["dataset_name"] = cells["dataset"].map(NAMES)
    cells["n"] = cells["dataset"].map(INDEPENDENT)
    cells["free"] = [own.get(name, (*free, "hints")) for name in cells["perturbation"]]
    return cells


def own_headlines(
    answers: pd.DataFrame, published: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Return the abstract's average degradation, computed from `answers` collected here
    instead of the published ones: a row for each mode and reading of "average"
    (`average_losses`). A mode is left out unless all of the paper's models answered
    under all perturbations of `HEADLINE` on both data sets.

    Columns: mode, reading, degradation (in % of vanilla) with its interval (low, high)
    at `confidence`, questions, independent. Intervals are over questions (clusters of
    problems), which all models share. `published` comes from `published_differences`,
    `rule` is the scoring rule.
    """
    counts = problem_counts()
    asked = answers.query("model in @published.model and dataset in @counts")
    pairs = paired_scores(as_the_paper_asked(asked), rule)
    pairs = pairs.query("perturbation in @HEADLINE")
    pairs["question"] = pairs["dataset"] + "/" + pairs["question"]
    condition = ["model", "dataset", "perturbation"]
    needed = published["model"].nunique() * len([*counts, MERGE]) * len(HEADLINE)
    rows = []
    for mode, part in pairs.groupby("mode"):
        if part.groupby(condition).ngroups < needed:
            continue
        for reading, weights in reading_weights().items():
            own = part.query("dataset in @weights.index")
            kept = []
            for (_, dataset, _), cell in own.set_index("question").groupby(condition):
                score = share(cell["score"], cell["score_before"])
                kept.append(score * weights[dataset])
            row = {"mode": mode, "reading": reading}
            loss = 100 - mean(kept) * (100 * len(weights))
            rows.append(row | estimate_row(loss, own, confidence))
    table = pd.DataFrame(rows, columns=["mode", "reading", *NUMBERS])
    return table.rename(columns={"value": "degradation"})


LIKE = {"generated": "cruxeval", "contest": "livecodebench"}
"""Dict from each of the kit's own sets of problems to the published data set beside
which figures show it."""


def published_points(published: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return the `published` rows to draw in the panels of `table`, a table of
    conditions. They stand in the panels of their data set, and of their mode if
    `published` has modes, among rows of `table` in the paper's main setting.

    Each data set in `table` is paired with the same published data set, or with the
    published one of its kind (`LIKE`). All problems together (`MERGE`) are paired with
    `MERGE` only if all published data sets, two or more, are paired. The result has the
    added columns panel and beside (the published data set's name), and its column
    `perturbation` is renamed `condition`.
    """
    drawn = as_the_paper_asked(named(table))
    own = set(drawn["dataset"])
    theirs = set(published["dataset"]) - {MERGE}
    beside = {name: LIKE.get(name, name) for name in own - {MERGE}}
    if len(theirs) > 1 and theirs <= {*beside.values()}:
        beside[MERGE] = MERGE
    on = [name for name in ("dataset", "mode") if name in published]
    panels = drawn.assign(dataset=drawn["dataset"].map(beside))
    panels = panels[[*on, "panel"]].drop_duplicates()
    cells = published.merge(panels, on=on)
    cells["beside"] = cells["dataset"].map(NAMES | {MERGE: "both data sets"})
    return cells.rename(columns={"perturbation": "condition"})


def scores() -> pd.DataFrame:
    """Return the published scores (output prediction, direct mode, no reasoning
    models), a row for each model, data set and perturbation.

    Columns: label (of the model), dataset, perturbation (first `VAN`), share (Pass@1, 0
    to 1), independent (effective number of answers behind the share), lost (share of
    the vanilla score that is lost, 0 for `VAN`; negative for a gain).
    """
    cells = published_scores().query("mode == 'direct' and not reasoning")
    cells = cells.query("dataset != @MERGE")
    table = cells[["label", "dataset", "perturbation"]]
    table["share"] = cells["pass_at_1_pct"] / 100
    table["independent"] = cells["dataset"].map(INDEPENDENT)
    table["lost"] = 1 - cells["pass_at_1_pct"] / cells["vanilla_pct"]
    return table


def rankings(table: pd.DataFrame) -> pd.DataFrame:
    """Return the models' ranks and the ranges of ranks that significance tests leave
    open. There is a row for each data set, perturbation and model in `table`, the
    result of `scores`.

    A z test of two independent shares compares every pair of models, with Holm's
    correction over the pairs of a data set and perturbation. All models had the same
    problems, so the test is conservative. A model ranks below all significantly better
    models and above all significantly worse ones (Mogstad et al. 2024).

    Columns: those of `table`, rank (1: best), low and high (best and worst rank left
    open), separated (number of pairs with a significant difference in this data set and
    perturbation), pairs (number of all pairs).
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
    """Return how much more each perturbation costs on LiveCodeBench than on CRUXEval,
    paired by model. `table` comes from `scores`.

    Columns: perturbation, cruxeval and livecodebench (mean share of the vanilla score
    that is lost, 0 to 1), difference (LiveCodeBench - CRUXEval) with its interval low,
    high (Student's, over models, at `confidence`), p (exact sign flips), p_holm (Holm's
    correction over perturbations), decided (whether p_holm is below 0.05).
    """
    rows = []
    perturbed = table.query("perturbation != 'VAN'")
    for name, part in perturbed.groupby("perturbation", sort=False):
        sides = part.pivot(index="label", columns="dataset", values="lost")
        gains = sides["livecodebench"] - sides["cruxeval"]
        change = mean_difference(gains, confidence)
        row = {"perturbation": name, **sides.mean()}
        row["difference"] = change.value
        row |= change.interval._asdict()
        row["p"] = change.p_value
        rows.append(row)
    return with_holm(pd.DataFrame(rows))
