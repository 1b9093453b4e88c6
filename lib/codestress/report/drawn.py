"""What a figure draws, read from the figure itself: each bar, point and field with its place, its value and the words
that stand beside it. No chart has to say anything for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FuncFormatter
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from codestress.report.style import PUBLISHED

REACH = 6.0
"""Half the side of the square around a point that can be clicked, in pixels of the figure."""
MOST_FIELDS = 2000
NO_POINTS = ("None", "", " ", "|", "_")
"""Markers of lines without points, and of the ends of error bars."""


class Drawn(NamedTuple):
    """A bar, a point or a field."""

    box: tuple[float, float, float, float]
    """Left, top, width and height, as shares of the picture's."""
    words: str
    """Its series, its panel and the label of its tick, a line each."""
    value: float
    """As drawn: mostly in %. NaN where its place is all that it shows."""
    at: float
    """Where it stands along the other axis, where that has numbers; else NaN."""
    rank: tuple[int, int]
    """The how manieth of how many points of its series, along that axis."""


def drawn(figure: Figure, picture: Bbox) -> list[Drawn]:
    """Of a figure that was laid out; `picture` is the part of it that is saved, in inches. What the papers publish
    (grey, or in a panel that says so) is left out."""
    frame = Bbox(picture.get_points() * figure.dpi)
    found = []
    for ax in figure.axes:
        title = "".join(ax.get_title(loc) for loc in ("left", "center", "right"))
        shown = ax.get_visible() and not title.casefold().startswith("published")
        for one in _of_axes(ax, title) if shown else ():
            left, bottom, right, top = one.box
            corner = (left - frame.x0) / frame.width, (frame.y1 - top) / frame.height
            size = (right - left) / frame.width, (top - bottom) / frame.height
            found.append(one._replace(box=(*corner, *size)))
    return found


def _of_axes(ax: Axes, title: str) -> Iterator[Drawn]:
    """With the box's left, bottom, right and top in pixels."""
    panel = "\n".join([title, ax.get_ylabel(), ax.get_xlabel()])
    across, up = _names(ax.xaxis), _names(ax.yaxis)
    owners = {id(bars[0]): bars for bars in ax.containers if not isinstance(bars, BarContainer) and len(bars)}
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            yield from _bars(bars, panel, up if bars.orientation == "horizontal" else across)
    for line in ax.lines:
        if str(line.get_marker()) not in NO_POINTS and line.get_color() != PUBLISHED:
            label = owners.get(id(line), line).get_label()  # of one that belongs to error bars, theirs
            yield from _points(ax, np.column_stack(line.get_data()), f"{label}\n{panel}", across, up)
    for collection in ax.collections:
        if isinstance(collection, PathCollection):
            offsets = np.ma.filled(np.ma.asarray(collection.get_offsets()).astype(float), np.nan)
            yield from _points(ax, offsets, f"{collection.get_label()}\n{panel}", across, up)
        elif isinstance(collection, PolyCollection) and up and ax.get_xlabel():
            yield from _rows(ax, collection, panel, up)
    for image in ax.images:
        values = np.ma.filled(np.ma.asarray(image.get_array()).astype(float), np.nan)
        for (y, x), value in np.ndenumerate(values) if values.ndim == 2 and values.size <= MOST_FIELDS else ():
            box = Bbox(ax.transData.transform([[x - 0.5, y - 0.5], [x + 0.5, y + 0.5]]))
            words = f"{panel}\n{_at(up, y)}\n{_at(across, x)}"
            yield Drawn((*box.min, *box.max), words, float(value), np.nan, (0, 0))


def _bars(bars: BarContainer, panel: str, names: Names) -> Iterator[Drawn]:
    for number, bar in enumerate(bars.patches):
        box = bar.get_window_extent()
        if bar.get_facecolor()[:3] == to_rgb(PUBLISHED) or not np.isfinite(box.get_points()).all():
            continue
        value, middle = bar.get_height(), bar.get_x() + bar.get_width() / 2
        if bars.orientation == "horizontal":
            value, middle = bar.get_width(), bar.get_y() + bar.get_height() / 2
        thick = (box.x0, box.y0, max(box.x1, box.x0 + REACH), max(box.y1, box.y0 + REACH))
        words = f"{bars.get_label()}\n{panel}\n{_at(names, middle)}"
        yield Drawn(thick, words, float(value), np.nan if names else float(middle), (number, len(bars.patches)))


def _points(ax: Axes, points: NDArray[np.float64], words: str, across: Names, up: Names) -> Iterator[Drawn]:
    points = points.astype(float)
    known = points[np.isfinite(points).all(axis=1)]
    lying = bool(up and not across)
    names = up if lying else across
    for rank, place in enumerate(known[np.argsort(known[:, int(lying)], kind="stable")]):
        at, value = place[::-1] if lying else place
        middle, told = ax.transData.transform(place), f"{words}\n{_at(names, at)}"
        box = (*(middle - REACH), *(middle + REACH))
        yield Drawn(box, told, float(value), np.nan if names else float(at), (rank, len(known)))


def _rows(ax: Axes, collection: PolyCollection, panel: str, up: Names) -> Iterator[Drawn]:
    """Bars of neighbouring fields: a small part for each of their whole numbers, one of which is a field's place."""
    for path in collection.get_paths():
        ends = path.get_extents()
        box = Bbox(ax.transData.transform(ends.get_points()))
        (left, bottom), (right, top) = box.min, box.max
        middle = (ends.y0 + ends.y1) / 2
        for x in range(int(np.ceil(ends.x0)), int(np.floor(ends.x1)) + 1):
            px = ax.transData.transform((x, middle))[0]
            field = (max(px - REACH / 2, left), bottom, min(px + REACH / 2, right), top)
            yield Drawn(field, f"{panel}\n{_at(up, middle)}", np.nan, float(x), (0, 0))


Names = list[tuple[float, str]]


def _names(axis: Axis) -> Names:
    """Places and names of an axis's ticks, also where a panel beside it shows them; empty where it has numbers."""
    places, formatter = axis.get_ticklocs().tolist(), axis.get_major_formatter()
    named = formatter.format_ticks(places) if isinstance(formatter, FixedFormatter | FuncFormatter) else []
    return list(zip(places, named, strict=True)) if re.search("[^\\W\\d]", " ".join(named)) else []


def _at(names: Names, place: float) -> str:
    """The label that stands at a place of an axis of names; empty where there is none."""
    near = min(((abs(at - place), name) for at, name in names), default=(1.0, ""))
    return near[1] if near[0] < 0.5 else ""
