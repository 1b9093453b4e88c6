"""Parts of charts: panels, rows, curves and points with intervals, each with a colour and a
marker."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .marks import mark
from .style import (
    COLOURS,
    MARKERS,
    PUBLISHED,
    Look,
    look_at,
    looks,
    styled_figure,
)

Array = NDArray[np.float64]
MEAN = "mean over models"
"""Name of the curve that is the mean over models."""


def look(number: int) -> Look:
    """Returns the look of a figure's condition by its number, from 0; after the last one they begin
    again. Models have looks of their own: `looks`."""
    return look_at(number, COLOURS, MARKERS)


def interval(
    points: pd.DataFrame, value: str = "accuracy", scale: float = 100
) -> tuple[Array, list[Array]]:
    """Returns the values of the column `value` of `points`, and the lengths of their intervals
    below and above them, all times `scale` (100: shares in %). `points` also has the columns `low`
    and `high`, the ends of the intervals, in the unit of `value`."""
    middle, low, high = scale * points[[value, "low", "high"]].to_numpy(float).T
    return middle, [middle - low, high - middle]


def panels(
    titles: Sequence[str],
    across: int,
    height: float,
    width: float = 7.0,
    **options: Any,
) -> tuple[Figure, list[Axes]]:
    """Returns a new figure and its panels (Matplotlib axes), one for each of `titles`, at most
    `across` side by side; `options` go to Matplotlib's `subplots`. `height` and `width` of the
    figure are in inches."""
    across = min(across, len(titles))
    down = -(-len(titles) // across)
    figure = styled_figure(width, height)
    axes = list(figure.subplots(down, across, squeeze=False, **options).flat)
    for ax, title in zip(axes, titles, strict=False):
        ax.set_title(title)
    for ax in axes[len(titles) :]:
        ax.set_visible(False)
    return figure, axes[: len(titles)]


def name_rows(
    ax: Axes, names: Sequence[str], margin: float = 0.4, length: float | None = 0
) -> None:
    """Names the rows of the panel `ax`, the first at the top, and draws its grid for values alone.
    The outer rows stand 1 - `margin` rows from the panel's edges; `length` is that of the rows'
    ticks in points (None: unchanged)."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - margin, margin - 1)
    if length is not None:
        ax.tick_params(axis="y", length=length)
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")


def say(
    ax: Axes,
    text: str,
    place: Any,
    away: tuple[float, float] = (0, 0),
    **options: Any,
) -> None:
    """Writes `text` in the panel `ax`, `away` (right, up) points from `place` in data coordinates;
    `options` go to Matplotlib's `annotate`."""
    ax.annotate(
        text, place, xytext=away, textcoords="offset points", fontsize=6.5, **options
    )


def draw_curves(
    ax: Axes,
    points: pd.DataFrame,
    models: Sequence[str],
    x: str,
    *,
    value: str,
    scale: float,
    size: float,
) -> None:
    """Draws a curve of the column `value` over the column `x` for each model in the list `models`
    that has rows in `points`, with intervals as thin bars.

    The published curve is grey, the mean thick and dashed; each model has its own look. `points`
    has the columns `model`, `low` and `high` (ends of the intervals), and those that `x` and
    `value` name; all numbers are multiplied by `scale`. `size` is the markers'.
    """
    for model, (colour, marker) in looks(models).items():
        curve = points[points["model"] == model].sort_values(x)
        if curve.empty:
            continue
        middle, reach = interval(curve, value, scale)
        places = scale * curve[x]
        style: Any = {"color": colour, "marker": marker}
        if model == "published":
            style["color"] = PUBLISHED
        elif model == MEAN:
            style |= {"color": "black", "ls": "--", "lw": 2}
        ax.errorbar(
            places,
            middle,
            reach,
            label=model,
            markersize=size,
            elinewidth=0.7,
            capsize=1.5,
            capthick=0.7,
            **style,
        )
        mark(ax, curve, places, middle, published=model == "published")


def draw_points(
    ax: Axes,
    shares: pd.DataFrame,
    places: Callable[[int, pd.DataFrame], pd.Series],
    *,
    line: str,
) -> None:
    """Draws the shares of each label, such as a model, as points with error bars. `places` is a
    function: it gets a label's number and rows, and returns their places along the axis.

    `shares` has the columns `label`, `published` (bool), `accuracy`, `low` and `high` (0 to 1). The
    published series is grey, hollow and never joined by a line; `line` is the line style of the
    others.
    """
    groups = _parts(shares, "label")
    for number, (label, (colour, marker)) in enumerate(looks(groups).items()):
        part = groups[label]
        published = bool(part["published"].iloc[0])
        style: Any = {"color": colour, "fmt": marker + line}
        if published:
            style = {"color": PUBLISHED, "fmt": marker, "mfc": "white"}
        share, reach = interval(part)
        at = places(number, part)
        ax.errorbar(at, share, reach, label=label, capsize=2, elinewidth=0.9, **style)
        mark(ax, part, at, share, published=published)


def _parts(table: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """Returns the rows of `table` by their value in `column`, in the order of the table."""
    return {str(name): part for name, part in table.groupby(column, sort=False)}


def forest(
    ax: Axes,
    rows: pd.DataFrame,
    names: Sequence[str],
    limits: tuple[float, float],
    *,
    label: str = "label",
    value: str = "value",
    scale: float = 1,
    series: str | None = None,
    decided: bool = False,
    published: bool = False,
    **texts: str,
) -> None:
    """Draws estimates with intervals along the x axis, each in the row of `names` that its column
    `label` gives; `texts` sets the texts of axis and title.

    `rows` has the columns that `label` and `value` name, and `low` and `high`, the ends of the
    intervals; numbers are multiplied by `scale`. `series` (None: one series): a column whose values
    are drawn beside each other, each with its colour and marker; the column `model` has those of
    models. `decided`: whether the column `decided` (bool) fills the marker, so that an undecided
    estimate is hollow. `published`: whether the numbers come from a paper's own, so that a click
    opens their source, and a single series is grey. A value that is not finite, or outside
    `limits`, the ends of the axis, is left out; its interval is drawn as far as the axis goes.
    """
    ax.set(xlim=limits, **texts)
    groups = _parts(rows, series) if series else {"": rows}
    shift = np.linspace(-0.27, 0.27, len(groups)) if len(groups) > 1 else [0.0]
    of_models = looks(groups)
    for number, (name, part) in enumerate(groups.items()):
        colour, shape = of_models[name] if series == "model" else look(number)
        if published and not series:
            colour = PUBLISHED
        estimates = (scale * part[[value, "low", "high"]]).to_numpy(float).T
        heights = np.array([names.index(row) for row in part[label]]) + shift[number]
        mark(ax, part, estimates[0], heights, published=published)
        faces = np.where(part["decided"], colour, "white") if decided else colour
        _draw_series(ax, estimates, heights, Look(colour, shape), faces, name)
    name_rows(ax, names, 0.45)


def _draw_series(
    ax: Axes, estimates: Array, heights: Array, style: Look, faces: Any, name: str
) -> None:
    """Draws a series of a forest within the limits of the x axis: its intervals, with an arrow where
    they are cut, its markers, and its entry in the legend, if it has a `name`.

    `estimates` has the rows value, low and high; `faces` are the colours that fill the markers.
    """
    least, most = ax.get_xlim()
    colour, shape = style
    middle, low, high = estimates
    ends = np.clip([low, high], least, most)
    ax.hlines(heights, *ends, color=colour, linewidth=1.1)
    left = np.where(low < least, least, np.nan)
    right = np.where(high > most, most, np.nan)
    for arrow, tips in (("<", left), (">", right)):
        ax.scatter(tips, heights, 16, marker=arrow, color=colour, clip_on=False)
    inside = np.where((least < middle) & (middle < most), middle, np.nan)
    ax.scatter(inside, heights, 16, faces, marker=shape, ec=colour, zorder=3)
    if name:
        ax.plot([], [], marker=shape, color=colour, linewidth=1.1, label=name)


def legend_above(figure: Figure, *axes: Axes, **options: Any) -> None:
    """Draws one legend above all panels of `figure`, with each name in any of the panels `axes`
    once, in as many columns as its width has room for; `options` go to Matplotlib's `legend`."""
    handles: dict[str, Artist] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    # In characters of the legend, 15 to an inch, 6 of them for the mark.
    sizes = sorted([len(name) + 6 for name in handles], reverse=True)
    fit = np.cumsum(sizes) < 15 * figure.get_figwidth()
    options |= {"loc": "outside upper center", "ncols": max(1, fit.sum())}
    figure.legend(handles.values(), handles, **options)
