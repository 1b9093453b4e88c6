"""Tables of Find the Origin's figures, with the paper's own numbers beside the
regenerated numbers."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from codestress.fitting.proportions import UNKNOWN, paired_difference
from codestress.fitting.significance import significant
from codestress.fitting.summaries import with_accuracy
from codestress.parameters import Parameters
from codestress.report.marks import with_cells
from codestress.report.published import published_models, published_numbers
from codestress.seeding import rng
from codestress.types import Outcome

from .curves import Sides, fit_decay, reach_of
from .published import by_size

CORRECT = Outcome.CORRECT.value
"""Outcome of a right answer, as tables hold it."""


def published_shares(artefact: str, confidence: float) -> pd.DataFrame:
    """Return the published accuracies of the figure `artefact`
    (params/published/origin.json), a row for each; empty if the figure has none.

    Columns: label (the paper's name of the model), model (the registry's name),
    correct, n; d, characters, depth, bar (in %; each of these four nan if the figure
    lacks it); condition, published (True); accuracy, low, high (0 to 1; Wilson's
    interval at `confidence`, from the counts), percent (0 to 100).
    """
    numbers = published_numbers(artefact)
    rows = []
    for point in numbers.get("rows", []):
        if "n" in point:
            rows.append({"label": numbers["model"], **point})
    for model, bits in numbers.get("outcomes", {}).items():
        rows.append({"label": model, "correct": bits.count("1"), "n": len(bits)})
    for model, right in numbers.get("correct", {}).items():
        bar = {"label": model, "correct": right, "n": numbers["n"]}
        bar["bar"] = numbers["bar_percent"][model]
        rows.append(bar)
    columns = ["label", "correct", "n", "d", "characters", "depth", "bar"]
    frame = pd.DataFrame(rows, columns=columns)
    frame = with_accuracy(frame, "correct", "n", confidence)
    frame["model"] = frame["label"].map(published_models("origin"))
    percent = 100 * frame["accuracy"]
    return frame.assign(condition="the paper's runs", published=True, percent=percent)


OUTCOMES_OF = {"fig04": "fig02", "fig05": "fig03", "fig11": "fig10", "nano": "fig02"}
"""Dict from artefact to the figure of the paper that shows its outcome at each size of
the list. Artefacts without an entry are such figures themselves."""


def _outcomes_of(artefact: str) -> pd.DataFrame:
    """Return the published outcomes at single sizes (`by_size`) with which `artefact`
    is compared."""
    name = artefact.partition("/")[2]
    return by_size(OUTCOMES_OF.get(name, name))


def with_pairs(
    summary: pd.DataFrame, answers: pd.DataFrame, artefact: str, rule: str
) -> pd.DataFrame:
    """Return a copy of `summary`, a table of one condition with a row for each model,
    with the added columns `pair_low` and `pair_high`. The columns hold the 95 %
    interval of a difference: the regenerated minus the published accuracy, paired over
    the sizes of the list (-1 to 1).

    The regenerated accuracy comes from `answers` under the scoring rule `rule`, the
    published one from the figure `artefact`. The interval is nan if the paper does not
    show the outcome at each size, or if other sizes were asked.
    """
    shown = _outcomes_of(artefact)
    shown["model"] = shown["model"].map(published_models("origin"))
    theirs = shown.set_index(["model", "lines"])["right"]
    ours = answers.groupby(["model", "lines"])[f"value_{rule}"].mean()
    # nan at a size that only one side has
    change = ours - theirs
    intervals = []
    for model in summary["model"]:
        known = change[model].notna().all()
        intervals.append(paired_difference(change[model]) if known else UNKNOWN)
    low, high = np.reshape(intervals, (-1, 2)).T
    return summary.assign(pair_low=low, pair_high=high)


def beside_published(
    published: pd.DataFrame, summary: pd.DataFrame, by: str
) -> pd.DataFrame:
    """Return the `published` points, with ` (published)` added to their labels,
    followed by the regenerated points of `summary`.

    Columns: label, published (bool), the column named by `by` (d or characters),
    accuracy, low, high, and cell (column values that select a regenerated point's
    answers; missing for published points).
    """
    columns = ["label", by, "accuracy", "low", "high", "published"]
    ours = summary.rename(columns={"model": "label"}).assign(published=False)
    points = ours[[*columns, "cell"]]
    if len(published):
        theirs = published[columns].sort_values(by)
        theirs["label"] += " (published)"
        points = pd.concat([theirs, points])
    return points.reset_index(drop=True)


# --- Figures 1, 2, 3, 10: right and wrong at every size -----------------------------------------------------------


def outcome_cells(artefact: str, answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Return the outcome at every size of the list for the figure `artefact`, published
    and regenerated, the best models of each source first. A size that was asked several
    times is correct if more than half of its `answers` are, else it has their most
    frequent other outcome, under the scoring rule `rule`.

    Columns: source (`published`, `regenerated`, or with both orders of the list
    `regenerated, shuffled` and `regenerated, in order`), model, lines, outcome, and
    cell (column values that select the answers; missing for published outcomes).
    Published sizes beyond the longest list asked here are left out.
    """
    published = _outcomes_of(artefact)
    published["outcome"] = published["right"].map(
        {1: CORRECT, 0: Outcome.INCORRECT.value}
    )
    published["source"] = "published"
    asked = published["lines"] <= answers["lines"].max()
    factors = ["model", "shuffled", "lines"]
    outcomes = answers.groupby(factors, sort=False)[f"outcome_{rule}"].agg(_most)
    here = with_cells(outcomes.reset_index(name="outcome"), factors)
    here["source"] = "regenerated"
    if here["shuffled"].nunique() > 1:
        here["source"] += here["shuffled"].map(
            {True: ", shuffled", False: ", in order"}
        )
    cells = pd.concat([published[asked], here], ignore_index=True)
    correct = cells["outcome"] == CORRECT
    right = correct.groupby([cells["source"], cells["model"]]).transform("sum")
    sources, _ = pd.factorize(cells["source"])
    cells = cells.iloc[np.lexsort([-right, sources])].reset_index(drop=True)
    return cells[["source", "model", "lines", "outcome", "cell"]]


def _most(outcomes: pd.Series) -> str:
    """Return the outcome of a size that was asked several times, from its `outcomes`:
    correct if more than half are, else the most frequent other outcome."""
    right = outcomes == CORRECT
    if right.mean() > 0.5:
        return CORRECT
    return str(outcomes[~right].mode().iloc[0])


def best_of(values: pd.Series, sources: pd.Series, there: str, here: str) -> str:
    """Return a text with the largest of the published and of the regenerated `values`,
    without decimals, each with its model and how many more models have the same value.

    `values` are indexed by model. `sources` says of each value whether it is
    `published` or `regenerated`; the words `there` or `here` follow its largest value.
    """
    ends = []
    for source, where in (("published", there), ("regenerated", here)):
        own = values[sources.str.startswith(source).to_numpy()]
        if own.empty:
            continue
        most = own.max()
        models = own.index[own == most].unique()
        best = models[0]
        if len(models) > 1:
            best += f" and {len(models) - 1} more"
        ends.append(f"{most:.0f} {where} ({best})")
    return ", ".join(ends)


def outcomes_headline(table: pd.DataFrame, d: list[int]) -> str:
    """Return the title of an outcome map of lists with the distances `d`. The title
    says at how many sizes the best model is right, in the paper and here. `table` has
    the columns source, model, correct."""
    correct = table.set_index("model")["correct"]
    best = best_of(correct, table["source"], "sizes in the paper", "here")
    distances = ", ".join(map(str, d))
    return f"d = {distances}: at best right at {best}"


# --- Figures 4, 5, 11: shares -------------------------------------------------------------------------------------


def condition_label(row: pd.Series) -> str:
    """Return the label of the condition in `row`, which tells the bars of a model
    apart, such as `d = 15, other lines shuffled`. `row` holds d, shuffled (bool) and
    wording; `prompt as printed` is added unless the wording is `as_run`."""
    order = "in order"
    if row["shuffled"]:
        order = "other lines shuffled"
    label = f"d = {row['d']}, {order}"
    if row["wording"] != "as_run":
        label += ", prompt as printed"
    return label


def share_table(published: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Return the `published` and regenerated (`summary`) accuracies in one table, a row
    for each. Columns: source (`published` or `regenerated`), the columns of `summary`,
    in which `model` is renamed `label`, and cell (column values that select a
    regenerated row's answers). Columns that only `summary` has, such as the counts of
    outcomes, are nan for published rows."""
    table = with_cells(summary, ["model", "condition"])
    table = table.rename(columns={"model": "label"})
    table.insert(0, "source", "regenerated")
    if len(published):
        theirs = published[["label", "condition", "accuracy", "low", "high"]]
        theirs = theirs.assign(source="published")
        table = pd.concat([theirs, table], ignore_index=True)[list(table)]
    return table


def shares_headline(table: pd.DataFrame, differences: pd.DataFrame) -> str:
    """Return the title of a figure of shares: the best model of the paper and the best
    here, from `table`, the result of `share_table`. If `differences` between conditions
    (column p_value) are not empty, the title says how many of them differ from zero
    after Holm's correction."""
    if len(differences):
        sure = significant(differences["p_value"]) or "none"
        pairs = set(zip(differences["first"], differences["second"], strict=True))
        names = "Conditions"
        if len(pairs) == 1:
            [(first, second)] = pairs
            names = f"{first} against {second.rpartition(', ')[2]}"
        return f"{names}: clear differences for {sure} of {len(differences)}"
    percent = 100 * table.set_index("label")["accuracy"]
    best = best_of(percent, table["source"], "% right in the paper", "% here")
    lists = str(table["condition"].iloc[-1]).removesuffix(", in order")
    return f"{lists}: at most {best}"


# --- Figures 6 to 9: shares against d -----------------------------------------------------------------------------


class FittedSide(NamedTuple):
    """Row of the table of fits: the curve of one model for d > 0 or for d < 0."""

    model: str
    side: str
    """`d > 0` or `d < 0`."""
    top: float
    """Share of right answers (0 to 1) at |d| = 1."""
    reach_lines: float
    """Number of lines over which the share falls to 1/e."""
    top_low: float
    """Lower end of the interval of `top`, from a bootstrap over items."""
    top_high: float
    """Upper end of the interval of `top`."""
    reach_low: float
    """Lower end of the interval of `reach_lines`."""
    reach_high: float
    failed_fits: int
    """Number of resamples without a fit."""
    lack_of_fit: float
    """p-value of the curve's lack of fit."""


def fit_sides(answers: pd.DataFrame, given: Parameters) -> tuple[Sides, pd.DataFrame]:
    """Fit share = top * exp(-(|d| - 1) / reach) to the `answers` of each model,
    separately for d > 0 and d < 0. `given` has the scoring rule, the confidence level,
    the number of resamples and the seed.

    Return a dict from (model, sign of d) to curve, and a table of the curves, a
    `FittedSide` in each row. A side with fewer than three distances is not fitted.
    """
    fits = {}
    rows = []
    for model in answers["model"].unique():
        own = answers.query("model == @model")
        for sign, side in ((1, "d > 0"), (-1, "d < 0")):
            apart = own.assign(x=sign * own["d"]).query("x > 0")
            wide = apart.pivot_table(f"value_{given.rule}", "problem", "x")
            if wide.shape[1] < 3:
                continue
            fit = fit_decay(
                wide.columns,
                wide,
                confidence=given.confidence,
                resamples=given.resamples,
                rng=rng(given.seed, "decay", model, sign),
            )
            fits[model, sign] = fit
            reach, reach_ends = reach_of(fit)
            top = fit.interval("height")
            row = (model, side, fit.height, reach, *top, *reach_ends)
            rows.append(FittedSide(*row, fit.failed, fit.lack))
    return fits, pd.DataFrame(rows, columns=FittedSide._fields)


def distances_headline(points: pd.DataFrame) -> str:
    """Return the title of a figure of accuracy against d: how many percentage points
    each series of `points` loses from the shortest to the longest distance, up and down
    together. `points` has the columns label, published, d, accuracy."""
    lines = points["d"].abs()
    near, far = lines.min(), lines.max()
    percent = 100 * points.pivot_table("accuracy", "label", lines, sort=False)
    loss = percent[near] - percent[far]
    costs = []
    for label, lost in loss.dropna()[::-1].items():
        model = str(label).removesuffix(" (published)")
        costs.append(f"{model} {lost:.0f}")
    return f"Points lost with links {far} lines apart, not {near}: {', '.join(costs)}"
