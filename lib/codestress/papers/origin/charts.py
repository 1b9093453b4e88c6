"""Charts of Find the Origin's lists of links: outcomes at every size, accuracy of each
model and against distance, and the findings from the published outcomes."""

from itertools import groupby
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
    name_rows,
    panels,
)
from codestress.report.marks import mark
from codestress.report.style import (
    MARKERS,
    OTHER,
    PUBLISHED,
    RIGHT,
    TALLEST,
    WIDTHS,
    WRONG,
    add_note,
    looks,
)

from .curves import Sides

UNANSWERED = "no answer: cut off, declined, not readable, failed"
"""Kind of all outcomes except correct and incorrect, as the legend names it."""
LOOKS: dict[str, Any] = {
    "correct": {"color": RIGHT, "hatch": ""},
    "incorrect": {"facecolor": WRONG, "edgecolor": "#B0431A", "hatch": "////"},
    UNANSWERED: {"facecolor": OTHER, "edgecolor": "#555555", "hatch": "...."},
}
"""Colours and hatch of the cells of an outcome map: a dict from kind (correct,
incorrect, `UNANSWERED`) to options for Matplotlib."""


def outcome_map(cells: pd.DataFrame) -> Figure:
    """Draw a map of outcomes, and return the figure: a panel for each source
    (published, regenerated), and a row for each model. The x axis is the number of
    lines in the list.

    `cells` has the columns source, model, lines (in equal steps), outcome. Correct is
    dark and plain, incorrect light and hatched, all else (truncated, refused, …) grey
    and dotted. The numbers of correct answers stand on the right.
    """
    outcome = cells["outcome"]
    kind = outcome.where(outcome.isin(list(LOOKS)), UNANSWERED)
    sources = dict(list(cells.assign(kind=kind).groupby("source", sort=False)))
    rows = [part["model"].nunique() for part in sources.values()]
    height = 0.5 + 0.19 * sum(rows) + 0.5 * len(rows)
    height = min(height, TALLEST - 0.6)
    titles = list(map(_title, sources))
    figure, axes = panels(titles, 1, height, height_ratios=rows, sharex=True)
    for ax, (source, part) in zip(axes, sources.items(), strict=True):
        _outcome_panel(ax, part, source == "published")
    axes[-1].set_xlabel("lines in the list")
    occurred = [name for name in LOOKS if (kind == name).any()]
    handles = [Patch(label=name, **LOOKS[name]) for name in occurred]
    figure.legend(handles=handles, loc="outside upper right", ncols=3)
    return figure


def _title(source: str) -> str:
    """Return the title of a panel with the numbers of `source`, such as `published` or
    `regenerated, shuffled`."""
    if source == "published":
        return "published (the paper's own runs)"
    return source.replace("regenerated", "regenerated here")


def _outcome_panel(ax: Axes, cells: pd.DataFrame, published: bool) -> None:
    """Draw in the panel `ax` a row for each model in `cells`, with its number of
    correct answers. `published` says whether the cells are the paper's."""
    rows = dict(list(cells.groupby("model", sort=False)))
    counts = []
    for y, row in enumerate(rows.values()):
        _outcome_row(ax, row, y, published)
        correct = (row["kind"] == "correct").sum()
        counts.append(f"{correct}/{len(row)}")
    name_rows(ax, list(rows))
    _on_the_right(ax, counts)
    ax.margins(x=0)
    ax.grid(False)
    ax.spines[["left", "bottom"]].set_visible(False)


def _outcome_row(ax: Axes, row: pd.DataFrame, y: int, published: bool) -> None:
    """Draw in the panel `ax` the cells of one model, the table `row`, at the height
    `y`. A click on a `published` row opens its source; a click on another row's cell
    opens the answers behind it."""
    lines = row["lines"]
    step = 8
    if len(row) > 1:
        step = int(lines.iloc[1] - lines.iloc[0])
    left = lines.iloc[0] - step / 2
    # Neighbouring cells of one kind are drawn as one bar.
    for kind, same in groupby(row["kind"]):
        width = step * len(list(same))
        edge = 0.3 * (kind != "correct")
        ax.broken_barh([(left, width)], (y - 0.38, 0.76), linewidth=edge, **LOOKS[kind])
        left += width
    if published:
        whole = step * len(row)
        mark(ax, row.iloc[:1], lines.mean(), y, whole, 0.76, published=True)
    else:
        mark(ax, row, lines, y, step, 0.76)


def share_rows(shares: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draw accuracies with intervals, and return the figure: a panel for each source
    (published, regenerated), and a row for each label, the most accurate under the
    first condition first. `xlabel` names the axis.

    `shares` has the columns source, label, condition, accuracy, low, high (0 to 1), and
    optionally cell (values that select the answers behind a row). A single condition is
    drawn as bars. Several conditions are points of different shapes, every second
    condition hollow. Published numbers are grey. The values stand on the right, in the
    order of the conditions.
    """
    sources = dict(list(shares.groupby("source", sort=False)))
    rows = [part["label"].nunique() for part in sources.values()]
    height = 0.5 + 0.2 * sum(rows) + 0.6 * len(rows)
    figure, axes = panels(
        [""] * len(rows), 1, height, WIDTHS["column"], height_ratios=rows, sharex=True
    )
    for ax, (source, part) in zip(axes, sources.items(), strict=True):
        _share_panel(ax, part, source)
    axes[-1].set_xlabel(xlabel)
    return figure


def _share_panel(ax: Axes, part: pd.DataFrame, source: str) -> None:
    """Draw in the panel `ax` the accuracies `part` of one source under each condition,
    and write the panel's title above. A label without an answer under the first
    condition comes last."""
    wide = part.pivot_table("accuracy", "label", "condition", sort=False, dropna=False)
    wide = wide.sort_values(wide.columns[0], ascending=False, kind="stable")
    conditions = list(wide)
    for number, name in enumerate(conditions):
        own = part[part["condition"] == name].set_index("label").reindex(wide.index)
        _draw_shares(ax, own, number, conditions, source == "published")
    name_rows(ax, list(wide.index))
    percents = (100 * wide).to_numpy()
    _on_the_right(ax, [" / ".join(f"{x:.0f}" for x in row) for row in percents])
    ax.set_xlim(0, 101)
    ax.set_xticks(range(0, 101, 20))
    pad = 4
    if len(conditions) > 1:
        pad += 12 * len(conditions)
        ax.legend(
            borderpad=0, borderaxespad=0.3, loc="lower left", bbox_to_anchor=(0, 1)
        )
    # The title stands above: long names of models leave no room for it beside them.
    ax.set_title(_title(source), loc="right", pad=pad)


def _draw_shares(
    ax: Axes, part: pd.DataFrame, number: int, conditions: list[str], published: bool
) -> None:
    """Draw in the panel `ax` the accuracies `part` of one condition, a row for each
    label. `number` is the condition's index in `conditions`. The dots or bars are grey
    if `published`."""
    colour = PUBLISHED if published else "black"
    rows = np.arange(len(part))
    places = rows + 0.7 * ((number + 0.5) / len(conditions) - 0.5)
    share, reach = interval(part)
    style: Any = {"fmt": "none", "ecolor": "#111111", "capsize": 2}
    box: tuple[Any, ...] = (share, places)
    if len(conditions) == 1:
        colours = [own.colour for own in looks(part.index).values()]
        ax.barh(places, share, 0.7, color=PUBLISHED if published else colours)
        box = (share / 2, places, share, 0.7)
    else:
        face = "white" if number % 2 else colour
        style = {
            "fmt": MARKERS[number],
            "color": colour,
            "mfc": face,
            "markersize": 3.5,
        }
    ax.errorbar(
        share,
        places,
        xerr=reach,
        elinewidth=0.9,
        label=conditions[number],
        **style,
    )
    mark(ax, part, *box, published=published)


def _on_the_right(ax: Axes, words: list[str]) -> None:
    """Write `words`, a text for each row, on the right of the panel `ax`."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(words)), words)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def distance_curve(shares: pd.DataFrame, fits: Sides) -> Figure:
    """Draw accuracy against the distance d, and return the figure. `shares` has a row
    for each point, with the columns label, published (bool), d, accuracy, low, high (0
    to 1). `fits` are the curves of `fit_sides`.

    Points have intervals, and each series has its own marker; the published series is
    grey. Fitted curves are dashed, and the legend says over how many lines a curve
    halves.
    """
    figure, [ax] = panels([""], 1, 2.9, WIDTHS["column"])
    draw_points(ax, shares, "d", apart=0.8, line="")
    _draw_fits(ax, shares, fits)
    ax.axvline(0, color="#999999", linewidth=0.6)
    xlabel = (
        "lines down to the second link, d (negative: up)\n"
        "intervals: sizes taken as independent"
    )
    ax.set(xlabel=xlabel, ylabel="right answers (%)", ylim=(-3, 105))
    ax.set_xticks(sorted(shares["d"].unique()))
    marks, names = ax.get_legend_handles_labels()
    figure.legend(marks[::-1], names[::-1], loc="outside upper left", ncols=1)
    return figure


def _draw_fits(ax: Axes, shares: pd.DataFrame, fits: Sides) -> None:
    """Draw the curves `fits` in the panel `ax`, each in the colour of its label in
    `shares`."""
    own = looks(shares["label"].unique())
    apart = np.linspace(1, shares["d"].abs().max(), 200)
    halvings: dict[str, list[str]] = {}
    for (label, sign), fit in fits.items():
        way = "up"
        if sign > 0:
            way = "down"
        halvings.setdefault(label, []).append(f"{_halving(fit)} {way}")
        if np.isfinite(fit.half_life):
            percent = 100 * fit.at(apart - 1)
            ax.plot(sign * apart, percent, ls="--", lw=1.0, color=own[label].colour)
    for label, lines in halvings.items():
        name = f"fit to {label},\nlines to halve: {', '.join(lines)}"
        ax.plot([], [], ls="--", lw=1.0, color=own[label].colour, label=name)


def _halving(fit: ExponentialFit) -> str:
    """Return the number of lines over which `fit` halves, in words. Return `rejected`
    if the curve does not describe its points, `no fit` if there is none."""
    if fit.lack < DOUBTED:
        return "rejected"
    if np.isnan(fit.half_life):
        return "no fit"
    return f"{fit.half_life:,.0f}"


def published_chart(pairs: pd.DataFrame) -> Figure:
    """Draw the comparisons of published lists, and return the figure: a panel for each
    comparison of `pairs`, a row for each model. `pairs` has the columns comparison,
    model, difference, low, high (-1 to 1), decided. Marks of differences that are not
    decided are hollow."""
    models = list(pairs["model"].unique())
    titles = pairs["comparison"].unique()
    figure, axes = panels(titles, 3, 3.4, sharey=True)
    for ax, title in zip(axes, titles, strict=True):
        forest(
            ax,
            pairs[pairs["comparison"] == title],
            models,
            (-105, 105),
            label="model",
            value="difference",
            scale=100,
            published=True,
            xlabel="correct (points)",
        )
    add_note(
        figure,
        "filled: decided on single sizes and blocks of 3 and 6 (Holm in a panel)",
    )
    return figure
