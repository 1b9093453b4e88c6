"""Tables of Find the Origin's figures, with the paper's own numbers beside the regenerated
numbers."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from codestress.fitting.proportions import UNKNOWN, paired_difference
from codestress.fitting.significance import told_from_zero
from codestress.fitting.summaries import with_accuracy
from codestress.parameters import Parameters
from codestress.report.marks import with_cells
from codestress.report.published import published_models, published_numbers
from codestress.seeding import rng
from codestress.types import Outcome

from .curves import Sides, fit_decay, reach_of
from .published import by_size


def published_shares(artefact: str, confidence: float) -> pd.DataFrame:
    """Table of the published accuracies of the figure `artefact` (params/published/origin.json), a
    row each; empty if the figure has none.

    Columns: label (the paper's name of the model), model (the registry's name), correct, n, d,
    characters, depth and bar (in %; each of these four nan where the figure lacks it), condition,
    published (True), accuracy, low, high (0 to 1; Wilson, from the counts), percent.
    """
    numbers = published_numbers(artefact) or {}
    counted = [row for row in numbers.get("rows", []) if "n" in row]
    rows = [{"label": numbers["model"]} | row for row in counted]
    for model, bits in numbers.get("outcomes", {}).items():
        rows.append({"label": model, "correct": bits.count("1"), "n": len(bits)})
    for model, right in numbers.get("correct", {}).items():
        bar = {"label": model, "bar": numbers["bar_percent"][model]}
        rows.append(bar | {"correct": right, "n": numbers["n"]})
    columns = ["label", "correct", "n", "d", "characters", "depth", "bar"]
    frame = pd.DataFrame(rows, columns=columns)
    frame = with_accuracy(frame, "correct", "n", confidence)
    frame["model"] = frame["label"].map(published_models("origin"))
    percent = 100 * frame["accuracy"]
    return frame.assign(condition="the paper's runs", published=True, percent=percent)


OUTCOMES_OF = {"fig04": "fig02", "fig05": "fig03", "fig11": "fig10", "nano": "fig02"}
"""For other artefacts, the figure of the paper that shows the outcome at each size of the list."""


def _outcomes_of(artefact: str) -> pd.DataFrame:
    """Table of the published outcomes at single sizes (`by_size`) that `artefact` is compared
    with."""
    name = artefact.partition("/")[2]
    return by_size(OUTCOMES_OF.get(name, name))


PUBLISHED = "published (the paper's own runs)"
"""Title of a panel of the paper's numbers."""


def with_pairs(
    summary: pd.DataFrame, answers: pd.DataFrame, artefact: str, rule: str
) -> pd.DataFrame:
    """Copy of `summary`, the table of one condition (a row for each model), with the columns
    `pair_low` and `pair_high`: the interval of the regenerated (`answers`, scored by `rule`) minus
    the published accuracy of the figure `artefact`, over the sizes of the list. nan if the paper
    does not show the outcome of each size, or if other sizes were asked."""
    shown = _outcomes_of(artefact).set_index("lines")
    names = shown["model"].map(published_models("origin"))
    theirs = dict(list(shown.groupby(names)["right"]))
    here = answers.groupby(["model", "lines"])[f"value_{rule}"].mean()
    ends = []
    for model in summary["model"]:
        ours = here[model]
        same = model in theirs and set(ours.index) == set(theirs[model].index)
        ends.append(paired_difference(ours - theirs[model]) if same else UNKNOWN)
    low, high = np.reshape(ends, (-1, 2)).T
    return summary.assign(pair_low=low, pair_high=high)


def beside_published(
    published: pd.DataFrame, summary: pd.DataFrame, by: str
) -> pd.DataFrame:
    """Table of the `published` points, marked so in their label, and the regenerated points
    (`summary`): label, published (bool), the column that `by` names (d or characters), accuracy,
    low, high, and cell (column values that select a regenerated point's answers; missing for
    published ones)."""
    theirs = published.assign(label=published["label"] + " (published)").sort_values(by)
    ours = summary.rename(columns={"model": "label"}).assign(published=False)
    columns = ["label", by, "accuracy", "low", "high", "published"]
    points = ours[[*columns, "cell"]]
    if len(theirs):
        points = pd.concat([theirs[columns], points])
    return points.reset_index(drop=True)


# --- Figures 1, 2, 3, 10: right and wrong at every size -----------------------------------------------------------


SOURCES = {
    "published": PUBLISHED,
    "regenerated": "regenerated here",
    "regenerated, shuffled": "regenerated here, shuffled",
    "regenerated, in order": "regenerated here, in order",
}
"""Titles of a map's panels by source, in their order."""


def outcome_cells(artefact: str, answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Table of the outcome at every size of the list, the best models of each source first: source
    (one of `SOURCES`), model, lines, outcome, and cell (column values that select the answers;
    missing for published ones). `artefact` names the figure. A size asked several times is correct
    if most of its `answers` are, else it has their most frequent other outcome by `rule`.

    Published cells go as far as the longest list asked.
    """
    shown = _outcomes_of(artefact)
    shown = shown[shown["lines"] <= answers["lines"].max()]
    outcome = shown["right"].map({1: Outcome.CORRECT.value, 0: Outcome.INCORRECT.value})
    parts = [shown.assign(source="published", outcome=outcome)]
    several = answers["shuffled"].nunique() > 1
    for (shuffled, model), part in answers.groupby(["shuffled", "model"], sort=False):
        order = ", shuffled" if shuffled else ", in order"
        row = part.groupby("lines")[f"outcome_{rule}"].agg(_most)
        row = row.rename("outcome").reset_index()
        row = row.assign(model=model, shuffled=shuffled)
        row = with_cells(row, ["model", "shuffled", "lines"])
        parts.append(row.assign(source=f"regenerated{order if several else ''}"))
    cells = pd.concat(parts, ignore_index=True)
    correct = cells["outcome"] == Outcome.CORRECT.value
    right = correct.groupby([cells["source"], cells["model"]]).transform("sum")
    order = cells["source"].map(list(SOURCES).index)
    cells = cells.iloc[np.lexsort([-right, order])].reset_index(drop=True)
    return cells[["source", "model", "lines", "outcome", "cell"]]


def _most(outcomes: pd.Series) -> str:
    right = outcomes == Outcome.CORRECT.value
    if right.mean() > 0.5:
        return Outcome.CORRECT.value
    return str(outcomes[~right].mode().iloc[0])


def largest(values: pd.Series, where: str) -> str:
    """Largest of `values`, without decimals, with `where` it is found, its label, and how many more
    have it."""
    top = values.index[values == values.max()].unique()
    more = f" and {len(top) - 1} more" if len(top) > 1 else ""
    return f"{values.max():.0f} {where} ({''.join(top[:1])}{more})"


def outcomes_headline(table: pd.DataFrame, d: Sequence[int]) -> str:
    """Title of an outcome map of lists with the distances `d`, from `table` (columns source, model,
    correct): the most sizes at which a model is right, in the paper and here."""
    ends = []
    for source, where in (("published", "sizes in the paper"), ("regenerated", "here")):
        own = table[table["source"].str.startswith(source)]
        if len(own):
            ends.append(largest(own.set_index("model")["correct"], where))
    return f"d = {', '.join(map(str, d))}: at best right at {', '.join(ends)}"


# --- Figures 4, 5, 11: shares -------------------------------------------------------------------------------------


def condition_label(row: pd.Series) -> str:
    """Label of the condition in `row`, which tells the bars of a model apart, such as `d = 15,
    other lines shuffled`. `row` holds d, shuffled (bool) and wording (as_run, or else `prompt as
    printed` is added)."""
    order = "other lines shuffled" if row["shuffled"] else "in order"
    wording = "" if row["wording"] == "as_run" else ", prompt as printed"
    return f"d = {row['d']}, {order}{wording}"


def best_first(shares: pd.DataFrame) -> pd.DataFrame:
    """Copy of the table `shares` (columns label, condition, accuracy) sorted by label (the model),
    the model with the largest accuracy under the condition of the first row first, one without an
    answer under it last."""
    first = shares[shares["condition"] == shares["condition"].iloc[0]]
    share = first.set_index("label")["accuracy"].reindex(shares["label"].unique())
    order = share.sort_values(ascending=False, kind="stable").index
    return shares.set_index("label").loc[order].reset_index()


def share_panels(
    published: pd.DataFrame, regenerated: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Tables to draw, by title: the paper's shares (`published`), and those of the models asked
    here (`regenerated`). Those of the paper's own models stand in the rows of its shares."""
    names = dict(zip(published["model"], published["label"], strict=True))
    if not set(regenerated["label"]) <= set(names):
        panels = {PUBLISHED: published, "regenerated here": regenerated}
        return {title: rows for title, rows in panels.items() if len(rows)}
    theirs = published.assign(condition="published")
    own = regenerated.assign(label=regenerated["label"].map(names))
    return {"regenerated and published": pd.concat([theirs, own], ignore_index=True)}


def shares_headline(
    published: pd.DataFrame, regenerated: pd.DataFrame, differences: pd.DataFrame
) -> str:
    """Title of a figure of shares: the best model of the paper and the best here; with several
    conditions, how many of their `differences` here (p_value) are told from zero after Holm's
    correction."""
    if len(differences):
        sure = told_from_zero(differences["p_value"]) or "none"
        return f"Conditions clearly differ for {sure} of {len(differences)}"
    ends = []
    for where, part in (("% right in the paper", published), ("% here", regenerated)):
        if len(part):
            ends.append(largest(100 * part.set_index("label")["accuracy"], where))
    of = str(regenerated["condition"].iloc[0]).removesuffix(", in order")
    return f"{of}: at most {', '.join(ends)}"


def share_table(published: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Table of `published` and regenerated (`summary`) accuracies, a row each: source (`published`
    or `regenerated`), and the columns of `summary` (its column `model` as `label`), with accuracies
    under every rule and the count of each outcome (nan for published ones)."""
    table = summary.rename(columns={"model": "label"})
    table.insert(0, "source", "regenerated")
    if len(published):
        theirs = published[["label", "condition", "accuracy", "low", "high"]]
        theirs = theirs.assign(source="published")
        both = pd.concat([theirs, table], ignore_index=True)
        table = both[list(table)]
    return table


# --- Figures 6 to 9: shares against d -----------------------------------------------------------------------------


def fit_sides(answers: pd.DataFrame, given: Parameters) -> tuple[Sides, pd.DataFrame]:
    """Fits share = top * exp(-(|d| - 1) / reach) to the `answers` of each model, for d > 0 and for
    d < 0; `given` has the scoring rule, the level of the intervals, the resamples and the seed.

    Returns the curves by model and sign of d, and a table with a row for each: model, side, top
    (share at |d| = 1), reach_lines, the ends of both intervals (bootstrap over items), failed_fits
    (resamples), lack_of_fit (p-value). A side with fewer than three distances is not fitted.
    """
    fits = {}
    rows = []
    for model, part in answers.groupby("model", sort=False):
        for sign, side in ((1, "d > 0"), (-1, "d < 0")):
            apart = part.assign(x=sign * part["d"]).query("x > 0")
            wide = apart.pivot_table(f"value_{given.rule}", "problem", "x")
            if wide.shape[1] < 3:
                continue
            fit = fits[str(model), sign] = fit_decay(
                wide.columns.to_numpy(float),
                wide.to_numpy(float),
                confidence=given.confidence,
                resamples=given.resamples,
                rng=rng(given.seed, "decay", str(model), sign),
            )
            reach, ends = reach_of(fit)
            row = str(model), side, fit.height, reach, *fit.interval("height"), *ends
            rows.append((*row, fit.failed, fit.lack))
    return fits, pd.DataFrame(rows, columns=FIT_COLUMNS)


FIT_COLUMNS = ["model", "side", "top", "reach_lines", "top_low", "top_high"]
FIT_COLUMNS += ["reach_low", "reach_high", "failed_fits", "lack_of_fit"]


def distances_headline(points: pd.DataFrame) -> str:
    """Title of a figure of accuracy against d: what the longest distance costs each series of
    `points` (label, published, d, accuracy), up and down together, beside the shortest."""
    far = points["d"].abs()
    ends = points.assign(far=far)[far.isin([far.min(), far.max()])]
    wide = 100 * ends.pivot_table("accuracy", "label", "far", sort=False)
    loss = (wide[far.min()] - wide[far.max()]).dropna()
    loss.index = loss.index.str.partition(" (").get_level_values(0)
    cost = ", ".join(f"{model} {lost:.0f}" for model, lost in loss[::-1].items())
    return f"Points lost with links {far.max()} lines apart, not {far.min()}: {cost}"
