"""Builds resume, build again exactly what changed, and fail alone what cannot be built."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from small_project import WITHOUT_KERNELS, Project, answers_late

from conftest import ran
from openai_server import OpenAIServer
from told import names


@pytest.mark.slow
def test_a_failed_artefact_is_tried_again_until_it_is_mended(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.artefact("bad", "1 / 0")
    project.artefact("good")
    copy = project.outputs / "failed/demo/t/bad"
    for state in ("built", "up to date"):
        assert project.states() == {"t/bad": "failed", "t/good": state}
        assert copy.exists()
    project.artefact("bad")
    assert project.states() == {"t/bad": "built", "t/good": "up to date"}
    assert not copy.exists()


def test_exactly_what_changed_is_built_again(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for name in ("one", "two", "three"):
        project.artefact(name)
    project.run("build")
    notebook = project.root / "notebooks/t/one.ipynb"
    notebook.write_text(notebook.read_text().replace("right answers", "RIGHT answers"))
    (project.outputs / "demo/t/two/table.csv").unlink()
    built = dict.fromkeys(("t/one", "t/two", "t/three"), "built")
    assert project.states() == built | {"t/three": "up to date"}
    models = project.root / "params/models.yaml"
    models.write_text(models.read_text().replace("the end best", "its end best"))
    assert project.states() == built


# Long, and in `make test`: the others there ask an engine, this one the whole command.
def test_no_key_no_server_and_garbage_are_clear_errors(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.artefact("one")
    key = ("OPENAI_API_KEY",)
    project.fails("build", "--models", "gpt-4o-mini-2024-07-18", parts=key)
    assert not (project.outputs / "demo/t").exists()
    closed = "http://127.0.0.1:9/v1"
    with OpenAIServer() as server:
        project.serve(f"{server.base_url}/nowhere")
        project.fails("build", "--models", "served", parts=("served",))
        project.serve(closed)
        project.fails("build", "--models", "served", parts=(closed, "base_url"))


# Long, and in `make test` once: nothing else there ends a build from outside.
@pytest.mark.parametrize(
    "stage", [pytest.param("requests", marks=pytest.mark.slow), "notebook"]
)
def test_a_killed_build_resumes_without_loss(tmp_path: Path, stage: str) -> None:
    project = Project(tmp_path)
    project.artefact("one")
    hold = project.root / "hold"
    hold.touch()
    staging = project.outputs / "mine/.staging"
    command = ("build", "--models", "served", "--set", "step=30")
    with OpenAIServer(answers_late) as server:
        project.serve(server.base_url, concurrency=2)
        process = project.start(*command)
        while not any(staging.glob("*")):
            if stage == "requests" and len(server.requests) >= 10:
                break
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        process.kill()
        process.communicate()
        before = len(server.requests)
        hold.unlink()
        assert "1 built" in project.works(*command)
        # Only requests that were in flight are sent twice.
        in_flight = 2 if stage == "requests" else 0
        responses = project.count_responses()
        assert before <= responses <= len(server.requests) <= responses + in_flight
        assert responses > 25
    assert list(staging.glob("*")) == []


@pytest.mark.slow
def test_an_interrupted_build_says_how_to_resume(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.artefact("one")
    with OpenAIServer(answers_late) as server:
        project.serve(server.base_url, concurrency=1)
        process = project.start("build", "--models", "served", "--set", "step=5")
        while len(server.requests) < 4:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    names(errors, "again")
    assert "Traceback" not in errors
    assert project.count_responses() > 0


def test_a_server_that_continues_no_begun_answer_fails_only_what_needs_it(
    tmp_path: Path,
) -> None:
    environment = os.environ | {"CODESTRESS_OUTPUTS": str(tmp_path)}
    environment["CODESTRESS_STORE"] = str(tmp_path / "s.sqlite")
    build = ["build", "semtrace/fig01", "origin/fig01", "--profile", "smoke", "--json"]
    with OpenAIServer(prefill="ignored") as server:
        change = ("--models", server.base_url, "--set", "prefill=assistant")
        process = ran(*WITHOUT_KERNELS, *build, *change, env=environment)
    outcomes = {}
    for outcome in json.loads(process.stdout):
        outcomes[outcome["name"].partition("@")[0]] = outcome
    assert outcomes["origin/fig01"]["state"] == "built", process.stderr
    names(outcomes["semtrace/fig01"]["error"], "cannot continue a begun answer")


def test_a_faulty_file_of_published_numbers_is_named_before_any_request(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path)
    project.artefact("a")
    (project.root / "params/published").mkdir()
    (project.root / "params/published/t.json").write_text("[1, {}]")
    project.fails("build", parts=("t.json",))
    assert not (project.outputs / "responses.sqlite").exists()
