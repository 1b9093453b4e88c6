"""Sense and Sensitivity: largest drops over positions as the paper states them, for
single models and for groups, and gains of one data set over another."""

import math
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from codestress.fitting.influence import mean, share
from codestress.fitting.proportions import (
    Array,
    cluster_weights,
    floats,
    normal_quantile,
    ratio,
)
from codestress.seeding import rng

from ..positions import Questions
from .by_position import PANEL
from .tables import groups_of, published_groups

ANY = "any"
"""Value of the column context for the largest drop over all numbers of distractors."""
OWN = "mean of the models' largest drops"
MEAN = "largest drop of the models' mean curve"
MOST = "largest drop of any model"
"""Readings (interpretations of the paper's words) of a group's largest drop: `OWN`,
`MEAN` and `MOST`. A single model has only the first."""
Curves = dict[tuple[str, int], Array]
"""Dict from (model, number of distractors) to accuracies, shape (1 + resamples,
positions). The first row is that of all problems, each further row that of a resample.
"""


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
    for panel, part in answers.groupby(PANEL[:-1], sort=False):
        names = dict(zip(PANEL, [*panel, "strict"], strict=True))
        names["problems"] = part["problem"].nunique()
        random = rng(given.seed, "largest drops", "strict", *map(str, panel))
        for row, chosen in _compared(_curves(part, given.resamples, random)):
            for unit in ("points", "relative"):
                row |= numbers_of(chosen, unit, row["reading"], given.confidence)
            rows.append(names | row)
    if rows:
        return pd.DataFrame(rows)
    columns = ["model", *PANEL, "context", "reading", "problems", "relative"]
    return pd.DataFrame(columns=columns)


def _curves(part: pd.DataFrame, resamples: int, random: np.random.Generator) -> Curves:
    """Return the accuracies of the answers `part`, for all problems and for each of
    `resamples` resamples of the problems. Only problems asked at all positions count; a
    model with fewer than two has no curve.

    Noise is added to the resamples: as much as two problems make that are correct at
    only one position. Positions with identical answers thus keep some uncertainty.
    """
    problems = pd.Index(sorted(set(part["problem"])))
    weights = cluster_weights(len(problems), resamples, random)
    curves: Curves = {}
    for curve, answers in part.groupby(["model", "distractors"], sort=False):
        cells = answers.pivot_table("value_strict", "problem", "position").dropna()
        scores = cells.to_numpy(float)
        count = len(cells)
        places = problems.get_indexer(cells.index)
        drawn = weights[:, places]
        kept = drawn.sum(axis=1, keepdims=True)
        if count > 1 and kept.all():
            means = scores.mean(axis=0)
            draws = drawn @ scores / kept
            noise = 1 / math.sqrt(count * (count + 2))
            draws += random.normal(0, noise, draws.shape)
            curves[curve] = np.vstack([means, np.clip(draws, 0, 1)])
    return curves


def _compared(curves: Curves) -> Iterator[tuple[dict[str, Any], Array]]:
    """Yield each model or group, context and reading as a row, with the accuracies
    (models, numbers of distractors, 1 + resamples, positions) that the row is about.
    Models that were asked at different numbers of positions are left out."""
    names = {model: [model] for model, _ in curves}
    names |= groups_of(names)
    every = sorted({count for _, count in curves})
    for name, models in names.items():
        counts = [n for n in every if curves.keys() >= {*product(models, [n])}]
        own = [curves[key] for key in product(models, counts)]
        shapes = {accuracies.shape for accuracies in own}
        if len(shapes) != 1:
            continue
        whole = np.reshape(own, (len(models), len(counts), *shapes.pop()))
        contexts = {ANY: whole}
        for number, count in enumerate(counts):
            contexts[str(count)] = whole[:, [number]]
        readings = [OWN]
        if len(models) > 1:
            readings += [MEAN, MOST]
        for context, reading in product(contexts, readings):
            row = {"model": name, "context": context, "reading": reading}
            yield row, contexts[context]


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
    or in percentage points), low, high (interval at `confidence`), problems (of the
    smaller set). A group has rows only if all of its models were asked about both sets
    and have a correct answer on CRUXEval. The two sets have different problems, the
    same for all models. The interval of the ratio of means is MOVER's; the interval of
    the mean ratio is linearized.
    """
    rows = []
    outputs = answers.query("task == 'output_prediction'")
    asked = outputs.query("dataset in ['semtrace', 'cruxeval']")
    for distractors, part in asked.groupby("distractors"):
        sets = part.groupby("model")["dataset"].nunique()
        for group, models in groups_of(sets.index[sets == 2]).items():
            own = part[part["model"].isin(models)]
            sizes = own.groupby("dataset")["problem"].nunique()
            for gain in _gains(own, sizes, confidence):
                rows.append((group, distractors, *gain, sizes.min()))
    columns = ["group", "distractors", "reading", "gain", "low", "high", "problems"]
    return pd.DataFrame(rows, columns=columns)


def _gains(
    answers: pd.DataFrame, sizes: pd.Series, confidence: float
) -> Iterator[tuple[Any, ...]]:
    """Yield each reading of "higher average accuracy" with its gain, low and high (at
    `confidence`), from the `answers` of one group. `sizes` holds the number of problems
    of each data set."""
    # Problems of two data sets are different even if their ids are equal.
    names = answers["dataset"] + "/" + answers["problem"].astype(str)
    groups = answers.set_axis(names).groupby(["dataset", "model"])
    shares = groups["value_strict"].apply(share)
    old = shares["cruxeval"]
    new = shares["semtrace"]
    if not all(model.value for model in old):
        return
    before = mean(list(old))
    after = mean(list(new))
    first = before.value, before.interval(sizes["cruxeval"], confidence)
    second = after.value, after.interval(sizes["semtrace"], confidence)
    times = np.array([after.value / before.value, *ratio(first, second)])
    yield "gain of the models' mean", *(100 * (times - 1))
    gains = {}
    gains["mean of the models' gains"] = mean(list(new / old)) - 1
    gains["gain of the models' mean, in points"] = after - before
    for reading, gain in gains.items():
        percent = gain * 100
        ends = percent.interval(sizes.sum(), confidence)
        yield reading, percent.value, *ends
