"""Accuracy against the share of lines removed (Sense and Sensitivity, Figures 5 and 6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, MARKERS, PUBLISHED, use_style


def removal_curve(
    points: pd.DataFrame,
    curves: pd.DataFrame,
    published: tuple[float, float] | None,
    *,
    programs: str,
    confidence: float,
) -> Figure:
    """`points`: model, share_removed, asked, share, low, high; `curves`: model, share_removed, share, low, high.

    All from 0 to 1. Points grow with the number of programs behind them; bands are the curves' intervals.
    `published`: the one point that the paper states in numbers. `programs` names what lines were removed from.
    """
    use_style()
    figure = Figure(figsize=(7.0, 3.6))
    ax = figure.subplots()
    for number, (model, part) in enumerate(points.groupby("model", sort=False)):
        colour = COLOURS[number % len(COLOURS)]
        curve = curves[curves["model"] == model]
        ax.fill_between(
            100 * curve["share_removed"], 100 * curve["low"], 100 * curve["high"], color=colour, alpha=0.22, linewidth=0
        )
        ax.plot(
            100 * curve["share_removed"],
            100 * curve["share"],
            color=colour,
            label=f"{model}: exponential fit with {confidence:.0%} band",
        )
        share, low, high = (100 * part[column].to_numpy(float) for column in ("share", "low", "high"))
        ax.errorbar(
            100 * part["share_removed"],
            share,
            yerr=[share - low, high - share],
            fmt="none",
            ecolor=colour,
            elinewidth=0.7,
        )
        ax.scatter(
            100 * part["share_removed"],
            share,
            s=6 + 60 * part["asked"] / part["asked"].max(),
            marker=MARKERS[number % len(MARKERS)],
            color=colour,
            edgecolor="white",
            linewidth=0.5,
            zorder=3,
            label=f"{model}: {part['asked'].sum():,} versions of {programs} (area: versions behind a point)",
        )
    if published:
        ax.plot(
            100 * published[0],
            100 * published[1],
            marker="D",
            markersize=9,
            color=PUBLISHED,
            mfc="none",
            linestyle="none",
            zorder=4,
            label="published: one line removed, CRUXEval",
        )
    ax.set(xlabel="lines removed (%)", ylabel="right answers (%)", xlim=(-2, 102), ylim=(-3, 103))
    ax.legend(loc="upper right")
    return figure
