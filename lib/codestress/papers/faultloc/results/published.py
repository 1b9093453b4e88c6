"""Findings from the published numbers of Fault Localizability: Table II, the quarters of Figure 9,
the counts of Figure 7.

The paper publishes no number by task or program. Tasks of a program are not independent, so each
program's tasks count once: intervals of single cells are marginal at that number, and tests take
models, or kinds of fault, as their sample.
"""

from __future__ import annotations

import math

import pandas as pd

from codestress.fitting.proportions import Interval, newcombe, wilson
from codestress.fitting.significance import LEVEL, mean_difference, with_holm
from codestress.papers.faultloc.results.paper import (
    A_PROGRAM,
    counted,
    published_counts,
    published_heat,
    published_localization,
    published_spm_bars,
)
from codestress.report.findings import Finding, listed, points, span
from codestress.report.published import published_cells
from codestress.types import LANGUAGE_NAMES

RETURNS = "MisplacedReturn"
"""Only kind of fault whose public labels are all right."""


def cells(confidence: float) -> pd.DataFrame:
    """Returns the paper's Table II, a row for each cell: language, fault, label (the model), of
    (number of tasks), flag (a note if Figure 7 contradicts or lacks the cell, else empty), share
    (accuracy, 0 to 1), low, high (the Wilson interval at level `confidence`, each `A_PROGRAM` tasks
    counting once)."""
    table = published_localization(confidence).eval("share = value / 100")
    return table[["language", "fault", "label", "of", "flag", "share", "low", "high"]]


def returns(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Returns accuracy on misplaced returns against the other three kinds of faults together, from
    `table` (made by `cells`): a row for each language and model, but none where the cell of
    misplaced returns has a flag.

    Columns: language, label (the model), returns, others (shares, 0 to 1), difference, low, high
    (returns - others; Newcombe's interval at level `confidence`, marginal).
    """
    rows = []
    for (language, label), part in table.groupby(["language", "label"], sort=False):
        [cell], rest = (
            part[part["fault"] == RETURNS].itertuples(),
            part[part["fault"] != RETURNS],
        )
        if cell.flag:
            continue
        share, of = cell.share, rest["of"].sum()
        others = (rest["share"] * rest["of"]).sum() / of
        interval = newcombe(
            others, of / (3 * A_PROGRAM), share, cell.of / A_PROGRAM, confidence
        )
        rows.append((language, label, share, others, share - others, *interval))
    columns = ["language", "label", "returns", "others", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def localized(confidence: float) -> pd.DataFrame:
    """Returns the paper's Figure 7 before mutations, a row for each language and model: the columns
    of `published_counts`, found (share of all tasks that are localized), low, high (0 to 1; Wilson
    at level `confidence`, each program counting once).

    The bars after mutations stay counts: the paper does not say of which total they are a part.
    """
    counts = published_counts()
    programs = counts["language"].map(
        published_cells("faultloc/fig05", "language", "lines")
        .groupby("language")["value"]
        .sum()
    )
    found = counts["pf_localized"] / counts["total"]
    ends = [
        wilson(share * n, n, confidence)
        for share, n in zip(found, programs, strict=True)
    ]
    return counts.assign(
        found=found, low=[one.low for one in ends], high=[one.high for one in ends]
    )


def quarters(confidence: float) -> pd.DataFrame:
    """Returns the fall of accuracy in the paper's Figure 9 from the first quarter of programs to
    the last, a row for each kind of fault: fault, first, last (accuracies), fall (first - last),
    low, high (of the fall), all 0 to 1.

    Intervals are Newcombe's at level `confidence`, marginal, as if the figure counted the public
    Python tasks of each quarter, of which each `A_PROGRAM` count once: the paper does not print the
    figure's numbers of tasks.
    """
    heat = published_heat().pivot_table(
        index="row", columns="column", values="accuracy", sort=False
    )
    public = counted().replace({"fault": {"BooleanLogic": "IncorrectBooleanLogic"}})
    tasks = public.set_index(["fault", "quarter"])["tasks"]
    rows = []
    for fault, shares in heat.iterrows():
        first, last = float(shares.iloc[0]), float(shares.iloc[-1])
        n = [float(tasks[fault, quarter]) / A_PROGRAM for quarter in (1, 4)]
        interval = newcombe(last, n[1], first, n[0], confidence)
        rows.append((fault, first, last, first - last, *interval))
    return pd.DataFrame(rows, columns=["fault", "first", "last", "fall", "low", "high"])


def excess_fall(table: pd.DataFrame) -> tuple[float, Interval]:
    """Returns how much more the accuracy on misplaced returns falls than the mean of the other
    kinds, as a share, and its interval, put together from independent intervals (MOVER, Donner and
    Zou 2012). `table` was made by `quarters`."""
    [row], rest = (
        table[table["fault"] == RETURNS].itertuples(),
        table[table["fault"] != RETURNS],
    )
    value = float(row.fall - rest["fall"].mean())
    below = (rest["fall"] - rest["low"]) / len(rest)
    above = (rest["high"] - rest["fall"]) / len(rest)
    down = math.hypot(row.fall - row.low, *above)
    up = math.hypot(row.high - row.fall, *below)
    return value, Interval(value - down, value + up)


def over_models(
    returning: pd.DataFrame, counts: pd.DataFrame, confidence: float
) -> pd.DataFrame:
    """Returns tests paired across models, a row for each question: question, difference, low, high
    (Student), p (exact sign flips), more (models with a positive difference), models, p_holm (over
    all rows), decided (bool). The questions are misplaced returns against other faults, by language
    (from `returning`, made by `returns`), and Python against Java (from `counts`, made by
    `localized`).

    Languages are compared for models of which Figure 7 has all four kinds of faults in both
    languages.
    """
    complete = counts[counts["lacks"].isna()]
    wide = complete.pivot_table(index="label", columns="language", values="found")
    differences = {
        f"{RETURNS} - other faults, {LANGUAGE_NAMES[str(language)]}": values
        for language, values in returning.groupby("language", sort=False)["difference"]
    }
    both = (wide["python"] - wide["java"]).dropna()
    differences["localized of all tasks, Python - Java"] = both
    rows = []
    for question, values in differences.items():
        found = mean_difference(values, confidence)
        more = int((values > 0).sum())
        rows.append(
            (question, found.value, *found.interval, found.p_value, more, found.models)
        )
    columns = ["question", "difference", "low", "high", "p", "more", "models"]
    return with_holm(pd.DataFrame(rows, columns=columns))


def headline(means: pd.DataFrame) -> str:
    """Returns the finding in a sentence, from `means` (made by `over_models`)."""
    returning, [languages] = means.iloc[:-1], means.iloc[-1:].itertuples()
    compared = "are not shown to be localized more or less often than Java's"
    if languages.decided:
        other = "more" if languages.difference > 0 else "less"
        compared = f"are localized {other} often than Java's"
    apart = listed(
        [
            f"{points(row.difference)} points {span(row.low, row.high)} in {row.question.split(', ')[-1]}"
            f"{'' if row.decided else ' (not decided)'}"
            for row in returning.itertuples()
        ]
    )
    return f"Python's faults {compared}; misplaced returns minus other faults: {apart}"


# --- findings -----------------------------------------------------------------------------------------------------

STUDENT, FLIPS = (
    "Student, paired across models",
    "exact sign flips of each model's difference",
)
MODELS = "Ten models of seven families are no sample of models at large"


def findings(
    table: pd.DataFrame,
    means: pd.DataFrame,
    fall: pd.DataFrame,
    counts: pd.DataFrame,
    confidence: float,
) -> list[Finding]:
    """Returns the five main findings from the published numbers, in the report's order, each with
    its test, interval and limits. Made by: `table` by `cells`, `means` by `over_models`, `fall` by
    `quarters`, `counts` by `localized`, all at level `confidence`."""
    family = f"Holm over {len(means)} tests, level {LEVEL}"
    returning, languages = means.iloc[:-1], means.iloc[-1:]
    complete = counts[
        ~counts["label"].isin(counts.loc[counts["lacks"].notna(), "label"])
    ]
    sums = complete.groupby("language")[["pf_localized", "total"]].sum()
    shares = 100 * sums["pf_localized"] / sums["total"]
    return [
        _table(table, confidence),
        Finding(
            f"{RETURNS}, the one kind whose public labels are right, against the other kinds: {_told(returning)}.",
            FLIPS,
            STUDENT,
            family,
            "Table II counts tasks that at least one model localizes, which lifts every share and depends on the kind "
            "of fault. Labels were counted in Python alone; of Java two cells are left out, one that Figure 7 "
            "contradicts (Claude 3.7) and one that it lacks (GPT-4o), which is no share of 1,471 tasks. "
            f"{MODELS}.",
        ),
        _quarters(fall),
        Finding(
            f"By language (Figure 7, the tasks of all models together): {shares['python']:.1f} % of Python's are "
            f"localized and {shares['java']:.1f} % of Java's. {_told(languages)}.",
            FLIPS,
            STUDENT,
            family,
            "GPT-4o is left out: its bars of Java lack misplaced returns. The languages differ in programs, their "
            f"length and their descriptions. {MODELS}.",
        ),
        Finding(
            _bars_after_mutations(counts),
            "none: counts",
            "none",
            "none: nothing is tested",
            "The paper does not say what these bars count, so that nothing is computed from them.",
        ),
    ]


def _told(means: pd.DataFrame) -> str:
    return "; ".join(
        f"{row.question} {points(row.difference)} points {span(row.low, row.high)}, {row.more} of {row.models} models "
        f"above 0, {'decided' if row.decided else 'not decided'} (p by Holm {row.p_holm:.3f})"
        for row in means.itertuples()
    )


EXAMPLE = "Claude 3.7 Sonnet"


def _bars_after_mutations(counts: pd.DataFrame) -> str:
    """Returns a sentence that Figure 7's third bars, as shares of its second, differ from Figure
    6's mean, with the model `EXAMPLE` as the example; `counts` are those of `localized`."""
    bars = counts[counts["label"] == EXAMPLE].set_index("language")
    shares = 100 * bars["pf_spm_localized"] / bars["pf_localized"]
    figure_6 = published_spm_bars().groupby("condition")["accuracy"].mean()[EXAMPLE]
    return (
        f"Figure 7's bars after mutations are no shares of those localized before: {EXAMPLE}'s would be "
        f"{shares['java']:.1f} % in Java and {shares['python']:.1f} % in Python, where Figure 6 has "
        f"{100 * figure_6:.1f} % as the mean over its mutations."
    )


def _table(table: pd.DataFrame, confidence: float) -> Finding:
    told = []
    for (language, fault), part in table[table["flag"] == ""].groupby(
        ["language", "fault"], sort=False
    ):
        best = part.sort_values("share").iloc[-1]
        rivals = int((part["high"] >= best["low"]).sum()) - 1
        told.append(
            f"{LANGUAGE_NAMES[str(language)]} {fault} ({best['of']} tasks) {best['label']} {100 * best['share']:.1f} % "
            f"{span(best['low'], best['high'])}, within reach of {rivals} others"
        )
    return Finding(
        f"Table II, the best model of each row: {'; '.join(told)}.",
        "none: estimates",
        f"Wilson, {100 * confidence:g} %, marginal; each {A_PROGRAM} tasks count once, as many as a program may have",
        "none: nothing is tested",
        "Programs are not published: this is cautious where a program has fewer tasks of a kind, and too short where "
        f"it has more. Cells that Figure 7 contradicts or lacks are left out: {int((table['flag'] != '').sum())}.",
    )


def _quarters(fall: pd.DataFrame) -> Finding:
    told = [
        f"{row.fault} {100 * row.fall:.0f} {span(row.low, row.high)}"
        for row in fall.itertuples()
    ]
    value, (low, high) = excess_fall(fall)
    return Finding(
        f"From the first quarter to the last, accuracy falls by (points) {', '.join(told)}. {RETURNS}, whose labels "
        f"are right, falls by {points(value)} {span(low, high)} more than the mean of the others: if the paper's "
        "runs used the public labels, those that drift are not the whole explanation.",
        "none: estimates",
        f"Newcombe, marginal, as if Figure 9 counted the public Python tasks of a quarter, each {A_PROGRAM} once; of "
        "the excess MOVER",
        "none: four intervals and one, each by itself",
        "The paper prints no numbers of tasks for Figure 9, and rounds to a hundredth. Labels were counted in the "
        "public Python tasks alone, and whether its runs used them is not known.",
    )
