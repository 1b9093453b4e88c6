"""Tables of Find the Origin's section 6, on parts planted in long texts, with the
paper's own numbers beside the regenerated numbers."""

from typing import NamedTuple

import pandas as pd

from codestress.fitting.proportions import newcombe
from codestress.fitting.summaries import with_accuracy
from codestress.report.published import published_numbers

CELL = ["text", "characters", "depth", "paired"]
"""Columns of a cell of section 6: source of the text, length, depth of the planted
part, and `paired` (length and depth as in the paper)."""
IDLE = ["cipher noticed", "nothing noticed"]
"""Outcomes of the clue test without an attempt at the cipher, as the paper counts at
354 tokens."""
PROMPTS = {
    "inefficient_code": ["inefficient_code", "inefficient_functions"],
    "clue": ["clue", "ciphertext"],
    "unlock": ["unlock"],
}
"""Dict from test of section 6 to the names of its prompt files."""


def outcome_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the share (0 to 1) and count of each outcome that occurred in each cell of
    a needle test, from `answers`. Columns: label (the model), text, characters, depth,
    paired (as in the paper), outcome, count, share."""
    failed = answers["finish_reason"] == ""
    outcome = answers["detail_strict"].where(~failed, answers["outcome_strict"])
    labelled = answers.assign(label=answers["model"], outcome=outcome)
    cell = ["label", *CELL]
    counts = labelled.groupby([*cell, "outcome"], sort=False).size()
    table = counts.reset_index(name="count")
    table["share"] = table["count"] / table.groupby(cell)["count"].transform("sum")
    return table


class Fall(NamedTuple):
    """Accuracy of a model on the longest of the paper's texts that it was asked about,
    minus the accuracy on the shortest."""

    model: str
    short: int
    """Characters of the shortest text."""
    long: int
    difference: float
    low: float
    high: float
    """Ends of Newcombe's interval of the difference."""
    n: float
    """Number of independent answers to the text with fewer of them."""


def falls(counts: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the `Fall` of each model that was asked about two or more of the paper's
    texts, a row for each, with intervals at `confidence`.

    `counts` is a summary of cells as in the paper, with the columns model, text,
    characters, accuracy and independent (number of independent answers).
    """
    rows = []
    theirs = counts.query("text != 'own'").sort_values("characters")
    for model, part in theirs.groupby("model", sort=False):
        if len(part) == 1:
            continue
        ends = part.iloc[[0, -1]]
        short, long = ends["characters"]
        first, last = ends["accuracy"]
        first_n, last_n = ends["independent"]
        interval = newcombe(first, first_n, last, last_n, confidence)
        fewest = min(first_n, last_n)
        rows.append(Fall(str(model), short, long, last - first, *interval, fewest))
    return pd.DataFrame(rows, columns=Fall._fields)


def noticed(outcomes: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the answers about the paper's texts that do not attempt the cipher,
    counted from `outcomes`, the result of `outcome_shares()`.

    Columns: model, text, characters, outcome (those of `IDLE`, also if they did not
    occur, and `not attempted`, their sum), count, n (all answers), share (0 to 1), low,
    high (Wilson's interval at `confidence`).
    """
    theirs = outcomes.query("text != 'own'").rename(columns={"label": "model"})
    cell = ["model", "text", "characters"]
    counts = theirs.pivot_table("count", cell, "outcome", fill_value=0)
    n = counts.sum(axis=1).rename("n")
    counts = counts.reindex(columns=IDLE, fill_value=0)
    counts["not attempted"] = counts.sum(axis=1)
    melted = counts.melt(var_name="outcome", value_name="count", ignore_index=False)
    table = melted.join(n).reset_index()
    shares = with_accuracy(table, "count", "n", confidence)
    return shares.rename(columns={"accuracy": "share"})


def published_outcomes(artefact: str) -> pd.DataFrame:
    """Return the published outcomes of the needle test `artefact`, with the columns of
    `outcome_shares()`; empty if there are none. The outcome `not told` counts answers
    whose outcome the paper does not state."""
    numbers = published_numbers(artefact)
    rows = []
    label = f"{numbers.get('model')} (published)"
    for cell in numbers.get("rows", []):
        counts = dict(cell.get("outcomes", {}))
        if counts:
            counts["not told"] = cell["n"] - sum(counts.values())
        for outcome, count in counts.items():
            row = {"label": label, "text": "the paper's", "paired": True, **cell}
            row["outcome"] = outcome
            row["count"] = count
            rows.append(row)
    columns = ["label", *CELL, "n", "outcome", "count"]
    table = pd.DataFrame(rows, columns=columns).query("count > 0")
    return table.assign(share=table["count"] / table["n"])


def headline(points: pd.DataFrame) -> str:
    """Return the title of a figure of accuracy against length: how many of the models
    asked here are right less often in the longest text than in the shortest. If there
    is only one length, the title only names it. `points` has the columns label,
    published, characters, accuracy."""
    ours = points.query("not published")
    wide = ours.pivot_table("accuracy", "label", "characters")
    short, long = wide.columns[[0, -1]]
    if short == long:
        return f"Right answers in texts of {long:,} characters"
    fewer = (wide[long] < wide[short]).sum()
    both = len(wide[[short, long]].dropna())
    return f"{fewer} of {both} asked here are right less often in {long:,} characters than in {short:,}"
