"""A quantity against how much was put in: messages (CodeCrash, Figure 4)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.curves import draw_curves, legend_above
from codestress.report.style import styled_figure


def density_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """`points`: model, panel, density (what is put in), value, low, high. A panel for each kind of thing put in."""
    panels, models = (list(dict.fromkeys(points[name])) for name in ("panel", "model"))
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure = styled_figure(7.0, 0.7 + 2.1 * down)
    axes = list(figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).flat)
    for ax, panel in zip(axes, panels, strict=False):
        draw_curves(ax, points[points["panel"] == panel], models, "density", value="value", scale=1, size=3.5)
        ax.set_title(panel)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    figure.supxlabel("share of the places that get a message (p)", fontsize=8)
    figure.supylabel(ylabel, fontsize=8)
    legend_above(figure, *axes[: len(panels)], most=4)
    return figure
