"""What was noticed against the length of the text (Find the Origin, sections 6.1-6.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from codestress.report.curves import draw_points
from codestress.report.style import COLOURS, HATCHES, use_style


def length_curve(shares: pd.DataFrame, outcomes: pd.DataFrame, order: Sequence[str]) -> Figure:
    """Above, the share of right answers; below, all outcomes of each model, by length.

    `shares`: label, published (bool), characters, share, low, high (0 to 1). `outcomes`: label, characters, outcome,
    share; `order` lists the outcomes from the best to the worst.
    """
    use_style()
    labels = list(dict.fromkeys(outcomes["label"]))
    figure = Figure(figsize=(7.0, 4.6))
    above, below = figure.subfigures(2, 1, height_ratios=[1.25, 1], squeeze=False)[:, 0]
    ax = above.subplots()
    draw_points(ax, shares, lambda number, part: part["characters"] * (1 + 0.015 * number), line="-", width=0.8)
    ax.set_xscale("log")
    ax.set_xticks(sorted(set(outcomes["characters"])))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set(xlabel="characters in the prompt (about)", ylabel="right answers (%)", ylim=(-4, 104))
    above.legend(loc="outside upper left", ncols=3)
    panels = below.subplots(1, len(labels), sharey=True, squeeze=False)[0]
    for panel, label in zip(panels, labels, strict=True):
        part = outcomes[outcomes["label"] == label]
        lengths = sorted(part["characters"].unique())
        bottom = np.zeros(len(lengths))
        for outcome, colour, hatch in zip(order, COLOURS, HATCHES, strict=False):
            found = part[part["outcome"] == outcome].set_index("characters")["share"]
            height = 100 * found.reindex(lengths, fill_value=0).to_numpy(float)
            look = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
            panel.bar(range(len(lengths)), height, bottom=bottom, label=outcome, **look)
            bottom += height
        panel.set_title(label)
        panel.set_xticks(range(len(lengths)), [f"{n / 1000:.1f}k" for n in lengths], rotation=60)
    panels[0].set_ylabel("outcomes (%)")
    handles, names = panels[0].get_legend_handles_labels()
    below.legend(handles, names, loc="outside lower center", ncols=len(order))
    return figure
