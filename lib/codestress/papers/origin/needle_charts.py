"""Chart of Find the Origin's section 6, on parts planted in long texts: outcomes
against length."""

from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.report.curves import interval, legend_above, panels
from codestress.report.marks import mark
from codestress.report.style import COLOURS, HATCHES, OTHER, RIGHT, TALLEST, WRONG


def length_curve(shares: pd.DataFrame, outcomes: pd.DataFrame) -> Figure:
    """Draw outcomes against length, and return the figure: a panel for each label (a
    model, or its published answers), and a bar for each length. The interval of the
    right answers is drawn over each bar.

    `shares` has the columns label, published (bool), characters, accuracy, low, high (0
    to 1). `outcomes` has the columns label, text, characters, outcome, share. Outcomes
    are stacked from best to worst, reasons of failure last.
    """
    parts = outcomes.groupby("label", sort=False)
    titles = [fill(label, 13) for label, _ in parts]
    rows = -(-len(titles) // MOST_ACROSS)
    height = min(0.8 + 1.6 * rows, TALLEST - 0.6)
    figure, axes = panels(titles, MOST_ACROSS, height, sharey=True)
    occurred = set(outcomes["outcome"])
    order = [name for name in OUTCOMES if name in occurred]
    order += sorted(occurred.difference(OUTCOMES))
    for (label, part), panel in zip(parts, axes, strict=True):
        _outcome_bars(panel, part, order)
        _right_interval(panel, shares[shares["label"] == label])
    for panel in axes[::MOST_ACROSS]:
        panel.set_ylabel("outcomes (%)")
    lengths = "characters in the prompt"
    if (outcomes["text"] == "own").any():
        lengths += "; texts here are the kit's own"
    figure.supxlabel(lengths, fontsize=8)
    legend_above(figure)
    return figure


MOST_ACROSS = 6
"""Largest number of panels beside each other."""


def _outcome_bars(panel: Axes, part: pd.DataFrame, order: list[str]) -> None:
    """Draw in `panel` a bar for each length in `part`, the outcomes of one label,
    stacked in the order of `order`."""
    wide = part.pivot(index="outcome", columns="characters", values="share")
    percent = 100 * wide.reindex(order).astype(float).fillna(0)
    places = range(wide.shape[1])
    bottom = np.zeros(len(places))
    for outcome, height in percent.iterrows():
        colour, hatch = OUTCOMES.get(str(outcome), (OTHER, HATCHES[5]))
        panel.bar(
            places,
            height,
            bottom=bottom,
            label=outcome,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.4,
        )
        bottom += height.to_numpy()
    ticks = [f"{round(length / 1000, 1):g}k" for length in wide]
    panel.set_xticks(places, ticks, rotation=60)
    panel.set_ylim(0, 104)


def _right_interval(panel: Axes, mine: pd.DataFrame) -> None:
    """Draw in `panel`, over the bars of its lengths, the interval of the right answers
    in `mine`."""
    published = bool(mine["published"].any())
    mine = mine.sort_values("characters", ignore_index=True)
    share, reach = interval(mine)
    panel.errorbar(
        mine.index,
        share,
        reach,
        fmt="none",
        ecolor="black",
        elinewidth=0.9,
        capsize=2,
        label="interval of the right answers",
    )
    mark(panel, mine, mine.index, share / 2, 0.8, share, published=published)


PART = "#9BD3C1"
"""Colour of partly correct answers: a paler colour of correct answers."""
OUTCOMES = dict.fromkeys(("both", "solved", "said it"), (RIGHT, HATCHES[0]))
"""Dict from outcome to its colour and hatch, best first: green is correct, orange
incorrect, grey neither, as in all figures."""
OUTCOMES |= dict.fromkeys(("one", "mentioned it", "attempted"), (PART, HATCHES[4]))
OUTCOMES["not attempted"] = PART, HATCHES[2]
OUTCOMES["cipher noticed"] = "#FADFD0", HATCHES[0]
OUTCOMES |= dict.fromkeys(("none", "nothing noticed"), (WRONG, HATCHES[1]))
OUTCOMES["indiscriminate"] = COLOURS[1], HATCHES[3]
OUTCOMES["not told"] = "#777777", HATCHES[0]
OUTCOMES["refused"] = OTHER, HATCHES[2]
