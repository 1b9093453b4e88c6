"""From a bar to its answers: which answers a bar counts, and a page that hostile answers cannot use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from codestress.inference.registry import ModelEntry
from codestress.inference.run import Answer, Results
from codestress.report import answers_page
from codestress.report.answers_page import MOST_ANSWERS, MOST_OF_A_CELL, Behind, Spots, spots, write_answers
from codestress.report.curves import draw_curves
from codestress.report.drawn import drawn
from codestress.report.share_bars import share_bars
from codestress.report.style import use_style
from codestress.types import Outcome, Response, Score, Trial, Usage

MODELS = ("reader", "reader-long")


def results(outcomes: dict[tuple[str, int], list[bool]], models: Sequence[str] = MODELS) -> Results:
    """Answers by model and d."""
    answers = []
    for (model, d), right in outcomes.items():
        for number, correct in enumerate(right):
            score = Score(Outcome.CORRECT if correct else Outcome.INCORRECT, float(correct), "<b>read</b>")
            key = f"{model} {d} {number}"
            trial = Trial(f"list {number}", {"d": d, "shuffled": False})
            answers.append(Answer(trial, model, key, {"strict": score}, "stop", Usage(), 0.0, 1, "m"))
    entries = [ModelEntry(name=name, engine="openai", id=name) for name in models]
    return Results(answers, entries, 0, {name: len(answers) for name in models})


def found_in(figure: Figure, of: Results) -> Spots:
    figure.draw_without_rendering()
    return spots(Behind(of, "strict"), drawn(figure, figure.get_tightbbox()))


SHARES = {
    **{("reader", 1): [True, True, True, False], ("reader", 15): [True, False, False, False]},
    **{("reader-long", 1): [True, True, True, False], ("reader-long", 15): [False] * 4},
}


def test_each_bar_leads_to_the_answers_that_it_counts_and_a_published_one_to_none() -> None:
    rows = pd.DataFrame(
        [(model, f"d = {d}", np.mean(right), 0.0, 1.0) for (model, d), right in SHARES.items()],
        columns=["label", "condition", "share", "low", "high"],
    ).rename(columns={"share": "accuracy"})
    figure = share_bars({"published (as printed)": rows, "simulated readers (not models)": rows}, xlabel="right (%)")
    of = results(SHARES)
    places = found_in(figure, of)
    assert len(places) == 4
    for box, cell in places:
        told = {(of.answers[row].model, of.answers[row].trial.factors["d"]) for row in cell.rows}
        assert len(told) == 1
        (what,) = told
        assert (cell.correct, cell.n) == (sum(SHARES[what]), 4)
        left, top, width, height = box
        assert 0 <= left <= left + width <= 1
        assert 0.5 < top + height <= 1  # the second panel
    assert len({cell.rows for box, cell in places}) == 4


def test_points_of_a_curve_are_told_apart_by_their_place_where_their_shares_are_the_same() -> None:
    use_style()
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots()
    points = pd.DataFrame(
        [(model, d, np.mean(right)) for (model, d), right in SHARES.items()], columns=["model", "d", "accuracy"]
    )
    points = points.assign(low=points["accuracy"], high=points["accuracy"], place=points["d"] / 100)
    draw_curves(ax, points, list(MODELS), "place", value="accuracy", scale=100, size=3)
    ax.set_xlabel("d: lines between the links")
    of = results(SHARES)
    places = found_in(figure, of)
    assert sorted((cell.told, cell.correct) for box, cell in places) == [
        ("reader, d 1", 3),
        ("reader, d 15", 1),
        ("reader-long, d 1", 3),
        ("reader-long, d 15", 0),
    ]


def test_values_are_found_by_what_the_figure_calls_them_also_where_the_panel_beside_it_has_the_names() -> None:
    """What is told of one value alone means the other where it is not said; a kind of models stands for all of them."""
    use_style()
    figure = Figure(figsize=(6, 3))
    for ax, model in zip(figure.subplots(1, 2, sharey=True), MODELS, strict=True):
        ax.errorbar([-10, -20], [0, 1], xerr=5, fmt="o", label=model)
        ax.set_yticks([0, 1], ["near", "near, turned"])
    of = results({(model, d): [True, False] for model in MODELS for d in (1, 15)})
    figure.draw_without_rendering()
    spoken = {"d": {1: "", 15: "turned"}}
    found = spots(Behind(of, "strict", spoken), drawn(figure, figure.get_tightbbox()))
    told = [{(of.answers[row].model, of.answers[row].trial.factors["d"]) for row in cell.rows} for _, cell in found]
    assert told == [{(model, d)} for model in MODELS for d in (1, 15)]

    figure = share_bars(
        {"d = 15": pd.DataFrame({"label": ["small"], "condition": "", "accuracy": 0.5, "low": 0, "high": 1})},
        xlabel="%",
    )
    figure.draw_without_rendering()
    kinds = {"model": dict.fromkeys(MODELS, "small")}
    ((_, cell),) = spots(Behind(of, "strict", kinds), drawn(figure, figure.get_tightbbox()))
    assert {(of.answers[row].model, of.answers[row].trial.factors["d"]) for row in cell.rows} == {
        (model, 15) for model in MODELS
    }


def test_what_an_answer_says_is_text_and_keys_are_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-key")
    hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)> sk-very-secret-key \u202e\x1b[31m {{ 7*7 }}"
    monkeypatch.setattr(
        answers_page, "stored_responses", lambda keys, _: {key: Response(hostile, "stop") for key in keys}
    )
    write_answers(tmp_path, "t/a", results(SHARES), "strict", [], "<alt>", {})
    page = (tmp_path / "answers.html").read_text()
    assert page.count("&lt;script&gt;alert(1)") == 16
    assert "<script" not in page
    assert "<img src=x" not in page
    assert "<b>read" not in page
    assert "{{ 7*7 }}" in page
    assert "[key]" in page
    assert not any(told in page for told in ("sk-very-secret-key", "\u202e", "\x1b"))
    assert "script-src 'none'" in page


def test_the_page_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        answers_page, "stored_responses", lambda keys, _: dict.fromkeys(keys, Response("x" * 9000, "stop"))
    )
    for cells, each in ((40, 60), (590, 3)):
        outcomes = {("reader", d): [False] * each for d in range(cells)}
        write_answers(tmp_path, "t/a", results(outcomes, MODELS[:1]), "strict", [], "alt", {})
        page = (tmp_path / "answers.html").read_text()
        shown = page.count('class="answer"')
        assert cells <= shown <= max(cells, MOST_ANSWERS)
        assert shown <= cells * MOST_OF_A_CELL
        assert len(page) < 1_200_000
