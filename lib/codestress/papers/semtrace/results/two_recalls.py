"""Sense and Sensitivity, section 3.3: "little correlation between lexical and semantic recall
across models".

Lexical recall is retrieval of a line or of the whole function (section 3.2). Semantic recall is
SemTrace, by exact or partial matches (section 3.3). Predictions on CRUXEval, which need both recall
and reasoning, are compared too. Equation 5 is a property of a task without context, not a model's
recall in a context: see semtrace/sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations, product

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from codestress.errors import ParameterError
from codestress.fitting.proportions import clustered_share, paired_difference
from codestress.fitting.significance import kendall, with_holm
from codestress.papers.semtrace.results.published import scores
from codestress.papers.semtrace.results.tables import COLUMNS
from codestress.report.findings import listed
from codestress.report.published import read_published
from codestress.seeding import rng

LEXICAL = ("line retrieval", "function retrieval")
SEMTRACE, PARTIAL = "SemTrace", "SemTrace, partial matches"
Scores = Mapping[str, pd.DataFrame]
"""Mean scores (0 to 1) by measure: problems (rows) by models (columns); nan when a problem was not
asked."""


def recall_scores(answers: pd.DataFrame, places: str) -> Scores:
    """Mean scores in `answers` as a dict by measure (each task asked; for SemTrace exact and
    partial matches) of tables, problems by models, over `places`: all positions (`all`), or those
    in the middle third (`middle`).

    Positions and contexts of a problem are averaged, since they are not independent.
    `ParameterError` when no position is in the middle third, or when SemTrace or a retrieval task
    is missing.
    """
    if places == "middle":
        answers = answers[answers["depth"].between(1 / 3, 2 / 3)]
    if answers.empty:
        raise ParameterError(
            "places = 'middle': no position is in the middle third; ask at 3 positions or more"
        )
    found = {}
    for (dataset, task), part in answers.groupby(["dataset", "task"], sort=False):
        words = str(task).replace("_", " ")
        name = (
            words
            if words in LEXICAL
            else COLUMNS.get((dataset, task), f"{dataset}, {words}")
        )
        found[name] = part.pivot_table("value_strict", "problem", "model", sort=False)
        if name == SEMTRACE:
            found[PARTIAL] = part.pivot_table(
                "value_partial", "problem", "model", sort=False
            )
    if SEMTRACE not in found or not any(name in found for name in LEXICAL):
        raise ParameterError(
            "problems must have semtrace, and tasks a retrieval: two recalls are compared"
        )
    return found


def recall_shares(measures: Scores, confidence: float) -> pd.DataFrame:
    """Table of accuracies by measure and model: measure, model, accuracy, low, high (0 to 1, Wilson
    over problems), problems. `measures` are the tables of `recall_scores`."""
    rows = []
    for measure, table in measures.items():
        for model, column in table.items():
            known = column.dropna()
            share, ends, count, _ = clustered_share(known, known.index, confidence)
            rows.append((measure, model, share, *ends, count))
    return pd.DataFrame(
        rows, columns=["measure", "model", "accuracy", "low", "high", "problems"]
    )


def correlations(measures: Scores, confidence: float, seed: int) -> pd.DataFrame:
    """Table of rank correlations of models between each lexical measure (retrieval of a line, of a
    function) in `measures`, the tables of `recall_scores`, and each other measure, a row for each
    pair: lexical, other, models, tau, low, high, p, least_decided, alike, opposite, open, pairs,
    among_low, among_high, p_holm, decided.

    The columns `tau`, `low`, `high`: Kendall's tau, with the interval for a population of models of
    which these are a sample; `p`, `p_holm`, `decided` over all rows, and `least_decided`, the
    smallest tau that is significant with so many models. `alike`, `opposite`, `open`: pairs of
    models that the problems order alike or oppositely by both measures, and the remaining pairs,
    out of `pairs`; `among_low` and `among_high` bound tau among these very models.
    """
    rows = []
    lexical = [name for name in LEXICAL if name in measures]
    for name, other in product(
        lexical, [one for one in measures if one not in LEXICAL]
    ):
        first, second = measures[name], measures[other]
        models = [model for model in first if model in second]
        first, second = first[models], second[models]
        # What is equal but for rounding is tied.
        means = first.mean().round(9), second.mean().round(9)
        test = _tested(*means, confidence, rng(seed, "two recalls", name, other))
        row = {"lexical": name, "other": other, **test}
        rows.append(row | ordered_alike(first, second, confidence))
    return with_holm(pd.DataFrame(rows, columns=["lexical", "other", *TEST, *ALIKE]))


TEST = ["models", "tau", "low", "high", "p", "least_decided"]


def _tested(
    x: pd.Series, y: pd.Series, confidence: float, draws: np.random.Generator
) -> dict[str, float]:
    """Kendall's tau of two measures of the same models, with the columns `TEST`."""
    test = kendall(x, y, confidence, draws)
    numbers = len(x), test.value, *test.interval, test.p_value, test.least
    return dict(zip(TEST, numbers, strict=True))


ALIKE = ["alike", "opposite", "open", "pairs", "among_low", "among_high"]


def ordered_alike(
    first: pd.DataFrame, second: pd.DataFrame, confidence: float
) -> dict[str, float]:
    """Dict of six numbers for two measures of the same models, the tables `first` and `second` of
    problems by models: `alike`, `opposite` and `open` count pairs of models that both order alike,
    that they order oppositely, that stay open; `pairs` all; `among_low` and `among_high` are the
    bounds of tau among these models (nan without a pair).

    A pair of models counts when paired tests over problems decide its order by both measures. All
    tests hold together (Bonferroni), so that the models' own tau lies within `among_low` and
    `among_high` at that confidence.
    """
    pairs = len(first.columns) * (len(first.columns) - 1) // 2
    if not pairs:
        return dict.fromkeys(ALIKE[:4], 0) | dict.fromkeys(ALIKE[4:], math.nan)
    single = 1 - (1 - confidence) / (2 * pairs)
    signs = told_signs(first, single) * told_signs(second, single)
    alike, opposite = int((signs > 0).sum()), int((signs < 0).sum())
    unknown = pairs - alike - opposite
    ends = [(alike - opposite + side * unknown) / pairs for side in (-1, 1)]
    return dict(zip(ALIKE, [alike, opposite, unknown, pairs, *ends], strict=True))


def told_signs(table: pd.DataFrame, confidence: float) -> NDArray[np.float64]:
    """Array with the sign of the first model minus the second for each pair of columns (models) of
    `table`, in the order of `itertools.combinations`, over the rows (problems) that both were
    asked; 0 when the difference's interval contains 0 or fewer than two problems are common."""
    signs = []
    for first, second in combinations(table, 2):
        difference = (table[first] - table[second]).dropna()
        low, high = paired_difference(difference, confidence=confidence)
        decided = len(difference) > 1 and (low > 0 or high < 0)
        signs.append(np.sign(difference.mean()) if decided else 0.0)
    return np.array(signs)


WORDS = {
    "line retrieval": ("stable_lines", ("not named", "“stable”")),
    "function retrieval": ("sensitive_functions", ("“sensitivity”", "not named")),
}
"""Key of section 3.2's list of models in the published numbers, and words in figures for the weaker
and the stronger models, by lexical measure."""


def published_recalls(confidence: float) -> pd.DataFrame:
    """Table of the paper's values of both recalls, a row for each lexical measure and model:
    measure, model, stronger (whether section 3.2 counts the model among those with the stronger
    lexical recall), group (in words), and SemTrace's accuracy from Table 1 with low, high (0 to 1)
    and n."""
    semtrace = scores(confidence).query("task == @SEMTRACE and not keys")
    semtrace = semtrace.rename(columns={"share": "accuracy"})
    parts = []
    for measure, (key, (weak, strong)) in WORDS.items():
        stronger = semtrace["model"].isin(read_published("semtrace")["recall"][key])
        if key == "sensitive_functions":
            stronger = ~stronger
        group = np.where(stronger, strong, weak)
        parts.append(semtrace.assign(measure=measure, stronger=stronger, group=group))
    columns = ["measure", "model", "stronger", "group", "accuracy", "low", "high", "n"]
    return pd.concat(parts, ignore_index=True)[columns]


def published_correlations(
    table: pd.DataFrame, confidence: float, seed: int
) -> pd.DataFrame:
    """Table of rank correlations between the lexical groups and SemTrace in `table`, that of
    `published_recalls()`, a row for each measure: measure, models, tau, low, high, p,
    least_decided, p_holm and decided as in `correlations`; stronger_higher, the number of pairs of
    a stronger and a weaker model in which the stronger has the higher accuracy; pairs, all of
    these."""
    rows = []
    for measure, part in table.groupby("measure", sort=False):
        draws = rng(seed, "printed", str(measure))
        test = _tested(part["stronger"], part["accuracy"], confidence, draws)
        sides = [part["accuracy"][part["stronger"] == side] for side in (True, False)]
        higher = np.greater.outer(*(side.to_numpy() for side in sides))
        pairs = {"stronger_higher": higher.sum(), "pairs": higher.size}
        rows.append({"measure": measure, **test, **pairs})
    return with_holm(pd.DataFrame(rows))


def headline(found: pd.DataFrame) -> str:
    """Title of the figure, from `found`, the table of `correlations()`: whether models that
    retrieve more are better at SemTrace, with Kendall's tau for each lexical measure."""
    rows = found[found["other"] == SEMTRACE]
    taus = listed([f"{row.tau:.2f} ({row.lexical})" for row in rows.itertuples()])
    if not rows["decided"].all():
        return f"Too few models to tell whether retrieval goes with SemTrace: tau is {taus}"
    direction = "better" if (rows["tau"] > 0).all() else "no better"
    return f"Better retrieval goes with {direction} SemTrace: tau is {taus}"
