"""The curve chart: a quantity with intervals along an axis, a colour and a marker for each curve, in panels."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from codestress.fitting.bootstrap import DOUBTED
from codestress.report.style import COLOURS, MARKERS, PUBLISHED

Array = NDArray[np.float64]
MEAN = "mean over models"
"""The name of the curve that is one."""


def look(number: int) -> tuple[str, str]:
    """Colour and marker of a figure's curve, by its number."""
    return COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]


def interval(points: pd.DataFrame, value: str = "accuracy", scale: float = 100) -> tuple[Array, Array, Array]:
    """Values with the ends of their intervals: shares in %."""
    middle, low, high = (scale * points[column].to_numpy(float) for column in (value, "low", "high"))
    return middle, low, high


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
        middle, low, high = interval(curve, value, scale)
        colour, marker = look(number)
        colour = {"published": PUBLISHED, MEAN: "black"}.get(model, colour)
        line, width = ("--", 2.0) if model == MEAN else ("-", None)
        draw_truth(ax, scale * curve[x], curve, colour, scale)
        bars: dict[str, Any] = {
            "yerr": [middle - low, high - middle],
            "elinewidth": 0.7,
            "capsize": 1.5,
            "capthick": 0.7,
        }
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
        share, low, high = interval(part)
        draw_truth(ax, places(number, part), part, colour)
        ax.errorbar(
            places(number, part),
            share,
            yerr=[share - low, high - share],
            fmt=marker + ("" if published else line),
            color=colour,
            mfc="white" if published else colour,
            capsize=2,
            elinewidth=width,
            label=str(label),
        )
    return colours


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
