"""Sense and Sensitivity: scores after lines were removed, and the curves fitted to them
(Figures 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from codestress.fitting.exponential import (
    ExponentialFit,
    by_answers,
    equally,
    fit_exponential,
)
from codestress.fitting.proportions import clustered_share, paired_difference
from codestress.report.findings import listed
from codestress.report.marks import with_cells
from codestress.report.published import published_numbers
from codestress.scoring.summaries import summarize
from codestress.seeding import rng

if TYPE_CHECKING:
    from ..line_removal import LineRemoval, Sensitivity

Fits = Mapping[tuple[str, str], ExponentialFit]
"""Dict from (model, task) to exponential fit."""
INTERPRETER = "python"
"""Name of the Python interpreter in the model registry."""
OUTPUTS = "output_prediction"
"""Task of the interpreter, which cannot predict inputs."""


def accuracy_by_share(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Return the accuracies in `answers`, a row for each model, task and share of lines
    removed, smallest share first. Columns besides these: the columns of `summarize`,
    and cell (column values that select the row's answers).

    `answers` need the column `share_removed`: removed lines over removable lines (0 to
    1). Intervals are at `confidence`.
    """
    ordered = answers.sort_values("share_removed", kind="stable")
    by = ["model", "task", "share_removed"]
    return with_cells(summarize(ordered, by=by, confidence=confidence), by)


def with_fifths_removed(answers: pd.DataFrame) -> pd.DataFrame:
    """Return a copy of `answers` with the added column `share_removed`: removed lines
    over removable lines (the columns `removed` and `lines`), rounded to fifths. Only
    programs with no line removed have 0, and only programs with all removable lines
    removed have 1; all others have 0.2 to 0.8.

    In a small data set, exact shares as in Figure 5 would have few programs each.
    """
    share = answers["removed"] / answers["lines"]
    between = (5 * share).round().clip(1, 4) / 5
    return answers.assign(share_removed=share.where(share.isin([0, 1]), between))


def fit_removal(answers: pd.DataFrame, given: LineRemoval) -> Fits:
    """Return exponential fits to the accuracies in `answers` at each share of lines
    removed, as a dict from (model, task) to fit. Programs are resampled, not their
    versions. `given` has the parameters of the fits: trend, weights, confidence level,
    number of resamples and seed."""
    fits = {}
    weigh = by_answers if given.weighted else equally
    for curve, part in answers.groupby(["model", "task"], sort=False):
        cells = part.pivot_table(
            "value_strict", "problem", "share_removed", ["sum", "count"], fill_value=0
        )
        right = cells["sum"]
        fits[curve] = fit_exponential(
            right.columns,
            right,
            cells["count"],
            floor=given.trend == "exponential_with_floor",
            weigh=weigh,
            confidence=given.confidence,
            resamples=given.resamples,
            check=True,
            # One seed, so that a resample has the same programs for all models.
            rng=rng(given.seed, "removal"),
        )
    return fits


def fit_table(fits: Fits) -> pd.DataFrame:
    """Return the numbers of `fits`, the result of `fit_removal`, a row for each model
    and task; nan if no curve could be fitted.

    Columns besides these: height, rate and floor, each with _low and _high;
    loss_at_half with loss_low and loss_high; programs, r_squared, failed_resamples;
    lack_of_fit (p-value: small if the curve does not describe its points). The loss at
    half is the share of the curve's value at 0 that is lost when half of the lines are
    removed (section 3.4).
    """
    rows = []
    for (model, task), fit in fits.items():
        row: dict[str, object] = {"model": model, "task": task}
        for name in ("height", "rate", "floor"):
            row[name] = getattr(fit, name)
            row[f"{name}_low"], row[f"{name}_high"] = fit.interval(name)
        row["loss_at_half"], (row["loss_low"], row["loss_high"]) = fit.loss_at(0.5)
        row["programs"] = fit.items
        row["r_squared"] = fit.r_squared
        row["failed_resamples"] = fit.failed
        row["lack_of_fit"] = fit.lack
        rows.append(row)
    return pd.DataFrame(rows)


def fitted_curves(table: pd.DataFrame, fits: Fits) -> pd.DataFrame:
    """Return the points of the figure's curves, from `fits`. Columns: model, task,
    share_removed (101 steps over the range of this column in `table`, the result of
    `accuracy_by_share`), accuracy, low, high (pointwise band at the confidence level of
    `fits`), lack_of_fit (p-value)."""
    parts = []
    shares = table.groupby(["model", "task"])["share_removed"]
    for (model, task), fit in fits.items():
        removed = shares.get_group((model, task))
        x = np.linspace(removed.min(), removed.max(), 101)
        part = pd.DataFrame({"model": model, "task": task, "share_removed": x})
        part["accuracy"] = fit.at(x)
        part["low"], part["high"] = fit.band(x)
        part["lack_of_fit"] = fit.lack
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def recall_sensitivity(answers: pd.DataFrame, given: Sensitivity) -> pd.DataFrame:
    """Return the sensitivity (Equation 5) of each model and task in `answers`: the mean over programs of (R(C) -
    R(C_inc)) / (R(C) + epsilon). R is the share of correct answers, C the complete program, C_inc an incomplete
    version; R(C_inc) is a mean over versions.

    Columns: model, task, sensitivity, low, high, programs (behind the mean); complete_wrong (number of programs
    answered incorrectly when complete); to_python, to_python_low, to_python_high. The numbers to_python are the
    sensitivity minus the interpreter's, paired by program: nan for inputs, for the interpreter itself, and if the
    interpreter was not asked. If the complete program is answered incorrectly, the quotient is 0 or about -1/epsilon,
    which says nothing about recall. The program is then left out (`complete_wrong` = `left_out`) or counts 0
    (`zero`). A correctly answered program without incomplete versions is left out too. `given` has epsilon,
    `complete_wrong` and the confidence level.
    """
    by = ["model", "task", "problem"]
    whole = answers["removed"] == 0
    complete = answers[whole].groupby(by, sort=False)["value_strict"].mean()
    incomplete = answers[~whole].groupby(by, sort=False)["value_strict"].mean()
    loss = (complete - incomplete) / (complete + given.epsilon)
    nothing = 0.0 if given.complete_wrong == "zero" else np.nan
    each = complete.to_frame("complete")
    each["sensitivity"] = loss.where(complete > 0, nothing)
    each = each.reset_index(["model", "task"])
    python = each.loc[each["model"] == INTERPRETER, "sensitivity"]
    rows = []
    for (model, task), part in each.groupby(["model", "task"], sort=False):
        known = part["sensitivity"].dropna()
        mean = clustered_share(known, known.index, given.confidence)
        row = {"model": model, "task": task}
        row["sensitivity"] = mean.value
        row |= mean.interval._asdict()
        row["programs"] = mean.clusters
        row["complete_wrong"] = (part["complete"] == 0).sum()
        more = (known - python).dropna()
        if task != OUTPUTS or model == INTERPRETER:
            more = more[:0]
        ends = paired_difference(more, confidence=given.confidence)
        row["to_python"] = more.mean()
        row["to_python_low"], row["to_python_high"] = ends
        rows.append(row)
    return pd.DataFrame(rows)


def published_drop(artefact: str) -> tuple[float, float] | None:
    """Return the one point that the paper states in numbers for the figure `artefact`:
    share of lines removed and accuracy, both in %. Return None if it states none."""
    numbers = published_numbers(artefact)
    if "drop_points" not in numbers:
        return None
    return numbers["smallest_share_removed_pct"], 100 - numbers["drop_points"]


def removal_title(sensitivity: pd.DataFrame) -> str:
    """Return the title of the figure: the mean loss of each task by Equation 5, which
    needs no fit, over the models in `sensitivity`, the result of `recall_sensitivity`.
    """
    means = 100 * sensitivity.groupby("task", sort=False)["sensitivity"].mean()
    losses = []
    for task, mean in means.items():
        asked = task.removesuffix("_prediction")
        losses.append(f"{mean:.0f} % of right {asked}s")
    models = sensitivity["model"].unique()
    who = models[0] if len(models) == 1 else f"mean of {len(models)}"
    return f"When lines are missing, {listed(losses)} are lost ({who})"


def sensitivity_title(sensitivity: pd.DataFrame) -> str:
    """Return the title of the figure of sensitivities: how many models clearly lose
    less of their outputs than Python does. If Python was not asked, or is alone, return
    the title of `removal_title`. `sensitivity` is the result of `recall_sensitivity`.
    """
    beside = sensitivity.dropna(subset="to_python")
    if beside.empty:
        return removal_title(sensitivity)
    less = (beside["to_python_high"] < 0).sum() or "none"
    return (
        f"When lines are missing, {less} of {len(beside)} clearly lose less than Python"
    )
