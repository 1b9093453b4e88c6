"""What the published outcomes say, as a picture."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from codestress.report.forest import forest
from codestress.report.style import styled_figure


def published_chart(pairs: pd.DataFrame, lengths: pd.DataFrame, distances: pd.DataFrame) -> Figure:
    """Above, a panel for each comparison of `pairs`; below, half-lengths and half-distances with their intervals.

    `pairs`: comparison, model, difference, low, high (-1 to 1), decided. `lengths`: model, list, half, low, high
    (lines), describes. `distances`: the same with side in place of list. Hollow: not decided, or a curve that does not
    describe its points.
    """
    models = list(dict.fromkeys(lengths["model"]))
    comparisons = list(dict.fromkeys(pairs["comparison"]))
    figure = styled_figure(7.0, 7.2)
    above, below = figure.subfigures(2, 1, height_ratios=[1.0, 1.25], squeeze=False)[:, 0]
    panels = above.subplots(1, len(comparisons), sharey=True)
    for ax, comparison in zip(panels, comparisons, strict=True):
        part = pairs[pairs["comparison"] == comparison].rename(columns={"model": "label"})
        numbers = ["difference", "low", "high"]
        part = part.assign(**100 * part[numbers]).rename(columns={"difference": "value"})
        reach = 105 if part[["low", "high"]].abs().to_numpy().max() > 50 else 50
        ax.set_xlim(-reach, reach)
        ax.axvline(0, color="#999999", linewidth=0.6)
        forest(ax, part, models, decided=True)
        ax.set(title=comparison, xlabel="correct (points)")
    left, right = below.subplots(1, 2, width_ratios=[1.9, 1.0])
    shown = {"half": "value", "describes": "decided"}
    for ax, table, series, rows, limits in (
        (left, lengths.rename(columns={"model": "label", **shown}), "list", models, (4, 3000)),
        (right, distances.rename(columns={"model": "label", **shown}), "side", None, (0.3, 30)),
    ):
        ax.set_xscale("log")
        ax.set_xlim(*limits)
        ax.xaxis.set_major_formatter(ScalarFormatter())
        forest(ax, table, rows or list(dict.fromkeys(table["label"])), series=series, decided=True)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.06), ncols=2)
    left.axvline(lengths["longest"].max(), color="#999999", linewidth=0.6)
    left.set(title="half-length", xlabel="lines in the list (grey: the longest list)")
    right.set(title="half-distance", xlabel="lines between the links")
    note = "Filled: decided (Holm within a panel), below: the curve describes its points. Hollow: not."
    figure.text(0.005, -0.005, note, fontsize=6.5, va="top", color="#555555")
    return figure
