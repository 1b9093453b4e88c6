"""Sense and Sensitivity: scores after lines were removed, and the curves through them (Figures 5
and 6)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from codestress.fitting.exponential import (
    ExponentialFit,
    by_answers,
    curve,
    equally,
    fit_exponential,
    lost_shares,
)
from codestress.fitting.influence import NOTHING, mean, share
from codestress.fitting.proportions import (
    Array,
    Interval,
    clustered_share,
    paired_difference,
    percentile_interval,
)
from codestress.report.findings import listed
from codestress.report.marks import with_cells
from codestress.report.published import published_numbers, read_published
from codestress.scoring.summaries import summarize
from codestress.seeding import rng

from ..studies import LineRemoval, Sensitivity
from .tables import groups_of

Curve = tuple[str, str]
"""Key of a curve: model and task."""
INTERPRETER = "python"
"""Name of the Python interpreter in the model registry."""
OUTPUTS = "output_prediction"


def accuracy_by_share(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Accuracy table of `answers` with one row for each model, task and share of lines removed,
    smallest share first, with the columns of `summarize`, and cell (column values that select the
    row's answers). `answers` need the column `share_removed`: removed lines over removable lines
    (0 to 1). `confidence` is the level of the intervals."""
    ordered = answers.sort_values("share_removed", kind="stable")
    by = ["model", "task", "share_removed"]
    return with_cells(summarize(ordered, by=by, confidence=confidence), by)


def with_fifths_removed(answers: pd.DataFrame) -> pd.DataFrame:
    """Copy of `answers` with the added column `share_removed`: removed lines over removable lines
    (the columns `removed` and `lines`), rounded to fifths. 0 and 1 hold only programs with no line
    and with all removable lines removed; all else is 0.2 to 0.8.

    In a small data set, exact shares as in Figure 5 would have few programs each.
    """
    share = answers["removed"] / answers["lines"]
    between = (5 * share).round().clip(1, 4) / 5
    return answers.assign(share_removed=share.where(share.isin([0, 1]), between))


def fit_removal(
    answers: pd.DataFrame, given: LineRemoval
) -> dict[Curve, ExponentialFit]:
    """Dict of exponential fits through the accuracies in `answers` at each share of lines removed,
    by model and task; programs are resampled, not their versions. `given` has the parameters of the
    fits: trend, weights, level of the intervals, resamples and seed.
    """
    fits = {}
    for (model, task), part in answers.groupby(["model", "task"], sort=False):
        cells = part.groupby(["problem", "share_removed"])["value_strict"]
        right = cells.sum().unstack(fill_value=0).sort_index(axis=1)
        asked = cells.count().unstack(fill_value=0).sort_index(axis=1)
        fits[str(model), str(task)] = fit_exponential(
            right.columns,
            right,
            asked,
            floor=given.trend == "exponential_with_floor",
            weigh=by_answers if given.weighted else equally,
            confidence=given.confidence,
            resamples=given.resamples,
            check=True,
            # The same programs in each resample of all models.
            rng=rng(given.seed, "removal"),
        )
    return fits


def fit_table(fits: Mapping[Curve, ExponentialFit]) -> pd.DataFrame:
    """Table of `fits`, the dict of `fit_removal`, with a row for each model and task: height, rate
    and floor, each with _low and _high, loss_at_half (share of the curve's value at 0 that is lost
    when half of the lines are removed, section 3.4) with loss_low and loss_high, programs,
    r_squared, failed_resamples, lack_of_fit (p-value: small when the curve does not describe its
    points). nan where no curve could be fitted."""
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
        known = {model: fit for (model, of), fit in fits.items() if of == task}
        for group, models in groups_of(known).items():
            chosen = [known[model] for model in models]
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
    relative, points = [], []
    for _, part in answers.groupby("model"):
        scores = part.set_index("problem")
        value, removed = scores["value_strict"].astype(float), scores["share_removed"]
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
    every, larger = groups["all"], groups["larger"]
    smaller = [model for model in every if model not in larger]
    inputs = [(model, "input_prediction") for model in every]
    outputs, of_larger, of_smaller = (
        [(model, OUTPUTS) for model in models] for models in (every, larger, smaller)
    )
    rows = []
    for number, first, second in (
        ("output - input, all models", outputs, inputs),
        ("larger - smaller, output", of_larger, of_smaller),
    ):
        if fits.keys() >= {*first, *second}:
            one, other = ([fits[key] for key in keys] for keys in (first, second))
            value, ends = _drawn(mean_losses(one) - mean_losses(other), confidence)
            programs = max(fit.items for fit in one)
            rows.append((number, "all", value, *ends, programs))
    columns = ["number", "model", "value", "low", "high", "programs"]
    return pd.DataFrame(rows, columns=columns)


def fitted_curves(
    table: pd.DataFrame, fits: Mapping[Curve, ExponentialFit]
) -> pd.DataFrame:
    """Table of the figure's curves, from `fits`: model, task, share_removed (101 steps over the
    range of that column in `table`, that of `accuracy_by_share`), accuracy, low, high (pointwise
    band at the level of `fits`), lack_of_fit (p-value)."""
    parts = []
    shares = table.groupby(["model", "task"])["share_removed"]
    for (model, task), fit in fits.items():
        removed = shares.get_group((model, task))
        x = np.linspace(removed.min(), removed.max(), 101)
        low, high = fit.band(x)
        part = {"model": model, "task": task, "share_removed": x}
        part |= {"accuracy": fit.at(x), "low": low, "high": high}
        parts.append(pd.DataFrame(part | {"lack_of_fit": fit.lack}))
    return pd.concat(parts, ignore_index=True)


def recall_sensitivity(answers: pd.DataFrame, given: Sensitivity) -> pd.DataFrame:
    """Table of Equation 5 from `answers`, a row for each model and task: the mean over programs of
    (R(C) - R(C_inc)) / (R(C) + epsilon), a mean over incomplete versions C_inc of a program C.
    `given` has epsilon, `complete_wrong` and the level of the intervals.

    Columns: model, task, sensitivity, low, high, programs (behind the mean), complete_wrong (number
    of programs that were answered incorrectly when complete); to_python, to_python_low,
    to_python_high: the sensitivity minus the interpreter's, paired by program (nan for inputs, for
    the interpreter, and when the interpreter was not asked).

    When the complete program is answered incorrectly, the quotient is 0 or about -1/epsilon, which
    says nothing of recall. The program is then left out (`complete_wrong` = `left_out`) or counts 0
    (`zero`). A program without incomplete versions is left out too.
    """
    by = ["model", "task", "problem"]
    complete, incomplete = (
        part.groupby(by, sort=False)["value_strict"].mean()
        for part in (answers[answers["removed"] == 0], answers[answers["removed"] > 0])
    )
    lost = (complete - incomplete) / (complete + given.epsilon)
    nothing = 0.0 if given.complete_wrong == "zero" else np.nan
    worth = lost.where(complete > 0, nothing)
    each = pd.DataFrame({"complete": complete, "sensitivity": worth}).reset_index()
    python = each[each["model"] == INTERPRETER].set_index("problem")["sensitivity"]
    rows = []
    for (model, task), part in each.groupby(["model", "task"], sort=False):
        known = part.set_index("problem")["sensitivity"].dropna()
        mean, ends, programs, _ = clustered_share(known, known.index, given.confidence)
        wrong = int((part["complete"] == 0).sum())
        beside = task == OUTPUTS and model != INTERPRETER
        more = (known - (python if beside else python[:0])).dropna()
        to_python = more.mean(), *paired_difference(more, confidence=given.confidence)
        rows.append((model, task, mean, *ends, programs, wrong, *to_python))
    columns = ["model", "task", "sensitivity", "low", "high", "programs"]
    columns += ["complete_wrong", "to_python", "to_python_low", "to_python_high"]
    return pd.DataFrame(rows, columns=columns)


def published_drop(artefact: str) -> tuple[float, float] | None:
    """Pair of the share of lines removed and the accuracy, both 0 to 1, at the one point that the
    paper states in numbers for the figure named `artefact`; None when it states none."""
    numbers = published_numbers(artefact) or {}
    if "drop_points" not in numbers:
        return None
    return numbers["smallest_share_removed_pct"] / 100, 1 - numbers["drop_points"] / 100


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
    first = python[removed == removed[removed > 0].min()]
    single, beyond = python[python["removed"] == 1], python[removed > 0.2]
    by_program = single.groupby("problem")["value_strict"].mean()
    numbers = {
        "share_removed": first["share_removed"].iloc[0],
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


def removal_title(sensitivity: pd.DataFrame) -> str:
    """Title of the figure: the mean loss by Equation 5, which needs no fit, of each task, over the
    models in `sensitivity`, the table of `recall_sensitivity`."""
    means = 100 * sensitivity.groupby("task", sort=False)["sensitivity"].mean()
    names = [
        f"{mean:.0f} % of right {str(task).removesuffix('_prediction')}s"
        for task, mean in means.items()
    ]
    models = sensitivity["model"].unique()
    who = models[0] if len(models) == 1 else f"mean of {len(models)}"
    return f"When lines are missing, {listed(names)} are lost ({who})"


def sensitivity_title(sensitivity: pd.DataFrame) -> str:
    """Title of the figure of sensitivities, from `sensitivity`, the table of `recall_sensitivity`:
    how many models clearly lose less of their outputs than Python does; that of `removal_title`
    where Python was not asked, or is alone."""
    beside = sensitivity.dropna(subset="to_python")
    if beside.empty:
        return removal_title(sensitivity)
    less = (beside["to_python_high"] < 0).sum() or "none"
    return f"Without lines, {less} of {len(beside)} clearly lose less than Python"
