"""CodeCrash: what more and more misleading messages cost, and how long answers become (Figure 4, Table 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pandas as pd

from codestress.fitting.bootstrap import cluster_bootstrap_mean
from codestress.papers.codecrash.results.conditions import CELL, SETTING, panel_name
from codestress.papers.codecrash.results.differences import differences
from codestress.papers.codecrash.studies import MESSAGES
from codestress.seeding import rng
from codestress.types import Response


def by_density(
    answers: pd.DataFrame, texts: Mapping[str, Response], *, rule: str, confidence: float, resamples: int, seed: int
) -> pd.DataFrame:
    """For each model, setting, perturbation and density (0: vanilla): Pass@1, difference to vanilla and tokens.

    Columns of `differences`, and tokens, tokens_low, tokens_high: the mean length of the whole answer as its server
    counts it (with what was thought before it), bootstrap over problems.
    """
    table = differences(answers, rule=rule, confidence=confidence, resamples=resamples, seed=seed)
    vanilla = answers[answers["perturbation"] == "VAN"]
    starts = []
    for perturbation in [name for name in MESSAGES if name in set(answers["perturbation"])]:
        starts.append(vanilla.assign(perturbation=perturbation))
    lengths = pd.concat([answers[answers["perturbation"] != "VAN"], *starts])
    lengths = lengths.assign(tokens=[_length(row.key, row.completion_tokens, texts) for row in lengths.itertuples()])
    rows = []
    for group, part in lengths.groupby(CELL, sort=False):
        estimate = cluster_bootstrap_mean(
            part["tokens"],
            part["problem"],
            confidence=confidence,
            resamples=resamples,
            rng=rng(seed, "tokens", *map(str, cast(tuple[Any, ...], group))),
        )
        scores = part.groupby("problem")[f"value_{rule}"].mean()
        rows.append(
            dict(zip(CELL, cast(tuple[Any, ...], group), strict=True))
            | {"tokens": estimate.value, "tokens_low": estimate.interval.low, "tokens_high": estimate.interval.high}
            | {"pass_at_1_pct": 100 * float(scores.mean())}
        )
    merged = pd.DataFrame(rows).merge(table.drop(columns="pass_at_1_pct"), on=CELL, how="left")
    zero = merged["density"] == 0
    for column in ("points", "points_low", "points_high", "relative_pct", "relative_low", "relative_high"):
        merged.loc[zero, column] = 0.0
    return merged.sort_values(CELL, kind="stable", ignore_index=True)


def _length(key: str, tokens: float | None, texts: Mapping[str, Response]) -> float:
    if tokens is not None and tokens == tokens:
        return float(tokens)
    return len(texts[key].text) / 4 if key in texts else float("nan")


def density_points(table: pd.DataFrame, *, show: str, relative: bool) -> pd.DataFrame:
    """The points to draw: model, panel, density, value, low, high."""
    names = ("relative_pct", "relative_low", "relative_high") if relative else ("points", "points_low", "points_high")
    columns = ["tokens", "tokens_low", "tokens_high"] if show == "tokens" else list(names)
    varying = [name for name in ("dataset", *SETTING) if table[name].nunique() > 1]
    panels = [
        ", ".join(filter(None, [row["perturbation"], panel_name(row, varying) if varying else ""]))
        for row in table.to_dict("records")
    ]
    return table.assign(panel=panels)[["model", "panel", "density", *columns]].set_axis(
        ["model", "panel", "density", "value", "low", "high"], axis=1
    )


def describe_density(points: pd.DataFrame, unit: str) -> str:
    """The figure in words."""
    parts = []
    for (panel, model), part in points.groupby(["panel", "model"], sort=False):
        ordered = part.sort_values("density")
        parts.append(
            f"{panel}, {model}: {ordered['value'].iloc[0]:.1f} {unit} without messages, "
            f"{ordered['value'].iloc[-1]:.1f} at p = {ordered['density'].iloc[-1]:g}"
        )
    return "Against the density of misleading messages. " + "; ".join(parts) + "."
