"""Accuracy against the position of the target in its context (Sense and Sensitivity, Figures 1 to 4 and 7 to 10)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.curves import draw_curves, legend_above
from codestress.report.style import styled_figure


def position_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """`points`: model, row, column (labels of the panels), depth, shown, low, high (0 to 1).

    A panel for each row and column, a curve with its interval for each model, all panels on one scale.
    """
    rows, columns, models = (list(dict.fromkeys(points[name])) for name in ("row", "column", "model"))
    figure = styled_figure(7.0, 1.0 + 1.65 * len(rows))
    panels = figure.subplots(len(rows), len(columns), sharex=True, sharey="row", squeeze=False)
    for (row, column), part in points.groupby(["row", "column"], sort=False):
        ax = panels[rows.index(row)][columns.index(column)]
        draw_curves(ax, part, models, "depth", value="shown", scale=100, size=3)
    for ax, column in zip(panels[0], columns, strict=True):
        ax.set_title(column)
    for ax, label in zip(panels[:, 0], rows, strict=True):
        ax.set_ylabel("\n".join([*label.split(", "), ylabel]))
        ax.set_ylim(-4, 104)
    for ax in panels[-1]:
        ax.set_xticks([0, 50, 100])
    figure.supxlabel("depth of the target in the context (% of the distractors before it)", fontsize=8)
    legend_above(figure, panels[0][0])
    return figure
