"""CodeCrash's charts: differences to vanilla, reasoning tokens, growing doubt, densities of
messages, statuses of perturbations, and the published Pass@1."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.fitting.proportions import DOUBTED
from codestress.papers.codecrash.results.conditions import row_names, spelled
from codestress.papers.codecrash.results.reasoning import Collapse
from codestress.report.curves import (
    draw_curves,
    forest,
    interval,
    legend_above,
    name_rows,
    panels,
    say,
)
from codestress.report.marks import mark
from codestress.report.style import (
    HATCHES,
    MARKERS,
    PUBLISHED,
    WIDTHS,
    WRONG,
    add_note,
    looks,
    styled_figure,
)

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
    models = list(points["model"].unique())
    conditions = _beside_their_like(list(points["condition"].unique()))
    published = published[published["condition"].isin(conditions)]
    slots = _slots(len(models) + bool(len(published)))
    figure, axes = _condition_panels(points, conditions, slots, xlabel, published)
    for panel, ax in axes.items():
        ax.axvline(0, color="black", linewidth=0.8)
        theirs = published[published["panel"] == panel]
        for condition, values in theirs.groupby("condition", sort=False)["value"]:
            place = conditions.index(str(condition)) + slots[0]
            _published_dots(ax, place, values.to_numpy(float))
        own = points[points["panel"] == panel]
        _dots(ax, own, models, conditions, "value", slots[-len(models) :])
    first = next(iter(axes.values()))
    if len(published):  # an error bar: its legend comes after those of the models
        dot: dict[str, Any] = {"fmt": "o", "markersize": 2.5, "alpha": 0.5}
        first.errorbar([], [], color=PUBLISHED, label=told, **dot)
    _legend(figure, first)
    return figure


def share_dots(points: pd.DataFrame, *, xlabel: str) -> Figure:
    """Draws shares in % as dots with intervals (Tables 3, 11 and 12), as `difference_dots` does;
    returns the figure. `points`: model, panel, condition, value, low, high, and hollow (a second
    value, drawn as a hollow dot), if any."""
    models = list(points["model"].unique())
    conditions = list(points["condition"].unique())
    slots, nothing = _slots(len(models)), points[:0].assign(beside="")
    figure, axes = _condition_panels(points, conditions, slots, xlabel, nothing)
    for panel, ax in axes.items():
        own = points[points["panel"] == panel]
        _dots(ax, own, models, conditions, "value", slots)
        ax.set_xlim(-3, 103)
    _legend(figure, next(iter(axes.values())))
    return figure


def _slots(count: int) -> np.ndarray:
    """Returns the heights, relative to their row, of `count` series beside each other."""
    return -0.36 + (np.arange(count) + 0.5) * (0.72 / count)


def _legend(figure: Figure, *axes: Axes) -> None:
    names: list[str] = []
    for ax in axes:
        names += ax.get_legend_handles_labels()[1]
    legend_above(figure, *axes, most=4 if max(map(len, names)) < 22 else 3)


def _published_dots(ax: Axes, place: float, values: np.ndarray) -> None:
    """Draws the paper's models as grey dots at the x values `values` at the height `place` of the
    panel `ax`, with a bar at their mean."""
    heights = [place] * len(values)
    ax.plot(values, heights, "o", color=PUBLISHED, alpha=0.3, markersize=2.5, zorder=1)
    mean, ends = values.mean(), [place - 0.1, place + 0.1]
    ax.plot([mean, mean], ends, color=PUBLISHED, linewidth=1.5, zorder=1)
    mark(ax, pd.DataFrame(index=["mean"]), mean, place, published=True)


def _beside_their_like(conditions: Sequence[str]) -> list[str]:
    """Returns the names `conditions` sorted so that those of one perturbation (the name before the
    first comma) follow each other."""
    kinds = [name.split(", ")[0] for name in conditions]
    return sorted(conditions, key=lambda name: kinds.index(name.split(", ")[0]))


def token_dots(points: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """Draws reasoning tokens on a logarithmic scale (Table 4), from the average (filled, with
    interval) to the maximum (hollow); returns the figure.

    `points`: model, panel, condition, average, low, high, hollow (the maximum). `published`: the
    same for the paper's models, and beside (its data set), in grey.
    """
    models = list(points["model"].unique())
    conditions = list(points["condition"].unique())
    theirs = list(published["model"].unique())
    slots = _slots(len(theirs) + len(models))
    xlabel = "reasoning tokens: average (filled) to maximum (hollow)"
    figure, axes = _condition_panels(points, conditions, slots, xlabel, published)
    for panel, ax in axes.items():
        rows = published[published["panel"] == panel]
        for model, slot, marker in zip(theirs, slots, MARKERS, strict=False):
            part = rows[rows["model"] == model].set_index("condition")
            part = part.reindex(conditions)
            places = np.arange(len(conditions)) + slot
            style: dict[str, Any] = {"color": PUBLISHED, "alpha": 0.6, "markersize": 3}
            average, most = part["average"], part["hollow"]
            label = f"{model}, published"
            ax.errorbar(average, places, fmt=marker, label=label, **style)
            mark(ax, part, average, places, published=True)
            ax.plot(most, places, marker, mfc="none", **style)
            ax.hlines(places, average, most, PUBLISHED, lw=0.5, alpha=0.5)
        own = points[points["panel"] == panel]
        _dots(ax, own, models, conditions, "average", slots[-len(models) :], 4)
        ax.set_xscale("log")
    _legend(figure, next(iter(axes.values())))
    return figure


def _condition_panels(
    points: pd.DataFrame,
    conditions: Sequence[str],
    slots: np.ndarray,
    xlabel: str,
    published: pd.DataFrame,
) -> tuple[Figure, dict[str, Axes]]:
    """Returns a figure and its panels by name: those of `points` in its column `panel`. Panels with
    the same words after the first comma stand side by side, and these words below their title,
    with the name of the data set in the column `beside` of `published`, if any.

    The names of `conditions` label the rows, each high enough for the series at the heights `slots`; perturbations'
    codes stand in the names of the first panels alone.
    """
    titles = list(points["panel"].unique())
    beside = dict(zip(published["panel"], published["beside"], strict=True))
    rest = [title.partition(", ")[2] for title in titles]
    titles.sort(key=lambda title: rest.index(title.partition(", ")[2]))
    columns = len({title.partition(", ")[0] for title in titles})
    across = columns if columns <= 3 else 2
    down = -(-len(titles) // across)
    height = (0.14 + 0.075 * len(slots)) * len(conditions) + 0.55
    height = min(0.7 + 0.05 * len(slots) + down * height, TALLEST_DRAWN)
    figure, axes = panels([""] * len(titles), across, height, sharex=True, sharey="row")
    names = row_names(conditions)
    for number, (ax, title) in enumerate(zip(axes, titles, strict=True)):
        own = beside.get(title, "")
        above = titles[number - across] if number >= across else ""
        _name_panel(ax, title, own if beside.get(above) != own else "")
        if above:
            names = [re.sub(r" \([A-Z-]+\)", "", name) for name in names]
        name_rows(ax, names, 0.45, length=None)
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


def _dots(
    ax: Axes,
    points: pd.DataFrame,
    models: Sequence[str],
    rows: Sequence[str],
    column: str,
    slots: np.ndarray,
    markersize: float = 3.5,
) -> None:
    """Draws each model's dots in the panel `ax`, one in each row of `rows` (names of conditions) at
    the model's height in `slots`, at the value in the column `column` of `points`, with its
    interval; hollow dots, joined to them, show the column `hollow`, if any."""
    for (model, (colour, marker)), slot in zip(
        looks(models).items(), slots, strict=True
    ):
        part = points[points["model"] == model].set_index("condition").reindex(rows)
        value, reach = interval(part, column, 1)
        places = np.arange(len(rows)) + slot
        ax.errorbar(
            value,
            places,
            xerr=reach,
            fmt=marker,
            color=colour,
            elinewidth=1,
            capsize=1.5,
            label=model,
            markersize=markersize,
        )
        mark(ax, part, value, places)
        if "hollow" in part:
            ends = part["hollow"]
            ax.hlines(places, value, ends, colour, lw=0.5)
            ax.plot(
                ends, places, marker, color=colour, mfc="white", markersize=4.5, mew=0.8
            )
            mark(ax, part, ends, places)


def doubt_growth(found: Collapse) -> Figure:
    """Draws the growing number of words of doubt in a response (Figure 3), a column wide: the count
    up to each token, a quadratic fit, which the legend calls rejected where it does not describe
    the counts, and the start of a collapse (one unit repeated to the end); returns the figure. `found`
    is the result of `doubt_curve`."""
    figure = styled_figure(WIDTHS["column"], 2.7)
    ax = figure.subplots()
    tokens, counts = found.curve["tokens"], found.curve["doubts"]
    colour = looks([found.model])[found.model].colour
    ax.step(tokens, counts, where="post", color=colour)
    coefficients = [found.growth[name] for name in ("c0", "c1", "c2")]
    if tokens.max() and not np.isnan(coefficients).any():
        x = np.linspace(0, tokens.max(), 200)
        rejected = found.lacks["quadratic"] < DOUBTED
        doubted = f" (rejected, p < {DOUBTED:g})" if rejected else ""
        fit = np.polynomial.Polynomial(coefficients)(x)
        ax.plot(x, fit, "k:", lw=1, label=f"quadratic fit{doubted}")
    if found.collapse_at is not None:
        label = f"one unit repeated to token {found.tokens:,}"
        shown = min(found.tokens, 1.2 * found.collapse_at)  # the rest of it is as grey
        ax.axvspan(
            found.collapse_at, shown, color="#BBBBBB", alpha=0.5, lw=0, label=label
        )
        ax.set_xlim(-0.02 * shown, shown)
    asked = f"{found.problem}, {spelled(found.perturbation, code=True)}"
    ax.set(xlabel=f"tokens of the response\n({asked})", ylabel="words of doubt so far")
    if ax.get_legend_handles_labels()[1]:
        legend_above(figure, ax, most=1)
    return figure


def status_bars(table: pd.DataFrame) -> Figure:
    """Draws the statuses of perturbed programs as stacked bars of shares; beside each bar stand its
    counts of programs that are not applied, or `all applied`. Returns the figure.

    `table`: panel, condition, and the counts applied, unchanged, refused, rejected. Each data set
    and language has a panel, whose title says how many perturbations change every program.
    """
    parts = dict(list(table.groupby("panel", sort=False)))
    sizes = [len(part) for part in parts.values()]
    height = min(0.6 + 0.2 * len(table) + 0.35 * len(parts), TALLEST_DRAWN)
    figure, axes = panels(list(parts), 1, height, height_ratios=sizes)
    for ax, (panel, part) in zip(axes, parts.items(), strict=True):
        total = part[list(STATUSES)].sum(axis=1)
        left = pd.Series(0.0, index=part.index)
        places = range(len(part))
        for status, (colour, hatch) in STATUSES.items():
            width = 100 * part[status] / total
            look: Any = {"color": colour, "hatch": hatch, "edgecolor": "white"}
            ax.barh(places, width, 0.8, left, label=status, **look)
            left = left + width
        for place, counts in enumerate(part[list(STATUSES)[1:]].to_dict("records")):
            told = [f"{count} {status}" for status, count in counts.items() if count]
            say(ax, ", ".join(told) or "all applied", (1, place), va="center")
        whole = int((part["applied"] == total).sum())
        names = [spelled(name, code=ax is axes[0]) for name in part["condition"]]
        ax.set_yticks(places, names)
        title = f"{panel}: {whole} of {len(part)} perturbations change every program ({total.max()})"
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
    kinds = list(dict.fromkeys(title.partition(", ")[0] for title in parts))
    across = 2 if len(parts) <= 4 else 3 if len(parts) <= 9 else 4
    height = 0.9 + 0.05 * len(models) + 1.9 * -(-len(parts) // across)
    figure, axes = panels(
        [""] * len(parts), across, min(height, TALLEST_DRAWN), sharex=True, sharey=True
    )
    message = (
        "a message" if len(kinds) > 1 else f"one of the {spelled(kinds[0], code=True)}"
    )
    said: set[str] = {*kinds} if len(kinds) == 1 else set()
    for ax, (title, part) in zip(axes, parts.items(), strict=True):
        kind, _, rest = title.partition(", ")
        name = f"{spelled(kind, code=kind not in said)}, {rest}"
        _name_panel(ax, rest if len(kinds) == 1 else name)
        said.add(kind)
        draw_curves(ax, part, models, "density", value="value", scale=1, size=3.5)
    figure.supxlabel(f"share of the places that get {message} (p)", fontsize=8)
    figure.supylabel(ylabel, fontsize=8)
    _legend(figure, *axes)
    return figure


def published_chart(
    ranks: pd.DataFrame, datasets: pd.DataFrame, names: dict[str, str]
) -> Figure:
    """Draws what the published Pass@1 leaves open, and returns the figure: ranks of the models on
    unperturbed programs, and the difference between the data sets in the share that each
    perturbation costs.

    The tables `ranks` and `datasets` are the results of `rankings` and `between_datasets` in
    `results/published.py`; `names` maps the two data sets to their names in the chart. The tests do
    not decide what a hollow mark shows.
    """
    figure = styled_figure(WIDTHS["page"], 4.0)
    left, right = figure.subplots(1, 2)
    plain = ranks[ranks["perturbation"] == "VAN"]
    plain = plain.assign(series=plain["dataset"].map(names))
    first = plain[plain["dataset"] == plain["dataset"].iloc[0]]
    models = first.sort_values("rank")["label"].tolist()
    limits = (0.5, len(models) + 0.5)
    options: Any = {"published": True}
    forest(left, plain, models, limits, value="rank", series="series", **options)
    left.set(title="ranks that tests leave open", xlabel="rank on unperturbed programs")
    left.set_xticks(range(1, len(models) + 1, 4))
    perturbations = list(datasets["perturbation"])
    options |= {"label": "perturbation", "value": "difference", "scale": 100}
    forest(right, datasets, perturbations, (-20, 30), decided=True, **options)
    first_name, second_name = names.values()
    right.set(title=f"{second_name} - {first_name}")
    right.set_xlabel("share lost, paired by model (points)")
    right.axvline(0, color="#999999", linewidth=0.6)
    right.set_yticks(range(len(perturbations)), row_names(perturbations))
    legend_above(figure, left)
    add_note(figure, "filled: decided (Holm); hollow: not")
    return figure
