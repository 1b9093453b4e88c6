"""Runs and servers that are killed, interrupted or run twice: no answer is lost or paid for twice."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from numbered import answer, questions
from processes import started

import openai_server
from codestress.errors import ParameterError
from codestress.inference.registry import load_registry
from codestress.inference.requests import only_run, request_of
from codestress.inference.store import Store
from codestress.types import Prompt, Response, Trial
from conftest import slow
from openai_server import OpenAIServer, Received, Reply
from served import Served
from told import refused

CHILD = """
import asyncio
import json
import signal
import sys
from pathlib import Path
from numbered import questions
from served import Served

# Shells have background jobs ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, count, within = sys.argv[1:]

def table():
    results = Served(Path(folder)).run(questions(int(count)))
    print(json.dumps(results.answers[["key", "detail_strict"]].to_numpy().tolist()))

async def cell():
    table()

if within == "asyncio.run":
    asyncio.run(cell())
elif within == "loop":  # as in a notebook's kernel, where Ctrl-C raises where the code is
    asyncio.new_event_loop().run_until_complete(cell())
else:
    table()
"""


def child(served: Served, count: int, within: str = "script") -> subprocess.Popen[str]:
    """Start a run in another process, which prints its answers."""
    return started(CHILD, served.folder, count, within, stdout=subprocess.PIPE)


def wait_for_requests(
    server: OpenAIServer, count: int, process: subprocess.Popen[str]
) -> None:
    while len(server.requests) < count:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)


def stored_prompts(served: Served, count: int) -> set[str]:
    """Return the first `count` questions, without those that the store lacks."""
    trials, row = questions(count), load_registry(served.registry)["served"]
    texts = {}
    for number, trial in enumerate(trials.items):
        texts[request_of(trials, trial, row).key] = f"question {number}"
    with Store(served.store) as store:
        return {texts[key] for key in store.get(texts)}


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_asks_no_stored_question_twice(
    served: Served,
) -> None:
    """Only what is under way when a run is killed is asked again."""
    count, concurrency = 300, 8

    def slow_answer(received: Received) -> Reply:
        return replace(answer(received), delay=0.05)

    with OpenAIServer(slow_answer) as server:
        served.rows(server, concurrency=concurrency)
        requests: dict[str, int] = {}
        """Number of requests for a question when its answer was first seen in the store."""
        goals = sorted(random.Random(0).sample(range(20, 260), 10))
        for goal in goals:
            process = child(served, count)
            wait_for_requests(server, goal, process)
            process.kill()
            process.communicate()
            stored = stored_prompts(served, count)
            assert requests.keys() <= stored
            for text in stored:
                requests.setdefault(text, server.counts[text])
        out, errors = child(served, count).communicate(timeout=600)
        assert count <= len(server.requests) <= count + len(goals) * concurrency, errors
        for text, number in requests.items():
            assert server.counts[text] == number
        whole = served.run(questions(count), store=served.folder / "whole.sqlite")
    table = whole.answers[["key", "detail_strict"]].to_numpy().tolist()
    assert json.loads(out) == table


@pytest.mark.parametrize(
    "within", slow(["script", "loop", "asyncio.run"], "loop", "asyncio.run")
)
def test_ctrl_c_ends_a_run_at_once_and_keeps_its_answers(
    served: Served, within: str
) -> None:
    count, has_ended = 120, False

    def behaviour(received: Received) -> Reply:
        """Reply to thirty requests, and to no more until the run has ended."""
        hangs = len(server.requests) > 30 and not has_ended
        return replace(answer(received), delay=600 * hangs)

    with OpenAIServer(behaviour) as server:
        served.rows(server)
        process = child(served, count, within)
        wait_for_requests(server, 30, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
        has_ended = True
        assert process.returncode
        assert "KeyboardInterrupt" in errors
        requests, stored = len(server.requests), stored_prompts(served, count)
        assert 30 - 4 <= len(stored) <= requests < count
        assert served.run(questions(count)).asked == count - len(stored)
        later = {received.prompt for received in server.requests[requests:]}
        assert stored.isdisjoint(later)


def test_a_model_of_this_process_answers_while_prompts_are_made(
    served: Served,
) -> None:
    """So that Ctrl-C leaves answers, however long all prompts take."""
    trials = questions(2_000)
    rendered = itertools.count(1)

    def render(trial: Trial) -> Prompt:
        if next(rendered) == 1_500:
            raise ParameterError("a program is gone")
        return trials.render(trial)

    own = served.folder / "own.py"
    own.write_text("def ask(messages, **how):\n    return 'no'\n")
    function = {"engine": "function", "settings": {"function": f"{own}:ask"}}
    served.rows("", row=function)
    with refused(ParameterError, "a program is gone"):
        served.run(replace(trials, render=render))
    with Store(served.store) as store:
        assert store.count() > 500


@pytest.mark.slow
def test_a_run_waits_for_another_run_that_asks_the_same_model(served: Served) -> None:
    """What the other run stores meanwhile is not asked again."""
    trials = questions(10)
    with OpenAIServer(answer) as server:
        row = load_registry(served.rows(server))["served"]

        async def other_run() -> subprocess.Popen[str]:
            async with only_run(row, served.store):
                process = child(served, 10)
                assert process.stderr is not None
                line = ""
                while "served" not in line or "waiting" not in line:
                    line = await asyncio.to_thread(process.stderr.readline)
                    assert line, "it ended without a word"
                assert not server.requests
                with Store(served.store) as store:
                    for trial in trials.items[:4]:
                        key = request_of(trials, trial, row).key
                        store.put(key, "served", Response("answer", "stop"))
                return process

        process = asyncio.run(other_run())
        out, _ = process.communicate(timeout=600)
        assert (len(json.loads(out)), len(server.requests)) == (10, 6)


def start_server(port: str) -> tuple[subprocess.Popen[str], str]:
    """Start a server in a process of its own, and return it with its address."""
    script = Path(openai_server.__file__)
    command = [sys.executable, str(script), "--port", port, "--delay", "0.02"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.slow
def test_a_server_killed_and_started_again_loses_no_answer(served: Served) -> None:
    count = 200
    server, base_url = start_server("0")
    served.rows(base_url, retries=8)
    runner = child(served, count)
    try:
        while not (served.store.is_file() and len(stored_prompts(served, count)) > 20):
            assert runner.poll() is None, runner.communicate()[1]
            time.sleep(0.02)
        server.kill()
        server.wait()
        time.sleep(0.5)
        server, _ = start_server(base_url.split(":")[2].split("/")[0])
        out, errors = runner.communicate(timeout=600)
        assert runner.returncode == 0, errors
    finally:
        server.kill()
        runner.kill()
    assert len(json.loads(out)) == len(stored_prompts(served, count)) == count
