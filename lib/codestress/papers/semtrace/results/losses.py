"""Sense and Sensitivity: the accuracy that is lost with lines removed, as the paper states it
(section 3.4): without half of the lines, for groups of models, and by Python (appendix B)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from codestress.fitting.exponential import ExponentialFit, curve, lost_shares
from codestress.fitting.influence import NOTHING, mean, share
from codestress.fitting.proportions import Array, Interval, percentile_interval
from codestress.report.published import read_published

from .removal import INTERPRETER, OUTPUTS, Curve
from .tables import groups_of

FITTED = "mean of the models' fitted losses"
OF_MEAN = "loss of the models' mean fitted curve"
OBSERVED = "mean of the models' losses as observed"
ENDS = np.array([0.0, 0.5])


def group_losses(
    fits: Mapping[Curve, ExponentialFit], answers: pd.DataFrame, confidence: float
) -> pd.DataFrame:
    """Table of the accuracy that is lost without half of the lines, for each of the paper's groups
    of models that were all asked, in each reading of the paper's words: the mean of the fitted
    losses, the loss of the mean fitted curve, and the mean of the observed losses, as shares (0 to
    1); the last two also as differences of accuracies (-1 to 1, named `in points`).

    `fits`: those of `fit_removal` on `answers`. Columns: model (the group), task, reading,
    loss_at_half, loss_low, loss_high, programs. Programs are resampled once for all curves. The
    observed losses have no row when no version lacks exactly half of its lines.
    """
    rows = []
    for task in dict.fromkeys(task for _, task in fits):
        asked = [model for model, of in fits if of == task]
        for group, models in groups_of(asked).items():
            chosen = [fits[model, task] for model in models]
            programs = max(fit.items for fit in chosen)
            own = answers[(answers["task"] == task) & answers["model"].isin(models)]
            readings = _fitted_losses(chosen, confidence)
            readings |= _observed_losses(own, programs, confidence)
            for reading, (loss, ends) in readings.items():
                rows.append((group, task, reading, loss, *ends, programs))
    columns = ["model", "task", "reading", "loss_at_half"]
    columns += ["loss_low", "loss_high", "programs"]
    return pd.DataFrame(rows, columns=columns).dropna(subset="loss_at_half")


Loss = tuple[float, Interval]


def _fitted_losses(
    fits: Sequence[ExponentialFit], confidence: float
) -> dict[str, Loss]:
    """Losses of several fitted curves at half of the lines removed, by reading."""
    ends = [curve(ENDS, np.vstack([fit.best, fit.draws])) for fit in fits]
    start, half = np.mean(ends, axis=0).T
    losses = {
        FITTED: mean_losses(fits),
        OF_MEAN: 1 - half / start,
        f"{OF_MEAN}, in points": start - half,
    }
    return {reading: _drawn(draws, confidence) for reading, draws in losses.items()}


def mean_losses(fits: Sequence[ExponentialFit]) -> Array:
    """Share (0 to 1) of the accuracy that is lost without half of the lines, as the mean over
    `fits`, shape (1 + resamples,): of the fitted curves, then in every resample."""
    losses = [lost_shares(0.5, np.vstack([fit.best, fit.draws])) for fit in fits]
    return np.asarray(np.mean(losses, axis=0))


def _drawn(draws: Array, confidence: float) -> Loss:
    """Estimate, the first of `draws`, with the interval of its resamples, the others."""
    value = float(draws[0])
    return value, percentile_interval(draws[1:], confidence, value)


def _observed_losses(
    answers: pd.DataFrame, programs: int, confidence: float
) -> dict[str, Loss]:
    """Mean loss of the models in `answers` when half of the lines are removed, as a share of the
    accuracy with all lines, and in points; programs are the clusters. nan when a model has no
    answers at half, or no correct answer to complete programs."""
    relative = []
    points = []
    for _, part in answers.groupby("model"):
        scores = part.set_index("problem")
        value = scores["value_strict"].astype(float)
        removed = scores["share_removed"]
        whole, half = (share(value[removed == end]) for end in ENDS)
        if whole.value == 0:
            whole = NOTHING
        points.append(whole - half)
        relative.append(1 - half / whole)
    readings = {OBSERVED: mean(relative), f"{OBSERVED}, in points": mean(points)}
    return {
        reading: (loss.value, loss.interval(programs, confidence))
        for reading, loss in readings.items()
    }


def removal_orders(
    fits: Mapping[Curve, ExponentialFit], confidence: float
) -> pd.DataFrame:
    """Table of comparisons of the losses in `fits` at half of the lines removed (differences of
    shares, -1 to 1): outputs minus inputs, larger models minus smaller. Columns: number (the
    comparison), model (`all`), value, low, high, programs. A row is missing unless all of its
    models were asked. Programs are resampled once for all curves."""
    groups = read_published("semtrace")["groups"]
    every = groups["all"]
    larger = groups["larger"]
    smaller = [model for model in every if model not in larger]
    comparisons = {
        "output - input, all models": ((every, OUTPUTS), (every, "input_prediction")),
        "larger - smaller, output": ((larger, OUTPUTS), (smaller, OUTPUTS)),
    }
    rows = []
    for number, sides in comparisons.items():
        first, second = ([(m, task) for m in models] for models, task in sides)
        if fits.keys() >= {*first, *second}:
            one, other = ([fits[key] for key in keys] for keys in (first, second))
            value, ends = _drawn(mean_losses(one) - mean_losses(other), confidence)
            programs = max(fit.items for fit in one)
            rows.append((number, "all", value, *ends, programs))
    columns = ["number", "model", "value", "low", "high", "programs"]
    return pd.DataFrame(rows, columns=columns)


def interpreter_numbers(answers: pd.DataFrame) -> pd.DataFrame:
    """Table of the interpreter's numbers that appendix B states, in one row; empty when the
    interpreter was not asked, or only complete programs.

    A drop is 1 minus the accuracy. Columns: share_removed, n, drop (at the smallest share of lines
    removed), versions, single (number of versions without one line), single_drop (versions weighted
    alike), single_drop_by_program (programs weighted alike), far (accuracy with more than a fifth
    removed), far_versions, far_programs.
    """
    python = answers[answers["model"] == INTERPRETER]
    removed = python["share_removed"]
    if not removed.any():
        return pd.DataFrame()
    least = removed[removed > 0].min()
    first = python[removed == least]
    single = python[python["removed"] == 1]
    beyond = python[removed > 0.2]
    by_program = single.groupby("problem")["value_strict"].mean()
    numbers = {
        "share_removed": least,
        "n": len(first),
        "drop": 1 - first["value_strict"].mean(),
        "versions": len(python),
        "single": len(single),
        "single_drop": 1 - single["value_strict"].mean(),
        "single_drop_by_program": 1 - by_program.mean(),
        "far": beyond["value_strict"].mean(),
        "far_versions": len(beyond),
        "far_programs": beyond["problem"].nunique(),
    }
    return pd.DataFrame([numbers])
