"""Sense and Sensitivity: tables of its figures, the paper's own numbers beside the regenerated ones."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from codestress.fitting.bootstrap import cluster_bootstrap_mean
from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.summaries import summarize
from codestress.report.claims import Claim
from codestress.report.published import published_numbers
from codestress.seeding import rng

# --- Figures 5 and 6: line removal ----------------------------------------------------------------------------------


def with_share_removed(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `share_removed`: lines removed of those that may be, 0 to 1, equal where the fractions are."""
    return answers.assign(share_removed=(answers["removed"] / answers["lines"]).round(9))


def accuracy_by_share(
    answers: pd.DataFrame, *, confidence: float, resamples: int, seed: int, rule: str = "strict"
) -> pd.DataFrame:
    """One row for each model and exact share of lines removed, smallest first, as `summarize` makes them."""
    ordered = with_share_removed(answers).sort_values("share_removed", kind="stable")
    return summarize(
        ordered, by=["model", "share_removed"], rule=rule, confidence=confidence, resamples=resamples, seed=seed
    )


def fit_removal(
    answers: pd.DataFrame,
    *,
    trend: str,
    weighted: bool,
    confidence: float,
    resamples: int,
    seed: int,
    rule: str = "strict",
) -> dict[str, ExponentialFit]:
    """For each model, the exponential through its accuracies; programs are resampled, not their versions."""
    fits = {}
    for model, part in with_share_removed(answers).groupby("model", sort=False):
        cells = part.groupby(["problem", "share_removed"])[f"value_{rule}"].agg(["sum", "count"])
        right, asked = (cells[column].unstack(fill_value=0).sort_index(axis=1) for column in ("sum", "count"))
        fits[str(model)] = fit_exponential(
            right.columns.to_numpy(float),
            right.to_numpy(float),
            asked.to_numpy(float),
            floor=trend == "exponential_with_floor",
            weighted=weighted,
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "removal", str(model)),
        )
    return fits


def fit_table(fits: dict[str, ExponentialFit]) -> pd.DataFrame:
    """A row for each model: height, rate, floor and half-life (share of lines removed) with intervals, r_squared,
    loss_at_half: what share of the curve's value at 0 is lost when half of the lines are, and failed resamples."""
    return pd.DataFrame(
        [
            {
                "model": model,
                "height": fit.height,
                "height_low": fit.height_interval.low,
                "height_high": fit.height_interval.high,
                "rate": fit.rate,
                "rate_low": fit.rate_interval.low,
                "rate_high": fit.rate_interval.high,
                "floor": fit.floor,
                "floor_low": fit.floor_interval.low,
                "floor_high": fit.floor_interval.high,
                "half_life": fit.half_life,
                "half_life_low": fit.half_life_interval.low,
                "half_life_high": fit.half_life_interval.high,
                "loss_at_half": 1 - float(fit.at([0.5])[0] / fit.at([0.0])[0]),
                "r_squared": fit.r_squared,
                "failed_resamples": fit.failed,
            }
            for model, fit in fits.items()
        ]
    )


def fitted_curves(fits: dict[str, ExponentialFit], confidence: float) -> pd.DataFrame:
    """The curves to draw: model, share_removed (0 to 1 in 101 steps), share, low, high (pointwise band)."""
    x = np.linspace(0, 1, 101)
    parts = []
    for model, fit in fits.items():
        low, high = fit.band(x, confidence)
        parts.append(pd.DataFrame({"model": model, "share_removed": x, "share": fit.at(x), "low": low, "high": high}))
    return pd.concat(parts, ignore_index=True)


def recall_sensitivity(
    answers: pd.DataFrame, *, epsilon: float, confidence: float, resamples: int, seed: int, rule: str = "strict"
) -> pd.DataFrame:
    """Equation 5 for each model: the mean over a program's incomplete versions of (R(C) - R(C_inc)) / (R(C) + epsilon).

    Where the complete program is answered wrongly the quotient is 0 or about -1/epsilon, which says nothing of recall;
    those programs are counted in `complete_wrong` and left out of the mean. Columns: model, sensitivity, low, high,
    programs, complete_wrong.
    """
    value = f"value_{rule}"
    rows = []
    for model, part in answers.groupby("model", sort=False):
        complete = part[part["removed"] == 0].groupby("problem")[value].mean()
        incomplete = part[part["removed"] > 0].groupby("problem")[value].mean()
        loss = (complete - incomplete) / (complete + epsilon)
        known = loss[complete > 0].dropna()
        estimate = cluster_bootstrap_mean(
            known.to_numpy(),
            known.index.to_numpy(),
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "sensitivity", str(model)),
        )
        rows.append(
            {
                "model": model,
                "sensitivity": estimate.value,
                "low": estimate.interval.low,
                "high": estimate.interval.high,
                "programs": len(known),
                "complete_wrong": int((complete == 0).sum()),
            }
        )
    return pd.DataFrame(rows)


def published_drop(artefact: str) -> tuple[float, float] | None:
    """Share of lines removed and accuracy of the one point that the paper states, both 0 to 1."""
    numbers = published_numbers(artefact)
    if not numbers:
        return None
    return numbers["smallest_share_removed_pct"] / 100, 1 - numbers["drop_points"] / 100


def removal_claims(artefact: str, table: pd.DataFrame, answers: pd.DataFrame, paper_data: bool) -> list[Claim]:
    """The statements of appendix B and section 3.4 about the interpreter, decided only on the paper's own programs."""
    numbers = published_numbers(artefact)
    if not numbers:
        return []
    interpreter = table[(table["model"] == "python") & (table["share_removed"] > 0)]
    if not (paper_data and len(interpreter)):
        told = "needs CRUXEval and the interpreter: problems = cruxeval, models = python"
        return [
            Claim(artefact, _DROP, numbers["drop_points"], "points", basis=told),
            Claim(artefact, _VERSIONS, numbers["versions"], "programs", basis=told),
            Claim(artefact, _BEYOND, numbers["near_zero_pct"], "%", basis=told, relation="at most"),
        ]
    first = interpreter.iloc[0]
    drop, low, high = (100 * (1 - first[column]) for column in ("share", "high", "low"))
    python = with_share_removed(answers[answers["model"] == "python"])
    single = python[python["removed"] == 1]
    beyond = python[python["share_removed"] > 0.2]
    by_program = beyond.groupby("problem")["value_strict"]
    far = cluster_bootstrap_mean(
        beyond["value_strict"].to_numpy(), beyond["problem"].to_numpy(), rng=rng(0, "beyond a fifth")
    )
    of_smallest = (
        f"{first['asked']} versions without {first['share_removed']:.2%} of their lines, the smallest share; all "
        f"{len(single):,} versions without one line: {100 - 100 * single['value_strict'].mean():.2f} points"
    )
    return [
        Claim(artefact, _DROP, numbers["drop_points"], "points", drop, low, high, of_smallest),
        Claim(artefact, _VERSIONS, numbers["versions"], "programs", len(python), len(python), len(python), "counted"),
        Claim(
            artefact,
            _BEYOND,
            numbers["near_zero_pct"],
            "%",
            100 * far.value,
            100 * far.interval.low,
            100 * far.interval.high,
            f"{len(beyond):,} versions of {by_program.ngroups} programs",
            "at most",
        ),
    ]


_DROP = "appendix B: the interpreter's accuracy falls when one line is removed"
_VERSIONS = "section 3.4: versions of CRUXEval's functions, all combinations of lines"
_BEYOND = (
    "appendix B: the interpreter's accuracy with more than 20 % of lines removed approaches zero (read as at most 5 %)"
)


def describe_removal(table: pd.DataFrame, fits: dict[str, ExponentialFit]) -> str:
    """The figure in words."""
    parts = []
    for model, part in table.groupby("model", sort=False):
        fit = fits[str(model)]
        first = part[part["share_removed"] > 0].iloc[0]
        half = "never" if math.isinf(fit.half_life) else f"at {fit.half_life:.1%}"
        parts.append(
            f"{model}: {part['share'].iloc[0]:.1%} right with all lines, {first['share']:.1%} without "
            f"{first['share_removed']:.1%} of them; the fitted exponential has fallen to half {half}"
        )
    return "Accuracy of output prediction against the share of lines removed. " + ". ".join(parts) + "."
