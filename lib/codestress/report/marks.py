"""Marks: places of a figure that open answers, each with the cell of answers that it counts.

A chart calls `mark` where it draws; `publish` writes the links.
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
"""Values of columns of `Results.answers`; together they select a cell, which is a group of
answers."""
Box = tuple[float, float, float, float]
"""Left, top, width and height of a box, as shares of the picture's width and height."""
PUBLISHED: Factors = {}
"""In place of a cell: a published number, whose source the mark opens."""
SMALLEST = 12.0
"""Smallest width and height of the clickable square around a point, in pixels of the figure."""


class Mark(Rectangle):
    """A rectangle of a panel, in data coordinates, that is not drawn, and the cell (a choice of
    answers by values of columns) that a click on it opens."""

    def __init__(
        self, cell: Factors, x: float, y: float, width: float, height: float
    ) -> None:
        corner = x - width / 2, y - height / 2
        super().__init__(corner, width, height, visible=False, in_layout=False)
        self.cell = cell


def with_cells(table: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Returns `table` with the added column `cell`: in each row a mapping of the names in `columns`
    to the row's values, by which a mark finds the answers behind the row."""
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
    """Adds a mark to the panel `ax` for each of `rows` with a mapping in the column `cell`. Others
    get none, or one that opens the numbers' source where they are `published`. A mark is a
    rectangle of `width` and `height` with its centre at (`x`, `y`), all in data coordinates, one
    number or one for each row."""
    cells = rows.reindex(columns=["cell"])["cell"]
    places = np.broadcast_arrays(rows.index, x, y, width, height)[1:]
    for cell, *place in zip(cells, *places, strict=True):
        if isinstance(cell, Mapping):
            ax.add_artist(Mark(cell, *place))
        elif published:
            ax.add_artist(Mark(PUBLISHED, *place))


def marked(figure: Figure, picture: Bbox) -> list[tuple[Box, Factors]]:
    """Returns the marks of a figure that is laid out: for each, its box in shares of the saved part
    (`picture`, in inches), at least `SMALLEST` pixels wide and high, and its cell. Marks at a place
    that is not finite are left out."""
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
