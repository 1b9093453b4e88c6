"""What Tables 1 and 2 say, as a picture."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from codestress.report.forest import forest
from codestress.report.style import COLOURS, MARKERS, styled_figure


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
    numbers = ["value", "low", "high"]
    shown = plain.rename(columns={"model": "label", "share": "value"})
    left.set_xlim(-2, 102)
    forest(left, shown.assign(**100 * shown[numbers]), models, series="task")
    left.set(title="without distractors", xlabel="accuracy (%)")
    above.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=3)
    shown = keys.rename(columns={"model": "label", "difference": "value"})
    right.set_xlim(-16, 16)
    right.axvline(0, color="#999999", linewidth=0.6)
    forest(right, shown.assign(**100 * shown[numbers]), models, series="task", decided=True)
    right.set(title="with keys - without", xlabel="accuracy (points); filled: decided (Holm)")
    panels = below.subplots(1, 2, sharey=True)
    for number, (ax, task) in enumerate(zip(panels, ("CRUXEval-I", "CRUXEval-O"), strict=True)):
        sides = plain.pivot_table(index="model", columns="task", values=["share", "low", "high"])
        x, y = (100 * sides.xs(name, axis=1, level="task") for name in (task, "SemTrace"))
        reach = [[one["share"] - one["low"], one["high"] - one["share"]] for one in (x, y)]
        look = {"color": COLOURS[number], "marker": MARKERS[number], "linestyle": "none", "elinewidth": 0.8}
        ax.errorbar(x["share"], y["share"], xerr=reach[0], yerr=reach[1], **look)
        ax.set(xlabel=f"{task} (%)", xlim=(0, 100), ylim=(-3, 103))
    panels[0].set_ylabel("SemTrace (%)")
    return figure
