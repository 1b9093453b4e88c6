"""Shares as horizontal bars with intervals, published above regenerated (Find the Origin, Figures 4, 5, 11)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.curves import interval, look, mark_truth
from codestress.report.style import COLOURS, HATCHES, PUBLISHED, styled_figure


def share_bars(panels: dict[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """A panel for each source; a table has columns label, condition, share, low, high (0 to 1), sorted as given.

    Several conditions stand side by side, told apart by colour and hatching; more than four, as points, by colour and
    shape. A diamond stands at what is `true` of an instrument, where a table has that. What is published of the rows
    of another panel stands in it, as its last condition.
    """
    panels = beside_published(panels)
    rows = [
        frame["label"].nunique() * (_many(frame) or max(1, frame["condition"].nunique())) for frame in panels.values()
    ]
    figure = styled_figure(7.0, 0.2 * sum(rows) + 0.5 * len(panels) + 0.6)
    axes = figure.subplots(len(panels), 1, height_ratios=rows, sharex=True, squeeze=False)
    for ax, (title, frame) in zip(axes[:, 0], panels.items(), strict=True):
        (_points if _many(frame) else _bars)(ax, frame, published=title.startswith("published"))
        ax.set_title(title, pad=4 + 12 * _lines_of_legend(title, frame))
        ax.set_xlim(0, 108)  # numbers stand to the right of their bars
        ax.set_xticks(range(0, 101, 20))
        ax.grid(True, axis="x")
        ax.grid(False, axis="y")
        ax.tick_params(axis="y", length=0)
    axes[-1, 0].set_xlabel(xlabel)
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


def _points(ax: Axes, frame: pd.DataFrame, *, published: bool) -> None:
    """A point with its interval for each condition, one a little below the other; those that have none are grey."""
    labels, conditions = (list(dict.fromkeys(frame[column])) for column in ("label", "condition"))
    for number, condition in enumerate(conditions):
        part = frame[frame["condition"] == condition].set_index("label").reindex(labels)
        places = [y - 0.4 + 0.8 * (number + 0.5) / len(conditions) for y in range(len(labels))]
        share, low, high = interval(part)
        colour, marker = look(number)
        colour = PUBLISHED if published or str(condition).startswith(PAPERS) else colour
        filled = colour if number % 2 == 0 or not published else "white"
        bars = [share - low, high - share]
        ax.errorbar(
            share,
            places,
            xerr=bars,
            fmt=marker,
            color=colour,
            mfc=filled,
            markersize=4,
            elinewidth=0.9,
            label=condition,
        )
        if "true" in part:
            mark_truth(ax, 100 * part["true"], places)
    _label_rows(ax, labels, conditions)


def _bars(ax: Axes, frame: pd.DataFrame, *, published: bool) -> None:
    labels = list(dict.fromkeys(frame["label"]))
    conditions = list(dict.fromkeys(frame["condition"]))
    height = 0.8 / len(conditions)
    for number, condition in enumerate(conditions):
        part = frame[frame["condition"] == condition].set_index("label").reindex(labels)
        places = [y - 0.4 + (number + 0.5) * height for y in range(len(labels))]
        share, low, high = interval(part)
        ax.barh(
            places,
            share,
            height * 0.92,
            color=PUBLISHED if published or str(condition).startswith(PAPERS) else COLOURS[number],
            hatch=HATCHES[number],
            edgecolor="white",
            linewidth=0.5,
            label=condition,
        )
        ax.errorbar(
            share, places, xerr=[share - low, high - share], fmt="none", ecolor="#111111", elinewidth=0.9, capsize=2
        )
        if "true" in part:
            mark_truth(ax, 100 * part["true"], places)
        marked = 100 * part["true"] if "true" in part else share
        for place, value, *beyond in zip(places, share, high, marked, strict=True):
            if value == value:
                end = max([value, *(one for one in beyond if one == one)])
                ax.annotate(
                    f"{value:.1f}", (end, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=6.5
                )
    _label_rows(ax, labels, conditions)


def _label_rows(ax: Axes, labels: list[str], conditions: Sequence[str]) -> None:
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    if len(conditions) > 1:
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=_columns(conditions), borderaxespad=0.2)
