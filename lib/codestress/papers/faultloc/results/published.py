"""Findings from the published numbers of Fault Localizability: Table II and the counts
of Figure 7.

The paper does not publish numbers by task or program. Tasks of one program are not
independent, so the tasks of each program count as one. Intervals of single cells are
marginal, with programs as their n; tests have models as their sample.
"""

import pandas as pd

from codestress.fitting.proportions import newcombe
from codestress.fitting.significance import mean_difference, with_holm
from codestress.fitting.summaries import with_accuracy
from codestress.report.published import published_cells
from codestress.types import LANGUAGE_NAMES

from .paper import A_PROGRAM, published_counts

RETURNS = "MisplacedReturn"
"""The only kind of fault whose public labels are all right."""


COLUMNS = ["language", "fault", "label", "of", "flag", "accuracy", "low", "high"]
"""Columns of Table II in `faultloc/published` (see `published_localization`)."""


def returns(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return accuracy on misplaced returns against the three other kinds of faults
    together, from `table`,
    the cells of Table II (`published_localization`).

    There is a row for each language and model, unless the cell of misplaced returns has
    a flag. Columns: language, label (the model), returns, others (shares, 0 to 1),
    difference, low, high (returns - others; Newcombe's interval at level `confidence`,
    marginal).
    """
    rows = []
    for (language, label), part in table.groupby(["language", "label"], sort=False):
        misplaced = part["fault"] == RETURNS
        cell = part[misplaced].iloc[0]
        rest = part[~misplaced]
        if cell["flag"]:
            continue
        share = cell["accuracy"]
        of = cell["of"]
        rest_of = rest["of"].sum()
        others = (rest["accuracy"] * rest["of"]).sum() / rest_of
        n = rest_of / (3 * A_PROGRAM)
        interval = newcombe(others, n, share, of / A_PROGRAM, confidence)
        rows.append((language, label, share, others, share - others, *interval))
    columns = ["language", "label", "returns", "others", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def localized(confidence: float) -> pd.DataFrame:
    """Return the paper's Figure 7 before mutations, a row for each language and model.

    Columns: those of `published_counts`, found (share of all tasks that are localized),
    low, high (0 to 1; Wilson at level `confidence`, each program counting as one). The
    bars after mutations stay counts: the paper does not say of which total they are a
    part.
    """
    counts = published_counts()
    bars = published_cells("faultloc/fig05", "language", "lines")
    programs = counts["language"].map(bars.groupby("language")["value"].sum())
    localized = programs * counts["pf_localized"] / counts["total"]
    table = counts.assign(n=programs, right=localized)
    table = with_accuracy(table, "right", "n", confidence)
    return table.drop(columns=["n", "right"]).rename(columns={"accuracy": "found"})


def over_models(
    returning: pd.DataFrame, counts: pd.DataFrame, confidence: float
) -> pd.DataFrame:
    """Return tests paired across models, a row for each question.

    Columns: question, difference, low, high (Student's interval at `confidence`), p
    (exact sign flips), more (models with a positive difference), models, p_holm (over
    all rows), decided (bool). The questions are misplaced returns against other faults,
    by language (from `returning`, made by `returns`), and Python against Java (from
    `counts`, made by `localized`).

    Languages are compared for models of which Figure 7 has all four kinds of faults in
    both languages.
    """
    differences = {}
    for language, values in returning.groupby("language", sort=False)["difference"]:
        name = LANGUAGE_NAMES[str(language)]
        differences[f"{RETURNS} - other faults, {name}"] = values
    complete = counts.query("lacks.isna()")
    wide = complete.pivot_table("found", "label", "language").dropna()
    both = wide["python"] - wide["java"]
    differences["localized of all tasks, Python - Java"] = both
    rows = []
    for question, values in differences.items():
        value, interval, p, models = mean_difference(values, confidence)
        rows.append((question, value, *interval, p, (values > 0).sum(), models))
    columns = ["question", "difference", "low", "high", "p", "more", "models"]
    return with_holm(pd.DataFrame(rows, columns=columns))
