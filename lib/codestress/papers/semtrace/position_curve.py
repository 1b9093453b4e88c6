"""Accuracy against the place of the target in its context (Sense and Sensitivity, Figures 1 to 4 and 7 to 10)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, MARKERS, use_style


def position_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """`points`: model, row, column (labels of the panels), place, share, low, high (0 to 1).

    A panel for each row and column, a curve with its interval for each model, all panels on one scale.
    """
    use_style()
    rows, columns = (list(dict.fromkeys(points[name])) for name in ("row", "column"))
    models = list(dict.fromkeys(points["model"]))
    figure = Figure(figsize=(7.0, 1.0 + 1.65 * len(rows)))
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey="row", squeeze=False)
    for (row, column), part in points.groupby(["row", "column"], sort=False):
        ax = panels[rows.index(row)][columns.index(column)]
        for number, model in enumerate(models):
            curve = part[part["model"] == model].sort_values("place")
            share, low, high = (100 * curve[name].to_numpy(float) for name in ("share", "low", "high"))
            colour = COLOURS[number % len(COLOURS)]
            ax.fill_between(100 * curve["place"], low, high, color=colour, alpha=0.15, linewidth=0)
            ax.plot(
                100 * curve["place"],
                share,
                color=colour,
                marker=MARKERS[number % len(MARKERS)],
                markersize=3,
                label=model,
            )
    for index, ax in enumerate(panels[0]):
        ax.set_title(columns[index])
    for index, label in enumerate(rows):
        panels[index][0].set_ylabel(f"{label}\n{ylabel}")
        panels[index][0].set_ylim(-4, 104)
    for ax in panels[-1]:
        ax.set_xticks([0, 50, 100])
    figure.supxlabel("place of the target in the context (% of the distractors before it)", fontsize=8)
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(5, len(names)))
    return figure
