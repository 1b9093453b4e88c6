"""Find the Origin: tables of its figures, the paper's own numbers beside the regenerated ones."""

from __future__ import annotations

import hashlib
import importlib
import math
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from codestress.fitting.proportions import DOUBTED, UNKNOWN, paired_difference
from codestress.fitting.summaries import with_accuracy
from codestress.papers.origin.curves import FittedSide, fit_decay
from codestress.papers.origin.published import by_size
from codestress.papers.origin.studies import clue_at
from codestress.report.findings import told
from codestress.report.published import published_models, published_numbers
from codestress.seeding import rng
from codestress.types import Outcome, Trials

PAPER = "origin"


def published_shares(artefact: str, confidence: float) -> pd.DataFrame:
    """The paper's accuracies, a row each; empty where it has none.

    Columns: label, model (the registry's name), correct, n, d, characters, depth and bar (in %) where it has them,
    condition, published, accuracy, low, high (Wilson, from the counts), percent.
    """
    numbers = published_numbers(artefact) or {"rows": []}
    if "outcomes" in numbers:
        outcomes = numbers["outcomes"].items()
        rows = [{"label": model, "correct": bits.count("1"), "n": len(bits)} for model, bits in outcomes]
    elif "correct" in numbers:
        counts, bars = numbers["correct"].items(), numbers["bar_percent"]
        rows = [{"label": one, "correct": right, "n": numbers["n"], "bar": bars[one]} for one, right in counts]
    else:
        rows = [{"label": numbers["model"]} | row for row in numbers["rows"] if "n" in row]
    frame = pd.DataFrame(rows, columns=["label", "correct", "n", "d", "characters", "depth", "bar"])
    frame = with_accuracy(frame, "correct", "n", confidence)
    model = frame["label"].map(published_models(PAPER))
    return frame.assign(model=model, condition="the paper's runs", published=True, percent=100 * frame["accuracy"])


def published_bars(artefact: str, confidence: float) -> pd.DataFrame:
    """The paper's bars of a figure; Figure 11's, of shuffled lists, beside Figure 4's, of the same lists in order."""
    bars = published_shares(artefact, confidence)
    if artefact != "origin/fig11":
        return bars
    in_order = published_shares("origin/fig04", confidence)
    conditions = ("other lines shuffled", "in order (Figure 4)")
    both = [part.assign(condition=one) for part, one in zip((bars, in_order), conditions, strict=True)]
    return best_first(pd.concat(both, ignore_index=True))


OUTCOMES_OF = {"fig04": "fig02", "fig05": "fig03", "fig11": "fig10"}
"""Which figure has the single outcomes behind a figure of shares."""


def published_title(artefact: str) -> str:
    """What the paper's bars are called, and where their counts are from if the figure does not show them."""
    name = artefact.partition("/")[2]
    source = (published_numbers(artefact) or {}).get("provenance", "")
    if source.endswith("inferred counts"):
        return "published; counts inferred from the bars"
    counted = f"; counts from Figure {int(OUTCOMES_OF[name][3:])}" if source.endswith("another figure") else ""
    return f"published (the paper's own runs{counted})"


def with_pairs(summary: pd.DataFrame, answers: pd.DataFrame, artefact: str, rule: str) -> pd.DataFrame:
    """The summary of one condition with `pair_low` and `pair_high`, the interval of ours - theirs over the sizes of the
    list, of which the paper shows what became of each; nan where it does not, or where we asked other sizes."""
    name = artefact.partition("/")[2]
    shown = by_size(OUTCOMES_OF.get(name, name)).groupby("model")
    theirs = {published_models(PAPER)[label]: part.set_index("lines")["right"] for label, part in shown}
    ends = []
    for model in summary["model"]:
        part = answers[answers["model"] == model]
        ours = part.groupby("lines")[f"value_{rule}"].mean() if len(part) else pd.Series(dtype=float)
        same = model in theirs and set(ours.index) == set(theirs[model].index)
        ends.append(paired_difference(ours - theirs[model]) if same else UNKNOWN)
    return summary.assign(pair_low=[low for low, _ in ends], pair_high=[high for _, high in ends])


def token_counts(trials: Trials) -> pd.DataFrame:
    """Tokens of the user message at each size of the list: lines, tokens; empty where the package tiktoken, or its
    vocabulary in the folder TIKTOKEN_CACHE_DIR, is not at hand: nothing is fetched."""
    nothing = pd.DataFrame(columns=["lines", "tokens"])
    if not (Path(os.environ.get("TIKTOKEN_CACHE_DIR", "")) / VOCABULARY).is_file():
        return nothing
    try:
        tiktoken = importlib.import_module("tiktoken")
    except ImportError:
        return nothing
    encoding = tiktoken.get_encoding("cl100k_base")
    rows = [(t.factors["lines"], len(encoding.encode(trials.render(t).messages[-1].content))) for t in trials.items]
    return pd.DataFrame(rows, columns=["lines", "tokens"])


VOCABULARY = hashlib.sha1(b"https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken").hexdigest()
"""The name under which tiktoken keeps it: the hash of its address."""


def beside_published(published: pd.DataFrame, summary: pd.DataFrame, by: str, title: str = "published") -> pd.DataFrame:
    """The paper's points, `title` behind their label, and the regenerated ones: label, published, `by` (d or
    characters), share, low, high, and what is `true` of instruments where that is known."""
    theirs = published.assign(label=published["label"] + f" ({title})").sort_values(by)
    ours = summary.rename(columns={"model": "label"}).assign(published=False)
    columns = ["label", "published", by, "accuracy", "low", "high"]
    known = [*columns, "true"]
    return pd.concat(
        [part[part.columns.intersection(known)] for part in (theirs, ours) if len(part)], ignore_index=True
    )


# --- Figures 1, 2, 3, 10: right and wrong at every size -----------------------------------------------------------


def outcome_cells(artefact: str, answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """What became of every size of the list, the best models first: source, model, lines, outcome. Where a size was
    asked several times, correct means correct in most of them. Sources: published, regenerated; where shuffled lists
    stand beside those in order, which of them. `true` is with which probability an instrument answers right."""
    theirs, ours = [], []
    for source, figure in PUBLISHED_MAPS.get(artefact, {"published": artefact}).items():
        shown = by_size(figure.partition("/")[2])
        if artefact == NANO:
            shown = shown[shown["lines"] <= answers["lines"].max()]
        outcome = shown["right"].map({1: Outcome.CORRECT.value, 0: Outcome.INCORRECT.value})
        known = shown.assign(source=source, outcome=outcome)[["source", "model", "lines", "outcome"]]
        theirs += [part for _, part in known.groupby("model", sort=False)]
    if artefact == NANO:
        theirs.sort(key=_right, reverse=True)
    several = answers["shuffled"].nunique() > 1 or len(PUBLISHED_MAPS.get(artefact, ())) > 1
    for (shuffled, model), part in answers.groupby(["shuffled", "model"], sort=False):
        most = part.groupby("lines")[f"outcome_{rule}"].agg(_most)
        source = "regenerated" + (", shuffled" if shuffled else ", in order") * several
        cells = {"source": source, "model": model, "lines": most.index, "outcome": most.to_numpy()}
        true = {"true": part.groupby("lines")["chance"].mean().to_numpy()} if "chance" in part else {}
        ours.append(pd.DataFrame(cells | true))
    ours.sort(key=lambda cells: (cells["source"].iloc[0].endswith("order"), -_right(cells)))
    return pd.concat([*theirs, *ours], ignore_index=True)


NANO = "origin/nano"
"""Which has the paper's cells of Figure 2 for the sizes that it asks."""
PUBLISHED_MAPS = {
    NANO: {"published": "origin/fig02"},
    "origin/fig10": {"published, shuffled": "origin/fig10", "published, in order": "origin/fig02"},
}
"""Figures whose cells stand beside those of another one, by what the sources are called."""


def source_title(source: str) -> str:
    """What stands above a panel of a source's cells."""
    named = {"published": "published (the paper's own runs)", "regenerated": "regenerated here"}
    first, comma, rest = source.partition(",")
    return named[first] + comma + rest


def _right(cells: pd.DataFrame) -> int:
    return int((cells["outcome"] == Outcome.CORRECT.value).sum())


def _most(reasons: pd.Series) -> str:
    right = int((reasons == Outcome.CORRECT.value).sum())
    others = reasons[reasons != Outcome.CORRECT.value]
    return Outcome.CORRECT.value if right > len(reasons) / 2 else str(others.mode().iloc[0])


def describe_outcomes(table: pd.DataFrame) -> str:
    """The figure in words: what share of the prompts each model answers rightly."""
    named = table["source"].str.replace("published", "Published by the paper").str.replace("regenerated", "Regenerated")
    form = "{model} {correct} of {prompts}"
    return told("Right answers at each size of the list.", table.assign(label=named), form, "{label}", ". ")


# --- Figures 4, 5, 11: shares -------------------------------------------------------------------------------------


def condition_label(row: pd.Series) -> str:
    """`d = 15, shuffled` and so on: what tells the bars of a model apart."""
    order = "other lines shuffled" if row["shuffled"] else "in order"
    wording = "" if row["wording"] == "as_run" else ", prompt as printed"
    return f"d = {row['d']}, {order}{wording}"


def best_first(shares: pd.DataFrame) -> pd.DataFrame:
    """Rows of the models with the largest share under the first condition first."""
    first = shares[shares["condition"] == shares["condition"].iloc[0]]
    order = first.sort_values("accuracy", ascending=False, kind="stable")["label"].tolist()
    return shares.sort_values("label", key=lambda labels: labels.map(order.index), kind="stable")


def share_table(published: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Published and regenerated accuracies in one table, with those under every rule and the count of each outcome."""
    ours = summary.rename(columns={"model": "label"}).assign(source="regenerated")
    theirs = published[["label", "condition", "accuracy", "low", "high"]].assign(source="published")
    columns = ["source", *[column for column in ours.columns if column != "source"]]
    return pd.concat([part for part in (theirs, ours) if len(part)], ignore_index=True)[columns]


def describe_shares(published: pd.DataFrame, regenerated: pd.DataFrame) -> str:
    """The figure in words."""
    parts = []
    for source, part in (("Published by the paper", published), ("Regenerated", regenerated)):
        condition = " (" + part["condition"] + ")" if part["condition"].nunique() > 1 else ""
        shares = (100 * part[["accuracy", "low", "high"]]).assign(source=source, name=part["label"] + condition)
        parts.append(shares)
    form = "{name} {accuracy:.1f} % [{low:.1f} %, {high:.1f} %]"
    return told("Accuracy with intervals.", pd.concat(parts), form, "{source}", ". ")


# --- Figures 6 to 9: shares against d -----------------------------------------------------------------------------


def fit_sides(
    answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int
) -> tuple[list[FittedSide], pd.DataFrame]:
    """share = top * exp(-(|d| - 1) / reach), fitted for each model to d > 0 and to d < 0.

    Returns the curves, and a table with `FIT_COLUMNS`: intervals from a bootstrap over items. A side with fewer
    than three distances is not fitted.
    """
    fits, rows = [], []
    for model, part in answers.groupby("model", sort=False):
        for sign, side in ((1, "d > 0"), (-1, "d < 0")):
            chosen = part[np.sign(part["d"]) == sign]
            wide = chosen.assign(x=chosen["d"].abs()).pivot_table(index="problem", columns="x", values=f"value_{rule}")
            if wide.shape[1] < 3:
                continue
            fit = fit_decay(
                wide.columns.to_numpy(float),
                wide.to_numpy(float),
                str(model),
                sign,
                confidence=confidence,
                resamples=resamples,
                rng=rng(seed, "decay", str(model), sign),
            )
            fits.append(fit)
            numbers = (fit.top, fit.reach, fit.reach * math.log(2), *fit.top_interval, *fit.reach_interval)
            rows.append((str(model), side, *numbers, fit.failed, resamples, fit.lack))
    return fits, pd.DataFrame(rows, columns=FIT_COLUMNS)


FIT_COLUMNS = [
    *("model", "side", "top", "reach_lines", "half_life_lines", "top_low", "top_high", "reach_low", "reach_high"),
    *("failed_fits", "resamples", "lack_of_fit"),
]


def describe_distances(points: pd.DataFrame, fits: Sequence[FittedSide]) -> str:
    """The figure in words."""
    rows = points.sort_values("d", kind="stable").assign(percent=100 * points["accuracy"])
    head, form = "Accuracy against d, the lines between the links.", "d = {d} {percent:.0f} %"
    fitted = [
        f"{fit.label}, {'down' if fit.sign > 0 else 'up'}: share falls to 1/e over {fit.reach:.1f} lines"
        + (", which does not describe its points." if fit.lack < DOUBTED else ".")
        for fit in fits
    ]
    return " ".join([told(head, rows, form, "{label}", ". "), *fitted])


# --- Sections 6.1 to 6.3: planted things --------------------------------------------------------------------------

OUTCOMES = {
    "inefficient_code": ["both", "one", "none", "indiscriminate", "refused"],
    "clue": ["solved", "attempted", "not attempted", "cipher noticed", "nothing noticed", "not told", "refused"],
    "unlock": ["said it", "mentioned it", "nothing noticed", "refused"],
}
"""Outcomes of each test, best first; failed requests are added under theirs."""


CELL = ["characters", "depth", "paired"]
"""What was asked in section 6: a length, with something at a depth; `paired`: a cell of the paper."""


def outcome_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """Columns label, `CELL`, outcome, share, count: what was noticed, in every cell."""
    failed = answers["finish_reason"] == ""
    outcome = answers["detail_strict"].where(~failed, answers["outcome_strict"])
    counts = answers.assign(label=answers["model"], outcome=outcome).groupby(["label", *CELL, "outcome"], sort=False)
    table = counts.size().rename("count").reset_index()
    table["share"] = table["count"] / table.groupby(["label", *CELL])["count"].transform("sum")
    return table


def published_outcomes(artefact: str) -> pd.DataFrame:
    """What the paper counted, in the same columns; `not told` are answers of which it does not say what they were."""
    numbers = published_numbers(artefact) or {"rows": []}
    rows = [
        (f"{numbers['model']} (published)", cell["characters"], cell["depth"], True, name, count, count / cell["n"])
        for cell in numbers["rows"]
        if "outcomes" in cell
        for name, count in [*cell["outcomes"].items(), ("not told", cell["n"] - sum(cell["outcomes"].values()))]
        if count
    ]
    return pd.DataFrame(rows, columns=["label", *CELL, "outcome", "count", "share"])


def single_answers(artefact: str) -> str:
    """What the paper shows of one answer each, which is no rate; empty where it counts."""
    numbers = published_numbers(artefact) or {"rows": []}
    shown = pd.DataFrame([row for row in numbers["rows"] if "outcome" in row])
    head = f"The paper shows one answer of {numbers.get('model')} for each length, no rate."
    return told(head, shown, "{characters:,} characters: {outcome}") if len(shown) else ""


def realized(trials: Trials, test: str) -> pd.DataFrame:
    """What was asked for and what became of it, a row for each cell and variant: `CELL`, variant, length (characters of
    the text) and planted_at (where what was planted begins, as a share of it)."""
    cells = {tuple(trial.factors[name] for name in (*CELL, "variant")): trial for trial in trials.items}
    texts = {cell: trials.render(trial).messages[-1].content for cell, trial in cells.items()}
    rows = [(*cell, len(text), clue_at(text, test)) for cell, text in texts.items()]
    return pd.DataFrame(rows, columns=[*CELL, "variant", "length", "planted_at"])


def outcome_order(test: str, outcomes: pd.DataFrame) -> list[str]:
    """The outcomes that occurred, best first, reasons of failure last."""
    known = OUTCOMES[test]
    found = set(outcomes["outcome"])
    return [name for name in known if name in found] + sorted(found - set(known))


PLANTED_PROMPTS = {
    "inefficient_code": ["inefficient_code", "inefficient_functions"],
    "clue": ["clue", "ciphertext"],
    "unlock": ["unlock"],
}
"""The prompt files behind each test."""


def describe_lengths(points: pd.DataFrame, grid: pd.DataFrame, note: str) -> str:
    """The figure in words."""
    cells = grid.assign(label=grid["model"] + ", by length and depth")
    cells["place"] = [f"{row.characters} at {row.depth:g}" for row in grid.itertuples()]
    rows = points.assign(place=points["characters"].astype(str) + " characters")
    rows = pd.concat([rows, cells]) if grid["depth"].nunique() > 1 else rows
    rows, form = rows.assign(percent=100 * rows["accuracy"]), "{place} {percent:.0f} %"
    return f"{told('Accuracy against the length of the text.', rows, form, '{label}', '. ')} {note}".strip()
