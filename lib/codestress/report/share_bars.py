"""Shares as horizontal bars with intervals, published above regenerated (Find the Origin, Figures 4, 5, 11)."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, HATCHES, PUBLISHED, use_style


def share_bars(panels: dict[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """A panel for each source; a table has columns label, condition, share, low, high (0 to 1), sorted as given.

    Several conditions stand side by side, told apart by colour and hatching.
    """
    use_style()
    rows = [frame["label"].nunique() * max(1, frame["condition"].nunique()) for frame in panels.values()]
    figure = Figure(figsize=(7.0, 0.2 * sum(rows) + 0.5 * len(panels) + 0.6))
    axes = figure.subplots(len(panels), 1, height_ratios=rows, sharex=True, squeeze=False)
    for ax, (title, frame) in zip(axes[:, 0], panels.items(), strict=True):
        _bars(ax, frame, published=title.startswith("published"))
        ax.set_title(title)
        ax.set_xlim(0, 100)
        ax.grid(True, axis="x")
        ax.grid(False, axis="y")
        ax.tick_params(axis="y", length=0)
    axes[-1, 0].set_xlabel(xlabel)
    return figure


def _bars(ax: Axes, frame: pd.DataFrame, *, published: bool) -> None:
    labels = list(dict.fromkeys(frame["label"]))
    conditions = list(dict.fromkeys(frame["condition"]))
    height = 0.8 / len(conditions)
    for number, condition in enumerate(conditions):
        part = frame[frame["condition"] == condition].set_index("label").reindex(labels)
        places = [y - 0.4 + (number + 0.5) * height for y in range(len(labels))]
        share, low, high = (100 * part[column].to_numpy(float) for column in ("accuracy", "low", "high"))
        ax.barh(
            places,
            share,
            height * 0.92,
            color=PUBLISHED if published else COLOURS[number],
            hatch=HATCHES[number],
            edgecolor="white",
            linewidth=0.5,
            label=condition,
        )
        ax.errorbar(
            share, places, xerr=[share - low, high - share], fmt="none", ecolor="#111111", elinewidth=0.9, capsize=2
        )
        for place, value, top in zip(places, share, high, strict=True):
            if value == value:
                inside = top > 93
                ax.annotate(
                    f"{value:.1f}",
                    (0 if inside else top, place),
                    xytext=(3, 0),
                    textcoords="offset points",
                    va="center",
                    fontsize=6.5,
                    color="white" if inside else "black",
                )
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    if len(conditions) > 1:
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=4, borderaxespad=0.2)
