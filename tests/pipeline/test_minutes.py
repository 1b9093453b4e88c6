"""Builds with minutes, and `codestress try`: real servers on loopback, functions of a file, stops at a budget."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from codestress.cli import cli, trying
from codestress.pipeline.turns import problems_between
from codestress.types import Trial, Trials
from conftest import codestress
from openai_server import (
    MODEL,
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
)
from served import prompt
from told import names

QUESTIONS = {"codecrash/tab01": 200, "origin/fig02": 117}
"""By artefact, how many questions it has in the profile `try`."""
PAPERS = {
    *("codecrash/tab01", "faultloc/tab02", "origin/fig01", "origin/fig02"),
    *("semtrace/fig03", "semtrace/tab01"),
}
"""Artefacts of the profile `try`."""
HANGING = """import time
from pathlib import Path
calls = Path(__file__).with_suffix('.calls')

def hang(messages, **how):
    time.sleep(9999)

def tire(messages, **how):
    with calls.open('a') as file:
        file.write('.')
    time.sleep(9999 if calls.stat().st_size > 6 else 0)
    return 'no'
"""


def read_manifests(outputs: Path) -> dict[str, dict[str, Any]]:
    """Return the manifests of changed figures by artefact; each question must have an outcome."""
    manifests = {}
    for path in sorted((outputs / "mine").glob("*/*/manifest.json")):
        manifest = json.loads(path.read_text())
        [counts] = manifest["counts"].values()
        manifest["left_out"] = sum(manifest["not_asked"].values())
        manifest["folder"] = path.parent
        assert sum(counts.values()) == manifest["asked"] + manifest["left_out"]
        assert counts["skipped"] == manifest["left_out"]
        manifests[manifest["artefact"]] = manifest
    return manifests


def echoes_headers(received: Received) -> Reply:
    """Answer with the request's headers, as a server might log them."""
    return completion(json.dumps(received.headers))


def test_a_stop_at_the_budget_is_balanced_said_everywhere_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-marker-of-this-test")
    with OpenAIServer(echoes_headers) as server:
        words = ["build", *QUESTIONS, "--profile", "try", "--models", server.base_url]
        words += ["--key-env", "MY_KEY"]
        limit = {"outputs": tmp_path, "MAX_REQUESTS": "60"}
        stopped = codestress(*words, "--minutes", "60", **limit)
        assert stopped.returncode == 0, stopped.stderr
        before = len(server.requests)
        assert 50 < before <= 60
        prompts = {request.prompt for request in server.requests}
        check_stop(stopped.stdout, tmp_path)
        check_balance(tmp_path)
        resumed = codestress(*words, outputs=tmp_path)
        assert resumed.returncode == 0, resumed.stderr
        later = {request.prompt for request in server.requests[before:]}
    assert prompts.isdisjoint(later)
    for name, manifest in read_manifests(tmp_path).items():
        assert (manifest["asked"], manifest["not_asked"]) == (QUESTIONS[name], {})
        assert not manifest["not_run"]
        assert "not run" not in (manifest["folder"] / "figure.svg").read_text()
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"sk-marker" not in path.read_bytes(), path


def check_stop(printed: str, outputs: Path) -> None:
    """Figure, table, page and terminal say how much was not asked, and why."""
    manifests = read_manifests(outputs)
    assert set(manifests) == set(QUESTIONS)
    page = (outputs / "mine/index.html").read_text()
    total = 0
    for name, manifest in manifests.items():
        left_out = manifest["left_out"]
        total += left_out
        assert left_out == QUESTIONS[name] - manifest["asked"] > 0
        [(label, reason)] = manifest["not_run"].items()
        names(label, f"{left_out} of {QUESTIONS[name]}")
        names(reason, "60 of 60", "MAX_REQUESTS")
        for file in ("figure.svg", "table.csv"):
            names((manifest["folder"] / file).read_text(), f"{label}: not run")
        names(printed, label, reason)
        names(page, f"{left_out} questions")
    questions = sum(QUESTIONS.values())
    assert re.search(rf"{MODEL}@\S+: {questions}\b.*\b{total} skipped", printed)
    command = manifests["codecrash/tab01"]["command"].replace(" build ", " explain ")
    explained = codestress(*shlex.split(command)[1:], outputs=outputs)
    assert explained.returncode == 0, explained.stderr


def check_balance(outputs: Path) -> None:
    """About equally many problems of each figure are answered."""
    problems = []
    for manifest in read_manifests(outputs).values():
        answers = pd.read_parquet(manifest["folder"] / "answers.parquet")
        problems.append(answers["problem"].nunique())
    assert max(problems) <= 1.5 * min(problems) + 1


@pytest.mark.slow
def test_a_function_of_a_file_is_tried_and_what_is_not_reached_has_no_figure(
    tmp_path: Path,
) -> None:
    outputs, file = tmp_path / "o", tmp_path / "my_model.py"
    file.write_text("def shrug(messages, **sampling):\n    return 'no'\n")
    words = ("try", f"{file}:shrug", "--minutes", "60")
    process = codestress(*words, outputs=outputs, MAX_REQUESTS="9")
    assert process.returncode == 0, process.stderr
    names(process.stderr.splitlines()[0], "60 min", f"{file}:shrug")
    names(process.stdout, "mine/index.html", "no claim")
    name = r"shrug@my_model-[0-9a-f]{8}"
    summary = rf"{name}: 0 of 8 .*\d × unparsable.* 0 of 8 .*no place"
    assert re.search(summary, process.stdout)
    assert re.search(summary, (outputs / "mine/index.html").read_text())
    manifests = read_manifests(outputs)
    for manifest in manifests.values():
        drawing = (manifest["folder"] / "figure.svg").read_text()
        assert re.search(rf"No number of {name}\s", drawing)
        assert "published 0 %" not in drawing
    # One request of the nine was whether the model answers.
    assert sum(manifest["asked"] for manifest in manifests.values()) == 8
    explain = re.search(r"codestress (explain .+)", process.stdout)
    assert explain
    explained = codestress(*shlex.split(explain[1]), outputs=outputs)
    assert "no" in explained.stdout.splitlines()
    stopped = re.findall(r"\] ([^@\s]+)@\S+  stopped(?:\n|  for)", process.stderr)
    assert process.stderr.count("stopped at the budget") == 1
    assert {*stopped, *manifests} == PAPERS
    names(process.stdout, f"{len(manifests)} built", f"{len(stopped)} stopped")


def test_a_function_that_cannot_be_asked_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "own_model.py"
    path.write_text("def ask(messages, **how):\n    raise OSError('no GPU')")
    process = codestress("try", f"{path}:ask", outputs=tmp_path / "o")
    assert process.returncode == 1
    names(process.stderr, "no GPU", "ask(messages, prefill=…")


def test_problems_are_asked_whole_and_each_once() -> None:
    items = []
    for number in range(20):
        items += [Trial(f"p{number}", {"place": place}) for place in "abc"]
    own = Trials(items[:30], lambda _: prompt("?"), {})
    trials = replace(own, items=items, own={"m": own})
    turns = [problems_between(trials, *ends) for ends in ((0, 1), (1, 7), (7, 30))]
    assert [len(turn.items) for turn in turns] == [3, 18, 39]
    assert [len(turn.of("m").items) for turn in turns] == [3, 18, 9]
    assert turns[0].items[0].problem != "p0"  # the order is random
    questions = set()
    for turn in turns:
        questions |= {(item.problem, item.factors["place"]) for item in turn.items}
    assert len(questions) == len(items)


def test_servers_on_this_machine_are_listed_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [{"id": "nomic-embed-text"}, {"id": MODEL}]
    with OpenAIServer() as server:
        vllm = (server.base_url, "vllm serve MODEL")
        places = {"Ollama": ("http://localhost:9", "ollama serve"), "vLLM": vllm}
        monkeypatch.setattr(trying, "LOCAL_SERVERS", places)
        server.listing = as_json({"data": rows})
        chat = "\n".join(trying.offers())
        server.listing = as_json({"data": rows[:1]})
        embeddings = "\n".join(trying.offers())
    names(chat, "vLLM", f"make try MODEL={server.base_url} ID={MODEL}")
    assert chat.count("make try") == 1
    names(embeddings, f"vLLM at {server.base_url}")
    assert "make try" not in embeddings
    result = CliRunner().invoke(trying.try_command, [])
    assert result.exit_code == 0
    names(result.output, "ollama serve", "vllm serve MODEL")


@pytest.mark.slow
@pytest.mark.parametrize(("function", "minutes"), [("hang", "0.05"), ("tire", "0.4")])
def test_a_function_that_never_returns_ends_with_the_minutes(
    function: str, minutes: str, tmp_path: Path
) -> None:
    """At its first question, and later: then its other answers count."""
    (tmp_path / "my_model.py").write_text(HANGING)
    model = f"{tmp_path}/my_model.py:{function}"
    words = ("build", "origin/fig02", "--profile", "try", "--minutes", minutes)
    process = codestress(*words, "--models", model, outputs=tmp_path / "o")
    manifests = read_manifests(tmp_path / "o")
    if function == "hang":
        assert process.returncode != 0
    if not manifests:  # also where a busy machine had no time for one answer
        names(process.stderr, "minutes")
    for manifest in manifests.values():
        assert process.returncode == 0, process.stderr
        # The sixth was whether it answers.
        assert 0 < manifest["asked"] <= 5
        assert manifest["asked"] + manifest["left_out"] == QUESTIONS["origin/fig02"]


@pytest.mark.parametrize("minutes", ["0", "nan", "2000"])
@pytest.mark.parametrize("words", [("try", "nano"), ("build", "origin/fig02")])
def test_minutes_are_a_number_above_0(words: tuple[str, ...], minutes: str) -> None:
    result = CliRunner().invoke(cli, [*words, "--minutes", minutes])
    assert result.exit_code == 2
    names(result.output, "--minutes", "1440")
