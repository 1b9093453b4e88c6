"""Equation 5: programs and readers whose sensitivity is known in closed form."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from codestress.errors import DataError
from codestress.inference.run import run
from codestress.papers.semtrace import prompting
from codestress.papers.semtrace.results.removal import (
    accuracy_by_share,
    recall_sensitivity,
    with_fifths_removed,
)
from codestress.papers.semtrace.studies import Sensitivity
from codestress.parameters import questions
from codestress.problems import problem_files
from codestress.report.protocol import deviations
from told import names

HOW: Any = SimpleNamespace(epsilon=1e-9, complete_wrong="left_out", confidence=0.95)
OWN = {"python": {"shown": "program"}}


def sensitivity(**values: Any) -> Sensitivity:
    return Sensitivity.model_validate({"artefact": "semtrace/sensitivity"} | values)


def lost(needed: int, idle: int) -> float:
    """Of `needed` lines that must all be there and `idle` ones that do nothing, what the incomplete versions lose."""
    versions = [*product([True, False], repeat=needed + idle)][1:]
    return float(np.mean([not all(mask[:needed]) for mask in versions]))


PROGRAMS = {  # lines needed beside the head, and idle ones
    "one": (1, 2, "def f(x):\n    a = 5\n    b = 6\n    return x\n\n"),
    "two": (2, 1, "def f(x):\n    y = x + 1\n    z = 7\n    return y"),
    "all": (3, 0, "def f(x):\n    y = x + 1\n    y = y * 3\n    return y"),
}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`PROGRAMS`, and one of a line, as a data set `mine`; the latter alone as `short`, renamed as `named`."""
    short = {"id": "short", "code": "def f(x): return x\n", "input": "4", "output": "4"}
    lines = [json.dumps(short)]
    (tmp_path / "short.jsonl").write_text(lines[0])
    (tmp_path / "named.jsonl").write_text(json.dumps(short | {"function": "g"}))
    for (name, (_, _, code)), output in zip(
        PROGRAMS.items(), ("4", "5", "15"), strict=True
    ):
        row = {"id": name, "code": code, "input": "4", "output": output}
        lines.append(json.dumps(row))
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    sets = [f"{name}: {{file: {name}.jsonl}}" for name in ("mine", "short", "named")]
    (tmp_path / "problems.yaml").write_text("\n".join(sets))
    monkeypatch.setattr(problem_files, "ROOT", tmp_path)
    monkeypatch.setattr(problem_files, "FILE", tmp_path / "problems.yaml")
    cached = (problem_files.own_problems, prompting.problems_of)
    for one in cached:
        one.cache_clear()
    yield
    for one in cached:
        one.cache_clear()


@pytest.mark.isolation
@pytest.mark.usefixtures("mine")
def test_python_loses_what_the_programs_need(tmp_path: Path) -> None:
    values = {"problems": "mine", "tasks": ["output_prediction"]}
    given = sensitivity(models=["sim-wide", "python"], per_model=OWN, **values)
    answers = run(questions(given), given.models, store=tmp_path / "s.sqlite").answers
    found = recall_sensitivity(answers, HOW).set_index("model")
    wanted = np.mean([lost(needed, idle) for needed, idle, _ in PROGRAMS.values()])
    python, reader = found.loc["python"], found.loc["sim-wide"]
    assert python["sensitivity"] == pytest.approx(wanted)
    assert np.isnan(python["to_python"])
    assert reader["to_python"] == pytest.approx(reader["sensitivity"] - wanted)
    assert reader["to_python_low"] <= reader["to_python"] <= reader["to_python_high"]
    curve = accuracy_by_share(with_fifths_removed(answers), confidence=0.95)
    assert curve["n"].sum() == len(answers)
    complete = curve.query("model == 'python' and share_removed == 0").iloc[0]
    assert (complete["accuracy"], complete["n"]) == (1, 3)
    assert sorted(set(curve["share_removed"])) == [0, 0.4, 0.6, 1]
    [left_out] = given.not_run()
    names(left_out.label, "1 of 4 programs")
    for name, why in {"short": "no line", "named": "short calls g, .* rename"}.items():
        with pytest.raises(DataError, match=f"problems = {name}: {why}"):
            questions(sensitivity(models=["sim-wide"], **values | {"problems": name}))


@pytest.mark.slow
def test_a_reader_that_does_not_look_loses_what_it_had_no_right_to() -> None:
    """It is right with probability p whatever is shown: of the programs that it has right it loses 1 - p."""
    random = np.random.default_rng(0)
    problems, removed = np.divmod(np.arange(480), 8)
    answers = pd.DataFrame({"problem": problems, "removed": removed > 0})
    answers = answers.assign(model="m", task="t", lines=3)
    covered = []
    for p in np.repeat([0.2, 0.5, 0.9], 40):
        answers["value_strict"] = (random.random(480) < p).astype(float)
        found = recall_sensitivity(answers, HOW).iloc[0]
        assert found["programs"] + found["complete_wrong"] == 60
        covered.append(found["low"] <= 1 - p <= found["high"])
    assert np.mean(covered) > 0.93


@pytest.mark.isolation
def test_traces_need_every_line_that_is_not_zero(tmp_path: Path) -> None:
    """Section 2.2: nothing of SemTrace can be guessed, and an assignment matters unless its value is the list's 0."""
    values = {"problems": "semtrace", "n_problems": 8, "versions": 24}
    trials = questions(sensitivity(models=["python"], shown="program", **values))
    assert {trial.factors["task"] for trial in trials.items} == {"output_prediction"}
    answers = run(trials, ["python"], store=tmp_path / "s.sqlite").answers
    found = recall_sensitivity(answers, HOW)["sensitivity"]
    assert found.item() == pytest.approx(1)


def test_the_paper_profile_asks_the_paper_s_versions() -> None:
    asked = {"models": ["llama-3.1-8b", "python"], "per_model": OWN}
    assert deviations(sensitivity(**asked)) == []
    [drawn] = deviations(sensitivity(**asked, versions=32))
    names(drawn.text, "versions 32", "paper: 0")
