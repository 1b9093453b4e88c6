"""`run` against a real server on loopback: every question once, every outcome counted."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import openai_server
from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.inference.ask import ask
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.engines import openai_batch
from codestress.inference.engines.base import BatchEngine, RequestFailed
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import only_run, request_of
from codestress.inference.results import Results
from codestress.inference.run import run, score
from codestress.inference.store import Store
from codestress.notes import notes_kept
from codestress.types import (
    Message,
    Outcome,
    Prompt,
    Request,
    Response,
    Sampling,
    Score,
    Trial,
    Trials,
)
from conftest import slow, some
from openai_server import (
    OpenAIServer,
    Received,
    as_json,
    completion,
    completion_body,
    failure,
)
from told import names, refused


def judge(trial: Trial, response: Response) -> Score:
    if response.refused:
        return Score(Outcome.REFUSED, 0)
    if response.finish_reason == "length":
        return Score(Outcome.TRUNCATED, 0)
    right = response.text == f"answer {trial.factors['number']}"
    return Score(
        Outcome.CORRECT if right else Outcome.INCORRECT, float(right), response.text
    )


def questions(
    count: int, retries: tuple[float, ...] = (), same: bool = False
) -> Trials:
    def render(trial: Trial) -> Prompt:
        return Prompt(
            (Message("user", f"question {0 if same else trial.factors['number']}"),),
            Sampling(),
        )

    return Trials(
        [Trial(f"q{n}", {"number": n}) for n in range(count)],
        render,
        {"strict": judge},
        retries,
    )


def answer(received: Received) -> object:
    return completion(received.prompt.replace("question", "answer"))


@pytest.fixture
def registry(tmp_path: Path) -> Callable[..., Path]:
    def write(base_url: str, **settings: object) -> Path:
        row = {
            "base_url": base_url,
            "key_env": "",
            "retries": 0,
            "concurrency": 4,
            **settings,
        }
        path = tmp_path / "models.yaml"
        models = {
            name: {"engine": "openai", "settings": row} for name in ("alpha", "beta")
        }
        path.write_text(
            json.dumps(
                {
                    **models,
                    "sim-reader": {
                        "engine": "simulated",
                        "settings": {"capacity": 6000},
                    },
                }
            )
        )
        return path

    return write


def test_every_question_is_asked_once_and_answers_keep_their_order(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    store = tmp_path / "s.sqlite"
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        first = run(questions(30), ["alpha", "beta"], store=store, registry=models)
        rows = first.answers[["model", "number"]].itertuples(index=False, name=None)
        assert list(rows) == [
            (model, number) for model in ("alpha", "beta") for number in range(30)
        ]
        assert all(
            counts["correct"] == 30 == sum(counts.values())
            for counts in first.counts().values()
        )
        assert first.asked == len(server.requests) == 60
        again = run(questions(30), ["alpha", "beta"], store=store, registry=models)
        assert again.asked == 0
        assert len(server.requests) == 60
        assert again.answers.equals(first.answers)
        # The first 30 of 40 are the same 30.
        assert run(questions(40), ["alpha"], store=store, registry=models).asked == 10
        equal = run(
            questions(20, same=True),
            ["beta"],
            store=tmp_path / "t.sqlite",
            registry=models,
        )
        assert equal.asked == 1
        assert equal.counts()["beta"] == dict.fromkeys(
            [r.value for r in Outcome], 0
        ) | {
            "correct": 1,
            "incorrect": 19,
        }


def test_refused_answers_are_asked_again_and_other_outcomes_are_counted(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    def behaviour(received: Received) -> object:
        number = int(received.prompt.split()[-1])
        if number < 3:  # refused for good
            return completion("", finish_reason="content_filter")
        if number < 5 and received.body["temperature"] == 0:  # refused at first
            return completion("  ")
        return (
            completion("cut o", finish_reason="length")
            if number == 5
            else answer(received)
        )

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        results = run(
            questions(10, (0.5, 0.9)),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=models,
        )
        counts = {reason: n for reason, n in results.counts()["alpha"].items() if n}
        assert counts == {"correct": 6, "refused": 3, "truncated": 1}
        assert list(results.answers["attempts"]) == [3, 3, 3, 2, 2, 1, 1, 1, 1, 1]
        assert len(server.requests) == results.asked == 10 + 3 * 2 + 2
        for number, temperatures in ((0, [0, 0.5, 0.9]), (3, [0, 0.5]), (5, [0])):
            received = [r for r in server.requests if r.prompt == f"question {number}"]
            assert [r.body["temperature"] for r in received] == temperatures
        again = run(
            questions(10, (0.5, 0.9)),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=models,
        )
        assert again.asked == 0
        assert again.answers.equals(results.answers)


def test_failures_are_raised_with_the_answers_kept_or_counted(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    broken = True

    def behaviour(received: Received) -> object:
        number = int(received.prompt.split()[-1])
        return (
            failure(500, "out of order")
            if broken and number % 5 == 0
            else answer(received)
        )

    store = tmp_path / "s.sqlite"
    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        with refused(
            IncompleteError, "4 of 20", "alpha", "out of order", "failures=count"
        ):
            run(questions(20), ["alpha"], store=store, registry=models)
        counted = run(
            questions(20), ["alpha"], store=store, registry=models, failures="count"
        )
        assert counted.counts()["alpha"]["harness error"] == 4
        assert sum(counted.counts()["alpha"].values()) == 20
        broken = False
        before = len(server.requests)
        assert run(questions(20), ["alpha"], store=store, registry=models).asked == 4
        assert {r.prompt for r in server.requests[before:]} == {
            f"question {n}" for n in (0, 5, 10, 15)
        }


def test_requests_that_never_succeed_count_each_time_and_are_asked_once_in_a_build(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    """What is left of the first run are requests that fail, more than a server may fail in a row: it is not gone."""

    def behaviour(received: Received) -> object:
        number = int(received.prompt.split()[-1])
        return failure(400, "not this one") if number % 2 else answer(received)

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        asking = partial(
            run,
            questions(100),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=registry(server.base_url),
        )
        for _ in range(2):
            counts = asking(failures="count").counts()["alpha"]
            assert (counts["correct"], counts["harness error"]) == (50, 50)
        with notes_kept():
            asking(failures="count")
            before = len(server.requests)
            assert asking(failures="count").counts()["alpha"] == counts
            assert len(server.requests) == before


def test_the_failure_of_a_question_counts_for_all_trials_that_ask_it(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    with OpenAIServer(lambda _: failure(500, "out of order", delay=0.1)) as server:
        models = registry(server.base_url)
        results = run(
            questions(4, same=True),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=models,
            failures="count",
        )
        assert results.counts()["alpha"]["harness error"] == 4
        assert len(server.requests) == results.asked == 1


@pytest.mark.parametrize(
    ("failing", "outcome"),
    [("question 0", Outcome.SKIPPED), ("next 0", Outcome.HARNESS_ERROR)],
)
def test_a_trial_whose_last_question_was_never_sent_has_no_score(
    failing: str, outcome: Outcome, tmp_path: Path, registry: Callable[..., Path]
) -> None:
    def later(trial: Trial, responses: tuple[Response, ...]) -> Prompt | None:
        again = Prompt(
            (Message("user", f"next {trial.factors['number']}"),), Sampling()
        )
        return again if len(responses) == 1 else None

    def behave(received: Received) -> object:
        broken = received.prompt == failing
        return failure(500, "oops") if broken else completion("answer 1")

    trials = replace(questions(2), follow_up=later, steps=lambda _: 2)
    with OpenAIServer(behave) as server:  # type: ignore[arg-type]
        store, models = tmp_path / "s.sqlite", registry(server.base_url)
        results = run(trials, ["alpha"], store=store, registry=models, failures="count")
    failed, whole = results.answers.to_dict("records")
    assert (whole["outcome_strict"], whole["value_strict"]) == (Outcome.CORRECT, 1)
    assert failed["outcome_strict"] == outcome
    value = failed["value_strict"]
    assert value == 0 or (outcome is Outcome.SKIPPED and math.isnan(value))
    names(failed["detail_strict"], "oops")


def test_a_simulated_reader_is_asked_beside_a_served_model(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    store = tmp_path / "s.sqlite"
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        both = run(questions(10), ["sim-reader", "alpha"], store=store, registry=models)
        assert list(both.counts()) == ["sim-reader", "alpha"]
        assert both.counts()["alpha"]["correct"] == 10
        assert both.asked == 20
        assert {*both.answers["answered_by"][:10]} == {"simulated"}
        alone = run(questions(10), ["sim-reader"], store=store, registry=models)
        assert alone.asked == 0
        assert alone.answers.equals(both.answers[:10])


def test_half_of_a_surrogate_pair_in_an_answer_has_its_row(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    with OpenAIServer(lambda _: completion("half \ud800")) as server:
        models = registry(server.base_url)
        found = run(questions(1), ["alpha"], store=tmp_path / "s", registry=models)
    assert list(found.answers["detail_strict"]) == ["half \\ud800"]
    assert found.counts()["alpha"]["incorrect"] == 1


def test_no_trials_are_no_answers(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    results = run(
        questions(0),
        ["alpha"],
        store=tmp_path / "s.sqlite",
        registry=registry("http://127.0.0.1:9/v1"),
    )
    assert (len(results.answers), results.asked) == (0, 0)
    assert results.requests_sha256() == hashlib.sha256().hexdigest()
    assert results.reasons("strict") == {"alpha": {}}
    assert results.counts() == {"alpha": dict.fromkeys([r.value for r in Outcome], 0)}


def test_counts_that_do_not_add_up_are_an_error(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        results = run(
            questions(3),
            ["alpha", "beta"],
            store=tmp_path / "s.sqlite",
            registry=models,
        )
    mixed = results.answers.iloc[[0, 1, 0, 2, 3, 4]]
    lost = Results(mixed, results.models, results.questions)
    with refused(AssertionError, "alpha", 4, 3):
        lost.counts()


def test_what_the_store_holds_counts_also_when_another_was_first(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    first = {f"question {n}" for n in range(8)}

    def behaviour(received: Received) -> object:
        """The first to ask is answered last, so that the other's answer is stored before."""
        if received.prompt in first:
            first.discard(received.prompt)
            return completion("something else", delay=0.2)
        return answer(received)

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        path = registry(server.base_url, concurrency=8)
        rows = json.loads(path.read_text())
        path.write_text(
            json.dumps(
                {name: rows[name] | {"id": "same"} for name in ("alpha", "beta")}
            )
        )
        store = tmp_path / "s.sqlite"
        during = run(questions(8), ["alpha", "beta"], store=store, registry=path)
        after = run(questions(8), ["alpha", "beta"], store=store, registry=path)
    assert after.asked == 0
    assert during.answers.equals(after.answers)


def test_a_model_that_is_named_twice_is_asked_once(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        results = run(
            questions(3),
            ["alpha", "alpha"],
            store=tmp_path / "s.sqlite",
            registry=registry(server.base_url),
        )
    assert results.counts()["alpha"]["correct"] == len(results.answers) == 3


def test_only_requests_that_fail_in_a_row_end_a_run(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    """Thirty trials that ask one and the same question are one failed request."""
    with OpenAIServer(lambda _: failure(500, "out of order", delay=0.1)) as server:
        models = registry(server.base_url, concurrency=40)
        results = run(
            questions(30, same=True),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=models,
            failures="count",
        )
    assert results.counts()["alpha"]["harness error"] == 30


def test_a_slow_answer_counts_as_timed_out(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    def behaviour(received: Received) -> object:
        slow = received.prompt == "question 1"
        return completion("late", delay=60) if slow else answer(received)

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url, timeout_s=6)
        results = run(
            questions(3),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=models,
            failures="count",
        )
    assert results.counts()["alpha"]["timed out"] == 1


def test_a_server_that_goes_away_ends_the_run_with_its_answers_kept(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    well = 30

    def behaviour(received: Received) -> object:
        return (
            answer(received) if len(server.requests) <= well else failure(500, "down")
        )

    store = tmp_path / "s.sqlite"
    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        for failures in ("raise", "count"):
            before = len(server.requests)
            with pytest.raises(EngineError) as caught:
                run(
                    questions(300),
                    ["alpha"],
                    store=store,
                    registry=models,
                    failures=failures,
                )  # type: ignore[arg-type]
            names(caught.value, "alpha", "down")
            assert caught.value.model == "alpha"
            assert len(server.requests) - before < 100
        well = 1000
        assert run(questions(300), ["alpha"], store=store, registry=models).asked == 270


def test_a_wrong_key_ends_the_run_at_once_and_shows_nowhere(
    tmp_path: Path, registry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-marker")
    store = tmp_path / "s.sqlite"
    refused = False

    def behaviour(received: Received) -> object:
        key = received.headers["authorization"]
        return (
            failure(401, f"Incorrect API key: {key}") if refused else answer(received)
        )

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url, key_env="TEST_KEY", retries=1)
        run(questions(10), ["alpha"], store=store, registry=models)
        assert server.requests[0].headers["authorization"] == "Bearer sk-marker"
        refused = True
        with pytest.raises(EngineError) as caught:
            run(questions(100), ["alpha"], store=store, registry=models)
        names(caught.value, "401", "TEST_KEY")
        assert caught.value.model == "alpha"
        assert len(server.requests) <= 10 + 4
        assert run(questions(10), ["alpha"], store=store, registry=models).asked == 0
    assert "sk-marker" not in "".join(traceback.format_exception(caught.value))
    assert [
        file.name for file in tmp_path.iterdir() if b"sk-marker" in file.read_bytes()
    ] == []


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


def test_run_is_a_plain_call_where_an_event_loop_is_running(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)

        async def cell() -> int:
            return run(
                questions(5), ["alpha"], store=tmp_path / "s.sqlite", registry=models
            ).asked

        assert asyncio.run(cell()) == 5


CHILD = textwrap.dedent(
    """
    import asyncio
    import json
    import sys
    from pathlib import Path
    from codestress.inference.run import run
    from test_run import questions

    store, models, count, within = sys.argv[1:]

    def table():
        results = run(questions(int(count)), ["alpha"], store=Path(store), registry=Path(models))
        print(json.dumps(results.answers[["key", "detail_strict"]].to_numpy().tolist()))

    async def cell():
        table()

    if within == "asyncio.run":
        asyncio.run(cell())
    elif within == "loop":  # as a notebook's kernel: a loop runs, and Ctrl-C raises where the code is
        asyncio.new_event_loop().run_until_complete(cell())
    else:
        table()
    """
)


def child(
    store: Path, models: Path, count: int, within: str = "script"
) -> subprocess.Popen[str]:
    """A run in a process of its own."""
    script = store.with_name("child.py")
    if not script.exists():  # another child may be reading it
        script.write_text(CHILD)
    here = Path(__file__).parent
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(here), str(here.parent)]),
    }
    command = [sys.executable, str(script), str(store), str(models), str(count), within]
    # Shells have background jobs ignore it.
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def slow_answer(received: Received) -> object:
    return completion(received.prompt.replace("question", "answer"), delay=0.05)


def wait_for_requests(
    server: OpenAIServer, goal: int, process: subprocess.Popen[str]
) -> None:
    while len(server.requests) < goal:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)


def stored_prompts(store: Path, models: Path, count: int) -> set[str]:
    """The questions that the store answers."""
    trials, entry = questions(count), load_registry(models)["alpha"]
    keys = {
        request_of(trials, trial, entry).key: f"question {n}"
        for n, trial in enumerate(trials.items)
    }
    with Store(store) as opened:
        return {keys[key] for key in opened.get(keys)}


@pytest.mark.slow
def test_a_run_killed_ten_times_asks_nothing_twice_but_what_was_in_flight(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    store, count, concurrency = tmp_path / "s.sqlite", 300, 8
    with OpenAIServer(slow_answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url, concurrency=concurrency)
        stored: set[str] = set()
        asked: dict[str, int] = {}
        """How often a question had been asked when its answer was first seen in the store."""
        goals = some(sorted(random.Random(0).sample(range(20, 260), 10)), 10)
        for goal in goals:
            process = child(store, models, count)
            wait_for_requests(server, goal, process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            before, stored = stored, stored_prompts(store, models, count)
            assert before <= stored
            times = {prompt: server.counts[prompt] for prompt in stored}
            assert all(asked.setdefault(prompt, n) == n for prompt, n in times.items())
        out, errors = child(store, models, count).communicate(timeout=600)
        assert count <= len(server.requests) <= count + len(goals) * concurrency, errors
        assert all(server.counts[prompt] == n for prompt, n in asked.items())
        whole = run(
            questions(count),
            ["alpha"],
            store=tmp_path / "whole.sqlite",
            registry=models,
        )
        read = whole.answers[["key", "detail_strict"]].to_numpy().tolist()
        assert json.loads(out) == read


@pytest.mark.parametrize(
    "within", slow(["script", "loop", "asyncio.run"], "loop", "asyncio.run")
)
def test_ctrl_c_ends_a_run_at_once_and_keeps_its_answers(
    tmp_path: Path, registry: Callable[..., Path], within: str
) -> None:
    store, count, ended = tmp_path / "s.sqlite", 120, False

    def behaviour(received: Received) -> object:
        """Thirty answers, and no more until the run has ended."""
        enough = len(server.requests) > 30 and not ended
        return completion(
            received.prompt.replace("question", "answer"), delay=600 * enough
        )

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        process = child(store, models, count, within)
        wait_for_requests(server, 30, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
        ended = True
        assert process.returncode
        assert "KeyboardInterrupt" in errors
        asked, stored = len(server.requests), stored_prompts(store, models, count)
        assert 30 - 4 <= len(stored) <= asked < count
        rest = run(questions(count), ["alpha"], store=store, registry=models)
        assert rest.asked == count - len(stored)
        assert stored.isdisjoint(r.prompt for r in server.requests[asked:])


def test_a_model_of_this_process_answers_while_prompts_are_made(tmp_path: Path) -> None:
    """So that minutes, or Ctrl-C, leave answers however long all prompts take."""
    store, made = tmp_path / "s.sqlite", 0
    trials = questions(2_000)

    def render(trial: Trial) -> Prompt:
        nonlocal made
        made += 1
        if made == 1_500:
            raise ParameterError("a program is gone")
        return trials.render(trial)

    asked = replace(trials, render=render)
    (tmp_path / "own.py").write_text("def ask(messages, **how):\n    return 'no'\n")
    row = {"engine": "function", "settings": {"function": f"{tmp_path}/own.py:ask"}}
    models = tmp_path / "models.yaml"
    models.write_text(json.dumps({"own": row}))
    with refused(ParameterError, "a program is gone"):
        run(asked, ["own"], store=store, registry=models)
    with Store(store) as kept:
        assert kept.count() > 500


@pytest.mark.slow
def test_two_runs_at_once_ask_each_question_once(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    store, count = tmp_path / "s.sqlite", 100
    with OpenAIServer(slow_answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)
        processes = [child(store, models, count) for _ in range(3)]
        outs = [process.communicate(timeout=600) for process in processes]
        assert len(server.requests) == count
    assert len({out for out, _ in outs}) == 1, [told for _, told in outs]


@pytest.mark.slow
def test_a_run_waits_for_another_one_that_asks_the_same_model(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    store = tmp_path / "s.sqlite"
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        models = registry(server.base_url)

        async def other_run() -> subprocess.Popen[str]:
            async with only_run(load_registry(models)["alpha"], store):
                process = child(store, models, 10)
                assert process.stderr is not None
                told = ""
                while "alpha" not in told or "waiting" not in told:
                    told = await asyncio.to_thread(process.stderr.readline)
                    assert told, "it ended without a word"
                assert not server.requests
                return process

        process = asyncio.run(other_run())
        out, _ = process.communicate(timeout=600)
        assert len(json.loads(out)) == len(server.requests) == 10


def test_a_model_that_changes_under_its_name_is_told(
    tmp_path: Path, registry: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    def updated(received: Received) -> object:
        body = completion_body("answer 1")
        body["system_fingerprint"] = (
            "fp_new" if int(received.prompt.split()[-1]) > 15 else "fp_old"
        )
        return as_json(body)

    with OpenAIServer(updated) as server:  # type: ignore[arg-type]
        results = run(
            questions(20),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=registry(server.base_url),
        )
    assert results.answered_by() == {"alpha": ["served-1 fp_new", "served-1 fp_old"]}
    names(capsys.readouterr().err, "alpha", "fp_new", "fp_old", "CODESTRESS_STORE")


def test_prompts_that_share_a_beginning_follow_each_other(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    """Positions of a line in six contexts, in the order of the trials context by context last."""

    def render(trial: Trial) -> Prompt:
        context = [
            f"{trial.factors['context']} line {n} {'x' * 200}\n" for n in range(6)
        ]
        context.insert(int(trial.factors["place"] or 0), f"here {'y' * 200}\n")
        return Prompt((Message("user", "".join(context)),), Sampling())

    items = [Trial("p", {"context": c, "place": p}) for p in range(7) for c in "abcdef"]
    trials = Trials(items, render, {"strict": lambda *_: Score(Outcome.CORRECT, 1.0)})

    with OpenAIServer(lambda _: completion("x")) as server:
        run(
            trials,
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=registry(server.base_url, concurrency=1),
        )
        prompts = [received.prompt for received in server.requests]
    assert len(prompts) == 42
    for context in "abcdef":
        places = [
            n
            for n, prompt in enumerate(prompts)
            if prompt.startswith(f"{context} line")
        ]
        # The seventh begins as those of other contexts do.
        assert places == list(range(places[0], places[0] + 6))


def test_engines_that_take_many_at_once_keep_all_rules(
    tmp_path: Path, registry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider's batch mode: refusals asked again, equal questions once, a budget, failures counted."""
    monkeypatch.setattr(openai_batch, "OUTPUTS", tmp_path)

    def behaviour(received: Received) -> object:
        number = int(received.prompt.split()[-1])
        if number == 7:
            return failure(400, "no")
        return (
            completion("")
            if number < 3 and received.body["temperature"] == 0
            else answer(received)
        )

    def models(base_url: str) -> Path:
        path = registry(base_url)
        settings = {"base_url": base_url, "key_env": "", "poll_s": 0.01, "batch": 15}
        path.write_text(
            json.dumps({"alpha": {"engine": "openai_batch", "settings": settings}})
        )
        return path

    with OpenAIServer(behaviour) as server:  # type: ignore[arg-type]
        path = models(server.base_url)
        with refused(BudgetReached, "alpha", "5 of 40", "MAX_REQUESTS"):
            ask(
                questions(40),
                ["alpha"],
                store=tmp_path / "s.sqlite",
                registry=path,
                budget=Budget(requests=5),
            )
        results = run(
            questions(40, (0.5,)),
            ["alpha"],
            store=tmp_path / "s.sqlite",
            registry=path,
            failures="count",
        )
        counts = {reason: n for reason, n in results.counts()["alpha"].items() if n}
        assert counts == {"correct": 39, "harness error": 1}
        assert len(server.requests) == 40 + 3
        assert 4 <= len(server.batches) <= 6
    assert not list((tmp_path / "batches").iterdir())


class Careless(BatchEngine):
    """Answers twice, answers what nobody asked, and forgets one."""

    concurrency = 10

    async def answers(
        self, requests: Sequence[Request]
    ) -> AsyncIterator[tuple[str, Response | RequestFailed]]:
        yield replace(requests[0], sample=99).key, Response("to nobody", "stop")
        for request in requests:
            if "forgotten" not in request.prompt.messages[0].content:
                yield request.key, Response("first", "stop")
                yield request.key, Response("second", "stop")
                yield request.key, RequestFailed("and then not")


def test_a_batch_engine_that_keeps_no_count_loses_nothing_and_leaves_nobody_waiting() -> (
    None
):
    async def asked() -> list[Response | BaseException]:
        texts = ["one", "two", "one", "forgotten", "one"]
        prompts = [Prompt((Message("user", text),), Sampling()) for text in texts]
        engine = Careless(ModelEntry(name="careless", engine="", id="m"))
        asking = asyncio.gather(
            *(engine.answer(Request("m", "", one)) for one in prompts),
            return_exceptions=True,
        )
        found = await asyncio.wait_for(asking, 60)
        await engine.close()
        return found

    *answers, forgotten, last = asyncio.run(asked())
    assert [one.text for one in [*answers, last] if isinstance(one, Response)] == [
        "first"
    ] * 4
    assert isinstance(forgotten, RequestFailed)
    names(forgotten, "careless")


def test_a_batch_is_forgotten_only_when_its_answers_are_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two, a run would pay twice."""
    monkeypatch.setattr(openai_batch, "OUTPUTS", tmp_path)
    store, models = tmp_path / "s.sqlite", tmp_path / "models.yaml"
    stored = []
    write = openai_batch.OpenAIBatch._write

    def watched(engine: openai_batch.OpenAIBatch) -> None:
        if not engine._batches:
            with Store(store) as responses:
                stored.append(responses.count())
        write(engine)

    monkeypatch.setattr(openai_batch.OpenAIBatch, "_write", watched)
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        settings = {"base_url": server.base_url, "key_env": "", "poll_s": 0.01}
        row = {"engine": "openai_batch", "settings": settings | {"batch": 40}}
        models.write_text(json.dumps({"alpha": row}))
        run(questions(100), ["alpha"], store=store, registry=models)
    assert stored == [40, 80, 100]


@pytest.mark.slow
def test_a_batch_that_was_left_is_found_again(
    tmp_path: Path, registry: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_batch, "OUTPUTS", tmp_path)
    monkeypatch.setenv("CODESTRESS_OUTPUTS", str(tmp_path))
    with OpenAIServer(answer) as server:  # type: ignore[arg-type]
        server.batch_polls = 10_000
        path = registry(server.base_url)
        settings = {"base_url": server.base_url, "key_env": "", "poll_s": 0.01}
        path.write_text(
            json.dumps({"alpha": {"engine": "openai_batch", "settings": settings}})
        )
        process = child(tmp_path / "s.sqlite", path, 30)
        while not (server.batches and server.batches[0]["looks"] > 3):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        process.kill()
        process.communicate()
        server.batch_polls = server.batches[0]["looks"] + 3
        results = run(
            questions(35), ["alpha"], store=tmp_path / "s.sqlite", registry=path
        )
        assert results.counts()["alpha"]["correct"] == 35
        assert len(server.batches) == 2
        assert sorted(server.counts.values()) == [1] * 35


@pytest.mark.slow
def test_a_server_killed_and_started_again_loses_no_answer(
    tmp_path: Path, registry: Callable[..., Path]
) -> None:
    script = Path(openai_server.__file__)

    def started(port: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, str(script), "--port", port, "--delay", "0.02"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    store, count = tmp_path / "s.sqlite", 200
    server, base_url = started("0")
    models = registry(base_url, retries=8)
    runner = child(store, models, count)
    try:
        while not (store.is_file() and len(stored_prompts(store, models, count)) > 20):
            assert runner.poll() is None, runner.communicate()[1]
            time.sleep(0.02)
        server.kill()
        server.wait()
        time.sleep(0.5)
        server, _ = started(base_url.split(":")[2].split("/")[0])
        out, errors = runner.communicate(timeout=600)
        assert runner.returncode == 0, errors
    finally:
        server.kill()
        runner.kill()
    assert len(json.loads(out)) == len(stored_prompts(store, models, count)) == count


def test_asking_knows_no_score(tmp_path: Path) -> None:
    """What asks never calls a scorer; scoring asks nothing, and scores every answer once."""
    calls: list[str] = []

    def judge(trial: Trial, response: Response) -> Score:
        calls.append(trial.problem)
        return Score(Outcome.CORRECT, 1.0, response.text)

    trials = Trials(
        [Trial(f"p{n}", {}) for n in range(9)],
        lambda trial: Prompt(
            (Message("user", f"What is {trial.problem}?"),), Sampling()
        ),
        {"strict": judge},
    )
    asked = ask(trials, ["sim-near", "sim-wide"], store=tmp_path / "s.sqlite")
    assert calls == []
    assert asked.requests == 18
    results = score(trials, asked, store=tmp_path / "s.sqlite")
    assert len(calls) == len(results.answers) == 18
    assert (
        ask(trials, ["sim-near", "sim-wide"], store=tmp_path / "s.sqlite").requests == 0
    )
