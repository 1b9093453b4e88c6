"""A table of facts as a picture."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import OTHER, use_style


def licence_list(table: pd.DataFrame) -> Figure:
    """The table itself as a picture: name, kind, licence."""
    use_style()
    figure = Figure(figsize=(7.0, 0.22 * len(table) + 0.6))
    ax = figure.subplots()
    ax.set_axis_off()
    ax.grid(False)
    cells = [
        [str(value) if len(str(value)) < 70 else f"{str(value)[:67]}…" for value in row] for row in table.to_numpy()
    ]
    drawn = ax.table(cells, colLabels=list(table.columns), cellLoc="left", loc="center", colWidths=[0.27, 0.11, 0.62])
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(7)
    for cell in drawn.get_celld().values():
        cell.set_edgecolor(OTHER)
        cell.set_linewidth(0.4)
    return figure
