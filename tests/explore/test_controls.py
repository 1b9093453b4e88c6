"""Explorers: controls come from the schemas, and every artefact's prompts can be looked at."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import ipywidgets as widgets
import numpy as np
import pandas as pd
import pytest

from codestress.explore import curves, questions
from codestress.explore.controls import (
    ACROSS,
    Questions,
    factors_of,
    opened,
    parameter_controls,
    settings_in,
    showing,
)
from codestress.explore.curves import RANGES, share_figure
from codestress.explore.questions import prompt_explorer, prompt_html
from codestress.inference.results import Results
from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.pipeline import explain
from codestress.pipeline.artefacts import Artefact
from codestress.report.style import looks
from codestress.types import Message, Outcome, Prompt, Sampling, Trial, Trials
from conftest import slow
from told import names


def columns(explorer: widgets.Box) -> list[Any]:
    """The widgets in an explorer's columns: controls, and what they change."""
    return [column.children for column in explorer.children]


@pytest.mark.parametrize(
    "name", ["origin/fig04", "semtrace/fig01", "codecrash/tab01", "faultloc/tab02"]
)
def test_controls_say_what_the_parameters_are_and_change_them(name: str) -> None:
    artefact = opened(name, "smoke")
    controls = parameter_controls(artefact)
    again = opened(name, "smoke", settings=settings_in(controls))
    assert again.parameters == artefact.parameters
    named = {control.description for control in controls}
    assert named | {"artefact"} == set(type(artefact.parameters).model_fields)
    assert all(control.tooltip for control in controls)
    [seed] = [control for control in controls if control.description == "seed"]
    seed.value = "5"
    again = opened(name, "smoke", settings=settings_in(controls))
    assert again.parameters.model_dump()["seed"] == 5


def test_a_long_value_has_a_field_of_several_lines() -> None:
    controls = parameter_controls(opened("origin/fig04", "paper"))
    [models] = [control for control in controls if control.description == "models"]
    assert models.rows * ACROSS >= len(models.value)


@pytest.mark.parametrize(
    "name", ["codecrash/tab01", "semtrace/fig03", "faultloc/tab02"]
)
def test_controls_show_what_the_prompt_has(name: str) -> None:
    """The vanilla program has density 0, not that of the perturbed one; the problem stays."""
    explorer = prompt_explorer(name, "smoke")
    [[_, asked, *_], [shown]] = columns(explorer)
    for touched in asked.controls.values():
        for value in touched.options:
            problem = asked.controls["problem"].value
            touched.value = value
            trial = asked.trials.items[asked.index]
            factors = factors_of(trial)
            assert touched.description != "perturbation" or trial.problem == problem
            assert touched.value == value
            assert {key: one.value for key, one in asked.controls.items()} == {
                key: factors.get(key, "none") for key in asked.controls
            }
            names(shown.value, f"{touched.description} = {value}")


def test_a_factor_that_some_trials_lack_is_shown_as_none() -> None:
    render, judges = (lambda _: Prompt((), Sampling())), {}
    items = [Trial("one", {}, 0), Trial("one", {"noise": 3}, 0)]
    asked = Questions(lambda: None)
    asked.of(Trials(items, render, judges))
    assert list(asked.controls["noise"].options) == ["none", 3]
    asked.controls["noise"].value = "none"
    assert asked.index == 0
    asked.controls["noise"].value = 3
    assert asked.index == 1


def test_points_without_a_decay_have_no_curve() -> None:
    [[_, _, said], [points]] = columns(curves.fit_explorer())
    assert len(points.fitted) == len(points.y)
    points.y = [0.0] * len(points.y)
    assert (points.curve, points.fitted) == ([], [])
    assert "nan" not in said.value


def test_what_takes_longer_than_a_second_says_so_until_it_is_done() -> None:
    pane, begun = widgets.HTML(), Event()

    def act() -> str:
        pane.observe(
            lambda change: begun.set() if "<progress>" in change["new"] else None,
            "value",
        )
        assert begun.wait(60)
        return "done"

    showing(pane, act)()
    assert pane.value == "done"


def test_what_differs_is_marked_and_nothing_is_markup() -> None:
    one = Prompt((Message("user", "a\n<b>\nc"),), Sampling())
    two = Prompt((Message("user", "a\n<b>\nnew & old\nc"),), Sampling(), "It is")
    html = prompt_html(two, one)
    assert html.count("<mark") == 1
    assert "new &amp; old" in html
    assert "&lt;b&gt;" in html
    names(html, "assistant", "It is")
    assert "<mark" not in prompt_html(two)


@pytest.mark.parametrize(
    "paper", slow(["origin", "semtrace", "codecrash", "faultloc"], "semtrace")
)
def test_prompts_of_a_paper_can_be_explored(paper: str) -> None:
    explorer = prompt_explorer("origin/fig04", "smoke")
    offered = [name for _, name in explorer.children[0].children[0].options]
    all_names = [name for name in offered if name.startswith(paper)]
    for name in all_names[:: max(1, len(all_names) // 3)]:
        explorer.children[0].children[0].value = name
        shown = explorer.children[1].children[0].value
        assert "<pre" in shown, shown[:300]
        assert "role='alert'" not in shown


@pytest.mark.parametrize("name", ["codecrash/tab01", "codecrash/fig04"])
def test_a_twin_is_of_the_same_sample_of_the_same_problem(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artefact = opened(name, "smoke")
    results = run(artefact.trials(), artefact.model_names, store=tmp_path / "s.sqlite")
    monkeypatch.setattr(questions, "built", lambda *_: results)
    browsed = questions._Answers(name, "smoke", widgets.HTML())
    rows = browsed.known.to_dict("records")
    paired = 0
    for number, answer in enumerate(rows):
        for _, (factor, value) in browsed.beside.options[1:]:
            for twin in browsed.counterpart(number, factor, value):
                other = rows[twin]
                for name in ("model", "problem", "sample"):
                    assert other[name] == answer[name]
                assert other[factor] == value
                assert (twin == number) == (answer[factor] == value)
                paired += 1
    assert paired > len(rows) / 2


def answered(**factors: list[object]) -> pd.DataFrame:
    frame = pd.DataFrame(factors)
    right = [float(number % 3 > 0) for number in range(len(frame))]
    return frame.assign(value_strict=right, simulated=False)


def test_numbers_have_an_axis_and_many_are_binned() -> None:
    sizes = list(range(16, 953, 8))
    models = ["sim-wide", "sim-near"]
    frame = answered(lines=2 * sizes, model=[*np.repeat(models, len(sizes))])
    [axes] = share_figure(frame, "lines", "model").axes
    colours = {name: look.colour for name, look in looks(models).items()}
    for bars in axes.containers:
        line = bars.lines[0]
        assert line.get_linestyle() == "-"
        assert line.get_color() == colours[bars.get_label()]
        assert len(line.get_xdata()) == RANGES
        assert min(sizes) < min(line.get_xdata()) < max(line.get_xdata()) < max(sizes)
    names(axes.get_xlabel(), len(sizes), RANGES)
    for few in (frame[frame["lines"] < 40], frame[frame["lines"] == 16]):
        whole = few.assign(lines=few["lines"] // 8)
        [axes] = share_figure(whole, "lines", "model").axes
        assert {tick % 1 for tick in axes.get_xticks()} == {0}
    [axes] = share_figure(frame, "model", "lines").axes
    names(axes.containers[0].get_label(), 16, 168)


@pytest.mark.parametrize("count", [3, 9, 40, 300])
def test_what_has_no_order_is_never_joined(count: int) -> None:
    models = [f"name {number}" for number in range(count)]
    frame = answered(model=2 * models, kind=count * ["a"] + count * [None])
    for line in ("", "kind", "model"):
        [axes] = share_figure(frame, "model", line).axes
        drawn = [one for one in axes.lines if len(one.get_xdata()) > 1]
        assert {one.get_linestyle() for one in drawn} <= {"None"}
        places = {round(x) for one in axes.lines for x in one.get_xdata()}
        assert places == set(range(count))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store whose responses are explained."""
    path = tmp_path / "s.sqlite"
    responses = partial(stored_responses, store=path)
    monkeypatch.setattr(explain, "stored_responses", responses)
    return path


def test_answers_are_filtered_and_stand_beside_their_counterparts(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artefact = opened("codecrash/tab01", "smoke")
    results = run(artefact.trials(), artefact.model_names, store=store)
    monkeypatch.setattr(questions, "built", lambda *_: results)
    browser = questions.answer_browser("codecrash/tab01", "smoke")
    [[_, options], [panes]] = columns(browser)
    *filters, beside, chosen = options.children
    controls = {control.description: control for control in filters}
    assert controls["outcome"].value == "incorrect"  # what one comes to see
    controls["outcome"].value = "all"
    assert len(chosen.options) == len(results.answers)
    assert "<strong>answer</strong>" in panes.value
    controls["outcome"].value = "incorrect"
    wrong = (results.answers["outcome_strict"] == "incorrect").sum()
    assert len(chosen.options) == wrong > 0
    controls["perturbation"].value = "MCC"
    beside.value = ("perturbation", "VAN")
    assert panes.value.count("<strong>answer</strong>") == 2
    assert "perturbation = VAN" in panes.value
    assert "perturbation = MCC" in panes.value
    controls["perturbation"].value = "VAN"
    assert panes.value.count("<strong>answer</strong>") == 1
    assert "role='note'" not in panes.value
    for control in (controls["problem"], controls["perturbation"]):
        for value in reversed(control.options):
            control.value = value
            assert (chosen.value is None) == (not chosen.options)
    for name in ("model", "problem"):
        controls[name].value = controls[name].options[1]
    controls["outcome"].value = "all"
    model = controls["model"].value
    assert all(text.split(": ")[1].startswith(model) for text, _ in chosen.options)


def test_an_error_is_told_in_place_of_the_prompt() -> None:
    explorer = prompt_explorer("origin/fig04", "smoke")
    [[_, _, parameters], [shown]] = columns(explorer)
    knobs, button = parameters.children[0].children
    step = next(box for box in knobs.children if box.description == "step")
    step.value = "-4"
    button.click()
    assert "role='alert'" in shown.value
    assert "step" in shown.value


@pytest.mark.slow
def test_a_question_is_asked_and_has_one_verdict(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "run", partial(run, store=store))
    panel = questions.ask_panel("semtrace/fig03", "smoke")
    [[chooser, factors, model, button], [shown]] = columns(panel)
    for name in ("semtrace/fig03", "origin/fig04", "faultloc/fig06"):
        chooser.value = name
        assert shown.value.count("<strong>answer</strong>") == 1, name
        assert sum(shown.value.count(f">{outcome.value}<") for outcome in Outcome) == 1
    before = shown.value
    problem = factors.controls["problem"]
    problem.value = problem.options[-1]
    assert "role='note'" in shown.value
    button.click()
    assert f"problem = {problem.value}" in shown.value != before
    model.value = "gpt-4o-2024-05-13"
    assert "role='note'" in shown.value
    chooser.value, model.value = "semtrace/sensitivity", "python"
    # The interpreter is asked a part of the questions: those that the controls then offer.
    for control in factors.controls.values():
        control.value = control.options[-1]
    button.click()
    for name, control in factors.controls.items():
        names(shown.value, f"{name} = {control.value}")


@pytest.mark.slow
def test_a_figure_of_any_artefact_is_drawn_from_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(artefact: Artefact) -> Results:
        path = tmp_path / "s.sqlite"
        return run(artefact.trials(), artefact.model_names, store=path)

    monkeypatch.setattr(curves, "answers_of", asked)
    explorer = curves.live_figure("codecrash/tab01", "smoke")
    [[chooser, axes, *_], [shown]] = columns(explorer)
    for name in ("codecrash/tab01", "origin/fig04"):
        chooser.value = name
        first = shown.value
        assert "data:image/svg+xml" in first
        along, line = axes.children
        for factor in along.options:
            along.value = factor
            names(shown.value.partition("src=")[0], factor)  # the alternative text
        along.value = along.options[0]
        drawn = {along.value, line.value}
        along.value = next(one for one in along.options if one not in drawn)
        assert shown.value != first
        line.value = ""
        names(shown.value.partition("src=")[0], along.value)
