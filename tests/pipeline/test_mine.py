"""What `--models` and `--set` change is built apart: named, marked, compared, explained, removed."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from test_failures import Project, project  # noqa: F401

from codestress.pipeline.artefacts import Artefact
from codestress.pipeline.diff import differences
from codestress.pipeline.variants import LONGEST, Change, short_name
from conftest import ROOT, artefact_of
from openai_server import MODEL, OpenAIServer, completion
from told import names


def fig04(
    *settings: str, models: tuple[str, ...] = (), profile: str = "demo"
) -> Artefact:
    return artefact_of("origin/fig04", profile, *settings, models=models)


def test_a_value_that_the_profile_has_anyway_is_no_change() -> None:
    models = ("sim-near", "sim-edges", "sim-flat", "sim-wide", "sim-wordy")
    for found in (fig04(), fig04("seed=0", "d=[15]"), fig04("seed=0", models=models)):
        assert found.label == "origin/fig04"
        assert found.folder.parts[-3:] == ("demo", "origin", "fig04")


@pytest.mark.parametrize(
    ("found", "label"),
    [
        (fig04("step=16", "seed=1"), "seed=1,step=16"),
        (fig04("seed=1", "step=16"), "seed=1,step=16"),
        (fig04(models=("sim-wide",)), "sim-wide"),
        (fig04("seed=1", models=("sim-wide", "sim-flat")), "sim-wide+sim-flat,seed=1"),
        (fig04("d=[1, -15]", profile="paper"), "paper,d=1+-15"),
        (
            fig04("per_model={sim-wide: {max_tokens: 64}}"),
            "per_model=-sim-wide-max_tokens-64-31b70fa2",
        ),
    ],
)
def test_a_name_says_what_was_changed(found: Artefact, label: str) -> None:
    assert found.label == f"origin/fig04@{label}"
    assert found.folder.parts[-3:] == ("mine", "origin", f"fig04@{label}")
    assert found.marks["unchanged"] == f"{found.profile}/origin/fig04"


def test_names_are_short_safe_and_different_where_values_are() -> None:
    texts = ["a/b", "a b", "../x", "é", "", "x" * 99, "x" * 100]
    values = ["a+b", ["a", "b"], *texts, None, {}, {"a": 1}, [[1]], [], True]
    short = [short_name("demo", [Change("key", value, None)]) for value in values]
    assert len(set(short)) == len(values)
    for name in short:
        assert len(name) <= LONGEST
        assert name == shlex.quote(name) == Path(name).name
    assert short[1] == "key=a+b"
    assert short == [short_name("demo", [Change("key", value, 3)]) for value in values]


@pytest.mark.parametrize(
    "found",
    [
        fig04(
            "d=[1, -15]", "step=16", models=("sim-wide", "sim-flat"), profile="smoke"
        ),
        fig04("per_model={sim-wide: {max_tokens: 64}}", "failures=count"),
        fig04("wording=[as_printed]", "shuffled=[true]"),
        artefact_of("codecrash/tab01", "demo", 'hints="a: b.jsonl"'),
    ],
)
def test_the_command_builds_the_same_again(found: Artefact) -> None:
    words = shlex.split(found.command)[1:]
    given: dict[str, list[str]] = {"--models": [], "--set": []}
    for flag, value in itertools.pairwise(words):
        given.setdefault(flag, []).append(value)
    models = tuple(" ".join(given["--models"]).split())
    [profile] = given["--profile"]
    again = artefact_of(words[1], profile, *given["--set"], models=models)
    assert (again.label, again.parameters) == (found.label, found.parameters)


def hashes(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


@pytest.mark.slow
def test_a_changed_figure_lies_apart_and_says_so_everywhere(project: Project) -> None:  # noqa: F811
    project.artefact("one")
    run = functools.partial(project.run, kernels=True)
    assert run("build").returncode == 0
    outputs = project.root / "outputs"
    before = hashes(outputs / "demo")
    own = ["t/one", "--set", "step=100", "--set", "seed=1", "--models", "sim-wide"]
    done = run("build", *own)
    assert done.returncode == 0, done.stderr
    label = "t/one@sim-wide,seed=1,step=100"
    folder = outputs / "mine" / label
    assert hashes(outputs / "demo") == before
    manifest = json.loads((folder / "manifest.json").read_text())
    told = manifest["changed"]["told"]
    for change in ("sim-wide demo sim-near", "seed 1 0", "step 100 300"):
        names(told, *change.split())
    pages = ("notebook.html", "figure.svg", "../../index.html")
    texts = [(folder / page).read_text() for page in pages]
    for text in (manifest["title"], done.stdout, *texts):
        names(text, told)
    # Explained are the answers that the figure counts.
    found = run("explain", *own, "--limit", "0", "--json")
    verdicts = Counter(row["verdicts"]["strict"] for row in json.loads(found.stdout))
    assert verdicts == +Counter(manifest["counts"]["sim-wide"])
    table = pd.read_csv(folder / "table.csv")
    [share] = table.loc[table["label"] == "sim-wide", "accuracy"]
    assert share == pytest.approx(verdicts["correct"] / verdicts.total())
    names(run("show", *own).stdout, "model = sim-wide")
    compared = run("diff", "demo/t/one", f"mine/{label}")
    assert compared.returncode == 1
    names(compared.stdout, "parameters.seed")
    # The profile's report has its own alone; removed as typed, the changed one is gone.
    remove = ["bash", "-c", manifest["changed"]["remove"]]
    subprocess.run(remove, cwd=project.root, check=True)
    assert not folder.exists()
    assert run("report").returncode == 0
    for page in ("demo", "mine"):
        assert label not in (outputs / page / "index.html").read_text()


@pytest.mark.slow
def test_it_is_up_to_date_fails_and_is_built_again_by_itself(project: Project) -> None:  # noqa: F811
    for name in ("one", "two"):
        project.artefact(name)
    assert project.run("build").returncode == 0
    before = hashes(project.root / "outputs/demo")
    change = ("--set", "seed=1")
    changed = ("t/one@seed=1", "t/two@seed=1")
    assert project.states(*change) == dict.fromkeys(changed, "built")
    current = dict.fromkeys(changed, "up to date")
    assert project.states(*change) == current
    same = project.states("--set", "seed=0")
    assert same == dict.fromkeys(("t/one", "t/two"), "up to date")
    project.artefact("two", "1 / 0")
    assert project.states(*change) == current | {changed[1]: "failed"}
    failed = project.root / "outputs/failed"
    assert (failed / "mine/t/two@seed=1/error.txt").is_file()
    assert not (failed / "demo").exists()
    assert hashes(project.root / "outputs/demo") == before
    export = ("archive", "export", str(project.root / "a.gz"), "t/one")
    assert project.run(*export, *change).stdout.split()[0] == "4"


@pytest.mark.slow
def test_explain_says_where_a_figure_is_not_of_these_answers(project: Project) -> None:  # noqa: F811
    project.artefact("one")
    assert project.run("build", kernels=True).returncode == 0
    found = project.run("explain", "t/one")
    assert found.returncode == 0, found.stderr
    assert "t/one" not in found.stderr
    manifest = project.root / "outputs/demo/t/one/manifest.json"
    manifest.write_text(
        manifest.read_text().replace('"requests_sha256": "', '"requests_sha256": "0')
    )
    names(project.run("explain", "t/one").stderr, "t/one", "make t/one PROFILE=demo")


@pytest.mark.slow
def test_a_model_at_a_url_is_asked_and_keeps_its_name(project: Project) -> None:  # noqa: F811
    project.artefact("one")
    rows = project.root / "outputs/models.yaml"

    def works(command: str, model: str) -> None:
        done = project.run(command, "t/one", "--models", model)
        assert done.returncode == 0, done.stderr

    with OpenAIServer(lambda _: completion("FINAL ANSWER: workbench")) as server:
        works("plan", server.base_url)
        assert server.requests == []
        works("build", server.base_url)
    name = f"{MODEL}@127.0.0.1-{server.port}"
    assert (project.root / f"outputs/mine/t/one@{name}/manifest.json").is_file()
    assert f"base_url: {server.base_url}" in rows.read_text()
    # From what was answered: the server is gone.
    works("build", name)
    works("explain", name)
    gone = (server.base_url,)
    project.fails("build", "t/one", "--models", *gone, named=gone)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (3, [("data.interval:", "3 of 3"), ("data.share:", "1 of 3 rows", "0.4")]),
        (1, [("data:", "3 rows", "1 rows")]),
    ],
)
def test_rows_are_compared_by_their_places(
    rows: int, told: list[tuple[str, ...]], tmp_path: Path
) -> None:
    columns = {"interval": "Wilson, 9", "share": [0.1, 0.2, 0.3]}
    first = pd.DataFrame({"model": list("abc")} | columns)
    second = first.assign(interval="Wilson, 5", share=[0.1, 0.6, 0.3]).head(rows)
    for name, frame, right in (("first", first, 1), ("second", second, 2)):
        (tmp_path / name).mkdir()
        frame.to_parquet(tmp_path / name / "data.parquet")
        counts = {"counts": {"a": {"correct": right, "missing": 0}}}
        (tmp_path / name / "manifest.json").write_text(json.dumps(counts))
    found = differences(tmp_path / "first", tmp_path / "second", ("counts",))
    counts = ("counts.a:", "{'correct': 1}", "{'correct': 2}")
    for line, parts in zip(found, [counts, *told], strict=True):
        names(line, *parts)


def test_make_clean_keeps_what_somebody_made(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    folders = ["demo/origin/fig04", "mine/origin/fig04@seed=1", "data/x"]
    for name in (*folders, "failed/mine", "batches", "nano", "try/m"):
        (tmp_path / "outputs" / name).mkdir(parents=True)
        (tmp_path / "outputs" / name / "manifest.json").touch()
    (tmp_path / "outputs" / "responses.sqlite").touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    left = sorted(path.name for path in (tmp_path / "outputs").iterdir())
    assert left == ["batches", "data", "mine", "nano", "responses.sqlite", "try"]
