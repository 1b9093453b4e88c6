"""Shares as horizontal bars with intervals, published above regenerated (Find the Origin, Figures 4, 5, 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.curves import interval, look, mark_truth, name_rows, panels, say
from codestress.report.style import HATCHES, PUBLISHED


def share_bars(sources: dict[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """A panel for each source; a table has columns label, condition, share, low, high (0 to 1), sorted as given.

    Several conditions stand side by side, told apart by colour and hatching; more than four, as points, by colour and
    shape. A diamond stands at what is `true` of an instrument, where a table has that. What is published of the rows
    of another panel stands in it, as its last condition.
    """
    sources = beside_published(sources)
    frames = sources.values()
    rows = [frame["label"].nunique() * (_many(frame) or max(1, frame["condition"].nunique())) for frame in frames]
    height = 0.2 * sum(rows) + 0.5 * len(sources) + 0.6
    figure, axes = panels(list(sources), 1, height, height_ratios=rows, sharex=True)
    for ax, (title, frame) in zip(axes, sources.items(), strict=True):
        _draw(ax, frame, published=title.startswith(PAPERS))
        ax.set_title(title, pad=4 + 12 * _lines_of_legend(title, frame))
        ax.set_xlim(0, 108)  # numbers stand to the right of their bars
        ax.set_xticks(range(0, 101, 20))
    axes[-1].set_xlabel(xlabel)
    return figure


def beside_published(panels: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """The panels, each published one that tells of the rows of another (which it names) as a condition of that."""
    found: dict[str, pd.DataFrame] = {}
    for title, frame in panels.items():
        own = [name for name, rows in found.items() if name in title and set(rows["label"]) == set(frame["label"])]
        if own and title.startswith(PAPERS):
            told = title.replace(f", {own[0]}", "")
            found[own[0]] = pd.concat([found[own[0]], frame.assign(condition=told)], ignore_index=True)
            order = list(frame["label"])
            found[own[0]] = found[own[0]].sort_values("label", key=lambda label: label.map(order.index), kind="stable")
        else:
            found[title] = frame
    return found


PAPERS = "published"
"""How titles and conditions begin that are the papers' own."""
MOST = 4
"""Conditions that are drawn as bars."""
COLUMNS = 4
"""Of a panel's legend, which stands beside its title, or below where there are many conditions."""


def _lines_of_legend(title: str, frame: pd.DataFrame) -> int:
    """Between title and panel: none where the legend has room beside the title."""
    names = list(dict.fromkeys(map(str, frame["condition"])))
    long = 30 if title.startswith("regenerated") else len(title)  # which is "simulated readers (not models)" of those
    if len(names) == 1 or (len(names) <= COLUMNS and 1.2 * long + sum(len(name) + 8 for name in names) < WIDTH):
        return 0
    return -(-len(names) // _columns(names))


WIDTH = 92
"""Characters of a legend's size that a panel has room for."""


def _columns(names: Sequence[str]) -> int:
    """Of a legend: as many as have room."""
    return max(1, min(COLUMNS, WIDTH // (max(map(len, names)) + 8)))


def _many(frame: pd.DataFrame) -> float:
    """Rows of bars that a label's points need; 0 where its conditions are drawn as bars."""
    count = sum(not str(name).startswith(PAPERS) for name in frame["condition"].unique())
    return 0.0 if count <= MOST else max(1.0, 0.3 * count)


def _draw(ax: Axes, frame: pd.DataFrame, *, published: bool) -> None:
    """A bar, or of many a point, for each condition, one below the other; points without an interval are grey."""
    labels, conditions = (list(dict.fromkeys(frame[column])) for column in ("label", "condition"))
    height, many = 0.8 / len(conditions), _many(frame)
    for number, condition in enumerate(conditions):
        part = frame[frame["condition"] == condition].set_index("label").reindex(labels)
        places = [y - 0.4 + (number + 0.5) * height for y in range(len(labels))]
        share, reach = interval(part)
        colour, marker = look(number)
        colour = PUBLISHED if published or str(condition).startswith(PAPERS) else colour
        looks: dict[str, Any] = {"color": colour, "label": condition}
        if many:
            looks["mfc"] = colour if number % 2 == 0 or not published else "white"
            ax.errorbar(share, places, xerr=reach, fmt=marker, markersize=4, elinewidth=0.9, **looks)
        else:
            ax.barh(places, share, height * 0.92, hatch=HATCHES[number], edgecolor="white", linewidth=0.5, **looks)
            ax.errorbar(share, places, xerr=reach, fmt="none", ecolor="#111111", elinewidth=0.9, capsize=2)
        if "true" in part:
            mark_truth(ax, 100 * part["true"], places)
        if not many:
            marked = part.reindex(columns=["accuracy", "high", "true"]).max(axis=1)
            for place, value, end in zip(places, share, 100 * marked, strict=True):
                if value == value:
                    say(ax, f"{value:.1f}", (end, place), (5, 0), va="center")
    name_rows(ax, labels)
    if len(conditions) > 1:
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=_columns(conditions), borderaxespad=0.2)
