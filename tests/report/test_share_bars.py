"""Bars of shares: what is published of the same rows stands among them, and no number stands on a bar."""

from __future__ import annotations

import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from codestress.papers.faultloc.charts import strength_curves
from codestress.papers.faultloc.results.program_tables import applied_cells
from codestress.report.curves import MEAN
from codestress.report.share_bars import share_bars
from codestress.report.style import PUBLISHED


def rows(labels: list[str], condition: str, shares: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"label": labels, "condition": condition, "accuracy": shares, "low": shares, "high": shares})


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for ax in figure.axes for text in ax.texts]


def test_published_bars_of_the_same_rows_stand_in_the_same_axes_and_order() -> None:
    own = {"Python": rows(["b", "a"], "reader", [1.0, 0.4]), "Java": rows(["a", "b"], "reader", [0.2, 0.3])}
    theirs = {f"published (Table II), {name}, mean": rows(["a", "b"], "published", [0.5, 0.6]) for name in own}
    figure = share_bars(own | theirs | {"published, of others": rows(["c"], "published", [0.7])}, xlabel="right (%)")
    assert [ax.get_title("left") for ax in figure.axes] == ["Python", "Java", "published, of others"]
    for ax in figure.axes[:2]:
        assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
        reader, published = ax.containers[0], ax.containers[2]
        assert {to_hex(bar.get_facecolor()).upper() for bar in published} == {PUBLISHED}
        assert [bar.get_width() for bar in published] == [50, 60]
        assert to_hex(reader[0].get_facecolor()).upper() != PUBLISHED
    figure.draw_without_rendering()
    for ax in figure.axes:
        ends = {round(bar.get_y() + bar.get_height() / 2, 3): bar.get_width() for bar in ax.patches}
        for text in ax.texts:
            x, y = text.xy
            assert x >= ends[round(y, 3)]
    assert {"100.0", "40.0", "50.0", "60.0", "70.0"} <= set(texts(figure))


def test_a_long_legend_stands_between_title_and_panel() -> None:
    names = [f"a condition with a long name, {n}" for n in range(3)]
    figure = share_bars({"regenerated": pd.concat([rows(["a"], name, [0.5]) for name in names])}, xlabel="right (%)")
    figure.draw_without_rendering()
    [ax] = figure.axes
    legend = ax.get_legend().get_window_extent()
    title = next(text for text in ax.findobj() if getattr(text, "get_text", str)() == "regenerated")
    assert title.get_window_extent().y0 >= legend.y1 - 2


def test_panels_of_strengths_say_what_the_mean_loses_and_have_the_papers_line() -> None:
    values = [("reader", 80, 60), (MEAN, 75, 62.6)]
    points = [(model, "Python, names", x, y) for model, *ends in values for x, y in zip((1, 8), ends, strict=True)]
    points += [(MEAN, "Python, all mutations", x, y) for x, y in ((1, 70), (8, 70))]
    points += [("published", "published, Python, all mutations", x, y) for x, y in ((1, 40), (8, 30))]
    table = pd.DataFrame(points, columns=["model", "panel", "density", "value"])
    figure = strength_curves(table.assign(low=table["value"], high=table["value"]), {})
    names, together = figure.axes
    assert texts(figure) == ["−12", "+0"]
    assert next(list(line.get_ydata()) for line in together.lines if line.get_color() == PUBLISHED) == [40, 30]
    assert not [line for line in names.lines if line.get_color() == PUBLISHED]


def test_the_share_of_tasks_that_can_be_mutated() -> None:
    columns = ["language", "spm", "strength", "said", "state", "why", "tasks"]
    refused = pd.DataFrame(
        [
            ("python", "functions", 2, "", "applied", "", 3),
            ("python", "functions", 2, "", "refused", "no place", 7),
            ("java", "functions", 2, "", "applied", "", 5),
        ],
        columns=columns,
    )
    labels = pd.DataFrame({"tasks": [10, 5], "label_is_right": [10, 5]})
    [(title, cells)] = applied_cells(labels, refused).items()
    assert title.startswith("15 of 15 labels")
    assert dict(zip(cells["column"], cells["accuracy"], strict=True)) == {
        "Python, strength 2": 0.3,
        "Java, strength 2": 1,
    }
