"""Explorers: controls come from the schemas, and every artefact's prompts can be looked at."""

from __future__ import annotations

from pathlib import Path

import pytest

from codestress.explore import curves, questions
from codestress.explore.controls import chosen_values, factor_controls, nearest_trial, parameter_controls, with_values
from codestress.explore.questions import prompt_explorer, prompt_html
from codestress.inference.registry import load_registry
from codestress.inference.run import Results, run, stored_responses
from codestress.pipeline.artefacts import Artefact, Overrides, artefact_names, resolve
from codestress.types import Message, Prompt, Sampling


@pytest.mark.parametrize("name", ["origin/fig04", "semtrace/fig01", "codecrash/tab01", "faultloc/tab02"])
def test_controls_say_what_the_parameters_are_and_change_them(name: str) -> None:
    [artefact] = resolve([name], "smoke", Overrides(), load_registry())
    controls = parameter_controls(artefact)
    values = chosen_values(controls)
    assert values == {key: value for key, value in artefact.parameters.model_dump().items() if key in values}
    assert set(values) | {"artefact"} == set(artefact.study.parameters.model_fields)
    assert all(control.tooltip for control in controls.values())
    controls["seed"].value = "5"
    assert with_values(artefact, chosen_values(controls)).parameters.seed == 5


def test_every_factor_can_be_chosen_and_the_one_that_was_touched_last_counts() -> None:
    [artefact] = resolve(["codecrash/tab01"], "smoke", Overrides(), load_registry())
    trials = artefact.trials()
    controls = factor_controls(trials)
    assert {"problem", "perturbation"} <= set(controls)
    wanted = {name: control.options[0][1] for name, control in controls.items()}
    for _, value in controls["perturbation"].options:
        found = trials.items[nearest_trial(trials, {**wanted, "perturbation": value}, "perturbation")]
        assert (found.factors["perturbation"], found.problem) == (value, wanted["problem"])


def test_what_differs_is_marked_and_nothing_is_markup() -> None:
    one = Prompt((Message("user", "a\n<b>\nc"),), Sampling())
    two = Prompt((Message("user", "a\n<b>\nnew & old\nc"),), Sampling(), "It is")
    html = prompt_html(two, one)
    assert html.count("<mark") == 1
    assert "new &amp; old" in html
    assert "&lt;b&gt;" in html
    assert "assistant, begun" in html
    assert "<mark" not in prompt_html(two)


@pytest.mark.parametrize("paper", ["origin", "semtrace", "codecrash", "faultloc"])
def test_prompts_of_a_paper_can_be_explored(paper: str) -> None:
    names = [name for name in artefact_names() if name.startswith(paper)]
    explorer = prompt_explorer(names[0], "smoke")
    for name in names[:: max(1, len(names) // 3)]:
        explorer.children[0].children[0].value = name
        shown = explorer.children[1].children[0].value
        assert "characters" in shown or "Nothing is asked" in shown, shown[:300]
        assert "role='alert'" not in shown


def test_long_lists_are_parameters_too() -> None:
    [artefact] = resolve(["semtrace/fig09"], "paper", Overrides(), load_registry())
    models = list(load_registry())
    assert len(models) > 30
    changed = with_values(artefact, {"tasks": ["input_prediction"], "models": models})
    assert [model.name for model in changed.models] == models


def test_answers_are_filtered_and_stand_beside_their_counterparts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [artefact] = resolve(["codecrash/tab01"], "smoke", Overrides(), load_registry())
    results = run(artefact.trials(), [model.name for model in artefact.models], store=tmp_path / "s.sqlite")
    monkeypatch.setattr(questions, "built", lambda *_: (artefact, results))
    monkeypatch.setattr(questions, "stored_responses", lambda keys: stored_responses(keys, tmp_path / "s.sqlite"))
    browser = questions.answer_browser("codecrash/tab01", "smoke")
    [[_, options], [panes]] = [column.children for column in browser.children]
    *filters, beside, chosen = options.children
    controls = {control.description: control for control in filters}
    assert controls["outcome"].value == "incorrect"  # what one comes to see
    controls["outcome"].value = "all"
    assert len(chosen.options) == len(results.answers)
    assert "<strong>answer</strong>" in panes.value
    controls["outcome"].value = "incorrect"
    wrong = sum(answer.scores["strict"].outcome.value == "incorrect" for answer in results.answers)
    assert len(chosen.options) == wrong > 0
    controls["perturbation"].value = "MCC"
    beside.value = ("perturbation", "VAN")
    assert panes.value.count("<strong>answer</strong>") == 2
    assert "perturbation = VAN" in panes.value
    assert "perturbation = MCC" in panes.value
    controls["model"].value, controls["problem"].value = (
        controls["model"].options[1][1],
        controls["problem"].options[1][1],
    )
    controls["outcome"].value = "all"
    assert all(text.split(": ")[1].startswith(controls["model"].value) for text, _ in chosen.options)


def test_an_error_is_told_in_place_of_the_prompt() -> None:
    explorer = prompt_explorer("origin/fig04", "smoke")
    [[_, _, _, parameters], [shown]] = [column.children for column in explorer.children]
    knobs, button = parameters.children[0].children
    knobs = knobs.children
    step = next(control for control in knobs if control.description == "step")
    step.value = "-4"
    button.click()
    assert "role='alert'" in shown.value
    assert "step" in shown.value


def test_a_question_is_asked_and_has_one_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "run", lambda *given, **more: run(*given, **more, store=tmp_path / "s.sqlite"))
    monkeypatch.setattr(questions, "stored_responses", lambda keys: stored_responses(keys, tmp_path / "s.sqlite"))
    [[chooser, model, factors, button], [shown]] = [
        column.children for column in questions.ask_panel("semtrace/fig03", "smoke").children
    ]
    for name in ("semtrace/fig03", "origin/fig04", "faultloc/fig06"):
        chooser.value = name
        assert shown.value.count("<strong>answer</strong>") == 1, name
        assert shown.value.count("<p><strong style") == 1
    before = shown.value
    problem = next(control for control in factors.children if control.description == "problem")
    problem.value = problem.options[-1][1]
    assert "Press ask" in shown.value
    button.click()
    assert f"problem = {problem.value}" in shown.value != before
    model.value = "gpt-4o-2024-05-13"
    assert "Press ask" in shown.value


def test_a_figure_of_any_artefact_is_drawn_from_its_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(name: str, profile: str) -> tuple[Artefact, Results]:
        [artefact] = resolve([name], profile, Overrides(), load_registry())
        models = [model.name for model in artefact.models]
        return artefact, run(artefact.trials(), models, store=tmp_path / "s.sqlite")

    monkeypatch.setattr(curves, "built", asked)
    explorer = curves.live_figure("codecrash/tab01", "smoke")
    [[chooser, axes, *_], [shown]] = [column.children for column in explorer.children]
    for name in ("codecrash/tab01", "origin/fig04"):
        chooser.value = name
        first = shown.value
        assert "data:image/svg+xml" in first
        along, line = axes.children
        along.value = next(value for value in along.options if value not in (along.value, line.value))
        assert shown.value != first
        line.value = ""
        assert f"along {along.value}" in shown.value
