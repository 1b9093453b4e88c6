"""Accuracy against the share of lines removed (Sense and Sensitivity, Figures 5 and 6)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.curves import interval, legend_above, look, say_lack
from codestress.report.style import PUBLISHED, styled_figure


def removal_curve(
    points: pd.DataFrame,
    curves: pd.DataFrame,
    published: tuple[float, float] | None,
    *,
    programs: str,
    confidence: float,
) -> Figure:
    """A panel for each task. `points`: model, task, share_removed, asked, share, low, high; `curves` without asked, but
    with lack_of_fit.

    All from 0 to 1. Points grow with the number of programs behind them; bands are the curves' intervals.
    `published`: the one point that the paper states in numbers. `programs` names what lines were removed from.
    """
    tasks, models = (list(dict.fromkeys(points[name])) for name in ("task", "model"))
    figure = styled_figure(7.0, 3.6)
    panels = figure.subplots(1, len(tasks), sharex=True, sharey=True, squeeze=False)[0]
    for (task, model), part in points.groupby(["task", "model"], sort=False):
        ax, number = panels[tasks.index(task)], models.index(model)
        colour, marker = look(number)
        curve = curves[(curves["model"] == model) & (curves["task"] == task)]
        place = 100 * curve["share_removed"]
        share, low, high = interval(curve)
        ax.fill_between(place, low, high, color=colour, alpha=0.22, linewidth=0)
        ax.plot(place, share, color=colour, label=f"{model}: {part['n'].sum():,} versions of {programs}")
        place = 100 * part["share_removed"]
        share, _, _ = interval(part)  # of a few versions each: their own intervals are in the table
        ax.scatter(
            place,
            share,
            s=3 + 90 * part["n"] / part["n"].max(),
            alpha=0.75,
            marker=marker,
            color=colour,
            edgecolor="white",
            linewidth=0.5,
            zorder=3,
        )
    if published:
        panels[-1].plot(
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
    for ax, task in zip(panels, tasks, strict=True):
        ax.set(xlabel="lines removed (%)", xlim=(-2, 102), ylim=(-3, 103))
        ax.set_title(str(task).replace("_", " "))
    panels[0].set_ylabel("right answers (%)")
    title = f"exponential fits with {confidence:.0%} bands; area: versions behind a point"
    legend_above(figure, panels[-1], most=2, title=title, title_fontsize=7.5)
    lacks = curves.groupby(["model", "task"], sort=False)["lack_of_fit"].first()
    say_lack(figure, {f"{model} ({str(task).replace('_', ' ')})": lack for (model, task), lack in lacks.items()})
    return figure
