"""Live figures: shares of stored answers over any factor, and a decay that is fitted while its data are moved."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.figure import Figure

from codestress.explore.answers import built
from codestress.explore.controls import (
    LABELS,
    chosen_values,
    dropdown,
    on_change,
    paragraph,
    parameter_controls,
    told,
    with_values,
)
from codestress.explore.points import DraggablePoints
from codestress.fitting.exponential import ExponentialFit, fit_exponential
from codestress.fitting.proportions import wilson
from codestress.paths import STORE
from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.plan import make_plan
from codestress.report.publish import SIMULATED_NOTE
from codestress.report.style import COLOURS, MARKERS, use_style
from codestress.scoring.frames import answers_frame

NOT_FACTORS = ("simulated", "finish_reason", "seconds", "attempts", "key", "earlier")
NOT_FACTORS_PREFIXES = ("outcome_", "value_", "detail_", "unresolved_", "prompt_tokens", "completion_tokens")


def factors_in(frame: pd.DataFrame) -> list[str]:
    """Columns that tell answers apart: model, problem, and factors with more than one value."""
    columns = [c for c in frame.columns if c not in NOT_FACTORS and not c.startswith(NOT_FACTORS_PREFIXES)]
    return [c for c in columns if frame[c].nunique(dropna=False) > 1]


def share_figure(frame: pd.DataFrame, x: str, line: str, rule: str) -> Figure:
    """Shares of right answers against one factor, a line for each value of another, with Wilson's 95 % intervals."""
    use_style()
    figure, axes = pyplot.subplots(figsize=(6, 3.4))
    values = sorted(frame[x].unique(), key=lambda v: (isinstance(v, str), v))
    places = {value: n for n, value in enumerate(values)}
    for number, (name, rows) in enumerate(frame.groupby(line, sort=True)):
        right = rows.groupby(x)[f"value_{rule}"].agg(["sum", "count"])
        at = np.array([places[value] for value in right.index]) + 0.06 * (number % 5 - 2)
        shares = right["sum"] / right["count"]
        ends = np.array([wilson(round(total), count) for total, count in right.itertuples(index=False)])
        spread = np.abs(np.vstack([shares - ends[:, 0], ends[:, 1] - shares]))
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        axes.errorbar(
            at, 100 * shares, 100 * spread, color=colour, marker=marker, label=str(name), capsize=2, linewidth=1
        )
    axes.set_xticks(range(len(values)), [str(value) for value in values], rotation=45 if len(values) > 8 else 0)
    axes.set(xlabel=x, ylabel="right answers (%)", ylim=(0, 100), xlim=(-0.5, len(values) - 0.5))
    axes.legend(title=line, fontsize=7)
    if frame["simulated"].any():
        figure.text(0.995, -0.02, SIMULATED_NOTE, ha="right", va="top", fontsize=6.5, color="#555555")
    return figure


def png(figure: Figure) -> bytes:
    """The picture, and the figure closed."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, bbox_inches="tight")
    pyplot.close(figure)
    return content.getvalue()


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
    """A figure from stored answers over any two factors, and what other parameters would cost."""
    found, results = built(artefact, profile)
    frame = answers_frame(results)
    rule = "strict" if "value_strict" in frame else next(c for c in frame if c.startswith("value_"))[6:]
    names = factors_in(frame)
    x = dropdown("along", names, value=next((n for n in names if n not in ("model", "problem")), names[0]))
    line = dropdown("a line for each", names, value="model" if "model" in names else names[-1])
    picture, cost = widgets.Image(format="png"), widgets.HTML()
    controls = parameter_controls(found)

    def draw() -> None:
        picture.value = png(share_figure(frame, x.value, line.value, rule))
        picture.alt = f"right answers along {x.value}, a line for each {line.value}"

    def price() -> None:
        cost.value = told(lambda: paragraph(cost_of(with_values(found, chosen_values(controls)))))

    on_change([x, line], draw)
    on_change(list(controls.values()), price)
    draw()
    price()
    knobs = widgets.Accordion(
        children=[widgets.VBox([*controls.values(), cost])], titles=("other parameters: their cost",)
    )
    return widgets.VBox([x, line, picture, knobs])


def fit_figure(
    x: Sequence[float], shares: Sequence[float], asked: int, *, floor: bool
) -> tuple[Figure, ExponentialFit]:
    """Points, the fitted decay with its 95 % band, and the residuals below."""
    use_style()
    places, values = np.asarray(x, dtype=float), np.asarray(shares, dtype=float)
    # A problem each: so many of them right at each place, so that the band is that of real counts.
    right = np.array([[float(n < round(share * asked)) for share in values] for n in range(asked)])
    fit = fit_exponential(places, right, np.ones_like(right), floor=floor, resamples=200, rng=np.random.default_rng(0))
    figure, (top, bottom) = pyplot.subplots(
        2, 1, figsize=(6, 4.2), sharex=True, gridspec_kw={"height_ratios": [3, 1]}, layout="constrained"
    )
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


def fit_explorer(x: Sequence[float] = (0, 1, 2, 4, 6, 8, 12), asked: int = 60) -> widgets.Widget:
    """Drag the points of a decay and see curve, band and residuals follow."""
    start = [round(0.1 + 0.85 * float(np.exp(-0.25 * place)), 2) for place in x]
    points = DraggablePoints(x=list(x), y=start)
    floor = widgets.Checkbox(value=False, description="with a floor")
    number = widgets.IntSlider(value=asked, min=10, max=400, step=10, description="answers", style=LABELS)
    picture, said = widgets.Image(format="png"), widgets.HTML()

    def draw() -> None:
        figure, fit = fit_figure(x, points.y, number.value, floor=floor.value)
        picture.value = png(figure)
        picture.alt = described(fit)
        said.value = paragraph(described(fit))

    on_change([floor, number], draw)
    points.observe(lambda _: draw(), names="y")
    draw()
    return widgets.VBox([points, floor, number, picture, said])


def described(fit: ExponentialFit) -> str:
    """The fit in words, with intervals."""

    def interval(value: Any) -> str:
        return f"[{value.low:.2f}, {value.high:.2f}]"

    return (
        f"height {fit.height:.2f} {interval(fit.height_interval)}, rate {fit.rate:.3f} {interval(fit.rate_interval)}, "
        f"half-life {fit.half_life:.1f} {interval(fit.half_life_interval)}, floor {fit.floor:.2f}, "
        f"R² {fit.r_squared:.2f}"
    )
