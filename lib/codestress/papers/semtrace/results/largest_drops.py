"""Sense and Sensitivity: largest drops over positions as the paper states them, of single models and of several."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from codestress.fitting.proportions import cluster_weights, normal_quantile
from codestress.report.published import read_published
from codestress.seeding import rng

Array = NDArray[np.float64]
_Curves = dict[tuple[str, int], tuple[Array, Array]]
"""By model and number of distractors, the accuracies at each position: as they are, and in each resample."""

PANEL = ["dataset", "task", "digits", "qac", "keys"]
ANY = "any"
"""The largest drop over all numbers of distractors."""
OWN, MEAN = "mean of the models' largest drops", "largest drop of the models' mean curve"


def largest_drops(
    answers: pd.DataFrame, *, metrics: Sequence[str], confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """Best minus worst position in points, and in % of the best, for each model and each of the paper's groups that was
    asked as a whole; problems are resampled once for all models.

    Columns: model (or group), the panel, metric, context (number of distractors, or `any`), reading (of "on average":
    two for a group), and for `points` and `relative`: the number, _low, _high (what noise alone makes of it is taken
    off the lower end), _deviation, _without_effect; problems.
    """
    rows = []
    for metric in metrics:
        for panel, part in answers.groupby(PANEL, sort=False):
            names = {"metric": metric, **dict(zip(PANEL, panel, strict=True))}
            problems = sorted(set(part["problem"]))
            random = rng(seed, "largest drops", metric, *map(str, panel))
            curves = _curves(part, f"value_{metric}", problems, resamples, random)
            rows += [names | row | {"problems": len(problems)} for row in _panel(curves, confidence)]
    columns = ["model", *PANEL, "metric", "context", "reading", "problems"]
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)


def _curves(
    part: pd.DataFrame, value: str, problems: Sequence[str], resamples: int, random: np.random.Generator
) -> _Curves:
    """On the problems that were asked at all positions.

    As much noise as two problems that are right at one position alone is added to the resamples, so that positions
    where all answers are alike are not certain.
    """
    places = {problem: place for place, problem in enumerate(problems)}
    weights = cluster_weights(len(problems), resamples, random)
    found: _Curves = {}
    for (model, distractors), one in part.groupby(["model", "distractors"], sort=False):
        cells = one.pivot_table(index="problem", columns="position", values=value).dropna()
        drawn = weights[:, [places[problem] for problem in cells.index]]
        kept = drawn.sum(axis=1, keepdims=True)
        if len(cells) > 1 and kept.all():
            draws = drawn @ cells.to_numpy(float) / kept
            draws += random.normal(0, 1 / math.sqrt(len(cells) * (len(cells) + 2)), draws.shape)
            found[str(model), int(distractors)] = cells.mean().to_numpy(float), np.clip(draws, 0, 1)
    return found


def _panel(curves: _Curves, confidence: float) -> Iterator[dict[str, Any]]:
    asked = list(dict.fromkeys(model for model, _ in curves))
    groups = {name: models for name, models in read_published("semtrace")["groups"].items() if set(models) <= {*asked}}
    for name, models in {**{model: [model] for model in asked}, **groups}.items():
        counts = [n for n in sorted({n for _, n in curves}) if all((model, n) in curves for model in models)]
        if not counts or len({len(curves[model, n][0]) for model in models for n in counts}) > 1:
            continue
        means, draws = (np.stack([[curves[model, n][kind] for n in counts] for model in models]) for kind in (0, 1))
        # (models, counts, positions), (models, counts, resamples, positions)
        for context, chosen in [(ANY, slice(None)), *((str(n), slice(i, i + 1)) for i, n in enumerate(counts))]:
            for reading in (OWN, MEAN) if len(models) > 1 else (OWN,):
                row = {"model": name, "context": context, "reading": reading}
                for unit in ("points", "relative"):
                    row |= numbers_of(means[:, chosen, None], draws[:, chosen], unit, reading, confidence)
                yield row


def numbers_of(means: Array, draws: Array, unit: str, reading: str, confidence: float) -> dict[str, float]:
    """From means (models, numbers of distractors, 1, positions) and resamples of them in the third place: the columns
    of one unit, `points` or `relative`."""
    value = float(_largest(means, unit, reading)[0])
    flat = np.clip(draws - means + means.max(axis=-1, keepdims=True), 0, 1)
    deviation = float(np.nanstd(_largest(draws, unit, reading)))
    noise = float(np.nanmean(_largest(flat, unit, reading)))
    half = normal_quantile(confidence) * deviation
    numbers = {"": value, "_low": max(0.0, value - half - noise), "_high": min(100.0, value + half)}
    numbers |= {"_deviation": deviation, "_without_effect": noise}
    return {unit + name: number for name, number in numbers.items()}


def _largest(curves: Array, unit: str, reading: str) -> Array:
    """From (models, numbers of distractors, resamples, positions), one number for each resample."""
    shown = curves.mean(axis=0, keepdims=True) if reading == MEAN else curves
    best, worst = shown.max(axis=-1), shown.min(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        drops = best - worst if unit == "points" else np.where(best > 0, 1 - worst / best, np.nan)
    return np.asarray(100 * drops.max(axis=1).mean(axis=0))
