"""Parts of charts: panels, rows, curves and points with intervals, each with a colour
and a marker."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .marks import mark
from .style import GREYS, PUBLISHED, look_at, looks, styled_figure

Array = NDArray[np.float64]
MEAN = "mean over models"
"""Name of the curve that is the mean over models."""


def interval(
    points: pd.DataFrame, value: str = "accuracy", scale: float = 100
) -> tuple[Array, list[Array]]:
    """Return the column `value` of `points` and the lengths of the intervals below and
    above the values, all multiplied by `scale`.

    At a `scale` of 100, shares become per cent. `points` also has the columns `low` and
    `high`, the ends of the intervals, in the unit of `value`.
    """
    middle, low, high = scale * points[[value, "low", "high"]].to_numpy(float).T
    return middle, [middle - low, high - middle]


def panels(
    titles: Sequence[str],
    across: int,
    height: float,
    width: float = 7.0,
    **options: Any,
) -> tuple[Figure, list[Axes]]:
    """Return a new figure and its panels (Matplotlib axes), one for each of `titles`,
    with at most `across` panels side by side.

    `height` and `width` of the figure are in inches. `options` go to Matplotlib's
    `subplots`.
    """
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
    """Name the rows of the panel `ax`, the first at the top, and draw grid lines for
    values only.

    The panel's edges lie 1 - `margin` rows beyond the outer rows. `length` is the
    length of the rows' ticks in points (None: unchanged).
    """
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
    """Write `text` in the panel `ax`, shifted from `place` (data coordinates) by
    `away`: points to the right and up.

    `options` go to Matplotlib's `annotate`.
    """
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
) -> None:
    """Draw a curve of the column `value` over the column `x`, with intervals as thin bars, for each of `models` that
    has rows in `points`.

    The published curve is thick and grey, the mean thick and dashed, and each model has its own look. `points` has the
    columns `model`, `low` and `high` (ends of the intervals), and the columns named by `x` and `value`. All numbers
    are multiplied by `scale`. Curves are shifted by up to a tenth of a step along x, so that all intervals show.
    """
    apart = 0.1 * np.diff(np.unique(points[x])).min(initial=1) * (len(models) > 1)
    shifts = iter(np.linspace(-apart, apart, len(models)))
    thin: Any = {"elinewidth": 0.7, "capsize": 1.5, "capthick": 0.7}
    for model, (colour, marker) in looks(models).items():
        shift = next(shifts)
        curve = points[points["model"] == model].sort_values(x)
        if curve.empty:
            continue
        middle, reach = interval(curve, value, scale)
        places = scale * (curve[x] + shift)
        style: Any = {"color": colour, "marker": marker, "markersize": 3}
        if model == "published":
            style |= {"color": PUBLISHED, "lw": 2}
        elif model == MEAN:
            style |= {"color": "black", "ls": "--", "lw": 2}
        ends = reach if np.isfinite(reach).any() else None
        ax.errorbar(places, middle, ends, label=model, **thin, **style)
        mark(ax, curve, places, middle, published=model == "published")


def draw_points(
    ax: Axes, shares: pd.DataFrame, x: str, *, apart: float, line: str
) -> None:
    """Draw the shares of each label, such as a model, as points with error bars over
    the column `x`, in which the labels stand `apart` from each other.

    `shares` also has the columns `label`, `published` (bool), `accuracy`, `low` and
    `high` (0 to 1). The published series is grey, hollow and never joined by a line.
    `line` is the line style of every other series.
    """
    groups = _parts(shares, "label")
    first = apart * (1 - len(groups)) / 2
    for number, (label, (colour, marker)) in enumerate(looks(groups).items()):
        part = groups[label]
        published = bool(part["published"].iloc[0])
        style: Any = {"color": colour, "fmt": marker + line}
        if published:
            style = {"color": PUBLISHED, "fmt": marker, "mfc": "white"}
        share, reach = interval(part)
        at = part[x] + first + apart * number
        ax.errorbar(at, share, reach, label=label, capsize=2, elinewidth=0.9, **style)
        mark(ax, part, at, share, published=published)


def _parts(table: pd.DataFrame, column: str) -> dict[str, pd.DataFrame]:
    """Return a dict from each value in `column` to the rows of `table` with this value,
    in the order of the table."""
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
    published: bool = False,
    **texts: str,
) -> None:
    """Draw estimates with intervals along the x axis, each in the row of `names` that its column `label` says.

    `rows` has the columns named by `label` and `value`, and `low` and `high`, the ends of the intervals. Numbers are
    multiplied by `scale`. `limits` are the ends of the axis; `texts` sets the texts of axis and title. `series` names
    a column whose values are drawn beside each other, each with its colour and marker (None: one series). The values
    of the column `model` have the looks of models. Series that are rows themselves need no entry in the legend. A
    column `decided` (bool), if any, says whether a marker is filled, so that an undecided estimate is hollow. If
    `published` is true, the numbers are a paper's own: grey, and a click opens their source.
    """
    ax.set(xlim=limits, **texts)
    if value == "difference":
        ax.axvline(0, color="#999999", linewidth=0.6)
    groups = _parts(rows, series) if series else {"": rows}
    are_rows = set(groups) <= set(names)
    reach = 0.27 * (len(groups) > 1 and not are_rows)
    shift = np.linspace(-reach, reach, len(groups))
    for number, (name, part) in enumerate(groups.items()):
        colour, shape = looks(groups)[name] if series == "model" else look_at(number)
        if published:
            colour = GREYS[number % 2]
        estimates = (scale * part[[value, "low", "high"]]).to_numpy(float).T
        heights = np.array([names.index(row) for row in part[label]]) + shift[number]
        mark(ax, part, estimates[0], heights, published=published)
        faces = np.where(part.get("decided", True), colour, "white").tolist()
        shown = "" if are_rows else name
        _draw_series(ax, estimates, heights, colour, shape, faces, shown)
    name_rows(ax, names, 0.45)


def _draw_series(
    ax: Axes,
    estimates: Array,
    heights: Array,
    colour: str,
    shape: str,
    faces: Any,
    name: str,
) -> None:
    """Draw a series of a forest within the limits of the x axis: intervals, markers,
    and an entry in the legend if the series has a `name`.

    A value that is not finite or lies outside the limits gets no marker. An interval
    that is cut ends in an arrow. `estimates` has the rows value, low and high; `faces`
    are the colours that fill the markers.
    """
    least, most = ax.get_xlim()
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


def legend_above(figure: Figure, **options: Any) -> None:
    """Draw one legend above all panels of `figure`, with each name in them once.

    The legend has as many columns as fit the figure's width. `options` go to
    Matplotlib's `legend`.
    """
    handles: dict[str, Artist] = {}
    for ax in figure.axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    # Widths in characters of the legend: 15 to an inch, and 6 for each entry's mark.
    sizes = sorted([len(name) + 6 for name in handles], reverse=True)
    fit = np.cumsum(sizes) < 15 * figure.get_figwidth()
    options |= {"loc": "outside upper center", "ncols": max(1, fit.sum())}
    figure.legend(handles.values(), handles, **options)
