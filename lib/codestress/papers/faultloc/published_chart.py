"""What the published numbers say, as a picture."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.forest import forest
from codestress.report.style import styled_figure

NUMBERS = ["value", "low", "high"]


def published_chart(
    cells: pd.DataFrame, returns: pd.DataFrame, counts: pd.DataFrame, fall: pd.DataFrame, languages: dict[str, str]
) -> Figure:
    """Table II with intervals; misplaced returns against the others; what is kept after mutations; the fall by quarter.

    The tables of `results/published.py`; `languages` are two, with their names.
    """
    figure = styled_figure(7.0, 9.0)
    above, middle, below = figure.subfigures(3, 1, height_ratios=[1.5, 1.2, 0.55], squeeze=False)[:, 0]
    models = list(dict.fromkeys(cells["label"]))
    for ax, (language, name) in zip(above.subplots(1, 2, sharey=True), languages.items(), strict=True):
        part = cells[(cells["language"] == language) & (cells["flag"] == "")]
        _forest(ax, part.rename(columns={"share": "value"}), (0, 100), models, "fault")
        ax.set(title=f"Table II, {name}", xlabel="accuracy (%)")
    above.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=4)
    left, right = middle.subplots(1, 2)
    shown = returns.assign(language=returns["language"].map(languages)).rename(columns={"difference": "value"})
    _forest(left, shown, (-35, 35), models, "language")
    left.set(title="misplaced returns - other faults", xlabel="accuracy (points)")
    left.axvline(0, color="#999999", linewidth=0.6)
    shown = counts.assign(language=counts["language"].map(languages), value=counts["kept"])
    shown = shown.assign(low=shown["kept_low"], high=shown["kept_high"])
    shown = shown.sort_values("language", key=lambda column: column.map(list(languages.values()).index), kind="stable")
    _forest(right, shown, (0, 45), list(dict.fromkeys(shown["label"])), "language")
    right.set(title="localized after mutations too", xlabel="of those localized before (%)")
    middle.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    ax = below.subplots()
    _forest(ax, fall.rename(columns={"fault": "label", "fall": "value"}), (0, 70), list(fall["fault"]), None)
    ax.set(title="Figure 9: fall from the first quarter to the last", xlabel="accuracy (points)")
    return figure


def _forest(ax: Axes, rows: pd.DataFrame, limits: tuple[float, float], names: list[str], series: str | None) -> None:
    """In per cent."""
    ax.set_xlim(*limits)
    forest(ax, rows.assign(**100 * rows[NUMBERS]), names, series=series)
