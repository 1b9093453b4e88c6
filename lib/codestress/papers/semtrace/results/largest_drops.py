"""Sense and Sensitivity: largest drops over positions as the paper states them, for
single models and for groups, and gains of one data set over another."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.fitting.proportions import (
    Array,
    cluster_weights,
    floats,
    normal_quantile,
)
from codestress.seeding import rng

from .by_position import PANEL
from .tables import groups_of, published_groups

if TYPE_CHECKING:
    from ..positions import Questions

ANY = "any"
"""Value of the column context for the largest drop over all numbers of distractors."""
OWN = "mean of the models' largest drops"
"""Reading of a group's largest drop; the only one of a single model."""
MEAN = "largest drop of the models' mean curve"
"""Reading of a group's largest drop, from the mean of its models' accuracies."""
MOST = "largest drop of any model"
"""Reading (interpretation of the paper's words) of a group's largest drop "up to"."""
READINGS = (OWN, MEAN, MOST)
"""Readings of a group's largest drop."""
Curves = dict[str, Array]
"""Dict from model to accuracies, shape (numbers of distractors, 1 + resamples,
positions). Along the second axis, the first row is that of all problems, each further
row that of a resample."""


def largest_drops(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """Return the largest drop (best minus worst position) in `answers`, by exact
    matches, in percentage points and in % of the best position. There are rows for each
    model, and for each of the paper's groups whose models were all asked; without
    answers the table is empty.

    Columns: model (or group), dataset, task, digits, qac, keys, metric; context (number
    of distractors, or `any`: the largest over all); reading (of "on average" and "up
    to": three for a group, one for a model); problems. For each of the units `points`
    and `relative` there are five more: the number itself, _low, _high, _deviation (over
    resamples), _without_effect (the drop that noise alone makes). The lower end is
    reduced by the drop that noise alone makes. `given` has the confidence level, the
    number of resamples and the seed. Problems are resampled once for all models.
    """
    rows = []
    # Without distractors there are no positions.
    surrounded = answers[answers["distractors"] > 0]
    for panel, part in surrounded.groupby(PANEL[:-1], sort=False):
        names = dict(zip(PANEL, [*panel, "strict"], strict=True))
        names["problems"] = part["problem"].nunique()
        random = rng(given.seed, "largest drops", "strict", *map(str, panel))
        curves = _curves(part, given.resamples, random)
        models = {model: [model] for model in curves}
        for name, chosen in (models | groups_of(models)).items():
            whole = np.stack([curves[model] for model in chosen])
            contexts = {ANY: whole}
            for number, count in enumerate(sorted(part["distractors"].unique())):
                contexts[str(count)] = whole[:, [number]]
            readings = READINGS if len(chosen) > 1 else (OWN,)
            for context, reading in product(contexts, readings):
                row = {"model": name, **names}
                row |= {"context": context, "reading": reading}
                for unit in ("points", "relative"):
                    own = contexts[context]
                    row |= numbers_of(own, unit, reading, given.confidence)
                rows.append(row)
    columns = ["model", *PANEL, "context", "reading", "problems", "relative"]
    return pd.DataFrame(rows, columns=None if rows else columns)


def _curves(part: pd.DataFrame, resamples: int, random: np.random.Generator) -> Curves:
    """Return the accuracies of each model in the answers `part`, for all problems and
    for each of `resamples` resamples, drawn with `random`. Only problems that the model
    was asked in all contexts at all positions count; a model with fewer than two of
    them, or with none of them in a resample, is left out.

    Noise is added to the resamples: as much as two problems make that are correct at
    only one position. Positions with identical answers thus keep some uncertainty.
    """
    problems = pd.Index(sorted(set(part["problem"])))
    weights = cluster_weights(len(problems), resamples, random)
    weights = np.vstack([np.ones(len(problems)), weights])
    places = ["distractors", "position"]
    cells = part.pivot_table("value_strict", ["model", "problem"], places).dropna()
    curves: Curves = {}
    for model, scores in cells.groupby("model"):
        drawn = weights[:, problems.get_indexer(scores.index.get_level_values(1))]
        sums = drawn.sum(axis=1, keepdims=True)
        count = len(scores)
        if count > 1 and sums.all():
            means = drawn @ scores.to_numpy(float) / sums
            noise = 1 / math.sqrt(count * (count + 2))
            means[1:] += random.normal(0, noise, means[1:].shape)
            shape = len(means), *cells.columns.levshape
            curves[model] = means.clip(0, 1).reshape(shape).swapaxes(0, 1)
    return curves


def numbers_of(
    curves: Array, unit: str, reading: str, confidence: float
) -> dict[str, float]:
    """Return the largest drop in one `unit` (`points` or `relative`, both 0 to 100), as
    a dict with the keys UNIT, UNIT_low, UNIT_high, UNIT_deviation, UNIT_without_effect
    (see `largest_drops`).

    `curves` holds accuracies (models, numbers of distractors, 1 + resamples,
    positions), first those of all problems. `reading` is `OWN`, `MEAN` or `MOST`.
    """
    means = curves[:, :, :1]
    draws = curves[:, :, 1:]
    best = means.max(axis=-1, keepdims=True)
    flat = np.clip(draws - means + best, 0, 1)
    value = _largest(means, unit, reading)[0]
    deviation = np.nanstd(_largest(draws, unit, reading))
    noise = np.nanmean(_largest(flat, unit, reading))
    half = normal_quantile(confidence) * deviation
    numbers = {unit: value}
    # With this order of arguments, nan stays nan (the loss is undefined if nothing is right).
    numbers[f"{unit}_low"] = max(value - half - noise, 0.0)
    numbers[f"{unit}_high"] = min(value + half, 100.0)
    numbers[f"{unit}_deviation"] = deviation
    numbers[f"{unit}_without_effect"] = noise
    return numbers


def _largest(curves: Array, unit: str, reading: str) -> Array:
    """Return the largest drop in each resample, an array (resamples,), in percentage
    points if `unit` is `points`, else in % of the best position. `curves` has the shape
    (models, numbers of distractors, resamples, positions).

    `reading` says whether the models' drops are averaged (`OWN`), the drop is that of
    the mean curve (`MEAN`), or the largest drop counts (`MOST`).
    """
    if reading == MEAN:
        curves = curves.mean(axis=0, keepdims=True)
    drops = np.ptp(curves, axis=-1)
    if unit != "points":
        best = curves.max(axis=-1)
        # If nothing is right, the relative loss is undefined (nan).
        drops = drops / np.where(best > 0, best, np.nan)
    largest = 100 * drops.max(axis=1)
    if reading == MOST:
        return floats(largest.max(axis=0))
    return floats(largest.mean(axis=0))


def median_drops(drops: pd.DataFrame) -> pd.DataFrame:
    """Return, for each data set, the median over the paper's models of each model's
    largest drop, in % of the model's maximum. Accuracy is the share of exact matches
    over all tasks. Version 3 of the paper does not define its medians; these may be it.

    `drops` is the result of `largest_drops`. Columns: dataset, relative (the median),
    problems (the smallest number of a model). A data set has a row only if all of the paper's
    models were asked.
    """
    models = published_groups()["all"]
    chosen = drops.query("context == @ANY and model in @models")
    groups = chosen.groupby("dataset", sort=False)
    medians = groups.agg({"relative": "median", "problems": "min", "model": "nunique"})
    return medians[medians.pop("model") == len(models)].reset_index()


def task_gains(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Return the gains in accuracy on SemTrace over CRUXEval's outputs in `answers`,
    for each of the paper's groups of models. There are three readings of "higher
    average accuracy", a row for each.

    Columns: group, distractors, reading (in words), gain (in % of CRUXEval's accuracy,
    or in percentage points), low, high (interval at `confidence`; ratios are
    linearized), problems (of the smaller set). A group has rows only if all of its
    models were asked about both sets and have a correct answer on CRUXEval. The two
    sets have different problems, the same for all models.
    """
    rows = []
    outputs = answers.query("task == 'output_prediction'")
    # Problems of two data sets are different even if their ids are equal.
    names = outputs["dataset"] + "/" + outputs["problem"].astype(str)
    by = ["distractors", "model", "dataset"]
    shares = outputs.set_axis(names).groupby(by)["value_strict"].apply(share)
    wide = shares.unstack("dataset").reindex(columns=["cruxeval", "semtrace"]).dropna()
    for distractors, part in wide.groupby("distractors"):
        both = part.droplevel("distractors")
        for group, models in groups_of(both.index).items():
            old, new = both.loc[models].to_numpy().T
            if not all(model.value for model in old):
                continue
            before = mean(list(old))
            after = mean(list(new))
            gains = {"gain of the models' mean": after / before - 1}
            gains["mean of the models' gains"] = mean(list(new / old)) - 1
            gains["gain of the models' mean, in points"] = after - before
            sizes = len(before.moved), len(after.moved)
            for reading, gain in gains.items():
                percent = gain * 100
                ends = percent.interval(sum(sizes), confidence)
                rows.append(
                    (group, distractors, reading, percent.value, *ends, min(sizes))
                )
    columns = ["group", "distractors", "reading", "gain", "low", "high", "problems"]
    return pd.DataFrame(rows, columns=columns)
