"""What was noticed against the length of the text (Find the Origin, sections 6.1-6.3)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from codestress.report.style import COLOURS, HATCHES, MARKERS, PUBLISHED, use_style


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
    for number, (label, part) in enumerate(shares.groupby("label", sort=False)):
        published = bool(part["published"].iloc[0])
        colour = PUBLISHED if published else COLOURS[number % len(COLOURS)]
        share, low, high = (100 * part[column].to_numpy(float) for column in ("share", "low", "high"))
        ax.errorbar(
            part["characters"] * (1 + 0.015 * number),
            share,
            yerr=[share - low, high - share],
            fmt=MARKERS[number % len(MARKERS)] + ("" if published else "-"),
            color=colour,
            mfc="white" if published else colour,
            capsize=2,
            elinewidth=0.8,
            label=str(label),
        )
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
        for number, outcome in enumerate(order):
            height = (
                part[part["outcome"] == outcome].set_index("characters")["share"].reindex(lengths, fill_value=0) * 100
            )
            panel.bar(
                range(len(lengths)),
                height,
                bottom=bottom,
                color=COLOURS[number],
                hatch=HATCHES[number],
                edgecolor="white",
                linewidth=0.4,
                label=outcome,
            )
            bottom += height.to_numpy()
        panel.set_title(label)
        panel.set_xticks(range(len(lengths)), [f"{n / 1000:.1f}k" for n in lengths], rotation=60)
    panels[0].set_ylabel("outcomes (%)")
    handles, names = panels[0].get_legend_handles_labels()
    below.legend(handles, names, loc="outside lower center", ncols=len(order))
    return figure
