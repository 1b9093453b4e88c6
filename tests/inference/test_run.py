"""`run` against a real server on loopback: every question once, every outcome counted."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codestress.errors import EngineError, IncompleteError
from codestress.inference.run import run
from codestress.types import Message, Prompt, Reason, Response, Sampling, Score, Trial, Trials
from openai_server import OpenAIServer, Received, completion, failure


def judge(trial: Trial, response: Response) -> Score:
    if response.refused:
        return Score(Reason.REFUSED, 0)
    if response.finish_reason == "length":
        return Score(Reason.TRUNCATED, 0)
    right = response.text == f"answer {trial.factors['number']}"
    return Score(Reason.RIGHT if right else Reason.WRONG, float(right), response.text)


def questions(count: int, retries: tuple[float, ...] = (), same: bool = False) -> Trials:
    def render(trial: Trial) -> Prompt:
        return Prompt((Message("user", f"question {0 if same else trial.factors['number']}"),), Sampling())

    return Trials([Trial(f"q{n}", {"number": n}) for n in range(count)], render, {"strict": judge}, retries)


def answer(received: Received) -> object:
    return completion(received.prompt.replace("question", "answer"))


@pytest.fixture
def registry(tmp_path: Path) -> Callable[..., Path]:
    def write(base_url: str, **settings: object) -> Path:
        row = {"base_url": base_url, "key_env": "", "retries": 0, "concurrency": 4, **settings}
        path = tmp_path / "models.yaml"
        models = {name: {"engine": "openai", "settings": row} for name in ("alpha", "beta")}
        path.write_text(json.dumps(models))
        return path

    return write


def test_every_question_is_asked_once_and_answers_keep_their_order(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    store = tmp_path / "s.sqlite"
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        first = run(questions(30), ["alpha", "beta"], store=store, registry=models)
        assert [(a.model, a.trial.factors["number"]) for a in first.answers] == [
            (model, number) for model in ("alpha", "beta") for number in range(30)
        ]
        assert all(counts["right"] == 30 == sum(counts.values()) for counts in first.counts().values())
        assert first.asked == len(server.requests) == 60
        again = run(questions(30), ["alpha", "beta"], store=store, registry=models)
        assert again.asked == 0
        assert len(server.requests) == 60
        assert again.answers == first.answers
        # The first 30 of 40 are the same 30.
        assert run(questions(40), ["alpha"], store=store, registry=models).asked == 10
        equal = run(questions(20, same=True), ["beta"], store=tmp_path / "t.sqlite", registry=models)
        assert equal.asked == 1
        assert equal.counts()["beta"] == dict.fromkeys([r.value for r in Reason], 0) | {"right": 1, "wrong": 19}


def test_refused_answers_are_asked_again_and_other_outcomes_are_counted(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    def behaviour(received: Received) -> object:
        number = int(received.prompt.split()[-1])
        if number < 3:  # refused for good
            return completion("", finish_reason="content_filter")
        if number < 5 and received.body["temperature"] == 0:  # refused at first
            return completion("  ")
        return completion("cut o", finish_reason="length") if number == 5 else answer(received)

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        results = run(questions(10, (0.8, 0.8)), ["alpha"], store=tmp_path / "s.sqlite", registry=models)
        counts = {reason: n for reason, n in results.counts()["alpha"].items() if n}
        assert counts == {"right": 6, "refused": 3, "truncated": 1}
        assert [a.attempts for a in results.answers] == [3, 3, 3, 2, 2, 1, 1, 1, 1, 1]
        assert len(server.requests) == results.asked == 10 + 3 * 2 + 2
        again = run(questions(10, (0.8, 0.8)), ["alpha"], store=tmp_path / "s.sqlite", registry=models)
        assert again.asked == 0
        assert again.answers == results.answers


def test_failures_are_raised_with_the_answers_kept_or_counted(tmp_path: Path, registry: Callable[..., Path]) -> None:
    broken = True

    def behaviour(received: Received) -> object:
        number = int(received.prompt.split()[-1])
        return failure(500, "out of order") if broken and number % 5 == 0 else answer(received)

    store = tmp_path / "s.sqlite"
    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        with pytest.raises(IncompleteError, match=r"4 of 20 requests failed(.|\n)*is kept(.|\n)*failures=count"):
            run(questions(20), ["alpha"], store=store, registry=models)
        counted = run(questions(20), ["alpha"], store=store, registry=models, failures="count")
        assert counted.counts()["alpha"]["harness error"] == 4
        assert sum(counted.counts()["alpha"].values()) == 20
        broken = False
        assert run(questions(20), ["alpha"], store=store, registry=models).asked == 4


def test_a_slow_answer_counts_as_timed_out(tmp_path: Path, registry: Callable[..., Path]) -> None:
    def behaviour(received: Received) -> object:
        slow = received.prompt == "question 1"
        return completion("late", delay=3) if slow else answer(received)

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url, timeout_s=0.7)
        results = run(questions(3), ["alpha"], store=tmp_path / "s.sqlite", registry=models, failures="count")
    assert results.counts()["alpha"]["timed out"] == 1


def test_a_server_that_is_gone_ends_the_run(tmp_path: Path, registry: Callable[..., Path]) -> None:
    with OpenAIServer(lambda _: failure(500, "down")) as server:
        models = registry(server.base_url)
        with pytest.raises(EngineError, match="alpha: 20 requests in a row failed") as caught:
            run(questions(300), ["alpha"], store=tmp_path / "s.sqlite", registry=models)
        assert caught.value.model == "alpha"
        assert len(server.requests) < 40


def test_a_key_is_needed_only_when_something_must_be_asked(
    tmp_path: Path, registry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.sqlite"
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url, key_env="TEST_KEY")
        with pytest.raises(EngineError, match="TEST_KEY"):
            run(questions(5), ["alpha"], store=store, registry=models)
        assert server.requests == []
        monkeypatch.setenv("TEST_KEY", "sk-marker")
        run(questions(5), ["alpha"], store=store, registry=models)
        monkeypatch.delenv("TEST_KEY")
        assert run(questions(5), ["alpha"], store=store, registry=models).asked == 0
    assert b"sk-marker" not in store.read_bytes()


def test_run_is_a_plain_call_where_an_event_loop_is_running(tmp_path: Path, registry: Callable[..., Path]) -> None:
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)

        async def cell() -> int:
            return run(questions(5), ["alpha"], store=tmp_path / "s.sqlite", registry=models).asked

        assert asyncio.run(cell()) == 5


CHILD = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, sys.argv[3])
    from pathlib import Path
    from test_run import questions
    from codestress.inference.run import run
    results = run(questions(120), ["alpha"], store=Path(sys.argv[1]), registry=Path(sys.argv[2]))
    print(results.counts()["alpha"]["right"])
    """
)


def child(store: Path, models: Path) -> subprocess.Popen[str]:
    here = Path(__file__).parent
    environment = {**os.environ, "PYTHONPATH": str(here.parent)}
    command = [sys.executable, "-c", CHILD, str(store), str(models), str(here)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def slow_answer(received: Received) -> object:
    return completion(received.prompt.replace("question", "answer"), delay=0.05)


def test_a_run_killed_three_times_asks_nothing_twice_but_what_was_in_flight(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    store = tmp_path / "s.sqlite"
    with OpenAIServer(slow_answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        for goal in (15, 45, 80):
            process = child(store, models)
            while len(server.requests) < goal:
                time.sleep(0.01)
            process.send_signal(signal.SIGKILL)
            process.wait()
        out, errors = child(store, models).communicate(timeout=60)
        assert out.strip() == "120", errors
        assert 120 <= len(server.requests) <= 120 + 3 * 4


def test_ctrl_c_ends_a_run_at_once_and_keeps_its_answers(tmp_path: Path, registry: Callable[..., Path]) -> None:
    store = tmp_path / "s.sqlite"
    with OpenAIServer(slow_answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        process = child(store, models)
        while len(server.requests) < 30:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
        assert "KeyboardInterrupt" in errors
        before = len(server.requests)
        assert child(store, models).communicate(timeout=60)[0].strip() == "120"
        assert len(server.requests) - before <= 120 - 30 + 4
