"""CodeCrash's charts: differences to vanilla, reasoning tokens, growing doubt, densities of
messages, statuses of perturbations, and the published Pass@1."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.fitting.proportions import DOUBTED
from codestress.report.curves import (
    draw_curves,
    forest,
    interval,
    legend_above,
    name_rows,
    panels,
)
from codestress.report.marks import mark
from codestress.report.style import (
    HATCHES,
    MARKERS,
    PUBLISHED,
    WIDTHS,
    WRONG,
    Look,
    add_note,
    looks,
    styled_figure,
)

from .results.conditions import NAMES, row_names, spelled
from .results.reasoning import Collapse

TALLEST_DRAWN = 7.9
"""Largest height of a figure in inches, without its title and the notes below it."""
STATUSES = {
    "applied": ("#CDEBE1", HATCHES[0]),
    "unchanged": ("#777777", HATCHES[1]),
    "refused": (PUBLISHED, HATCHES[2]),
    "rejected": (WRONG, HATCHES[3]),
}


def difference_dots(
    points: pd.DataFrame, published: pd.DataFrame, *, xlabel: str, told: str
) -> Figure:
    """Draws differences to vanilla as dots with intervals (the paper's tables); returns the figure.

    `points` has the columns model, panel, condition, value, low, high. `published` has panel,
    condition, value, beside (its data set), with a row for each of the paper's models: small grey
    dots above the row's others, with a bar at their mean, named `told` in the legend. Data sets
    stand side by side, settings below each other. A condition with a defence (a request to ignore
    comments, or a clean-up) is a row below its condition without the defence.
    """
    published = published[published["condition"].isin(points["condition"])]
    series = [told] if len(published) else []
    figure, axes, places = _dots(points, published, series, xlabel)
    for panel, ax in axes.items():
        ax.axvline(0, color="black", linewidth=0.8, zorder=1)
        theirs = published[published["panel"] == panel]
        for condition, values in theirs.groupby("condition", sort=False)["value"]:
            _published_dots(ax, places.loc[condition, told], values, told)
    legend_above(figure, *axes.values(), most=3)
    return figure


def share_dots(points: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draws shares in % as dots with intervals (Tables 3, 11 and 12), as `difference_dots` does;
    returns the figure. `points`: model, panel, condition, value, low, high, and hollow (a second
    value, drawn as a hollow dot), if any."""
    figure, axes, _ = _dots(points, points[:0].assign(beside=""), [], xlabel)
    for ax in axes.values():
        ax.set_xlim(-3, 103)
    legend_above(figure, *axes.values(), most=3)
    return figure


def token_dots(points: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """Draws reasoning tokens on a logarithmic scale (Table 4), from the average (filled, with
    interval) to the maximum (hollow); returns the figure.

    `points`: model, panel, condition, value (the average), low, high, hollow (the maximum).
    `published`: the same for the paper's models, and beside (its data set), in grey.
    """

    models = list(published["model"].unique())
    xlabel = "reasoning tokens: average (filled) to maximum (hollow)"
    figure, axes, places = _dots(points, published, models, xlabel)
    style: Any = {"color": PUBLISHED, "alpha": 0.6, "markersize": 3, "zorder": 1}
    for (panel, ax), (model, marker) in product(
        axes.items(), zip(models, MARKERS, strict=False)
    ):
        own = published[(published["panel"] == panel) & (published["model"] == model)]
        part, y = own.set_index("condition").reindex(places.index), places[model]
        average, most = part["value"], part["hollow"]
        ax.errorbar(average, y, fmt=marker, label=f"{model}, published", **style)
        mark(ax, part, average, y, published=True)
        ax.plot(most, y, marker, mfc="none", **style)
        ax.hlines(y, average, most, PUBLISHED, lw=0.5, alpha=0.5, zorder=1)
    for ax in axes.values():
        ax.set_xscale("log")
    legend_above(figure, *axes.values(), most=3)
    return figure


def _published_dots(ax: Axes, place: float, values: pd.Series, told: str) -> None:
    """Draws the paper's models, named `told` in the legend, as grey dots at the x values `values`
    at the height `place` of the panel `ax`, with a bar at their mean."""
    style: Any = {"color": PUBLISHED, "zorder": 1}
    heights = [place] * len(values)
    ax.plot(values, heights, "o", alpha=0.3, markersize=2.5, label=told, **style)
    mean, ends = values.mean(), [place - 0.1, place + 0.1]
    ax.plot([mean, mean], ends, linewidth=1.5, **style)
    mark(ax, pd.DataFrame(index=["mean"]), mean, place, published=True)


def _dots(
    points: pd.DataFrame,
    published: pd.DataFrame,
    series: Sequence[str],
    xlabel: str,
) -> tuple[Figure, dict[str, Axes], pd.DataFrame]:
    """Draws each model's dots in the panels of `points`, a row for each condition: at the value,
    with its interval; hollow dots, joined to them, show the column `hollow`, if any.

    Returns the figure, its panels by name, and the heights of the dots: a table with a row for each
    condition and a column for each of `series`, names of what is published, and of the models.
    Panels with the same words after the first comma stand side by side.
    """
    models = list(points["model"].unique())
    kinds = points["condition"].str.partition(", ")[0]
    order = pd.Series(pd.factorize(kinds)[0], index=points["condition"])
    conditions = list(order.sort_values(kind="stable").index.unique())
    names = [*series, *models]
    slots = -0.36 + (np.arange(len(names)) + 0.5) * (0.72 / len(names))
    heights = np.arange(len(conditions))[:, None] + slots
    places = pd.DataFrame(heights, index=conditions, columns=names)
    figure, axes = _condition_panels(points, conditions, len(names), xlabel, published)
    for panel, ax in axes.items():
        own = points[points["panel"] == panel]
        for model, look in looks(models).items():
            part = own[own["model"] == model].set_index("condition").reindex(conditions)
            _model_dots(ax, model, part, places[model].to_numpy(), look)
    return figure, axes, places


def _model_dots(
    ax: Axes, model: str, part: pd.DataFrame, y: np.ndarray, look: Look
) -> None:
    """Draws the dots of `model` in the panel `ax`: those of each row of `part` at its height in
    `y`."""
    colour, marker = look
    value, reach = interval(part, "value", 1)
    bars: Any = {"elinewidth": 1, "capsize": 1.5, "markersize": 3.5}
    ax.errorbar(value, y, xerr=reach, fmt=marker, color=colour, label=model, **bars)
    mark(ax, part, value, y)
    if "hollow" in part:
        ends = part["hollow"]
        ax.hlines(y, value, ends, colour, lw=0.5)
        dots: Any = {"mfc": "white", "markersize": 4.5, "mew": 0.8}
        ax.plot(ends, y, marker, color=colour, **dots)
        mark(ax, part, ends, y)


def _condition_panels(
    points: pd.DataFrame,
    conditions: Sequence[str],
    series: int,
    xlabel: str,
    published: pd.DataFrame,
) -> tuple[Figure, dict[str, Axes]]:
    """Returns a figure and its panels by name: those of `points` in its column `panel`. Panels with
    the same words after the first comma stand side by side, and these words below their title,
    with the name of the data set in the column `beside` of `published`, if any.

    The names of `conditions` label the rows, each high enough for `series` dots above each other.
    """
    titles = list(points["panel"].unique())
    beside = dict(zip(published["panel"], published["beside"], strict=True))
    rest = [title.partition(", ")[2] for title in titles]
    titles.sort(key=lambda title: rest.index(title.partition(", ")[2]))
    columns = len({title.partition(", ")[0] for title in titles})
    across = columns if columns <= 3 else 2
    down = -(-len(titles) // across)
    height = (0.14 + 0.075 * series) * len(conditions) + 0.55
    height = min(0.7 + 0.05 * series + down * height, TALLEST_DRAWN)
    figure, axes = panels([""] * len(titles), across, height, sharex=True, sharey="row")
    for number, (ax, title) in enumerate(zip(axes, titles, strict=True)):
        own = beside.get(title, "")
        above = titles[number - across] if number >= across else ""
        _name_panel(ax, title, own if beside.get(above) != own else "")
        name_rows(ax, row_names(conditions), 0.45, length=None)
    figure.supxlabel(xlabel, fontsize=8)
    return figure, dict(zip(titles, axes, strict=True))


def _name_panel(ax: Axes, title: str, beside: str = "") -> None:
    """Writes the first words of `title` above the panel `ax`, and below them in small type those
    after the first comma and the name of the published data set `beside`, if any."""
    first, _, rest = title.partition(", ")
    below = "; ".join(filter(None, [rest, beside and f"published: {beside}"]))
    ax.set_title(first, fontsize=8.5, pad=14 if below else 4)
    words = ax.annotate(
        below,
        (0, 1),
        xytext=(0, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=6.5,
        color="#555555",
    )
    words.set_in_layout(False)


def doubt_growth(response: Collapse, table: pd.DataFrame) -> Figure:
    """Draws the growing number of words of doubt in a response (Figure 3), a column wide: the count
    up to each token, a quadratic fit, which the legend calls rejected where it does not describe
    the counts, and the start of a collapse (one unit repeated to the end); returns the figure.
    `response` is the result of `doubt_curve`, `table` that of `growth_table`."""
    figure = styled_figure(WIDTHS["column"], 2.7)
    ax = figure.subplots()
    fit = table.iloc[0]
    tokens, counts = response.curve["tokens"], response.curve["doubts"]
    colour = looks([response.model])[response.model].colour
    ax.step(tokens, counts, where="post", color=colour)
    if not math.isnan(fit["c2"]):
        x = np.linspace(0, tokens.max(), 200)
        rejected = fit["lack_of_fit_quadratic"] < DOUBTED
        doubted = f" (rejected, p < {DOUBTED:g})" if rejected else ""
        y = np.polyval(fit[["c2", "c1", "c0"]].to_numpy(float), x)
        ax.plot(x, y, "k:", lw=1, label=f"quadratic fit{doubted}")
    if response.collapse_at is not None:
        label = f"one unit repeated to token {response.tokens:,}"
        start = response.collapse_at
        shown = min(response.tokens, 1.2 * start)  # the rest of it is as grey
        ax.axvspan(start, shown, color="#BBBBBB", alpha=0.5, lw=0, label=label)
        ax.set_xlim(-0.02 * shown, shown)
    asked = f"{response.problem}, {spelled(response.perturbation, code=True)}"
    ax.set(xlabel=f"tokens of the response\n({asked})", ylabel="words of doubt so far")
    if ax.get_legend_handles_labels()[1]:
        legend_above(figure, ax, most=1)
    return figure


def status_bars(table: pd.DataFrame) -> Figure:
    """Draws the statuses of perturbed programs as stacked bars of shares; returns the figure.

    `table`: panel, condition, problems (number of programs), and the counts applied, unchanged,
    refused, rejected. Each data set and language has a panel.
    """
    parts = dict(list(table.groupby("panel", sort=False)))
    sizes = [len(part) for part in parts.values()]
    height = min(0.6 + 0.2 * len(table) + 0.35 * len(parts), TALLEST_DRAWN)
    figure, axes = panels(list(parts), 1, height, height_ratios=sizes)
    for ax, (panel, part) in zip(axes, parts.items(), strict=True):
        shares = 100 * part[list(STATUSES)].div(part["problems"], axis=0)
        left = shares.cumsum(axis=1) - shares
        places = range(len(part))
        for status, (colour, hatch) in STATUSES.items():
            look: Any = {"color": colour, "hatch": hatch, "edgecolor": "white"}
            ax.barh(places, shares[status], 0.8, left[status], label=status, **look)
        names = [spelled(name, code=True) for name in part["condition"]]
        ax.set_yticks(places, names)
        title = f"{panel} ({part['problems'].max()} programs)"
        ax.set(ylim=(len(part) - 0.4, -0.6), xlim=(0, 100), title=title)
        ax.grid(False)
    axes[-1].set_xlabel("programs (%)")
    legend_above(figure, axes[0], most=4)
    return figure


def density_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """Draws results against the density of messages (Figure 4), with a panel for each kind of
    message; returns the figure. `ylabel` names the results.

    `points`: model, panel, density (share of the places that get a message), value, low, high.
    """
    models = list(points["model"].unique())
    parts = dict(list(points.groupby("panel", sort=False)))
    across = min(math.ceil(math.sqrt(len(parts))), 4)
    height = 0.9 + 0.05 * len(models) + 1.9 * -(-len(parts) // across)
    figure, axes = panels(
        [""] * len(parts), across, min(height, TALLEST_DRAWN), sharex=True, sharey=True
    )
    for ax, (title, part) in zip(axes, parts.items(), strict=True):
        _name_panel(ax, title)
        draw_curves(ax, part, models, "density", value="value", scale=1, size=3.5)
    figure.supxlabel("share of the places that get a message (p)", fontsize=8)
    figure.supylabel(ylabel, fontsize=8)
    legend_above(figure, *axes, most=3)
    return figure


def published_chart(ranks: pd.DataFrame, datasets: pd.DataFrame) -> Figure:
    """Draws what the published Pass@1 leaves open, and returns the figure: ranks of the models on
    unperturbed programs, and the difference between the data sets in the share that each
    perturbation costs.

    The tables `ranks` and `datasets` are the results of `rankings` and `between_datasets` in
    `results/leaderboard.py`. The tests do not decide what a hollow mark shows.
    """
    figure = styled_figure(WIDTHS["page"], 4.0)
    left, right = figure.subplots(1, 2)
    plain = ranks[ranks["perturbation"] == "VAN"]
    plain = plain.assign(series=plain["dataset"].map(NAMES))
    models = list(plain.drop_duplicates("label").sort_values("rank")["label"])
    limits = (0.5, len(models) + 0.5)
    own: Any = {"value": "rank", "series": "series", "published": True}
    forest(left, plain, models, limits, **own)
    left.set(title="ranks that tests leave open", xlabel="rank on unperturbed programs")
    left.set_xticks(range(1, len(models) + 1, 4))
    perturbations = list(datasets["perturbation"])
    own = {"label": "perturbation", "value": "difference", "scale": 100}
    own |= {"decided": True, "published": True}
    forest(right, datasets, perturbations, (-20, 30), **own)
    xlabel = "share lost, paired by model (points)"
    right.set(title="LiveCodeBench - CRUXEval", xlabel=xlabel)
    right.axvline(0, color="#999999", linewidth=0.6)
    right.set_yticks(range(len(perturbations)), row_names(perturbations))
    legend_above(figure, left)
    add_note(figure, "filled: decided (Holm); hollow: not")
    return figure
