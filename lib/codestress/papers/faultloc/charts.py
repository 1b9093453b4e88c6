"""Charts of Fault Localizability: shares as dots by row (Table II, Figures 5, 6, 7, 10, 11, and
accuracy under other labels), accuracy by two factors (Figure 9) and against the strength of
mutations (Figure 8), and the published numbers."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.curves import (
    MEAN,
    draw_curves,
    forest,
    interval,
    legend_above,
    name_rows,
    panels,
    say,
)
from codestress.report.marks import mark
from codestress.report.style import (
    PUBLISHED,
    WIDTHS,
    Look,
    looks,
)
from codestress.types import LANGUAGE_NAMES

from .results.localization import ALL_MUTATIONS, spoken


def share_dots(frames: Mapping[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """Returns a figure of shares as dots with intervals, panels side by side with the same rows: a
    panel for each table in `frames`, whose keys are the titles.

    A table has the columns label (a row), condition (a model: colour and marker), accuracy, low,
    high (0 to 1), and may have n (the answers of a dot: to the right of a row, from fewest to
    most) and cell. Conditions that begin with `published` are grey strokes across the row.
    """
    every = pd.concat(frames.values())
    labels = list(every["label"].unique())
    own = every[~every["condition"].str.startswith("published")]
    models = looks(own["condition"].unique())
    of_a_row = max(1, len(own) // max(1, own["label"].nunique() * len(frames)))
    height = min(8.2, 1.1 + len(labels) * max(0.22, 0.1 + 0.085 * of_a_row))
    figure, axes = panels(list(frames), len(frames), height, sharex=True, sharey=True)
    for ax, frame in zip(axes, frames.values(), strict=True):
        own = frame["condition"].isin(list(models))
        _draw_published(ax, frame[~own], labels)
        rows = frame[own].groupby("label")["label"]
        within = (rows.cumcount() + 0.5) / rows.transform("size") - 0.5
        places = frame["label"].map(labels.index)[own] + 0.7 * within
        for place, dot in frame[own].groupby(places):
            [name] = dot["condition"]
            share, reach = interval(dot)
            colour, marker = models[name]
            # Models that are rows need no name in the legend.
            told = "" if name in labels else name
            bars: Any = {"color": colour, "label": told, "elinewidth": 0.8}
            ax.errorbar(share, [place], None, reach, marker, ms=4, **bars)
            mark(ax, dot, share, place)
        name_rows(ax, [spoken(label) for label in labels])
        ax.set(xlim=(-3, 103), xticks=range(0, 101, 25))
        _name_numbers(ax, frame, labels)
    figure.supxlabel(xlabel, fontsize=8)
    legend_above(figure, *axes)
    return figure


def _draw_published(ax: Axes, frame: pd.DataFrame, labels: Sequence[str]) -> None:
    """Draws the published shares `frame` as grey strokes across the rows `labels`."""
    for condition, part in frame.groupby("condition", sort=False):
        places = part["label"].map(labels.index)
        shares = 100 * part["accuracy"]
        ends = (places - 0.4, places + 0.4)
        ax.vlines(
            shares, *ends, zorder=1, color=PUBLISHED, lw=2.2, label=str(condition)
        )
        mark(ax, part, shares, places, 0, 0.8, published=True)


def _name_numbers(ax: Axes, frame: pd.DataFrame, labels: Sequence[str]) -> None:
    """Writes the column n of `frame` to the right of the rows `labels`, from fewest to most."""
    if "n" not in frame:
        return
    for label, numbers in frame.dropna(subset="n").groupby("label")["n"]:
        ends = [f"{int(end):,}" for end in (numbers.min(), numbers.max())]
        at = (103, labels.index(label))
        told = "–".join(dict.fromkeys(ends))
        say(ax, told, at, (3, 0), va="center", annotation_clip=False)
    say(ax, "n", (1.02, 1.01), xycoords="axes fraction", va="bottom", style="italic")


def heat_map(
    frames: Mapping[str, pd.DataFrame], *, xlabel: str, width: float = WIDTHS["page"]
) -> Figure:
    """Returns a figure of heat maps, a panel for each table in `frames` (by title), side by side
    with the same rows; `xlabel` names the axis below. Each table has a row for each cell: row,
    column (names on the axes), accuracy (0 to 1) and optionally tasks, a number written below the
    accuracy."""
    rows = list(pd.concat(frames.values())["row"].unique())
    columns = list(pd.concat([*frames.values()][::-1])["column"].unique())
    height = 1.2 + 0.36 * len(rows)
    figure, axes = panels(list(frames), len(frames), height, width, sharey=True)
    for ax, frame in zip(axes, frames.values(), strict=True):
        grid = frame.pivot(index="row", columns="column", values="accuracy")
        grid = grid.reindex(index=rows, columns=columns)
        shares = grid.to_numpy(float)
        shades = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        _write_cells(ax, frame, rows, columns)
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(rows)), [spoken(row) for row in rows])
        ax.tick_params(length=0)
        ax.grid(False)
    figure.supxlabel(xlabel, fontsize=8)
    bar = figure.colorbar(
        shades, ax=axes, fraction=0.03, aspect=60, pad=0.02, ticks=[0, 0.5, 1]
    )
    bar.ax.set_yticklabels(["0 %", "50 %", "100 %"], fontsize=6.5)
    bar.outline.set_visible(False)
    return figure


def _write_cells(
    ax: Axes, frame: pd.DataFrame, rows: Sequence[str], columns: Sequence[str]
) -> None:
    """Writes the numbers of the cells `frame` into a heat map of `rows` and `columns`."""
    x = frame["column"].map(columns.index)
    y = frame["row"].map(rows.index)
    mark(ax, frame, x, y, 1, 1)
    for cell in frame.assign(x=x, y=y).itertuples():
        text = f"{100 * cell.accuracy:.0f} %"
        if "tasks" in frame:
            text += f"\nof {cell.tasks:,}"
        colour = "white" if cell.accuracy > 0.6 else "black"
        say(ax, text, (cell.x, cell.y), ha="center", va="center", color=colour)


BOLD = (MEAN, "published")


def strength_curves(points: pd.DataFrame) -> Figure:
    """Returns a figure of curves: a row of panels for each language, a column for each mutation
    (last: all). `points` has the columns model (a curve), language, mutation, strength, value, low,
    high (%). Mean and published are bold; a panel's title says how far the mean moves from the
    first strength to the last, in points."""
    languages = list(points["language"].unique())
    mutations = list(points["mutation"].unique())
    mutations.sort(key=lambda name: bool(name == ALL_MUTATIONS))
    models = looks(points.loc[~points["model"].isin(BOLD), "model"].unique())
    cells = list(product(languages, mutations))
    height = 0.9 + 1.7 * len(languages)
    titles = [""] * len(cells)
    figure, axes = panels(titles, len(mutations), height, sharex=True, sharey=True)
    for ax, (language, mutation) in zip(axes, cells, strict=True):
        chosen = points[["language", "mutation"]] == [language, mutation]
        part = points[chosen.all(axis=1)]
        _draw_strengths(ax, part, models)
        heading = _headed(mutation) if language == languages[0] else ""
        ax.set_title(heading + _moved(part), fontsize=7, loc="center")
        if mutation == mutations[0]:
            ylabel = f"{LANGUAGE_NAMES[language]}\nlocalized again (%)"
            ax.set(ylabel=ylabel, ylim=(-4, 104))
    strengths = sorted(points["strength"].unique())
    axes[0].set_xticks(strengths, [f"{one:g}" for one in strengths])
    told = "strength: applications of the mutation; above: how far the mean moves, in points"
    figure.supxlabel(told, fontsize=8)
    legend_above(figure, *axes)
    return figure


def _draw_strengths(ax: Axes, part: pd.DataFrame, models: Mapping[str, Look]) -> None:
    """Draws the curves of the points `part`: single `models` faint, mean and published bold."""
    for model, (colour, marker) in models.items():
        curve = part[part["model"] == model].sort_values("strength")
        x = curve["strength"]
        y = curve["value"]
        ax.plot(
            x, y, marker=marker, ms=2.5, color=colour, lw=0.8, alpha=0.45, label=model
        )
        mark(ax, curve, x, y)
    for name in BOLD:
        draw_curves(ax, part, [name], "strength", value="value", scale=1, size=3)
    containers: Sequence[Any] = ax.containers
    for container in containers:
        container.lines[0].set_linewidth(2.0)


def _headed(mutation: str) -> str:
    """Returns the words for a mutation as the lines of a narrow panel's title."""
    words = spoken(mutation)
    return words.replace(" + ", " +\n").replace(" ", "\n", "+" not in words) + "\n"


def _moved(part: pd.DataFrame) -> str:
    """Returns how far the mean in the points `part` moves from the first strength to the last."""
    mean = part[part["model"] == MEAN].sort_values("strength")["value"]
    if len(mean) < 2:
        return ""
    return f"{round(mean.iloc[-1] - mean.iloc[0]):+d}".replace("-", "−")


def published_chart(
    cells: pd.DataFrame, returns: pd.DataFrame, counts: pd.DataFrame
) -> Figure:
    """Returns the chart of the published numbers: Table II with intervals (`cells`); misplaced
    returns against the other faults (`returns`); the share localized, by language (`counts`). The
    tables come from `results/published.py`."""
    titles = [f"Table II, {LANGUAGE_NAMES[language]}" for language in LANGUAGES]
    titles += ["misplaced returns - other faults", "Figure 7: before mutations"]
    figure, axes = panels(titles, 2, 7.0)
    theirs: Any = {"scale": 100, "published": True, "series": "series"}
    models = list(cells["label"].unique())
    shown = cells[cells["flag"] == ""]
    shown = shown.assign(series=shown["fault"].map(spoken))
    told = {"value": "accuracy", "xlabel": "accuracy (%)"}
    for ax, language in zip(axes, LANGUAGES, strict=False):
        part = shown[shown["language"] == language]
        forest(ax, part, models, (0, 100), **theirs | told)
    *_, left, right = axes
    told = {"value": "difference", "xlabel": "accuracy (points)"}
    shown = returns.assign(series=returns["language"].map(LANGUAGE_NAMES))
    forest(left, shown, models, (-35, 35), **theirs | told)
    left.axvline(0, color="#999999", linewidth=0.6)
    told = {"value": "found", "xlabel": "of all tasks (%)"}
    shown = counts[counts["lacks"].isna()]
    shown = shown.sort_values("language", ascending=False, kind="stable")
    shown = shown.assign(series=shown["language"].map(LANGUAGE_NAMES))
    names = list(shown["label"].unique())
    forest(right, shown, names, (0, 30), **theirs | told)
    left.legend(loc="upper left")
    right.legend(loc="lower right")
    legend_above(figure, *axes[:2])
    return figure


LANGUAGES = ("python", "java")
