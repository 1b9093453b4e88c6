"""Sense and Sensitivity's charts: accuracy by position and by lines removed, RoPE bases (Table 4), prompts (Figures 11
to 14), the published tables."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.curves import draw_curves, forest, legend_above, look, name_rows, panels, say, say_lack
from codestress.report.style import COLOURS, HATCHES, MARKERS, PUBLISHED, styled_figure
from codestress.types import Prompt


def position_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """Accuracy against the position of the target in its context (Figures 1 to 4 and 7 to 10).

    `points`: model, row, column (labels of the panels), depth, shown, low, high (0 to 1).

    A panel for each row and column, a curve with its interval for each model, all panels on one scale.
    """
    rows, columns, models = (list(dict.fromkeys(points[name])) for name in ("row", "column", "model"))
    figure = styled_figure(7.0, 1.0 + 1.65 * len(rows))
    grid = figure.subplots(len(rows), len(columns), sharex=True, sharey="row", squeeze=False)
    for (row, column), part in points.groupby(["row", "column"], sort=False):
        ax = grid[rows.index(row)][columns.index(column)]
        draw_curves(ax, part, models, "depth", value="shown", scale=100, size=3)
    for ax, column in zip(grid[0], columns, strict=True):
        ax.set_title(column)
    for ax, label in zip(grid[:, 0], rows, strict=True):
        ax.set_ylabel("\n".join([*label.split(", "), ylabel]))
        ax.set_ylim(-4, 104)
    for ax in grid[-1]:
        ax.set_xticks([0, 50, 100])
    figure.supxlabel("depth of the target in the context (% of the distractors before it)", fontsize=8)
    legend_above(figure, grid[0][0])
    return figure


def removal_curve(
    points: pd.DataFrame,
    curves: pd.DataFrame,
    published: tuple[float, float] | None,
    *,
    programs: str,
    confidence: float,
) -> Figure:
    """Accuracy against the share of lines removed, a panel for each task (Figures 5 and 6). `points`: model, task,
    share_removed, asked, share, low, high; `curves` without asked, but with lack_of_fit.

    All from 0 to 1. Points grow with the number of programs behind them; bands are the curves' intervals.
    `published`: the one point that the paper states in numbers. `programs` names what lines were removed from.
    """
    tasks, models = (list(dict.fromkeys(points[name])) for name in ("task", "model"))
    figure, axes = panels([str(task).replace("_", " ") for task in tasks], len(tasks), 3.6, sharex=True, sharey=True)
    for (task, model), part in points.groupby(["task", "model"], sort=False):
        ax, (colour, marker) = axes[tasks.index(task)], look(models.index(model))
        curve = curves[(curves["model"] == model) & (curves["task"] == task)]
        place, share, low, high = (100 * curve[name] for name in ("share_removed", "accuracy", "low", "high"))
        ax.fill_between(place, low, high, color=colour, alpha=0.22, linewidth=0)
        ax.plot(place, share, color=colour, label=f"{model}: {part['n'].sum():,} versions of {programs}")
        place, share = 100 * part["share_removed"], 100 * part["accuracy"]  # their own intervals are in the table
        shown: dict[str, Any] = {"marker": marker, "color": colour, "edgecolor": "white", "linewidth": 0.5}
        ax.scatter(place, share, s=3 + 90 * part["n"] / part["n"].max(), alpha=0.75, zorder=3, **shown)
    if published:
        shown = {"marker": "D", "markersize": 9, "color": PUBLISHED, "mfc": "none", "linestyle": "none", "zorder": 4}
        x, y = (100 * one for one in published)
        axes[-1].plot(x, y, label="published: one line removed, CRUXEval", **shown)
    for ax in axes:
        ax.set(xlabel="lines removed (%)", xlim=(-2, 102), ylim=(-3, 103))
    axes[0].set_ylabel("right answers (%)")
    title = f"exponential fits with {confidence:.0%} bands; area: versions behind a point"
    legend_above(figure, axes[-1], most=2, title=title, title_fontsize=7.5)
    lacks = curves.groupby(["model", "task"], sort=False)["lack_of_fit"].first()
    say_lack(figure, {f"{model} ({str(task).replace('_', ' ')})": lack for (model, task), lack in lacks.items()})
    return figure


def rope_bases(table: pd.DataFrame, context: int) -> Figure:
    """Horizontal bars of each model's RoPE base on a logarithmic scale, with the bound for the longest context.

    Columns used: name, rope_base (None where unknown), smallest_base, lowest_bound, highest_bound, reaches_bound.
    """
    figure = styled_figure(7.0, 0.28 * len(table) + 0.9)
    ax = figure.subplots()
    for place, row in enumerate(table.itertuples()):
        if pd.notna(row.rope_base):
            short = row.reaches_bound == "no"
            ax.barh(place, row.rope_base, color=COLOURS[int(short)], hatch=HATCHES[int(short)], edgecolor="white")
        else:
            say(ax, "not published", (1.2e3, place), size=7, va="center", color="#555555")
    bound, *ends = table[["smallest_base", "lowest_bound", "highest_bound"]].iloc[0]
    ax.axvline(bound, color="black", linestyle="--", linewidth=1)
    told = f"bound for {context:,} tokens: {bound:,.0f} ({ends[0]:,} to {ends[1]:,} for what rounds to 31k)"
    say(ax, told, (bound, -0.75), (-4, 0), size=7, ha="right")
    ax.set_xscale("log")
    ax.set_xlim(1e3, 3e6)
    name_rows(ax, table["name"].tolist(), length=None)
    ax.set_ylim(len(table) - 0.4, -1.1)
    ax.set_xlabel("base of RoPE (hatched: below the bound)")
    return figure


def template_pages(prompts: Sequence[tuple[str, int, Prompt]]) -> Figure:
    """The templates as they are filled in, side by side, each with the least distractors, and how long it is with how
    many. `prompts`: task, distractors, prompt."""
    least = min(count for _, count, _ in prompts)
    pages = {task: _page(prompt) for task, count, prompt in prompts if count == least}
    down = -(-len(pages) // 2)
    lengths = [text.count("\n") + 3 for text in pages.values()]
    heights = [max(lengths[2 * row : 2 * row + 2]) for row in range(down)]
    figure = styled_figure(7.0, 0.45 * down + 0.094 * sum(heights))
    axes = list(figure.subplots(down, 2, squeeze=False, height_ratios=heights).flat)
    for ax, (task, text) in zip(axes, pages.items(), strict=False):
        characters = [f"{prompt.characters:,} with {count}" for name, count, prompt in prompts if name == task]
        ax.set_title(f"{task.replace('_', ' ')}\n", fontsize=8)
        told = f"characters: {', '.join(characters)} distractors"
        say(ax, told, (0, 1), (0, 4), xycoords="axes fraction")
        place = {"xycoords": "axes fraction", "xytext": (3, -3), "textcoords": "offset points", "va": "top"}
        ax.annotate(text, (0, 1), **place, family="monospace", fontsize=5.2, parse_math=False).set_in_layout(False)
        ax.set(xticks=[], yticks=[])
        ax.spines[["top", "right"]].set_visible(True)
    for ax in axes[len(pages) :]:
        ax.set_visible(False)
    return figure


def _page(prompt: Prompt, width: int = 72) -> str:
    """A prompt as text, long lines on several, and what is begun of the answer."""
    begun = f"\n--- the answer, begun ---\n{prompt.prefill}" if prompt.prefill else ""
    lines = (prompt.messages[-1].content + begun).split("\n")
    return "\n".join(part for line in lines for part in (textwrap.wrap(line, width, subsequent_indent="  ") or [""]))


def published_chart(table: pd.DataFrame, keys: pd.DataFrame) -> Figure:
    """Accuracies of each model on three benchmarks, what keys do, and SemTrace against CRUXEval.

    `table`: model, task, keys, share, low, high (0 to 1). `keys`: model, task, difference, low, high (-1 to 1),
    decided; what is not is hollow.
    """
    figure = styled_figure(7.0, 6.4)
    above, below = figure.subfigures(2, 1, height_ratios=[1.2, 1.0], squeeze=False)[:, 0]
    plain = table[~table["keys"]]
    models = plain[plain["task"] == "SemTrace"].sort_values("share", ascending=False)["model"].tolist()
    left, right = above.subplots(1, 2, sharey=True)
    options: dict[str, Any] = {"label": "model", "scale": 100, "series": "task"}
    told: dict[str, Any] = {"title": "without distractors", "xlabel": "accuracy (%)"}
    forest(left, plain, models, (-2, 102), value="share", **options, **told)
    above.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    right.axvline(0, color="#999999", linewidth=0.6)
    told = {"title": "with keys - without", "xlabel": "accuracy (points); filled: decided (Holm)"}
    forest(right, keys, models, (-16, 16), value="difference", decided=True, **options, **told)
    sides = below.subplots(1, 2, sharey=True)
    for number, (ax, task) in enumerate(zip(sides, ("CRUXEval-I", "CRUXEval-O"), strict=True)):
        table = plain.pivot_table(index="model", columns="task", values=["share", "low", "high"])
        x, y = (100 * table.xs(name, axis=1, level="task") for name in (task, "SemTrace"))
        reach = [[one["share"] - one["low"], one["high"] - one["share"]] for one in (x, y)]
        look = {"color": COLOURS[number], "marker": MARKERS[number], "linestyle": "none", "elinewidth": 0.8}
        ax.errorbar(x["share"], y["share"], xerr=reach[0], yerr=reach[1], **look)
        ax.set(xlabel=f"{task} (%)", xlim=(0, 100), ylim=(-3, 103))
    sides[0].set_ylabel("SemTrace (%)")
    return figure
