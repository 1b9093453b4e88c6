"""Sense and Sensitivity's charts of programs with lines removed (Figures 5 and 6,
Equation 5)."""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.fitting.proportions import DOUBTED
from codestress.report.curves import draw_curves, forest, legend_above, panels
from codestress.report.marks import mark, with_cells
from codestress.report.style import PUBLISHED, look_at


def removal_curve(
    points: pd.DataFrame,
    curves: pd.DataFrame,
    published: tuple[float, float] | None,
    *,
    confidence: float,
) -> Figure:
    """Draw accuracy against the share of lines removed (Figures 5 and 6), with a panel for each model and a curve for
    each task, and return the figure. A single curve is as wide as a column.

    `points` has the columns model, task, share_removed, n, accuracy, low, high. `curves` has the columns model, task,
    share_removed, accuracy, low, high, lack_of_fit (p-value). Shares are from 0 to 1. Areas of points grow with `n`,
    the number of versions; bands are intervals at `confidence`. A curve that does not describe its points is dotted,
    without a band. `published` holds the lines removed and the accuracy, in %, of the one point that the paper
    states, or is None.
    """
    models = list(points["model"].unique())
    tasks = list(points["task"].unique())
    width = 3.3 if len(models) == len(tasks) == 1 else 7.0
    height = 0.9 + min(2.0 * math.ceil(len(models) / 3), 7.0)
    figure, axes = panels(models, 3, height, width, sharex=True, sharey=True)
    first = axes[0]
    fitted = curves.groupby(["model", "task"])
    for (model, task), part in points.groupby(["model", "task"], sort=False):
        ax = axes[models.index(model)]
        colour, marker = look_at(int(task == "output_prediction"))
        _draw_task(ax, part, fitted.get_group((model, task)), colour, marker)
        first.scatter([], [], color=colour, marker=marker, label=task.replace("_", " "))
    if published:
        words = "published: one line removed"
        first.plot(*published, "D", label=words, color=PUBLISHED, mfc="none", zorder=4)
        mark(first, pd.DataFrame(index=["published"]), *published, published=True)
    first.set_yticks(range(0, 101, 25))
    first.axis((-2, 102, -3, 103))
    figure.supxlabel("lines removed (%)", fontsize=8)
    figure.supylabel("right answers (%)", fontsize=8)
    title = f"area: versions; band: {confidence:.0%} interval; dotted: rejected fit"
    legend_above(figure, title=title, title_fontsize=7)
    return figure


def _draw_task(
    ax: Axes, part: pd.DataFrame, curve: pd.DataFrame, colour: str, marker: str
) -> None:
    """Draw a task's points `part` into the panel `ax`, and the `curve` that was fitted
    to them, with its band. A curve that does not describe its points is dotted, without
    a band."""
    removed = 100 * part["share_removed"]
    accuracy = 100 * part["accuracy"]
    areas = 3 + 60 * part["n"] / part["n"].max()
    ax.scatter(removed, accuracy, areas, colour, marker=marker, alpha=0.75, zorder=3)
    mark(ax, part, removed, accuracy)
    x = 100 * curve["share_removed"]
    style = ":"
    if not (curve["lack_of_fit"] < DOUBTED).any():
        style = "-"
        low = 100 * curve["low"]
        high = 100 * curve["high"]
        ax.fill_between(x, low, high, color=colour, alpha=0.22, linewidth=0)
    ax.plot(x, 100 * curve["accuracy"], color=colour, ls=style)


def sensitivity_chart(points: pd.DataFrame, sensitivity: pd.DataFrame) -> Figure:
    """Draw accuracy against the share of lines removed, with a panel for each task, and
    return the figure. A last panel shows the sensitivity (Equation 5: the share of
    accuracy that is lost when lines are removed).

    `points` has the columns model, task, share_removed, accuracy, low, high;
    `sensitivity` has model, task, sensitivity, low, high; all shares are from 0 to 1.
    """
    tasks = points["task"].unique()
    models = points["model"].unique()
    height = max(3.0, 1.2 + 0.14 * len(tasks) * len(models))
    titles = [task.replace("_", " ") for task in tasks]
    titles.append("sensitivity (Equation 5)")
    figure, (*axes, last) = panels(titles, len(titles), height)
    for ax, task in zip(axes, tasks, strict=True):
        part = points[points["task"] == task]
        draw_curves(ax, part, models, "share_removed", value="accuracy", scale=100)
        ax.axis((-4, 104, -4, 104))
        ax.set_xlabel("lines removed (%)")
    axes[0].set_ylabel("correct (%)")
    rows = with_cells(sensitivity, ["model", "task"])
    rows["label"] = rows["task"].str.replace("_", "\n")
    names = [task.replace("_", "\n") for task in tasks]
    last.set_xlabel("accuracy lost (%)")
    forest(last, rows, names, (-4, 104), value="sensitivity", scale=100, series="model")
    legend_above(figure)
    return figure
