"""Charts of Fault Localizability: lengths of programs (Figure 5), accuracy by two factors (Figure
9), accuracy as dots by row (Table II, Figures 6, 7, 10, 11) and against the strength of mutations
(Figure 8), the lines that models name in one program (Figure 2), and the published numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from codestress.papers.faultloc.words import spoken
from codestress.report.curves import (
    MEAN,
    draw_curves,
    draw_points,
    forest,
    interval,
    legend_above,
    look,
    name_rows,
    panels,
    say,
)
from codestress.report.marks import mark
from codestress.report.style import PUBLISHED, RIGHT, WIDTHS, looks, styled_figure


def length_bars(frames: Mapping[str, pd.DataFrame]) -> Figure:
    """Returns a figure of bars: the share of programs in each range of lengths, a panel for each
    table in `frames`, whose keys are the titles. A table has the columns label (range of lengths),
    count (programs), and source, with bars beside each other; a source that begins with
    `published` is grey. The number at a bar's end is the count."""
    figure, axes = panels(list(frames), 2, 2.9, sharex=True, sharey=True)
    labels = list(
        dict.fromkeys(name for frame in frames.values() for name in frame["label"])
    )
    for ax, frame in zip(axes, frames.values(), strict=True):
        sources = list(dict.fromkeys(frame["source"]))
        height = 0.8 / len(sources)
        for number, (source, part) in enumerate(frame.groupby("source", sort=False)):
            places = part["label"].map(labels.index) + height * (
                number - (len(sources) - 1) / 2
            )
            colour = (
                PUBLISHED
                if str(source).startswith("published")
                else look(number).colour
            )
            share = 100 * part["count"] / max(part["count"].sum(), 1)
            name = f"{source} ({part['count'].sum():,})"
            ax.barh(places, share, 0.92 * height, color=colour, label=name)
            theirs = colour == PUBLISHED
            mark(ax, part, share / 2, places, share, 0.92 * height, published=theirs)
            for place, end, count in zip(places, share, part["count"], strict=True):
                say(ax, f"{count:,}", (end, place), (3, 0), va="center")
        name_rows(ax, labels)
        ax.legend(loc="lower right")
        ax.set_xlabel("share of the programs (%); at the end: how many")
    axes[0].set(ylabel="lines of a program", xlim=(0, 108))
    return figure


def share_dots(frames: Mapping[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """Returns a figure of shares as dots with intervals, panels side by side with the same rows: a
    panel for each table in `frames`, whose keys are the titles.

    A table has the columns label (a row), condition (a model: colour and marker), accuracy, low,
    high (0 to 1), and may have n (the answers of a dot: to the right of a row, from fewest to
    most) and cell. Conditions that begin with `published` are grey strokes across the row.
    """
    every = pd.concat(frames.values())
    labels = list(dict.fromkeys(every["label"]))
    own = every[~every["condition"].str.startswith("published")]
    models = looks(dict.fromkeys(own["condition"]))
    of_a_row = max(1, len(own) // max(1, own["label"].nunique() * len(frames)))
    height = min(8.2, 1.1 + len(labels) * max(0.22, 0.1 + 0.085 * of_a_row))
    figure, axes = panels(list(frames), len(frames), height, sharex=True, sharey=True)
    for ax, frame in zip(axes, frames.values(), strict=True):
        _draw_published(ax, frame, labels)
        for row, part in frame[frame["condition"].isin(models)].groupby(
            "label", sort=False
        ):
            for number, (index, dot) in enumerate(part.iterrows()):
                place = labels.index(row) + 0.7 * ((number + 0.5) / len(part) - 0.5)
                colour, marker = models[dot["condition"]]
                share, reach = interval(part.loc[[index]])
                ax.errorbar(
                    share,
                    [place],
                    xerr=reach,
                    fmt=marker,
                    ms=4,
                    elinewidth=0.8,
                    color=colour,
                    label=dot["condition"],
                )
                mark(ax, part.loc[[index]], share, place)
        name_rows(ax, [spoken(label) for label in labels])
        ax.set(xlim=(-3, 103), xticks=range(0, 101, 25))
        _name_numbers(ax, frame, labels)
    figure.supxlabel(xlabel, fontsize=8)
    _name_series(figure, axes, labels)
    return figure


def _draw_published(ax: Axes, frame: pd.DataFrame, labels: Sequence[str]) -> None:
    """Draws the published shares of `frame` as grey strokes across the rows `labels`."""
    published = frame[frame["condition"].str.startswith("published")]
    for condition, part in published.groupby("condition", sort=False):
        places = part["label"].map(labels.index)
        shown = {"color": PUBLISHED, "lw": 2.2, "label": condition}
        ax.vlines(100 * part["accuracy"], places - 0.4, places + 0.4, zorder=1, **shown)
        mark(ax, part, 100 * part["accuracy"], places, 0, 0.8, published=True)


def _name_numbers(ax: Axes, frame: pd.DataFrame, labels: Sequence[str]) -> None:
    """Writes the column n of `frame` to the right of the rows `labels`, from fewest to most."""
    if "n" not in frame:
        return
    for label, numbers in frame.dropna(subset="n").groupby("label")["n"]:
        least, most = int(numbers.min()), int(numbers.max())
        told = f"{least:,}" if least == most else f"{least:,}–{most:,}"
        at = (103, labels.index(label))
        say(ax, told, at, (3, 0), va="center", annotation_clip=False)
    ax.text(
        1.02,
        1.01,
        "n",
        transform=ax.transAxes,
        fontsize=6.5,
        va="bottom",
        style="italic",
    )


def _name_series(figure: Figure, axes: Sequence[Axes], labels: Sequence[str]) -> None:
    """Draws the legend of `share_dots` above its panels; models that are rows need no name
    there."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            if name not in (*labels, "published"):
                handles.setdefault(name, handle)
    handles = dict(
        sorted(handles.items(), key=lambda item: item[0].startswith("published"))
    )
    if handles:
        most = max(1, int(15 * figure.get_figwidth()) // (max(map(len, handles)) + 6))
        figure.legend(
            handles.values(), list(handles), loc="outside upper center", ncols=most
        )


def heat_map(
    frames: Mapping[str, pd.DataFrame], *, xlabel: str, width: float = WIDTHS["page"]
) -> Figure:
    """Returns a figure of heat maps, a panel for each table in `frames` (by title), side by side
    with the same rows; `xlabel` names the axis below. Each table has a row for each cell: row,
    column (names on the axes), accuracy (0 to 1) and optionally tasks, a number written below the
    accuracy."""
    first = list(
        dict.fromkeys(row for frame in frames.values() for row in frame["row"])
    )
    height = 1.2 + 0.36 * len(first)
    figure, axes = panels(list(frames), len(frames), height, width, sharey=True)
    order = list(
        dict.fromkeys(
            column for frame in [*frames.values()][::-1] for column in frame["column"]
        )
    )
    for ax, frame in zip(axes, frames.values(), strict=True):
        columns = [one for one in order if one in set(frame["column"])]
        grid = frame.pivot_table(
            index="row", columns="column", values="accuracy", sort=False
        ).reindex(first)[columns]
        shades = ax.imshow(
            grid.to_numpy(float), cmap="Blues", vmin=0, vmax=1, aspect="auto"
        )
        at = frame["column"].map(columns.index), frame["row"].map(first.index)
        mark(ax, frame, *at, 1, 1)
        for cell in frame.itertuples():
            text = f"{100 * cell.accuracy:.0f} %"
            if hasattr(cell, "tasks"):
                text += f"\nof {int(cell.tasks):,}"
            colour = "white" if cell.accuracy > 0.6 else "black"
            place = (columns.index(cell.column), first.index(cell.row))
            say(ax, text, place, ha="center", va="center", color=colour)
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(first)), [spoken(row) for row in first])
        ax.tick_params(length=0)
        ax.grid(False)
    figure.supxlabel(xlabel, fontsize=8)
    bar = figure.colorbar(
        shades, ax=axes, fraction=0.03, aspect=60, pad=0.02, ticks=[0, 0.5, 1]
    )
    bar.ax.set_yticklabels(["0 %", "50 %", "100 %"], fontsize=6.5)
    bar.outline.set_visible(False)
    return figure


def strength_curves(points: pd.DataFrame) -> Figure:
    """Returns a figure of curves: a row of panels for each language, a column for each mutation
    (last: all). `points` has the columns model (a curve), panel (language, mutation), density
    (strength), value, low, high (%). Mean and published are bold; a panel's title says how far the
    mean moves from the first strength to the last, in points."""
    names = (
        points["panel"]
        .str.removeprefix("published, ")
        .str.split(", ", n=1, expand=True)
    )
    points = points.assign(language=names[0], mutation=names[1])
    mutations, languages, models = (
        list(dict.fromkeys(points[name])) for name in ("mutation", "language", "model")
    )
    mutations = [
        *(one for one in mutations if one != ALL),
        *([ALL] if ALL in mutations else []),
    ]
    figure = styled_figure(WIDTHS["page"], 0.9 + 1.7 * len(languages))
    grid = figure.subplots(
        len(languages), len(mutations), sharex=True, sharey=True, squeeze=False
    )
    for (language, mutation), part in points.groupby(
        ["language", "mutation"], sort=False
    ):
        ax = grid[languages.index(language)][mutations.index(mutation)]
        for model, (colour, marker) in looks(
            one for one in models if one not in BOLD
        ).items():
            curve = part[part["model"] == model].sort_values("density")
            faint: dict[str, Any] = {
                "color": colour,
                "lw": 0.8,
                "alpha": 0.45,
                "label": model,
            }
            ax.plot(curve["density"], curve["value"], marker=marker, ms=2.5, **faint)
            mark(ax, curve, curve["density"], curve["value"])
        for name in BOLD:
            bold = part[part["model"] == name]
            draw_curves(ax, bold, [name], "density", value="value", scale=1, size=3)
            for container in ax.containers[-1:]:
                container.lines[0].set_linewidth(2.0)
        title = _headed(mutation) if language == languages[0] else ""
        ax.set_title(title + _moved(part), fontsize=7, loc="center")
    for ax, language in zip(grid[:, 0], languages, strict=True):
        ax.set(ylabel=f"{language}\nlocalized again (%)", ylim=(-4, 104))
    strengths = sorted(points["density"].unique())
    grid[0][0].set_xticks(strengths, [f"{one:g}" for one in strengths])
    told = "strength: applications of the mutation; above: how far the mean moves, in points"
    figure.supxlabel(told, fontsize=8)
    legend_above(figure, *grid.flat, most=6)
    return figure


BOLD = (MEAN, "published")


def _headed(mutation: str) -> str:
    """Returns the words for a mutation as the lines of a narrow panel's title."""
    words = spoken(mutation.replace(" ", "_") if mutation != ALL else ALL)
    return words.replace(" + ", " +\n").replace(" ", "\n", "+" not in words) + "\n"


def _moved(part: pd.DataFrame) -> str:
    """Returns how far the mean in the points `part` moves from the first strength to the last."""
    mean = part[part["model"] == MEAN].sort_values("density")["value"]
    if len(mean) < 2:
        return ""
    return f"{mean.iloc[-1] - mean.iloc[0]:+.0f}".replace("-", "−")


def relabelled_curves(panels_of: Mapping[str, pd.DataFrame]) -> Figure:
    """Returns a figure of accuracy by quarter of the program: a panel for each table in
    `panels_of`, whose keys are the models, a curve for each reading (by labels or by changed
    lines). Columns of a table: model (holds the reading), quarter (1 to 4, of the line that the
    reading counts as faulty), accuracy, low, high (%)."""
    readings = list(
        dict.fromkeys(name for table in panels_of.values() for name in table["model"])
    )
    across = 2 if len(panels_of) <= 4 else 4
    rows = -(-len(panels_of) // across)
    height = min(8.2, 0.8 + 1.7 * rows)
    figure, axes = panels(list(panels_of), across, height, sharex=True, sharey=True)
    for ax, table in zip(axes, panels_of.values(), strict=True):
        shares = table.rename(columns={"model": "label"}).assign(published=False)
        shares[["accuracy", "low", "high"]] /= 100
        draw_points(
            ax,
            shares,
            lambda number, part: (
                part["quarter"] + 0.08 * (number - (len(readings) - 1) / 2)
            ),
            line="-",
            width=0.7,
        )
        ax.set(ylim=(-4, 104), xticks=range(1, 5))
        ax.tick_params(labelbottom=True)
    for ax in axes[::across]:
        ax.set_ylabel("accuracy (%)")
    figure.supxlabel(
        "quarter of the program in which the line that counts stands", fontsize=8
    )
    legend_above(figure, *axes)
    return figure


ALL = "all mutations"


def named_lines(table: pd.DataFrame) -> Figure:
    """Returns a chart of one program: its lines from left to right, a row for each version of it,
    a mark at the line that each model names (at the left: no line), and a box around the faulty
    line; to the right how many named it. `table` has a row for each answer: condition (the
    version), model, faulty_line, named_line (missing: none), cell."""
    models, conditions = (
        list(dict.fromkeys(table[name])) for name in ("model", "condition")
    )
    each = min(0.9, max(0.45, 0.1 * len(models)))
    figure, [ax] = panels([""], 1, 1.2 + each * len(conditions))
    last = int(table[["faulty_line", "named_line"]].max().max())
    for place, condition in enumerate(conditions):
        cell = table[table["condition"] == condition]
        faulty = int(cell["faulty_line"].iloc[0])
        ax.add_patch(
            Rectangle(
                (faulty - 0.4, place - 0.42),
                0.8,
                0.84,
                fc="#CDEBE1",
                ec=RIGHT,
                zorder=1,
            )
        )
        for number, (model, (colour, marker)) in enumerate(looks(models).items()):
            answers = cell[cell["model"] == model]
            named = (
                answers["named_line"].astype("Float64").fillna(NO_LINE).astype(float)
            )
            at = place + 0.74 * ((number + 0.5) / len(models) - 0.5)
            shown: dict[str, Any] = {"color": colour, "label": None if place else model}
            ax.plot(named, [at] * len(named), marker, ms=4, **shown)
            mark(ax, answers, named, at)
        right = int(cell["named_line"].eq(cell["faulty_line"]).fillna(False).sum())
        end = (last + 1, place)
        say(
            ax,
            f"{right} of {len(cell)}",
            end,
            (4, 0),
            va="center",
            annotation_clip=False,
        )
    ax.set_yticks(range(len(conditions)), [wrap_words(name) for name in conditions])
    numbers = range(1, last + 1)
    ax.set_xticks([NO_LINE, *numbers], ["no\nline", *map(str, numbers)])
    ax.set(ylim=(len(conditions) - 0.5, -0.5), xlim=(NO_LINE - 1, last + 1))
    ax.grid(True, axis="x")
    ax.grid(False, axis="y")
    for place in range(1, len(conditions)):
        ax.axhline(place - 0.5, color="#999999", lw=0.6)
    ax.set_xlabel(
        "line that was named; box: the faulty line; at the right: how many named it"
    )
    legend_above(figure, ax, most=6)
    return figure


NO_LINE = -1
"""Place on the axis of lines of an answer that names none."""


def wrap_words(text: str) -> str:
    """Returns `text` on two lines, broken after its comma."""
    return text.replace(", ", ",\n")


def published_chart(
    cells: pd.DataFrame,
    returns: pd.DataFrame,
    counts: pd.DataFrame,
    languages: dict[str, str],
) -> Figure:
    """Returns the chart of the published numbers: Table II with intervals (`cells`); misplaced
    returns against the other faults (`returns`); the share localized, by language (`counts`).

    The tables come from `results/published.py`; `languages` maps two languages to their names.
    """
    cells = cells.assign(fault=cells["fault"].map(spoken))
    figure = styled_figure(WIDTHS["page"], 7.0)
    above, below = figure.subfigures(2, 1, height_ratios=[1.5, 1.2], squeeze=False)[
        :, 0
    ]
    theirs: dict[str, Any] = {"scale": 100, "published": True}
    models = list(dict.fromkeys(cells["label"]))
    panels_above = above.subplots(1, 2, sharey=True)
    for ax, (language, name) in zip(panels_above, languages.items(), strict=True):
        part = cells[(cells["language"] == language) & (cells["flag"] == "")]
        theirs |= {"title": f"Table II, {name}", "xlabel": "accuracy (%)"}
        forest(ax, part, models, (0, 100), value="share", series="fault", **theirs)
    above.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=4)
    left, right = below.subplots(1, 2)
    theirs |= {"series": "language", "xlabel": "accuracy (points)"}
    theirs["title"] = "misplaced returns - other faults"
    shown = returns.assign(language=returns["language"].map(languages))
    forest(left, shown, models, (-35, 35), value="difference", **theirs)
    left.axvline(0, color="#999999", linewidth=0.6)
    whole = counts[counts["lacks"].isna()]
    shown = pd.concat([whole[whole["language"] == name] for name in languages])
    shown = shown.assign(language=shown["language"].map(languages))
    theirs |= {"title": "Figure 7: before mutations", "xlabel": "of all tasks (%)"}
    names = list(dict.fromkeys(shown["label"]))
    forest(right, shown, names, (0, 30), value="found", **theirs)
    below.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    return figure
