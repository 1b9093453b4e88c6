"""Recall sensitivity (Equation 5) of programs and readers where it is known in closed
form."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from small_study import settings

from codestress.errors import DataError
from codestress.inference.run import run
from codestress.papers.semtrace import line_removal, prompting
from codestress.papers.semtrace.line_removal import LineRemoval, Sensitivity
from codestress.papers.semtrace.prompting import problems_of
from codestress.papers.semtrace.results.removal import (
    accuracy_by_share,
    recall_sensitivity,
    with_fifths_removed,
)
from codestress.parameters import questions
from codestress.problems.program import Problem
from codestress.types import Outcome, Response
from told import names, refused

INTERPRETER = {"python": {"shown": "program"}}
PROGRAMS = {  # lines that are needed beside the head, and idle ones
    "def f(x):\n    a = 5\n    b = 6\n    return x": (1, 2),
    "def f(x):\n    y = x + 1\n    z = 7\n    return y": (2, 1),
    "def f(x):\n    y = x + 1\n    y = y * 3\n    return y": (3, 0),
}
SHORT = Problem("short", "def f(x): return x", "f", "4", "4")


def sensitivity(**values: Any) -> Sensitivity:
    return Sensitivity.model_validate({"artefact": "semtrace/sensitivity"} | values)


def lost(needed: int, idle: int) -> float:
    """Return the share of incomplete versions that lack one of the `needed` lines."""
    masks = [*product([True, False], repeat=needed + idle)][1:]
    return float(np.mean([not all(mask[:needed]) for mask in masks]))


@pytest.mark.isolation
def test_python_loses_what_the_programs_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {"short": SHORT}
    for code, output in zip(PROGRAMS, ("4", "5", "15"), strict=True):
        table[code] = Problem(code, code, "f", "4", output)
    monkeypatch.setattr(line_removal, "problems_of", lambda *_: table)
    parameters = sensitivity(
        models=["sim-wide", "python"],
        per_model=INTERPRETER,
        tasks=["output_prediction"],
    )
    store = tmp_path / "s.sqlite"
    answers = run(questions(parameters), parameters.models, store=store).answers
    result = recall_sensitivity(answers, settings()).set_index("model")
    expected = np.mean([lost(*lines) for lines in PROGRAMS.values()])
    python, reader = result.loc["python"], result.loc["sim-wide"]
    assert python["sensitivity"] == pytest.approx(expected)
    assert np.isnan(python["to_python"])
    assert reader["to_python"] == pytest.approx(reader["sensitivity"] - expected)
    assert reader["to_python_low"] <= reader["to_python"] <= reader["to_python_high"]
    curve = accuracy_by_share(with_fifths_removed(answers), confidence=0.95)
    assert curve["n"].sum() == len(answers)
    complete = curve.query("model == 'python' and share_removed == 0").iloc[0]
    assert (complete["accuracy"], complete["n"]) == (1, 3)
    assert sorted(set(curve["share_removed"])) == [0, 0.4, 0.6, 1]
    [part] = parameters.not_run()
    names(part.label, "1 of 4 programs")
    monkeypatch.setattr(line_removal, "problems_of", lambda *_: {"short": SHORT})
    with refused(DataError, "problems = cruxeval", "no line"):
        questions(parameters)


def test_a_problem_of_another_function_than_f_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Problem("p", "def g(x):\n    return x\n", "g", "4", "4")
    monkeypatch.setattr(prompting, "own_problems", lambda _: [problem])
    with refused(DataError, "problems = mine", "p calls g", "rename"):
        problems_of("mine", 1, 0)


@pytest.mark.isolation
def test_traces_need_every_line_that_is_not_zero(tmp_path: Path) -> None:
    """Section 2.2: SemTrace cannot be guessed, and every assignment of another value
    than the list's 0 is needed."""
    values = {"problems": "semtrace", "n_problems": 8, "versions": 24}
    trials = questions(sensitivity(models=["python"], shown="program", **values))
    assert {trial.factors["task"] for trial in trials.items} == {"output_prediction"}
    answers = run(trials, ["python"], store=tmp_path / "s.sqlite").answers
    [value] = recall_sensitivity(answers, settings())["sensitivity"]
    assert value == pytest.approx(1)


@pytest.mark.isolation
@pytest.mark.parametrize(
    ("choice", "outcome"),
    [("complete", Outcome.CORRECT), ("shown", Outcome.SYNTAX_ERROR)],
)
def test_an_input_is_run_on_the_complete_program_or_on_the_one_shown(
    choice: str, outcome: Outcome
) -> None:
    values = {"artefact": "semtrace/fig05", "models": ["sim-wide"], "n_problems": 1}
    values |= {"problems": "generated", "tasks": ["input_prediction"]}
    [problem] = problems_of("generated", 1, 0).values()
    trials = questions(LineRemoval.model_validate(values | {"inputs_run_on": choice}))
    only_the_head = trials.items[-1]
    answer = Response(f"{problem.arguments})\n```", "stop")
    assert trials.judges["strict"](only_the_head, answer).outcome is outcome


@pytest.mark.parametrize(
    ("choice", "epsilon", "mean", "programs"),
    [
        ("left_out", 1e-9, 0.75 / 2, 2),
        ("zero", 1e-9, 0.75 / 3, 3),
        ("left_out", 1.0, 0.75 / 4, 2),  # every quotient has R(C) + 1 = 2 below
    ],
)
def test_programs_that_are_wrong_when_complete_are_left_out_or_lose_nothing(
    choice: str, epsilon: float, mean: float, programs: int
) -> None:
    values = {"a": (1.0, 0.0, 0.5), "b": (1.0, 1.0, 1.0), "c": (0.0, 1.0, 0.0)}
    answers = pd.DataFrame(values).melt(var_name="problem", value_name="value_strict")
    answers = answers.assign(model="m", task="t", removed=[0, 1, 2] * 3)
    parameters = settings(epsilon=epsilon, complete_wrong=choice)
    row = recall_sensitivity(answers, parameters).iloc[0]
    assert row["sensitivity"] == pytest.approx(mean)
    assert (row["programs"], row["complete_wrong"]) == (programs, 1)


@pytest.mark.slow
def test_a_reader_that_does_not_look_loses_what_it_had_no_right_to() -> None:
    """It is right with probability p whatever it is shown, and so loses 1 - p."""
    random = np.random.default_rng(0)
    problems, removed = np.divmod(np.arange(480), 8)
    answers = pd.DataFrame({"problem": problems, "removed": removed > 0})
    answers = answers.assign(model="m", task="t", lines=3)
    covered = []
    for p in np.repeat([0.2, 0.5, 0.9], 40):
        answers["value_strict"] = (random.random(480) < p).astype(float)
        row = recall_sensitivity(answers, settings()).iloc[0]
        covered.append(row["low"] <= 1 - p <= row["high"])
    assert np.mean(covered) > 0.93
