"""Differences to a baseline as dots with intervals, the paper's models in grey behind them (CodeCrash, tables)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, MARKERS, PUBLISHED, use_style

LONGEST_TITLE = 40


def difference_dots(points: pd.DataFrame, published: pd.DataFrame, *, xlabel: str, told: str) -> Figure:
    """`points`: model, panel, condition, value, low, high. `published`: panel, condition, value (a row for each of the
    paper's models), drawn as small grey dots with a bar at their mean, and named `told` in the legend.

    Three panels stand side by side, other numbers in two columns.
    """
    use_style()
    panels = list(dict.fromkeys(points["panel"]))
    conditions = list(dict.fromkeys(points["condition"]))
    models = list(dict.fromkeys(points["model"]))
    across = 3 if len(panels) == 3 else min(2, len(panels))
    down = -(-len(panels) // across)
    height = max(0.2, 0.1 + 0.09 * len(models))
    figure = Figure(figsize=(7.0, 0.8 + down * (0.5 + height * len(conditions))))
    axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for number, panel in enumerate(panels):
        ax = axes[number // across][number % across]
        _panel(ax, points[points["panel"] == panel], published[published["panel"] == panel], models, conditions)
        ax.set_title(panel if len(panel) < LONGEST_TITLE else panel.replace(", ", ",\n", 1))
    for number in range(len(panels), across * down):
        axes[number // across][number % across].set_visible(False)
    for ax in axes[:, 0]:
        ax.set_yticks(range(len(conditions)), conditions)
    axes[0][0].set_ylim(len(conditions) - 0.45, -0.55)
    figure.supxlabel(xlabel, fontsize=8)
    handles, names = axes[0][0].get_legend_handles_labels()
    if len(published):
        marks = axes[0][0].plot([], [], marker="o", markersize=2.5, linestyle="", color=PUBLISHED, alpha=0.5)
        handles, names = [*handles, *marks], [*names, told]
    figure.legend(handles, names, loc="outside upper center", ncols=min(4, len(names)))
    return figure


def _panel(ax: Axes, points: pd.DataFrame, published: pd.DataFrame, models: list[str], conditions: list[str]) -> None:
    ax.axvline(0, color="black", linewidth=0.8)
    for place, condition in enumerate(conditions):
        theirs = (
            published.loc[published["condition"] == condition, "value"] if len(published) else pd.Series(dtype=float)
        )
        if len(theirs):
            ax.plot(theirs, [place] * len(theirs), "o", color=PUBLISHED, alpha=0.3, markersize=2.5, zorder=1)
            ax.plot([theirs.mean()] * 2, [place - 0.3, place + 0.3], color=PUBLISHED, linewidth=1.5, zorder=1)
    step = 0.7 / max(1, len(models))
    for number, model in enumerate(models):
        part = points[points["model"] == model].set_index("condition").reindex(conditions)
        value, low, high = (part[name].to_numpy(float) for name in ("value", "low", "high"))
        places = [place - 0.35 + (number + 0.5) * step for place in range(len(conditions))]
        ax.errorbar(
            value,
            places,
            xerr=[value - low, high - value],
            fmt=MARKERS[number % len(MARKERS)],
            color=COLOURS[number % len(COLOURS)],
            markersize=3.5,
            elinewidth=1,
            capsize=1.5,
            label=model,
            zorder=2,
        )
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")
