"""`run` against a real server on loopback: every question once, every outcome counted."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import math
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import openai_server
from codestress.errors import EngineError, IncompleteError, ParameterError
from codestress.inference.ask import ask
from codestress.inference.budget import Budget, BudgetReached
from codestress.inference.engines import openai_batch
from codestress.inference.engines.base import BatchEngine, RequestFailed
from codestress.inference.registry import ModelEntry, load_registry
from codestress.inference.requests import only_run, request_for, request_of
from codestress.inference.results import Results
from codestress.inference.run import score
from codestress.inference.store import Store
from codestress.notes import notes_kept
from codestress.types import (
    Outcome,
    Prompt,
    Request,
    Response,
    Score,
    Trial,
    Trials,
)
from conftest import slow, some
from openai_server import (
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    completion_body,
    failure,
)
from served import (
    Served,
    correct,
    counts_of,
    in_two_steps,
    prompt,
    settings_of,
    trials_of,
)
from told import names, refused


def judge(trial: Trial, response: Response) -> Score:
    if response.refused:
        return Score(Outcome.REFUSED, 0)
    if response.finish_reason == "length":
        return Score(Outcome.TRUNCATED, 0)
    right = response.text == f"answer {trial.factors['number']}"
    outcome = Outcome.CORRECT if right else Outcome.INCORRECT
    return Score(outcome, float(right), response.text)


def questions(
    count: int, retries: tuple[float, ...] = (), same: bool = False
) -> Trials:
    prompts = [prompt(f"question {0 if same else n}") for n in range(count)]
    return replace(trials_of(*prompts, judge=judge), retry_temperatures=retries)


def answer(received: Received) -> Reply:
    return completion(received.prompt.replace("question", "answer"))


def number_of(received: Received) -> int:
    return int(received.prompt.split()[-1])


def test_every_question_is_asked_once_and_answers_keep_their_order(
    served: Served,
) -> None:
    both = ("alpha", "beta")
    with OpenAIServer(answer) as server:
        served.rows(server, *both)
        first = served.run(questions(30), *both)
        rows = first.answers[["model", "number"]].itertuples(index=False, name=None)
        assert list(rows) == [*itertools.product(both, range(30))]
        for counts in first.counts().values():
            assert counts["correct"] == 30 == sum(counts.values())
        assert first.asked == len(server.requests) == 60
        again = served.run(questions(30), *both)
        assert (again.asked, len(server.requests)) == (0, 60)
        assert again.answers.equals(first.answers)
        # The first 30 of 40 are the same 30; a model that is named twice is asked once.
        more = served.run(questions(40), "alpha", "alpha")
        assert (more.asked, len(more.answers)) == (10, 40)
    mixed = first.answers.iloc[[0, *range(59)]]
    with refused(AssertionError, "alpha", 31, 30):
        Results(mixed, first.models, first.questions).counts()


def test_equal_questions_are_asked_once(served: Served) -> None:
    with OpenAIServer(lambda _: completion("half \ud800")) as server:
        served.rows(server)
        equal = served.run(questions(20, same=True))
    assert equal.asked == 1
    assert counts_of(equal) == {"incorrect": 20}
    assert {*equal.answers["detail_strict"]} == {"half \\ud800"}


def test_refused_answers_are_asked_again_and_other_outcomes_are_counted(
    served: Served,
) -> None:
    def behaviour(received: Received) -> Reply:
        number = number_of(received)
        if number < 3:  # refused for good
            return completion("", finish_reason="content_filter")
        if number < 5 and received.body["temperature"] == 0:  # refused at first
            return completion("  ")
        cut = completion("cut o", finish_reason="length")
        return cut if number == 5 else answer(received)

    with OpenAIServer(behaviour) as server:
        served.rows(server)
        results = served.run(questions(10, (0.5, 0.9)))
        assert counts_of(results) == {"correct": 6, "refused": 3, "truncated": 1}
        assert list(results.answers["attempts"]) == [3, 3, 3, 2, 2, 1, 1, 1, 1, 1]
        assert len(server.requests) == results.asked == 10 + 3 * 2 + 2
        for number, temperatures in ((0, [0, 0.5, 0.9]), (3, [0, 0.5]), (5, [0])):
            received = [r for r in server.requests if number_of(r) == number]
            assert [r.body["temperature"] for r in received] == temperatures
        again = served.run(questions(10, (0.5, 0.9)))
        assert again.asked == 0
        assert again.answers.equals(results.answers)


def test_failures_are_raised_with_the_answers_kept_or_counted_and_asked_again(
    served: Served,
) -> None:
    """In a build they are asked once; they are more than a server may fail in a row: it is not gone."""
    broken = True

    def behaviour(received: Received) -> Reply:
        fails = broken and number_of(received) % 2
        return failure(400, "not this one") if fails else answer(received)

    asking = partial(served.run, questions(100))
    counts = {"correct": 50, "harness error": 50}
    with OpenAIServer(behaviour) as server:
        served.rows(server)
        told = ("50 of 100", "served", "not this one", "failures=count")
        with refused(IncompleteError, *told):
            asking()
        assert counts_of(asking(failures="count")) == counts
        with notes_kept():
            asking(failures="count")
            before = len(server.requests)
            assert counts_of(asking(failures="count")) == counts
            assert len(server.requests) == before
        broken = False
        assert asking().asked == 50
        assert {*map(number_of, server.requests[before:])} == {*range(1, 100, 2)}


def test_the_failure_of_a_question_counts_for_all_trials_that_ask_it(
    served: Served,
) -> None:
    """Trials that ask one and the same question, more than may fail in a row, are one failed request."""
    with OpenAIServer(lambda _: failure(500, "out of order", delay=0.1)) as server:
        served.rows(server, concurrency=40)
        results = served.run(questions(30, same=True), failures="count")
        assert counts_of(results) == {"harness error": 30}
        assert len(server.requests) == results.asked == 1


@pytest.mark.parametrize(
    ("failing", "outcome", "value"),
    [
        ("question 0", Outcome.SKIPPED, math.nan),
        ("next 0", Outcome.HARNESS_ERROR, 0),
    ],
)
def test_a_trial_whose_last_question_was_never_sent_has_no_score(
    failing: str, outcome: Outcome, value: float, served: Served
) -> None:
    def behave(received: Received) -> Reply:
        broken = received.prompt == failing
        return failure(500, "oops") if broken else completion("answer 1")

    def second(trial: Trial, _: Response) -> Prompt:
        return prompt(f"next {trial.factors['number']}")

    with OpenAIServer(behave) as server:
        served.rows(server)
        results = served.run(in_two_steps(questions(2), second), failures="count")
    failed, whole = results.answers.to_dict("records")
    assert (whole["outcome_strict"], whole["value_strict"]) == (Outcome.CORRECT, 1)
    assert failed["outcome_strict"] == outcome
    assert failed["value_strict"] == pytest.approx(value, nan_ok=True)
    names(failed["detail_strict"], "oops")


def test_a_simulated_reader_is_asked_beside_a_served_model(served: Served) -> None:
    reader = {"engine": "simulated", "settings": {"capacity": 6000}}
    with OpenAIServer(answer) as server:
        rows = json.loads(served.rows(server).read_text())
        served.registry.write_text(json.dumps(rows | {"sim-reader": reader}))
        both = served.run(questions(10), "sim-reader", "served")
        assert both.counts()["served"]["correct"] == 10
        assert {*both.answers["answered_by"][:10]} == {"simulated"}
        alone = served.run(questions(10), "sim-reader")
    assert (both.asked, alone.asked) == (20, 0)
    assert alone.answers.equals(both.answers[:10])


def test_no_trials_are_no_answers(served: Served) -> None:
    served.rows("http://127.0.0.1:9/v1")
    results = served.run(questions(0))
    assert (len(results.answers), results.asked) == (0, 0)
    assert results.requests_sha256() == hashlib.sha256().hexdigest()
    assert results.reasons("strict") == {"served": {}}
    nothing = dict.fromkeys([outcome.value for outcome in Outcome], 0)
    assert results.counts() == {"served": nothing}


def test_what_the_store_holds_counts_also_when_another_was_first(
    served: Served,
) -> None:
    both = ("alpha", "beta")

    def behaviour(received: Received) -> Reply:
        """The first to ask is answered last, so that the other's answer is stored before."""
        late = completion("something else", delay=0.2)
        return answer(received) if received.seen else late

    with OpenAIServer(behaviour) as server:
        served.rows(server, *both, row={"id": "same"}, concurrency=8)
        during = served.run(questions(8), *both)
        after = served.run(questions(8), *both)
    assert after.asked == 0
    assert during.answers.equals(after.answers)


@pytest.mark.parametrize("host", ["localhost:9", "gateway.invalid:9"])
def test_a_later_answer_belongs_to_its_server_as_the_first_does(
    host: str, served: Served
) -> None:
    served.rows("http://127.0.0.1:9/v1")
    row = load_registry(served.registry)["served"]
    second = prompt("second")
    answers = {"question 0": "localhost:9", "second": host}
    with Store(served.store) as store:
        for text, server in answers.items():
            key = request_for(row, prompt(text)).key
            store.put(key, "m", Response("a", "stop", server=f"http://{server}/v1"))
    trials = in_two_steps(questions(1), lambda *_: second)
    if host == "localhost:9":
        assert served.run(trials).asked == 0
    else:
        with refused(EngineError, "served", host):
            served.run(trials)


def test_a_server_that_goes_away_ends_the_run_with_its_answers_kept(
    served: Served,
) -> None:
    well = 30

    def behaviour(received: Received) -> Reply:
        down = failure(500, "down")
        return answer(received) if len(server.requests) <= well else down

    with OpenAIServer(behaviour) as server:
        served.rows(server)
        for failures in ("raise", "count"):
            before = len(server.requests)
            with refused(EngineError, "served", "down"):
                served.run(questions(300), failures=failures)
            assert len(server.requests) - before < 100
        well = 1000
        assert served.run(questions(300)).asked == 270


def test_a_wrong_key_ends_the_run_at_once_and_shows_nowhere(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuses = False

    def behaviour(received: Received) -> Reply:
        key = received.headers["authorization"]
        wrong = failure(401, f"Incorrect API key: {key}")
        return wrong if refuses else answer(received)

    with OpenAIServer(behaviour) as server:
        served.rows(server, key_env="TEST_KEY", retries=1)
        with refused(EngineError, "served", "TEST_KEY", "export", "MODELS=sim-"):
            served.run(questions(10))
        assert server.requests == []
        monkeypatch.setenv("TEST_KEY", "sk-marker")
        served.run(questions(10))
        refuses = True
        with pytest.raises(EngineError) as caught:
            served.run(questions(100))
        names(caught.value, "401", "TEST_KEY")
        assert caught.value.model == "served"
        assert len(server.requests) <= 10 + 4
        # It is needed only when something must be asked.
        monkeypatch.delenv("TEST_KEY")
        assert served.run(questions(10)).asked == 0
    assert "sk-marker" not in "".join(traceback.format_exception(caught.value))
    for file in served.folder.iterdir():
        assert b"sk-marker" not in file.read_bytes(), file


def test_run_is_a_plain_call_where_an_event_loop_is_running(served: Served) -> None:
    async def cell() -> int:
        return served.run(questions(5)).asked

    with OpenAIServer(answer) as server:
        served.rows(server)
        assert asyncio.run(cell()) == 5


CHILD = """
import asyncio
import json
import sys
from pathlib import Path
from served import Served
from test_run import questions

folder, count, within = sys.argv[1:]

def table():
    results = Served(Path(folder)).run(questions(int(count)))
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


def child(served: Served, count: int, within: str = "script") -> subprocess.Popen[str]:
    """A run in a process of its own."""
    here = Path(__file__).parent
    path = os.pathsep.join([str(here), str(here.parent)])
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(served.folder), str(count), within],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
        # Shells have background jobs ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def slow_answer(received: Received) -> Reply:
    return replace(answer(received), delay=0.05)


def wait_for_requests(
    server: OpenAIServer, goal: int, process: subprocess.Popen[str]
) -> None:
    while len(server.requests) < goal:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)


def stored_prompts(served: Served, count: int) -> set[str]:
    """The questions that the store answers."""
    trials, entry = questions(count), load_registry(served.registry)["served"]
    keys = {request_of(trials, one, entry).key: one for one in trials.items}
    with Store(served.store) as opened:
        return {f"question {keys[key].factors['number']}" for key in opened.get(keys)}


@pytest.mark.slow
def test_a_run_killed_ten_times_asks_nothing_twice_but_what_was_in_flight(
    served: Served,
) -> None:
    count, concurrency = 300, 8
    with OpenAIServer(slow_answer) as server:
        served.rows(server, concurrency=concurrency)
        asked: dict[str, int] = {}
        """How often a question had been asked when its answer was first seen in the store."""
        goals = some(sorted(random.Random(0).sample(range(20, 260), 10)), 10)
        for goal in goals:
            process = child(served, count)
            wait_for_requests(server, goal, process)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            stored = stored_prompts(served, count)
            assert asked.keys() <= stored
            for one in stored:
                assert asked.setdefault(one, server.counts[one]) == server.counts[one]
        out, errors = child(served, count).communicate(timeout=600)
        assert count <= len(server.requests) <= count + len(goals) * concurrency, errors
        assert all(server.counts[prompt] == n for prompt, n in asked.items())
        whole = served.run(questions(count), store=served.folder / "whole.sqlite")
        read = whole.answers[["key", "detail_strict"]].to_numpy().tolist()
        assert json.loads(out) == read


@pytest.mark.parametrize(
    "within", slow(["script", "loop", "asyncio.run"], "loop", "asyncio.run")
)
def test_ctrl_c_ends_a_run_at_once_and_keeps_its_answers(
    served: Served, within: str
) -> None:
    count, ended = 120, False

    def behaviour(received: Received) -> Reply:
        """Thirty answers, and no more until the run has ended."""
        enough = len(server.requests) > 30 and not ended
        return replace(answer(received), delay=600 * enough)

    with OpenAIServer(behaviour) as server:
        served.rows(server)
        process = child(served, count, within)
        wait_for_requests(server, 30, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
        ended = True
        assert process.returncode
        assert "KeyboardInterrupt" in errors
        asked, stored = len(server.requests), stored_prompts(served, count)
        assert 30 - 4 <= len(stored) <= asked < count
        assert served.run(questions(count)).asked == count - len(stored)
        assert stored.isdisjoint(r.prompt for r in server.requests[asked:])


def test_a_model_of_this_process_answers_while_prompts_are_made(
    served: Served,
) -> None:
    """So that minutes, or Ctrl-C, leave answers however long all prompts take."""
    made = itertools.count(1)
    trials = questions(2_000)

    def render(trial: Trial) -> Prompt:
        if next(made) == 1_500:
            raise ParameterError("a program is gone")
        return trials.render(trial)

    own = served.folder / "own.py"
    own.write_text("def ask(messages, **how):\n    return 'no'\n")
    function = {"engine": "function", "settings": {"function": f"{own}:ask"}}
    served.rows("", row=function)
    with refused(ParameterError, "a program is gone"):
        served.run(replace(trials, render=render))
    with Store(served.store) as kept:
        assert kept.count() > 500


@pytest.mark.slow
def test_a_run_waits_for_another_one_that_asks_the_same_model(served: Served) -> None:
    """What the other stored meanwhile is not asked again."""
    trials = questions(10)
    with OpenAIServer(answer) as server:
        row = load_registry(served.rows(server))["served"]

        async def other_run() -> subprocess.Popen[str]:
            async with only_run(row, served.store):
                process = child(served, 10)
                assert process.stderr is not None
                told = ""
                while "served" not in told or "waiting" not in told:
                    told = await asyncio.to_thread(process.stderr.readline)
                    assert told, "it ended without a word"
                assert not server.requests
                with Store(served.store) as store:
                    for trial in trials.items[:4]:
                        key = request_of(trials, trial, row).key
                        store.put(key, "served", Response("answer", "stop"))
                return process

        process = asyncio.run(other_run())
        out, _ = process.communicate(timeout=600)
        assert (len(json.loads(out)), len(server.requests)) == (10, 6)


def test_a_model_that_changes_under_its_name_is_told(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    def updated(received: Received) -> Reply:
        version = "fp_new" if number_of(received) > 15 else "fp_old"
        return as_json(completion_body("answer 1") | {"system_fingerprint": version})

    with OpenAIServer(updated) as server:
        served.rows(server)
        results = served.run(questions(20))
    assert results.answered_by() == {"served": ["served-1 fp_new", "served-1 fp_old"]}
    names(capsys.readouterr().err, "served", "fp_new", "fp_old", "CODESTRESS_STORE")


def test_prompts_that_share_a_beginning_follow_each_other(served: Served) -> None:
    """Places of a line in six contexts, in the order of the trials context by context last."""

    def question(place: int, context: str) -> Prompt:
        lines = [f"{context} line {n} {'x' * 200}\n" for n in range(6)]
        lines.insert(place, f"here {'y' * 200}\n")
        return prompt("".join(lines))

    places_by_context = itertools.product(range(7), "abcdef")
    trials = trials_of(*itertools.starmap(question, places_by_context))
    with OpenAIServer(lambda _: completion("x")) as server:
        served.rows(server, concurrency=1)
        served.run(trials)
        starts = [received.prompt[:6] for received in server.requests]
    assert len(starts) == 42
    for context in "abcdef":
        places = [n for n, start in enumerate(starts) if start == f"{context} line"]
        # The seventh begins as those of other contexts do.
        assert places == list(range(places[0], places[0] + 6))


def batches(
    served: Served, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch, **more: int
) -> None:
    """The model is asked by the provider's batch mode."""
    monkeypatch.setattr(openai_batch, "OUTPUTS", served.folder)
    settings = {**settings_of(server), "poll_s": 0.01, **more}
    served.rows(server, row={"engine": "openai_batch", "settings": settings})


def test_engines_that_take_many_at_once_keep_all_rules(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider's batch mode: refusals asked again, equal questions once, a budget, failures counted."""

    def behaviour(received: Received) -> Reply:
        number = number_of(received)
        if number == 7:
            return failure(400, "no")
        empty = number < 3 and received.body["temperature"] == 0
        return completion("") if empty else answer(received)

    with OpenAIServer(behaviour) as server:
        batches(served, server, monkeypatch, batch=15)
        with refused(BudgetReached, "served", "5 of 40", "MAX_REQUESTS"):
            ask(
                questions(40),
                ["served"],
                store=served.store,
                registry=served.registry,
                budget=Budget(requests=5),
            )
        results = served.run(questions(40, (0.5,)), failures="count")
        assert counts_of(results) == {"correct": 39, "harness error": 1}
        assert len(server.requests) == 40 + 3
        assert 4 <= len(server.batches) <= 6
    assert not list((served.folder / "batches").iterdir())


class Careless(BatchEngine):
    """Answers twice, answers what nobody asked, and forgets one."""

    concurrency = 10

    async def answers(
        self, requests: Sequence[Request]
    ) -> AsyncIterator[tuple[str, Response | RequestFailed]]:
        yield replace(requests[0], sample=99).key, Response("to nobody", "stop")
        for request in requests:
            if request.sample < 2:
                yield request.key, Response("first", "stop")
                yield request.key, RequestFailed("and then not")


def test_a_careless_batch_engine_loses_nothing_and_leaves_nobody_waiting() -> None:
    async def asked() -> list[Any]:
        engine = Careless(ModelEntry(name="careless", engine="", id="m"))
        request = Request("m", "", prompt("?"))
        answers = [
            engine.answer(replace(request, sample=sample)) for sample in (0, 1, 0, 2)
        ]
        asking = asyncio.gather(*answers, return_exceptions=True)
        found = await asyncio.wait_for(asking, 60)
        await engine.close()
        return found

    *answered, forgotten = asyncio.run(asked())
    assert [response.text for response in answered] == ["first"] * 3
    assert isinstance(forgotten, RequestFailed)
    names(forgotten, "careless")


def test_a_batch_is_forgotten_only_when_its_answers_are_stored(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the two, a run would pay twice."""
    stored = []
    write = openai_batch.OpenAIBatch._write

    def watched(engine: openai_batch.OpenAIBatch) -> None:
        if not engine._batches:
            with Store(served.store) as responses:
                stored.append(responses.count())
        write(engine)

    monkeypatch.setattr(openai_batch.OpenAIBatch, "_write", watched)
    with OpenAIServer(answer) as server:
        batches(served, server, monkeypatch, batch=40)
        served.run(questions(100))
    assert stored == [40, 80, 100]


@pytest.mark.slow
def test_a_batch_that_was_left_is_found_again(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODESTRESS_OUTPUTS", str(served.folder))
    with OpenAIServer(answer) as server:
        server.batch_polls = 10_000
        batches(served, server, monkeypatch)
        process = child(served, 30)
        while not (server.batches and server.batches[0]["looks"] > 3):
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        process.kill()
        process.communicate()
        server.batch_polls = server.batches[0]["looks"] + 3
        assert counts_of(served.run(questions(35))) == {"correct": 35}
        assert len(server.batches) == 2
        assert sorted(server.counts.values()) == [1] * 35


@pytest.mark.slow
def test_a_server_killed_and_started_again_loses_no_answer(served: Served) -> None:
    script = Path(openai_server.__file__)

    def started(port: str) -> tuple[subprocess.Popen[str], str]:
        command = [sys.executable, str(script), "--port", port, "--delay", "0.02"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, process.stdout.readline().strip()

    count = 200
    server, base_url = started("0")
    served.rows(base_url, retries=8)
    runner = child(served, count)
    try:
        while not (served.store.is_file() and len(stored_prompts(served, count)) > 20):
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
    assert len(json.loads(out)) == len(stored_prompts(served, count)) == count


def test_asking_knows_no_score(tmp_path: Path) -> None:
    """What asks never calls a scorer; scoring asks nothing, and scores every answer once."""
    calls: list[str] = []

    def counting(trial: Trial, response: Response) -> Score:
        calls.append(trial.problem)
        return correct(trial, response)

    trials = replace(questions(9), judges={"strict": counting})
    asking = partial(ask, trials, ["sim-near", "sim-wide"], store=tmp_path / "s.sqlite")
    asked = asking()
    assert calls == []
    assert asked.requests == 18
    results = score(trials, asked, store=tmp_path / "s.sqlite")
    assert len(calls) == len(results.answers) == 18
    assert asking().requests == 0
