"""Sense and Sensitivity: answers after lines were removed, and the curves through them (Figures 5 and 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd

from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.proportions import DOUBTED, clustered_share, percentile_interval
from codestress.fitting.summaries import summarize
from codestress.report.published import published_numbers, read_published
from codestress.seeding import rng

Curve = tuple[str, str]
"""Model and task."""


def with_share_removed(answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `share_removed`: lines removed of those that may be, 0 to 1, equal where the fractions are."""
    return answers.assign(share_removed=(answers["removed"] / answers["lines"]).round(9))


def accuracy_by_share(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """One row for each model, task and exact share of lines removed, smallest first, as `summarize` makes them."""
    ordered = with_share_removed(answers).sort_values("share_removed", kind="stable")
    return summarize(ordered, by=["model", "task", "share_removed"], confidence=confidence)


def fit_removal(
    answers: pd.DataFrame,
    *,
    trend: str,
    weighted: bool,
    confidence: float,
    resamples: int,
    seed: int,
) -> dict[Curve, ExponentialFit]:
    """For each model and task, the exponential through its accuracies; programs are resampled, not their versions."""
    fits = {}
    for (model, task), part in with_share_removed(answers).groupby(["model", "task"], sort=False):
        cells = part.groupby(["problem", "share_removed"])["value_strict"].agg(["sum", "count"])
        right, asked = (cells[column].unstack(fill_value=0).sort_index(axis=1) for column in ("sum", "count"))
        fits[str(model), str(task)] = fit_exponential(
            right.columns.to_numpy(float),
            right.to_numpy(float),
            asked.to_numpy(float),
            floor=trend == "exponential_with_floor",
            weighted=weighted,
            confidence=confidence,
            resamples=resamples,
            check=True,
            rng=rng(seed, "removal"),  # the same programs in each resample of all models
        )
    return fits


def fit_table(fits: Mapping[Curve, ExponentialFit], confidence: float) -> pd.DataFrame:
    """A row for each model and task: height, rate, floor and half-life (share of lines removed) with intervals,
    loss_at_half (what share of the curve's value at 0 is lost when half of the lines are), programs, r_squared, failed
    resamples, lack_of_fit (p-value: small where the curve does not describe its points).
    """
    rows = []
    for (model, task), fit in fits.items():
        row: dict[str, object] = {"model": model, "task": task}
        for name in ("height", "rate", "floor", "half_life"):
            ends = getattr(fit, f"{name}_interval")
            row |= {name: getattr(fit, name), f"{name}_low": ends.low, f"{name}_high": ends.high}
        row |= dict(zip(("loss_at_half", "loss_low", "loss_high"), fit.loss_at(0.5, confidence), strict=True))
        row |= {"programs": fit.items, "r_squared": fit.r_squared, "failed_resamples": fit.failed}
        rows.append(row | {"lack_of_fit": fit.lack})
    return pd.DataFrame(rows)


def group_losses(fits: Mapping[Curve, ExponentialFit], confidence: float) -> pd.DataFrame:
    """The mean of the curves' losses at half of the lines over the models of each of the paper's groups that was asked
    as a whole, programs resampled once for all: model (the group), task, loss_at_half, loss_low, loss_high, programs.
    """
    rows = []
    for group, models in read_published("semtrace")["groups"].items():
        for task in dict.fromkeys(task for _, task in fits):
            if not all((model, task) in fits for model in models):
                continue
            chosen = [fits[model, task] for model in models]
            losses = np.mean([fit.losses_at(0.5) for fit in chosen], axis=0)
            mean = np.mean([fit.loss_at(0.5, confidence)[0] for fit in chosen])
            interval = percentile_interval(losses, confidence)
            rows.append((group, task, mean, *interval, max(fit.items for fit in chosen)))
    return pd.DataFrame(rows, columns=["model", "task", "loss_at_half", "loss_low", "loss_high", "programs"])


def fitted_curves(fits: Mapping[Curve, ExponentialFit], confidence: float) -> pd.DataFrame:
    """The curves to draw: model, task, share_removed (0 to 1 in 101 steps), share, low, high (pointwise band),
    lack_of_fit (p-value)."""
    x = np.linspace(0, 1, 101)
    parts = []
    for (model, task), fit in fits.items():
        low, high = fit.band(x, confidence)
        named = {"model": model, "task": task, "share_removed": x}
        parts.append(pd.DataFrame(named | {"accuracy": fit.at(x), "low": low, "high": high, "lack_of_fit": fit.lack}))
    return pd.concat(parts, ignore_index=True)


def recall_sensitivity(answers: pd.DataFrame, *, epsilon: float, confidence: float) -> pd.DataFrame:
    """Equation 5 for each model and task: the mean of (R(C) - R(C_inc)) / (R(C) + epsilon) over incomplete versions.

    Where the complete program is answered wrongly the quotient is 0 or about -1/epsilon, which says nothing of recall;
    those programs are counted in `complete_wrong` and left out of the mean.
    """
    rows = []
    for (model, task), part in answers.groupby(["model", "task"], sort=False):
        complete = part[part["removed"] == 0].groupby("problem")["value_strict"].mean()
        incomplete = part[part["removed"] > 0].groupby("problem")["value_strict"].mean()
        loss = (complete - incomplete) / (complete + epsilon)
        known = loss[complete > 0].dropna()
        mean, (low, high), *_ = clustered_share(known, known.index, confidence)
        rows.append((model, task, mean, low, high, len(known), int((complete == 0).sum())))
    columns = ["model", "task", "sensitivity", "low", "high", "programs", "complete_wrong"]
    return pd.DataFrame(rows, columns=columns)


def published_drop(artefact: str) -> tuple[float, float] | None:
    """Share of lines removed and accuracy of the one point that the paper states, both 0 to 1."""
    numbers = published_numbers(artefact)
    if not numbers or "drop_points" not in numbers:
        return None
    return numbers["smallest_share_removed_pct"] / 100, 1 - numbers["drop_points"] / 100


def interpreter_numbers(table: pd.DataFrame, answers: pd.DataFrame) -> pd.DataFrame:
    """What appendix B says of the interpreter, one row (none where it was not asked): its drop at the smallest share of
    lines removed, and what is right with more than a fifth removed, with intervals; counts of versions."""
    removed = table[(table["model"] == "python") & (table["share_removed"] > 0)]
    if removed.empty:
        return pd.DataFrame()
    first = removed.iloc[0]
    python = with_share_removed(answers[answers["model"] == "python"])
    single, beyond = python[python["removed"] == 1], python[python["share_removed"] > 0.2]
    far = clustered_share(beyond["value_strict"], beyond["problem"])
    numbers = {
        "share_removed": first["share_removed"],
        "n": first["n"],
        **{"drop": 1 - first["accuracy"], "drop_low": 1 - first["high"], "drop_high": 1 - first["low"]},
        "versions": len(python),
        "single": len(single),
        "single_drop": 100 - 100 * single["value_strict"].mean(),
        **{"far": far.value, "far_low": far.interval.low, "far_high": far.interval.high},
        "far_versions": len(beyond),
        "far_programs": beyond["problem"].nunique(),
    }
    return pd.DataFrame([numbers])


def describe_removal(table: pd.DataFrame, fits: Mapping[Curve, ExponentialFit]) -> str:
    """The figure in words."""
    parts = []
    for (model, task), part in table.groupby(["model", "task"], sort=False):
        fit = fits[str(model), str(task)]
        first = part[part["share_removed"] > 0].iloc[0]
        half = "never" if math.isinf(fit.half_life) else f"at {fit.half_life:.1%}"
        parts.append(
            f"{model}, {str(task).replace('_', ' ')}: {part['accuracy'].iloc[0]:.1%} right with all lines, "
            f"{first['accuracy']:.1%} without {first['share_removed']:.1%} of them; "
            f"the fitted exponential{' does not describe its points and' if fit.lack < DOUBTED else ''} "
            f"has fallen to half {half}"
        )
    return "Accuracy against the share of lines removed. " + ". ".join(parts) + "."
