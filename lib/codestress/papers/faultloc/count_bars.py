"""Counts as bars, a panel for each source (Fault Localizability, Figure 5)."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, PUBLISHED, use_style


def count_bars(panels: dict[str, pd.DataFrame], *, ylabel: str) -> Figure:
    """A table has label and count; panels whose title begins with `published` are grey."""
    use_style()
    figure = Figure(figsize=(7.0, 2.3))
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, frame) in zip(axes, panels.items(), strict=True):
        colour = PUBLISHED if title.startswith("published") else COLOURS[0]
        bars = ax.bar(range(len(frame)), frame["count"], color=colour)
        ax.bar_label(bars, fontsize=6.5)
        ax.set_xticks(range(len(frame)), frame["label"], rotation=45, ha="right", fontsize=6.5)
        ax.set_title(title, fontsize=7.5)
    axes[0].set_ylabel(ylabel)
    return figure
