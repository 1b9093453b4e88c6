"""Chart of Fault Localizability's motivating example (Figure 2): the lines that models
name in one program."""

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from codestress.report.curves import legend_above, name_rows, panels, say
from codestress.report.marks import mark
from codestress.report.style import RIGHT, looks

NO_LINE = -1
"""Place, on the axis of lines, of an answer that names no line."""


def named_lines(table: pd.DataFrame) -> Figure:
    """Return a chart of one program: its lines from left to right, with a row for each
    version of the program.

    Each row has a mark at the line that each model names, at the left if it names none,
    and a box around the faulty line. To the right stands the number of answers that
    name the faulty line. `table` has a row for each answer: condition (the version),
    model, faulty_line, named_line (missing if none is named), cell.
    """
    conditions = list(table["condition"].unique())
    models = looks(table["model"].unique())
    each = min(0.9, max(0.45, 0.1 * len(models)))
    figure, [ax] = panels([""], 1, 1.2 + each * len(conditions))
    last = int(table[["faulty_line", "named_line"]].max().max())
    named = table["named_line"].astype(float).fillna(NO_LINE)
    rows = table["condition"].map(conditions.index)
    number = table["model"].map(list(models).index)
    places = rows + 0.74 * ((number + 0.5) / len(models) - 0.5)
    table = table.assign(named=named, place=places)
    for row, condition in enumerate(conditions):
        version = table[table["condition"] == condition]
        faulty = version["faulty_line"].iloc[0]
        corner = (faulty - 0.4, row - 0.42)
        ax.add_patch(Rectangle(corner, 0.8, 0.84, fc="#CDEBE1", ec=RIGHT, zorder=1))
        for model, (colour, marker) in models.items():
            answers = version.query("model == @model")
            at = (answers["named"], answers["place"])
            ax.plot(*at, marker, ms=4, color=colour, label=model)
            mark(ax, answers, *at)
        right = (version["named"] == faulty).sum()
        place = (last + 1, row)
        count = f"{right} of {len(version)}"
        say(ax, count, place, (4, 0), va="center", annotation_clip=False)
    _name_lines(ax, [name.replace(", ", ",\n") for name in conditions], last)
    legend_above(figure, ax)
    return figure


def _name_lines(ax: Axes, rows: Sequence[str], last: int) -> None:
    """Name the `rows` of the panel `ax`, with lines between them, and the program lines
    1 to `last` along its axis."""
    name_rows(ax, rows, 0.5, None)
    numbers = range(1, last + 1)
    ax.set_xticks([NO_LINE, *numbers], ["no\nline", *map(str, numbers)])
    ax.set_xlim(NO_LINE - 1, last + 1)
    for place in range(1, len(rows)):
        ax.axhline(place - 0.5, color="#999999", lw=0.6)
    label = "line that was named; box: the faulty line; at the right: how many named it"
    ax.set_xlabel(label)
