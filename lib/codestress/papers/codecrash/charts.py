"""CodeCrash's charts: differences to vanilla, reasoning tokens, growing doubt, messages put in, what became of
perturbations, what the published Pass@1 says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.papers.codecrash.reasoning import STAGES
from codestress.papers.codecrash.results.conditions import SPOKEN, WORDS
from codestress.papers.codecrash.results.reasoning import Collapse
from codestress.report.curves import (
    draw_curves,
    forest,
    interval,
    legend_above,
    look,
    mark_truth,
    name_rows,
    panels,
    say,
    say_lack,
)
from codestress.report.style import COLOURS, HATCHES, PUBLISHED, WRONG, styled_figure

LONGEST_TITLE = 40
STATUSES = {
    **{"applied": ("#CDEBE1", HATCHES[0]), "unchanged": ("#777777", HATCHES[1])},
    **{"refused": (PUBLISHED, HATCHES[2]), "rejected": (WRONG, HATCHES[3])},
}


def difference_dots(points: pd.DataFrame, published: pd.DataFrame, *, xlabel: str, told: str) -> Figure:
    """Differences to vanilla (tables): `points` has model, panel, condition, value, low, high. `published`: panel,
    condition, value (a row for each of the paper's models), drawn as small grey dots with a bar at their mean, and
    named `told` in the legend; where points have no such panel, in one of their own. Three panels stand side by side,
    other numbers in two columns; what was said to models, or done to programs before, is a row beside the one without,
    and rows of which nothing is known are left out."""
    points, published = _settings_as_rows(points), _settings_as_rows(published)
    models, known = list(dict.fromkeys(points["model"])), points[points["value"].notna()]
    points = known if len(known) else points  # of none, as of what part is lost where nothing was right
    conditions = _beside_their_like(list(dict.fromkeys(points["condition"])))
    published = published[published["condition"].isin(conditions)]
    titles = list(dict.fromkeys([*points["panel"], *published["panel"]]))
    height = 0.5 + max(0.2, 0.1 + 0.09 * len(models)) * len(conditions)
    figure, axes = _panels(titles, conditions, 0.8, height, xlabel, across=3 if len(titles) == 3 else 2)
    for ax, panel in zip(axes, titles, strict=True):
        ax.axvline(0, color="black", linewidth=0.8)
        theirs = published[published["panel"] == panel]
        for place, condition in enumerate(conditions):
            values = theirs.loc[theirs["condition"] == condition, "value"].to_numpy(float)
            if len(values):
                ax.plot(values, [place] * len(values), "o", color=PUBLISHED, alpha=0.3, markersize=2.5, zorder=1)
                ax.plot([values.mean()] * 2, [place - 0.3, place + 0.3], color=PUBLISHED, linewidth=1.5, zorder=1)
            elif panel.startswith("published"):
                beside: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "va": "center", "color": "#555555"}
                say(ax, "no published numbers at hand", (0.03, place), **beside)
        _dots(ax, points[points["panel"] == panel], models, conditions, "value", markersize=3.5, elinewidth=1)
        if not (len(known) or panel.startswith("published")):
            ax.text(0.5, 0.5, "no difference is known", ha="center", transform=ax.transAxes)
    if len(published):  # as an error bar, so that its legend comes after those of the models
        axes[0].errorbar([], [], fmt="o", markersize=2.5, color=PUBLISHED, alpha=0.5, label=told)
    legend_above(figure, axes[0], most=4)
    return figure


SAID = {WORDS[name][value]: word for name in ("ignore", "refactor") for value, word in SPOKEN[name].items()}
"""Settings that stand in the names of panels, and what they are called in those of rows."""


def _settings_as_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with these settings in its conditions in place of its panels."""
    parts = [str(panel).split(", ") for panel in frame["panel"]]
    said = [", ".join(SAID[part] for part in some if SAID.get(part)) for some in parts]
    panels = [", ".join(part for part in some if part not in SAID) or "all" for some in parts]
    names = [f"{one}, {more}" if more else one for one, more in zip(frame["condition"], said, strict=True)]
    return frame.assign(panel=panels, condition=names)


def _beside_their_like(conditions: Sequence[str]) -> list[str]:
    """Those of one perturbation one after the other."""
    kinds = list(dict.fromkeys(name.split(", ")[0] for name in conditions))
    return sorted(conditions, key=lambda name: kinds.index(name.split(", ")[0]))


def token_dots(points: pd.DataFrame, published: pd.DataFrame) -> Figure:
    """Average (filled, with interval) and most (hollow) reasoning tokens, on a logarithmic scale (Table 4).

    `points`: model, panel, condition, average, low, high, most. `published`: panel, condition, average, most (a row
    for each of the paper's models), in grey; panels that points do not have are their own.
    """
    conditions, models = (list(dict.fromkeys(points[name])) for name in ("condition", "model"))
    titles = list(dict.fromkeys([*points["panel"], *published["panel"]]))
    xlabel = "reasoning tokens (grey: the paper's models; hollow: most)"
    figure, axes = _panels(titles, conditions, 0.9, 0.42 * len(conditions), xlabel)
    for ax, panel in zip(axes, titles, strict=True):
        for place, condition in enumerate(conditions):
            theirs = published[(published["panel"] == panel) & (published["condition"] == condition)]
            for column, face in (("average", PUBLISHED), ("most", "none")):
                shown: dict[str, Any] = {"color": PUBLISHED, "markerfacecolor": face, "alpha": 0.35, "markersize": 2.5}
                ax.plot(theirs[column], [place] * len(theirs), "o", **shown)
        _dots(ax, points[points["panel"] == panel], models, conditions, "average", markersize=4)
        ax.set_xscale("log")
    legend_above(figure, axes[0], most=4)
    return figure


def _panels(
    titles: Sequence[str], rows: Sequence[str], margin: float, height: float, xlabel: str, across: int = 2
) -> tuple[Figure, list[Axes]]:
    """A figure of panels, each so many inches high, whose rows are conditions, from above."""
    shown = [title if len(title) < LONGEST_TITLE else title.replace(", ", ",\n", 1) for title in titles]
    down = -(-len(titles) // min(across, len(titles)))
    figure, axes = panels(shown, across, margin + down * height, sharex=True, sharey=True)
    for ax in axes:
        name_rows(ax, rows, 0.45, length=None)
    figure.supxlabel(xlabel, fontsize=8)
    return figure, axes


def _dots(
    ax: Axes, points: pd.DataFrame, models: Sequence[str], rows: Sequence[str], column: str, **options: Any
) -> None:
    """The models' dots with intervals, beside each other in each row; hollow, where they have it, their `most`."""
    for number, model in enumerate(models):
        part = points[points["model"] == model].set_index("condition").reindex(rows)
        value, reach = interval(part, column, 1)
        places = [place - 0.35 + (number + 0.5) * (0.7 / len(models)) for place in range(len(rows))]
        colour, marker = look(number)
        label = f"{model}, average" if "most" in part else model
        ax.errorbar(value, places, xerr=reach, fmt=marker, color=colour, capsize=1.5, label=label, **options)
        if "true" in part:
            mark_truth(ax, part["true"], places, around=True)
        if "most" in part:
            hollow: dict[str, Any] = {"color": colour, "mfc": "none", "markersize": 4, "linestyle": ""}
            ax.plot(part["most"], places, marker, label=f"{model}, most", **hollow)


def doubt_growth(found: Collapse, stages: pd.DataFrame) -> Figure:
    """Words of doubt up to each token of a response, a quadratic through them, where it begins to repeat itself, and
    its stages (Figure 3). `stages`: stage, first_token."""
    figure = styled_figure(7.0, 2.9)
    ax = figure.subplots()
    ax.plot("tokens", "doubts", ".", data=found.curve, color=COLOURS[0], markersize=4, label="words of doubt so far")
    end = float(found.curve["tokens"].max())
    coefficients = [found.growth[name] for name in ("c0", "c1", "c2")]
    if end and not np.isnan(coefficients).any():
        x = np.linspace(0, end, 200)
        ax.plot(x, np.polynomial.Polynomial(coefficients)(x), color=COLOURS[1], lw=1, label="quadratic fit")
    if found.collapse_at is not None:
        label = "one unit repeated to the end"
        shown = min(found.tokens, 1.2 * found.collapse_at)  # the rest of it is as grey
        ax.axvspan(found.collapse_at, shown, color="#BBBBBB", alpha=0.5, linewidth=0, label=label)
        ax.set_xlim(-0.02 * shown, shown)
        if shown < found.tokens:
            say(ax, f"to token\n{found.tokens:,} →", (shown, 0), (-3, 6), size=7, ha="right")
    for number, row in enumerate(stages[stages["stage"] != STAGES[-1]].itertuples(), start=1):
        ax.axvline(row.first_token, color=PUBLISHED, linewidth=0.7, linestyle=":")
        place = (row.first_token, 1 - 0.09 * number)
        say(ax, str(row.stage), place, (3, 0), size=7, xycoords=("data", "axes fraction"))
    title = f"{found.model} on {found.problem}, {found.perturbation}"
    ax.set(xlabel="tokens of the response", ylabel="words of doubt", title=title)
    legend_above(figure, ax, most=3)
    say_lack(figure, {"the quadratic": found.lacks["quadratic"], "a straight line": found.lacks["line"]})
    return figure


def status_bars(table: pd.DataFrame) -> Figure:
    """What became of perturbations, as stacked bars of shares; how many of those that were not applied is written in
    words. `table`: panel, condition, and the counts applied, unchanged, refused, rejected. A panel for each data set
    and language, whose title says what was left as it was."""
    rows = table.groupby("panel", sort=False).size()
    figure, axes = panels(list(rows.index), 1, 0.6 + 0.2 * rows.sum() + 0.35 * len(rows), height_ratios=list(rows))
    for ax, (panel, part) in zip(axes, table.groupby("panel", sort=False), strict=True):
        total = part[list(STATUSES)].sum(axis=1)
        left = pd.Series(0.0, index=part.index)
        for status, (colour, hatch) in STATUSES.items():
            width = 100 * part[status] / total
            ax.barh(range(len(part)), width, 0.8, left, color=colour, hatch=hatch, edgecolor="white", label=status)
            left = left + width
        other = {status: part[status] for status in STATUSES if status != "applied"}
        for place in range(len(part)):
            told = [f"{counts.iloc[place]} {status}" for status, counts in other.items() if counts.iloc[place]]
            say(ax, ", ".join(told) or "all applied", (1, place), va="center")
        whole = part.loc[part["applied"] == total, "condition"]
        ax.set_yticks(range(len(part)), part["condition"])
        title = f"{panel}: {len(whole)} of {len(part)} perturbations change every program ({total.max()})"
        ax.set(ylim=(len(part) - 0.4, -0.6), xlim=(0, 100), title=title)
        ax.grid(False)
    axes[-1].set_xlabel("programs (%)")
    legend_above(figure, axes[0], most=4)
    return figure


def density_curve(points: pd.DataFrame, *, ylabel: str) -> Figure:
    """`points`: model, panel, density (what is put in), value, low, high. A panel for each kind of thing put in
    (Figure 4)."""
    models, parts = list(dict.fromkeys(points["model"])), dict(list(points.groupby("panel", sort=False)))
    figure, axes = panels(list(parts), 2, 0.7 + 2.1 * -(-len(parts) // 2), sharex=True, sharey=True)
    for ax, part in zip(axes, parts.values(), strict=True):
        draw_curves(ax, part, models, "density", value="value", scale=1, size=3.5)
    figure.supxlabel("share of the places that get a message (p)", fontsize=8)
    figure.supylabel(ylabel, fontsize=8)
    legend_above(figure, *axes, most=4)
    return figure


def published_chart(
    ranks: pd.DataFrame, alike: pd.DataFrame, vanilla: pd.DataFrame, datasets: pd.DataFrame, names: dict[str, str]
) -> Figure:
    """Ranks of the models on unperturbed programs, how alike perturbations order them, what goes with the vanilla
    score, and the difference between the data sets.

    The tables of `results/published.py`; `names` are those of the data sets, two. Hollow: not decided.
    """
    figure = styled_figure(7.0, 8.4)
    above, below = figure.subfigures(2, 1, height_ratios=[1.25, 1.0], squeeze=False)[:, 0]
    left, right = above.subplots(1, 2, width_ratios=[1.0, 1.15])
    plain = ranks[ranks["perturbation"] == "VAN"].assign(series=ranks["dataset"].map(names))
    models = plain[plain["dataset"] == next(iter(names))].sort_values("rank")["label"].tolist()
    told: dict[str, Any] = {"title": "ranks that tests leave open", "xlabel": "rank on unperturbed programs"}
    forest(left, plain, models, (0.5, len(models) + 0.5), value="rank", series="series", **told)
    left.set_xticks(range(1, len(models) + 1, 4))
    above.legend(*left.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    perturbations = list(datasets["perturbation"])
    _matrix(right, alike, perturbations, list(names))
    first, second = names.values()
    right.set(title="do perturbations order models alike?", xlabel=f"Spearman; below: {first}, above: {second}")
    left, right = below.subplots(1, 2, sharey=True)
    shown = vanilla.assign(series=vanilla["dataset"].map(names))
    options: dict[str, Any] = {"label": "perturbation", "value": "correlation", "series": "series", "decided": True}
    told = {"title": "share lost and vanilla score", "xlabel": "correlation over models"}
    forest(left, shown, perturbations, (-1, 1), **options, **told)
    options = {"label": "perturbation", "value": "difference", "scale": 100, "decided": True}
    told = {"title": f"{second} - {first}", "xlabel": "share lost, paired by model (points)"}
    forest(right, datasets, perturbations, (-20, 30), **options, **told)
    for ax in (left, right):
        ax.axvline(0, color="#999999", linewidth=0.6)
    note = (
        "REN names, RTF conditions, GBC unused code, PSC-ALL structural (all three), MCC misleading comments, "
        "MPS misleading prints,\nMHC misleading hint. Filled, or bold: decided (Holm). Hollow: not."
    )
    figure.text(0.005, -0.005, note, fontsize=6.5, va="top", color="#555555")
    return figure


def _matrix(ax: Axes, alike: pd.DataFrame, names: list[str], datasets: list[str]) -> None:
    """Correlations of the first data set below the diagonal, of the second above."""
    cells = np.full((len(names), len(names)), np.nan)
    for row in alike.itertuples():
        ends = sorted((names.index(str(row.first)), names.index(str(row.second))))
        x, y = ends if row.dataset == datasets[0] else reversed(ends)
        cells[y, x] = row.correlation
        weight = "bold" if row.decided else "normal"
        colour = "white" if abs(row.correlation) > 0.6 else "black"
        ax.text(x, y, f"{row.correlation:.2f}", ha="center", va="center", color=colour, fontsize=6.5, fontweight=weight)
    ax.imshow(cells, cmap="PuOr", vmin=-1, vmax=1, aspect="auto")
    ax.set_xticks(range(len(names)), names, rotation=60)
    ax.set_yticks(range(len(names)), names)
    ax.grid(False)
