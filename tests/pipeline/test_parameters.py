"""Wrong parameters are refused before anything runs, with file, key, value and the nearest valid name."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import Project

from codestress.artefact_files import artefact_names, load_profile, profile_names
from codestress.errors import DataError, ParameterError
from codestress.inference.registry import load_registry
from codestress.parameters import Asked
from codestress.pipeline.artefacts import resolve, select
from codestress.validation import read_yaml
from conftest import artefact_of, forget, some
from told import refused


@pytest.mark.slow
@pytest.mark.parametrize("profile", profile_names())
def test_every_artefact_of_every_profile_resolves_and_renders(
    profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without data sets, also where an earlier test read them."""
    monkeypatch.delenv("CODESTRESS_DATA", raising=False)
    forget()
    selected = select([], load_profile(profile))
    assert profile == "try" or selected == artefact_names()
    artefacts = resolve(selected, profile)
    assert [artefact.name for artefact in artefacts] == selected
    missing = []
    for artefact in some(artefacts, 6):
        try:
            trials = artefact.trials()
            prompts = [trials.render(trial) for trial in trials.items[-1:]]
        except DataError:
            missing.append(artefact.name)
            continue
        assert bool(prompts) == isinstance(artefact.parameters, Asked), artefact.name
        assert all(prompt.messages[-1].content for prompt in prompts), artefact.name
    assert profile == "paper" or missing == []


@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ("lins=3", ("lins = 3", "'lists'")),
        ("seed='1'", ("seed = '1'", "integer")),
        ("d=[0]", ("d.0 = 0",)),
        ("wording=[as_runn]", ("wording.0 = 'as_runn'", "'as_run'", "'as_printed'")),
        ("seed", ("'seed'", "KEY=VALUE")),
        ("seed=[", ("seed=[", "YAML")),
    ],
)
def test_a_wrong_setting_is_refused(setting: str, parts: tuple[str, ...]) -> None:
    with refused(ParameterError, *parts):
        artefact_of("origin/fig04", "demo", setting, "lists=2")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("origen/fig01", ("'origen/fig01'", "'origin/fig01'")),
        # Folders of outputs name no artefact.
        ("paper/semtrace/fig01", ("--profile", "--models", "--set")),
        ("origin/fig04@seed=1", ("--profile", "--models", "--set")),
    ],
)
def test_a_word_that_names_no_artefact_gets_advice(
    name: str, parts: tuple[str, ...]
) -> None:
    with refused(ParameterError, name, *parts):
        select([name], load_profile("demo"))


def test_a_setting_reaches_the_artefacts_that_have_its_key() -> None:
    chosen = ["origin/fig04", "origin/sec62"]
    first, second = resolve(chosen, "demo", settings=["step=16"])
    assert first.parameters.model_dump()["step"] == 16
    assert "step" not in second.parameters.model_dump()
    with refused(ParameterError, "stepp", "'step'"):
        resolve(chosen, "demo", settings=["stepp=16"])


ARTEFACT = "title: t\nnotebook: origin/shares.ipynb\nstudy: origin.find_the_origin\n"
UNKNOWN = "description: d\nparameters: {origin/fig99: {seed: 1}}\n"


@pytest.mark.parametrize(
    ("file", "content", "parts"),
    some(
        [
            ("t/a", ARTEFACT + "parameter: {}\n", ("parameter = {}", "'parameters'")),
            ("t/a", "title: t\nnotebook: n\n", ("study: required",)),
            ("t/a", ARTEFACT.replace("origin\n", "orign\n"), ("find_the_origin",)),
            ("t/a", ARTEFACT.replace("shares", "sharez"), ("sharez.ipynb",)),
            ("profiles/demo", UNKNOWN, ("'origin/fig99'",)),
        ],
        3,
    ),
)
def test_a_faulty_file_of_params_is_named(
    file: str, content: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    project = Project(tmp_path)
    project.artefact("a")
    (project.root / f"params/{file}.yaml").write_text(content)
    parts = (f"params/{file}.yaml", *parts)
    project.fails("plan", "t/a", parts=parts, kernels=True)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("title: [\n", "YAML"),
        ("- a\n", "list"),
        ("parameters:\n  a: {seed: 1}\n  a: {step: 4}\n", "'a'"),
        ("[" * 200 + "]" * 200, "levels"),
    ],
)
def test_a_file_that_is_no_mapping_is_named(
    content: str, parts: str, tmp_path: Path
) -> None:
    path = tmp_path / "profile.yaml"
    path.write_text(content)
    with refused(ParameterError, path, parts):
        read_yaml(path)


def test_an_unknown_name_gets_the_nearest_one_or_all() -> None:
    with refused(ParameterError, "'dem'", "'demo'"):
        load_profile("dem")
    with refused(ParameterError, "--models", "sim-neer", "models.yaml", "'sim-near'"):
        artefact_of("origin/fig04", "demo", models=("sim-neer",))
    with refused(ParameterError, "'xyz'", "valid names", "paper, smoke"):
        load_profile("xyz")


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ("m: {engine: opnai, settings: {}}", ("'opnai'", "'openai'")),
        ("m: {engine: openai, settings: {base_ulr: x}}", ("base_ulr =", "'base_url'")),
        ("m: {engine: simulated, settings: {capacity: 1}}", ("'sim-'",)),
        (
            "sim-m: {engine: simulated, settings: {capacity: big}}",
            ("capacity = 'big'", "number"),
        ),
        ("m: 3", ("mapping",)),
        ("m: {engine: openai, contxt: 3}", ("contxt = 3", "'context'")),
    ],
)
def test_a_wrong_row_of_the_registry_is_refused(
    row: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(row)
    with refused(ParameterError, f"{path}: {row.partition(':')[0]}", *parts):
        load_registry(path)
