"""Answers that somebody published become those of a model, labelled as what they are."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from codestress import cli
from codestress.errors import DataError, EngineError, ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.requests import request_of
from codestress.inference.run import run
from codestress.inference.store import Store
from codestress.pipeline.adopt import Adopted, adopt
from codestress.pipeline.artefacts import Artefact
from codestress.types import Response
from conftest import artefact_of
from told import names, refused

MODEL = "gpt-4o-mini-2024-07-18"


@pytest.fixture
def artefact() -> Artefact:
    settings = "perturbations=[VAN,REN]"
    return artefact_of("codecrash/tab01", "smoke", settings, models=(MODEL,))


def whole(artefact: Artefact) -> dict[str, list[str | None]]:
    """An answer to each sample of each problem."""
    items = artefact.trials().items
    samples = 1 + max(trial.sample for trial in items)
    return {trial.problem: ["'x'"] * samples for trial in items}


def adopted(
    artefact: Artefact, folder: Path, answers: Any, form: str = "{}", **where: str
) -> Adopted:
    """Takes answers of the file `published.json` into the store `s.sqlite`."""
    file, entry = folder / "published.json", load_registry()[MODEL]
    file.write_text(json.dumps(answers))
    return adopt(file, answers, artefact, entry, where, folder / "s.sqlite", form)


def test_published_answers_are_taken_once_and_named(
    artefact: Artefact, tmp_path: Path
) -> None:
    trials, file = artefact.trials(), tmp_path / "published.json"
    answers = whole(artefact) | {"other": ["1", "2"]}
    first, second, *_ = answers
    del answers[first]
    answers[second][0] = None
    questions = sum(
        trial.problem != first and (trial.problem, trial.sample) != (second, 0)
        for trial in trials.items
    )
    with refused(DataError, "--form", "None", "{}"):  # each answer would be the same
        adopted(artefact, tmp_path, answers, form="None")
    assert not (tmp_path / "s.sqlite").exists()
    found = adopted(artefact, tmp_path, answers)
    assert found.taken == questions
    assert found.lacking == len(trials.items) - questions
    assert found.unused == 2 + 1
    again = adopted(artefact, tmp_path, answers, perturbation="van")
    assert again.taken == 0
    assert 0 < again.answered < found.taken
    with refused(ParameterError, "perturbations", "'perturbation'"):
        adopted(artefact, tmp_path, answers, perturbations="van")
    with refused(DataError, file, "codecrash/tab01", first, "'sample_0'"):
        adopted(artefact, tmp_path, {"sample_0": ["1"]})


def test_a_figure_from_published_answers_names_their_file(
    artefact: Artefact, tmp_path: Path
) -> None:
    adopted(artefact, tmp_path, whole(artefact))
    results = run(artefact.trials(), [MODEL], store=tmp_path / "s.sqlite")
    assert results.asked == 0
    [[said]] = results.answered_by().values()
    assert said.startswith("published.json sha256 ")


def test_rows_without_an_id_are_named(tmp_path: Path) -> None:
    file = tmp_path / "published.jsonl"
    rows = [{"id": "z", "answer": "1"}, {"answer": "2"}, {"id": " ", "answer": "3"}]
    file.write_text("\n".join(map(json.dumps, rows)))
    command = ["archive", "adopt", str(file), "codecrash/tab01", "--profile", "smoke"]
    done = CliRunner().invoke(cli.cli, [*command, "--model", MODEL])
    assert isinstance(done.exception, DataError)  # the other row answers no question
    names(done.output, "rows without id", ": 2, 3")


def test_another_server_s_answer_is_no_model_s_own(
    artefact: Artefact, tmp_path: Path
) -> None:
    trials = artefact.trials()
    asked = request_of(trials, trials.items[0], load_registry()[MODEL])
    other = Response("4", "stop", server="https://other.example:443/v1")
    with Store(tmp_path / "s.sqlite") as store:
        store.put(asked.key, MODEL, other)
    with refused(EngineError, "https://other.example", "revision"):
        adopted(artefact, tmp_path, {trials.items[0].problem: ["'x'"]})


def test_serve_says_what_it_would_start() -> None:
    def serve(name: str, *words: str) -> Result:
        return CliRunner().invoke(cli.cli, ["serve", name, "--dry-run", *words])

    done = serve("llama-3.1-70b", "--python", "/x/python")
    assert done.exit_code == 0
    names(
        done.output,
        "/x/python -m vllm.entrypoints.openai.api_server",
        "--served-model-name meta-llama/Llama-3.1-70B-Instruct",
        "--tensor-parallel-size 4",
    )
    for name in ("sim-near", MODEL):
        done = serve(name)
        assert isinstance(done.exception, ParameterError)
        names(done.exception, name)


@pytest.mark.slow
def test_cruxeval_s_published_answers_give_its_published_score(
    shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_DATA", str(shared_data))
    generations = (
        shared_data
        / "cruxeval-samples"
        / "sample_codellama-7b_temp0.2_output_generations.json.gz"
    )
    settings = ("perturbations=[VAN,REN]", "problems=[cruxeval]", "samples_direct=10")
    own = {"models": ("codellama-7b",)}
    artefact = artefact_of("codecrash/tab01", "paper", *settings, **own)
    store = tmp_path / "s.sqlite"
    answers = json.loads(gzip.decompress(generations.read_bytes()))
    asked = (artefact, artefact.models[0], {"perturbation": "VAN"})
    found = adopt(generations, answers, *asked, store, "[ANSWER]{}[/ANSWER]")
    assert (found.taken, found.lacking, found.unused) == (8000, 0, 0)
    trials = artefact.trials()
    vanilla = [one for one in trials.items if one.factors["perturbation"] == "VAN"]
    trials = replace(trials, items=vanilla)
    results = run(trials, ["codellama-7b"], store=store)
    assert results.asked == 0
    right = results.answers["value_strict"].sum()
    assert right / 8000 == pytest.approx(0.342125)
