"""Marks: places of a figure that open answers, each with the cell (group of answers)
that it counts.

A chart calls `mark` for its bars and points; `publish` writes the links.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike

Factors = Mapping[Hashable, Any]
"""Dict from columns of `Results.answers` to values. The values together select a cell,
which is a group of answers."""
Box = tuple[float, float, float, float]
"""Left, top, width and height of a box, as shares of the picture's width and height."""
PUBLISHED: Factors = {}
"""Empty cell, which stands for a published number; the mark opens the number's source.
"""
SMALLEST = 12.0
"""Smallest width and height of a mark's clickable box, in pixels of the figure."""


class Mark(Rectangle):
    """An invisible rectangle of a panel, in data coordinates, with the cell (values of
    columns that select answers) that a click opens."""

    def __init__(
        self, cell: Factors, x: float, y: float, width: float, height: float
    ) -> None:
        corner = x - width / 2, y - height / 2
        super().__init__(corner, width, height, visible=False, in_layout=False)
        self.cell = cell


def with_cells(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return `table` with the added column `cell`, a dict in each row from the names in
    `columns` to the row's values.

    With this dict a mark finds the answers behind the row.
    """
    return table.assign(cell=table[list(columns)].to_dict("records"))


def mark(
    ax: Axes,
    rows: pd.DataFrame,
    x: ArrayLike,
    y: ArrayLike,
    width: ArrayLike = 0.0,
    height: ArrayLike = 0.0,
    *,
    published: bool = False,
) -> None:
    """Add a mark to the panel `ax` for each of `rows` with a dict in the column `cell`.

    A row without a dict gets no mark, or, if `published` is true, a mark that opens the
    numbers' source. A mark is a rectangle of `width` and `height` with its centre at
    (`x`, `y`), all in data coordinates. Each of these arguments is one number or has a
    number for each row.
    """
    cells = rows.reindex(columns=["cell"])["cell"]
    places = np.broadcast_arrays(rows.index, x, y, width, height)[1:]
    for cell, *place in zip(cells, *places, strict=True):
        if isinstance(cell, Mapping):
            ax.add_artist(Mark(cell, *place))
        elif published:
            ax.add_artist(Mark(PUBLISHED, *place))


def marked(figure: Figure, picture: Bbox) -> list[tuple[Box, Factors]]:
    """Return, for each mark of a figure that is laid out, its box and its cell.

    A box is in shares of the saved part (`picture`, in inches), and at least `SMALLEST`
    pixels wide and high. Marks at a place that is not finite are left out.
    """
    low, high = figure.dpi * picture.get_points()
    places = []
    for artist in figure.findobj(Mark):
        assert isinstance(artist, Mark)
        corners = artist.get_window_extent().get_points()
        if not np.isfinite(corners).all():
            continue
        middle = corners.mean(axis=0)
        size = np.maximum(np.ptp(corners, axis=0), SMALLEST)
        left, bottom = (middle - size / 2 - low) / (high - low)
        width, height = size / (high - low)
        places.append(((left, 1 - bottom - height, width, height), artist.cell))
    return places
