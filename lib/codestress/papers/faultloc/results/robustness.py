"""Fault Localizability: what rewriting a program does to its fault's localization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pandas as pd

from codestress.fitting.bootstrap import cluster_weights, percentile_interval
from codestress.fitting.proportions import clustered_share
from codestress.papers.faultloc.results.conditions import with_seed
from codestress.seeding import rng
from codestress.types import LANGUAGE_NAMES, Outcome


def robustness(answers: pd.DataFrame, by: Sequence[str], *, rule: str, confidence: float) -> pd.DataFrame:
    """Tasks that a model localized, asked again under mutations: one row for each model and combination of `by`.

    Columns: model, `by`, tasks (all, with their mutations), localized (of those, localized before), asked_again (those
    to which a neutral mutation could be made), found_again, share (of asked again), low, high (Wilson,
    programs counted), accuracy_reference. tasks = asked_again + skipped (checked).
    """
    mutated = with_seed(answers[answers["spm"] != "none"])
    skipped = mutated[f"outcome_{rule}"] == Outcome.SKIPPED.value
    before = mutated[f"detail_{rule}"].eq("not localized before")
    mutated = mutated.assign(skipped=skipped, before=~(skipped & before))
    rows = []
    for group, part in mutated.groupby(["model", *by], sort=False):
        names = cast(tuple[Any, ...], group)
        asked = part[~part["skipped"]]
        if len(asked) + int(part["skipped"].sum()) != len(part):
            raise AssertionError(f"{names}: {len(asked)} asked and {part['skipped'].sum()} skipped of {len(part)}")
        estimate = clustered_share(asked[f"value_{rule}"], asked["seed_program"], confidence)
        found, reference = int(asked[f"value_{rule}"].sum()), float(asked["value_reference"].mean())
        told = (len(part), int(part["before"].sum()), len(asked), found)
        rows.append((*names, *told, estimate.value, *estimate.interval, reference))
    counts = ["tasks", "localized", "asked_again", "found_again"]
    return pd.DataFrame(rows, columns=["model", *by, *counts, "accuracy", "low", "high", "accuracy_reference"])


def strength_slopes(answers: pd.DataFrame, *, rule: str, confidence: float, resamples: int, seed: int) -> pd.DataFrame:
    """Least-squares slope of robust accuracy over strength, in points a step, for each model and language (section
    V-B3); programs are resampled, so that what a program adds to all strengths cancels."""
    again = with_seed(answers[(answers["spm"] != "none") & (answers[f"outcome_{rule}"] != Outcome.SKIPPED.value)])
    rows = []
    for (model, language), part in again.groupby(["model", "language"], sort=False):
        codes, programs = pd.factorize(part["seed_program"])
        x, y = part["strength"].to_numpy(float), 100 * part[f"value_{rule}"].to_numpy(float)
        sums = np.stack([np.bincount(codes, w, len(programs)) for w in (np.ones_like(x), x, y, x * x, x * y)])
        slope = float(_slope(sums.sum(axis=1)))
        low = high = np.nan
        if len(programs) > 1:
            weights = cluster_weights(len(programs), resamples, rng(seed, "slope", model, language))
            low, high = percentile_interval(_slope((weights @ sums.T).T), confidence)
        rows.append((model, language, slope, low, high, len(programs), len(part)))
    return pd.DataFrame(rows, columns=["model", "language", "slope", "low", "high", "programs", "answers"])


def _slope(sums: np.ndarray) -> Any:
    """Slope from n, Σx, Σy, Σx², Σxy; nan where all x are equal."""
    n, sx, sy, sxx, sxy = sums
    spread = n * sxx - sx * sx
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, (n * sxy - sx * sy) / spread, np.nan)


def strength_points(table: pd.DataFrame) -> pd.DataFrame:
    """Curves of `density_curve`'s form: model, panel (language and mutation), density (the strength), value, low,
    high in %."""
    panels = [f"{LANGUAGE_NAMES[row.language]}, {row.spm.replace('_', ' ')}" for row in table.itertuples()]
    points = table[["model"]].assign(panel=panels, density=table["strength"], value=100 * table["accuracy"])
    return points.assign(low=100 * table["low"], high=100 * table["high"])


def describe_strengths(points: pd.DataFrame) -> str:
    """The figure in words."""
    parts = []
    for (panel, model), part in points.groupby(["panel", "model"], sort=False):
        ordered = part.sort_values("density")
        parts.append(f"{panel}, {model}: {ordered['value'].iloc[0]:.0f} % to {ordered['value'].iloc[-1]:.0f} %")
    return "Localized again, from the lowest strength to the highest. " + "; ".join(parts) + "."


def skipped_reasons(answers: pd.DataFrame, rule: str) -> pd.DataFrame:
    """Why trials were skipped: model, language, spm, why, trials."""
    skipped = answers[answers[f"outcome_{rule}"] == Outcome.SKIPPED.value].rename(columns={f"detail_{rule}": "why"})
    return (
        skipped.groupby(["model", "language", "spm", "why"], as_index=False, sort=False)
        .size()
        .rename(columns={"size": "trials"})
    )
