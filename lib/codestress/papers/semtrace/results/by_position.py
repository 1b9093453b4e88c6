"""Sense and Sensitivity: scores at each position of the target (Figures 1 to 4 and 7 to
10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from codestress.fitting.position_dip import position_dip, relative_to_best
from codestress.fitting.proportions import cluster_weights
from codestress.fitting.significance import LEVEL
from codestress.fitting.summaries import paired_differences, with_accuracy
from codestress.report.findings import listed
from codestress.report.marks import with_cells
from codestress.scoring.summaries import summarize
from codestress.seeding import rng

from .tables import clear_effect

if TYPE_CHECKING:
    from ..positions import Positions, Questions

PANEL = ["dataset", "task", "digits", "qac", "keys", "metric"]
"""Columns that identify a figure's panels, together with the number of distractors
(unrelated functions around the target)."""
CURVE = ["model", *PANEL[:-1], "distractors"]
"""Columns that identify the curves of one metric."""
SHARE = ["accuracy", "low", "high"]
"""Columns of a share with its interval."""
RELATIVE = ["relative", "relative_low", "relative_high"]
"""Columns of a share relative to its curve's maximum, with its interval."""
WORDS: dict[str, dict[Any, str]] = {
    "task": {},
    "dataset": {
        "cruxeval": "CRUXEval",
        "semtrace": "SemTrace",
        "generated": "generated problems",
    },
    "metric": {"strict": "exact matches", "partial": "partial matches"},
    "qac": {True: "query on both sides", False: "query after the code"},
    "keys": {True: "with keys", False: "without keys"},
}
"""Words in figures for values of the factors that name a panel. A value without an
entry is shown as it is, with spaces for underscores."""


def accuracy_by_position(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """Return the accuracies in `answers`, a row for each model, panel (dataset, task,
    digits, qac, keys, metric), number of distractors and position. `given` has the
    scores (`metrics`), the confidence level, the number of resamples and the seed.

    Columns besides these: depth and the columns of `summarize`; `relative`,
    `relative_low` and `relative_high`; `unresolved`, the number of answers in which
    arithmetic was left. The `relative` accuracy is a share of the curve's own maximum,
    nan if the maximum is 0 or no problem was asked at all positions. The interval of
    this share comes from resamples of problems and counts the error of the maximum too.
    """
    by = [*CURVE, "position", "depth"]
    parts = []
    for metric in given.metrics:
        part = summarize(answers, by=by, rule=metric, confidence=given.confidence)
        parts.append(part.assign(metric=metric))
    relative = _relative_curves(answers, given)
    same = [*CURVE, "metric", "position"]
    table = pd.concat(parts).merge(relative, on=same, how="left")
    unresolved = answers.groupby(by, sort=False)["unresolved_strict"].sum()
    return table.join(unresolved.rename("unresolved"), on=by)


def _relative_curves(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """Return the accuracies in `answers` as shares of their curve's maximum, on the
    problems that were asked at all positions. Columns: `CURVE`, metric, position,
    relative, relative_low, relative_high. The share is nan if the maximum is 0."""
    rows = []
    for curve, cells, random in _cells(answers, given, "relative"):
        count = len(cells)
        weights = cluster_weights(count, given.resamples, random) / count
        means = cells.mean()
        shares = means / means.max()
        intervals = relative_to_best(cells.to_numpy(float), weights, given.confidence)
        for share, ends in zip(shares.items(), intervals, strict=True):
            rows.append((*curve, *share, *ends))
    return pd.DataFrame(rows, columns=[*CURVE, "metric", "position", *RELATIVE])


def _cells(
    answers: pd.DataFrame, given: Questions, name: str
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame, np.random.Generator]]:
    """Yield three values for each curve in `answers` and each metric of `given`: the
    values of the columns `CURVE` with the metric, a table of scores (problems,
    positions), and the random generator named `name`. Problems without a score at every
    position are left out."""
    for metric in given.metrics:
        for group, part in answers.groupby(CURVE, sort=False):
            cells = part.pivot_table(f"value_{metric}", "problem", "position").dropna()
            random = rng(given.seed, name, metric, *map(str, group))
            yield (*group, metric), cells, random


def position_points(table: pd.DataFrame, given: Positions) -> pd.DataFrame:
    """Return the points to draw: model, row, column (labels of the panel), depth, cell
    (column values that select the point's answers), shown, low, high (0 to 1).

    `table` is the result of `accuracy_by_position`. The parameters `show` and
    `relative` of `given` say what is drawn. Rows are named by the factors that differ
    between panels. Columns are numbers of distractors, or numbers of digits if these
    differ.
    """
    varying = [name for name in WORDS if table[name].nunique() > 1] or ["task"]
    counted = "digits" if table["digits"].nunique() > 1 else "distractors"
    points = with_cells(table, [*CURVE, "depth"])
    words = table[varying].replace(WORDS).astype(str).replace("_", " ", regex=True)
    points["row"] = words.agg(", ".join, axis=1)
    points["column"] = [f"{count or 'no'} {counted}" for count in table[counted]]
    drawn = SHARE
    if given.show == "unresolved":
        points = with_accuracy(points, "unresolved", "n", given.confidence)
    elif given.relative:
        drawn = RELATIVE
    points[["shown", "low", "high"]] = points[drawn]
    axes = ["model", "row", "column", "depth", "cell"]
    return points[[*axes, "shown", "low", "high"]]


DIP = [
    "dip_points",
    "dip_low",
    "dip_high",
    "dip_relative_pct",
    "drop_points",
    "drop_low",
    "drop_high",
    "drop_without_effect",
    "drop_relative_pct",
    "drop_relative_low",
    "drop_relative_high",
]
"""Columns of the dip in the middle and the largest drop: the fields of `PositionDip`,
in the same order, in percentage points or in % of the best position."""


def dips(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """Return the dip in the middle and the largest drop over positions in `answers`, a
    row for each curve and metric. A curve is a model, dataset, task, digits, qac, keys
    and number of distractors. The dip is the mean of both ends minus the mean of the
    middle third; the drop is the best position minus the worst.

    Columns besides these, in percentage points: dip_points, dip_low, dip_high,
    drop_points, drop_low, drop_high, drop_without_effect (the drop that noise alone
    makes). In % of the best position: dip_relative_pct, drop_relative_pct,
    drop_relative_low, drop_relative_high. Further: p_value (of a U-shape), problems.
    Only problems that were asked at all positions count; with fewer than three
    positions the numbers are nan. `given` has the metrics, the confidence level, the
    number of resamples and the seed.
    """
    rows = []
    for curve, cells, random in _cells(answers, given, "dip"):
        dip = position_dip(
            cells.to_numpy(),
            confidence=given.confidence,
            resamples=given.resamples,
            rng=random,
        )
        numbers = 100 * np.hstack(dip[:-2])
        rows.append((*curve, *numbers, dip.p_value, dip.items))
    return pd.DataFrame(rows, columns=[*CURVE, "metric", *DIP, "p_value", "problems"])


def headline(dips: pd.DataFrame, queries: pd.DataFrame, *, relative: bool) -> str:
    """Return the title of the figure of scores by position. If `queries`, the result of
    `factor_differences()`, is not empty, the title says in how many comparisons the
    query before the code has a clear effect.

    Otherwise the title names the models that are clearly less accurate in the middle
    than at both ends, from `dips`, the result of `dips()`. The loss is in percentage
    points or, if `relative`, in % of the best position. A model's curves are tests of
    one family: each p-value is multiplied by the number of curves.
    """
    if len(queries):
        return clear_effect("the query before the code", queries)
    curves = dips.groupby("model")["p_value"].transform("size")
    sure = dips[dips["p_value"] * curves < LEVEL].query("dip_low > 0")
    names = list(sure["model"].unique())
    who = listed(names)
    if len(names) not in (1, 2):
        who = f"{len(names) or 'none'} of {dips['model'].nunique()}"
    head = f"A clear loss in the middle of the context for {who}"
    if sure.empty:
        return head
    most = sure["dip_points"].max()
    unit = "points"
    if relative:
        most = sure["dip_relative_pct"].max()
        unit = "% of the maximum"
    return f"{head}: up to {most:.0f} {unit}"


def unresolved_headline(points: pd.DataFrame) -> str:
    """Return the title of the figure of unresolved answers: the model with the largest
    share of them at any position. `points` is the result of `position_points`."""
    most = points.loc[points["shown"].idxmax()]
    return f"{most['model']} leaves up to {100 * most['shown']:.0f} % of its answers unresolved"


def factor_differences(
    answers: pd.DataFrame, factor: str, by: list[str], given: Questions
) -> pd.DataFrame:
    """Return the comparison of the answers with the two values of the column `factor`,
    True minus False, on the same problems at the same positions. The factor is `qac`
    (the query on both sides of the code or not, appendix C) or `keys` (keys before
    lines or not, appendix D).

    There is a row for each model and combination of the columns `by`, with these
    columns and those of `paired_differences`; positions of one problem are dependent.
    The table is empty if `answers` have only one value of the factor. `given` has the
    confidence level, the number of resamples and the seed.
    """
    parts = []
    names = answers["problem"] + " at " + answers["position"].astype(str)
    answers = answers.assign(target=answers["problem"], problem=names)
    for group, part in answers.groupby(by, sort=False):
        differences = paired_differences(
            part.sort_values(factor, kind="stable"),
            factor,
            clusters="target",
            confidence=given.confidence,
            resamples=given.resamples,
            seed=given.seed,
        )
        differences[by] = group
        parts.append(differences)
    return pd.concat(parts, ignore_index=True)


def contexts(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """Return the place of the targets in the contexts of `answers` (Equation 2), as
    means over problems, a row for each number of distractors and depth. Columns besides
    these: granularity and concentration (0 to 1; see `Mixture`).

    `given` has the parameters with which the contexts were made; the contexts are built
    anew.
    """
    by = ["distractors", "depth"]
    places = answers.drop_duplicates([*by, "dataset", "digits", "problem"])
    mixtures = []
    for row in places.itertuples():
        problem = given.table(row.dataset, row.digits)[row.problem]
        mixtures.append(given.in_context(problem, row.distractors, row.position))
    table = places[by].assign(
        granularity=[mixture.granularity for mixture in mixtures],
        concentration=[mixture.concentration for mixture in mixtures],
    )
    return table.groupby(by, as_index=False).mean()
