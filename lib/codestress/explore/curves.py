"""Live figures: shares of stored answers over any factor, and a decay that is fitted while its data are moved."""

from __future__ import annotations

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
from matplotlib import pyplot
from matplotlib.figure import Figure

from codestress.explore.controls import (
    artefact_chooser,
    chosen_values,
    control,
    dropdown,
    follow,
    on_change,
    paragraph,
    parameter_controls,
    showing,
    side_by_side,
    with_values,
)
from codestress.explore.questions import built
from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.summaries import with_accuracy
from codestress.inference.run import Results
from codestress.paths import STORE
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.plan import make_plan
from codestress.report.curves import draw_points
from codestress.report.publish import SIMULATED_NOTE
from codestress.report.style import COLOURS, styled_figure, use_style
from codestress.scoring.frames import answers_frame

MOST_PLACES, MOST_LINES = 40, len(COLOURS)
"""Values of a factor that an axis has room for, and colours there are."""


def factors_in(results: Results, frame: pd.DataFrame, most: int) -> list[str]:
    """Columns that tell answers apart and have at most so many values: numbers first, the finest of them."""
    columns = {"model", "problem", "sample"}.union(*(answer.trial.factors for answer in results.answers))
    found = [c for c in frame.columns if c in columns and 1 < frame[c].nunique(dropna=False) <= most]
    number = pd.api.types.is_numeric_dtype
    return sorted(found, key=lambda c: (not number(frame[c]), c in ("model", "problem"), -frame[c].nunique()))


def share_figure(frame: pd.DataFrame, x: str, line: str, rule: str) -> Figure:
    """Shares of right answers against one factor, a line for each value of another, with Wilson's 95 % intervals."""
    figure = styled_figure(4.8, 3.4)
    axes = figure.subplots()
    values = sorted(frame[x].unique(), key=lambda v: (isinstance(v, str), v))
    places = frame[x].map({value: n for n, value in enumerate(values)}).rename("place")
    label = (frame[line] if line else pd.Series("all answers", frame.index)).rename("label")
    right = frame[f"value_{rule}"].groupby([label, places]).agg(["sum", "count"]).round().reset_index()
    shares = with_accuracy(right, "sum", "count").assign(published=False)
    middle = (shares["label"].nunique() - 1) / 2
    draw_points(axes, shares, lambda number, part: part["place"] + 0.06 * (number - middle), line="-", width=1)
    names = list(map(str, values))
    long = len(names) > 8 or max(map(len, names)) > 8
    axes.set_xticks(range(len(names)), names, rotation=45 if long else 0, ha="right" if long else "center")
    axes.set(xlabel=x, ylabel="right answers (%)", ylim=(-3, 103), xlim=(-0.5, len(values) - 0.5))
    if line:
        figure.legend(title=line, loc="outside upper center", ncols=3)
    if frame["simulated"].any():
        figure.supxlabel(SIMULATED_NOTE, fontsize=6.5, color="#555555", x=0.99, ha="right")
    return figure


def picture(figure: Figure, alt: str) -> str:
    """A figure as a vector picture of a page."""
    content = io.BytesIO()
    figure.savefig(content, format="svg")
    data = base64.b64encode(content.getvalue()).decode()
    return f"<img alt='{escape(alt)}' style='width: 100%; max-width: 44rem' src='data:image/svg+xml;base64,{data}'>"


def cost_of(artefact: Artefact) -> str:
    """What a build with these parameters would still have to ask."""
    rows, errors = make_plan([artefact], STORE)
    if errors:
        return "; ".join(errors.values())
    missing = sum(row.missing for row in rows)
    dollars = [row.dollars_high for row in rows if row.dollars_high is not None]
    price = f", at most ${sum(dollars):.2f}" if dollars else ""
    characters = sum(row.characters for row in rows)
    answered = sum(row.answered for row in rows)
    return f"{missing:,} new requests, {characters:,} characters{price}; {answered:,} are answered"


def live_figure(artefact: str = "semtrace/fig01", profile: str = "demo") -> widgets.Widget:
    """Any figure's stored answers over any two factors, and what other parameters would cost."""
    chooser = artefact_chooser(artefact, asking=True)
    axes, knobs, shown, cost = widgets.VBox(), widgets.VBox(), widgets.HTML(), widgets.HTML()

    def listed() -> str:
        cost.value = ""
        found, results = built(chooser.value, profile)
        frame = answers_frame(results)
        across, lines = (factors_in(results, frame, most) for most in (MOST_PLACES, MOST_LINES))
        if not across:
            return paragraph("Nothing tells its answers apart.")
        x = dropdown("along", across)
        line = dropdown("a line for each", [("nothing", ""), *((name, name) for name in lines)])
        line.value = next((name for name in ("model", *lines) if name in lines and name != x.value), "")

        def drawn() -> str:
            alt = f"right answers along {x.value}, a line for each {line.value or 'answer'}"
            return picture(share_figure(frame, x.value, line.value, "strict"), alt)

        def price() -> str:
            return paragraph(cost_of(with_values(found, chosen_values(controls))))

        controls = parameter_controls(found)
        axes.children, knobs.children = (x, line), tuple(controls.values())
        on_change([x, line], showing(shown, drawn))
        on_change(list(controls.values()), showing(cost, price))
        showing(cost, price)()
        return drawn()

    follow(chooser, [axes, knobs], shown, listed)
    other = widgets.Accordion(children=[knobs], titles=("other parameters",))
    return side_by_side([chooser, axes, other, cost], [shown])


def fit_of(x: Sequence[float], shares: Sequence[float], asked: int, *, floor: bool) -> ExponentialFit:
    """The decay through such shares of so many answers at each place."""
    # A problem each: so many of them right at each place, so that the band is that of real counts.
    right = 1.0 * (np.arange(asked)[:, None] < np.round(np.asarray(shares) * asked))
    places, rng = np.asarray(x, dtype=float), np.random.default_rng(0)
    return fit_exponential(places, right, np.ones_like(right), floor=floor, resamples=200, rng=rng)


def fit_figure(
    x: Sequence[float], shares: Sequence[float], asked: int, *, floor: bool
) -> tuple[Figure, ExponentialFit]:
    """Points, the fitted decay with its 95 % band, and the residuals below."""
    use_style()
    fit = fit_of(x, shares, asked, floor=floor)
    places, values = np.asarray(x, dtype=float), np.asarray(shares, dtype=float)
    figure, (top, bottom) = pyplot.subplots(2, 1, figsize=(6, 4.2), sharex=True, height_ratios=[3, 1])
    grid = np.linspace(0, places.max(), 100)
    low, high = fit.band(grid, 0.95)
    top.fill_between(grid, 100 * low, 100 * high, color=COLOURS[0], alpha=0.2, label="95 % band")
    top.plot(grid, 100 * fit.at(grid), color=COLOURS[0], label="fitted decay")
    top.plot(places, 100 * values, "o", color=COLOURS[1], label="data")
    top.set(ylabel="right (%)", ylim=(0, 105))
    top.legend(fontsize=7)
    bottom.axhline(0, color="#555555", linewidth=0.8)
    bottom.stem(places, 100 * (values - fit.at(places)), basefmt=" ", linefmt=COLOURS[1])
    bottom.set(xlabel="x", ylabel="residual (points)")
    return figure, fit


class DraggablePoints(anywidget.AnyWidget):
    """Shares `y` (0 to 1) at places `x` (not negative), and what was fitted; mouse and arrow keys change `y`."""

    _esm = Path(__file__).with_name("points.js")
    x = traitlets.List(traitlets.Float()).tag(sync=True)
    y = traitlets.List(traitlets.Float()).tag(sync=True)
    curve: traitlets.List[list[float]] = traitlets.List().tag(sync=True)
    """Rows of place, fitted share, lower and upper end of its band."""
    fitted = traitlets.List(traitlets.Float()).tag(sync=True)
    """The fitted shares at `x`; what is missing to `y` is drawn below."""


def fit_explorer(x: Sequence[float] = (0, 1, 2, 4, 6, 8, 12), asked: int = 60) -> widgets.Widget:
    """Drag the points of a decay and see curve, band and residuals follow, in the same chart."""
    points = DraggablePoints(x=list(x), y=[round(0.1 + 0.85 * float(np.exp(-0.25 * place)), 2) for place in x])
    floor = widgets.Checkbox(value=False, description="with a floor", indent=False)
    number = control(widgets.IntSlider, "answers", value=asked, min=10, max=400, step=10)
    said = widgets.HTML()
    grid = np.linspace(0, max(x), 100)

    def draw() -> None:
        fit = fit_of(x, points.y, number.value, floor=floor.value)
        low, high = fit.band(grid, 0.95)
        points.curve = np.column_stack([grid, fit.at(grid), low, high]).tolist()
        points.fitted = fit.at(np.asarray(x, dtype=float)).tolist()
        said.value = paragraph(described(fit))

    on_change([floor, number], draw)
    points.observe(lambda _: draw(), names="y")
    draw()
    return side_by_side([number, floor, said], [points])


def described(fit: ExponentialFit) -> str:
    """The fit in words, with intervals."""
    height, rate, half = (
        f"[{one.low:.2f}, {one.high:.2f}]" for one in (fit.height_interval, fit.rate_interval, fit.half_life_interval)
    )
    return (
        f"height {fit.height:.2f} {height}\nrate {fit.rate:.3f} {rate}\nhalf-life {fit.half_life:.1f} {half}\n"
        f"floor {fit.floor:.2f}, R² {fit.r_squared:.2f}"
    )
