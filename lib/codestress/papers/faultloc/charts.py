"""Charts of Fault Localizability.

They show shares as dots in rows (Table II, Figures 5, 6, 7, 10, 11, and accuracy under
other labels), accuracy by two factors (Figure 9) and against the strength of mutations
(Figure 8), the published numbers, and the lines that models name in one program
(Figure 2).
"""

from collections.abc import Mapping, Sequence
from itertools import product
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.curves import (
    MEAN,
    draw_curves,
    forest,
    legend_above,
    name_rows,
    panels,
    say,
)
from codestress.report.marks import mark
from codestress.report.style import (
    PUBLISHED,
    Look,
    looks,
)
from codestress.types import LANGUAGE_NAMES

from .results.localization import spoken


def share_dots(dots: pd.DataFrame, *, xlabel: str) -> Figure:
    """Return a figure of shares as dots with intervals, in panels side by side with the
    same rows.

    `dots` has the columns panel (title of the panel), label (a row), condition (a
    model: colour and marker), accuracy, low, high (0 to 1). It may have n (the number
    of answers of a dot; to the right of a row, from fewest to most) and cell.
    Conditions that begin with `published` are grey strokes across the row.
    """
    theirs = dots["condition"].str.startswith("published")
    own = dots[~theirs].rename(columns={"condition": "model"})
    labels = list(dots["label"].unique())
    titles = list(dots["panel"].unique())
    rows = max(1, own["label"].nunique() * len(titles))
    of_a_row = max(0.22, 0.1 + 0.085 * (len(own) // rows))
    height = min(8.2, 1.1 + len(labels) * of_a_row)
    figure, axes = panels(titles, len(titles), height, sharex=True, sharey=True)
    style: Any = {"value": "accuracy", "scale": 100, "series": "model"}
    for ax, title in zip(axes, titles, strict=True):
        _draw_published(ax, dots[theirs & (dots["panel"] == title)], labels)
        forest(ax, own[own["panel"] == title], labels, (-3, 103), **style)
        name_rows(ax, [spoken(label) for label in labels])
        ax.set_xticks(range(0, 101, 25))
        _name_numbers(ax, dots[dots["panel"] == title], labels)
    figure.supxlabel(xlabel, fontsize=8)
    legend_above(figure)
    return figure


def _draw_published(ax: Axes, frame: pd.DataFrame, labels: Sequence[str]) -> None:
    """Draw the published shares `frame` as grey strokes across the rows `labels`."""
    for condition, part in frame.groupby("condition", sort=False):
        places = part["label"].map(labels.index)
        shares = 100 * part["accuracy"]
        strokes = ax.vlines(shares, places - 0.4, places + 0.4, PUBLISHED, zorder=1)
        strokes.set(lw=2.2, label=condition)
        mark(ax, part, shares, places, 0, 0.8, published=True)


def _name_numbers(ax: Axes, frame: pd.DataFrame, labels: Sequence[str]) -> None:
    """Write the column n of `frame` to the right of the rows `labels`, from fewest to
    most."""
    known = frame.reindex(columns=["label", "n"]).dropna()
    for label, numbers in known.groupby("label")["n"]:
        ends = sorted({numbers.min(), numbers.max()})
        span = "–".join(map("{:,.0f}".format, ends))
        place = (103, labels.index(label))
        say(ax, span, place, (3, 0), va="center", annotation_clip=False)
    if known.empty:
        return
    say(ax, "n", (1.02, 1.01), xycoords="axes fraction", va="bottom", style="italic")


def heat_map(
    frames: Mapping[str, pd.DataFrame], *, xlabel: str, width: float = 7.0
) -> Figure:
    """Return a figure of heat maps, side by side with the same rows.

    `frames` is a dict from a panel's title to its table; `xlabel` names the axis below.
    Each table has a row for each cell: row, column (names on the axes), accuracy (0 to
    1) and optionally tasks, a number written below the accuracy.
    """
    tables = list(frames.values())
    rows = list(pd.concat(tables)["row"].unique())
    columns = list(pd.concat(tables[::-1])["column"].unique())
    names = [spoken(row) for row in rows]
    height = 1.2 + 0.36 * len(rows)
    figure, axes = panels(list(frames), len(frames), height, width, sharey=True)
    for ax, frame in zip(axes, tables, strict=True):
        grid = frame.pivot(index="row", columns="column", values="accuracy")
        grid = grid.reindex(index=rows, columns=columns).astype(float)
        shades = ax.imshow(grid, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        _write_cells(ax, frame, rows, columns)
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(rows)), names)
        ax.tick_params(length=0)
        ax.grid(False)
    figure.supxlabel(xlabel, fontsize=8)
    bar = figure.colorbar(shades, ax=axes, fraction=0.03, aspect=60, pad=0.02)
    bar.set_ticks([0, 0.5, 1], labels=["0 %", "50 %", "100 %"], fontsize=6.5)
    bar.outline.set_visible(False)
    return figure


def _write_cells(
    ax: Axes, frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Write the numbers of the cells `frame` into a heat map of `rows` and `columns`."""
    x = frame["column"].map(columns.index)
    y = frame["row"].map(rows.index)
    mark(ax, frame, x, y, 1, 1)
    texts = (100 * frame["accuracy"]).map("{:.0f} %".format)
    if "tasks" in frame:
        texts += frame["tasks"].map("\nof {:,}".format)
    colours = frame["accuracy"].gt(0.6).map({True: "white", False: "black"})
    for *place, text, colour in zip(x, y, texts, colours, strict=True):
        say(ax, text, place, ha="center", va="center", color=colour)


BOLD = (MEAN, "published")
"""Curves that are drawn bold, since they are not of a single model."""


def strength_curves(points: pd.DataFrame) -> Figure:
    """Return a figure of curves: a row of panels for each language, a column for each
    mutation, in the order of `points`.

    `points` has the columns model (a curve), language, mutation, strength, value, low,
    high (%). Mean and published curves are bold. A panel's title says how far the mean
    moves from the first strength to the last, in percentage points.
    """
    languages = list(points["language"].unique())
    mutations = list(points["mutation"].unique())
    models = looks(points.query("model not in @BOLD")["model"].unique())
    cells = list(product(languages, mutations))
    height = 0.9 + 1.7 * len(languages)
    titles = [""] * len(cells)
    figure, axes = panels(titles, len(mutations), height, sharex=True, sharey=True)
    for ax, (language, mutation) in zip(axes, cells, strict=True):
        part = points.query("language == @language and mutation == @mutation")
        _draw_strengths(ax, part, models)
        title = _moved(part)
        if language == languages[0]:
            title = f"{fill(spoken(mutation), 11)}\n{title}"
        ax.set_title(title, fontsize=7, loc="center")
        if mutation == mutations[0]:
            ylabel = f"{LANGUAGE_NAMES[language]}\nlocalized again (%)"
            ax.set(ylabel=ylabel, ylim=(-4, 104))
    strengths = sorted(points["strength"].unique())
    axes[0].set_xticks(strengths, [f"{strength:g}" for strength in strengths])
    figure.supxlabel(
        "strength: applications of the mutation; above: how far the mean moves, in points",
        fontsize=8,
    )
    legend_above(figure)
    return figure


def _draw_strengths(ax: Axes, part: pd.DataFrame, models: Mapping[str, Look]) -> None:
    """Draw the curves of the points `part`: single `models` faint, mean and published
    bold."""
    for model, (colour, marker) in models.items():
        curve = part.query("model == @model").sort_values("strength")
        x = curve["strength"]
        y = curve["value"]
        ax.plot(
            x, y, marker=marker, ms=2.5, color=colour, lw=0.8, alpha=0.45, label=model
        )
        mark(ax, curve, x, y)
    draw_curves(ax, part, BOLD, "strength", value="value", scale=1)


def _moved(part: pd.DataFrame) -> str:
    """Return, as text, how far the mean in the points `part` moves from the first
    strength to the last, in percentage points.

    The text is empty if there are fewer than two strengths.
    """
    curve = part.query("model == @MEAN").sort_values("strength")
    if len(curve) < 2:
        return ""
    first, *_, last = curve["value"]
    return f"{round(last - first):+d}".replace("-", "−")


def published_chart(
    cells: pd.DataFrame, returns: pd.DataFrame, counts: pd.DataFrame
) -> Figure:
    """Return the chart of the published numbers, from the tables of
    `results/published.py`.

    It shows Table II with intervals (`cells`), misplaced returns against other faults
    (`returns`), and the share localized, by language (`counts`).
    """
    titles = ["Table II, Python", "Table II, Java"]
    titles += ["misplaced returns - other faults", "Figure 7: before mutations"]
    figure, axes = panels(titles, 2, 7.0)
    *above, left, right = axes
    style: Any = {"scale": 100, "published": True, "series": "series"}
    models = list(cells["label"].unique())
    shown = cells.query("flag == ''")
    shown = shown.assign(series=shown["fault"].map(spoken))
    for ax, language in zip(above, ("python", "java"), strict=True):
        part = shown[shown["language"] == language]
        forest(
            ax, part, models, (0, 100), value="accuracy", xlabel="accuracy (%)", **style
        )
    legend_above(figure)
    shown = returns.assign(series=returns["language"].map(LANGUAGE_NAMES))
    forest(left, shown, models, (-35, 35), value="difference", **style)
    left.set_xlabel("accuracy (points)")
    whole = counts.query("lacks.isna()")
    shown = whole.sort_values("language", ascending=False, kind="stable")
    shown = shown.assign(series=shown["language"].map(LANGUAGE_NAMES))
    models = list(shown["label"].unique())
    forest(
        right, shown, models, (0, 30), value="found", xlabel="of all tasks (%)", **style
    )
    left.legend(loc="upper left")
    right.legend(loc="lower right")
    return figure


NO_LINE = 0
"""Place, on the axis of lines, of an answer that names no line."""


def named_lines(table: pd.DataFrame) -> Figure:
    """Return a chart of one program: its lines from left to right, with a row for each
    version of the program.

    Each row has a mark at the line that each model names, at the left if it names none,
    and a box around the faulty line. Below the version's name stands the number of
    answers that name the faulty line. `table` has a row for each answer: condition (the
    version), model, faulty_line, named_line (missing if none is named), cell.
    """
    named = table["named_line"].astype(float).fillna(NO_LINE)
    table = table.assign(value=named, low=named, high=named)
    table["right"] = named == table["faulty_line"]
    versions = table.groupby("condition", sort=False)
    faulty = versions["faulty_line"].first()
    conditions = list(faulty.index)
    last = int(table[["faulty_line", "value"]].to_numpy().max())
    each = min(0.9, max(0.45, 0.1 * table["model"].nunique()))
    figure, [ax] = panels([""], 1, 1.2 + each * len(conditions))
    label = "line that was named; box: the faulty line; below a name: how many named it"
    columns: Any = {"label": "condition", "series": "model", "xlabel": label}
    forest(ax, table, conditions, (NO_LINE - 1, last + 1), **columns)
    rows = range(len(conditions))
    ax.barh(rows, 0.8, 0.84, faulty - 0.4, fc="none", ec="black")
    right = versions["right"].sum().astype(str)
    counts = right + " of " + versions.size().astype(str)
    names = faulty.index.str.replace(", ", ",\n") + "\n" + counts
    ax.set_yticks(rows, names)
    lines = range(1, last + 1)
    ax.set_xticks([NO_LINE, *lines], ["no\nline", *map(str, lines)])
    legend_above(figure)
    return figure
