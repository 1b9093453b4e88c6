"""From a bar to its answers: which answers a bar counts, and a page that hostile answers cannot use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from codestress.inference.registry import ModelEntry
from codestress.inference.results import Results
from codestress.inference.store import Store
from codestress.papers.origin.charts import share_rows
from codestress.report.answers_page import (
    MOST_ANSWERS,
    MOST_OF_A_CELL,
    Cell,
    write_answers,
)
from codestress.report.curves import draw_curves
from codestress.report.marks import Box, mark, marked, with_cells
from codestress.report.style import use_style
from codestress.types import Message, Outcome, Prompt, Response, Sampling, Trial, Trials

MODELS = ("reader", "reader-long")
SVG = "{http://www.w3.org/2000/svg}"


def results(
    outcomes: dict[tuple[str, int], list[bool]], models: Sequence[str] = MODELS
) -> Results:
    """Answers by model and d."""
    trials, rows = [], []
    for (model, d), right in outcomes.items():
        for number, correct in enumerate(right):
            outcome = Outcome.CORRECT if correct else Outcome.INCORRECT
            trial = Trial(f"list {number}", {"d": d, "shuffled": False})
            row = {"model": model, "simulated": False, "problem": trial.problem}
            row |= {"sample": 0, **trial.factors, "outcome_strict": outcome}
            row |= {"value_strict": float(correct), "detail_strict": "<b>read</b>"}
            row |= {"finish_reason": "stop", "key": f"{model} {d} {number}"}
            rows.append(row | {"earlier": (), "error": "", "trial": len(trials)})
            trials.append(trial)
    entries = [ModelEntry(name=name, engine="openai", id=name) for name in models]
    prompt = Prompt((Message("user", "Which?"),), Sampling())
    return Results(pd.DataFrame(rows), entries, Trials(trials, lambda _: prompt, {}))


def stored(of: Results, text: str, path: Path) -> Path:
    """A store in which each answer is the text."""
    with Store(path) as store:
        for model, key in of.answers[["model", "key"]].to_numpy():
            store.put(key, model, Response(text, "stop"))
    return path


def opened(figure: Figure, of: Results, folder: Path) -> list[tuple[Box, Cell]]:
    """The places of a figure and the cells that they open."""
    figure.draw_without_rendering()
    marks = marked(figure, figure.get_tightbbox())
    figure.savefig(folder / "figure.svg")
    store = folder / "responses.sqlite"
    return write_answers(folder, "t/a", of, "strict", marks, "alt", store=store)


def told(cell: Cell, of: Results) -> set[tuple[str, int]]:
    """The models and values of d whose answers a cell holds."""
    rows = of.answers.loc[[*cell.rows], ["model", "d"]]
    return set(rows.itertuples(index=False, name=None))


SHARES = {
    ("reader", 1): [True, True, True, False],
    ("reader", 15): [True, False, False, False],
    ("reader-long", 1): [True, True, True, False],
    ("reader-long", 15): [False] * 4,
}


def shares() -> pd.DataFrame:
    """A row for each cell, with its share and an interval."""
    rows = [(model, d, np.mean(right)) for (model, d), right in SHARES.items()]
    table = pd.DataFrame(rows, columns=["model", "d", "accuracy"])
    return table.assign(label=table["model"], low=0.0, high=1.0)


def test_each_bar_opens_the_answers_that_it_counts_and_a_published_one_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_LABEL", "t/a@reader+other")
    rows = shares()
    rows["condition"] = rows["d"].map("d = {}".format)
    own = with_cells(rows, ["model", "d"])
    panels = pd.concat([rows.assign(source="published"), own.assign(source="here")])
    of = results(SHARES)
    every = opened(share_rows(panels, xlabel="right (%)"), of, tmp_path)
    places = [place for place in every if place[1].name != "published"]
    assert len(places) == len(every) - len(places) == 4
    page = (tmp_path / "answers.html").read_text(encoding="utf-8")
    assert 'id="published"' in page
    assert "params/published/t.json" in page
    assert 'index.html#t/a@reader+other"' in page
    assert 'index.html#ledger?figure=t/a%40reader%2Bother"' in page
    for box, cell in places:
        (what,) = told(cell, of)
        assert (cell.correct, cell.n) == (sum(SHARES[what]), 4)
        left, top, width, height = box
        assert 0 <= left <= left + width <= 1
        assert 0.5 < top + height <= 1  # the second panel
    assert len({cell.rows for box, cell in places}) == 4
    drawn = ElementTree.parse(tmp_path / "figure.svg").iter(f"{SVG}a")
    links = [link.attrib["{http://www.w3.org/1999/xlink}href"] for link in drawn]
    assert links == [f"answers.html#{cell.name}" for _, cell in every]


def test_published_bars_beside_regenerated_ones_open_no_answers(tmp_path: Path) -> None:
    rows = shares().query("d == 1").assign(condition="here")
    own = with_cells(rows, ["model", "d"])
    panels = pd.concat([own.assign(source="here"), rows.assign(source="published")])
    of = results(SHARES)
    places = opened(share_rows(panels, xlabel="right (%)"), of, tmp_path)
    cells = [told(cell, of) for box, cell in places if cell.n]
    assert cells == [{(model, 1)} for model in MODELS]
    assert len(places) == 2 * len(cells)


def test_points_of_a_curve_open_their_cells_also_where_their_shares_are_the_same(
    tmp_path: Path,
) -> None:
    use_style()
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    points = with_cells(shares(), ["model", "d"])
    points["place"] = points["d"] / 100
    draw_curves(ax, points, list(MODELS), "place", value="accuracy", scale=100)
    places = opened(figure, results(SHARES), tmp_path)
    assert sorted((cell.label, cell.correct) for box, cell in places) == [
        ("reader, d 1", 3),
        ("reader, d 15", 1),
        ("reader-long, d 1", 3),
        ("reader-long, d 15", 0),
    ]


def test_a_cell_without_a_model_opens_those_of_all_and_one_without_answers_opens_nothing(
    tmp_path: Path,
) -> None:
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    rows = with_cells(pd.DataFrame({"d": [15, 16]}), ["d"])
    mark(ax, rows, rows["d"], 0.5)
    mark(ax, rows, np.nan, 0.5)
    ax.set_xlim(0, 20)
    of = results(SHARES)
    ((box, cell),) = opened(figure, of, tmp_path)
    assert told(cell, of) == {(model, 15) for model in MODELS}
    assert cell.label == "all models, d 15"
    assert min(box[2:]) > 0


def test_what_an_answer_says_is_text_and_keys_are_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)> sk-very-secret-key \u202e\x1b[31m {{ 7*7 }}"
    of = results(SHARES)
    store = stored(of, hostile, tmp_path / "responses.sqlite")
    (tmp_path / "figure.svg").write_text("<svg></svg>\n")
    write_answers(tmp_path, "t/a", of, "strict", [], "<alt>", of.answers, store)
    page = (tmp_path / "answers.html").read_text()
    assert page.count("&lt;script&gt;alert(1)") == 2 * MOST_OF_A_CELL
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "<b>read" not in page
    assert "{{ 7*7 }}" in page
    assert "[key]" in page
    for secret in ("sk-very-secret-key", "\u202e", "\x1b"):
        assert secret not in page
    assert "script-src 'none'" in page


def test_the_page_is_bounded(tmp_path: Path) -> None:
    for cells, each in ((40, 60), (590, 3)):
        (tmp_path / "figure.svg").write_text("<svg></svg>\n")
        outcomes = {("reader", d): [False] * each for d in range(cells)}
        of = results(outcomes, MODELS[:1])
        store = stored(of, "x" * 9000, tmp_path / f"{cells}.sqlite")
        marks = [((0, 0, 1, 1), {"model": "reader", "d": d}) for d in range(cells)]
        write_answers(tmp_path, "t/a", of, "strict", marks, "alt", of.answers, store)
        page = (tmp_path / "answers.html").read_text()
        shown = page.count('class="answer"')
        assert cells <= shown <= max(cells, MOST_ANSWERS)
        assert shown <= cells * MOST_OF_A_CELL
        assert len(page) < 1_200_000
