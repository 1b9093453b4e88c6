"""The looks of models: one in every figure, and never the same for two models of a figure."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from codestress.inference.registry import REGISTRY
from codestress.report.curves import draw_curves, legend_above, panels
from codestress.report.style import PUBLISHED, WIDTHS, looks
from codestress.validation import read_yaml


def test_a_model_has_one_look_in_every_figure() -> None:
    names = list(read_yaml(REGISTRY))
    alone = {name: looks([name])[name] for name in names}
    assert len(set(alone.values())) == len(names)
    assert looks(names) == alone
    assert looks(reversed(names)) == alone
    assert PUBLISHED not in {look.colour for look in alone.values()}


def test_what_is_no_registered_model_looks_like_none() -> None:
    registered = set(looks(read_yaml(REGISTRY)).values())
    others = ["perfect localizer", "simulated", "mine", "GPT4-turbo (published)"]
    assert registered.isdisjoint(looks(others).values())
    both = looks(["sim-wide", *others, "sim-thinking", "python"])
    assert both["perfect localizer"] == looks(others)["perfect localizer"]
    shared = [name for name in both if both[name].colour == both[others[0]].colour]
    assert shared == ["perfect localizer"]


@given(st.lists(st.text(min_size=1), unique=True, max_size=60))
def test_models_of_a_server_have_looks_that_differ_in_a_figure(
    names: list[str],
) -> None:
    found = looks(names)
    assert list(found) == names
    assert len(set(found.values())) == len(names)


@pytest.mark.parametrize("width", WIDTHS.values())
def test_a_legend_is_no_wider_than_its_figure(width: float) -> None:
    for names in (list(read_yaml(REGISTRY))[-14:], ["a", "b" * 40, "c"], []):
        figure, [ax] = panels([""], 1, 4, width)
        for name in names:
            ax.plot([0], [0], "o", label=name)
        legend_above(figure)
        figure.draw_without_rendering()
        [legend] = figure.legends
        assert legend.get_window_extent().width <= width * figure.dpi


def test_curves_beside_each_other_hide_no_interval() -> None:
    row = {"low": 0.4, "high": 0.6, "y": 0.5}
    points = [{"model": name, "x": x, **row} for name in "ab" for x in (0, 0.1, 0.2)]
    _, [ax] = panels([""], 1, 4, 7.0)
    draw_curves(ax, pd.DataFrame(points), "ab", "x", value="y", scale=100)
    first, second = (bars.lines[0].get_xdata() for bars in ax.containers)
    assert second - first == pytest.approx([2, 2, 2])
    assert (first + second) / 2 == pytest.approx([0, 10, 20])


def test_a_name_with_dollars_is_drawn_as_it_is() -> None:
    figure, [ax] = panels([r"$\frac{$"], 1, 4, 7.0)
    ax.plot([0], [0], "o", label="a$b$")
    legend_above(figure)
    figure.draw_without_rendering()
    assert [text.get_parse_math() for text in figure.legends[0].get_texts()] == [False]
