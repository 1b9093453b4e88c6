"""Live figures: accuracies of stored responses over any factor of the trials, and a
fitted decay whose data a person can move."""

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

import anywidget
import ipywidgets as widgets
import numpy as np
import pandas as pd
import traitlets
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.summaries import with_accuracy
from codestress.pipeline.explain import answers_of
from codestress.report.caption import SIMULATED_NOTE, description
from codestress.report.curves import draw_points
from codestress.report.style import styled_figure

from .controls import (
    FACTORS,
    artefact_chooser,
    control,
    dropdown,
    explorer,
    on_change,
    opened,
    paragraph,
    showing,
    side_by_side,
)

RANGES = 12
"""Number of ranges into which a numeric factor with more values is divided."""
NAMED = 24
"""Largest number of places or series that are drawn with names and intervals."""


def factors_in(answers: pd.DataFrame) -> list[str]:
    """Return the columns of the table `answers` that tell answers apart (model, problem, sample or
    a factor): numbers first, model and problem last."""
    known = answers.filter(regex=FACTORS)
    names = known.columns[known.nunique() > 1]
    last = ("model", "problem")
    return sorted(names, key=lambda name: (name in last, not is_number(known[name])))


def is_number(values: pd.Series) -> bool:
    """Return whether all `values` are numbers, with none missing, so that they can have
    an axis."""
    return values.dtype.kind in "iuf" and bool(values.notna().all())


def grouped(values: pd.Series, most: int) -> pd.Series:
    """Return the group of each of `values`: the value itself, or `none` if it is
    missing.

    More than `most` different numbers are grouped into `most` ranges of equal width. A
    range is named after the smallest and the largest value in it; ranges are in
    ascending order.
    """
    if not is_number(values):
        return values.astype(object).where(values.notna(), "none")
    if values.nunique() <= most:
        return values.astype("category")
    ranges = pd.cut(values, most).cat.remove_unused_categories()
    ends = values.groupby(ranges, observed=True).agg(["min", "max"])
    names = [f"{low:g} to {high:g}" for low, high in ends.to_numpy()]
    return ranges.cat.rename_categories(names)


def share_figure(frame: pd.DataFrame, x: str, line: str) -> Figure:
    """Return a figure of accuracy (%, by the strict rule, with Wilson's 95 % intervals) in the
    answers `frame` against the column `x`, a series for each value of `line` (empty: one series).

    Numbers have an axis and are joined by lines; more than `RANGES` of them are cut into as many
    ranges, each at the mean of its values. Other values are drawn as points, the one with the highest
    accuracy first. More than `NAMED` series or places are grey, without names and intervals.
    """
    right = frame["value_strict"]
    number = is_number(frame[x])
    groups = grouped(frame[x], RANGES)
    if number:
        places = frame[x].groupby(groups, observed=True).transform("mean")
    else:
        names = right.groupby(groups).mean().sort_values(ascending=False).index
        places = groups.map(names.get_loc)
    label = grouped(frame[line], 6) if line else pd.Series("all answers", frame.index)
    by = [label.rename("label"), places.rename("place")]
    cells = right.groupby(by, observed=True).agg(["sum", "count"]).round()
    shares = with_accuracy(cells.reset_index(), "sum", "count").assign(published=False)
    figure = styled_figure(4.8, 3.6)
    axes = figure.subplots()
    plain = _draw_series(axes, shares, joined=number)
    axes.set(xlabel=x, ylabel="right answers (%)", ylim=(-3, 103))
    if number:
        if (frame[x] % 1 == 0).all():
            axes.locator_params("x", integer=True, min_n_ticks=1)
        if (values := frame[x].nunique()) > RANGES:
            axes.set_xlabel(f"{x} ({values} values in {RANGES} ranges)")
    else:
        axes.set_xlabel(f"{x}, the most often right first")
        named = names if len(names) <= NAMED else []
        axes.set_xticks(range(len(named)), map(str, named), rotation=45, ha="right")
    if line and plain:
        axes.set_title(f"grey: each of {label.nunique()} values of {line}")
    elif line:
        figure.legend(title=line, loc="outside upper center", ncols=2)
    if frame["simulated"].any():
        figure.supxlabel(SIMULATED_NOTE, fontsize=6.5)
    return figure


def _draw_series(axes: Axes, shares: pd.DataFrame, *, joined: bool) -> bool:
    """Draw the series of `shares`, with lines if `joined`, and return whether they are
    too many for colours."""
    line = "-" if joined else ""
    series = shares["label"].nunique()
    if max(series, shares["place"].nunique()) > NAMED:
        for _, part in shares.groupby("label", observed=True):
            heights = 100 * part["accuracy"]
            axes.plot(part["place"], heights, f".{line}", color="#777777", alpha=0.4)
        return True
    step = 0.006 * np.ptp(shares["place"]) if joined else min(0.06, 0.6 / series)
    draw_points(axes, shares, "place", apart=step, line=line)
    return False


def picture(figure: Figure, alt: str) -> str:
    """Return an HTML image element that shows `figure` as SVG; `alt` is its description
    in words."""
    content = io.BytesIO()
    figure.savefig(content, format="svg")
    data = base64.b64encode(content.getvalue()).decode()
    return f"<img alt='{escape(alt)}' style='width: 100%; max-width: 44rem' src='data:image/svg+xml;base64,{data}'>"


def live_figure(artefact: str, profile: str) -> widgets.Widget:
    """Return a widget that draws the stored accuracies of a selected artefact over one
    or two selected factors.

    The widget begins with `artefact`, with the settings of `profile`.
    """
    chooser = artefact_chooser(artefact)
    axes = widgets.VBox()
    pane = widgets.HTML()

    def listed() -> str:
        frame = answers_of(opened(chooser.value, profile)).answers
        factors = factors_in(frame)
        if not factors:
            return paragraph("All its answers have the same factors.")
        x = dropdown("along", factors)
        line = dropdown(
            "a series for each", [("nothing", ""), *zip(factors, factors, strict=True)]
        )
        line.value = "model" if "model" in factors[1:] else ""

        def drawn() -> str:
            readers = [SIMULATED_NOTE] if frame["simulated"].any() else []
            topic = f"right answers along {x.value}"
            topic += f", a series for each {line.value}" if line.value else ""
            alt = description([*readers, topic])
            return picture(share_figure(frame, x.value, line.value), alt)

        axes.children = (x, line)
        on_change([x, line], showing(pane, drawn))
        return drawn()

    return explorer(chooser, axes, pane, listed)


def fit_of(
    x: Sequence[float], shares: Sequence[float], asked: int, *, floor: bool
) -> ExponentialFit:
    """Return the exponential decay fitted to `shares` (0 to 1) at the values `x`, as if
    each share came from `asked` answers. With `floor`, the floor is fitted too, else it
    is 0."""
    # A row for each problem: at each place, the share of them is right. The band is that of counts.
    right = 1.0 * (np.arange(asked)[:, None] < np.round(np.asarray(shares) * asked))
    rng = np.random.default_rng(0)
    return fit_exponential(
        x, right, np.ones_like(right), floor=floor, resamples=200, rng=rng
    )


class DraggablePoints(anywidget.AnyWidget):
    """Widget with points of shares `y` (0 to 1) at `x` (not negative) and the fitted
    curve. Mouse and arrow keys change `y`."""

    _esm = Path(__file__).with_name("points.js")
    x = traitlets.List(traitlets.Float()).tag(sync=True)
    y = traitlets.List(traitlets.Float()).tag(sync=True)
    curve: traitlets.List[list[float]] = traitlets.List().tag(sync=True)
    """Rows of x, fitted share, and lower and upper edge of the band."""
    fitted = traitlets.List(traitlets.Float()).tag(sync=True)
    """Fitted shares at `x`; their residuals to `y` are drawn below the points."""


def fit_explorer() -> widgets.Widget:
    """Return a widget with draggable points of a decay, whose fitted curve, band and
    residuals follow in the same chart.

    A slider changes the number of answers that each point stands for.
    """
    x = [0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0]
    points = DraggablePoints(
        x=x,
        y=[round(0.1 + 0.85 * float(np.exp(-0.25 * place)), 2) for place in x],
    )
    floor = widgets.Checkbox(description="with a floor", indent=False)
    number = control(widgets.IntSlider, "answers", value=60, min=10, max=400, step=10)
    text = widgets.HTML()
    grid = np.linspace(0, max(x), 100)

    def draw() -> None:
        fit = fit_of(x, points.y, number.value, floor=floor.value)
        if fit.items:
            curve = np.column_stack([grid, fit.at(grid), *fit.band(grid)])
            points.curve = curve.tolist()
            points.fitted = fit.at(x).tolist()
        else:
            points.curve = []
            points.fitted = []
        text.value = paragraph(described(fit))

    on_change([floor, number], draw)
    points.observe(lambda _: draw(), names="y")
    draw()
    return side_by_side([number, floor, text], [points])


def described(fit: ExponentialFit) -> str:
    """Return the parameters of `fit` in words: height, rate and half-life with
    intervals, floor and R²."""
    if not fit.items:
        return "No decay fits."
    lines = []
    for name in ("height", "rate", "half_life"):
        ends = fit.interval(name)
        value = f"{getattr(fit, name):.2f} [{ends.low:.2f}, {ends.high:.2f}]"
        lines.append(f"{name.replace('_', '-')} {value}")
    return "\n".join([*lines, f"floor {fit.floor:.2f}, R² {fit.r_squared:.2f}"])
