"""A quantity against how much was put in: messages (CodeCrash, Figure 4), mutations (Fault Localizability, 8)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, MARKERS, use_style


def density_curve(
    points: pd.DataFrame, *, ylabel: str, xlabel: str = "share of the places that get a message (p)"
) -> Figure:
    """`points`: model, panel, density (what is put in), value, low, high. A panel for each kind of thing put in."""
    use_style()
    panels = list(dict.fromkeys(points["panel"]))
    models = list(dict.fromkeys(points["model"]))
    across = min(2, len(panels))
    down = -(-len(panels) // across)
    figure = Figure(figsize=(7.0, 0.7 + 2.1 * down))
    axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for place, panel in enumerate(panels):
        ax = axes[place // across][place % across]
        for number, model in enumerate(models):
            curve = points[(points["panel"] == panel) & (points["model"] == model)].sort_values("density")
            colour = COLOURS[number % len(COLOURS)]
            ax.fill_between(curve["density"], curve["low"], curve["high"], color=colour, alpha=0.15, linewidth=0)
            ax.plot(
                curve["density"],
                curve["value"],
                color=colour,
                marker=MARKERS[number % len(MARKERS)],
                markersize=3.5,
                label=model,
            )
        ax.set_title(panel)
    for place in range(len(panels), across * down):
        axes[place // across][place % across].set_visible(False)
    figure.supxlabel(xlabel, fontsize=8)
    figure.supylabel(ylabel, fontsize=8)
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(4, len(names)))
    return figure
