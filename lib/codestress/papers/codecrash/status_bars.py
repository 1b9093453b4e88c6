"""What became of perturbations, as stacked bars: applied, unchanged, rejected (CodeCrash)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import HATCHES, OTHER, RIGHT, WRONG, use_style

LOOKS = {"applied": (RIGHT, HATCHES[0]), "unchanged": (OTHER, HATCHES[1]), "rejected": (WRONG, HATCHES[3])}


def status_bars(table: pd.DataFrame) -> Figure:
    """`table`: panel, label, and the counts applied, unchanged, rejected. A panel for each data set and language."""
    use_style()
    panels = list(dict.fromkeys(table["panel"]))
    rows = [int((table["panel"] == panel).sum()) for panel in panels]
    figure = Figure(figsize=(7.0, 0.6 + 0.22 * sum(rows) + 0.35 * len(panels)))
    axes = figure.subplots(len(panels), 1, height_ratios=rows, squeeze=False)[:, 0]
    for ax, panel in zip(axes, panels, strict=True):
        part = table[table["panel"] == panel]
        left = pd.Series(0, index=part.index)
        for status, (colour, hatch) in LOOKS.items():
            bars = ax.barh(
                range(len(part)), part[status], 0.8, left, color=colour, hatch=hatch, edgecolor="white", label=status
            )
            ax.bar_label(bars, [f"{n}" if n else "" for n in part[status]], label_type="center", fontsize=6.5)
            left = left + part[status]
        ax.set_yticks(range(len(part)), part["label"])
        ax.set_ylim(len(part) - 0.4, -0.6)
        ax.set_xlim(0, left.max())
        ax.set_title(panel)
        ax.grid(False)
    axes[-1].set_xlabel("problems")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=3)
    return figure
