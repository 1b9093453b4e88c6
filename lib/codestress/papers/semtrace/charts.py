"""Sense and Sensitivity's charts: accuracy at each position and without distractors,
prompts (Figures 11 to 14), the published tables. Charts of lines removed are in
`removal_charts`."""

import textwrap
from collections.abc import Sequence
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.curves import (
    draw_curves,
    forest,
    interval,
    legend_above,
    name_rows,
    panels,
    say,
)
from codestress.report.findings import span
from codestress.report.marks import mark, with_cells
from codestress.report.style import GREYS, MARKERS, PUBLISHED, looks
from codestress.types import Prompt


def position_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """Draw accuracy against the position of the target in its context (Figures 1 to 4
    and 7 to 10), and return the figure. There is a panel for each row and column, and a
    curve with its interval for each model; all panels have one scale.

    `points` has the columns model, row, column (labels of the panels), depth, shown
    (the value drawn), low, high (all 0 to 1). `ylabel` names the value, after the row's
    label on the axis.
    """
    models = points["model"].unique()
    rows = points["row"].unique()
    columns = points["column"].unique()
    places = list(product(rows, columns))
    height = 1.0 + min(1.65 * len(rows), 7.0)
    figure, axes = panels(
        [""] * len(places), len(columns), height, sharex=True, sharey="row"
    )
    for ax, (row, column) in zip(axes, places, strict=True):
        part = points.query("row == @row and column == @column")
        draw_curves(ax, part, models, "depth", value="shown", scale=100)
        if row == rows[0]:
            ax.set_title(column)
        if column == columns[0]:
            factors = row.replace(", ", "\n")
            ax.set_ylabel(f"{factors}\n{ylabel}")
        ax.set(ylim=(-4, 104), xticks=[0, 50, 100])
    figure.supxlabel(
        "depth of the target in the context (% of the distractors before it)",
        fontsize=8,
    )
    legend_above(figure)
    return figure


def baseline_dots(table: pd.DataFrame) -> Figure:
    """Draw accuracies without distractors (Tables 1 and 2), and return the figure: a
    panel for each kind of question, a row for each model. The paper's numbers are in
    the same rows, grey and hollow.

    `table` has the columns from (`here` or `the paper`), label (model), condition (data
    set, and whether lines have keys if this varies), accuracy, low, high (0 to 1), and
    cell (values that select the answers behind a regenerated row).
    """
    table = table.sort_values("from", kind="stable")
    table["paper"] = table["from"] == "the paper"
    words = table["condition"].str.partition(", ")
    table["data"] = words[0]
    table["keys"] = words[2]
    # Input and output predictions (-I, -O) of all data sets share a panel each.
    table["kind"] = words[0].str.replace(r".*(?=-[IO]$)", "", regex=True)
    names = list(table["label"].unique())
    keys = list(table["keys"].unique())
    kinds = table["kind"].unique()
    room = 0.2 if len(keys) == 1 else 0.28
    height = 1.1 + len(names) * room
    figure, axes = panels(kinds, len(kinds), height, sharex=True, sharey=True)
    for ax, kind in zip(axes, kinds, strict=True):
        shown = table[table["kind"] == kind]
        _draw_dots(ax, shown, names, keys)
        titles = []
        for data, paper in shown.groupby("data", sort=False)["paper"].all().items():
            if paper:
                data = f"published: {data}"
            titles.append(data)
        ax.set_title("\n".join(titles), fontsize=8)
        ax.set_xlim(-4, 104)
        name_rows(ax, names)
    figure.supxlabel("right answers (%), without distractors", fontsize=8)
    legend_above(figure)
    return figure


def _draw_dots(
    ax: Axes, shown: pd.DataFrame, names: list[str], keys: list[str]
) -> None:
    """Draw the accuracies `shown` of one kind of question into the panel `ax`. The
    models `names` are the rows; each row has a dot for each of `keys` (whether lines
    have keys), and for the paper."""
    for (paper, key), part in shown.groupby(["paper", "keys"], sort=False):
        number = keys.index(key)
        marker = MARKERS[number]
        style: Any = {"color": "black", "label": key or "here"}
        rows = part["label"].map(names.index)
        if paper:
            rows += 0.1
            label = f"published {key}".strip()
            style = {"color": PUBLISHED, "label": label, "mfc": "white"}
        rows += 0.3 * number - 0.15 * (len(keys) - 1)
        share, reach = interval(part)
        ax.errorbar(share, rows, None, reach, marker, ms=4, elinewidth=0.9, **style)
        mark(ax, part, share, rows, published=paper)


def template_pages(prompts: Sequence[tuple[str, int, Prompt]]) -> Figure:
    """Draw filled-in prompt templates side by side, each with the fewest distractors
    (unrelated functions around the target), and return the figure. `prompts` is a list
    of triples: task, number of distractors, prompt."""
    least = min(count for _, count, _ in prompts)
    pages = {}
    for task, count, prompt in prompts:
        if count == least:
            pages[task.replace("_", " ")] = _page(prompt)
    lengths = [page.count("\n") + 2 for page in pages.values()]
    heights = [max(lengths[row : row + 2]) for row in range(0, len(pages), 2)]
    height = 0.45 * len(heights) + 0.112 * sum(heights)
    figure, axes = panels([*pages], 2, height, height_ratios=heights)
    for ax, page in zip(axes, pages.values(), strict=True):
        say(
            ax,
            page,
            (0, 1),
            (3, -3),
            va="top",
            family="monospace",
            parse_math=False,
            xycoords="axes fraction",
            in_layout=False,
        )
        ax.set(xticks=[], yticks=[])
        ax.spines[["top", "right"]].set_visible(True)
    return figure


def _page(prompt: Prompt) -> str:
    """Return the text of the last message of `prompt`, long lines wrapped at 58
    characters. The `prefill` (the beginning of the answer) follows, unless it is empty.
    """
    text = prompt.messages[-1].content
    if prompt.prefill:
        text += f"\n--- the answer, begun ---\n{prompt.prefill}"
    lines = []
    for line in text.split("\n"):
        lines.append(textwrap.fill(line, 58, subsequent_indent="  "))
    return "\n".join(lines)


def recall_panels(shares: pd.DataFrame, taus: pd.DataFrame) -> Figure:
    """Draw SemTrace's accuracy against each lexical recall (retrieval of a line, of a
    function), with a point for each model, and return the figure.

    `shares` has the columns measure, model, accuracy, low, high (0 to 1). `taus` is the
    result of `two_recalls.correlations`.
    """
    taus = taus.query("other == 'SemTrace'")
    titles = []
    for row in taus.itertuples():
        ends = span(row.low, row.high, 1, 2)
        titles.append(
            f"Kendall's tau {row.tau:.2f} {ends}\np {row.p:.3f}, {row.models} models"
        )
    figure, axes = panels(titles, len(titles), 3.9, sharey=True)
    measures = with_cells(shares, ["model"]).set_index(["measure", "model"])
    semtrace = measures.loc["SemTrace"]
    for ax, name in zip(axes, taus["lexical"], strict=True):
        lexical = measures.loc[name]
        for model, (colour, marker) in looks(semtrace.index).items():
            own = semtrace.loc[[model]]
            x, xerr = interval(lexical.loc[[model]])
            y, yerr = interval(own)
            ax.errorbar(
                x,
                y,
                yerr,
                xerr,
                marker,
                color=colour,
                label=model,
                ms=5,
                elinewidth=0.8,
            )
            mark(ax, own, x, y)
        ax.axis((-3, 103, -3, 103))
        ax.set_xlabel(f"{name} (%)")
    axes[0].set_ylabel("SemTrace (%)")
    legend_above(figure)
    return figure


def published_chart(table: pd.DataFrame, keys: pd.DataFrame) -> Figure:
    """Draw the paper's accuracies, and return the figure: each model on three
    benchmarks, the effect of keys before lines, and SemTrace against CRUXEval.

    `table` has the columns model, task, keys (bool: whether lines have keys), share,
    low, high (0 to 1). `keys` has the columns model, task, difference (with keys minus
    without), low, high (-1 to 1), decided (bool). Differences that are not decided are
    hollow points.
    """
    tasks = ["CRUXEval-I", "CRUXEval-O"]
    titles = ["without distractors", "with keys - without", *tasks]
    figure, axes = panels(titles, 2, 6.4, sharey="row", height_ratios=[1.2, 1])
    left, right, *below = axes
    plain = table[~table["keys"]]
    by_task = plain.set_index(["task", "model"])
    semtrace = by_task.loc["SemTrace"]
    models = list(semtrace["share"].sort_values(ascending=False).index)
    options: Any = {"label": "model", "scale": 100, "series": "task", "published": True}
    forest(left, plain, models, (-2, 102), value="share", **options)
    left.set_xlabel("accuracy (%)")
    forest(right, keys, models, (-16, 16), value="difference", **options)
    right.set_xlabel("accuracy (points); filled: decided (Holm)")
    y, yerr = interval(semtrace, "share")
    for ax, task, marker, grey in zip(below, tasks, MARKERS, GREYS, strict=False):
        own = by_task.loc[task].loc[semtrace.index]
        x, xerr = interval(own, "share")
        ax.errorbar(x, y, yerr, xerr, marker, color=grey, elinewidth=0.8)
        mark(ax, own, x, y, published=True)
        ax.axis((0, 100, -3, 103))
        ax.set_xlabel(f"{task} (%)")
    below[0].set_ylabel("SemTrace (%)")
    legend_above(figure)
    return figure
