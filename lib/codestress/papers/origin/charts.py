"""Find the Origin's own charts: outcomes at every size, shares against the distance and against the length, and what
the published outcomes say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, NullLocator, ScalarFormatter

from codestress.papers.origin.curves import FittedSide
from codestress.report.curves import draw_points, forest, name_rows, panels, say_lack
from codestress.report.style import COLOURS, HATCHES, OTHER, RIGHT, WRONG, styled_figure

LOOKS: dict[str, dict[str, Any]] = {
    "correct": {"facecolor": RIGHT, "edgecolor": RIGHT, "hatch": ""},
    "incorrect": {"facecolor": WRONG, "edgecolor": "#B0431A", "hatch": "////"},
    "other": {"facecolor": OTHER, "edgecolor": "#555555", "hatch": "...."},
}


def outcome_map(sources: dict[str, pd.DataFrame], trained: Mapping[str, int] | None = None) -> Figure:
    """A panel for each source (published, regenerated); x is the number of lines in the list.

    `sources`: model, lines (in equal steps), outcome. Correct is dark and plain, incorrect light and hatched, all else
    (cut off, declined, …) grey and dotted. To the right the numbers of right answers, and what they are in the mean for
    an instrument (`true`: with which probability each is right). A line marks the longest list on which a model was
    `trained`, where it was.
    """
    models = {title: dict(list(cells.groupby("model", sort=False))) for title, cells in sources.items()}
    heights = [len(rows) for rows in models.values()]
    height = 0.19 * sum(heights) + 0.45 * len(sources) + 0.5
    figure, axes = panels(list(sources), 1, height, height_ratios=heights, sharex=True)
    every = pd.concat(sources.values())
    step = max(_step(row) for rows in models.values() for row in rows.values())
    for ax, rows in zip(axes, models.values(), strict=True):
        for y, (model, row) in enumerate(rows.items()):
            left = row["lines"].iloc[0] - _step(row) / 2
            for kind, cells in groupby(_looks(row)):  # neighbouring cells of one kind are one bar
                width = _step(row) * len(list(cells))
                edge = 0.0 if kind == "correct" else 0.3
                ax.broken_barh([(left, width)], (y - 0.38, 0.76), linewidth=edge, **LOOKS[kind])
                left += width
            if longest := (trained or {}).get(model):
                ax.vlines(longest + step / 2, y - 0.5, y + 0.5, color="black", linewidth=2)
        name_rows(ax, list(rows))
        ax.set_xlim(every["lines"].min() - step / 2, every["lines"].max() + step / 2)
        ax.grid(False)
        ax.spines[["left", "bottom"]].set_visible(False)
        counts = ax.secondary_yaxis("right")
        right = [f"{(row['outcome'] == 'correct').sum()}/{len(row)}{_expected(row)}" for row in rows.values()]
        counts.set_yticks(range(len(rows)), right)
        counts.tick_params(length=0)
        counts.spines["right"].set_visible(False)
    axes[-1].set_xlabel("lines in the list")
    names = {"other": "no answer: cut off, declined, not readable, failed"}
    handles = [Patch(label=names.get(kind, kind), **LOOKS[kind]) for kind in LOOKS if kind in {*_looks(every)}]
    figure.legend(handles=handles, loc="outside upper right", ncols=3)
    return figure


def _expected(row: pd.DataFrame) -> str:
    """How many right answers an instrument gives in the mean, where that is known."""
    return f" (true: {row['true'].sum():.1f})" if "true" in row and row["true"].notna().all() else ""


def _looks(cells: pd.DataFrame) -> pd.Series:
    return cells["outcome"].where(cells["outcome"].isin(list(LOOKS)), "other")


def _step(row: pd.DataFrame) -> int:
    return int(row["lines"].iloc[1] - row["lines"].iloc[0]) if len(row) > 1 else 8


def distance_curve(shares: pd.DataFrame, fits: Sequence[FittedSide]) -> Figure:
    """`shares`: columns label, published (bool), d, share, low, high (0 to 1), one row per point.

    Points with intervals, each series with its own marker; fitted curves are dashed. The published series is grey.
    """
    figure = styled_figure(7.0, 3.3)
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
    say_lack(figure, {f"{fit.label} {'down' if fit.sign > 0 else 'up'}": fit.lack for fit in fits})
    return figure


def length_curve(
    shares: pd.DataFrame, outcomes: pd.DataFrame, order: Sequence[str], grid: pd.DataFrame, note: str = ""
) -> Figure:
    """Above, the share of right answers; in the middle the same by length and depth, where there are several depths;
    below, all outcomes of each model, by length.

    `shares`: label, published (bool), characters, share, low, high (0 to 1). `grid`: model, characters, depth, paired
    (a cell of the paper), accuracy, what is `true` of instruments. `outcomes`: label, characters, outcome, share;
    `order` lists the outcomes from the best to the worst. `note` stands at the end.
    """
    labels = list(dict.fromkeys(outcomes["label"]))
    heights = [2.5, *([1.7] if grid["depth"].nunique() > 1 else []), 2.1, *([0.2] if note else [])]
    figure = styled_figure(7.0, sum(heights))
    above, *middle, below = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    if note:
        below.text(0.01, 0.5, note, fontsize=7, va="center")
        below = middle.pop()
    if middle:
        _depth_grid(middle[0], grid)
    ax = above.subplots()
    draw_points(ax, shares, lambda number, part: part["characters"] * (1 + 0.015 * number), line="-", width=0.8)
    ax.set_xscale("log")
    ax.set_xticks(sorted(set(outcomes["characters"])))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="characters in the prompt (about)", ylabel="right answers (%)", ylim=(-4, 104))
    above.legend(loc="outside upper left", ncols=3)
    panels = below.subplots(1, len(labels), sharey=True, squeeze=False)[0]
    for panel, label in zip(panels, labels, strict=True):
        part = outcomes[outcomes["label"] == label]
        lengths = sorted(part["characters"].unique())
        bottom = np.zeros(len(lengths))
        for outcome in order:
            found = part[part["outcome"] == outcome].set_index("characters")["share"]
            height = 100 * found.reindex(lengths, fill_value=0).to_numpy(float)
            colour, hatch = OUTCOMES.get(outcome, (OTHER, HATCHES[5]))
            look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
            panel.bar(range(len(lengths)), height, bottom=bottom, label=outcome, **look)
            bottom += height
        panel.set_title(label.replace(" (", "\n("))
        panel.set_xticks(range(len(lengths)), [f"{n / 1000:.1f}k" for n in lengths], rotation=60)
    panels[0].set_ylabel("outcomes (%)")
    handles, names = panels[0].get_legend_handles_labels()
    below.legend(handles, names, loc="outside lower center", ncols=len(order))
    return figure


PART = "#9BD3C1"
"""Half right: the colour of right answers, paler."""
OUTCOMES = {
    **dict.fromkeys(("both", "solved", "said it"), (RIGHT, HATCHES[0])),
    **dict.fromkeys(("one", "mentioned it", "attempted"), (PART, HATCHES[4])),
    "not attempted": (PART, HATCHES[2]),
    "cipher noticed": ("#FADFD0", HATCHES[0]),
    **dict.fromkeys(("none", "nothing noticed"), (WRONG, HATCHES[1])),
    "indiscriminate": (COLOURS[1], HATCHES[3]),
    "not told": ("#777777", HATCHES[0]),
    "refused": (OTHER, HATCHES[2]),
}
"""Green is right, orange wrong, grey neither, as in all figures."""


def _depth_grid(part: SubFigure, grid: pd.DataFrame) -> None:
    """A panel for each model: accuracy (%) by length and depth, the paper's cells in a frame."""
    models = list(dict.fromkeys(grid["model"]))
    told = "true" in grid and bool(grid["true"].notna().all())
    panels = part.subplots(1, len(models), sharey=True, squeeze=False)[0]
    for panel, model in zip(panels, models, strict=True):
        mine = grid[grid["model"] == model]
        cells = 100 * mine.pivot_table(index="depth", columns="characters", values="accuracy")
        known = 100 * mine.pivot_table(index="depth", columns="characters", values="true") if told else cells
        panel.imshow(cells.to_numpy(float), cmap="Blues", vmin=0, vmax=100, aspect="auto")
        for x, characters in enumerate(cells.columns):
            for y, depth in enumerate(cells.index):
                value = cells.loc[depth, characters]
                text = f"{value:.0f}" + (f"\n({known.loc[depth, characters]:.0f})" if told else "")
                panel.text(x, y, text, ha="center", va="center", color="white" if value > 60 else "black", fontsize=6)
        for row in mine[mine["paired"]].itertuples():
            corner = (list(cells.columns).index(row.characters) - 0.46, list(cells.index).index(row.depth) - 0.46)
            panel.add_patch(Rectangle(corner, 0.92, 0.92, fill=False, edgecolor="#D55E00", linewidth=1.4))
        panel.set_title(model)
        panel.set_xticks(range(len(cells.columns)), [f"{n / 1000:.1f}k" for n in cells.columns])
        panel.set_yticks(range(len(cells.index)), [f"{depth:g}" for depth in cells.index])
        panel.grid(False)
    panels[0].set_ylabel("depth of the clue")
    brackets = " (in brackets: true)" if told else ""
    part.supxlabel(f"characters; right answers (%){brackets}; framed: the paper's cells", fontsize=8)


def published_chart(pairs: pd.DataFrame, lengths: pd.DataFrame, distances: pd.DataFrame) -> Figure:
    """Above, a panel for each comparison of `pairs`; below, half-lengths and half-distances with their intervals.

    `pairs`: comparison, model, difference, low, high (-1 to 1), decided. `lengths`: model, list, half, low, high
    (lines), describes. `distances`: the same with side in place of list. Hollow: not decided, or a curve that does not
    describe its points.
    """
    models = list(dict.fromkeys(lengths["model"]))
    figure = styled_figure(7.0, 7.2)
    above, below = figure.subfigures(2, 1, height_ratios=[1.0, 1.25], squeeze=False)[:, 0]
    comparisons = list(pairs.groupby("comparison", sort=False))
    for ax, (title, part) in zip(above.subplots(1, len(comparisons), sharey=True), comparisons, strict=True):
        reach = 105 if 100 * part[["low", "high"]].abs().to_numpy().max() > 50 else 50
        ax.axvline(0, color="#999999", linewidth=0.6)
        columns: dict[str, Any] = {"label": "model", "value": "difference", "scale": 100, "decided": True}
        forest(ax, part, models, (-reach, reach), **columns, title=title, xlabel="correct (points)")
    left, right = below.subplots(1, 2, width_ratios=[1.9, 1.0])
    for ax, table, series, limits in ((left, lengths, "list", (4, 3000)), (right, distances, "side", (0.3, 30))):
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(ScalarFormatter())
        rows = list(dict.fromkeys(table["model"]))
        columns = {"label": "model", "value": "half", "series": series, "decided": True}
        forest(ax, table.rename(columns={"describes": "decided"}), rows, limits, **columns)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.06), ncols=2)
    left.axvline(lengths["longest"].max(), color="#999999", linewidth=0.6)
    left.set(title="half-length", xlabel="lines in the list (grey: the longest list)")
    right.set(title="half-distance", xlabel="lines between the links")
    note = "Filled: decided (Holm within a panel), below: the curve describes its points. Hollow: not."
    figure.text(0.005, -0.005, note, fontsize=6.5, va="top", color="#555555")
    return figure
