"""Sense and Sensitivity's charts: accuracy by position and without distractors, prompts (Figures 11
to 14), the published tables. Charts of lines removed: `removal_charts`."""

import textwrap
from collections.abc import Sequence
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.curves import (
    draw_curves,
    forest,
    interval,
    legend_above,
    look,
    name_rows,
    panels,
    say,
)
from codestress.report.findings import span
from codestress.report.marks import mark, with_cells
from codestress.report.style import PUBLISHED, looks
from codestress.types import Prompt


def position_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """Figure of accuracy against the position of the target in its context (Figures 1 to 4 and 7 to
    10).

    The table `points` has the columns model, row, column (labels of the panels), depth, shown (the
    value drawn), low, high (all 0 to 1). `ylabel` names the value; it follows the row's label on
    the axis.

    A panel for each row and column, a curve with its interval for each model, all panels on one
    scale.
    """
    rows, columns, models = (
        list(points[name].unique()) for name in ("row", "column", "model")
    )
    titles = [*columns] + [""] * len(columns) * (len(rows) - 1)
    height = 1.0 + min(1.65 * len(rows), 7.0)
    figure, axes = panels(titles, len(columns), height, sharex=True, sharey="row")
    for ax, (row, column) in zip(axes, product(rows, columns), strict=True):
        part = points[(points["row"] == row) & (points["column"] == column)]
        draw_curves(ax, part, models, "depth", value="shown", scale=100, size=3)
        if column == columns[0]:
            ax.set_ylabel("\n".join([*row.split(", "), ylabel]))
        ax.set(ylim=(-4, 104), xticks=[0, 50, 100])
    figure.supxlabel(
        "depth of the target in the context (% of the distractors before it)",
        fontsize=8,
    )
    legend_above(figure, axes[0])
    return figure


def baseline_dots(regenerated: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """Figure of accuracies without distractors (Tables 1 and 2), with a panel for each kind of
    question and a row for each model; the paper's numbers stand in the same rows, grey and hollow.

    Both tables have the columns label (model), condition (data set, and whether lines have keys
    where that varies), accuracy, low, high (0 to 1); `regenerated` may have `cell`.
    """
    parts = [regenerated.assign(paper=False), published.assign(paper=True)]
    table = pd.concat(parts, ignore_index=True)
    words = table["condition"].str.partition(", ")
    # Data sets share the kinds of their questions.
    kinds = words[0].str.replace(r".*(?=-[IO]$)", "", regex=True)
    table = table.assign(data=words[0], keys=words[2], kind=kinds)
    names, kinds, keys = (
        list(table[name].unique()) for name in ("label", "kind", "keys")
    )
    height = 1.1 + len(names) * (0.2 if len(keys) == 1 else 0.28)
    figure, axes = panels(kinds, len(kinds), height, sharex=True, sharey=True)
    for ax, kind in zip(axes, kinds, strict=True):
        shown = table[table["kind"] == kind]
        for (paper, key), part in shown.groupby(["paper", "keys"], sort=False):
            colour, marker = look(keys.index(key))
            style: Any = {"color": colour, "label": key or "here"}
            if paper:
                label = f"published {key}".strip()
                style = {"color": PUBLISHED, "label": label, "mfc": "white"}
            rows = part["label"].map(names.index) + 0.1 * bool(paper)
            rows += 0.3 * keys.index(key) - 0.15 * (len(keys) - 1)
            share, reach = interval(part)
            ax.errorbar(share, rows, None, reach, marker, ms=4, elinewidth=0.9, **style)
            mark(ax, part, share, rows, published=bool(paper))
        sources = shown.groupby("data", sort=False)["paper"].all().items()
        title = [f"published: {name}" if paper else name for name, paper in sources]
        ax.set_title("\n".join(title), fontsize=8)
        ax.set_xlim(-4, 104)
        name_rows(ax, names)
    figure.supxlabel("right answers (%), without distractors", fontsize=8)
    legend_above(figure, axes[0])
    return figure


def template_pages(prompts: Sequence[tuple[str, int, Prompt]]) -> Figure:
    """Figure of filled-in prompt templates side by side, each with the fewest distractors
    (unrelated functions around the target). `prompts` is a list of triples: task, number of
    distractors, prompt."""
    least = min(count for _, count, _ in prompts)
    pages = {task: _page(prompt) for task, count, prompt in prompts if count == least}
    titles = [task.replace("_", " ") for task in pages]
    lengths = [text.count("\n") + 2 for text in pages.values()]
    heights = [max(lengths[row : row + 2]) for row in range(0, len(pages), 2)]
    height = 0.45 * len(heights) + 0.112 * sum(heights)
    figure, axes = panels(titles, 2, height, height_ratios=heights)
    for ax, text in zip(axes, pages.values(), strict=True):
        say(
            ax,
            text,
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
    """Text of the last message of `prompt`, long lines wrapped at 58 characters, followed by its
    `prefill` (the given beginning of the answer) unless that is empty."""
    begun = f"\n--- the answer, begun ---\n{prompt.prefill}" if prompt.prefill else ""
    lines = (prompt.messages[-1].content + begun).split("\n")
    return "\n".join(textwrap.fill(line, 58, subsequent_indent="  ") for line in lines)


def recall_panels(shares: pd.DataFrame, found: pd.DataFrame) -> Figure:
    """Figure of SemTrace's accuracy against each lexical recall (retrieval of a line, of a
    function), with a point for each model.

    The table `shares` has the columns measure, model, accuracy, low, high (0 to 1); `found` is the
    table of `two_recalls.correlations`.
    """
    found = found[found["other"] == "SemTrace"]
    titles = [
        f"Kendall's tau {row.tau:.2f} {span(row.low, row.high, 1, 2)}\n"
        f"p {row.p:.3f}, {row.models} models"
        for row in found.itertuples()
    ]
    figure, axes = panels(titles, len(titles), 3.9, sharey=True)
    measures = with_cells(shares, ["model"]).set_index(["measure", "model"])
    semtrace = measures.loc["SemTrace"]
    for ax, name in zip(axes, found["lexical"], strict=True):
        lexical = measures.loc[name]
        for model, (colour, marker) in looks(semtrace.index).items():
            x, xerr = interval(lexical.loc[[model]])
            y, yerr = interval(semtrace.loc[[model]])
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
            mark(ax, semtrace.loc[[model]], x, y)
        ax.set(xlabel=f"{name} (%)", xlim=(-3, 103), ylim=(-3, 103))
    axes[0].set_ylabel("SemTrace (%)")
    legend_above(figure, axes[0])
    return figure


def published_chart(table: pd.DataFrame, keys: pd.DataFrame) -> Figure:
    """Figure of the paper's accuracies: each model on three benchmarks, the effect of keys before
    lines, and SemTrace against CRUXEval.

    The table `table` has the columns model, task, keys (bool: whether lines have keys), share, low,
    high (0 to 1); the table `keys` has model, task, difference (with keys minus without), low, high
    (-1 to 1), decided (bool). Differences that are not decided are hollow points.
    """
    sides = ["CRUXEval-I", "CRUXEval-O"]
    titles = ["without distractors", "with keys - without", *sides]
    figure, axes = panels(titles, 2, 6.4, sharey="row", height_ratios=[1.2, 1])
    plain = table[~table["keys"]]
    semtrace = plain[plain["task"] == "SemTrace"].set_index("model")
    models = semtrace["share"].sort_values(ascending=False).index.tolist()
    options: Any = {"label": "model", "scale": 100, "series": "task", "published": True}
    left, right = axes[:2]
    forest(left, plain, models, (-2, 102), value="share", **options)
    left.set_xlabel("accuracy (%)")
    forest(right, keys, models, (-16, 16), value="difference", decided=True, **options)
    right.axvline(0, color="#999999", linewidth=0.6)
    right.set_xlabel("accuracy (points); filled: decided (Holm)")
    y, yerr = interval(semtrace, "share")
    for number, (ax, task) in enumerate(zip(axes[2:], sides, strict=True)):
        own = plain[plain["task"] == task].set_index("model").loc[semtrace.index]
        x, xerr = interval(own, "share")
        colour, marker = look(number)
        ax.errorbar(x, y, yerr, xerr, marker, color=colour, elinewidth=0.8)
        mark(ax, own, x, y, published=True)
        ax.set(xlabel=f"{task} (%)", xlim=(0, 100), ylim=(-3, 103))
    axes[2].set_ylabel("SemTrace (%)")
    legend_above(figure, left)
    return figure
