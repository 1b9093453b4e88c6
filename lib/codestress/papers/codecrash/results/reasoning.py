"""CodeCrash: accuracy and reasoning tokens of reasoning models (Table 4), and responses with
growing doubt (section 3.4, Figure 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.influence import share
from codestress.fitting.proportions import clustered_mean
from codestress.report.published import published_models, published_numbers
from codestress.scoring.forms import split_thoughts
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Response

from ..reasoning import (
    collapse_start,
    doubts,
    reasoning_tokens,
)
from .conditions import (
    CELL,
    NAMES,
    cells,
    most_and_least,
    named,
    question_counts,
)
from .differences import (
    HEADLINE,
    INDEPENDENT,
    POINTS,
    estimate_row,
    free_of,
    in_panels,
    paired_differences,
    paired_scores,
)

GROWTHS = 400
"""Number of curves that are drawn to see how far a fit lies from its points by chance."""
DEGREES = {"quadratic": 2, "line": 1}


def with_reasoning(
    answers: pd.DataFrame, texts: Mapping[str, Response]
) -> pd.DataFrame:
    """Returns the answers with the columns `reasoning_tokens` (nan where the request failed) and
    `collapsed` (whether the response ends in endless repetition). `texts` are responses by key."""
    tokens = {key: reasoning_tokens(response) for key, response in texts.items()}
    starts = {key: collapse_start(response.text) for key, response in texts.items()}
    keys = answers["key"]
    return answers.assign(
        reasoning_tokens=keys.map(tokens).astype(float),
        collapsed=keys.map(starts).notna(),
    )


def reasoning_table(
    answers: pd.DataFrame, *, rule: str, confidence: float
) -> pd.DataFrame:
    """Returns Table 4, a row for each condition. `answers` come from `with_reasoning`, `rule` is
    the scoring rule.

    Columns: `CELL` (the condition), n (answers), problems, questions, independent, pass_at_1_pct (0
    to 100), points (difference to vanilla; nan without a problem of both) and average_tokens (of
    reasoning) with intervals at `confidence`, most_tokens, collapses (their number).
    """
    table = paired_differences(paired_scores(answers, rule), confidence)
    paired = table.reindex(columns=[*CELL, *POINTS]).set_index(CELL).to_dict("index")
    rows = []
    for row, part in cells(answers):
        unpaired = 0.0 if row["perturbation"] == "VAN" else math.nan
        points = paired.get(tuple(row.values()), dict.fromkeys(POINTS, unpaired))
        known = part.dropna(subset="reasoning_tokens")
        spent = known["reasoning_tokens"]
        tokens = clustered_mean(spent, known["question"], confidence=confidence)
        row["n"] = len(part)
        row["problems"] = part["problem"].nunique()
        row |= question_counts(part["question"])
        row["pass_at_1_pct"] = 100 * part[f"value_{rule}"].mean()
        row |= points
        row["average_tokens"] = tokens.value
        row["tokens_low"], row["tokens_high"] = tokens.interval
        row["most_tokens"] = int(spent.max()) if len(known) else math.nan
        row["collapses"] = part["collapsed"].sum()
        rows.append(row)
    return pd.DataFrame(rows)


def token_growth(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Returns the ratio of reasoning tokens under a perturbation to those on vanilla programs
    (section 3.4 (i)): sums over the same problems, with intervals at `confidence` over questions.
    `answers` come from `with_reasoning`.

    Columns: model, dataset, perturbation, problems, questions, times (the ratio), low, high. Empty
    where vanilla programs were not asked.
    """
    columns = ["model", "dataset", "perturbation", "problems", "questions"]
    by = ["model", "dataset", "question", "problem"]
    spent = answers.pivot_table("reasoning_tokens", by, "perturbation", sort=False)
    rows = []
    for perturbation in spent.columns.drop("VAN") if "VAN" in spent else ():
        both = spent[[perturbation, "VAN"]].dropna().reset_index()
        for cell, part in both.groupby(["model", "dataset"], sort=False):
            tokens = part.set_index("question")
            ratio = share(tokens[perturbation], tokens["VAN"])
            row = dict(zip(columns, (*cell, perturbation), strict=False))
            rows.append(row | estimate_row(ratio, part, confidence))
    table = pd.DataFrame(rows, columns=[*columns, "value", "low", "high"])
    return table.rename(columns={"value": "times"})


def token_headline(growth: pd.DataFrame) -> str:
    """Returns the title of Table 4's figure, from the result of `token_growth`: under which
    perturbations thought grows."""
    times = growth.set_index("perturbation")["times"]
    return most_and_least(times, "Thought grows", "{:.1f} times")


def published_reasoning() -> pd.DataFrame:
    """Returns the paper's Table 4, read from a picture of it, a row for each model, data set and
    perturbation. Columns: label, dataset, perturbation, pass_at_1_pct (0 to 100), points
    (difference to vanilla), average_tokens, most_tokens."""
    numbers = published_numbers("codecrash/tab04") or {"values": {}}
    rows = []
    for label, datasets in numbers["values"].items():
        for dataset, (vanilla, *others) in datasets.items():
            triples = np.reshape([0.0, *others], (5, 3))
            for name, triple in zip(("VAN", *HEADLINE), triples, strict=True):
                rows.append((label, dataset, name, vanilla + triple[0], *triple))
    columns = ["label", "dataset", "perturbation"]
    numbers_of = ["pass_at_1_pct", "points", "average_tokens", "most_tokens"]
    return pd.DataFrame(rows, columns=[*columns, *numbers_of])


def published_claims(published: pd.DataFrame) -> pd.DataFrame:
    """Returns the cells of `published_reasoning` with the columns by which the ledger compares
    them: model, n (independent answers), dataset_name, free (parameters that may deviate); vanilla rows have no
    difference (nan)."""
    return published.assign(
        model=published["label"].map(published_models("codecrash")),
        n=published["dataset"].map(INDEPENDENT),
        dataset_name=published["dataset"].map(NAMES),
        points=published["points"].where(published["perturbation"] != "VAN"),
        free=published["perturbation"].map(free_of),
    )


def token_points(
    table: pd.DataFrame, published: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns both tables that `token_dots` draws: the points of `table`, the result of
    `reasoning_table` (model, panel, condition, cell, average, low, high, hollow: the maximum), and
    those of `published`, the result of `published_reasoning` (the same, without intervals, and
    beside: the data set's name), in the panels of their data sets (`in_panels`)."""
    names = {
        "average_tokens": "average",
        "tokens_low": "low",
        "tokens_high": "high",
        "most_tokens": "hollow",
    }
    drawn = named(table).rename(columns=names)
    theirs = in_panels(published, drawn, ["dataset"]).rename(columns=names)
    theirs["condition"] = theirs["perturbation"]
    theirs["model"] = theirs["label"].map(published_models("codecrash"))
    axes = ["model", "panel", "condition"]
    points = drawn[[*axes, "cell", *names.values()]]
    return points, theirs[[*axes, "average", "hollow", "beside"]]


def fit_growth(x: ArrayLike, y: ArrayLike) -> dict[str, float]:
    """Returns least-squares fits of `y` (n,) over `x` (n,), with c0 + c1 x + c2 x² and with a line,
    as a dict with c0, c1, c2, r2_quadratic and r2_linear (the shares of variance that the fits
    explain); all are nan with fewer than four points."""
    names = ("c0", "c1", "c2", "r2_quadratic", "r2_linear")
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if ys.size < 4:
        return dict.fromkeys(names, math.nan)
    fits = [np.polyfit(xs, ys, degree) for degree in DEGREES.values()]
    explained = [1 - np.var(ys - np.polyval(fit, xs)) / np.var(ys) for fit in fits]
    numbers = map(float, (*fits[0][::-1], *explained))
    return dict(zip(names, numbers, strict=True))


def lack_of_growth(x: ArrayLike, degree: int, random: np.random.Generator) -> float:
    """Returns the p-value for the fit of a polynomial of degree `degree` to the counts 0, 1, … at
    the places `x` (n,), which begin at 0: small where the polynomial does not describe the counts.
    nan with fewer than four counts.

    Cumulative counts depend on each other, so no test of independent residuals holds. The test
    takes their largest distance from the polynomial, and compares this distance with the distances
    of drawn counts (by `random`) from polynomials fitted to them. The drawn counts follow a Poisson
    process with the polynomial's slope as its rate, given its last event. In simulations, a true
    curve is doubted in about 5 of 100 studies.
    """
    places = np.asarray(x, dtype=float)
    if places.size < 4:
        return math.nan
    places = places / places[-1]
    counts = np.arange(places.size)

    def fitted(places: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        polynomial = np.polyfit(places, counts, degree)
        return polynomial, float(np.abs(np.polyval(polynomial, places) - counts).max())

    polynomial, found = fitted(places)
    grid = np.linspace(0, 1, 1001)
    rates = np.maximum(np.polyval(np.polyder(polynomial), grid), 0)
    expected = np.concatenate([[0.0], np.cumsum(rates[1:] + rates[:-1])])
    between = np.sort(random.random((GROWTHS, places.size - 2)), axis=1)
    drawn = np.interp(between, expected / expected[-1], grid)
    others = [fitted(np.concatenate([[0.0], row, [1.0]]))[1] for row in drawn]
    return float((1 + np.sum(np.array(others) >= found)) / (1 + GROWTHS))


class Collapse(NamedTuple):
    """One response of a model, chosen by `doubt_curve`, with the places of its words of doubt."""

    model: str
    problem: str
    perturbation: str
    tokens: int
    """Length of the whole response, at four characters a token."""
    collapse_at: int | None
    """Token at which the response begins to repeat one unit until its end; None without a collapse.
    """
    curve: pd.DataFrame
    """Columns: tokens (place in the response), doubts (number of words of doubt up to that place).
    """
    text: str
    """Reasoning of the response; the whole response where it collapses."""


def doubt_curve(answers: pd.DataFrame, texts: Mapping[str, Response]) -> Collapse:
    """Returns, as `Collapse`, the longest response in `answers` that ends in endless repetition;
    without one, the response with most words of doubt. Failed requests, which `texts` (responses by
    key) lacks, are left out; raises `ValueError` where no response is left."""
    answers = answers[answers["key"].isin(list(texts))]

    def rank(row: Any) -> tuple[bool, int]:
        text = texts[row.key].text
        collapses = collapse_start(text) is not None
        return collapses, len(text) if collapses else len(doubts(text))

    row: Any = max(answers.itertuples(), key=rank)
    text = texts[row.key].text
    start = collapse_start(text)
    thought = text if start is not None else split_thoughts(text).thoughts or text
    places = [place / CHARACTERS_PER_TOKEN for place in doubts(thought[:start])]
    curve = pd.DataFrame({"tokens": [0.0, *places], "doubts": range(1 + len(places))})
    return Collapse(
        row.model,
        row.problem,
        row.perturbation,
        -(-len(text) // CHARACTERS_PER_TOKEN),
        None if start is None else start // CHARACTERS_PER_TOKEN,
        curve,
        thought,
    )


def growth_table(collapse: Collapse) -> pd.DataFrame:
    """Returns a table with one row about the response `collapse`: model, problem, perturbation,
    tokens, collapse_at, doubts (their number), the numbers of `fit_growth`, and a p-value of each
    fit (lack_of_fit_…; small where the fit does not describe the growth)."""
    row = collapse._asdict()
    del row["curve"], row["text"]
    places, counts = collapse.curve["tokens"], collapse.curve["doubts"]
    row["doubts"] = counts.max()
    row |= fit_growth(places, counts)
    for name, degree in DEGREES.items():
        lack = lack_of_growth(places, degree, rng(0, name))
        row[f"lack_of_fit_{name}"] = lack
    return pd.DataFrame([row])


def collapse_headline(collapse: Collapse) -> str:
    """Returns the title of the figure of the response `collapse`: how many of its words of doubt
    stand in the second half, and how it ends."""
    places = collapse.curve["tokens"][1:]
    if places.empty:
        return f"{collapse.model} writes no word of doubt"
    late = (places > places.max() / 2).mean()
    words = f"{100 * late:.0f} % of {collapse.model}'s {len(places)} words of doubt"
    end = "" if collapse.collapse_at is None else ", then it repeats itself to the end"
    return f"{words} come in the second half{end}"
