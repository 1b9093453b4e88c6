"""Equation 5: programs and readers whose sensitivity is known in closed form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

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

HOW = {"epsilon": 1e-9, "complete_wrong": "left_out", "confidence": 0.95}


def closed_form(needed: int, idle: int) -> float:
    """Of `needed` lines that must all be there and `idle` ones that do nothing, what the incomplete versions lose."""
    return 1 - (2**idle - 1) / (2 ** (needed + idle) - 1)


def test_closed_form() -> None:
    for needed, idle in product(range(1, 5), range(4)):
        kept = [
            all(mask[:needed])
            for mask in product([True, False], repeat=needed + idle)
            if not all(mask)
        ]
        assert closed_form(needed, idle) == pytest.approx(1 - np.mean(kept))


PROGRAMS = {  # lines needed beside the head, and idle ones
    "one": (1, 2, "def f(x):\n    a = 5\n    b = 6\n    return x"),
    "two": (2, 1, "def f(x):\n    y = x + 1\n    z = 7\n    return y"),
    "all": (3, 0, "def f(x):\n    y = x + 1\n    y = y * 3\n    return y"),
}


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`PROGRAMS` as a data set `mine`."""
    rows = [
        {"id": name, "code": code, "input": "4"}
        for name, (_, _, code) in PROGRAMS.items()
    ]
    outputs = ["4", "5", "15"]
    lines = [
        json.dumps(row | {"output": output})
        for row, output in zip(rows, outputs, strict=True)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    (tmp_path / "problems.yaml").write_text("mine: {file: rows.jsonl}\n")
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
    values = {
        "artefact": "semtrace/sensitivity",
        "problems": "mine",
        "tasks": ["output_prediction"],
        "models": ["sim-wide", "python"],
    }
    given = Sensitivity.model_validate(
        values | {"per_model": {"python": {"shown": "program"}}}
    )
    answers = run(questions(given), given.models, store=tmp_path / "s.sqlite").answers
    found = recall_sensitivity(answers, SimpleNamespace(**HOW)).set_index(
        ["model", "task"]
    )  # type: ignore[arg-type]
    wanted = np.mean(
        [closed_form(needed, idle) for needed, idle, _ in PROGRAMS.values()]
    )
    python = found.loc["python", "output_prediction"]
    assert python["sensitivity"] == pytest.approx(wanted)
    assert np.isnan(python["to_python"])
    reader = found.loc["sim-wide", "output_prediction"]
    assert reader["to_python"] == pytest.approx(reader["sensitivity"] - wanted)
    assert reader["to_python_low"] <= reader["to_python"] <= reader["to_python_high"]
    curve = accuracy_by_share(with_fifths_removed(answers), confidence=0.95)
    assert curve["n"].sum() == len(answers)
    complete = curve[(curve["model"] == "python") & (curve["share_removed"] == 0)].iloc[
        0
    ]
    assert (complete["accuracy"], complete["n"]) == (1, 3)
    assert sorted(set(curve["share_removed"])) == [0, 0.4, 0.6, 1]


@pytest.mark.slow
def test_a_reader_that_does_not_look_loses_what_it_had_no_right_to() -> None:
    """It is right with probability p whatever is shown: of the programs that it has right it loses 1 - p."""
    random = np.random.default_rng(0)
    covered = []
    for p in np.repeat([0.2, 0.5, 0.9], 40):
        removed = np.tile(np.arange(8) > 0, 60).astype(int)
        rows = {"problem": np.repeat(np.arange(60), 8), "removed": removed, "lines": 3}
        answers = pd.DataFrame(
            rows | {"value_strict": (random.random(480) < p).astype(float)}
        )
        found = recall_sensitivity(
            answers.assign(model="m", task="t"), SimpleNamespace(**HOW)
        ).iloc[0]  # type: ignore[arg-type]
        assert found["programs"] + found["complete_wrong"] == 60
        covered.append(found["low"] <= 1 - p <= found["high"])
    assert np.mean(covered) > 0.93


@pytest.mark.isolation
def test_traces_need_every_line_that_is_not_zero(tmp_path: Path) -> None:
    """Section 2.2: nothing of SemTrace can be guessed, and an assignment matters unless its value is the list's 0."""
    values = {
        "artefact": "semtrace/sensitivity",
        "problems": "semtrace",
        "n_problems": 8,
        "versions": 24,
    }
    given = Sensitivity.model_validate(
        values | {"models": ["python"], "shown": "program"}
    )
    trials = questions(given)
    assert {trial.factors["task"] for trial in trials.items} == {"output_prediction"}
    answers = run(trials, ["python"], store=tmp_path / "s.sqlite").answers
    assert recall_sensitivity(answers, SimpleNamespace(**HOW))["sensitivity"].iloc[
        0
    ] == pytest.approx(1)  # type: ignore[arg-type]


def test_the_paper_profile_asks_the_paper_s_versions() -> None:
    values = {"artefact": "semtrace/sensitivity", "models": ["llama-3.1-8b", "python"]}
    own = {"per_model": {"python": {"shown": "program"}}}
    assert deviations(Sensitivity.model_validate(values | own)) == []
    [drawn] = deviations(Sensitivity.model_validate(values | own | {"versions": 32}))
    names(drawn.text, "versions 32", "paper: 0")
