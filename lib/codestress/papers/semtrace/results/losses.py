"""Sense and Sensitivity: the accuracy that is lost when lines are removed, as the paper
states it (section 3.4). Losses are without half of the lines, for groups of models, and
for Python (appendix B)."""

from collections.abc import Sequence
from itertools import product

import numpy as np
import pandas as pd

from codestress.fitting.exponential import ExponentialFit, curve, lost_shares
from codestress.fitting.influence import NOTHING, Moved, mean, share
from codestress.fitting.proportions import Array, percentile_interval

from .removal import INTERPRETER, OUTPUTS, Fits
from .tables import groups_of, published_groups

FITTED = "mean of the models' fitted losses"
"""Reading (interpretation of the paper's words) of the accuracy that a group loses."""
OF_MEAN = "loss of the models' mean fitted curve"
"""Reading of the accuracy that a group loses, from the mean of its fitted curves."""
OBSERVED = "mean of the models' losses as observed"
"""Reading of the accuracy that a group loses, without a fit."""


def group_losses(fits: Fits, answers: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the accuracy that is lost without half of the lines, a row for each task,
    group and reading of the paper's words. The groups are those of the paper whose
    models were all asked.

    The readings are the mean of the fitted losses, the loss of the mean fitted curve,
    and the mean of the observed losses, as shares (0 to 1). The last two also exist as
    differences of accuracies (-1 to 1, named `in points`). `fits` is the result of
    `fit_removal` on `answers`.

    Columns: model (the group), task, reading, loss_at_half, loss_low, loss_high
    (interval at `confidence`), programs. Programs are resampled once for all curves.
    The observed losses have no row if no version lacks exactly half of its lines.
    """
    rows = []
    for task, part in answers.groupby("task", sort=False):
        for group, models in groups_of(part["model"]).items():
            chosen = [fits[model, task] for model in models]
            programs = max(fit.items for fit in chosen)
            own = part.query("model in @models")
            for reading, draws in _fitted_losses(chosen).items():
                ends = percentile_interval(draws[1:], confidence, draws[0])
                rows.append((group, task, reading, draws[0], *ends, programs))
            for reading, loss in _observed_losses(own).items():
                ends = loss.interval(programs, confidence)
                rows.append((group, task, reading, loss.value, *ends, programs))
    columns = ["model", "task", "reading", "loss_at_half"]
    columns += ["loss_low", "loss_high", "programs"]
    return pd.DataFrame(rows, columns=columns).dropna(subset="loss_at_half")


def _fitted_losses(fits: Sequence[ExponentialFit]) -> dict[str, Array]:
    """Return the losses of several fitted curves when half of the lines are removed, as
    a dict from reading to an array (1 + resamples,): first the loss of the fitted
    curves, then the loss in each resample."""
    x = np.array([0.0, 0.5])
    ends = [curve(x, np.vstack([fit.best, fit.draws])) for fit in fits]
    start, half = np.mean(ends, axis=0).T
    losses = {FITTED: mean_losses(fits), OF_MEAN: 1 - half / start}
    losses[f"{OF_MEAN}, in points"] = start - half
    return losses


def mean_losses(fits: Sequence[ExponentialFit]) -> Array:
    """Return the share (0 to 1) of the accuracy that is lost without half of the lines,
    as the mean over `fits`. The result is an array (1 + resamples,): first the share of
    the fitted curves, then the share in each resample."""
    losses = [lost_shares(0.5, np.vstack([fit.best, fit.draws])) for fit in fits]
    return np.asarray(np.mean(losses, axis=0))


def _observed_losses(answers: pd.DataFrame) -> dict[str, Moved]:
    """Return the mean loss of the models in `answers` when half of the lines are
    removed, as a dict from reading to estimate: a share of the accuracy with all lines,
    and a difference of accuracies. Programs are the clusters.

    The losses are nan if a model has no answers at half, or no correct answer to
    complete programs.
    """
    relative = []
    points = []
    for _, part in answers.groupby("model"):
        scores = part.set_index("problem")
        value = scores["value_strict"].astype(float)
        removed = scores["share_removed"]
        whole = share(value[removed == 0])
        half = share(value[removed == 0.5])
        if whole.value == 0:
            whole = NOTHING
        points.append(whole - half)
        relative.append(1 - half / whole)
    return {OBSERVED: mean(relative), f"{OBSERVED}, in points": mean(points)}


def removal_orders(fits: Fits, confidence: float) -> pd.DataFrame:
    """Return comparisons of the losses in `fits` when half of the lines are removed
    (differences of shares, -1 to 1): outputs minus inputs, larger models minus smaller.

    Columns: number (the comparison), model (`all`), value, low, high (interval at
    `confidence`), programs. A row is missing unless all of its models were asked.
    Programs are resampled once for all curves.
    """
    groups = published_groups()
    outputs = list(product(groups["all"], [OUTPUTS]))
    inputs = list(product(groups["all"], ["input_prediction"]))
    larger = list(product(groups["larger"], [OUTPUTS]))
    smaller = [curve for curve in outputs if curve not in larger]
    comparisons = {
        "output - input, all models": (outputs, inputs),
        "larger - smaller, output": (larger, smaller),
    }
    rows = []
    for number, sides in comparisons.items():
        if not fits.keys() >= {*sides[0], *sides[1]}:
            continue
        first, second = ([fits[curve] for curve in side] for side in sides)
        more = mean_losses(first) - mean_losses(second)
        ends = percentile_interval(more[1:], confidence, more[0])
        rows.append((number, "all", more[0], *ends, max(fit.items for fit in first)))
    columns = ["number", "model", "value", "low", "high", "programs"]
    return pd.DataFrame(rows, columns=columns)


def interpreter_numbers(answers: pd.DataFrame) -> pd.DataFrame:
    """Return the interpreter's numbers that appendix B states, in one row. The table is
    empty if the interpreter was not asked, or only about complete programs.

    A drop is 1 minus the accuracy. Columns: share_removed, n, drop (at the smallest
    share of lines removed); versions (number of all versions asked); single (number of
    versions without one line), single_drop (all these versions weighted alike),
    single_drop_by_program (all programs weighted alike); far (accuracy with more than a
    fifth of the lines removed), far_versions, far_programs.
    """
    python = answers[answers["model"] == INTERPRETER]
    removed = python["share_removed"]
    if not removed.any():
        return pd.DataFrame()
    python = python.assign(lost=1 - python["value_strict"])
    least = removed[removed > 0].min()
    first = python.loc[removed == least, "lost"]
    single = python.query("removed == 1")
    far = python[removed > 0.2]
    row = {
        "share_removed": least,
        "n": len(first),
        "drop": first.mean(),
        "versions": len(python),
        "single": len(single),
        "single_drop": single["lost"].mean(),
        "single_drop_by_program": single.groupby("problem")["lost"].mean().mean(),
        "far": far["value_strict"].mean(),
        "far_versions": len(far),
        "far_programs": far["problem"].nunique(),
    }
    return pd.DataFrame([row])
