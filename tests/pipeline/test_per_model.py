"""Settings of one model within an artefact: who may write them, what is asked, counted, stamped and planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from codestress import artefact_files
from codestress.artefact_files import artefact_names, read_artefact
from codestress.errors import EngineError, ParameterError
from codestress.inference.run import run
from codestress.papers.semtrace.studies import Positions
from codestress.parameters import Asked, Experiment, questions
from codestress.pipeline.artefacts import load_study, resolve
from codestress.pipeline.explain import explain
from codestress.pipeline.plan import check_windows, make_plan, show_requests
from codestress.report.protocol import deviations, stamp
from codestress.types import Outcome
from conftest import artefact_of
from openai_server import OpenAIServer, Received, Reply, completion, failure
from served import Served
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
    given = artefact_of(name, profile, *settings, models=models).parameters
    assert isinstance(given, Asked)
    return given


def test_the_papers_settings_of_gpt_4_1_stand_in_every_artefact_that_asks_it() -> None:
    asking = [
        name
        for name in artefact_names()
        if name.startswith("semtrace")
        and issubclass(load_study(read_artefact(name).study, name), Asked)
    ]
    others = {}
    for name in asking:
        given = resolved(name=name)
        own = dict(given.per_model)
        assert own.pop(GPT, None) == (OWN if GPT in given.models else None)
        if own:
            others[name] = [*own]
    # The Python interpreter, which is asked beside the models, executes programs: it is shown them.
    assert others == {"semtrace/sensitivity": ["python"]}


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
        given = Positions(**SMALL | own, models=["sim-near"], seed=seed)
        return {trial.problem for trial in questions(given).of("sim-near").items}

    assert problems(0.125) < problems(0.25) < problems(1.0)
    assert len(problems(0.125)) == 8
    assert problems(0.125) == problems(0.125) != problems(0.125, seed=1)


def test_a_server_that_continues_no_begun_answer_is_asked_in_its_own_way(
    served: Served,
) -> None:
    def behaviour(received: Received) -> Reply:
        begun = received.body["messages"][-1]["role"] == "assistant"
        if begun and received.body["model"] == "whole":
            return failure(400, "the last message must not be the assistant's")
        return completion(" 1" if begun else "assert f(1) == 1")

    plain = Positions(**SMALL, models=["begun", "whole"], prefill="assistant")
    given = plain.model_copy(update={"per_model": {"whole": OWN}})
    with OpenAIServer(behaviour) as server:
        served.rows(server, *plain.models, prefill="vllm")
        with refused(EngineError, "whole", "must not be the assistant's"):
            served.run(questions(plain), *plain.models)
        results = served.run(questions(given), *given.models)
    counts = results.counts().values()
    assert [sum(one.values()) for one in counts] == [32, 4]
    assert all(one[Outcome.HARNESS_ERROR.value] == 0 for one in counts)
    problems = results.answers.groupby("model")["problem"].agg(set)
    assert problems["whole"] < problems["begun"]


def test_explanations_and_shown_requests_are_the_models_own(tmp_path: Path) -> None:
    own = ("per_model={sim-wide: {prefill: user}}", "tasks=[output_prediction]")
    artefact = artefact_of("semtrace/fig01", "smoke", *own)
    begun = {
        (one["factors"]["model"], bool(one["prompt"]["prefill"]))
        for one in show_requests(artefact, {})
    }
    assert begun == {("sim-near", True), ("sim-wide", False)}
    models = ["sim-near", "sim-wide"]
    results = run(artefact.trials(), models, store=tmp_path / "s.sqlite")
    told = {
        one["factors"]["model"]: one["prompt"]
        for one in explain(results, "strict", {})
        if one["factors"]["position"] == 0
    }
    assert told["sim-wide"].startswith(told["sim-near"])
    assert told["sim-wide"] != told["sim-near"]


def test_a_plan_counts_the_problems_of_each_model(tmp_path: Path) -> None:
    settings = (
        f"per_model={{{GPT}: {{subsample: 0.125}}}}",
        *("problems=[generated]", "distractor_source=installed", "distractors=[2]"),
        *("n_problems=80", "positions=2"),
    )
    models = (GPT, "llama-3.1-8b", "gemma-3-12b")
    artefact = artefact_of("semtrace/fig01", "paper", *settings, models=models)
    rows, errors = make_plan([artefact], tmp_path / "s.sqlite")
    assert not errors
    assert [row.model for row in rows] == [*models]
    counts = [(row.problems, row.requests) for row in rows]
    assert counts == [(10, 40), (80, 320), (80, 320)]
    check_windows(artefact, artefact.trials())


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ("{gpt-4.1: {prefill: user}}", "per_model.gpt-4.1 =|not asked|'{GPT}'"),
        ("{{GPT}: {prefil: user}}", "per_model.{GPT}|prefil = 'user'|'prefill'"),
        ("{{GPT}: {prefill: robot}}", "prefill = 'robot'|'assistant' or 'user'"),
        ("{{GPT}: {max_tokens: lots}}", "max_tokens = 'lots'|valid integer"),
        ("{{GPT}: {subsample: 2}}", "subsample = 2|equal to 1"),
        ("{{GPT}: {positions: 5}}", "positions = 5|prefill|max_tokens"),
        ("3", "per_model = 3|dictionary"),
        ("{{GPT}: 3}", "per_model.{GPT} = 3|dictionary"),
        ("{7: {prefill: user}}", "per_model.7|valid string"),
    ],
)
def test_bad_settings_of_one_model(own: str, named: str) -> None:
    parts = named.replace("{GPT}", GPT).split("|")
    with refused(ParameterError, "--set", *parts):
        resolved(f"per_model={own.replace('{GPT}', GPT)}")


@pytest.mark.parametrize(
    ("setting", "named"),
    [
        ("per_model.prefill=user", "'per_model={MODEL: {PARAMETER: V}}'"),
        ("per_modl.x.prefill=user", "per_modl.x.prefill = 'user'"),
    ],
)
def test_a_path_of_keys_is_no_setting_of_one_model(setting: str, named: str) -> None:
    with refused(ParameterError, named):
        resolved(setting)


def test_studies_whose_models_are_alike_say_so() -> None:
    with refused(ParameterError, "per_model = {'python'"):
        resolved("per_model={python: {max_tokens: 3}}", name="faultloc/fig05")
    own = "per_model={sim-wide: {content: bank}}"
    with refused(ParameterError, "content = 'bank'", "max_tokens"):
        resolved(own, models=("sim-wide",), name="faultloc/tab02")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for folder in ("profiles", "semtrace"):
        (tmp_path / folder).mkdir()
    profile(tmp_path)
    monkeypatch.setattr(artefact_files, "PARAMS", tmp_path)
    monkeypatch.setattr(artefact_files, "PROFILES", tmp_path / "profiles")
    return tmp_path


def write(folder: Path, own: str) -> None:
    (folder / "semtrace" / "a.yaml").write_text(
        "title: t\nnotebook: semtrace/positions.ipynb\nstudy: semtrace.target_positions\n"
        f"parameters:\n  models: [sim-near, sim-wide]\n  per_model: {own}\n"
    )


def profile(folder: Path, parameters: str = "") -> None:
    (folder / "profiles" / "mine.yaml").write_text(
        f"description: mine\nparameters: {{semtrace/*: {{{parameters}}}}}\n"
    )


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ("{sim-wid: {prefill: user}}", (".sim-wid =", "'sim-wide'")),
        ("{sim-wide: {subsample: all}}", (".sim-wide", "subsample = 'all'", "number")),
        ("{sim-wide: }", (".sim-wide = None", "dictionary")),
    ],
)
def test_bad_settings_in_a_file_name_it(
    own: str, named: tuple[str, ...], files: Path
) -> None:
    write(files, own)
    with refused(ParameterError, "semtrace/a.yaml: per_model", *named):
        resolved(name="semtrace/a", profile="mine")


def test_settings_win_one_by_one_and_go_with_their_model(files: Path) -> None:
    write(files, "{sim-wide: {prefill: user, subsample: 0.5}}")

    def own(*settings: str, **more: Any) -> dict[str, dict[str, Any]]:
        given = resolved(*settings, name="semtrace/a", profile="mine", **more)
        return given.per_model

    half = {"prefill": "user", "subsample": 0.5}
    quarter = half | {"subsample": 0.25}
    assert own("per_model={sim-wide: {subsample: 0.25}}") == {"sim-wide": quarter}
    both = {"sim-wide": half, "sim-near": {"max_tokens": 9}}
    assert own('per_model={"sim-near":{"max_tokens":9}}') == both
    assert own(models=("sim-near",)) == {}
    profile(
        files, "models: [sim-wide, sim-flat], per_model: {sim-flat: {max_tokens: 7}}"
    )
    assert own() == {"sim-wide": half, "sim-flat": {"max_tokens": 7}}
    profile(files, "per_model: {sim-wide: {subsample: none}}")
    place = "profiles/mine.yaml: per_model.sim-wide"
    with refused(ParameterError, place, "subsample = 'none'"):
        own()


def test_each_model_is_held_against_what_the_paper_had_for_it() -> None:
    def stamped(*settings: str, **models: Any) -> str:
        return stamp(resolved(*settings, **models))

    for settings in (
        "per_model={llama-3.1-8b: {max_tokens: 256}}",
        f"per_model={{{GPT}: {{max_tokens: 256.0}}}}",
    ):
        assert stamped(settings) == "as the paper"
    assert stamped() == stamped(models=(GPT,)) == "as the paper"
    assert stamped("prefill=user", models=(GPT,)) == "as the paper"
    own = stamped(f"per_model={{{GPT}: {{subsample: 0.05}}}}")
    names(own, "deviates", "subsample 0.05", GPT, "0.125")
    without = stamped(f"per_model={{{GPT}: {{prefill: assistant}}}}", models=(GPT,))
    names(without, "deviates", "prefill assistant", "user")
    pair = ("llama-3.1-8b", "gemma-3-12b")
    other = resolved(*[f"per_model={{{name}: {{prefill: user}}}}" for name in pair])
    names(stamp(other), "deviates", "prefill user", "assistant")
    [both] = deviations(other)
    assert both.models == pair


@pytest.mark.parametrize(
    ("written", "same"),
    [
        ("n_problems=800.0", "n_problems=800"),
        ("distractors=[20.0,40,60.0,80]", "distractors=[20,40,60,80]"),
        ("subsample=1", "subsample=1.0"),
    ],
)
def test_a_number_is_the_same_however_it_is_written(written: str, same: str) -> None:
    assert resolved(written) == resolved(same)
    assert stamp(resolved(written)) == "as the paper"
    with refused(ParameterError, "n_problems = 20.5"):
        resolved("n_problems=20.5")


def test_every_study_that_lets_models_differ_asks_them() -> None:
    found = {read_artefact(name).study: name for name in artefact_names()}
    for study_name, name in found.items():
        study = load_study(study_name, name)
        single = getattr(study, "SINGLE", ())
        assert set(single) <= set(study.model_fields), study_name
        assert not single or issubclass(study, Experiment), study_name


def test_a_plan_counts_later_requests_of_trials_that_share_their_first(
    tmp_path: Path,
) -> None:
    settings = ("programs=[java]", "n_programs=1", "spms=[names]", "content=bank")
    own = ["sim-careful"], (*settings, "strengths=[1,2]")
    found = resolve(["faultloc/fig06", "faultloc/fig07"], "smoke", *own)
    trials = found[0].trials()
    tasks = sum(trial.factors["spm"] == "none" for trial in trials.items)
    later = len(trials.items) - tasks
    row, again = make_plan(found, tmp_path / "s.sqlite").rows
    assert tasks
    assert later > tasks
    assert row.missing == tasks + later
    assert row.longest == row.missing * 512
    assert again.missing == 0
    assert (again.answered, again.repeated) == (0, again.requests)
