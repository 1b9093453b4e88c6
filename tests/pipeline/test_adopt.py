"""Published answers become those of a model, labelled with the file that they come from."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

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


def complete_answers(artefact: Artefact) -> dict[str, list[str | None]]:
    """Return an answer to each sample of each problem."""
    items = artefact.trials().items
    samples = 1 + max(trial.sample for trial in items)
    return {trial.problem: ["'x'"] * samples for trial in items}


def adopted(
    artefact: Artefact, folder: Path, answers: Any, form: str = "{}", **where: str
) -> Adopted:
    """Import answers of the file `published.json` into the store `s.sqlite`."""
    file, entry = folder / "published.json", load_registry()[MODEL]
    file.write_text(json.dumps(answers))
    return adopt(file, answers, artefact, entry, where, folder / "s.sqlite", form)


def test_published_answers_are_imported_once_and_counted(
    artefact: Artefact, tmp_path: Path
) -> None:
    items = artefact.trials().items
    answers = complete_answers(artefact) | {"other": ["1", "2"]}
    first, second, *_ = answers
    del answers[first]
    answers[second][0] = None
    lacking = [
        trial
        for trial in items
        if trial.problem == first or (trial.problem, trial.sample) == (second, 0)
    ]
    counts = adopted(artefact, tmp_path, answers)
    assert counts.taken == len(items) - len(lacking)
    assert counts.lacking == len(lacking)
    assert counts.unused == 3  # two of another problem, and the one that is None
    again = adopted(artefact, tmp_path, answers, perturbation="van")
    assert again.taken == 0
    assert 0 < again.answered < counts.taken


def test_answers_that_fit_no_question_are_refused(
    artefact: Artefact, tmp_path: Path
) -> None:
    answers = complete_answers(artefact)
    # Every answer would be the same text.
    with refused(DataError, "--form", "None", "{}"):
        adopted(artefact, tmp_path, answers, form="None")
    assert not (tmp_path / "s.sqlite").exists()
    with refused(ParameterError, "perturbations", "'perturbation'"):
        adopted(artefact, tmp_path, answers, perturbations="van")
    problem = artefact.trials().items[0].problem
    file = tmp_path / "published.json"
    with refused(DataError, file, "codecrash/tab01", problem, "'sample_0'"):
        adopted(artefact, tmp_path, {"sample_0": ["1"]})


def test_a_figure_from_published_answers_names_their_file(
    artefact: Artefact, tmp_path: Path
) -> None:
    adopted(artefact, tmp_path, complete_answers(artefact))
    results = run(artefact.trials(), [MODEL], store=tmp_path / "s.sqlite")
    assert results.asked == 0
    [[source]] = results.answered_by().values()
    assert source.startswith("published.json sha256 ")


def test_rows_without_an_id_are_named(tmp_path: Path) -> None:
    file = tmp_path / "published.jsonl"
    rows = [{"id": "z", "answer": "1"}, {"answer": "2"}, {"id": " ", "answer": "3"}]
    file.write_text("\n".join(map(json.dumps, rows)))
    command = ["archive", "adopt", str(file), "codecrash/tab01", "--profile", "smoke"]
    result = CliRunner().invoke(cli.cli, [*command, "--model", MODEL])
    assert isinstance(result.exception, DataError)  # row 1 answers no question
    names(result.output, "rows without id", ": 2, 3")


def test_answers_of_another_server_are_not_replaced(
    artefact: Artefact, tmp_path: Path
) -> None:
    trials = artefact.trials()
    request = request_of(trials, trials.items[0], load_registry()[MODEL])
    other = Response("4", "stop", server="https://other.example:443/v1")
    with Store(tmp_path / "s.sqlite") as store:
        store.put(request.key, MODEL, other)
    with refused(EngineError, "https://other.example", "revision"):
        adopted(artefact, tmp_path, {trials.items[0].problem: ["'x'"]})


@pytest.mark.slow
def test_cruxeval_s_published_answers_give_its_published_score(
    public: Path, tmp_path: Path
) -> None:
    file = "cruxeval-samples/sample_codellama-7b_temp0.2_output_generations.json.gz"
    answers = json.loads(gzip.decompress((public / file).read_bytes()))
    settings = ("perturbations=[VAN,REN]", "problems=[cruxeval]", "samples_direct=10")
    model = "codellama-7b"
    artefact = artefact_of("codecrash/tab01", "paper", *settings, models=(model,))
    store = tmp_path / "s.sqlite"
    vanilla = {"perturbation": "VAN"}
    form = "[ANSWER]{}[/ANSWER]"
    entry = artefact.models[0]
    counts = adopt(public / file, answers, artefact, entry, vanilla, store, form)
    assert (counts.taken, counts.lacking, counts.unused) == (8000, 0, 0)
    trials = artefact.trials()
    items = [trial for trial in trials.items if trial.factors["perturbation"] == "VAN"]
    results = run(replace(trials, items=items), [model], store=store)
    assert results.asked == 0
    right = results.answers["value_strict"].sum()
    assert right / 8000 == pytest.approx(0.342125)
