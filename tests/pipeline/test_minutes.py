"""Builds with minutes, and `codestress try`: real servers on loopback, functions of a file, stops at a budget."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from codestress.cli import cli, trying
from codestress.errors import ParameterError
from codestress.pipeline.turns import problems_between
from codestress.types import Trial, Trials
from conftest import codestress, some
from openai_server import (
    MODEL,
    OpenAIServer,
    Received,
    Reply,
    as_json,
    completion,
    failure,
)
from served import prompt
from told import names

ARTEFACTS = ("codecrash/tab01", "origin/fig02")
QUESTIONS = {"codecrash/tab01": 200, "origin/fig02": 117}


def manifests(outputs: Path) -> dict[str, dict[str, object]]:
    """By artefact, of figures with changed models; outcomes add up to all questions."""
    found = {}
    for path in sorted((outputs / "mine").glob("*/*/manifest.json")):
        manifest = json.loads(path.read_text())
        [counts] = manifest["counts"].values()
        left_out = sum(manifest["not_asked"].values())
        assert sum(counts.values()) == manifest["asked"] + left_out
        assert counts["skipped"] == left_out
        found[manifest["artefact"]] = manifest | {
            "folder": path.parent,
            "left_out": left_out,
        }
    return found


def test_a_stop_at_the_budget_leaves_balanced_counts_and_is_said_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-marker-of-this-test")

    def says(received: Received) -> Reply:
        """An answer with the request's headers in it, as a server might log them."""
        return completion(json.dumps(received.headers))

    with OpenAIServer(says) as server:
        words = ("build", *ARTEFACTS, "--profile", "try", "--models", server.base_url)
        words = (*words, "--key-env", "MY_KEY")
        limits = ("--minutes", "60")
        done = codestress(*words, *limits, outputs=tmp_path, MAX_REQUESTS="60")
        assert done.returncode == 0, done.stderr
        before = len(server.requests)
        assert 50 < before <= 60
        first = {request.prompt for request in server.requests}
        stopped = manifests(tmp_path)
        assert set(stopped) == set(ARTEFACTS)
        page = (tmp_path / "mine/index.html").read_text()
        answers = {}
        for name, manifest in stopped.items():
            folder, left_out = manifest["folder"], manifest["left_out"]
            assert manifest["asked"] + left_out == QUESTIONS[name]
            assert left_out > 0
            [(label, why)] = manifest["not_run"].items()
            names(label, f"{left_out} of {QUESTIONS[name]}")
            names(why, "60 of 60", "MAX_REQUESTS")
            for file in ("figure.svg", "table.csv"):
                names((folder / file).read_text(), f"{label}: not run")
            names(done.stdout, label, why)
            names(page, f"{left_out} questions")
            answers[name] = pd.read_parquet(folder / "answers.parquet")
        left_out = sum(manifest["left_out"] for manifest in stopped.values())
        total = sum(QUESTIONS.values())
        assert re.search(rf"{MODEL}@\S+: {total}\b.*\b{left_out} skipped", done.stdout)
        conditions = answers["codecrash/tab01"].groupby("perturbation").size()
        assert len(conditions) == 5
        assert conditions.max() - conditions.min() <= 4  # the problems of the last turn
        problems = [part["problem"].nunique() for part in answers.values()]
        assert max(problems) <= 1.5 * min(problems) + 1
        explain = stopped["codecrash/tab01"]["command"].replace(" build ", " explain ")
        explained = codestress(*shlex.split(explain)[1:], outputs=tmp_path)
        assert explained.returncode == 0, explained.stderr

        again = codestress(*words, outputs=tmp_path)
        assert again.returncode == 0, again.stderr
        more = [request.prompt for request in server.requests[before:]]
    assert first.isdisjoint(more)
    for name, manifest in manifests(tmp_path).items():
        assert (manifest["asked"], manifest["not_asked"]) == (QUESTIONS[name], {})
        assert not manifest["not_run"]
        assert "not run" not in (manifest["folder"] / "figure.svg").read_text()
    names(again.stdout, "mine/index.html")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"sk-marker" not in path.read_bytes(), path


@pytest.mark.slow
def test_a_function_of_a_file_is_tried_and_what_is_not_reached_has_no_figure(
    tmp_path: Path,
) -> None:
    outputs, file = tmp_path / "o", tmp_path / "my_model.py"
    file.write_text("def shrug(messages, **sampling):\n    return 'no'\n")
    words = ("try", f"{file}:shrug", "--minutes", "60")
    done = codestress(*words, outputs=outputs, MAX_REQUESTS="9")
    assert done.returncode == 0, done.stderr
    first, *more = done.stderr.splitlines()
    names(first, "60 min", f"{file}:shrug")
    assert any("codecrash/tab01 (5 of 6)" in line and "60 min" in line for line in more)
    names(done.stdout, "mine/index.html", "no claim")
    name = r"shrug@my_model-[0-9a-f]{8}"
    why = rf"{name}: 0 of 8 .*\d × unparsable.* 0 of 8 .*no place"
    page = (outputs / "mine/index.html").read_text()
    assert re.search(why, done.stdout)
    assert re.search(why, page)
    assert re.search(r"\d answers? of 1 model\b", page)
    found = manifests(outputs)
    for manifest in found.values():
        drawn = (manifest["folder"] / "figure.svg").read_text()
        assert re.search(rf"No number of {name}\s", drawn)
        assert "published 0 %" not in drawn
    told = re.search(r"codestress (explain .+)", done.stdout)
    assert told
    shown = codestress(*shlex.split(told[1]), outputs=outputs)
    assert "no" in shown.stdout.splitlines()
    # The ninth was whether it answers.
    assert sum(manifest["asked"] for manifest in found.values()) == 8
    stopped = re.findall(r"\] ([^@\s]+)@\S+  stopped(?:\n|  for)", done.stderr)
    assert done.stderr.count("stopped at the budget") == 1
    assert {*stopped} | {*found} == {
        *("codecrash/tab01", "faultloc/tab02", "origin/fig01", "origin/fig02"),
        *("semtrace/fig03", "semtrace/tab01"),
    }
    names(done.stdout, f"{len(found)} built", f"{len(stopped)} stopped")


@pytest.mark.slow
def test_a_stop_at_a_limit_is_stopped_not_failed_and_a_reason_is_shown_once(
    tmp_path: Path,
) -> None:
    def gone(received: Received) -> Reply:
        counts = received.prompt.startswith("Count from")
        marked = failure(404, "marker-of-the-failure")
        return completion("1, 2, 3") if counts else marked

    def built(*names: str, **limits: str) -> subprocess.CompletedProcess[str]:
        words = ("build", *names, "--profile", "try", "--models", server.base_url)
        done = codestress(*words, outputs=tmp_path / "o", **limits)
        assert done.returncode == 1  # a figure is missing
        return done

    with OpenAIServer(lambda _: completion("no")) as server:
        done = built("origin/fig02", MAX_REQUESTS="5")
    names(done.stdout, "1 stopped")
    names(done.stderr, "5 of 5", "MAX_REQUESTS")
    assert "failed" not in done.stdout + done.stderr
    assert done.stderr.endswith("\n")
    with OpenAIServer(gone) as server:
        done = built(*ARTEFACTS)
    assert done.stderr.count("marker-of-the-failure") == 1
    names(done.stderr, "[1/2]", "[2/2]")
    assert re.search(r"2 × failed .*codecrash/tab01", done.stdout)


@pytest.mark.parametrize(
    ("code", "why"),
    some(
        [
            ("def ask(messages, **how):\n    raise OSError('no GPU')", "no GPU"),
            ("async def ask(messages, **how):\n    return 'no'", "coroutine"),
            ("def ask(messages):\n    return 'no'", "unexpected keyword argument"),
        ],
        4,
    ),
)
def test_a_function_that_cannot_be_asked_is_told_at_once(
    code: str, why: str, tmp_path: Path
) -> None:
    path = tmp_path / "own_model.py"
    path.write_text(code)
    done = codestress("try", f"{path}:ask", outputs=tmp_path / "o")
    assert done.returncode == 1
    names(done.stderr, why, "ask(messages, prefill=…")


def test_problems_are_asked_whole_and_each_once() -> None:
    items = [Trial(f"p{n}", {"place": place}) for n in range(20) for place in "abc"]
    own = Trials(items[:30], lambda _: prompt("?"), {})
    trials = replace(own, items=items, own={"m": own})
    parts = [problems_between(trials, *ends) for ends in ((0, 1), (1, 7), (7, 30))]
    assert [len(part.items) for part in parts] == [3, 18, 39]
    assert {trial.problem for trial in parts[0].items} != {"p0"}
    asked = {
        (trial.problem, trial.factors["place"])
        for part in parts
        for trial in part.items
    }
    assert len(asked) == 60
    assert [len(part.of("m").items) for part in parts] == [3, 18, 9]


def test_servers_on_this_machine_are_listed_with_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def listed() -> str:
        done = CliRunner().invoke(trying.try_command, [])
        assert done.exit_code == 0
        return done.output

    rows = [{"id": "nomic-embed-text"}, {"id": MODEL}]
    with OpenAIServer() as server:
        vllm = (server.base_url, "vllm serve MODEL")
        places = {"Ollama": ("http://localhost:9", "ollama serve"), "vLLM": vllm}
        monkeypatch.setattr(trying, "LOCAL_SERVERS", places)
        server.listing = as_json({"data": rows})
        told = listed()
        names(told, "vLLM", f"make try MODEL={server.base_url} ID={MODEL}\n")
        assert told.count("make try") == 1
        server.listing = as_json({"data": rows[:1]})
        told = listed()
        names(told, f"vLLM at {server.base_url}")
        assert "make try" not in told
    names(listed(), "ollama serve", "vllm serve MODEL")


@pytest.mark.slow
def test_a_function_that_never_returns_ends_with_the_minutes(tmp_path: Path) -> None:
    """At its first question, and later: then its other answers are kept, and the rest counts as not asked."""
    (tmp_path / "my_model.py").write_text(
        "import time\n"
        "from pathlib import Path\n"
        "calls = Path(__file__).with_suffix('.calls')\n"
        "def hang(messages, **how):\n    time.sleep(9999)\n"
        "def tire(messages, **how):\n"
        "    with calls.open('a') as file:\n        file.write('.')\n"
        "    time.sleep(9999 if calls.stat().st_size > 6 else 0)\n    return 'no'\n"
    )

    def asked(function: str, minutes: str) -> subprocess.CompletedProcess[str]:
        words = ("build", "origin/fig02", "--profile", "try", "--minutes", minutes)
        model = f"{tmp_path}/my_model.py:{function}"
        return codestress(*words, "--models", model, outputs=tmp_path / "o")

    hung = asked("hang", "0.05")
    assert hung.returncode != 0
    names(hung.stderr, "minutes")
    done = asked("tire", "0.4")
    assert done.returncode == 0, done.stderr
    for manifest in manifests(tmp_path / "o").values():
        assert manifest["asked"] <= 5  # the sixth was whether it answers
        assert manifest["asked"] + manifest["left_out"] == QUESTIONS["origin/fig02"]
        break
    else:
        # A busy machine had no time for one answer.
        names(done.stderr, "minutes")


def test_a_model_that_is_not_found_leaves_no_word_of_a_sample() -> None:
    done = CliRunner().invoke(cli, ["try", "nope"])
    assert isinstance(done.exception, ParameterError)
    assert "sample" not in done.output


@pytest.mark.parametrize("minutes", ["0", "-1", "nan", "inf", "2000"])
@pytest.mark.parametrize("words", [("try", "nano"), ("build", "origin/fig02")])
def test_minutes_are_a_number_above_0(words: tuple[str, ...], minutes: str) -> None:
    done = CliRunner().invoke(cli, [*words, "--minutes", minutes])
    assert done.exit_code == 2
    names(done.output, "--minutes", "1440")
