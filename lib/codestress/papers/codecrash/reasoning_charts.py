"""How much reasoning models think, and how one of them doubts (CodeCrash, Table 4 and Figure 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from codestress.report.style import COLOURS, MARKERS, PUBLISHED, use_style


def token_dots(points: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """Average (filled, with interval) and most (hollow) reasoning tokens, on a logarithmic scale.

    `points`: model, panel, condition, average, low, high, most. `published`: condition, average, most (a row for each
    of the paper's models and data sets), in grey.
    """
    use_style()
    panels, conditions, models = (list(dict.fromkeys(points[name])) for name in ("panel", "condition", "model"))
    figure = Figure(figsize=(7.0, 0.9 + 0.42 * len(conditions)))
    axes = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
    step = 0.7 / len(models)
    for ax, panel in zip(axes, panels, strict=True):
        for place, condition in enumerate(conditions):
            theirs = published[published["condition"] == condition]
            for column, filled in (("average", True), ("most", False)):
                ax.plot(
                    theirs[column],
                    [place] * len(theirs),
                    "o",
                    color=PUBLISHED,
                    markerfacecolor=PUBLISHED if filled else "none",
                    alpha=0.35,
                    markersize=2.5,
                )
        for number, model in enumerate(models):
            part = points[(points["panel"] == panel) & (points["model"] == model)].set_index("condition")
            part = part.reindex(conditions)
            places = [place - 0.35 + (number + 0.5) * step for place in range(len(conditions))]
            look = {"color": COLOURS[number % len(COLOURS)], "markersize": 4}
            marker = MARKERS[number % len(MARKERS)]
            average, low, high = (part[name].to_numpy(float) for name in ("average", "low", "high"))
            errors = [average - low, high - average]
            ax.errorbar(average, places, xerr=errors, fmt=marker, label=f"{model}, average", capsize=1.5, **look)
            ax.plot(part["most"], places, marker, markerfacecolor="none", linestyle="", label=f"{model}, most", **look)
        ax.set_title(panel)
        ax.set_xscale("log")
        ax.grid(True, axis="x")
        ax.grid(False, axis="y")
    axes[0].set_yticks(range(len(conditions)), conditions)
    axes[0].set_ylim(len(conditions) - 0.45, -0.55)
    figure.supxlabel("reasoning tokens (grey: the paper's models; hollow: most)", fontsize=8)
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(4, len(names)))
    return figure


def doubt_growth(
    curve: pd.DataFrame, quadratic: tuple[float, float, float], *, collapse_at: int | None, tokens: int, title: str
) -> Figure:
    """Words of doubt up to each token of a response, a quadratic through them, and where it begins to repeat itself.

    `curve`: tokens, doubts; `quadratic`: c0, c1, c2 of c0 + c1 x + c2 x²; `tokens`: of the whole response.
    """
    use_style()
    figure = Figure(figsize=(4.6, 2.9))
    ax = figure.subplots()
    ax.plot(curve["tokens"], curve["doubts"], ".", color=COLOURS[0], markersize=3, label="words of doubt so far")
    end = float(curve["tokens"].max())
    if end and quadratic[2] == quadratic[2]:
        x = np.linspace(0, end, 200)
        fitted = quadratic[0] + quadratic[1] * x + quadratic[2] * x**2
        ax.plot(x, fitted, color=COLOURS[1], label="quadratic fit")
    if collapse_at is not None:
        ax.axvspan(collapse_at, tokens, color="#BBBBBB", alpha=0.5, linewidth=0, label="one unit repeated to the end")
    ax.set_xlabel("tokens of the response")
    ax.set_ylabel("words of doubt")
    ax.set_title(title)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure
