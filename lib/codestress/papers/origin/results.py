"""Tables of Find the Origin's figures, with the paper's own numbers beside the regenerated
numbers."""

import hashlib
import importlib
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from codestress.fitting.proportions import UNKNOWN, newcombe, paired_difference
from codestress.fitting.significance import told_from_zero
from codestress.fitting.summaries import with_accuracy
from codestress.parameters import Experiment, Parameters
from codestress.report.marks import with_cells
from codestress.report.published import published_models, published_numbers
from codestress.seeding import rng
from codestress.types import Outcome

from .curves import Sides, fit_decay, reach_of
from .published import by_size

PAPER = "origin"


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
    frame["model"] = frame["label"].map(published_models(PAPER))
    percent = 100 * frame["accuracy"]
    return frame.assign(condition="the paper's runs", published=True, percent=percent)


OUTCOMES_OF = {"fig04": "fig02", "fig05": "fig03", "fig11": "fig10", "nano": "fig02"}
"""Figure with the published outcomes at single sizes, of artefacts that are no such figure."""
PUBLISHED = "published (the paper's own runs)"
"""Title of a panel of the paper's numbers."""


def with_pairs(
    summary: pd.DataFrame, answers: pd.DataFrame, artefact: str, rule: str
) -> pd.DataFrame:
    """Copy of `summary`, the table of one condition (a row for each model), with the columns
    `pair_low` and `pair_high`: the interval of the regenerated (`answers`, scored by `rule`) minus
    the published accuracy of the figure `artefact`, over the sizes of the list. nan if the paper
    does not show the outcome of each size, or if other sizes were asked."""
    name = artefact.partition("/")[2]
    shown = by_size(OUTCOMES_OF.get(name, name)).set_index("lines")
    names = shown["model"].map(published_models(PAPER))
    theirs = dict(list(shown.groupby(names)["right"]))
    here = answers.groupby(["model", "lines"])[f"value_{rule}"].mean()
    ends = []
    for model in summary["model"]:
        ours = here[model]
        same = model in theirs and set(ours.index) == set(theirs[model].index)
        ends.append(paired_difference(ours - theirs[model]) if same else UNKNOWN)
    low, high = np.reshape(ends, (-1, 2)).T
    return summary.assign(pair_low=low, pair_high=high)


def token_counts(given: Experiment, size: str = "lines") -> pd.DataFrame:
    """Table of the tokens of each trial's user message, a row for each trial of `given`: the factor
    that `size` names, as a column of that name, and tokens. Empty if the package tiktoken, or its
    vocabulary in the folder TIKTOKEN_CACHE_DIR, is not at hand: nothing is fetched."""
    nothing = pd.DataFrame(columns=[size, "tokens"])
    if not (Path(os.environ.get("TIKTOKEN_CACHE_DIR", "")) / VOCABULARY).is_file():
        return nothing
    try:
        tiktoken = importlib.import_module("tiktoken")
    except ImportError:
        return nothing
    encoding = tiktoken.get_encoding("cl100k_base")
    rows = []
    for trial in given.trials():
        text = given.render(trial).messages[-1].content
        rows.append((trial.factors[size], len(encoding.encode(text))))
    return pd.DataFrame(rows, columns=[size, "tokens"])


VOCABULARY = hashlib.sha1(
    b"https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
).hexdigest()
"""File name under which tiktoken keeps the vocabulary: the hash of the vocabulary's address."""


def beside_published(
    published: pd.DataFrame, summary: pd.DataFrame, by: str
) -> pd.DataFrame:
    """Table of the `published` points, marked so in their label, and the regenerated points
    (`summary`): label, published (bool), the column that `by` names (d or characters), accuracy,
    low, high, and cell (column values that select a regenerated point's answers; missing for
    published ones)."""
    theirs = published.assign(label=published["label"] + " (published)").sort_values(by)
    ours = summary.rename(columns={"model": "label"}).assign(published=False)
    columns = ["label", "published", by, "accuracy", "low", "high", "cell"]
    parts = [
        part[part.columns.intersection(columns)] for part in (theirs, ours) if len(part)
    ]
    return pd.concat(parts, ignore_index=True)


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
    name = artefact.partition("/")[2]
    shown = by_size(OUTCOMES_OF.get(name, name))
    shown = shown[shown["lines"] <= answers["lines"].max()]
    outcome = shown["right"].map({1: Outcome.CORRECT.value, 0: Outcome.INCORRECT.value})
    known = shown.assign(source="published", outcome=outcome)
    rows = [part for _, part in known.groupby("model", sort=False)]
    several = answers["shuffled"].nunique() > 1
    for (shuffled, model), part in answers.groupby(["shuffled", "model"], sort=False):
        most = part.groupby("lines")[f"outcome_{rule}"].agg(_most)
        order = ", shuffled" if shuffled else ", in order"
        source = f"regenerated{order}" if several else "regenerated"
        row = most.rename("outcome").reset_index()
        row = row.assign(model=model, shuffled=shuffled, source=source)
        rows.append(with_cells(row, ["model", "shuffled", "lines"]))
    sources = list(SOURCES)
    rows.sort(key=lambda row: (sources.index(row["source"].iloc[0]), -_right(row)))
    cells = pd.concat(rows, ignore_index=True)
    return cells[["source", "model", "lines", "outcome", "cell"]]


def _right(cells: pd.DataFrame) -> int:
    return int((cells["outcome"] == Outcome.CORRECT.value).sum())


def _most(reasons: pd.Series) -> str:
    right = reasons == Outcome.CORRECT.value
    if right.mean() > 0.5:
        return Outcome.CORRECT.value
    return str(reasons[~right].mode().iloc[0])


def largest(values: pd.Series, where: str) -> str:
    """Largest of `values`, without decimals, with `where` it is found and its label."""
    return f"{values.max():.0f} {where} ({values.idxmax()})"


def outcomes_headline(table: pd.DataFrame, d: Sequence[int]) -> str:
    """Title of an outcome map of lists with the distances `d`, from `table` (columns source, model,
    correct): the most sizes at which a model is right, in the paper and here."""
    ends = []
    for source, where in (("published", "sizes in the paper"), ("regenerated", "here")):
        own = table[table["source"].str.startswith(source)]
        if len(own):
            ends.append(largest(own.set_index("model")["correct"], where))
    return f"d = {', '.join(map(str, d))}: right at no more than {', '.join(ends)}"


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
        sure = told_from_zero(differences["p_value"]) or "None"
        return f"{sure} of {len(differences)} differences between conditions told from zero"
    best = []
    for where, part in (("% in the paper", published), ("% here", regenerated)):
        if len(part):
            best.append(largest(100 * part.set_index("label")["accuracy"], where))
    asked = str(regenerated["condition"].iloc[0]).removesuffix(", in order")
    return f"{asked}: right at most {', '.join(best)}"


def share_table(published: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Table of `published` and regenerated (`summary`) accuracies, a row each: source (`published`
    or `regenerated`), and the columns of `summary` (its column `model` as `label`), with accuracies
    under every rule and the count of each outcome (nan for published ones)."""
    ours = summary.rename(columns={"model": "label"})
    ours.insert(0, "source", "regenerated")
    theirs = published[["label", "condition", "accuracy", "low", "high"]]
    theirs = theirs.assign(source="published")
    parts = [part for part in (theirs, ours) if len(part)]
    return pd.concat(parts, ignore_index=True)[list(ours)]


# --- Figures 6 to 9: shares against d -----------------------------------------------------------------------------


def fit_sides(answers: pd.DataFrame, given: Parameters) -> tuple[Sides, pd.DataFrame]:
    """Fits share = top * exp(-(|d| - 1) / reach) to the `answers` of each model, for d > 0 and for
    d < 0; `given` has the scoring rule, the level of the intervals, the resamples and the seed.

    Returns the curves by model and sign of d, and a table with a row for each: model, side, top
    (share at |d| = 1), reach_lines, the ends of both intervals (bootstrap over items), failed_fits
    (resamples), lack_of_fit (p-value). A side with fewer than three distances is not fitted.
    """
    fits, rows = {}, []
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


FIT_COLUMNS = [
    "model",
    "side",
    "top",
    "reach_lines",
    "top_low",
    "top_high",
    "reach_low",
    "reach_high",
    "failed_fits",
    "lack_of_fit",
]


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


# --- Sections 6.1 to 6.3: planted things --------------------------------------------------------------------------

OUTCOMES = {
    "inefficient_code": ["both", "one", "none", "indiscriminate", "refused"],
    "clue": [
        "solved",
        "attempted",
        "not attempted",
        "cipher noticed",
        "nothing noticed",
        "not told",
        "refused",
    ],
    "unlock": ["said it", "mentioned it", "nothing noticed", "refused"],
}
"""Outcomes of each test of section 6, best first; failed requests are added under their own
outcomes."""
IDLE = ["cipher noticed", "nothing noticed"]
"""Outcomes of the clue test without an attempt at the cipher, as the paper counts at 354 tokens."""
CELL = ["text", "characters", "depth", "paired"]
"""Columns of a cell of section 6: source of the text, length, depth of the planted part, and
`paired` (length and depth as in the paper)."""


def outcome_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """Table of the share (0 to 1) and count of each outcome that occurred in every cell of a needle
    test, from `answers`: label (the model), text, characters, depth, paired (as in the paper),
    outcome, count, share."""
    failed = answers["finish_reason"] == ""
    outcome = answers["detail_strict"].where(~failed, answers["outcome_strict"])
    labelled = answers.assign(label=answers["model"], outcome=outcome)
    counts = labelled.groupby(["label", *CELL, "outcome"], sort=False).size()
    n = counts.groupby(["label", *CELL]).transform("sum")
    return pd.DataFrame({"count": counts, "share": counts / n}).reset_index()


def falls(counts: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Table of accuracy on the longest of the paper's texts minus that on the shortest, a row for
    each model that was asked both: model, short, long (characters), difference, low, high
    (Newcombe; -1 to 1), n (of the smaller side).

    `counts` is a summary of paired cells with the columns model, text, characters, accuracy and
    independent, the number of answers that count as independent.
    """
    rows = []
    theirs = counts[counts["text"] != "own"].sort_values("characters")
    for model, part in theirs.groupby("model", sort=False):
        if len(part) > 1:
            values = part[["characters", "accuracy", "independent"]].itertuples(
                index=False
            )
            (short, first, first_n), *_, (long, last, last_n) = values
            ends = newcombe(first, first_n, last, last_n, confidence)
            rows.append((model, short, long, last - first, *ends, min(first_n, last_n)))
    return pd.DataFrame(
        rows, columns=["model", "short", "long", "difference", "low", "high", "n"]
    )


def noticed(outcomes: pd.DataFrame, test: str, confidence: float) -> pd.DataFrame:
    """Table of every outcome of `test` in the paper's texts, from `outcomes`, the table of
    `outcome_shares()`, including outcomes that did not occur (count 0): model, text, characters,
    outcome, count, n, share, low, high (Wilson). `not attempted` counts `cipher noticed` and
    `nothing noticed`. `test`: inefficient_code, clue or unlock."""
    theirs = outcomes[outcomes["text"] != "own"]
    cell = ["label", "text", "characters"]
    counts = theirs.pivot_table("count", cell, "outcome", fill_value=0).astype(int)
    n = counts.sum(axis=1).rename("n")
    names = pd.Index([*counts.columns, *OUTCOMES[test]], name="outcome").unique()
    counts = counts.reindex(columns=names, fill_value=0)
    if test == "clue":
        counts["not attempted"] = counts[IDLE].sum(axis=1)
    table = counts.stack().rename("count").reset_index().join(n, on=cell)
    found = with_accuracy(table, "count", "n", confidence)
    return found.rename(columns={"label": "model", "accuracy": "share"})


def published_outcomes(artefact: str) -> pd.DataFrame:
    """Table of the published outcomes of the needle test `artefact` in the columns of
    `outcome_shares()`, empty if there are none; the outcome `not told` counts answers whose outcome
    the paper does not state."""
    numbers = published_numbers(artefact) or {"rows": []}
    rows = []
    for cell in numbers["rows"]:
        counts = dict(cell.get("outcomes", {}))
        told = sum(counts.values())
        if counts and told < cell["n"]:
            counts["not told"] = cell["n"] - told
        label = f"{numbers['model']} (published)"
        for name, count in counts.items():
            place = ("the paper's", cell["characters"], cell["depth"], True)
            rows.append((label, *place, name, count, count / cell["n"]))
    return pd.DataFrame(rows, columns=["label", *CELL, "outcome", "count", "share"])


def lengths_headline(points: pd.DataFrame) -> str:
    """Title of a figure of accuracy against length: how many of the models asked are right less
    often in the longest text than in the shortest. The table `points` has the columns label,
    published, characters, accuracy."""
    ours = points[~points["published"]]
    short, long = ours["characters"].min(), ours["characters"].max()
    wide = ours.pivot_table("accuracy", "label", "characters")
    fewer = int((wide[long] < wide[short]).sum())
    both = int(wide[[short, long]].notna().all(axis=1).sum())
    return f"{fewer} of {both} asked here are right less often in {long:,} characters than in {short:,}"


def outcome_order(test: str, outcomes: pd.DataFrame) -> list[str]:
    """List of the outcomes that occurred in the table `outcomes` (its column `outcome`), best
    first, reasons of failure last. `test`: inefficient_code, clue or unlock."""
    known, names = OUTCOMES[test], {*outcomes["outcome"]}
    return [name for name in known if name in names] + sorted(names - {*known})


PLANTED_PROMPTS = {
    "inefficient_code": ["inefficient_code", "inefficient_functions"],
    "clue": ["clue", "ciphertext"],
    "unlock": ["unlock"],
}
"""Names of the prompt files behind each test of section 6."""
