"""A table of facts as a picture."""

from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from .style import OTHER, styled_figure

WIDEST = 60
"""Maximum number of characters in a line of a cell."""


def fact_list(table: pd.DataFrame) -> Figure:
    """Return a figure that shows the rows of `table` as text, below the columns' names; a long
    cell has several lines."""
    cells = [[name.replace("_", " ") for name in table]]
    for row in table.to_numpy():
        texts = [f"{v:,.9g}" if type(v) in (int, float) else str(v) for v in row]
        cells.append([fill(text, WIDEST) for text in texts])
    widths = []
    for column in zip(*cells, strict=True):
        widths.append(max(map(len, "\n".join(column).split("\n"))) + 3)
    lines = [1 + max(text.count("\n") for text in row) for row in cells]
    figure = styled_figure(7.0, 0.2 * sum(lines) + 0.2)
    figure.set_layout_engine("none")
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    drawn = ax.table(cells, cellLoc="left", bbox=Bbox.unit(), colWidths=widths)
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7)
    for (row, _), cell in drawn.get_celld().items():
        cell.PAD = 0.02
        cell.set(height=lines[row], edgecolor=OTHER, linewidth=0.4)
    return figure
