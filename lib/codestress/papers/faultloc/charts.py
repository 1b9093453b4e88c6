"""Fault Localizability's own charts: counts of programs (Figure 5), shares by two factors (Figure 9)."""

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


def heat_map(panels: dict[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """A panel for each title, one below the other; a table has row, column, accuracy (0 to 1) and perhaps what is true
    of instruments, which stands beside it, tasks, which is written under it, or a text in its place."""
    use_style()
    sizes = [frame["row"].nunique() for frame in panels.values()]
    figure = Figure(figsize=(5.6, 0.7 + 0.36 * sum(sizes) + 0.45 * len(panels)))
    axes = figure.subplots(len(panels), 1, height_ratios=sizes, squeeze=False)[:, 0]
    order = list(dict.fromkeys(column for frame in reversed(panels.values()) for column in frame["column"]))
    for ax, (title, frame) in zip(axes, panels.items(), strict=True):
        rows = list(dict.fromkeys(frame["row"]))
        columns = [one for one in order if one in set(frame["column"])]
        grid = frame.pivot_table(index="row", columns="column", values="accuracy", sort=False).reindex(rows)[columns]
        ax.imshow(grid.to_numpy(float), cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for cell in frame.itertuples():
            text = getattr(cell, "text", f"{100 * cell.accuracy:.0f} %")
            if pd.notna(getattr(cell, "true", None)):
                text += f" (true: {100 * cell.true:.0f})"
            if hasattr(cell, "tasks"):
                text += f"\nof {int(cell.tasks):,}"
            colour = "white" if cell.accuracy > 0.6 else "black"
            place = (columns.index(cell.column), rows.index(cell.row))
            ax.annotate(text, place, ha="center", va="center", fontsize=6.5, color=colour)
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(rows)), rows)
        ax.tick_params(length=0)
        ax.grid(False)
        ax.set_title(title)
    axes[-1].set_xlabel(xlabel)
    return figure
