"""What `--models` and `--set` change is built apart: named, marked, compared, explained, removed."""

from __future__ import annotations

import hashlib
import itertools
import json
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from small_project import Project

from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.variants import LONGEST, Change, short_name
from conftest import ROOT, artefact_of
from openai_server import MODEL, OpenAIServer, completion
from told import names


def fig04(*settings: str, profile: str = "demo", models: tuple[str, ...] = ()) -> Any:
    return artefact_of("origin/fig04", profile, *settings, models=models)


def test_a_value_that_the_profile_has_anyway_is_no_change() -> None:
    models = ("sim-near", "sim-edges", "sim-flat", "sim-wide", "sim-wordy")
    for artefact in (fig04("seed=0", "d=[15]"), fig04("seed=0", models=models)):
        assert artefact.label == "origin/fig04"
        assert artefact.folder.parts[-3:] == ("demo", "origin", "fig04")


@pytest.mark.parametrize(
    ("artefact", "label"),
    [
        (
            fig04("seed=1", "step=16", models=("sim-wide", "sim-flat")),
            "sim-wide+sim-flat,seed=1,step=16",
        ),
        (fig04("d=[1, -15]", profile="paper"), "paper,d=1+-15"),
        (
            fig04("per_model={sim-wide: {max_tokens: 64}}"),
            "per_model=-sim-wide-max_tokens-64-31b70fa2",
        ),
    ],
)
def test_a_label_names_the_changes(artefact: Artefact, label: str) -> None:
    assert artefact.label == f"origin/fig04@{label}"
    assert artefact.folder.parts[-3:] == ("mine", "origin", f"fig04@{label}")
    assert artefact.marks["unchanged"] == f"{artefact.profile}/origin/fig04"


def test_names_are_short_safe_and_different_where_values_are() -> None:
    texts = ["a/b", "a b", "../x", "é", "", "x" * 99, "x" * 100]
    values = ["a+b", ["a", "b"], *texts, None, {}, {"a": 1}, [[1]], [], True]
    short = [short_name("demo", [Change("key", value, None)]) for value in values]
    assert len(set(short)) == len(values)
    for name in short:
        assert len(name) <= LONGEST
        assert name == shlex.quote(name) == Path(name).name
    assert short == [short_name("demo", [Change("key", value, 3)]) for value in values]


@pytest.mark.parametrize(
    "artefact",
    [
        fig04("d=[1, -15]", profile="smoke", models=("sim-wide", "sim-flat")),
        artefact_of("codecrash/tab01", "demo", 'hints="a: b.jsonl"'),
    ],
)
def test_the_printed_command_builds_the_same_again(artefact: Artefact) -> None:
    words = shlex.split(artefact.command)[1:]
    options: dict[str, list[str]] = {"--models": [], "--set": []}
    for flag, value in itertools.pairwise(words):
        options.setdefault(flag, []).append(value)
    models = tuple(" ".join(options["--models"]).split())
    [profile] = options["--profile"]
    again = artefact_of(words[1], profile, *options["--set"], models=models)
    assert again.label == artefact.label
    assert again.parameters == artefact.parameters


def hashes(folder: Path) -> dict[str, str]:
    contents = {}
    for path in folder.rglob("*"):
        if path.is_file():
            contents[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return contents


@pytest.mark.slow
def test_a_changed_figure_lies_apart_and_says_so_everywhere(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.artefact("one")
    project.works("build", kernels=True)
    before = hashes(project.outputs / "demo")
    changes = ["t/one", "--set", "step=100", "--set", "seed=1", "--models", "sim-wide"]
    printed = project.works("build", *changes, kernels=True)
    assert hashes(project.outputs / "demo") == before
    label = "t/one@sim-wide,seed=1,step=100"
    folder = project.outputs / "mine" / label
    manifest = json.loads((folder / "manifest.json").read_text())
    words = manifest["changed"]["told"]
    names(words, "sim-wide (demo: sim-near)", "seed 1 (demo: 0)", "step 100")
    names(manifest["title"], words)
    names(printed, words)
    for page in ("notebook.html", "figure.svg", "../../index.html"):
        names((folder / page).read_text(), words)
    explained = project.works("explain", *changes, "--limit", "0", "--json")
    verdicts = Counter(row["verdicts"]["strict"] for row in json.loads(explained))
    assert verdicts == +Counter(manifest["counts"]["sim-wide"])
    compared = project.run("diff", "demo/t/one", f"mine/{label}")
    assert compared.returncode == 1
    names(compared.stdout, "parameters.seed")
    remove = ["bash", "-c", manifest["changed"]["remove"]]
    subprocess.run(remove, cwd=project.root, check=True)
    assert not folder.exists()
    project.works("report", kernels=True)
    for shelf in ("demo", "mine"):
        assert label not in (project.outputs / shelf / "index.html").read_text()


@pytest.mark.slow
def test_explain_warns_of_a_figure_from_other_answers(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.artefact("one")
    project.works("build", kernels=True)
    assert "t/one" not in project.run("explain", "t/one").stderr
    manifest = project.outputs / "demo/t/one/manifest.json"
    text = manifest.read_text()
    key = '"requests_sha256": "'
    manifest.write_text(text.replace(key, f"{key}0"))
    names(project.run("explain", "t/one").stderr, "t/one", "make t/one PROFILE=demo")


@pytest.mark.slow
def test_a_model_at_a_url_is_asked_and_keeps_its_name(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.artefact("one")
    with OpenAIServer(lambda _: completion("FINAL ANSWER: workbench")) as server:
        project.works("plan", "t/one", "--models", server.base_url)
        assert server.requests == []
        project.works("build", "t/one", "--models", server.base_url)
    name = f"{MODEL}@127.0.0.1-{server.port}"
    assert (project.outputs / f"mine/t/one@{name}/manifest.json").is_file()
    rows = (project.outputs / "models.yaml").read_text()
    assert f"base_url: {server.base_url}" in rows
    # The server is gone; the stored responses suffice.
    project.works("build", "t/one", "--models", name)
    project.works("explain", "t/one", "--models", name)
    gone = (server.base_url,)
    project.fails("build", "t/one", "--models", *gone, parts=gone)


def test_make_clean_spares_what_somebody_made(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    outputs = tmp_path / "outputs"
    spared = ["batches", "data", "mine", "nano", "try"]
    for folder in ("demo/origin/fig04", "mine/origin/fig04@seed=1", *spared):
        (outputs / folder).mkdir(parents=True, exist_ok=True)
        (outputs / folder / "manifest.json").touch()
    (outputs / "responses.sqlite").touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    rest = {path.name for path in outputs.iterdir()}
    assert rest == {*spared, "responses.sqlite"}
