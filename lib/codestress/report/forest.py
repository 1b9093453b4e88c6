"""Estimates with intervals under each other, one line for each name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from codestress.report.style import COLOURS, MARKERS


def forest(
    ax: Axes, rows: pd.DataFrame, names: Sequence[str], *, series: str | None = None, decided: bool = False
) -> None:
    """Draws `rows` (label, value, low, high in the axis' unit) at the height of their label in `names`.

    `series`: a column whose values are drawn beside each other, each with its colour and marker. `decided`: the column
    `decided` (bool) fills the marker; what is not decided is hollow. A value that is not finite, or 0 on a
    logarithmic axis, is left out, its interval is drawn as far as the axis goes.
    """
    groups = [("", rows)] if series is None else list(rows.groupby(series, sort=False))
    shift = np.linspace(-0.27, 0.27, len(groups)) if len(groups) > 1 else [0.0]
    for number, (label, part) in enumerate(groups):
        colour = COLOURS[number]
        for row in part.itertuples():
            y = names.index(row.label) + shift[number]
            left, right = ax.get_xlim()
            low, high = max(row.low, left), min(row.high, right)
            ax.plot([low, high], [y, y], color=colour, linewidth=1.1)
            for end, beyond, marker in ((low, row.low < left, "<"), (high, row.high > right, ">")):
                if beyond:
                    ax.plot([end], [y], marker=marker, color=colour, markersize=3.5, clip_on=False)
            if left < row.value < right:
                face = "white" if decided and not row.decided else colour
                look: dict[str, Any] = {"marker": MARKERS[number], "color": colour, "markerfacecolor": face}
                ax.plot([row.value], [y], **look, linestyle="none", markersize=4)
        if label:
            ax.plot([], [], marker=MARKERS[number], color=colour, linewidth=1.1, label=str(label))
    ax.set_yticks(range(len(names)), list(names))
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.tick_params(axis="y", length=0)
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")
