"""A panel of the page: this model's shares with intervals, the paper's published models behind them."""

from __future__ import annotations

import io
import re

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from codestress.report.headline import Headline
from codestress.report.style import COLOURS, PUBLISHED, styled_figure

SPREAD = 0.3
"""Published models of one cell stand so far to either side, in their order, so that none hides another."""


def panel(name: str, cells: pd.DataFrame, headline: Headline) -> Figure:
    """Shares of right answers by cell: grey, the published ones, a dot each; in colour, this model."""
    figure = styled_figure(4.6, 2.5)
    ax = figure.subplots()
    published = headline.published()
    for place, cell in enumerate(headline.cells):
        shares = sorted(published.loc[published["cell"] == cell, "share"])
        count = len(shares)
        xs = [place + SPREAD * (2 * number / (count - 1) - 1) if count > 1 else place for number in range(count)]
        label = "published models" if place == 0 else None
        ax.plot(xs, [100 * share for share in shares], ".", color=PUBLISHED, alpha=0.45, markersize=5, label=label)
        if not count:
            ax.annotate("not published\nas numbers", (place, 101), ha="center", va="top", fontsize=5.5, color=PUBLISHED)
    shown = cells.reset_index(drop=True)
    known = shown[shown["n"] > 0]
    places, share = known.index.to_numpy(float), 100 * known["share"].to_numpy(float)
    errors = [share - 100 * known["low"].to_numpy(float), 100 * known["high"].to_numpy(float) - share]
    ax.errorbar(places, share, yerr=errors, fmt="o", color=COLOURS[1], markersize=5.5, capsize=3, label=name, zorder=5)
    for place, row in shown.iterrows():
        told = f"{row['right']} of {row['n']}" if row["n"] else "no answer"
        if not row["n"] and (row["too_long"] or row["cut"]):
            told = "does not fit" if row["too_long"] else "cut by the server"
        ax.annotate(
            told, (float(str(place)), 0), (0, -15), textcoords="offset points", ha="center", va="top", fontsize=6
        )
    ax.set_xticks(range(len(headline.cells)), headline.cells)
    ax.tick_params(axis="x", length=0, labelsize=7)
    ax.set_xlim(-0.5, len(headline.cells) - 0.5)
    ax.set_ylim(-3, 103)
    ax.set_ylabel("right (%)")
    ax.set_xlabel(headline.axis, labelpad=12)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=6.5, frameon=False, borderaxespad=0.1)
    return figure


def as_svg(figure: Figure, alt: str) -> str:
    """To stand inside a page, said in words for who does not see it."""
    out = io.StringIO()
    with rc_context({"svg.hashsalt": "codestress", "svg.fonttype": "path"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    content = out.getvalue()
    svg = content[content.index("<svg") :]
    # Ids are the same in every picture of a page: each gets its own.
    prefix = re.sub(r"\W", "", alt)[:24]
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{prefix}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{re.sub(chr(34), "", alt)}"', 1)
