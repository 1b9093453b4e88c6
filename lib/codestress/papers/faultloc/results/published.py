"""What the published numbers of Fault Localizability say: Table II, the quarters of Figure 9, the counts of Figure 7.

Nothing is published by task or program. Tasks of a program hang together, so that each program's tasks count once:
intervals of single cells are marginal at that number, tests take models, or kinds of fault, as their sample.
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
)
from codestress.report.findings import Finding, points, span
from codestress.report.published import published_cells
from codestress.types import LANGUAGE_NAMES

RETURNS = "MisplacedReturn"
"""The one kind whose public labels are all right."""


def cells(confidence: float) -> pd.DataFrame:
    """Table II: language, fault, label, of (tasks), share, low, high (Wilson, each `A_PROGRAM` tasks counting once),
    flag (where Figure 7 contradicts it)."""
    table = published_localization(confidence).eval("share = value / 100")
    return table[["language", "fault", "label", "of", "flag", "share", "low", "high"]]


def returns(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Misplaced returns against the other three kinds together, by model, from `cells`; contradicted cells left out.

    Columns: language, label, returns, others (shares), difference, low, high (returns - others; Newcombe, marginal).
    """
    rows = []
    for (language, label), part in table.groupby(["language", "label"], sort=False):
        one, rest = part[part["fault"] == RETURNS], part[part["fault"] != RETURNS]
        if (one["flag"] != "").any():
            continue
        share, n = float(one["share"].iloc[0]), float(one["of"].iloc[0])
        others, of = float((rest["share"] * rest["of"]).sum() / rest["of"].sum()), float(rest["of"].sum())
        interval = newcombe(others, of / (3 * A_PROGRAM), share, n / A_PROGRAM, confidence)
        rows.append((language, label, share, others, share - others, *interval))
    return pd.DataFrame(rows, columns=["language", "label", "returns", "others", "difference", "low", "high"])


def kept(confidence: float) -> pd.DataFrame:
    """Figure 7 by model and language: language, label, total, localized, after (counts), found (localized of all), kept
    (after of localized), with found_low to kept_high (Wilson; so many tasks count once as a program has on average)."""
    counts = published_counts().rename(columns={"pf_localized": "localized", "pf_spm_localized": "after"})
    programs = counts["language"].map(
        published_cells("faultloc/fig05", "language", "lines").groupby("language")["value"].sum()
    )
    a_program = counts["total"] / programs
    found, left = counts["localized"] / counts["total"], counts["after"] / counts["localized"]
    table = counts.assign(found=found, kept=left)
    for name, share, n in (("found", found, programs), ("kept", left, counts["localized"] / a_program)):
        ends = [wilson(one * of, of, confidence) for one, of in zip(share, n, strict=True)]
        table[f"{name}_low"], table[f"{name}_high"] = [one.low for one in ends], [one.high for one in ends]
    return table


def quarters(confidence: float) -> pd.DataFrame:
    """Figure 9's fall from the first quarter to the last by kind of fault: fault, first, last, fall, low, high.

    Newcombe's, marginal, as if it counted the public Python tasks of each quarter, `A_PROGRAM` of which count once: the
    paper does not print its numbers of tasks.
    """
    heat = published_heat().pivot_table(index="row", columns="column", values="accuracy", sort=False)
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
    """How much further the accuracy of misplaced returns falls than the mean of the others, from `quarters()`: the
    ends of independent intervals put together (MOVER, Donner and Zou 2012)."""
    one, rest = table[table["fault"] == RETURNS].iloc[0], table[table["fault"] != RETURNS]
    value = float(one["fall"] - rest["fall"].mean())
    below, above = ((rest["fall"] - rest["low"]) / len(rest), (rest["high"] - rest["fall"]) / len(rest))
    down = math.hypot(one["fall"] - one["low"], *above)
    up = math.hypot(one["high"] - one["fall"], *below)
    return value, Interval(value - down, value + up)


def over_models(returning: pd.DataFrame, counts: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """The tests, paired across models: question, difference, low, high (Student), p (exact sign flips), more (models
    with a positive difference), models, p_holm (over all), decided."""
    wide = counts.pivot_table(index="label", columns="language", values=["found", "kept"])
    differences = {
        f"{RETURNS} - other faults, {LANGUAGE_NAMES[str(language)]}": part["difference"]
        for language, part in returning.groupby("language", sort=False)
    } | {
        "localized of all tasks, Python - Java": wide["found"]["python"] - wide["found"]["java"],
        "localized after mutations too, Python - Java": wide["kept"]["python"] - wide["kept"]["java"],
    }
    rows = []
    for question, values in differences.items():
        found = mean_difference(values, confidence)
        more = int((values > 0).sum())
        rows.append((question, found.value, *found.interval, found.p_value, more, found.models))
    frame = pd.DataFrame(rows, columns=["question", "difference", "low", "high", "p", "more", "models"])
    return with_holm(frame)


# --- findings -----------------------------------------------------------------------------------------------------

STUDENT, FLIPS = "Student, paired across models", "exact sign flips of each model's difference"
MODELS = "Ten models of seven families are no sample of models at large"


def findings(
    table: pd.DataFrame, means: pd.DataFrame, fall: pd.DataFrame, counts: pd.DataFrame, confidence: float
) -> list[Finding]:
    """What stands first, from the tables of this module."""
    family = f"Holm over {len(means)} tests, level {LEVEL}"
    returning, languages = means.iloc[:-2], means.iloc[-2:]
    shares = counts.groupby("language")[["found", "kept"]].mean()
    return [
        _table(table, confidence),
        Finding(
            f"{RETURNS}, the one kind whose public labels are right, against the other kinds: {_told(returning)}.",
            FLIPS,
            STUDENT,
            family,
            "Table II counts tasks that at least one model localizes, which lifts every share and depends on the kind "
            "of fault. Labels were counted in Python alone; two cells of Java that Figure 7 contradicts are left out. "
            f"{MODELS}.",
        ),
        _quarters(fall),
        Finding(
            f"By language (Figure 7): models localize {100 * shares['found']['python']:.1f} % of Python's tasks and "
            f"{100 * shares['found']['java']:.1f} % of Java's, and of those {100 * shares['kept']['python']:.1f} and "
            f"{100 * shares['kept']['java']:.1f} % after mutations too. {_told(languages)}.",
            FLIPS,
            STUDENT,
            family,
            "How many mutations a task had to survive is not said, GPT-4o's counts of Java have fewer tasks, and the "
            f"languages differ in programs, their length and their descriptions. {MODELS}.",
        ),
    ]


def _told(means: pd.DataFrame) -> str:
    return "; ".join(
        f"{row.question} {points(row.difference)} points {span(row.low, row.high)}, {row.more} of {row.models} models "
        f"above 0, {'decided' if row.decided else 'nothing is shown'} (p by Holm {row.p_holm:.3f})"
        for row in means.itertuples()
    )


def _table(table: pd.DataFrame, confidence: float) -> Finding:
    told = []
    for (language, fault), part in table[table["flag"] == ""].groupby(["language", "fault"], sort=False):
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
        f"it has more. {int((table['flag'] != '').sum())} cells that Figure 7 contradicts are left out.",
    )


def _quarters(fall: pd.DataFrame) -> Finding:
    told = [f"{row.fault} {100 * row.fall:.0f} {span(row.low, row.high)}" for row in fall.itertuples()]
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
