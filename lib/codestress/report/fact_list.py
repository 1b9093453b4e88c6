"""A table of facts as a picture."""

from textwrap import shorten

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from .style import OTHER, use_style

WIDEST = 60
"""Maximum number of characters in a cell."""


def fact_list(table: pd.DataFrame) -> Figure:
    """Returns a figure that shows the rows of `table` as text, below the columns' names; a long
    cell is cut after a word."""
    use_style()
    cells = [[name.replace("_", " ") for name in table]]
    for row in table.to_numpy():
        texts = [f"{v:,.9g}" if type(v) in (int, float) else str(v) for v in row]
        cells.append([shorten(text, WIDEST, placeholder=" …") for text in texts])
    longest = [max(map(len, column)) + 3 for column in zip(*cells, strict=True)]
    widths = [width / sum(longest) for width in longest]
    figure = Figure(figsize=(7.0, 0.2 * len(cells) + 0.2), layout="none")  # type: ignore[arg-type]  # not in the stubs
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set_axis_off()
    ax.grid(False)
    drawn = ax.table(cells, cellLoc="left", bbox=Bbox.unit(), colWidths=widths)
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7)
    for cell in drawn.get_celld().values():
        cell.PAD = 0.02
        cell.set_edgecolor(OTHER)
        cell.set_linewidth(0.4)
    return figure
