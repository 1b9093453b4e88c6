"""Problems of your own: named in params/problems.yaml, taken by the studies, faults told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from codestress.errors import DataError, ParameterError
from codestress.inference.run import run
from codestress.papers.codecrash.results.conditions import panel_name
from codestress.pipeline import inputs
from codestress.pipeline.artefacts import Artefact, resolve
from codestress.problems import problem_files as own
from conftest import ROOT
from told import refused


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts rows in place, by a name that no others have: problems are read once in a process."""

    def put(name: str, rows: str) -> Path:
        monkeypatch.setattr(own, "ROOT", tmp_path)
        monkeypatch.setattr(own, "FILE", tmp_path / "problems.yaml")
        (tmp_path / "problems.yaml").write_text(
            f"{name}: {{file: my_problems.jsonl}}\n"
        )
        (tmp_path / "my_problems.jsonl").write_text(rows)
        return tmp_path / "my_problems.jsonl"

    return put


def study(name: str, problems: str, *models: str) -> Artefact:
    """An artefact of smoke size about these problems."""
    [artefact] = resolve([name], "smoke", models, [f"problems={problems}"])
    return artefact


def readme_rows() -> str:
    readme = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    found = re.search(r"    # my_problems.jsonl\n((?:    .*\n)+)", readme)
    assert found
    return "".join(f"{line[4:]}\n" for line in found[1].splitlines())


def test_a_panel_has_the_name_of_the_problems_that_it_shows() -> None:
    for source, name in (("mine", "mine"), ("cruxeval", "CRUXEval")):
        assert panel_name({"dataset": source}, ["dataset"]) == name


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"input": ")"}, "input"),
        ({"input": "1) + f(2"}, "not a call of f"),
    ],
)
def test_a_row_that_calls_no_function_of_its_program_is_no_problem(
    change: dict[str, str], reason: str, tmp_path: Path
) -> None:
    row = {"id": "one", "code": "def f(x):\n    return x", "input": "1", "output": "1"}
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{json.dumps(row)}\n{json.dumps(row | change | {'id': 'two'})}\n")
    file = own.read_problems(path)
    assert [problem.id for problem in file.problems] == ["one"]
    assert reason in file.faults["two"]


@pytest.mark.isolation
@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("codecrash/tab01", "[of_readme]"),
        ("semtrace/fig01", "[of_readme]"),
        ("semtrace/fig05", "of_readme"),
    ],
)
def test_the_readme_s_problems_are_asked_about(
    name: str, named: str, mine: Callable[[str, str], Path], tmp_path: Path
) -> None:
    mine("of_readme", readme_rows())
    trials = study(name, named, "sim-wide").trials()
    assert {trial.problem for trial in trials.items} == {"double", "shout"}
    results = run(trials, ["sim-wide"], store=tmp_path / "s.sqlite")
    assert len(results.answers) == len(trials.items)
    assert not any(results.answers["error"])


def test_another_content_makes_an_artefact_out_of_date(
    mine: Callable[[str, str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = mine("of_readme", readme_rows())
    monkeypatch.setattr(inputs, "ROOT", path.parent)
    found = inputs.inputs_of(study("semtrace/fig01", "[of_readme]"))
    assert any(name.endswith("my_problems.jsonl") for name in found)


def test_faulty_rows_and_unknown_names_are_told(
    mine: Callable[[str, str], Path],
) -> None:
    bad = '{"id": "bad", "code": "def f(x:", "input": "1", "output": "1"}\n'
    mine("faulty", readme_rows() + bad)
    artefact = study("semtrace/fig01", "[faulty]")
    with refused(DataError, "my_problems.jsonl", "faulty", "line 3"):
        artefact.trials()
    with refused(ParameterError, "fautly", "'faulty'"):
        study("semtrace/fig01", "[fautly]")
