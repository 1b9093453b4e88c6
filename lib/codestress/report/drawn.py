"""What a figure draws, read from the figure itself: each bar, point and field with its place, its value and the words
that stand beside it. No chart has to say anything for it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FixedFormatter, FuncFormatter
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from codestress.report.style import PUBLISHED

REACH = 6.0
"""Half the side of the square around a point that can be clicked, in pixels of the figure."""
NO_POINTS = ("None", "", " ", "|", "_")
"""Markers of lines without points, and of the ends of error bars."""


@dataclass(frozen=True)
class Drawn:
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
        shown = ax.get_visible() and not _title(ax).casefold().startswith("published")
        for one in _of_axes(ax) if shown else ():
            left, bottom, right, top = one.box
            corner = (left - frame.x0) / frame.width, (frame.y1 - top) / frame.height
            size = (right - left) / frame.width, (top - bottom) / frame.height
            found.append(replace(one, box=(*corner, *size)))
    return found


def _of_axes(ax: Axes) -> Iterator[Drawn]:
    """With the box's left, bottom, right and top in pixels."""
    panel = "\n".join([_title(ax), ax.get_ylabel(), ax.get_xlabel()])
    for container in ax.containers:
        if isinstance(container, BarContainer):
            yield from _bars(ax, container, panel)
    for line in ax.lines:
        if str(line.get_marker()) not in NO_POINTS and line.get_color() != PUBLISHED:
            label = _series(ax, line)
            yield from _points(ax, np.column_stack(line.get_data()), f"{label}\n{panel}")
    for collection in ax.collections:
        if isinstance(collection, PathCollection):
            offsets = np.asarray(np.ma.filled(np.ma.asarray(collection.get_offsets()).astype(float), np.nan))
            yield from _points(ax, offsets, f"{collection.get_label()}\n{panel}")
        elif isinstance(collection, PolyCollection) and _fixed(ax.yaxis) and ax.get_xlabel():
            yield from _rows(ax, collection, panel)
    for image in ax.images:
        yield from _fields(ax, image, panel)


def _series(ax: Axes, line: Artist) -> str:
    """A line's name; of one that belongs to error bars, theirs."""
    bars = [one for one in ax.containers if not isinstance(one, BarContainer) and len(one) and one[0] is line]
    return str((bars[0] if bars else line).get_label())


def _bars(ax: Axes, bars: BarContainer, panel: str) -> Iterator[Drawn]:
    across = bars.orientation == "horizontal"
    axis = ax.yaxis if across else ax.xaxis
    for number, bar in enumerate(bars.patches):
        if bar.get_facecolor()[:3] == to_rgb(PUBLISHED):
            continue
        box = bar.get_window_extent()
        if not np.isfinite(box.get_points()).all():
            continue
        middle = bar.get_y() + bar.get_height() / 2 if across else bar.get_x() + bar.get_width() / 2
        value = bar.get_width() if across else bar.get_height()
        thick = Bbox([[box.x0, box.y0], [max(box.x1, box.x0 + REACH), max(box.y1, box.y0 + REACH)]])
        words = f"{bars.get_label()}\n{panel}\n{_tick(axis, middle)}"
        at = np.nan if _fixed(axis) else middle
        yield Drawn(thick.extents, words, float(value), float(at), (number, len(bars.patches)))


def _points(ax: Axes, points: NDArray[np.float64], words: str) -> Iterator[Drawn]:
    points = points.astype(float)
    known = points[np.isfinite(points).all(axis=1)]
    across = _fixed(ax.yaxis) and not _fixed(ax.xaxis)
    for rank, (x, y) in enumerate(known[np.argsort(known[:, 1 if across else 0], kind="stable")]):
        px, py = ax.transData.transform((x, y))
        axis, value, at = (ax.yaxis, x, y) if across else (ax.xaxis, y, x)
        box = Bbox([[px - REACH, py - REACH], [px + REACH, py + REACH]])
        named, place = _tick(axis, at), np.nan if _fixed(axis) else at
        yield Drawn(box.extents, f"{words}\n{named}", float(value), float(place), (rank, len(known)))


def _rows(ax: Axes, collection: PolyCollection, panel: str) -> Iterator[Drawn]:
    """Bars of neighbouring fields: a small part for each of their whole numbers, one of which is a field's place."""
    for path in collection.get_paths():
        ends = path.get_extents()
        corners = ax.transData.transform(ends.get_points())
        box = Bbox([corners.min(axis=0), corners.max(axis=0)])
        middle = (ends.y0 + ends.y1) / 2
        words = f"{panel}\n{_tick(ax.yaxis, middle)}"
        for x in range(int(np.ceil(ends.x0)), int(np.floor(ends.x1)) + 1):
            px = ax.transData.transform((x, middle))[0]
            field = Bbox([[max(px - REACH / 2, box.x0), box.y0], [min(px + REACH / 2, box.x1), box.y1]])
            yield Drawn(field.extents, words, np.nan, float(x), (0, 0))


def _fields(ax: Axes, image: AxesImage, panel: str) -> Iterator[Drawn]:
    values = np.asarray(np.ma.filled(np.ma.asarray(image.get_array()).astype(float), np.nan))
    if values.ndim != 2 or values.size > 2000:
        return
    for (y, x), value in np.ndenumerate(values):
        corners = ax.transData.transform([[x - 0.5, y - 0.5], [x + 0.5, y + 0.5]])
        box = Bbox([corners.min(axis=0), corners.max(axis=0)])
        words = f"{panel}\n{_tick(ax.yaxis, y)}\n{_tick(ax.xaxis, x)}"
        yield Drawn(box.extents, words, float(value), np.nan, (0, 0))


def _fixed(axis: Axis) -> bool:
    """Whether an axis has names, not numbers."""
    return any(re.search("[^\\W\\d]", name) for _, name in _names(axis))


def _names(axis: Axis) -> list[tuple[float, str]]:
    """Places and names of an axis's ticks, also where a panel beside it shows them; empty where it has numbers."""
    places, formatter = axis.get_ticklocs().tolist(), axis.get_major_formatter()
    named = isinstance(formatter, FixedFormatter | FuncFormatter)
    return list(zip(places, formatter.format_ticks(places), strict=True)) if named else []


def _title(ax: Axes) -> str:
    return "".join(ax.get_title(loc) for loc in ("left", "center", "right"))


def _tick(axis: Axis, place: float) -> str:
    """The label that stands at a place of an axis of names; empty where there is none."""
    near = [(abs(at - place), name) for at, name in _names(axis)] if _fixed(axis) else []
    return min(near)[1] if near and min(near)[0] < 0.5 else ""
