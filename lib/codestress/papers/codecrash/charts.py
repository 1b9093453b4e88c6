"""CodeCrash's charts: differences to vanilla programs, reasoning tokens, growing doubt,
densities of messages, statuses of perturbations, and the published Pass@1."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from codestress.fitting.proportions import DOUBTED
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
    Look,
    add_note,
    looks,
)

from .results.conditions import NAMES, drawn_points, row_names, spelled
from .results.reasoning import Collapse

TALLEST_DRAWN = 7.9
"""Largest height of a figure in inches, without the title and the notes below the
figure."""
STATUSES = {
    "applied": "#CDEBE1",
    "unchanged": "#777777",
    "refused": PUBLISHED,
    "rejected": WRONG,
}
"""Dict from status to the colour of its bars."""


def difference_dots(
    points: pd.DataFrame,
    published: pd.DataFrame,
    value: str,
    *,
    xlabel: str,
    name: str,
) -> Figure:
    """Draw differences to vanilla programs (the paper's tables) as dots with intervals,
    and return the figure.

    `points` has the columns model, panel, condition, value, low, high. `published` has
    a row for each of the paper's models (`published_points`), with the columns panel,
    condition, beside (its data set), and the one named by `value`. The published rows
    are drawn as small grey dots above the dots of `points`, with a bar at their mean;
    the legend names them `name`.

    Panels of different data sets stand side by side, panels of different settings below
    each other. A condition with a defence (a request to ignore comments, or a clean-up)
    is a row below the same condition without the defence.
    """
    style: Any = {"color": PUBLISHED, "zorder": 1}

    def draw(ax: Axes, theirs: pd.DataFrame) -> None:
        """Draw the published rows `theirs` of the panel `ax`, and vanilla's line."""
        ax.axvline(0, color="black", linewidth=0.8, zorder=1)
        if theirs.empty:
            return
        place = theirs[value], theirs["y"]
        ax.plot(*place, "o", alpha=0.3, markersize=2.5, label=name, **style)
        means = theirs.groupby("y", as_index=False)[value].mean()
        bars = means[value], means["y"]
        ax.plot(*bars, "|", markersize=6, markeredgewidth=1.5, **style)
        mark(ax, means, *bars, published=True)

    return _dots(points, published.assign(slot=0), xlabel, draw)


def share_dots(table: pd.DataFrame, share: str, *hollow: str, xlabel: str) -> Figure:
    """Draw shares in % as dots with intervals (Tables 3, 11 and 12), with the layout of
    `difference_dots`, and return the figure.

    `table` has a row for each condition, with the column named by `share` (0 to 1) and
    its interval in `low` and `high`. The column named by `hollow` (already in %), if
    any, is drawn as hollow dots.
    """
    points = drawn_points(table, [share, "low", "high", *hollow])
    points[["value", "low", "high"]] *= 100
    published = points[:0].assign(beside="", slot=0)
    return _dots(points, published, xlabel, lambda ax, _: ax.set_xlim(-3, 103))


def token_dots(points: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """Draw numbers of reasoning tokens on a logarithmic scale (Table 4), from the
    average (filled, with interval) to the maximum (hollow), and return the figure.

    `points` has the columns model, panel, condition, value (the average), low, high,
    hollow (the maximum). `published` has the columns model, panel, condition, beside
    (the data set's name), average_tokens, most_tokens for the paper's models, whose
    numbers are drawn in grey.
    """
    slots, _ = pd.factorize(published["model"])
    xlabel = "reasoning tokens: average (filled) to maximum (hollow)"
    style: Any = {"color": PUBLISHED, "alpha": 0.6, "markersize": 3, "zorder": 1}

    def draw(ax: Axes, theirs: pd.DataFrame) -> None:
        """Draw the published rows `theirs` of the panel `ax`, and set its scale."""
        ax.set_xscale("log")
        # Plain numbers, because exponents of ten would be smaller than any other text.
        minor = LogFormatter()
        ax.xaxis.set(major_formatter="{x:,.0f}", minor_formatter=minor)
        for (slot, model), part in theirs.groupby(["slot", "model"]):
            average, most, y = part["average_tokens"], part["most_tokens"], part["y"]
            marker = MARKERS[slot % len(MARKERS)]
            ax.plot(average, y, marker, label=f"{model}, published", **style)
            mark(ax, part, average, y, published=True)
            ax.plot(most, y, marker, mfc="none", **style)
            ax.hlines(y, average, most, PUBLISHED, lw=0.5, alpha=0.5, zorder=1)

    return _dots(points, published.assign(slot=slots), xlabel, draw)


def _dots(
    points: pd.DataFrame,
    published: pd.DataFrame,
    xlabel: str,
    draw: Callable[[Axes, pd.DataFrame], object],
) -> Figure:
    """Draw each model's dots in the panels of `points`, a row for each condition: at the value, with the interval. If
    `points` has the column `hollow`, hollow dots, joined to the filled ones, show it. Return the figure. `draw` is
    called for each panel with the rows of `published` that belong there. Their added column `y` holds their heights:
    rows with `slot` 0 above the models' dots, rows with slot 1 next, and so on. Panels whose titles agree after the
    first comma stand side by side."""
    titles = _together(points["panel"], 2)
    rows = _together(points["condition"], 0)
    models, labels = pd.factorize(points["model"])
    theirs = published.query("condition in @rows")
    grey = theirs["slot"].nunique()
    series = grey + len(labels)
    slots = -0.36 + (np.arange(series) + 0.5) * (0.72 / series)
    drawn = points.assign(slot=grey + models)
    for part in (drawn, theirs):
        part["y"] = list(map(rows.index, part["condition"])) + slots[part["slot"]]
    columns = points["panel"].str.partition(", ")[0].nunique()
    across = columns if columns <= 3 else 2
    height = (0.14 + 0.075 * series) * len(rows) + 0.55
    height *= math.ceil(len(titles) / across)
    height = min(0.7 + 0.05 * series + height, TALLEST_DRAWN)
    figure, axes = panels([""] * len(titles), across, height, sharex=True, sharey="row")
    figure.supxlabel(xlabel, fontsize=8)
    beside = dict(zip(theirs["panel"], theirs["beside"], strict=True))
    above = [""] * across + titles
    for ax, title, upper in zip(axes, titles, above, strict=False):
        name = beside.get(title, "")
        _name_panel(ax, title, name if beside.get(upper) != name else "")
        own = drawn.query("panel == @title").sort_values("y", kind="stable")
        for model, look in looks(labels).items():
            _model_dots(ax, model, own.query("model == @model"), look)
        name_rows(ax, row_names(rows), 0.45, length=None)
        draw(ax, theirs.query("panel == @title"))
    legend_above(figure)
    return figure


def _model_dots(ax: Axes, model: str, part: pd.DataFrame, look: Look) -> None:
    """Draw the dots of `model` in the panel `ax`: for each row of `part`, a dot at the
    row's height."""
    colour, marker = look
    y = part["y"]
    value, reach = interval(part, "value", 1)
    ax.errorbar(
        value,
        y,
        None,
        reach,
        marker,
        color=colour,
        label=model,
        elinewidth=1,
        capsize=1.5,
        markersize=3.5,
    )
    mark(ax, part, value, y)
    if "hollow" in part:
        ends = part["hollow"]
        ax.hlines(y, value, ends, colour, lw=0.5)
        ax.plot(ends, y, marker, color=colour, mfc="white", markersize=4.5, mew=0.8)
        mark(ax, part, ends, y)


def _together(names: pd.Series, part: int) -> list[str]:
    """Return the distinct `names` in order of appearance, but grouped: names that agree
    before the first comma (`part` 0) or after it (`part` 2) follow each other."""
    kinds, _ = pd.factorize(names.str.partition(", ")[part])
    order = pd.Series(kinds, index=names).sort_values(kind="stable")
    return list(order.index.unique())


def _name_panel(ax: Axes, title: str, beside: str = "") -> None:
    """Write the words of `title` before the first comma above the panel `ax`. Below
    this title, in small type, write the words after the comma, and `beside`, the name
    of the published data set, unless it is empty."""
    first, _, below = title.partition(", ")
    if beside:
        below = f"{below}; published: {beside}".removeprefix("; ")
    ax.set_title(first, fontsize=8.5, pad=14 if below else 4)
    say(
        ax,
        below,
        (0, 1),
        (0, 4),
        xycoords="axes fraction",
        color="#555555",
        in_layout=False,
    )


def doubt_growth(response: Collapse, table: pd.DataFrame) -> Figure:
    """Draw the growing number of words of doubt in one response (Figure 3), in a figure
    one column wide, and return the figure.

    The figure shows the count up to each token, its quadratic fit, and the start of a
    collapse (one unit of text repeated to the end). The legend calls the fit rejected
    if it does not describe the counts. `response` is the result of `doubt_curve`,
    `table` that of `growth_table`.
    """
    figure, [ax] = panels([""], 1, 2.7, WIDTHS["column"])
    fit = table.iloc[0]
    quadratic = fit[["c2", "c1", "c0"]].to_list()
    tokens = response.curve["tokens"]
    [(colour, _)] = looks([response.model]).values()
    ax.step(tokens, response.curve["doubts"], where="post", color=colour)
    if not math.isnan(quadratic[0]):
        x = np.linspace(0, tokens.max(), 200)
        label = "quadratic fit"
        if fit["lack_of_fit_quadratic"] < DOUBTED:
            label += f" (rejected, p < {DOUBTED:g})"
        ax.plot(x, np.polyval(quadratic, x), "k:", lw=1, label=label)
    start = response.collapse_at
    if start is not None:
        label = f"one unit repeated to token {response.tokens:,}"
        # More would be the same grey.
        shown = min(response.tokens, 1.2 * start)
        ax.axvspan(start, shown, color="#BBBBBB", alpha=0.5, lw=0, label=label)
        ax.set_xlim(-0.02 * shown, shown)
    asked = f"{response.problem}, {spelled(response.perturbation, code=True)}"
    ax.set(xlabel=f"tokens of the response\n({asked})", ylabel="words of doubt so far")
    if ax.get_legend_handles_labels()[1]:
        legend_above(figure)
    return figure


def status_bars(table: pd.DataFrame) -> Figure:
    """Draw the statuses of perturbed programs as stacked bars of shares, a panel for
    each data set and language, and return the figure.

    `table` has the columns panel, condition, problems (number of programs), and the
    counts applied, unchanged, refused, rejected.
    """
    parts = table.groupby("panel", sort=False)
    sizes = parts.size()
    height = min(0.6 + 0.2 * len(table) + 0.35 * len(sizes), TALLEST_DRAWN)
    figure, axes = panels(list(sizes.index), 1, height, height_ratios=list(sizes))
    for ax, (title, part) in zip(axes, parts, strict=True):
        rows = range(len(part))
        problems = part["problems"]
        left = np.zeros(len(part))
        for status, hatch in zip(STATUSES, HATCHES, strict=False):
            shares = 100 * part[status] / problems
            colour = STATUSES[status]
            ax.barh(
                rows,
                shares,
                0.8,
                left,
                label=status,
                color=colour,
                hatch=hatch,
                ec="white",
            )
            left += shares
        names = [spelled(name, code=True) for name in part["condition"]]
        ax.set_yticks(rows, names)
        ax.set_title(f"{title} ({problems.max()} programs)")
        ax.set_ylim(len(part) - 0.4, -0.6)
        ax.set_xlim(0, 100)
        ax.grid(False)
    axes[-1].set_xlabel("programs (%)")
    legend_above(figure)
    return figure


def density_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """Draw results against the density of messages (Figure 4), and return the figure.
    Each kind of message has a panel of its own for each data set and setting. `ylabel`
    names the results.

    `points` has the columns model, panel, density (share of the places that get a
    message), value, low, high.
    """
    models = list(points["model"].unique())
    parts = points.groupby("panel", sort=False)
    across = min(math.ceil(len(parts) ** 0.5), 4)
    down = math.ceil(len(parts) / across)
    height = min(0.9 + 0.05 * len(models) + 1.9 * down, TALLEST_DRAWN)
    figure, axes = panels([""] * len(parts), across, height, sharex=True, sharey=True)
    for ax, (title, part) in zip(axes, parts, strict=True):
        _name_panel(ax, title)
        draw_curves(ax, part, models, "density", value="value", scale=1)
    figure.supxlabel("share of the places that get a message (p)", fontsize=8)
    figure.supylabel(ylabel, fontsize=8)
    legend_above(figure)
    return figure


def published_chart(ranks: pd.DataFrame, datasets: pd.DataFrame) -> Figure:
    """Draw which ranks and differences the published Pass@1 decides, and return the figure. Left:
    the models' ranks on unperturbed programs. Right: the difference between the data sets in the
    share of the score that each perturbation costs.

    `ranks` and `datasets` are the results of `rankings` and `between_datasets` in
    `results/leaderboard.py`. A hollow mark shows a difference that the tests do not decide.
    """
    titles = ["ranks that tests leave open", "more on LiveCodeBench"]
    figure, [left, right] = panels(titles, 2, 4.0)
    plain = ranks.query("perturbation == 'VAN'").replace({"dataset": NAMES})
    best = plain.drop_duplicates("label").sort_values("rank")
    models = list(best["label"])
    forest(
        left,
        plain,
        models,
        (0.5, len(models) + 0.5),
        value="rank",
        series="dataset",
        published=True,
        xlabel="rank on unperturbed programs",
    )
    left.set_xticks(range(1, len(models) + 1, 4))
    names = row_names(datasets["perturbation"])
    forest(
        right,
        datasets.assign(label=names),
        names,
        (-20, 30),
        value="difference",
        scale=100,
        published=True,
        xlabel="share lost, paired by model (points)",
    )
    legend_above(figure)
    add_note(figure, "filled: decided (Holm); hollow: not")
    return figure
