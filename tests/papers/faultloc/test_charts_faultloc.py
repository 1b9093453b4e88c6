"""Fault Localizability's charts: panels of strengths, and the share of tasks that can be mutated."""

import pandas as pd

from codestress.papers.faultloc.charts import share_dots, strength_curves
from codestress.papers.faultloc.results.paper import SIZES, published_sizes
from codestress.papers.faultloc.results.program_tables import (
    applied_cells,
    size_dots,
)
from codestress.report.curves import MEAN
from codestress.report.style import PUBLISHED
from told import names as told


def test_panels_of_strengths_say_what_the_mean_loses_and_have_the_papers_line() -> None:
    values = [("reader", 80, 60), (MEAN, 75, 62.6)]
    points = [
        (model, "python", "names", x, y)
        for model, *ends in values
        for x, y in zip((1, 8), ends, strict=True)
    ]
    points += [(MEAN, "python", "all mutations", x, y) for x, y in ((1, 70), (8, 69.8))]
    points += [
        ("published", "python", "all mutations", x, y) for x, y in ((1, 40), (8, 30))
    ]
    table = pd.DataFrame(
        points, columns=["model", "language", "mutation", "strength", "value"]
    )
    figure = strength_curves(table.assign(low=table["value"], high=table["value"]))
    names, together = figure.axes
    for ax, parts in ((names, ("names", "−12")), (together, ("all", "+0"))):
        told(ax.get_title(), *parts)
    assert next(
        list(line.get_ydata())
        for line in together.lines
        if line.get_color() == PUBLISHED
    ) == [40, 30]
    assert not [line for line in names.lines if line.get_color() == PUBLISHED]


def test_published_programs_are_named_by_their_language() -> None:
    kept = pd.DataFrame({"source": "java", "lines": SIZES, "programs": range(6)})
    dots = size_dots(kept, published_sizes()).set_index("panel")
    told(set(dots.loc["Python"]["condition"]), "published Python (637)")
    told(set(dots.loc["Java"]["condition"]), "java (15)", "published Java (670)")
    assert dots.loc["Java"]["n"].dropna().tolist() == [*range(6)]


def test_a_panel_without_numbers_of_answers_has_no_heading_for_them() -> None:
    row = {"label": "m", "accuracy": 0.5, "low": 0.4, "high": 0.6}
    rows = [
        {**row, "panel": "here", "condition": "m", "n": 9},
        {**row, "panel": "theirs", "condition": "published"},
    ]
    here, theirs = share_dots(pd.DataFrame(rows, [0, 0]), xlabel="x").axes
    assert [text.get_text() for text in here.texts] == ["9", "n"]
    assert not theirs.texts


def test_the_share_of_tasks_that_can_be_mutated() -> None:
    columns = ["language", "spm", "strength", "said", "why", "tasks"]
    refused = pd.DataFrame(
        [
            ("python", "functions", 2, "", "", 3),
            ("python", "functions", 2, "", "no place", 7),
            ("java", "functions", 2, "", "", 5),
        ],
        columns=columns,
    )
    cells = applied_cells(refused)
    [row] = set(cells["row"])
    told(row, "functions")
    assert cells["accuracy"].tolist() == [0.3, 1]
    for column, language in zip(cells["column"], ("Python", "Java"), strict=True):
        told(column, language, "2")
