"""Sense and Sensitivity, section 3.3: "little correlation between lexical and semantic
recall across models".

Lexical recall is retrieval of a line or of the whole function (section 3.2). Semantic
recall is SemTrace, by exact or partial matches (section 3.3). Predictions on CRUXEval,
which need both recall and reasoning, are compared too. Equation 5 is not used here: it
is a property of a task without context, not a model's recall in a context (see
semtrace/sensitivity).
"""

from collections.abc import Mapping
from itertools import product

import pandas as pd

from codestress.errors import ParameterError
from codestress.fitting.proportions import clustered_share
from codestress.fitting.significance import kendall, with_holm
from codestress.report.findings import listed
from codestress.seeding import rng

from .tables import COLUMNS

LEXICAL = ("line retrieval", "function retrieval")
"""Measures of lexical recall; all other measures are compared with them."""
SEMTRACE = "SemTrace"
PARTIAL = "SemTrace, partial matches"
"""Measures of semantic recall: `SEMTRACE` by exact and `PARTIAL` by partial matches."""
Scores = Mapping[str, pd.DataFrame]
"""Dict from measure to mean scores (0 to 1), a table with problems as rows and models
as columns; nan if a problem was not asked."""


def recall_scores(answers: pd.DataFrame, places: str) -> Scores:
    """Return the mean scores in `answers`, as a dict from measure to table, problems by
    models. A measure is a task that was asked; SemTrace has two, exact and partial
    matches. `places` selects all positions (`all`), or those in the middle third
    (`middle`).

    Positions and contexts of a problem are averaged, because they are not independent.
    Raises `ParameterError` if no position is in the middle third, or if SemTrace or a
    retrieval task is missing.
    """
    if places == "middle":
        answers = answers[answers["depth"].between(1 / 3, 2 / 3)]
    if answers.empty:
        raise ParameterError(
            "places = 'middle': no position is in the middle third; ask at 3 positions or more"
        )
    recalls = {}
    axes = ("problem", "model")
    for (dataset, task), part in answers.groupby(["dataset", "task"], sort=False):
        name = words = task.replace("_", " ")
        if words not in LEXICAL:
            name = COLUMNS.get((dataset, task), f"{dataset}, {words}")
        recalls[name] = part.pivot_table("value_strict", *axes, sort=False)
        if name == SEMTRACE:
            recalls[PARTIAL] = part.pivot_table("value_partial", *axes, sort=False)
    if SEMTRACE not in recalls or recalls.keys().isdisjoint(LEXICAL):
        raise ParameterError(
            "problems must have semtrace, and tasks a retrieval: two recalls are compared"
        )
    return recalls


def recall_shares(measures: Scores, confidence: float) -> pd.DataFrame:
    """Return the accuracy of each model in each of `measures`, the result of
    `recall_scores`. Columns: measure, model, accuracy, low, high (0 to 1, Wilson's
    interval at `confidence` over problems), problems."""
    rows = []
    for measure, table in measures.items():
        for model, column in table.items():
            known = column.dropna()
            share = clustered_share(known, known.index, confidence)
            row = {"measure": measure, "model": model, "accuracy": share.value}
            row |= share.interval._asdict()
            row["problems"] = share.clusters
            rows.append(row)
    return pd.DataFrame(rows)


def correlations(measures: Scores, confidence: float, seed: int) -> pd.DataFrame:
    """Return rank correlations over models between each lexical measure (retrieval of a
    line, of a function) and each other measure in `measures`, the result of
    `recall_scores`.

    Columns: lexical, other, models (their number); tau (Kendall's), low, high (interval
    at `confidence`, for a population of models from which these are a sample); p,
    p_holm, decided (Holm's correction over all rows).
    """
    rows = []
    lexical = [name for name in LEXICAL if name in measures]
    others = [name for name in measures if name not in LEXICAL]
    for name, other in product(lexical, others):
        models = measures[name].columns.intersection(measures[other].columns)
        # Rounded, so that means that differ by rounding errors alone are tied.
        x = measures[name][models].mean().round(9)
        y = measures[other][models].mean().round(9)
        tau = kendall(x, y, confidence, rng(seed, "two recalls", name, other))
        row = {"lexical": name, "other": other, "models": tau.models}
        row["tau"] = tau.value
        row |= tau.interval._asdict()
        row["p"] = tau.p_value
        rows.append(row)
    return with_holm(pd.DataFrame(rows))


def headline(table: pd.DataFrame) -> str:
    """Return the title of the figure: Kendall's tau of SemTrace with each lexical
    measure, and whether enough models were asked to decide. `table` is the result of
    `correlations()`."""
    rows = table.query("other == @SEMTRACE")
    taus = []
    for row in rows.itertuples():
        taus.append(f"{row.tau:.2f} ({row.lexical})")
    title = f"The rank correlation of retrieval and SemTrace is {listed(taus)}"
    if rows["decided"].all():
        return title
    return f"{title}; too few models to decide"
