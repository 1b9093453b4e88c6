"""Share of right answers against the distance d between two links (Find the Origin, Figures 6-9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, MARKERS, PUBLISHED, use_style


@dataclass(frozen=True)
class FittedSide:
    """An exponential fitted to one side of d = 0: share = top * exp(-(|d| - 1) / reach)."""

    label: str
    sign: int
    top: float
    reach: float


def distance_curve(shares: pd.DataFrame, fits: Sequence[FittedSide]) -> Figure:
    """`shares`: columns label, published (bool), d, share, low, high (0 to 1), one row per point.

    Points with intervals, each series with its own marker; fitted curves are dashed. The published series is grey.
    """
    use_style()
    figure = Figure(figsize=(7.0, 3.3))
    ax = figure.subplots()
    places = sorted(shares["d"].unique())
    colours = {}
    for number, (label, part) in enumerate(shares.groupby("label", sort=False)):
        published = bool(part["published"].iloc[0])
        colour = PUBLISHED if published else COLOURS[number % len(COLOURS)]
        colours[str(label)] = colour
        share, low, high = (100 * part[column].to_numpy(float) for column in ("share", "low", "high"))
        shift = 0.12 * (number - 0.5)
        ax.errorbar(
            part["d"].to_numpy(float) + shift,
            share,
            yerr=[share - low, high - share],
            fmt=MARKERS[number % len(MARKERS)],
            color=colour,
            mfc="white" if published else colour,
            capsize=2,
            elinewidth=0.9,
            label=str(label),
        )
    for fit in fits:
        if np.isfinite(fit.reach) and fit.reach > 0:
            x = np.linspace(1, max(abs(d) for d in places), 200)
            y = 100 * fit.top * np.exp(-(x - 1) / fit.reach)
            ax.plot(fit.sign * x, y, "--", linewidth=1.0, color=colours[fit.label])
    ax.axvline(0, color="#999999", linewidth=0.6)
    ax.set(xlabel="d: lines from the first link down to the second (negative: up)", ylabel="right answers (%)")
    ax.set_ylim(-3, 105)
    ax.set_xticks(places)
    figure.legend(loc="outside upper right", ncols=2)
    return figure
