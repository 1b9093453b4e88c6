"""Fault Localizability's own charts: counts of programs (Figure 5), shares by two factors (Figure 9), shares against
the strength of mutations (Figure 8), the lines that were named in one program (Figure 2), the published numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.curves import MEAN, draw_curves, forest, legend_above, look, panels, say, say_lack
from codestress.report.style import COLOURS, PUBLISHED, RIGHT, styled_figure


def count_bars(frames: dict[str, pd.DataFrame], *, ylabel: str) -> Figure:
    """A table has label and count; panels whose title begins with `published` are grey."""
    figure, axes = panels(list(frames), len(frames), 2.3)
    for ax, (title, frame) in zip(axes, frames.items(), strict=True):
        colour = PUBLISHED if title.startswith("published") else COLOURS[0]
        bars = ax.bar(range(len(frame)), frame["count"], color=colour)
        ax.bar_label(bars, fontsize=6.5)
        ax.set_xticks(range(len(frame)), frame["label"], rotation=45, ha="right", fontsize=6.5)
        ax.set_title(title, fontsize=7.5)
    axes[0].set_ylabel(ylabel)
    return figure


def heat_map(frames: dict[str, pd.DataFrame], *, xlabel: str) -> Figure:
    """A panel for each title, one below the other; a table has row, column, accuracy (0 to 1) and perhaps what is true
    of instruments, which stands beside it, or tasks, which is written under it."""
    sizes = [frame["row"].nunique() for frame in frames.values()]
    height = 0.7 + 0.36 * sum(sizes) + 0.45 * len(frames)
    figure, axes = panels(list(frames), 1, height, 5.6, height_ratios=sizes)
    order = list(dict.fromkeys(column for frame in reversed(frames.values()) for column in frame["column"]))
    first = list(dict.fromkeys(row for frame in frames.values() for row in frame["row"]))
    for ax, frame in zip(axes, frames.values(), strict=True):
        rows = [row for row in first if row in set(frame["row"])]  # all panels in one order
        columns = [one for one in order if one in set(frame["column"])]
        grid = frame.pivot_table(index="row", columns="column", values="accuracy", sort=False).reindex(rows)[columns]
        ax.imshow(grid.to_numpy(float), cmap="Blues", vmin=0, vmax=1, aspect="auto")
        for cell in frame.itertuples():
            text = f"{100 * cell.accuracy:.0f} %"
            if pd.notna(getattr(cell, "true", None)):
                text += f" (true: {100 * cell.true:.0f})"
            if hasattr(cell, "tasks"):
                text += f"\nof {int(cell.tasks):,}"
            colour = "white" if cell.accuracy > 0.6 else "black"
            place = (columns.index(cell.column), rows.index(cell.row))
            say(ax, text, place, ha="center", va="center", color=colour)
        ax.set_xticks(range(len(columns)), columns)
        ax.set_yticks(range(len(rows)), rows)
        ax.tick_params(length=0)
        ax.grid(False)
    axes[-1].set_xlabel(xlabel)
    return figure


def strength_curves(points: pd.DataFrame, lacks: Mapping[str, float]) -> Figure:
    """`points`: model, panel (language and mutation), density (the strength), value, low, high (%). A row for each
    language, a column for each mutation, the last for all together, where the paper's mean stands too. What is written
    in a panel is what the mean loses from the weakest to the strongest mutation, in points."""
    names = points["panel"].str.removeprefix("published, ").str.split(", ", n=1, expand=True)
    points = points.assign(language=names[0], mutation=names[1])
    mutations, languages, models = (list(dict.fromkeys(points[name])) for name in ("mutation", "language", "model"))
    mutations = [*(one for one in mutations if one != ALL), *([ALL] if ALL in mutations else [])]
    figure = styled_figure(7.0, 0.9 + 1.5 * len(languages))
    grid = figure.subplots(len(languages), len(mutations), sharex=True, sharey=True, squeeze=False)
    for (language, mutation), part in points.groupby(["language", "mutation"], sort=False):
        ax = grid[languages.index(language)][mutations.index(mutation)]
        for number, model in enumerate(models):
            curve = part[part["model"] == model].sort_values("density")
            if model not in (MEAN, "published"):
                colour, marker = look(number)
                ax.plot("density", "value", data=curve, color=colour, lw=0.8, marker=marker, ms=2, label=model)
        mean = part[part["model"].isin([MEAN, "published"])]
        draw_curves(ax, mean, models, "density", value="value", scale=1, size=3)
        mean = part[part["model"] == MEAN].sort_values("density")["value"]
        if len(mean) > 1:
            told = f"{mean.iloc[-1] - mean.iloc[0]:+.0f}".replace("-", "−")
            say(ax, told, (0.96, 0.95), size=9, xycoords="axes fraction", ha="right", va="top", fontweight="bold")
    for ax, mutation in zip(grid[0], mutations, strict=True):
        ax.set_title(mutation.replace("+", " +\n").replace(ALL, "all\nmutations"), fontsize=7.5, loc="center")
    for ax, language in zip(grid[:, 0], languages, strict=True):
        ax.set(ylabel=f"{language}\nlocalized again (%)", ylim=(-4, 104))
    strengths = sorted(points["density"].unique())
    grid[0][0].set_xticks(strengths, [f"{one:g}" for one in strengths])
    told = f"strength: applications of the mutation; bold: {MEAN}, points from the first to the last"
    figure.supxlabel(told, fontsize=8)
    legend_above(figure, *grid.flat, most=6)
    say_lack(figure, lacks)
    return figure


ALL = "all mutations"


def named_lines(table: pd.DataFrame) -> Figure:
    """One program for each language: its lines from left to right, a row for each condition, a mark at the line that
    each model named, and a box around the faulty one. `table`: language, problem, condition, model, faulty_line,
    faulty, named_line."""
    models = list(dict.fromkeys(table["model"]))
    parts = [part for _, part in table.groupby(["language", "problem"], sort=False)]
    rows = [1 + part["condition"].nunique() for part in parts]
    figure, axes = panels([""] * len(parts), 1, 0.9 + 0.3 * sum(rows) + 0.3 * len(parts), height_ratios=rows)
    for ax, part in zip(axes, parts, strict=True):
        conditions = list(dict.fromkeys(part["condition"]))
        for place, condition in enumerate(conditions):
            cell = part[part["condition"] == condition]
            ax.plot(cell["faulty_line"].iloc[:1], [place], "s", ms=13, mfc="#CDEBE1", mec=RIGHT, zorder=1)
            for number, model in enumerate(models):
                named = cell.loc[cell["model"] == model, "named_line"].dropna().astype(float)
                shift = 0.5 * ((number + 0.5) / len(models) - 0.5)
                colour, marker = look(number)
                label = model if not place else None
                ax.plot(named, [place + shift] * len(named), marker, color=colour, ms=4, label=label)
        first = part.iloc[0]
        lost = int((part.groupby("condition", sort=False)["found"].max() == 0).sum())
        told = f"{first['language']}: {first['problem'].split('/')[0]}, line {first['faulty_line']}: {first['faulty']}"
        ax.set_title(f"{told[:76]}\nnobody names the faulty line in {lost} of {len(conditions)} conditions", fontsize=8)
        ax.set_yticks(range(len(conditions)), conditions)
        ax.set(ylim=(len(conditions) - 0.5, -0.5), xlim=(0, 1 + part[["faulty_line", "named_line"]].max().max()))
        ax.grid(True, axis="both")
    axes[-1].set_xlabel("line of the program; box: the faulty one; marks: the line that was named")
    legend_above(figure, *axes, most=6)
    return figure


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
        told: dict[str, Any] = {"title": f"Table II, {name}", "xlabel": "accuracy (%)"}
        forest(ax, part, models, (0, 100), value="share", scale=100, series="fault", **told)
    above.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=4)
    left, right = middle.subplots(1, 2)
    shown = returns.assign(language=returns["language"].map(languages))
    told = {"title": "misplaced returns - other faults", "xlabel": "accuracy (points)"}
    forest(left, shown, models, (-35, 35), value="difference", scale=100, series="language", **told)
    left.axvline(0, color="#999999", linewidth=0.6)
    shown = counts.assign(language=counts["language"].map(languages), low=counts["kept_low"], high=counts["kept_high"])
    shown = shown.sort_values("language", key=lambda column: column.map(list(languages.values()).index), kind="stable")
    told = {"title": "localized after mutations too", "xlabel": "of those localized before (%)"}
    names = list(dict.fromkeys(shown["label"]))
    forest(right, shown, names, (0, 45), value="kept", scale=100, series="language", **told)
    middle.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    told = {"title": "Figure 9: fall from the first quarter to the last", "xlabel": "accuracy (points)"}
    forest(below.subplots(), fall, list(fall["fault"]), (0, 70), label="fault", value="fall", scale=100, **told)
    return figure
