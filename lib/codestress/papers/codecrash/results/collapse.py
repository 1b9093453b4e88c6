"""CodeCrash: answers that doubt themselves more and more often (section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from codestress.papers.codecrash.growth import Growth, fit_growth
from codestress.scoring.reasoning import collapse_start, doubts, thinking
from codestress.types import Response


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


def doubt_curve(answers: pd.DataFrame, texts: Mapping[str, Response]) -> Collapse:
    """The longest response that collapses; where none does, the one with most words of doubt."""
    best: tuple[tuple[bool, int], Any] | None = None
    for row in answers.itertuples():
        text = texts[row.key].text
        start = collapse_start(text)
        rank = (start is not None, len(text) if start is not None else len(doubts(text)))
        if best is None or rank > best[0]:
            best = (rank, row)
    if best is None:
        raise ValueError("no answers")
    row = best[1]
    text = texts[row.key].text
    start = collapse_start(text)
    thought = text[:start] if start is not None else (thinking(text) or text)
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
    )


def growth_table(collapse: Collapse) -> pd.DataFrame:
    """The fit of `doubts` over tokens in one row."""
    c0, c1, c2 = collapse.growth.quadratic
    return pd.DataFrame(
        [
            {
                "model": collapse.model,
                "problem": collapse.problem,
                "perturbation": collapse.perturbation,
                "tokens": collapse.tokens,
                "collapse_at": collapse.collapse_at,
                "doubts": int(collapse.curve["doubts"].max()),
                "c0": c0,
                "c1": c1,
                "c2": c2,
                "c2_error": collapse.growth.curvature_error,
                "r2_quadratic": collapse.growth.r2_quadratic,
                "r2_linear": collapse.growth.r2_linear,
            }
        ]
    )


def describe_collapse(collapse: Collapse) -> str:
    """The figure in words."""
    fate = "it does not collapse"
    if collapse.collapse_at is not None:
        fate = f"from token {collapse.collapse_at:,} on it repeats one unit to its end"
    return (
        f"{collapse.model} on {collapse.problem} under {collapse.perturbation}: {collapse.tokens:,} tokens, "
        f"{int(collapse.curve['doubts'].max())} words of doubt; {fate}. R² of the quadratic "
        f"{collapse.growth.r2_quadratic:.3f}, of a line {collapse.growth.r2_linear:.3f}."
    )
