"""A table of facts as a picture."""

from __future__ import annotations

import textwrap

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from codestress.report.style import OTHER, use_style

WIDEST = 44
"""Maximum number of characters of a line in a cell."""


def fact_list(table: pd.DataFrame) -> Figure:
    """Returns a figure that shows the rows of `table` as text, below the columns' names; long cells
    stand on several lines."""
    use_style()
    cells = []
    lines = [1]
    for row in table.to_numpy():
        texts = [textwrap.fill(str(value), WIDEST) for value in row]
        cells.append(texts)
        lines.append(1 + max(text.count("\n") for text in texts))
    names = [name.replace("_", " ") for name in table]
    longest = []
    for column in zip(names, *cells, strict=True):
        texts = "\n".join(column).split("\n")
        longest.append(max(map(len, texts)) + 3)
    figure = Figure(figsize=(7.0, 0.2 * sum(lines) + 0.2), layout="none")  # type: ignore[arg-type]  # not in the stubs
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.grid(False)
    widths = [width / sum(longest) for width in longest]
    drawn = ax.table(
        cells, colLabels=names, cellLoc="left", bbox=Bbox.unit(), colWidths=widths
    )
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7)
    for (row, _), cell in drawn.get_celld().items():
        cell.set_height(lines[row] / sum(lines))
        cell.PAD = 0.02
        cell.set_edgecolor(OTHER)
        cell.set_linewidth(0.4)
    return figure
