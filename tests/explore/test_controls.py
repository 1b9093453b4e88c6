"""Explorers: controls come from the schemas, and prompts, answers, figures and fits follow them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Event

import ipywidgets as widgets
import pytest

from codestress.explore import questions
from codestress.explore.controls import (
    Questions,
    factors_of,
    opened,
    parameter_controls,
    settings_in,
    showing,
)
from codestress.explore.questions import prompt_explorer, prompt_html
from codestress.inference.run import run
from codestress.inference.store import stored_responses
from codestress.pipeline import explain
from codestress.types import Message, Outcome, Prompt, Sampling, Trial, Trials
from conftest import slow
from told import names


@pytest.mark.parametrize("name", ["origin/fig04", "semtrace/fig01", "codecrash/tab01"])
def test_controls_have_the_parameters_and_change_them(name: str) -> None:
    artefact = opened(name, "smoke")
    controls = {box.description: box for box in parameter_controls(artefact)}
    assert {*controls, "artefact"} == set(type(artefact.parameters).model_fields)
    assert all(box.tooltip for box in controls.values())
    again = opened(name, "smoke", settings=settings_in(controls.values()))
    assert again.parameters == artefact.parameters
    controls["seed"].value = "5"
    again = opened(name, "smoke", settings=settings_in(controls.values()))
    assert again.parameters.model_dump()["seed"] == 5


@pytest.mark.parametrize("name", ["codecrash/tab01", "faultloc/tab02"])
def test_controls_describe_the_prompt_that_is_shown(name: str) -> None:
    """The vanilla program has density 0, not that of the perturbed one; the problem stays."""
    explorer = prompt_explorer(name, "smoke")
    chooser = explorer.children[0].children[1]
    pane = explorer.children[1].children[0]
    for factor, box in chooser.controls.items():
        problem = chooser.controls["problem"].value
        for value in box.options:
            box.value = value
            factors = factors_of(chooser.trials.items[chooser.index])
            assert factor != "perturbation" or factors["problem"] == problem
            assert box.value == value
            for key, other in chooser.controls.items():
                assert other.value == factors.get(key, "none")
            names(pane.value, f"{factor} = {value}")
            problem = factors["problem"]


def test_a_factor_that_some_trials_lack_is_shown_as_none() -> None:
    items = [Trial("one", {}, 0), Trial("one", {"noise": 3}, 0)]
    chooser = Questions(lambda: None)
    chooser.of(Trials(items, lambda _: Prompt((), Sampling()), {}))
    noise = chooser.controls["noise"]
    assert list(noise.options) == ["none", 3]
    for index, value in enumerate(noise.options):
        noise.value = value
        assert chooser.index == index


def test_an_action_of_more_than_a_second_shows_its_progress() -> None:
    pane, begun = widgets.HTML(), Event()

    def notice(change: dict[str, str]) -> None:
        if "<progress>" in change["new"]:
            begun.set()

    def act() -> str:
        assert begun.wait(60)
        return "complete"

    pane.observe(notice, "value")
    showing(pane, act)()
    assert pane.value == "complete"


def test_new_lines_are_marked_and_no_text_becomes_markup() -> None:
    plain = Prompt((Message("user", "a\n<b>\nc"),), Sampling())
    longer = Prompt((Message("user", "a\n<b>\nnew & old\nc"),), Sampling(), "It is")
    html = prompt_html(longer, plain)
    assert html.count("<mark") == 1
    names(html, "new &amp; old", "&lt;b&gt;", "assistant", "It is")
    assert "<mark" not in prompt_html(longer)


@pytest.mark.parametrize(
    "paper", slow(["origin", "semtrace", "codecrash", "faultloc"], "semtrace")
)
def test_prompts_of_a_paper_can_be_explored(paper: str) -> None:
    explorer = prompt_explorer("origin/fig04", "smoke")
    chooser, pane = explorer.children[0].children[0], explorer.children[1].children[0]
    offered = [name for _, name in chooser.options if name.startswith(paper)]
    for name in offered[:: max(1, len(offered) // 3)]:
        chooser.value = name
        assert "<pre" in pane.value
        assert "role='alert'" not in pane.value


def test_an_error_stands_in_place_of_the_prompt() -> None:
    explorer = prompt_explorer("origin/fig04", "smoke")
    parameters = explorer.children[0].children[2]
    knobs, button = parameters.children[0].children
    [step] = [box for box in knobs.children if box.description == "step"]
    step.value = "-4"
    button.click()
    names(explorer.children[1].children[0].value, "role='alert'", "step")


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
    *filters, beside, chosen = browser.children[0].children[1].children
    pane = browser.children[1].children[0]
    controls = {box.description: box for box in filters}
    assert controls["outcome"].value == "incorrect"
    wrong = (results.answers["outcome_strict"] == "incorrect").sum()
    assert len(chosen.options) == wrong > 0
    controls["outcome"].value = "all"
    assert len(chosen.options) == len(results.answers)
    controls["perturbation"].value = "MCC"
    beside.value = ("perturbation", "VAN")
    assert pane.value.count("<strong>answer</strong>") == 2
    names(pane.value, "perturbation = VAN", "perturbation = MCC")
    # A vanilla answer is its own counterpart.
    controls["perturbation"].value = "VAN"
    assert pane.value.count("<strong>answer</strong>") == 1
    for name in ("model", "problem"):
        controls[name].value = controls[name].options[1]
    model = controls["model"].value
    assert all(text.split(": ")[1].startswith(model) for text, _ in chosen.options)
    for value in controls["outcome"].options:
        controls["outcome"].value = value
        assert (chosen.value is None) == (not chosen.options)


@pytest.mark.slow
def test_a_question_is_asked_and_has_one_outcome(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(questions, "run", partial(run, store=store))
    panel = questions.ask_panel("semtrace/fig03", "smoke")
    chooser, factors, model, button = panel.children[0].children
    pane = panel.children[1].children[0]
    for name in ("semtrace/fig03", "origin/fig04", "faultloc/fig06"):
        chooser.value = name
        assert pane.value.count("<strong>answer</strong>") == 1, name
        outcomes = [item for item in Outcome if f">{item.value}<" in pane.value]
        assert len(outcomes) == 1
    problem = factors.controls["problem"]
    problem.value = problem.options[-1]
    names(pane.value, "role='note'")
    button.click()
    names(pane.value, f"problem = {problem.value}")
    model.value = "gpt-4o-2024-05-13"
    names(pane.value, "role='note'")
    # The interpreter is asked a part of the questions, which the controls then offer.
    chooser.value, model.value = "semtrace/sensitivity", "python"
    for box in factors.controls.values():
        box.value = box.options[-1]
    button.click()
    for name, box in factors.controls.items():
        names(pane.value, f"{name} = {box.value}")


def test_a_counterpart_answers_the_same_sample_of_the_same_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artefact = opened("codecrash/fig04", "smoke")
    results = run(artefact.trials(), artefact.model_names, store=tmp_path / "s.sqlite")
    monkeypatch.setattr(questions, "built", lambda *_: results)
    browser = questions._Answers("codecrash/fig04", "smoke", widgets.HTML())
    rows = browser.known.to_dict("records")
    pairs = 0
    for number, answer in enumerate(rows):
        for _, (factor, value) in browser.beside.options[1:]:
            for index in browser.counterpart(number, factor, value):
                other = rows[index]
                for name in ("model", "problem", "sample"):
                    assert other[name] == answer[name]
                assert other[factor] == value
                assert (index == number) == (answer[factor] == value)
                pairs += 1
    assert pairs > len(rows) / 2
