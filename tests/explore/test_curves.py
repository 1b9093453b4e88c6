"""Figures of explorers: binned numbers, unordered names, fits that follow dragged points."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from codestress.explore import curves
from codestress.explore.curves import RANGES, share_figure
from codestress.inference.results import Results
from codestress.inference.run import run
from codestress.pipeline.artefacts import Artefact
from codestress.report.style import looks
from told import names


def answers_with(**factors: list[object]) -> pd.DataFrame:
    table = pd.DataFrame(factors)
    right = [float(number % 3 > 0) for number in range(len(table))]
    return table.assign(value_strict=right, simulated=False)


def test_points_without_a_decay_have_no_curve() -> None:
    explorer = curves.fit_explorer()
    points = explorer.children[1].children[0]
    text = explorer.children[0].children[2]
    assert len(points.fitted) == len(points.y)
    points.y = [0.0] * len(points.y)
    assert (points.curve, points.fitted) == ([], [])
    assert "nan" not in text.value


def test_many_numbers_are_binned_on_an_axis() -> None:
    sizes = list(range(16, 953, 8))
    models = ["sim-wide", "sim-near"]
    table = answers_with(lines=2 * sizes, model=[*np.repeat(models, len(sizes))])
    [axes] = share_figure(table, "lines", "model").axes
    colours = {name: look.colour for name, look in looks(models).items()}
    for bars in axes.containers:
        line = bars.lines[0]
        assert line.get_linestyle() == "-"
        assert line.get_color() == colours[bars.get_label()]
        assert len(line.get_xdata()) == RANGES
        assert min(sizes) < min(line.get_xdata()) < max(line.get_xdata()) < max(sizes)
    names(axes.get_xlabel(), len(sizes), RANGES)
    [axes] = share_figure(table, "model", "lines").axes
    names(axes.containers[0].get_label(), 16, 168)


@pytest.mark.parametrize("count", [3, 300])
def test_values_without_an_order_are_never_joined(count: int) -> None:
    models = [f"name {number}" for number in range(count)]
    table = answers_with(model=2 * models, kind=count * ["a"] + count * [None])
    for line in ("", "kind", "model"):
        [axes] = share_figure(table, "model", line).axes
        places = set()
        for points in axes.lines:
            assert len(points.get_xdata()) == 1 or points.get_linestyle() == "None"
            places |= {round(x) for x in points.get_xdata()}
        assert places == set(range(count))


@pytest.mark.slow
def test_a_figure_is_drawn_from_an_artefact_s_answers_along_any_factor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers_of(artefact: Artefact) -> Results:
        store = tmp_path / "s.sqlite"
        return run(artefact.trials(), artefact.model_names, store=store)

    monkeypatch.setattr(curves, "answers_of", answers_of)
    explorer = curves.live_figure("codecrash/tab01", "smoke")
    chooser, axes = explorer.children[0].children[:2]
    pane = explorer.children[1].children[0]
    for name in ("codecrash/tab01", "origin/fig04"):
        chooser.value = name
        assert "data:image/svg+xml" in pane.value
        along, line = axes.children
        for factor in along.options:
            along.value = factor
            names(pane.value.partition("src=")[0], factor)  # the alternative text
        before = pane.value
        line.value = ""
        assert pane.value != before
