"""What charts are made of: panels, rows, curves and dots with intervals, a colour and a marker for each."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.proportions import DOUBTED
from codestress.report.style import COLOURS, MARKERS, PUBLISHED, styled_figure

Array = NDArray[np.float64]
MEAN = "mean over models"
"""The name of the curve that is one."""


def look(number: int) -> tuple[str, str]:
    """Colour and marker of a figure's curve, by its number."""
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def interval(points: pd.DataFrame, value: str = "accuracy", scale: float = 100) -> tuple[Array, list[Array]]:
    """Values, and how far their intervals reach below and above them: shares in %."""
    middle, low, high = (scale * points[column].to_numpy(float) for column in (value, "low", "high"))
    return middle, [middle - low, high - middle]


def panels(
    titles: Sequence[str], across: int, height: float, width: float = 7.0, **options: Any
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each title, at most so many side by side; `options` are those of `subplots`."""
    across = min(across, len(titles))
    figure = styled_figure(width, height)
    axes: list[Axes] = list(figure.subplots(-(-len(titles) // across), across, squeeze=False, **options).flat)
    for ax, title in zip(axes, titles, strict=False):
        ax.set_title(title)
    for ax in axes[len(titles) :]:
        ax.set_visible(False)
    return figure, axes[: len(titles)]


def name_rows(ax: Axes, names: Sequence[str], margin: float = 0.4, length: float | None = 0) -> None:
    """Names of rows, the first above, and lines of the grid for the values along them; `length` of the ticks."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - margin, margin - 1)
    if length is not None:
        ax.tick_params(axis="y", length=length)
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")


def say(ax: Axes, text: str, place: Any, away: tuple[float, float] = (0, 0), size: float = 6.5, **options: Any) -> None:
    """Words beside a place, so many points away from it."""
    ax.annotate(text, place, xytext=away, textcoords="offset points", fontsize=size, **options)


def draw_truth(ax: Axes, places: pd.Series, points: pd.DataFrame, colour: str, scale: float = 100) -> None:
    """A broad pale line through what is true of an instrument (`true`), behind its estimates, where that is known."""
    if "true" in points and points["true"].notna().any():
        ax.plot(places, scale * points["true"], color=colour, alpha=0.35, linewidth=4, zorder=1, solid_capstyle="butt")


def mark_truth(ax: Axes, values: ArrayLike, places: Sequence[float], *, around: bool = False) -> None:
    """A diamond at what is true of an instrument, at each place where that is known; `around`: behind dots."""
    size, zorder = (6.5, 1.5) if around else (3.5, 4.0)
    ax.plot(values, places, "D", color="black", mfc="white", markersize=size, zorder=zorder)


def draw_curves(
    ax: Axes, points: pd.DataFrame, models: Sequence[str], x: str, *, value: str, scale: float, size: float
) -> None:
    """A curve for each model that has points, with thin bars for intervals, so that those of several can be told apart;
    the published one is grey, the mean thick and dashed. `points`: model, `x`, `value`, low, high, all to be scaled."""
    for number, model in enumerate(models):
        curve = points[points["model"] == model].sort_values(x)
        if curve.empty:
            continue
        middle, reach = interval(curve, value, scale)
        colour, marker = look(number)
        colour = {"published": PUBLISHED, MEAN: "black"}.get(model, colour)
        line, width = ("--", 2.0) if model == MEAN else ("-", None)
        draw_truth(ax, scale * curve[x], curve, colour, scale)
        bars: dict[str, Any] = {"yerr": reach, "elinewidth": 0.7, "capsize": 1.5, "capthick": 0.7}
        shown: dict[str, Any] = {"color": colour, "marker": marker, "markersize": size, "ls": line, "lw": width}
        ax.errorbar(scale * curve[x], middle, label=model, **bars, **shown)


def draw_points(
    ax: Axes, shares: pd.DataFrame, places: Callable[[int, pd.DataFrame], pd.Series], *, line: str, width: float
) -> dict[str, str]:
    """Points with error bars for each label, at the places that its number and its points have; the colour of each.

    `shares`: label, published (bool), share, low, high (0 to 1). The published series is grey, hollow and never joined
    by a `line`.
    """
    colours: dict[str, str] = {}
    for number, (label, part) in enumerate(shares.groupby("label", sort=False)):
        published = bool(part["published"].iloc[0])
        colour, marker = look(number)
        colour = colours[str(label)] = PUBLISHED if published else colour
        share, reach = interval(part)
        draw_truth(ax, places(number, part), part, colour)
        shown: dict[str, Any] = {"color": colour, "mfc": "white" if published else colour, "label": str(label)}
        form = marker + ("" if published else line)
        ax.errorbar(places(number, part), share, yerr=reach, fmt=form, capsize=2, elinewidth=width, **shown)
    return colours


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
    **told: str,
) -> None:
    """Estimates with intervals at the height of their `label` in `names`, `told` what the axis and its title say.

    `rows`: label, value, low, high, scaled to the axis' unit. `series`: a column whose values are drawn beside each
    other, each with its colour and marker. `decided`: the column `decided` (bool) fills the marker; what is not decided
    is hollow. A value that is not finite, or 0 on a logarithmic axis, is left out, its interval is drawn as far as the
    axis (`limits`) goes.
    """
    ax.set_xlim(*limits)
    groups = [("", rows)] if series is None else list(rows.groupby(series, sort=False))
    shift = np.linspace(-0.27, 0.27, len(groups)) if len(groups) > 1 else [0.0]
    for number, (name, part) in enumerate(groups):
        colour, shape = look(number)
        filled = part["decided"] if decided else [True] * len(part)
        for row, middle, low, high, full in zip(
            part[label], *(scale * part[[value, "low", "high"]]).to_numpy(float).T, filled, strict=True
        ):
            y = names.index(row) + shift[number]
            ends = max(low, limits[0]), min(high, limits[1])
            ax.plot(ends, [y, y], color=colour, linewidth=1.1)
            for end, beyond, marker in zip(ends, (low < limits[0], high > limits[1]), "<>", strict=True):
                if beyond:
                    ax.plot([end], [y], marker=marker, color=colour, markersize=3.5, clip_on=False)
            if limits[0] < middle < limits[1]:
                face = colour if full else "white"
                ax.plot([middle], [y], marker=shape, color=colour, mfc=face, linestyle="none", markersize=4)
        if name:
            ax.plot([], [], marker=shape, color=colour, linewidth=1.1, label=str(name))
    name_rows(ax, names, 0.45)
    ax.set(**told)


def legend_above(figure: Figure, *axes: Axes, most: int = 5, **options: object) -> None:
    """One legend for all panels, above them, of what is in some of them, in at most so many columns."""
    pairs = [pair for ax in axes for pair in zip(*ax.get_legend_handles_labels(), strict=True)]
    named = {name: handle for handle, name in reversed(pairs)}
    names = list(dict.fromkeys(name for _, name in pairs))
    figure.legend([named[name] for name in names], names, loc="outside upper center", ncols=most, **options)


def say_lack(figure: Figure, lacks: Mapping[str, float]) -> None:
    """Below the figure: which fitted curves do not describe their points, by the p-values of their lack of fit."""
    doubted = [name for name, lack in lacks.items() if lack < DOUBTED]
    if doubted:
        told = f"does not describe its points (p < {DOUBTED:g}): {', '.join(doubted)}"
        lines = textwrap.fill(told, 64, break_on_hyphens=False)  # the note on readers stands to the right of it
        below = -0.06 / figure.get_size_inches()[1]
        figure.text(0.005, below, lines, ha="left", va="top", fontsize=6.5, color="#8f2d00")
