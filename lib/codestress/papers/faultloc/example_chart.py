"""Chart of Fault Localizability's motivating example (Figure 2): the lines that models name in
one program."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from codestress.report.curves import legend_above, name_rows, panels, say
from codestress.report.marks import mark
from codestress.report.style import RIGHT, looks

NO_LINE = -1
"""Place on the axis of lines of an answer that names none."""


def named_lines(table: pd.DataFrame) -> Figure:
    """Returns a chart of one program: its lines from left to right, a row for each version of it,
    a mark at the line that each model names (at the left: no line), and a box around the faulty
    line; to the right how many named it. `table` has a row for each answer: condition (the
    version), model, faulty_line, named_line (missing: none), cell."""
    conditions = table["condition"].unique()
    models = looks(table["model"].unique())
    each = min(0.9, max(0.45, 0.1 * len(models)))
    figure, [ax] = panels([""], 1, 1.2 + each * len(conditions))
    last = int(table[["faulty_line", "named_line"]].max().max())
    named = table["named_line"].astype("Float64").fillna(NO_LINE).astype(float)
    table = table.assign(named=named)
    for row, condition in enumerate(conditions):
        version = table[table["condition"] == condition]
        faulty = int(version["faulty_line"].iloc[0])
        corner = (faulty - 0.4, row - 0.42)
        ax.add_patch(Rectangle(corner, 0.8, 0.84, fc="#CDEBE1", ec=RIGHT, zorder=1))
        for number, (model, (colour, marker)) in enumerate(models.items()):
            answers = version[version["model"] == model]
            at = row + 0.74 * ((number + 0.5) / len(models) - 0.5)
            line = ax.plot(answers["named"], [at] * len(answers), marker, ms=4)
            line[0].set(color=colour, label="" if row else model)
            mark(ax, answers, answers["named"], at)
        told = f"{(version['named'] == faulty).sum()} of {len(version)}"
        say(ax, told, (last + 1, row), (4, 0), va="center", annotation_clip=False)
    _name_lines(ax, [name.replace(", ", ",\n") for name in conditions], last)
    legend_above(figure, ax)
    return figure


def _name_lines(ax: Axes, rows: Sequence[str], last: int) -> None:
    """Names the `rows` of the panel `ax`, with lines between them, and the program lines 1 to
    `last` along its axis."""
    name_rows(ax, rows, 0.5, None)
    numbers = range(1, last + 1)
    ax.set_xticks([NO_LINE, *numbers], ["no\nline", *map(str, numbers)])
    ax.set_xlim(NO_LINE - 1, last + 1)
    for place in range(1, len(rows)):
        ax.axhline(place - 0.5, color="#999999", lw=0.6)
    told = "line that was named; box: the faulty line; at the right: how many named it"
    ax.set_xlabel(told)
