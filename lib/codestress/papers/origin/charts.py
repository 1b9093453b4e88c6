"""Charts of Find the Origin: outcomes at every size, accuracy against distance and against length,
and the findings from the published outcomes."""

from collections.abc import Sequence
from itertools import groupby
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from codestress.fitting.exponential import ExponentialFit
from codestress.fitting.proportions import DOUBTED
from codestress.report.curves import (
    draw_points,
    forest,
    interval,
    legend_above,
    look,
    name_rows,
    panels,
)
from codestress.report.marks import mark
from codestress.report.style import (
    COLOURS,
    HATCHES,
    OTHER,
    PUBLISHED,
    RIGHT,
    TALLEST,
    WIDTHS,
    WRONG,
    add_note,
    looks,
    styled_figure,
)

from .curves import Sides

LOOKS: dict[str, Any] = {
    "correct": {"facecolor": RIGHT, "edgecolor": RIGHT, "hatch": ""},
    "incorrect": {"facecolor": WRONG, "edgecolor": "#B0431A", "hatch": "////"},
    "other": {"facecolor": OTHER, "edgecolor": "#555555", "hatch": "...."},
}


def outcome_map(sources: dict[str, pd.DataFrame]) -> Figure:
    """Figure with a map of outcomes: a panel for each of `sources` (published, regenerated), a row
    for each model; x is the number of lines in the list.

    `sources` is a dict by title of tables with the columns model, lines (in equal steps), outcome.
    Correct is dark and plain, incorrect light and hatched, all else (truncated, refused, …) grey
    and dotted. Numbers of correct answers stand on the right.
    """
    heights = [cells["model"].nunique() for cells in sources.values()]
    height = min(0.19 * sum(heights) + 0.5 * len(heights) + 0.5, TALLEST - 0.6)
    figure, axes = panels(list(sources), 1, height, height_ratios=heights, sharex=True)
    seen = set[str]()
    for ax, (title, cells) in zip(axes, sources.items(), strict=True):
        kind = cells["outcome"].where(cells["outcome"].isin(list(LOOKS)), "other")
        seen.update(kind)
        rows = dict(list(cells.assign(kind=kind).groupby("model", sort=False)))
        counts = []
        for y, row in enumerate(rows.values()):
            _outcome_row(ax, row, y, published=title.startswith("published"))
            counts.append(f"{row['kind'].eq('correct').sum()}/{len(row)}")
        name_rows(ax, list(rows))
        _on_the_right(ax, counts)
        ax.margins(x=0)
        ax.grid(False)
        ax.spines[["left", "bottom"]].set_visible(False)
    axes[-1].set_xlabel("lines in the list")
    names = {"other": "no answer: cut off, declined, not readable, failed"}
    handles = []
    for kind, shown in LOOKS.items():
        if kind in seen:
            handles.append(Patch(label=names.get(kind, kind), **shown))
    figure.legend(handles=handles, loc="outside upper right", ncols=3)
    return figure


def _outcome_row(ax: Axes, row: pd.DataFrame, y: int, *, published: bool) -> None:
    """Draws in the panel `ax` the cells of one model, the table `row`, at the height `y`. A click
    on a published row opens its source, one on another cell the answers behind it."""
    lines = row["lines"]
    step = int(lines.iloc[1] - lines.iloc[0]) if len(row) > 1 else 8
    left = lines.iloc[0] - step / 2
    # Neighbouring cells of one kind are one bar.
    for kind, same in groupby(row["kind"]):
        width = step * len(list(same))
        edge = 0.0 if kind == "correct" else 0.3
        ax.broken_barh([(left, width)], (y - 0.38, 0.76), linewidth=edge, **LOOKS[kind])
        left += width
    if published:
        whole = step * len(row)
        mark(ax, row.iloc[:1], lines.mean(), y, whole, 0.76, published=True)
    else:
        mark(ax, row, lines, y, step, 0.76)


def share_rows(sources: dict[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """Figure of accuracies with intervals, a panel for each table of `sources`, by title, and a row
    for each label in it; `xlabel` names the axis. A table has the columns label, condition,
    accuracy, low, high (0 to 1), and may have cell, the answers behind a row.

    One condition is drawn as bars. Several are points, each with its shape, every other one hollow.
    Published ones, whose title or condition begins with `published`, are grey. The values stand on
    the right, in the order of the conditions.
    """
    rows = [frame["label"].nunique() for frame in sources.values()]
    height = 0.5 + 0.2 * sum(rows) + 0.6 * len(rows)
    figure, axes = panels(
        [""] * len(rows), 1, height, WIDTHS["column"], height_ratios=rows, sharex=True
    )
    for ax, (title, frame) in zip(axes, sources.items(), strict=True):
        labels = list(frame["label"].unique())
        conditions = list(frame["condition"].unique())
        wide = frame.pivot(index="label", columns="condition", values="accuracy")
        values = wide.loc[labels, conditions].map(lambda value: f"{100 * value:.0f}")
        for number, name in enumerate(conditions):
            part = frame[frame["condition"] == name].set_index("label").reindex(labels)
            published = "published" in (title[:9], name[:9])
            _draw_shares(ax, part, (number, len(conditions)), name, published)
        name_rows(ax, labels)
        _on_the_right(ax, list(values.agg(" / ".join, axis=1)))
        ax.set(xlim=(0, 101), xticks=range(0, 101, 20))
        pad = 4
        if len(conditions) > 1:
            pad += 12 * len(conditions)
            ax.legend(
                borderpad=0, borderaxespad=0.3, loc="lower left", bbox_to_anchor=(0, 1)
            )
        # Long names of models leave a title no room to the right of them.
        ax.set_title(title, loc="right", pad=pad)
    axes[-1].set_xlabel(xlabel)
    return figure


def _draw_shares(
    ax: Axes, part: pd.DataFrame, place: tuple[int, int], name: str, published: bool
) -> None:
    """Draws in the panel `ax` the accuracies `part` of the condition `name`, a row for each label;
    `place` has the condition's number, from 0, and the number of conditions."""
    number, conditions = place
    colour, marker = look(number)
    colour = PUBLISHED if published else colour
    places = np.arange(len(part)) + 0.7 * ((number + 0.5) / conditions - 0.5)
    share, reach = interval(part)
    ends: Any = {"xerr": reach, "elinewidth": 0.9}
    if conditions > 1:
        ends |= {"mfc": "white" if number % 2 else colour, "markersize": 3.5}
        ax.errorbar(share, places, fmt=marker, color=colour, label=name, **ends)
        mark(ax, part, share, places, published=published)
    else:
        ax.barh(places, share, 0.7, color=colour)
        ax.errorbar(share, places, fmt="none", ecolor="#111111", capsize=2, **ends)
        mark(ax, part, share / 2, places, share, 0.7, published=published)


def _on_the_right(ax: Axes, words: Sequence[str]) -> None:
    """Writes one of `words` on the right of each row of the panel `ax`."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(words)), words)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def distance_curve(shares: pd.DataFrame, fits: Sides) -> Figure:
    """Figure of accuracy against the distance d. The table `shares` has the columns label,
    published (bool), d, accuracy, low, high (0 to 1), one row per point; `fits` are the curves of
    `fit_sides`.

    Points have intervals, and each series its own marker; fitted curves are dashed, and the legend
    says over how many lines they halve. The published series is grey.
    """
    figure = styled_figure(WIDTHS["column"], 2.9)
    ax = figure.subplots()
    draw_points(ax, shares, _beside, line="")
    own = looks(shares["label"].unique())
    places = sorted(shares["d"].unique())
    x = np.linspace(1, max(map(abs, places)), 200)
    halvings: dict[str, list[str]] = {}
    for (label, sign), fit in fits.items():
        way = "down" if sign > 0 else "up"
        halvings.setdefault(label, []).append(f"{_halving(fit)} {way}")
        if np.isfinite(fit.half_life):
            y = 100 * fit.at(x - 1)
            ax.plot(sign * x, y, ls="--", lw=1.0, color=own[label].colour)
    for label, words in halvings.items():
        named = f"fit to {label},\nlines to halve: {', '.join(words)}"
        ax.plot([], [], ls="--", lw=1.0, color=own[label].colour, label=named)
    ax.axvline(0, color="#999999", linewidth=0.6)
    ax.set(xticks=places, ylim=(-3, 105), ylabel="right answers (%)")
    ax.set_xlabel(
        "lines down to the second link, d (negative: up)\n"
        "intervals: sizes taken as independent"
    )
    marks, names = ax.get_legend_handles_labels()
    figure.legend(marks[::-1], names[::-1], loc="outside upper left", ncols=1)
    return figure


def _beside(number: int, part: pd.DataFrame) -> pd.Series:
    return part["d"] + 0.5 * (number - 0.5)


def _halving(fit: ExponentialFit) -> str:
    """Number of lines over which `fit` halves, in words, or that it is rejected, which means that
    it does not describe its points."""
    if fit.lack < DOUBTED:
        return "rejected"
    return "no fit" if np.isnan(fit.half_life) else f"{fit.half_life:,.0f}"


def length_curve(shares: pd.DataFrame, outcomes: pd.DataFrame) -> Figure:
    """Figure of outcomes against length, a panel for each label (the model, or the published
    answers of one): a bar for each length, with the interval of its right answers.

    The table `shares` has the columns label, published (bool), characters, accuracy, low, high (0
    to 1); the table `outcomes`: label, text, characters, outcome, share. Outcomes are stacked from
    best to worst, reasons of failure last.
    """
    labels = list(outcomes["label"].unique())
    titles = [fill(label, 13) for label in labels]
    rows = -(-len(labels) // MOST_ACROSS)
    height = min(0.8 + 1.6 * rows, TALLEST - 0.6)
    figure, axes = panels(titles, MOST_ACROSS, height, sharey=True)
    found = set(outcomes["outcome"])
    order = [name for name in OUTCOMES if name in found]
    order += sorted(found.difference(OUTCOMES))
    for label, panel in zip(labels, axes, strict=True):
        _outcome_bars(panel, outcomes[outcomes["label"] == label], order)
        _right_interval(panel, shares[shares["label"] == label])
    for panel in axes[::MOST_ACROSS]:
        panel.set_ylabel("outcomes (%)")
    about = ", the kit's own texts" if (outcomes["text"] == "own").any() else ""
    figure.supxlabel(f"characters in the prompt{about}", fontsize=8)
    legend_above(figure, axes[0])
    return figure


MOST_ACROSS = 6
"""Maximum number of models beside each other."""


def _outcome_bars(panel: Axes, part: pd.DataFrame, order: Sequence[str]) -> None:
    """Draws in `panel` a bar for each length in `part`, the outcomes of one label, stacked in
    `order`."""
    wide = part.pivot(index="outcome", columns="characters", values="share")
    wide = 100 * wide.reindex(order).astype(float).fillna(0)
    places, bottom = range(wide.shape[1]), np.zeros(wide.shape[1])
    for outcome, height in wide.iterrows():
        colour, hatch = OUTCOMES.get(str(outcome), (OTHER, HATCHES[5]))
        panel.bar(
            places,
            height,
            bottom=bottom,
            label=outcome,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.4,
        )
        bottom += height.to_numpy()
    ticks = [f"{length / 1000:.1f}".removesuffix(".0") + "k" for length in wide]
    panel.set_xticks(places, ticks, rotation=60)
    panel.set_ylim(0, 104)


def _right_interval(panel: Axes, mine: pd.DataFrame) -> None:
    """Draws in `panel`, over the bars of its lengths, the interval of the right answers in
    `mine`."""
    mine = mine.sort_values("characters").reset_index(drop=True)
    share, reach = interval(mine)
    panel.errorbar(
        mine.index,
        share,
        reach,
        fmt="none",
        ecolor="black",
        elinewidth=0.9,
        capsize=2,
        label="interval of the right answers",
    )
    published = bool(mine["published"].any())
    mark(panel, mine, mine.index, share / 2, 0.8, share, published=published)


PART = "#9BD3C1"
"""Colour of partly correct answers: a paler colour of correct answers."""
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
"""Colour and hatch by outcome, best first: green is correct, orange incorrect, grey neither, as in
all figures."""


def published_chart(pairs: pd.DataFrame) -> Figure:
    """Figure of the comparisons of published lists: a panel for each comparison of `pairs`, a row
    for each model. The table has the columns comparison, model, difference, low, high (-1 to 1),
    decided. Hollow marks are not decided."""
    models = list(pairs["model"].unique())
    comparisons = dict(list(pairs.groupby("comparison", sort=False)))
    figure, axes = panels(list(comparisons), 3, 3.4, sharey=True)
    for ax, part in zip(axes, comparisons.values(), strict=True):
        ax.axvline(0, color="#999999", linewidth=0.6)
        forest(
            ax,
            part,
            models,
            (-105, 105),
            label="model",
            value="difference",
            scale=100,
            decided=True,
            published=True,
            xlabel="correct (points)",
        )
    add_note(
        figure, "filled: decided, sizes taken as independent (Holm within a panel)"
    )
    return figure
