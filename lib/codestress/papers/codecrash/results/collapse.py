"""CodeCrash: answers that doubt themselves more and more often (section 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import DOUBTED
from codestress.papers.codecrash.reasoning import STAGES, collapse_start, doubts, stage_starts, thinking
from codestress.papers.codecrash.studies import MESSAGES
from codestress.seeding import rng
from codestress.types import CHARACTERS_PER_TOKEN, Response

GROWTHS = 400
"""Courses that are drawn of a curve, to see how far it lies from its points by chance."""


class Growth(NamedTuple):
    """Least-squares fits of y over x (n,): c0 + c1 x + c2 x², and a line."""

    c0: float
    c1: float
    c2: float
    r2_quadratic: float
    r2_linear: float


def fit_growth(x: ArrayLike, y: ArrayLike) -> Growth:
    """Fits both curves; nan where there are fewer than four points or all y are equal."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    total = float(((ys - ys.mean()) ** 2).sum()) if ys.size else 0.0
    if ys.size < 4 or total == 0:
        return Growth(*[math.nan] * 5)
    scale = float(np.abs(xs).max()) or 1.0  # x² of token counts would be 10^9
    design = np.vander(xs / scale, 3, increasing=True)
    coefficients, *_ = np.linalg.lstsq(design, ys, rcond=None)
    residual = ys - design @ coefficients
    line, *_ = np.linalg.lstsq(design[:, :2], ys, rcond=None)
    c0, c1, c2 = (float(c) / scale**power for power, c in enumerate(coefficients))
    return Growth(
        *(c0, c1, c2),
        1 - float(residual @ residual) / total,
        1 - float(((ys - design[:, :2] @ line) ** 2).sum()) / total,
    )


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


@dataclass(frozen=True)
class Collapse:
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
    growth: Growth
    lacks: Mapping[str, float]
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

    if answers.empty:
        raise ValueError("no answers")
    row: Any = max(answers.itertuples(), key=rank)
    text = texts[row.key].text
    start = collapse_start(text)
    thought = text[:start] if start is not None else (thinking(text) or text)
    factors = {"source": row.dataset, "language": row.language, "perturbation": row.perturbation}
    factors["density"] = row.density if row.perturbation in MESSAGES else 1.0
    places = [place / 4 for place in doubts(thought)]
    curve = pd.DataFrame({"tokens": [0.0, *places], "doubts": range(len(places) + 1)})
    return Collapse(
        row.model,
        row.problem,
        row.perturbation,
        -(-len(text) // 4),
        None if start is None else start // 4,
        curve,
        fit_growth(curve["tokens"], curve["doubts"]),
        {name: lack_of_growth(curve["tokens"], degree, rng(0, name)) for name, degree in DEGREES.items()},
        text if start is not None else thought,
        factors,
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


PAPER_STAGES = dict(zip(STAGES, ("1", "2", "3 and 4", "5", "6"), strict=True))
"""Those of Appendix F.6 that a rule's stage takes the place of."""


DEGREES = {"quadratic": 2, "line": 1}


def growth_table(collapse: Collapse) -> pd.DataFrame:
    """The fit of `doubts` over tokens in one row."""
    shown = {name: getattr(collapse, name) for name in ("model", "problem", "perturbation", "tokens", "collapse_at")}
    lacks = {f"lack_of_fit_{name}": lack for name, lack in collapse.lacks.items()}
    return pd.DataFrame([shown | {"doubts": int(collapse.curve["doubts"].max())} | collapse.growth._asdict() | lacks])


def describe_collapse(collapse: Collapse) -> str:
    """The figure in words."""
    fate = "it does not collapse"
    if collapse.collapse_at is not None:
        fate = f"from token {collapse.collapse_at:,} on it repeats one unit to its end"
    return (
        f"{collapse.model} on {collapse.problem} under {collapse.perturbation}: {collapse.tokens:,} tokens, "
        f"{int(collapse.curve['doubts'].max())} words of doubt; {fate}. R² of the quadratic "
        f"{collapse.growth.r2_quadratic:.3f}, of a line {collapse.growth.r2_linear:.3f}."
        + "".join(f" A {name} does not describe the points." for name, p in collapse.lacks.items() if p < DOUBTED)
    )
