"""Sense and Sensitivity: largest drops over positions as the paper states them, for single models
and for groups, and gains of one data set over another."""

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
    normal_quantile,
    ratio,
)
from codestress.report.published import read_published
from codestress.seeding import rng

from ..positions import Questions
from .by_position import PANEL
from .tables import groups_of

ANY = "any"
"""Context name of the largest drop over all numbers of distractors."""
OWN = "mean of the models' largest drops"
MEAN = "largest drop of the models' mean curve"
MOST = "largest drop of any model"
Curves = dict[tuple[str, int], Array]
"""Accuracies by model and number of distractors, shape (1 + resamples, positions): those of all
problems, then those of each resample."""


def largest_drops(answers: pd.DataFrame, given: Questions) -> pd.DataFrame:
    """Table of the largest drop (best minus worst position) in `answers`, in points and in % of the
    best, for each model and for each of the paper's groups whose models were all asked. `given` has
    the metrics (the scores), the level of the intervals, the resamples and the seed. Problems are
    resampled once for all models. Empty without answers.

    Columns: model (or group), dataset, task, digits, qac, keys, metric, context (number of
    distractors, or `any`: the largest over all), reading (of "on average" and "up to": three for a
    group, one for a model), problems, and for `points` and `relative`: the number, _low, _high (the
    lower end is reduced by the drop that noise alone makes), _deviation (of the resamples),
    _without_effect (that noise).
    """
    rows = []
    by = PANEL[:-1]
    for metric in given.metrics:
        for panel, part in answers.groupby(by, sort=False):
            names = {"metric": metric, **dict(zip(by, panel, strict=True))}
            names["problems"] = part["problem"].nunique()
            random = rng(given.seed, "largest drops", metric, *map(str, panel))
            curves = _curves(part, f"value_{metric}", given.resamples, random)
            for row, chosen in _compared(curves):
                for unit in ("points", "relative"):
                    row |= numbers_of(chosen, unit, row["reading"], given.confidence)
                rows.append(names | row)
    columns = ["model", *PANEL, "context", "reading", "problems", "relative"]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)


def _curves(
    part: pd.DataFrame, value: str, resamples: int, random: np.random.Generator
) -> Curves:
    """Accuracies in the column `value` of the answers `part`, with `resamples` of the problems.
    They count the problems asked at all positions; a model with fewer than two has no curve.

    The resamples get as much noise as two problems make that are correct at only one position, so
    that positions with identical answers keep some uncertainty.
    """
    problems = pd.Index(sorted(set(part["problem"])))
    weights = cluster_weights(len(problems), resamples, random)
    found: Curves = {}
    for curve, one in part.groupby(["model", "distractors"], sort=False):
        cells = one.pivot_table(value, "problem", "position").dropna()
        scores = cells.to_numpy(float)
        count = len(cells)
        drawn = weights[:, problems.get_indexer(cells.index)]
        kept = drawn.sum(axis=1, keepdims=True)
        if count > 1 and kept.all():
            draws = drawn @ scores / kept
            draws += random.normal(0, 1 / math.sqrt(count * (count + 2)), draws.shape)
            both = np.vstack([scores.mean(axis=0), np.clip(draws, 0, 1)])
            found[curve] = both
    return found


def _compared(curves: Curves) -> Iterator[tuple[dict[str, Any], Array]]:
    """Yields each model or group, context and reading, with the accuracies (models, numbers of
    distractors, 1 + resamples, positions) that it is about; nothing of models that were asked at
    different numbers of positions."""
    names = {model: [model] for model, _ in curves}
    names |= groups_of(names)
    every = sorted({count for _, count in curves})
    for name, models in names.items():
        counts = [n for n in every if all((model, n) in curves for model in models)]
        own = [curves[key] for key in product(models, counts)]
        if len(set(map(np.shape, own))) != 1:
            continue
        # [models, numbers of distractors, 1 + resamples, positions]
        of = np.reshape(own, (len(models), len(counts), *own[0].shape))
        contexts = {ANY: of} | {str(n): of[:, [i]] for i, n in enumerate(counts)}
        readings = (OWN, MEAN, MOST) if len(models) > 1 else (OWN,)
        for (context, chosen), reading in product(contexts.items(), readings):
            row = {"model": name, "context": context, "reading": reading}
            yield row, chosen


def numbers_of(
    curves: Array, unit: str, reading: str, confidence: float
) -> dict[str, float]:
    """Largest drop in one `unit` (`points` or `relative`, both 0 to 100), as a dict with the keys
    UNIT, UNIT_low, UNIT_high, UNIT_deviation, UNIT_without_effect (see `largest_drops`).

    `curves`: accuracies (models, numbers of distractors, 1 + resamples, positions), first those of
    all problems; `reading`: `OWN`, `MEAN` or `MOST`.
    """
    means = curves[:, :, :1]
    draws = curves[:, :, 1:]
    flat = np.clip(draws - means + means.max(axis=-1, keepdims=True), 0, 1)
    value = float(_largest(means, unit, reading)[0])
    deviation = float(np.nanstd(_largest(draws, unit, reading)))
    noise = float(np.nanmean(_largest(flat, unit, reading)))
    half = normal_quantile(confidence) * deviation
    # In this order, nan stays nan: of nothing right nothing is lost.
    return {
        unit: value,
        f"{unit}_low": max(value - half - noise, 0.0),
        f"{unit}_high": min(value + half, 100.0),
        f"{unit}_deviation": deviation,
        f"{unit}_without_effect": noise,
    }


def _largest(curves: Array, unit: str, reading: str) -> Array:
    """Largest drop in each resample, an array (resamples,), in points if `unit` is `points`, else
    in % of the best, from `curves` (models, numbers of distractors, resamples, positions).
    `reading` says whether drops are averaged over models (`OWN`), of the mean curve (`MEAN`) or the
    largest (`MOST`)."""
    if reading == MEAN:
        curves = curves.mean(axis=0, keepdims=True)
    best = curves.max(axis=-1)
    worst = curves.min(axis=-1)
    drops = best - worst
    if unit != "points":
        # Of nothing right, nothing can be lost.
        drops = drops / np.where(best > 0, best, np.nan)
    largest = 100 * drops.max(axis=1)
    return np.asarray(largest.max(axis=0) if reading == MOST else largest.mean(axis=0))


def median_drops(drops: pd.DataFrame) -> pd.DataFrame:
    """Table of the median, over the paper's models, of their largest drops in % of the maximum, by
    exact matches over all tasks of a data set. Version 3 of the paper may mean this by its medians.

    `drops` is the table of `largest_drops`. Columns: dataset, relative (the median), problems (the
    fewest); a data set has a row when all of the models were asked.
    """
    models = read_published("semtrace")["groups"]["all"]
    over_all = (drops["context"] == ANY) & (drops["metric"] == "strict")
    chosen = drops[over_all & drops["model"].isin(models)]
    groups = chosen.groupby("dataset", sort=False)
    found = groups.agg({"relative": "median", "problems": "min", "model": "nunique"})
    return found[found.pop("model") == len(models)].reset_index()


def task_gains(answers: pd.DataFrame, *, confidence: float) -> pd.DataFrame:
    """Table of the gains in accuracy on SemTrace over CRUXEval's outputs in `answers`, for each of
    the paper's groups of models and each of three readings of "higher average accuracy".

    Columns: group, distractors, reading (in words), gain (% of CRUXEval's accuracy, or points),
    low, high, problems (of the smaller set); a group has rows when all of its models were asked
    both sets, and have a correct answer on CRUXEval. The two sets have different problems, the same
    for all models. The interval of the ratio of means is MOVER's, the interval of the mean ratio is
    linearized.
    """
    rows = []
    outputs = answers["task"] == "output_prediction"
    asked = answers[outputs & answers["dataset"].isin(["semtrace", "cruxeval"])]
    for group, models in groups_of(asked["model"]).items():
        own = asked[asked["model"].isin(models)]
        for distractors, part in own.groupby("distractors"):
            counts = part.groupby("dataset")[["model", "problem"]].nunique()
            sizes = counts["problem"]
            if counts["model"].tolist() == [len(models)] * 2:
                for gain in _gains(part, sizes, confidence):
                    rows.append((group, distractors, *gain, sizes.min()))
    columns = ["group", "distractors", "reading", "gain", "low", "high", "problems"]
    return pd.DataFrame(rows, columns=columns)


def _gains(
    answers: pd.DataFrame, sizes: pd.Series, confidence: float
) -> Iterator[tuple[Any, ...]]:
    """Yields each reading of "higher average accuracy" with its gain, low and high (at the level
    `confidence`), from the `answers` of one group. `sizes`: number of problems by data set."""
    # Problems of two data sets are different even if their ids are the same.
    names = answers["dataset"] + "/" + answers["problem"].astype(str)
    scores = answers["value_strict"].set_axis(names)
    by = [answers[column].to_numpy() for column in ("dataset", "model")]
    shares = scores.groupby(by).apply(share)
    old = shares["cruxeval"]
    new = shares["semtrace"]
    if not all(model.value for model in old):
        return
    before = mean(list(old))
    after = mean(list(new))
    first = before.value, before.interval(sizes["cruxeval"], confidence)
    second = after.value, after.interval(sizes["semtrace"], confidence)
    times = after.value / before.value, *ratio(first, second)
    yield "gain of the models' mean", *(100 * (end - 1) for end in times)
    gains = {
        "mean of the models' gains": mean(list(new / old)) - 1,
        "gain of the models' mean, in points": after - before,
    }
    for reading, gain in gains.items():
        percent = gain * 100
        yield reading, percent.value, *percent.interval(sizes.sum(), confidence)
