"""Asking again: what is said once more is compared with the store's answers, and not kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.run import rechecked, run
from codestress.inference.store import Store
from codestress.types import Message, Outcome, Prompt, Sampling, Score, Trial, Trials
from openai_server import OpenAIServer

TRIALS = Trials(
    [Trial(str(n), {}) for n in range(12)],
    lambda trial: Prompt((Message("user", trial.problem),), Sampling(max_tokens=5)),
    {"strict": lambda _, response: Score(Outcome.CORRECT, 1.0, response.text)},
)
CODE = """
from pathlib import Path
def answer(messages, **how):
    asked = messages[0]["content"]
    path = Path(__file__).with_name("asked.txt")
    before = path.read_text().split() if path.is_file() else []
    path.write_text(" ".join([*before, asked]))
    if before.count(asked) and asked in {"1", "2"}:
        raise ValueError("no more")
    return asked if int(asked) < 6 else f"{asked}, {before.count(asked) + 1}"
"""


def test_other_answers_and_failures_are_not_the_same(tmp_path: Path) -> None:
    """Of 12 questions, six are answered otherwise the second time, and two fail."""
    (tmp_path / "my_model.py").write_text(CODE)
    registry, store = tmp_path / "models.yaml", tmp_path / "s.sqlite"
    settings = {"function": f"{tmp_path}/my_model.py:answer", "concurrency": 1}
    registry.write_text(json.dumps({"mine": {"engine": "function", "settings": settings}}))
    results = run(TRIALS, ["mine"], store=store, registry=registry)
    assert results.repeats == {}
    again = rechecked(results, TRIALS, count=100, store=store)
    assert again.answers == results.answers
    assert {name: tuple(repeats) for name, repeats in again.repeats.items()} == {"mine": (12, 4, 2)}
    few = rechecked(results, TRIALS, count=5, store=store)
    assert few.repeats["mine"].asked == 5
    with Store(store) as responses:
        assert responses.count() == 12
    assert run(TRIALS, ["mine"], store=store, registry=registry).answers == results.answers


def test_a_model_that_is_gone_has_failed_each_time(tmp_path: Path) -> None:
    """However many in a row: what was answered before makes the figure."""
    gone = (
        "from pathlib import Path\n"
        "def answer(messages, **how):\n    open(Path(__file__).with_name('here')).close()\n"
    )
    (tmp_path / "my_model.py").write_text(f"{gone}    return 'x'\n")
    (tmp_path / "here").write_text("x")
    registry, store = tmp_path / "models.yaml", tmp_path / "s.sqlite"
    settings = {"function": f"{tmp_path}/my_model.py:answer", "concurrency": 1}
    registry.write_text(json.dumps({"mine": {"engine": "function", "settings": settings}}))
    many = replace(TRIALS, items=[Trial(str(n), {}) for n in range(30)])
    results = run(many, ["mine"], store=store, registry=registry)
    (tmp_path / "here").unlink()
    assert tuple(rechecked(results, many, count=30, store=store).repeats["mine"]) == (30, 0, 30)


def test_simulated_readers_are_not_asked_again_and_none_is_for_0(tmp_path: Path) -> None:
    results = run(TRIALS, ["sim-near"], store=tmp_path / "s.sqlite")
    assert rechecked(results, TRIALS, count=5, store=tmp_path / "s.sqlite").repeats == {}
    assert rechecked(results, TRIALS, count=0, store=tmp_path / "s.sqlite").repeats == {}


def test_an_archive_is_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would say the same whatever the model says now."""
    registry, store = tmp_path / "models.yaml", tmp_path / "s.sqlite"
    with OpenAIServer() as server:
        row = {
            "engine": "openai",
            "settings": {"base_url": server.base_url, "key_env": "", "retries": 0},
        }
        registry.write_text(json.dumps({"served": row}))
        results = run(TRIALS, ["served"], store=store, registry=registry)
    monkeypatch.setenv("CODESTRESS_REPLAY", str(tmp_path / "any.jsonl.gz"))
    assert rechecked(results, TRIALS, count=4, store=store).repeats == {}


def test_the_budget_holds(tmp_path: Path) -> None:
    registry, store = tmp_path / "models.yaml", tmp_path / "s.sqlite"
    with OpenAIServer() as server:
        row = {
            "engine": "openai",
            "settings": {"base_url": server.base_url, "key_env": "", "retries": 0},
        }
        registry.write_text(json.dumps({"served": row}))
        results = run(TRIALS, ["served"], store=store, registry=registry)
        same = rechecked(results, TRIALS, count=4, store=store)
        assert tuple(same.repeats["served"]) == (4, 4, 0)
        with pytest.raises(BudgetReached):
            rechecked(results, TRIALS, count=4, store=store, budget=Budget(requests=2))
