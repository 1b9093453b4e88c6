"""Share of right answers against the distance d between two links (Find the Origin, Figures 6-9)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from codestress.papers.origin.decay import FittedSide
from codestress.report.curves import draw_points
from codestress.report.style import use_style


def distance_curve(shares: pd.DataFrame, fits: Sequence[FittedSide]) -> Figure:
    """`shares`: columns label, published (bool), d, share, low, high (0 to 1), one row per point.

    Points with intervals, each series with its own marker; fitted curves are dashed. The published series is grey.
    """
    use_style()
    figure = Figure(figsize=(7.0, 3.3))
    ax = figure.subplots()
    places = sorted(shares["d"].unique())
    colours = draw_points(ax, shares, lambda number, part: part["d"] + 0.12 * (number - 0.5), line="", width=0.9)
    for fit in fits:
        if np.isfinite(fit.reach) and fit.reach > 0:
            x = np.linspace(1, max(abs(d) for d in places), 200)
            ax.plot(fit.sign * x, 100 * fit.at(x), "--", linewidth=1.0, color=colours[fit.label])
    ax.axvline(0, color="#999999", linewidth=0.6)
    ax.set(xlabel="d: lines from the first link down to the second (negative: up)", ylabel="right answers (%)")
    ax.set_ylim(-3, 105)
    ax.set_xticks(places)
    figure.legend(loc="outside upper right", ncols=2)
    return figure
