"""The interpreter's engine: Python answers what a program returns, through the same run as any model."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from codestress.errors import SandboxError
from codestress.inference.registry import find_models, load_registry
from codestress.inference.run import run
from codestress.problems.program import Problem
from codestress.sandbox import probe
from codestress.scoring.predictions import score_interpreted
from codestress.types import Outcome, Response, Score, Trial
from served import prompt, trials_of
from told import refused

CASES = {
    "def f(n):\n    return n * 2": Outcome.CORRECT,
    "def f(n):\n    return n * 3": Outcome.INCORRECT,
    "def f(n):\n    return {}[n]": Outcome.RAISED,
    "def f(n):": Outcome.SYNTAX_ERROR,
    "def f(n):\n    while True:\n        n += 1": Outcome.STEP_LIMIT,
    "def f(n):\n    return 10 ** 5000": Outcome.INCORRECT,
    "def f(n):\n    yield n": Outcome.INCORRECT,
}


def judge(_: Trial, response: Response) -> Score:
    return score_interpreted(Problem("p", "", "f", "21", "42"), response.text)


PROGRAMS = trials_of(*[prompt(code, "f(21)") for code in [*CASES] * 10], judge=judge)


@pytest.mark.isolation
def test_programs_are_run_once_and_their_ends_are_counted(tmp_path: Path) -> None:
    results = run(PROGRAMS, ["python"], store=tmp_path / "s.sqlite")
    assert list(results.answers["outcome_strict"]) == list(CASES.values()) * 10
    assert results.asked == len(CASES)
    by = results.answers["answered_by"][0]
    assert "namespaces" in by or "seccomp" in by
    again = run(PROGRAMS, ["python"], store=tmp_path / "s.sqlite")
    assert again.asked == 0
    assert again.answers.equals(results.answers)


def test_the_version_of_python_is_part_of_every_key() -> None:
    (entry,) = find_models(["python"], load_registry(), "test")
    assert entry.identity.startswith(platform.python_version())
    assert not entry.simulated


def test_without_isolation_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = "a file outside was read"
    monkeypatch.setattr(probe, "unprotected", lambda *_: {"files": why})
    with refused(SandboxError, why, "CODESTRESS_UNPROTECTED=1"):
        run(PROGRAMS, ["python"], store=tmp_path / "s.sqlite")
