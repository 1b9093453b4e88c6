"""Sense and Sensitivity, section 3.3: "little correlation between lexical and semantic
recall across models".

Lexical recall is retrieval of a line or of the whole function (section 3.2). Semantic
recall is SemTrace, by exact or partial matches (section 3.3). Predictions on CRUXEval,
which need both recall and reasoning, are compared too. Equation 5 is not used here: it
is a property of a task without context, not a model's recall in a context (see
semtrace/sensitivity).
"""

from itertools import product

import pandas as pd

from codestress.errors import ParameterError
from codestress.fitting.significance import kendall, with_holm
from codestress.report.findings import listed
from codestress.scoring.summaries import summarize
from codestress.seeding import rng

from .tables import column_of

LEXICAL = ("line retrieval", "function retrieval")
"""Measures of lexical recall; all other measures are compared with them."""
SEMTRACE = "SemTrace"
"""Measure of semantic recall by exact matches."""
PARTIAL = "SemTrace, partial matches"
"""Measure of semantic recall by partial matches."""


def recall_shares(
    answers: pd.DataFrame, places: str, confidence: float
) -> pd.DataFrame:
    """Return the accuracy of each model in each measure, from its `answers`. A measure
    is a task that was asked; SemTrace has two, exact and partial matches. `places`
    selects all positions (`all`), or those in the middle third (`middle`).

    Columns: measure, model, accuracy, low, high (0 to 1; the interval at `confidence`
    is over problems, whose positions and contexts are not independent), problems.
    Raises `ParameterError` if no position is in the middle third, or if SemTrace or a
    retrieval task is missing.
    """
    if places == "middle":
        answers = answers[answers["depth"].between(1 / 3, 2 / 3)]
    if answers.empty:
        raise ParameterError(
            "places = 'middle': no position is in the middle third; ask at 3 positions or more"
        )
    parts = []
    by = ["measure", "model"]
    for (dataset, task), part in answers.groupby(["dataset", "task"], sort=False):
        name = task.replace("_", " ")
        if name not in LEXICAL:
            name = column_of(dataset, task)
        part = part.assign(measure=name)
        parts.append(summarize(part, by, confidence=confidence))
        if name == SEMTRACE:
            part["measure"] = PARTIAL
            parts.append(summarize(part, by, rule="partial", confidence=confidence))
    shares = pd.concat(parts, ignore_index=True)
    measures = set(shares["measure"])
    if SEMTRACE not in measures or measures.isdisjoint(LEXICAL):
        raise ParameterError(
            "problems must have semtrace, and tasks a retrieval: two recalls are compared"
        )
    shares = shares.rename(columns={"items": "problems"})
    return shares[[*by, "accuracy", "low", "high", "problems"]]


def correlations(shares: pd.DataFrame, confidence: float, seed: int) -> pd.DataFrame:
    """Return rank correlations over models between each lexical measure (retrieval of a
    line, of a function) and each other measure in `shares`, the result of
    `recall_shares`.

    Columns: lexical, other, models (their number); tau (Kendall's), low, high (interval
    at `confidence`, for a population of models from which these are a sample); p,
    p_holm, decided (Holm's correction over all rows).
    """
    rows = []
    # Rounded, so that means that differ by rounding errors alone are tied.
    wide = shares.pivot_table("accuracy", "model", "measure", sort=False).round(9)
    lexical = [name for name in LEXICAL if name in wide]
    for name, other in product(lexical, wide.columns.difference(LEXICAL, sort=False)):
        both = wide[[name, other]].dropna()
        random = rng(seed, "two recalls", name, other)
        tau = kendall(both[name], both[other], confidence, random)
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
    taus = [f"{row.tau:.2f} ({row.lexical})" for row in rows.itertuples()]
    title = f"The rank correlation of retrieval and SemTrace is {listed(taus)}"
    if rows["decided"].all():
        return title
    return f"{title}; too few models to decide"
