"""Settings of one model within an artefact: who may write them, what is asked, counted and stamped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codestress import artefact_files
from codestress.errors import ParameterError
from codestress.inference.run import run
from codestress.papers.semtrace.studies import Positions
from codestress.parameters import Asked, questions
from codestress.pipeline.explain import explain
from codestress.report.protocol import deviations, stamp
from conftest import artefact_of
from told import names, refused

GPT = "gpt-4.1-2025-04-14"
OWN = {"prefill": "user", "subsample": 0.125}
SMALL = {
    "artefact": "semtrace/fig01",
    "problems": ["generated"],
    "n_problems": 16,
    "distractors": [1],
    "distractor_source": "installed",
    "matched": "count",
    "positions": 2,
    "tasks": ["output_prediction"],
    "resamples": 100,
}


def resolved(
    *settings: str,
    models: tuple[str, ...] = (),
    name: str = "semtrace/fig01",
    profile: str = "paper",
) -> Asked:
    parameters = artefact_of(name, profile, *settings, models=models).parameters
    assert isinstance(parameters, Asked)
    return parameters


def test_a_model_is_asked_by_its_own_settings_and_the_others_as_before() -> None:
    plain = Positions(**SMALL, models=["sim-near", "sim-wide"])
    changed = {"per_model": {"sim-wide": OWN | {"max_tokens": 64}}}
    before, trials = questions(plain), questions(plain.model_copy(update=changed))
    assert trials.items == before.items
    for trial in trials.items:
        assert trials.render(trial).digest == before.render(trial).digest
    own = trials.of("sim-wide")
    problems = {trial.problem for trial in own.items}
    assert problems < {trial.problem for trial in trials.items}
    assert len(problems) == 2  # an eighth
    assert trials.total(["sim-near", "sim-wide"]) == 32 + 4
    prompt = own.render(own.items[0])
    assert (prompt.prefill, prompt.sampling.max_tokens) == ("", 64)
    assert "assert f(" in prompt.messages[-1].content
    assert trials.of("sim-near").render(trials.items[0]).prefill


def test_shares_of_one_model_are_nested_and_drawn_by_the_seed() -> None:
    def problems(share: float, seed: int = 0) -> set[str]:
        own = {"per_model": {"sim-near": {"subsample": share}}, "n_problems": 64}
        study = Positions(**SMALL | own, models=["sim-near"], seed=seed)
        return {trial.problem for trial in questions(study).of("sim-near").items}

    assert problems(0.125) < problems(0.25) < problems(1.0)
    assert len(problems(0.125)) == 8
    assert problems(0.125) == problems(0.125) != problems(0.125, seed=1)


def test_explanations_are_the_model_s_own(tmp_path: Path) -> None:
    settings = ("per_model={sim-wide: {prefill: user}}", "tasks=[output_prediction]")
    artefact = artefact_of("semtrace/fig01", "smoke", *settings)
    models = ["sim-near", "sim-wide"]
    results = run(artefact.trials(), models, store=tmp_path / "s.sqlite")
    prompts = {}
    for row in explain(results, "strict", {"position": "0"}):
        prompts[row["factors"]["model"]] = row["prompt"]
    assert prompts["sim-wide"].startswith(prompts["sim-near"])
    assert prompts["sim-wide"] != prompts["sim-near"]


@pytest.mark.parametrize(
    ("own", "parts"),
    [
        (
            "{gpt-4.1: {prefill: user}}",
            ("per_model.gpt-4.1 =", "not asked", f"'{GPT}'"),
        ),
        (f"{{{GPT}: {{prefil: user}}}}", (f"per_model.{GPT}", "prefil = 'user'")),
        (f"{{{GPT}: {{positions: 5}}}}", ("positions = 5", "prefill", "max_tokens")),
        ("3", ("per_model = 3", "dictionary")),
    ],
)
def test_wrong_settings_of_one_model_are_refused(
    own: str, parts: tuple[str, ...]
) -> None:
    with refused(ParameterError, "--set", *parts):
        resolved(f"per_model={own}")


def test_a_path_of_keys_is_no_setting_of_one_model() -> None:
    with refused(ParameterError, "'per_model={MODEL: {PARAMETER: V}}'"):
        resolved("per_model.prefill=user")


def test_a_study_whose_models_are_alike_says_so() -> None:
    with refused(ParameterError, "per_model = {'python'"):
        resolved("per_model={python: {max_tokens: 3}}", name="faultloc/fig05")
    own = "per_model={sim-wide: {content: bank}}"
    with refused(ParameterError, "content = 'bank'", "max_tokens"):
        resolved(own, models=("sim-wide",), name="faultloc/tab02")


@pytest.fixture
def params(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the place of params/, with the profile `mine`."""
    for folder in ("profiles", "semtrace"):
        (tmp_path / folder).mkdir()
    write_profile(tmp_path)
    monkeypatch.setattr(artefact_files, "PARAMS", tmp_path)
    monkeypatch.setattr(artefact_files, "PROFILES", tmp_path / "profiles")
    return tmp_path


def write_artefact(folder: Path, own: str) -> None:
    (folder / "semtrace" / "a.yaml").write_text(
        "title: t\nnotebook: semtrace/positions.ipynb\nstudy: semtrace.target_positions\n"
        f"parameters:\n  models: [sim-near, sim-wide]\n  per_model: {own}\n"
    )


def write_profile(folder: Path, parameters: str = "") -> None:
    (folder / "profiles" / "mine.yaml").write_text(
        f"description: mine\nparameters: {{semtrace/*: {{{parameters}}}}}\n"
    )


def test_wrong_settings_in_a_file_name_the_file(params: Path) -> None:
    write_artefact(params, "{sim-wid: {prefill: user}}")
    place = "semtrace/a.yaml: per_model.sim-wid ="
    with refused(ParameterError, place, "'sim-wide'"):
        resolved(name="semtrace/a", profile="mine")


def test_settings_win_one_by_one_and_go_with_their_model(params: Path) -> None:
    def per_model(*settings: str, **more: Any) -> dict[str, dict[str, Any]]:
        return resolved(*settings, name="semtrace/a", profile="mine", **more).per_model

    write_artefact(params, "{sim-wide: {prefill: user, subsample: 0.5}}")
    half = {"prefill": "user", "subsample": 0.5}
    quarter = {"sim-wide": half | {"subsample": 0.25}}
    assert per_model("per_model={sim-wide: {subsample: 0.25}}") == quarter
    both = {"sim-wide": half, "sim-near": {"max_tokens": 9}}
    assert per_model('per_model={"sim-near":{"max_tokens":9}}') == both
    assert per_model(models=("sim-near",)) == {}
    models = "models: [sim-wide, sim-flat], per_model: {sim-flat: {max_tokens: 7}}"
    write_profile(params, models)
    assert per_model() == {"sim-wide": half, "sim-flat": {"max_tokens": 7}}
    write_profile(params, "per_model: {sim-wide: {subsample: none}}")
    place = "profiles/mine.yaml: per_model.sim-wide"
    with refused(ParameterError, place, "subsample = 'none'"):
        per_model()


def test_each_model_is_compared_with_what_the_paper_had_for_it() -> None:
    assert stamp(resolved("prefill=user", models=(GPT,))) == "as the paper"
    fewer = resolved(f"per_model={{{GPT}: {{subsample: 0.05}}}}")
    names(stamp(fewer), "deviates", "subsample 0.05", GPT, "0.125")
    pair = ("llama-3.1-8b", "gemma-3-12b")
    settings = [f"per_model={{{name}: {{prefill: user}}}}" for name in pair]
    [deviation] = deviations(resolved(*settings))
    assert deviation.models == pair


def test_a_number_is_the_same_however_it_is_written() -> None:
    written = resolved("n_problems=800.0", "distractors=[20.0,40,60.0,80]")
    assert written == resolved("n_problems=800", "distractors=[20,40,60,80]")
    assert stamp(written) == "as the paper"
