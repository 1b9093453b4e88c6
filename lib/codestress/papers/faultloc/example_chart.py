"""Chart of Fault Localizability's motivating example (Figure 2): the lines that models
name in one program."""

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.curves import forest, legend_above, panels
from codestress.report.style import RIGHT

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
    limits = (NO_LINE - 1, last + 1)
    label = "line that was named; box: the faulty line; below a name: how many named it"
    columns: Any = {"label": "condition", "series": "model", "xlabel": label}
    forest(ax, table, conditions, limits, **columns)
    rows = range(len(conditions))
    ax.barh(rows, 0.8, 0.84, faulty - 0.4, fc="#CDEBE1", ec=RIGHT, zorder=1)
    right = versions["right"].sum().astype(str)
    counts = right + " of " + versions.size().astype(str)
    names = faulty.index.str.replace(", ", ",\n") + "\n" + counts
    ax.set_yticks(rows, names)
    lines = range(1, last + 1)
    ax.set_xticks([NO_LINE, *lines], ["no\nline", *map(str, lines)])
    legend_above(figure, ax)
    return figure
