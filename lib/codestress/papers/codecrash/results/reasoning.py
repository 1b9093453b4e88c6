"""CodeCrash: reasoning models: accuracy and the tokens that they think (Table 4), and answers that doubt themselves
more and more often (section 5, Figure 3)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.influence import share
from codestress.fitting.proportions import DOUBTED, clustered_mean
from codestress.papers.codecrash.reasoning import (
    STAGES,
    collapse_start,
    doubts,
    reasoning_tokens,
    stage_starts,
    thinking,
)
from codestress.papers.codecrash.results.conditions import CELL, NAMES, cells, named, own_panel, told
from codestress.papers.codecrash.results.differences import HEADLINE, POINTS, QUESTIONS, differences
from codestress.papers.codecrash.studies import MESSAGES
from codestress.report.published import published_models, published_numbers
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Response

GROWTHS = 400
"""Courses that are drawn of a curve, to see how far it lies from its points by chance."""
DEGREES = {"quadratic": 2, "line": 1}
PAPER_STAGES = dict(zip(STAGES, ("1", "2", "3 and 4", "5", "6"), strict=True))
"""Those of Appendix F.6 that a rule's stage takes the place of."""


def with_reasoning(answers: pd.DataFrame, texts: Mapping[str, Response]) -> pd.DataFrame:
    """The answers with `reasoning_tokens` (nan where the request failed), `collapsed` (whether the response ends in
    endless repetition)."""
    responses = [texts.get(key) for key in answers["key"]]
    return answers.assign(
        reasoning_tokens=[reasoning_tokens(one) if one else math.nan for one in responses],
        collapsed=[one is not None and collapse_start(one.text) is not None for one in responses],
    )


def reasoning_table(answers: pd.DataFrame, *, rule: str, confidence: float) -> pd.DataFrame:
    """Table 4: for each model, data set and perturbation Pass@1, the difference to vanilla in points with interval,
    reasoning tokens (mean with interval, maximum; `true_tokens`: their mean in truth) and collapses. `answers` as
    `with_reasoning` makes them, with `true_lengths`."""
    table = differences(answers, rule=rule, confidence=confidence)
    points = table.set_index(CELL)[[*POINTS]].to_dict("index")
    rows = []
    for cell, part in cells(answers):
        known = part[part["reasoning_tokens"].notna()]
        spent = known["reasoning_tokens"]
        mean, (low, high), *_ = clustered_mean(spent, known["question"], confidence=confidence)
        rows.append(
            cell
            | {"n": len(part), "problems": part["problem"].nunique(), "questions": part["question"].nunique()}
            | {"pass_at_1_pct": 100 * part[f"value_{rule}"].mean()}
            | points.get(tuple(cell.values()), dict.fromkeys(POINTS, 0.0))
            | {"average_tokens": mean, "tokens_low": low, "tokens_high": high}
            | {"true_tokens": known["true_thought"].mean(skipna=False) if "true_thought" in known else math.nan}
            | {"most_tokens": int(spent.max()) if len(known) else math.nan, "collapses": int(part["collapsed"].sum())}
        )
    return pd.DataFrame(rows)


def token_growth(answers: pd.DataFrame, published: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """How many times as many tokens a perturbation makes a model think as vanilla programs do (section 3.4 (i)): the
    ratio of sums over the same problems, questions counted once; then the paper's, from Table 4.

    Columns: source (regenerated, published), model, dataset, perturbation, problems, questions, times, low, high.
    """
    rows: list[tuple[object, ...]] = []
    known = answers.dropna(subset="reasoning_tokens")
    for (model, dataset), part in known.groupby(["model", "dataset"], sort=False):
        by = ["problem", "question"]
        spent = part.pivot_table("reasoning_tokens", by, "perturbation", sort=False).droplevel("problem")
        for perturbation in spent.columns.drop("VAN") if "VAN" in spent else ():
            both = spent[[perturbation, "VAN"]].dropna()
            if len(both):
                found, questions = share(both[perturbation], both["VAN"]), both.index.nunique()
                numbers = (found.value, *found.interval(questions, confidence))
                rows.append(("regenerated", model, dataset, perturbation, len(both), questions, *numbers))
    columns = ["source", "model", "dataset", "perturbation", "problems", "questions", "times", "low", "high"]
    vanilla = published.groupby(["label", "dataset"])["average_tokens"].transform("first")
    theirs = published.assign(source="published", model=published["label"], times=published["average_tokens"] / vanilla)
    return pd.concat([pd.DataFrame(rows, columns=columns), theirs[theirs["perturbation"] != "VAN"]])[columns]


def published_reasoning() -> pd.DataFrame:
    """The paper's Table 4, read from a picture of it. Columns: label, dataset, perturbation, pass_at_1_pct, points,
    average_tokens, most_tokens."""
    numbers = published_numbers("codecrash/tab04") or {"values": {}}
    rows = [
        (label, dataset, name, vanilla + points, points, average, most)
        for label, datasets in numbers["values"].items()
        for dataset, (vanilla, *others) in datasets.items()
        for name, (points, average, most) in zip(("VAN", *HEADLINE), np.reshape([0.0, *others], (5, 3)), strict=True)
    ]
    columns = ["label", "dataset", "perturbation", "pass_at_1_pct", "points", "average_tokens", "most_tokens"]
    return pd.DataFrame(rows, columns=columns)


def published_claims(published: pd.DataFrame) -> pd.DataFrame:
    """The paper's cells for the ledger: vanilla is no difference."""
    return published.assign(
        model=published["label"].map(published_models("codecrash")),
        questions=published["dataset"].map(QUESTIONS),
        dataset_name=published["dataset"].map(NAMES),
        points=published["points"].where(published["perturbation"] != "VAN"),
    )


def token_points(table: pd.DataFrame, published: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What `token_dots` draws: the regenerated points and the paper's, in panels of their own data sets."""
    names = {"average_tokens": "average", "tokens_low": "low", "tokens_high": "high", "most_tokens": "most"}
    renamed = named(table).rename(columns={**names, "true_tokens": "true"})
    points = renamed[["model", "panel", "condition", *names.values(), "true"]]
    panels = named(table).drop_duplicates("dataset").set_index("dataset")["panel"].to_dict()
    theirs = published.rename(columns={**names, "perturbation": "condition"})
    theirs["panel"] = [panels.get(dataset, own_panel(dataset)) for dataset in theirs["dataset"]]
    return points, theirs[["panel", "condition", "average", "most"]]


def describe_reasoning(table: pd.DataFrame) -> str:
    """The figure in words."""
    form = (
        "{model}, {dataset}, {perturbation}: {average_tokens:,.0f} tokens on average, at most {most_tokens:,}, "
        "{collapses} collapses"
    )
    return told("Reasoning tokens.", table, form)


def fit_growth(x: ArrayLike, y: ArrayLike) -> dict[str, float]:
    """Least-squares fits of y over x (n,), c0 + c1 x + c2 x² and a line: c0, c1, c2, r2_quadratic and r2_linear; nan
    where there are fewer than four points."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    numbers = [math.nan] * 5
    if ys.size >= 4:
        fits = [np.polyfit(xs, ys, degree) for degree in DEGREES.values()]
        total = float(((ys - ys.mean()) ** 2).sum())
        numbers = [*fits[0][::-1], *(1 - float(((ys - np.polyval(fit, xs)) ** 2).sum()) / total for fit in fits)]
    return dict(zip(("c0", "c1", "c2", "r2_quadratic", "r2_linear"), numbers, strict=True))


def lack_of_growth(x: ArrayLike, degree: int, random: np.random.Generator) -> float:
    """p-value of a polynomial of this degree through the counts 0, 1, … at x (n,), which begin at 0: small where it
    does not describe them. nan where there are fewer than four.

    Counts up to here hang together, so that no test of independent residuals holds. Their largest distance from the
    polynomial, against the same of counts that grow by chance as the polynomial says (a Poisson process of its slope,
    given its last event) and have one fitted to them too. Simulated: a true curve is doubted in about 5 of 100 studies.
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
    """The response whose words of doubt are drawn."""

    model: str
    problem: str
    perturbation: str
    tokens: int
    """Of the whole response, at four characters each."""
    collapse_at: int | None
    """Token at which it begins to repeat one unit until its end; None where it does not."""
    curve: pd.DataFrame
    """Columns: tokens, doubts (how many words of doubt stand up to there)."""
    growth: dict[str, float]
    """`fit_growth`."""
    lacks: dict[str, float]
    """p-values of the lack of fit of its two curves."""
    text: str
    """What was thought, and what it repeats."""
    factors: Mapping[str, Any]
    """What `studies.variants` takes to make its program."""


def doubt_curve(answers: pd.DataFrame, texts: Mapping[str, Response]) -> Collapse:
    """The longest response that collapses; where none does, the one with most words of doubt. Requests that failed
    have none."""
    answers = answers[answers["key"].isin(list(texts))]

    def rank(row: Any) -> tuple[bool, int]:
        text = texts[row.key].text
        collapses = collapse_start(text) is not None
        return collapses, len(text) if collapses else len(doubts(text))

    row: Any = max(answers.itertuples(), key=rank)
    text = texts[row.key].text
    start = collapse_start(text)
    thought = text[:start] if start is not None else (thinking(text) or text)
    places = [0.0, *(place / CHARACTERS_PER_TOKEN for place in doubts(thought))]
    curve = pd.DataFrame({"tokens": places, "doubts": range(len(places))})
    density = row.density if row.perturbation in MESSAGES else 1.0
    return Collapse(
        *(row.model, row.problem, row.perturbation, -(-len(text) // CHARACTERS_PER_TOKEN)),
        None if start is None else start // CHARACTERS_PER_TOKEN,
        curve,
        fit_growth(curve["tokens"], curve["doubts"]),
        {name: lack_of_growth(curve["tokens"], degree, rng(0, name)) for name, degree in DEGREES.items()},
        text if start is not None else thought,
        {"source": row.dataset, "language": row.language, "perturbation": row.perturbation, "density": density},
    )


def stages(collapse: Collapse, answer: str, hint: str | None) -> pd.DataFrame:
    """The stages of the response (`stage_starts`): stage, paper (its stages), first_token, tokens, doubts (words of
    doubt), doubts_per_1000 (tokens); a row for each that there is."""
    starts = stage_starts(collapse.text, answer, hint)
    ends = [*list(starts.values())[1:], len(collapse.text)]
    places = doubts(collapse.text)
    rows = []
    for (stage, start), end in zip(starts.items(), ends, strict=True):
        count, tokens = sum(start <= place < end for place in places), (end - start) / CHARACTERS_PER_TOKEN
        rate = 1000 * count / tokens if tokens else math.nan
        rows.append((stage, PAPER_STAGES[stage], start // CHARACTERS_PER_TOKEN, round(tokens), count, rate))
    return pd.DataFrame(rows, columns=["stage", "paper", "first_token", "tokens", "doubts", "doubts_per_1000"])


def growth_table(collapse: Collapse) -> pd.DataFrame:
    """The fit of `doubts` over tokens in one row."""
    shown = {name: getattr(collapse, name) for name in ("model", "problem", "perturbation", "tokens", "collapse_at")}
    lacks = {f"lack_of_fit_{name}": lack for name, lack in collapse.lacks.items()}
    return pd.DataFrame([shown | {"doubts": int(collapse.curve["doubts"].max())} | collapse.growth | lacks])


def describe_collapse(collapse: Collapse) -> str:
    """The figure in words."""
    fate = "it does not collapse"
    if collapse.collapse_at is not None:
        fate = f"from token {collapse.collapse_at:,} on it repeats one unit to its end"
    return (
        f"{collapse.model} on {collapse.problem} under {collapse.perturbation}: {collapse.tokens:,} tokens, "
        f"{int(collapse.curve['doubts'].max())} words of doubt; {fate}. R² of the quadratic "
        f"{collapse.growth['r2_quadratic']:.3f}, of a line {collapse.growth['r2_linear']:.3f}."
        + "".join(f" A {name} does not describe the points." for name, p in collapse.lacks.items() if p < DOUBTED)
    )
